//! A fault as it is written down: keys and values, checked into what the drive works with.

use std::fmt::Display;

use drivelab_ftl::bad_blocks::Wear;
use serde::{Deserialize, Serialize};

use super::plan::{BitErrors, CutPhase, Fault, FaultKind, FaultPlan, SectorRange, Trigger};
use crate::command::SECTOR_BYTES;

/// Most faults of a plan.
const FAULTS_MAX: usize = 1000;

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
            fn given(&self) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $(if self.$key.is_some() {
                    keys.push(stringify!($key));
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

/// What is wrong with a fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key} = {value}: {allowed}")]
pub struct FaultError {
    /// The key, with its place in the plan.
    pub key: String,
    /// The value as given.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl FaultError {
    fn new(key: &str, value: impl Display, allowed: impl Into<String>) -> Self {
        Self { key: key.to_owned(), value: value.to_string(), allowed: allowed.into() }
    }
}

const FIRES: [&str; 4] = ["at_operation", "probability", "count", "block"];
const WEAR: [&str; 2] = ["endurance_erases", "wear_exponent"];
const COMMANDS: [&str; 5] = ["at_command", "probability", "count", "offset_bytes", "length_bytes"];
const BITS: [&str; 9] = [
    "new_bit_error_rate",
    "worn_bit_error_rate",
    "retention_hours",
    "read_disturb_reads",
    "correctable_bits",
    "codeword_bytes",
    "read_retries",
    "retry_factor",
    "refresh_bits",
];

/// Keys that apply to a kind, in groups.
fn keys_of(kind: KindWord) -> Vec<&'static str> {
    let groups: &[&[&'static str]] = match kind {
        KindWord::PowerCut => &[&["at_operation", "phase"]],
        KindWord::ProgramFailure | KindWord::EraseFailure => &[&FIRES, &WEAR],
        KindWord::BitErrors => &[&WEAR, &BITS],
        KindWord::LatencySpike => &[&COMMANDS, &["duration_ns"]],
        KindWord::MisdirectedWrite => &[&COMMANDS, &["distance_bytes"]],
        KindWord::ReadError | KindWord::TornWrite | KindWord::LostWrite => &[&COMMANDS],
        KindWord::LyingFlush | KindWord::IgnoredFua => &[&["at_command", "probability", "count"]],
        KindWord::ReadOnly => &[&["at_command"]],
    };
    groups.concat()
}

fn within<T: PartialOrd + Display + Copy>(
    key: &str,
    value: Option<T>,
    fallback: T,
    (least, most): (T, T),
    unit: &str,
) -> Result<T, FaultError> {
    let value = value.unwrap_or(fallback);
    if value >= least && value <= most {
        return Ok(value);
    }
    let allowed = format!("must be {least} to {most}{unit}");
    Err(FaultError::new(key, value, allowed))
}

/// A whole number of sectors.
fn sectors(key: &str, bytes: u64) -> Result<u64, FaultError> {
    if bytes.is_multiple_of(SECTOR_BYTES) {
        return Ok(bytes / SECTOR_BYTES);
    }
    Err(FaultError::new(key, bytes, format!("must be a multiple of {SECTOR_BYTES} bytes")))
}

impl TryFrom<PlanSheet> for FaultPlan {
    type Error = FaultError;

    /// Checks every key of every fault.
    fn try_from(sheet: PlanSheet) -> Result<Self, FaultError> {
        if sheet.faults.len() > FAULTS_MAX {
            let allowed = format!("must be at most {FAULTS_MAX} faults");
            return Err(FaultError::new("faults", sheet.faults.len(), allowed));
        }
        let mut faults = Vec::new();
        for (index, fault) in sheet.faults.into_iter().enumerate() {
            let placed =
                |error: FaultError| FaultError { key: format!("faults[{index}].{}", error.key), ..error };
            faults.push(Fault::try_from(fault).map_err(placed)?);
        }
        Ok(Self { seed: sheet.seed, spare_blocks: sheet.spare_blocks, faults })
    }
}

impl TryFrom<FaultSheet> for Fault {
    type Error = FaultError;

    /// Checks every key.
    fn try_from(sheet: FaultSheet) -> Result<Self, FaultError> {
        let allowed = keys_of(sheet.kind);
        if let Some(key) = sheet.given().into_iter().find(|key| !allowed.contains(key)) {
            let word = serde_word(sheet.kind);
            let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
            return Err(FaultError::new(key, "...", format!("does not apply to {word}, only: {allowed}")));
        }
        let kind = sheet.kind_checked()?;
        let trigger = sheet.trigger()?;
        let range = sheet.range()?;
        let count = within("count", sheet.count, u64::MAX, (1, u64::MAX), " times")?;
        let wear = match (sheet.endurance_erases, &kind) {
            (Some(_), FaultKind::ProgramFailure | FaultKind::EraseFailure) => Some(sheet.wear(3.0)?),
            (None, FaultKind::ProgramFailure | FaultKind::EraseFailure) if sheet.wear_exponent.is_some() => {
                return Err(FaultError::new("endurance_erases", "none", "must be given with wear_exponent"));
            }
            _ => None,
        };
        Ok(Self { kind, trigger, count, range, block: sheet.block, wear, sheet })
    }
}

/// A kind's word.
fn serde_word(kind: KindWord) -> &'static str {
    match kind {
        KindWord::PowerCut => "power-cut",
        KindWord::ProgramFailure => "program-failure",
        KindWord::EraseFailure => "erase-failure",
        KindWord::ReadError => "read-error",
        KindWord::BitErrors => "bit-errors",
        KindWord::LatencySpike => "latency-spike",
        KindWord::ReadOnly => "read-only",
        KindWord::LyingFlush => "lying-flush",
        KindWord::IgnoredFua => "ignored-fua",
        KindWord::TornWrite => "torn-write",
        KindWord::LostWrite => "lost-write",
        KindWord::MisdirectedWrite => "misdirected-write",
    }
}

impl KindWord {
    /// As it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        serde_word(self)
    }
}

