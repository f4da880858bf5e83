//! Every parameter of a flash drive model: key, unit, range, default, meaning. One row each; the rest of the crate
//! reads models through this table, so a key that is not here does not exist.

/// Type and range of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Integer(u64, u64),
    /// A real number from the first to the second.
    Real(f64, f64),
    /// true or false.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Lower case letters, digits and hyphens.
    Name,
    /// Free text.
    Text,
}

/// What a parameter is when a model does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// The model must say.
    Required,
    /// Nothing; the parameter does not apply.
    Absent,
    /// A whole number.
    Integer(u64),
    /// true or false.
    Boolean(bool),
    /// A word.
    Word(&'static str),
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key with its section.
    pub key: &'static str,
    /// Unit, or "" for counts and words.
    pub unit: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// What it is when a model does not say.
    pub default: Fallback,
    /// Meaning.
    pub help: &'static str,
}

const fn row(
    key: &'static str,
    unit: &'static str,
    kind: Kind,
    default: Fallback,
    help: &'static str,
) -> Parameter {
    Parameter { key, unit, kind, default, help }
}

const SECOND_NS: u64 = 1_000_000_000;
const HOUR_NS: u64 = 3600 * SECOND_NS;
const MOST: u64 = u32::MAX as u64;
use Fallback::{Absent, Boolean as Is, Integer as Number, Required, Word};
use Kind::{Boolean, Choice, Integer, Name, Real, Text};

/// The table.
pub const PARAMETERS: &[Parameter] = &[
    row("name", "", Name, Required, "name on the command line: lower case, digits, hyphens"),
    row("title", "", Text, Required, "name for people"),
    row("family", "", Choice(&["page-map"]), Word("page-map"), "mapping scheme"),
    row("released", "", Text, Absent, "year and month of release"),
    row("firmware", "", Text, Absent, "firmware that the parameters describe"),
    row("price_usd", "USD", Real(0.0, 1e6), Absent, "price when reviewed"),
    row(
        "user_capacity_bytes",
        "B",
        Integer(512, 1 << 50),
        Absent,
        "what the host can address (this or spare_ratio)",
    ),
    row(
        "spare_ratio",
        "spare/user",
        Real(0.0, 100.0),
        Absent,
        "spare area over user capacity (this or user_capacity_bytes)",
    ),
    row(
        "flash.cell",
        "",
        Choice(&["slc", "mlc"]),
        Word("mlc"),
        "bits per cell, slc 1 or mlc 2; for the reader",
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
        "erases that a block stands; for the reader",
    ),
    row("ftl.map_unit_bytes", "B", Integer(512, 1 << 26), Required, "map unit: any whole number of sectors"),
    row(
        "ftl.victim_selection",
        "",
        Choice(&["greedy", "fifo", "cost-benefit", "random", "d-choices"]),
        Word("greedy"),
        "which block is cleaned next",
    ),
    row("ftl.choices", "blocks", Integer(1, 1 << 16), Number(10), "blocks that d-choices draws"),
    row(
        "ftl.cleaning_mode",
        "",
        Choice(&["relocate", "rewrite-in-place"]),
        Word("relocate"),
        "how cleaning makes room",
    ),
    row(
        "ftl.cleaning_start_blocks",
        "blocks/die",
        Integer(0, 1 << 20),
        Number(2),
        "cleaning starts below this many free blocks",
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
    row("controller.queue_depth", "commands", Integer(1, 65_536), Number(32), "NCQ depth"),
    row(
        "controller.read_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a read command",
    ),
    row(
        "controller.write_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a write command",
    ),
    row(
        "controller.trim_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a trim command",
    ),
    row(
        "controller.flush_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a flush command",
    ),
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
        Choice(&["block", "paced"]),
        Word("paced"),
        "how cleaning shares a die with host writes",
    ),
    row(
        "controller.idle_delay_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "idle time before idle-time cleaning",
    ),
    row(
        "link.bytes_per_s",
        "B/s",
        Integer(0, 1 << 40),
        Required,
        "payload rate of the host link; 0: takes no time",
    ),
    row("link.frame_bytes", "B", Integer(1, 1 << 26), Number(8192), "largest payload of a frame"),
    row("link.frame_overhead_ns", "ns", Integer(0, SECOND_NS), Number(0), "framing and handshake of a frame"),
    row(
        "link.command_overhead_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "command and status frames of a command",
    ),
    row("write_buffer.size_bytes", "B", Integer(512, 1 << 32), Required, "write buffer"),
    row("write_buffer.write_back", "", Boolean, Is(true), "writes are acknowledged from the buffer"),
    row("write_buffer.coalesce", "", Boolean, Is(true), "overwrites replace data still in the buffer"),
    row(
        "write_buffer.hold_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "how long a page that is not full waits for more",
    ),
    row("write_buffer.capacitor", "", Boolean, Is(false), "the buffer survives a power cut"),
    row("power.idle_mw", "mW", Integer(0, MOST), Number(0), "controller, DRAM and link at rest"),
    row("power.firmware_mw", "mW", Integer(0, MOST), Number(0), "more while firmware works"),
    row("power.link_mw", "mW", Integer(0, MOST), Number(0), "more while the link moves data"),
    row("power.bus_mw", "mW", Integer(0, MOST), Number(0), "a channel's bus while it moves data"),
    row("power.read_mw", "mW", Integer(0, MOST), Number(0), "a die while it senses"),
    row("power.program_mw", "mW", Integer(0, MOST), Number(0), "a die while it programs"),
    row("power.erase_mw", "mW", Integer(0, MOST), Number(0), "a die while it erases"),
];

/// The row of a key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.key == key)
}

/// The known key most like an unknown one.
#[must_use]
pub fn nearest(key: &str) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let distance = |known: &str| {
        strsim::damerau_levenshtein(key, known).min(strsim::damerau_levenshtein(&last(key), &last(known)))
    };
    let best = PARAMETERS.iter().min_by_key(|parameter| (distance(parameter.key), parameter.key))?;
    (distance(best.key) <= 2.max(last(key).len() / 3)).then(|| best.key.to_owned())
}

impl Kind {
    /// What is allowed, in words.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Integer(least, most) => format!("must be a whole number from {least} to {most}"),
            Real(least, most) => format!("must be a number from {least} to {most}"),
            Boolean => "must be true or false".to_owned(),
            Choice(words) => format!("must be one of {}", words.join(", ")),
            Name => "must be lower case letters, digits and hyphens".to_owned(),
            Text => "must be text".to_owned(),
        }
    }
}
