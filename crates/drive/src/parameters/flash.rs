//! Parameters of the flash array, and what of it the host can address.

use super::row::Fallback::{Absent, Boolean as Is, Integer as Number, Required, Word};
use super::row::Kind::{Boolean, Choice, Integer, Name, Real};
use super::row::{CAPACITY_KEY, CELL_KEY, CELLS, HOUR_NS, MOST, Parameter, SECOND_NS, SPARE_KEY, row};

/// Nobody builds a drive of less than a quarter of its flash, and who writes 7 or 28 means percent.
const SPARE_RATIO_MOST: f64 = 3.0;

/// User capacity.
pub(super) const CAPACITY: &[Parameter] = &[
    row(CAPACITY_KEY, "B", Integer(512, 1 << 50), Absent, "what the host can address (this or spare_ratio)"),
    row(
        SPARE_KEY,
        "spare/user",
        Real(0.0, SPARE_RATIO_MOST),
        Absent,
        "spare area over user capacity (this or user_capacity_bytes)",
    ),
];

/// Geometry and timing.
pub(super) const FLASH: &[Parameter] = &[
    row("flash.part", "", Name, Absent, "flash part, whose geometry and times drives that have it share"),
    row(
        CELL_KEY,
        "",
        Choice(CELLS),
        Word("mlc"),
        "bits per cell: slc 1, mlc 2, tlc 3, qlc 4; the pages of a word line with flash.one_shot, else for the reader",
    ),
    row("flash.channel_count", "", Integer(1, 1024), Required, "channels"),
    row("flash.dies_per_channel", "", Integer(1, 1024), Required, "dies that share a channel"),
    row("flash.planes_per_die", "", Integer(1, 16), Required, "planes of a die"),
    row("flash.blocks_per_plane", "", Integer(1, 1 << 20), Required, "erase blocks of a plane"),
    row("flash.pages_per_block", "", Integer(1, 1 << 14), Required, "pages of an erase block"),
    row("flash.page_bytes", "B", Integer(512, 1 << 20), Required, "data bytes of a page"),
    row("flash.oob_bytes", "B", Integer(0, 1 << 20), Number(0), "out-of-band bytes of a page"),
    row("flash.two_plane", "", Boolean, Is(false), "planes of a die program, read and erase together"),
    row("flash.read_ns", "ns", Integer(0, HOUR_NS), Required, "tR"),
    row("flash.program_ns", "ns", Integer(0, HOUR_NS), Required, "tPROG, averaged over fast and slow pages"),
    row(
        "flash.program_fast_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "tPROG of fast pages; slow ones follow from the average",
    ),
    row("flash.erase_ns", "ns", Integer(0, HOUR_NS), Required, "tBERS"),
    row(
        "flash.command_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "command, address and status cycles of an operation",
    ),
    row(
        "flash.bus_bytes_per_s",
        "B/s",
        Integer(0, 1 << 40),
        Required,
        "rate of a channel's bus; 0: takes no time",
    ),
    row(
        "flash.hold_bus_while_reading",
        "",
        Boolean,
        Is(false),
        "a channel does nothing else while one of its dies senses",
    ),
    row(
        "flash.endurance_cycles",
        "P/E",
        Integer(1, MOST),
        Absent,
        "erases that a block stands; for the reader, and for flash.bit_errors",
    ),
    row(
        "flash.lockstep_channels",
        "channels",
        Integer(1, 16),
        Number(1),
        "byte-wide channels that act as one: their chips work on the same page together",
    ),
];