impl FaultSheet {
    fn kind_checked(&self) -> Result<FaultKind, FaultError> {
        Ok(match self.kind {
            KindWord::PowerCut => FaultKind::PowerCut { phase: self.phase.unwrap_or_default() },
            KindWord::ProgramFailure => FaultKind::ProgramFailure,
            KindWord::EraseFailure => FaultKind::EraseFailure,
            KindWord::ReadError => FaultKind::ReadError,
            KindWord::BitErrors => FaultKind::BitErrors(self.bit_errors()?),
            KindWord::LatencySpike => {
                // An hour is more than any host waits.
                let range = (1, 3_600_000_000_000);
                let Some(duration) = self.duration_ns else {
                    return Err(FaultError::new("duration_ns", "none", "must be given"));
                };
                FaultKind::LatencySpike {
                    duration_ns: within("duration_ns", Some(duration), 0, range, " ns")?,
                }
            }
            KindWord::ReadOnly => FaultKind::ReadOnly,
            KindWord::LyingFlush => FaultKind::LyingFlush,
            KindWord::IgnoredFua => FaultKind::IgnoredFua,
            KindWord::TornWrite => FaultKind::TornWrite,
            KindWord::LostWrite => FaultKind::LostWrite,
            KindWord::MisdirectedWrite => {
                let distance_sectors = match self.distance_bytes {
                    Some(0) => {
                        return Err(FaultError::new("distance_bytes", 0, "must not be 0"));
                    }
                    Some(bytes) => {
                        let sectors = sectors("distance_bytes", bytes.unsigned_abs())?;
                        Some(sectors.cast_signed() * bytes.signum())
                    }
                    None => None,
                };
                FaultKind::MisdirectedWrite { distance_sectors }
            }
        })
    }

