//! Blocks as they are found after a power cut.

use drivelab_nand::{Geometry, Lpn};

use super::*;
use crate::victim::{VictimSelection, VictimSettings};

#[test]
fn as_many_partly_written_blocks_go_on_after_a_power_cut_as_there_are_streams() {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 4,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    let layout = UnitLayout::new(geometry, 4096).unwrap();
    let mut flash = FlashArray::new(layout);
    // Block 2 is full, 6 and 7 are erased.
    for (block, pages) in [(0, 1), (1, 2), (2, 4), (3, 3), (4, 1), (5, 2)] {
        (0..pages).for_each(|page| _ = flash.program(BlockIndex(block), page, &[Lpn(block)]).unwrap());
    }
    let settings = VictimSettings { dies: 1, choices: 1, window_blocks: 1, seed: 1 };
    let restored = |host, all| {
        let victims = Victims::new(VictimSelection::Greedy, &settings);
        let streams = StreamCounts { host, all };
        // Blocks 3 to 5 hold copies.
        let stream_of = |block: BlockIndex| Stream(if block.0 < 3 { 0 } else { host });
        let blocks = Blocks::restore(&layout, &flash, (0, 1), victims, streams, stream_of);
        let open = streams.all().map(|stream| blocks.open_block(DieIndex(0), stream).map(|block| block.0));
        (open.collect::<Vec<_>>(), (0..8).filter(|&block| blocks.is_closed(BlockIndex(block))).collect())
    };
    let (open, closed): (_, Vec<u32>) = restored(2, 6);
    assert_eq!(open, [Some(0), Some(1), Some(3), Some(4), Some(5), None]);
    assert_eq!(closed, [2]);
    let (open, closed): (_, Vec<u32>) = restored(1, 2);
    assert_eq!(open, [Some(0), Some(1)]);
    assert_eq!(closed, [2, 3, 4, 5], "those for which there is no stream are cleaned");
}
