//! Parameters of mapping schemes that write a log on every die and clean die by die.

use drivelab_ftl::placement::{HOT_WRITES_MAX, STREAMS_MAX};
use drivelab_ftl::{Placement, VictimSelection};

use super::row::Fallback::{Absent, Boolean as Is, Integer as Number, Required, Word};
use super::row::Kind::{Boolean, Choice, Integer};
use super::row::{HOUR_NS, MOST, Parameter, row};

/// Cleaning and wear levelling.
pub(super) const CLEANING: &[Parameter] = &[
    row("ftl.trim_supported", "", Boolean, Is(true), "trims free units; otherwise they are ignored"),
    row("ftl.victim_selection", "", Choice(VictimSelection::NAMES), Word("greedy"), VictimSelection::HELP),
    row("ftl.choices", "blocks", Integer(1, 1 << 16), Number(10), "blocks that d-choices draws"),
    row(
        "ftl.window_blocks",
        "blocks",
        Integer(1, 1 << 20),
        Number(32),
        "blocks of a die, closed longest ago, that windowed-greedy looks at",
    ),
    row(
        "ftl.cleaning_start_blocks",
        "blocks/die",
        Integer(0, 1 << 20),
        Number(2),
        "cleaning starts below this many free blocks, not counting those kept for further write streams and for power \
         cuts between two passes",
    ),
    row(
        "ftl.cleaning_stop_blocks",
        "blocks/die",
        Integer(0, 1 << 20),
        Number(2),
        "cleaning stops at this many free blocks",
    ),
    row(
        "ftl.idle_cleaning_blocks",
        "blocks/die",
        Integer(0, 1 << 20),
        Number(0),
        "idle-time cleaning goes on to this many free blocks; 0: none",
    ),
    row(
        "ftl.wear_spread_limit",
        "erases",
        Integer(0, MOST),
        Number(0),
        "static wear levelling beyond this spread; 0: none",
    ),
];

/// The page map.
pub(super) const PAGE_MAP: &[Parameter] = &[
    row("ftl.map_unit_bytes", "B", Integer(512, 1 << 26), Required, "map unit: any whole number of sectors"),
    row(
        "ftl.cleaning_mode",
        "",
        Choice(&["relocate", "rewrite-in-place"]),
        Word("relocate"),
        "how cleaning makes room",
    ),
    row("ftl.placement", "", Choice(Placement::NAMES), Word("host-and-cleaning"), Placement::HELP),
    row(
        "ftl.hot_writes",
        "writes",
        Integer(1, HOT_WRITES_MAX as u64),
        Number(4),
        "counted writes at which hot-cold takes a unit for hot",
    ),
    row(
        "ftl.hint_streams",
        "",
        Integer(1, STREAMS_MAX as u64),
        Number(6),
        "hints of the host (0 to this, less 1) that have a write stream of their own with placement hint",
    ),
    row(
        "ftl.superblock_blocks",
        "blocks",
        Integer(1, 1 << 20),
        Number(1),
        "blocks of a die that are opened, filled, picked as victims and erased together; thresholds of cleaning count them",
    ),
    row(
        "ftl.parity_stripe_pages",
        "pages",
        Integer(0, 1 << 14),
        Number(0),
        "pages of a stripe over dies, one of which is parity: programmed, and of nobody's data; 0: none is",
    ),
    row(
        "ftl.map_cache_bytes",
        "B",
        Integer(0, 1 << 31),
        Number(0),
        "memory of the controller for the map, 4 bytes an entry, which then lies in flash; 0: all of it is in memory",
    ),
    row(
        "ftl.map_fetch_bytes",
        "B",
        Integer(4, 1 << 20),
        Absent,
        "what one read of a map that lies in flash brings; left out: a page, of all planes that one program writes but for flash.one_shot",
    ),
    row(
        "ftl.map_spare_blocks",
        "blocks/die",
        Integer(0, 1 << 20),
        Absent,
        "blocks of a map that lies in flash beside those that it fills; left out: as few as it works with",
    ),
];

/// The map journal.
pub(super) const JOURNAL: &[Parameter] = &[
    row(
        "ftl.journal_updates_per_page",
        "updates",
        Integer(0, MOST),
        Number(0),
        "map updates per page of the map journal; 0: no journal",
    ),
    row(
        "ftl.checkpoint_updates",
        "updates",
        Integer(0, MOST),
        Number(0),
        "map updates between checkpoints of the map; 0: none",
    ),
    row(
        "ftl.checkpoint_bytes",
        "B",
        Integer(0, 1 << 36),
        Number(0),
        "size of a checkpoint; host writes wait while it is written",
    ),
];

/// Scheduling over dies.
pub(super) const SCHEDULING: &[Parameter] = &[
    row(
        "controller.die_allocation",
        "",
        Choice(&["round-robin", "channel-round-robin", "earliest-free"]),
        Word("earliest-free"),
        "which die the next host page goes to",
    ),
    row(
        "controller.programs_per_channel",
        "",
        Integer(0, 1 << 16),
        Number(0),
        "programs in flight on one channel; 0: no limit",
    ),
    row(
        "controller.cleaning_pace",
        "",
        Choice(&["block", "paced", "level", "yielding"]),
        Word("paced"),
        "how cleaning shares a die with host writes",
    ),
    row(
        "controller.cleaning_copies_at_once",
        "",
        Integer(1, 256),
        Number(1),
        "pages of copies that a die makes in one job while no write waits; reads wait for all of them",
    ),
    row(
        "controller.idle_delay_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "idle time before what a drive does in pauses: cleaning that is under way, idle-time cleaning, folding, padding",
    ),
];