    fn trigger(&self) -> Result<Trigger, FaultError> {
        let given = [self.at_operation.is_some(), self.at_command.is_some(), self.probability.is_some()];
        if given.iter().filter(|&&given| given).count() > 1 {
            let allowed = "must be the only one of at_operation, at_command, probability";
            let key = if self.at_operation.is_some() { "at_operation" } else { "at_command" };
            return Err(FaultError::new(key, "...", allowed));
        }
        let number = |key, value: u64| within(key, Some(value), 1, (1, u64::MAX), "");
        Ok(match (self.at_operation.or(self.at_command), self.probability) {
            (Some(value), _) => {
                let key = if self.at_operation.is_some() { "at_operation" } else { "at_command" };
                Trigger::Number(number(key, value)?)
            }
            (None, Some(value)) => {
                Trigger::Probability(within("probability", Some(value), 0.0, (0.0, 1.0), "")?)
            }
            (None, None) => Trigger::Always,
        })
    }

    fn range(&self) -> Result<Option<SectorRange>, FaultError> {
        match (self.offset_bytes, self.length_bytes) {
            (None, None) => Ok(None),
            (offset, None) => {
                let first = sectors("offset_bytes", offset.unwrap_or(0))?;
                Ok(Some(SectorRange { first, end: u64::MAX }))
            }
            (_, Some(0)) => Err(FaultError::new("length_bytes", 0, "must be 512 or more")),
            (offset, Some(length)) => {
                let first = sectors("offset_bytes", offset.unwrap_or(0))?;
                Ok(Some(SectorRange { first, end: first.saturating_add(sectors("length_bytes", length)?) }))
            }
        }
    }

    fn wear(&self, exponent: f64) -> Result<Wear, FaultError> {
        Ok(Wear {
            endurance_erases: within("endurance_erases", self.endurance_erases, 10_000, (1, u32::MAX), "")?,
            exponent: within("wear_exponent", self.wear_exponent, exponent, (0.0, 100.0), "")?,
        })
    }

    fn bit_errors(&self) -> Result<BitErrors, FaultError> {
        let fallback = BitErrors::default();
        let rate = |key, value, fallback| within(key, value, fallback, (0.0, 0.5), "");
        let codeword_bytes =
            within("codeword_bytes", self.codeword_bytes, fallback.codeword_bytes, (512, 4096), " bytes")?;
        if !u64::from(codeword_bytes).is_multiple_of(SECTOR_BYTES) {
            let allowed = format!("must be a multiple of {SECTOR_BYTES} bytes");
            return Err(FaultError::new("codeword_bytes", codeword_bytes, allowed));
        }
        let correctable_bits =
            within("correctable_bits", self.correctable_bits, fallback.correctable_bits, (0, 1000), " bits")?;
        let hours = within("retention_hours", self.retention_hours, 8760.0, (1e-6, 1e7), " hours")?;
        Ok(BitErrors {
            wear: self.wear(2.0)?,
            new_rate: rate("new_bit_error_rate", self.new_bit_error_rate, fallback.new_rate)?,
            worn_rate: rate("worn_bit_error_rate", self.worn_bit_error_rate, fallback.worn_rate)?,
            retention_ns: hours * 3.6e12,
            read_disturb_reads: within(
                "read_disturb_reads",
                self.read_disturb_reads,
                fallback.read_disturb_reads,
                (1, u64::MAX),
                " reads",
            )?,
            correctable_bits,
            codeword_bytes,
            retries: within("read_retries", self.read_retries, fallback.retries, (0, 100), "")?,
            retry_factor: within("retry_factor", self.retry_factor, fallback.retry_factor, (0.0, 1.0), "")?,
            refresh_bits: within("refresh_bits", self.refresh_bits, 0, (0, correctable_bits), " bits")?,
        })
    }
}
