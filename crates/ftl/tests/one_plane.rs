//! Sizes of flash that tests vary.

use drivelab_nand::Geometry;

/// Dies of one plane.
pub fn geometry(dies: u32, blocks: u32, pages: u32, page_bytes: u32) -> Geometry {
    Geometry {
        channel_count: dies,
        dies_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        page_bytes,
        oob_bytes: 0,
        two_plane: false,
    }
}
