//! Parameters of mapping schemes that merge superblocks. All channels work in lockstep: a bank is one chip of each.

use super::row::Fallback::{Boolean as Is, Integer as Number, Required, Word};
use super::row::Kind::{Boolean, Choice, Integer};
use super::row::{HOUR_NS, MOST, Parameter, row};

/// Superblocks.
pub(super) const SUPERBLOCKS: &[Parameter] = &[
    row("ftl.map_unit_bytes", "B", Integer(512, 32_768), Required, "what the host's data is counted in"),
    row(
        "ftl.interleaved_banks",
        "banks",
        Integer(1, 1024),
        Number(1),
        "banks that consecutive rows of the address space go round",
    ),
    row("ftl.trim_supported", "", Boolean, Is(false), "trims free units; otherwise they are ignored"),
    row(
        "ftl.rotation_merges",
        "merges/bank",
        Integer(0, MOST),
        Number(0),
        "merges of a bank between rounds of static wear levelling",
    ),
    row(
        "ftl.rotation_superblocks",
        "superblocks",
        Integer(0, MOST),
        Number(0),
        "superblocks that a round moves, in turn; 0: none",
    ),
];

/// Log blocks.
pub(super) const LOG_BLOCKS: &[Parameter] = &[
    row(
        "ftl.reserve_blocks",
        "blocks/bank",
        Integer(0, 1 << 20),
        Number(1),
        "erased blocks that log blocks leave to merges and to replacement of bad blocks",
    ),
    row(
        "ftl.log_blocks",
        "blocks/bank",
        Integer(0, 1 << 20),
        Number(0),
        "most log blocks; 0: as many as there are erased blocks",
    ),
];

/// What writes cost that cover a unit in part: a merge completes them, not a read of their own.
pub(super) const PARTIAL_UNITS: &[Parameter] = &[row(
    "controller.partial_unit_firmware_ns",
    "ns",
    Integer(0, HOUR_NS),
    Number(0),
    "firmware time of each map unit that is written in part",
)];

/// Order in which groups leave the write buffer.
pub(super) const WRITE_BUFFER: &[Parameter] = &[
    row(
        "write_buffer.eviction",
        "",
        Choice(&["oldest", "fullest", "random"]),
        Word("oldest"),
        "which superblock's units leave when space is needed",
    ),
    row(
        "write_buffer.one_group",
        "",
        Boolean,
        Is(false),
        "takes only data that go on where the last ended; others wait until it is empty, all during a merge",
    ),
];
