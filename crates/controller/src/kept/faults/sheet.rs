//! A fault as it is written down: keys and values.

use serde::{Deserialize, Serialize};

/// The seed of faults for which none is given.
pub const DEFAULT_SEED: u64 = 1;

fn default_seed() -> u64 {
    DEFAULT_SEED
}

/// A plan as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSheet {
    /// From which everything random is drawn; [`DEFAULT_SEED`] if it isn't given.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Blocks that may fail before the drive only reads any more, if it is fewer than the model has to spare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_blocks: Option<u32>,
    /// The faults.
    #[serde(default)]
    pub faults: Vec<FaultSheet>,
}

impl Default for PlanSheet {
    fn default() -> Self {
        Self { seed: DEFAULT_SEED, spare_blocks: None, faults: Vec::new() }
    }
}

/// When the power fails, within an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutPhase {
    /// Before it has begun.
    Before,
    /// While it is done: it is torn.
    #[default]
    Middle,
    /// When it is done.
    After,
}

/// Words of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KindWord {
    /// The power fails.
    PowerCut,
    /// A page can't be programmed: its block is retired.
    ProgramFailure,
    /// A block can't be erased: it is retired.
    EraseFailure,
    /// Reads of a range fail.
    ReadError,
    /// Bits flip, with wear, age and reads.
    BitErrors,
    /// A command takes longer.
    LatencySpike,
    /// The drive only reads any more.
    ReadOnly,
    /// A flush is acknowledged at once, and nothing waits.
    LyingFlush,
    /// FUA has no effect.
    IgnoredFua,
    /// Of a write a power cut leaves the first half, even if it was flushed.
    TornWrite,
    /// A write is acknowledged and dropped.
    LostWrite,
    /// A write goes to another place.
    MisdirectedWrite,
}

macro_rules! fault_sheet {
    ($($(#[$doc:meta])* $key:ident: $type:ty,)*) => {
        /// A fault as it is written down: which keys apply depends on the kind.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct FaultSheet {
            /// What goes wrong.
            pub kind: KindWord,
            $(
            $(#[$doc])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,
            )*
        }

        impl FaultSheet {
            /// A fault of which nothing but the kind is said.
            #[must_use]
            pub fn new(kind: KindWord) -> Self {
                Self { kind, $($key: None,)* }
            }

            /// The keys that are given.
            pub(super) fn given(&self) -> Vec<(&'static str, String)> {
                let mut keys = Vec::new();
                $(if let Some(value) = &self.$key {
                    // As the plan has it, words included.
                    keys.push((stringify!($key), format!("{value:?}").to_lowercase()));
                })*
                keys
            }
        }
    };
}

fault_sheet! {
    /// Number of the operation (of its sort) since power-on, from 1.
    at_operation: u64,
    /// Number of the host's command (of its sort) since power-on, from 1.
    at_command: u64,
    /// Chance of every operation or command.
    probability: f64,
    /// At most so often.
    count: u64,
    /// Only commands that touch the range from this byte on.
    offset_bytes: u64,
    /// Length of the range.
    length_bytes: u64,
    /// Only this block.
    block: u32,
    /// Erase count at which wear has its full effect.
    endurance_erases: u32,
    /// The chance grows with this power of (erase count / endurance).
    wear_exponent: f64,
    /// How much longer a command takes.
    duration_ns: u64,
    /// How far from its place a write goes; drawn if it isn't given.
    distance_bytes: i64,
    /// When the power fails: before, in the middle of or after the operation.
    phase: CutPhase,
    /// Share of wrong bits of a block that is new.
    new_bit_error_rate: f64,
    /// Share of wrong bits of a block that has reached its endurance.
    worn_bit_error_rate: f64,
    /// Wrong bits are twice as many this long after programming, three times after twice as long.
    retention_hours: f64,
    /// Wrong bits are twice as many after so many reads of the block.
    read_disturb_reads: u64,
    /// Bits that can be corrected in a codeword.
    correctable_bits: u32,
    /// Bytes of a codeword.
    codeword_bytes: u32,
    /// How often a read is tried again with other thresholds.
    read_retries: u32,
    /// What a retry leaves of the wrong bits.
    retry_factor: f64,
    /// A block with a codeword of more wrong bits than this is moved elsewhere; 0: never.
    refresh_bits: u32,
}

impl KindWord {
    /// As it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::PowerCut => "power-cut",
            Self::ProgramFailure => "program-failure",
            Self::EraseFailure => "erase-failure",
            Self::ReadError => "read-error",
            Self::BitErrors => "bit-errors",
            Self::LatencySpike => "latency-spike",
            Self::ReadOnly => "read-only",
            Self::LyingFlush => "lying-flush",
            Self::IgnoredFua => "ignored-fua",
            Self::TornWrite => "torn-write",
            Self::LostWrite => "lost-write",
            Self::MisdirectedWrite => "misdirected-write",
        }
    }
}
