//! Faults as they are written down, checked into what the drive works with.

use std::fmt::Display;

use drivelab_ftl::bad_blocks::Wear;

use super::plan::{BitErrors, CellErrors, Fault, FaultKind, FaultPlan, SectorRange, Trigger};
use super::sheet::{FaultSheet, KindWord, PlanSheet};
use crate::command::SECTOR_BYTES;

/// Most faults of a plan.
const FAULTS_MAX: usize = 1000;

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
        let is_bit_errors = |(_, fault): &(usize, &FaultSheet)| fault.kind == KindWord::BitErrors;
        let mut bit_errors = sheet.faults.iter().enumerate().filter(is_bit_errors);
        if let (Some((first, _)), Some((second, _))) = (bit_errors.next(), bit_errors.next()) {
            let allowed = format!("must be the only one, and faults[{first}] is another");
            return Err(FaultError::new(&format!("faults[{second}].kind"), "bit-errors", allowed));
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
        if let Some((key, value)) = sheet.given().into_iter().find(|(key, _)| !allowed.contains(key)) {
            let word = sheet.kind.word();
            let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
            return Err(FaultError::new(key, value, format!("does not apply to {word}, only: {allowed}")));
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
        let is_trigger =
            |(key, _): &(&str, String)| ["at_operation", "at_command", "probability"].contains(key);
        let mut given = self.given().into_iter().filter(is_trigger);
        if let (Some((key, value)), Some(_)) = (given.next(), given.next()) {
            let allowed = "must be the only one of at_operation, at_command, probability";
            return Err(FaultError::new(key, value, allowed));
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
            erases_before: 0,
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
        let new_rate = rate("new_bit_error_rate", self.new_bit_error_rate, fallback.native.new_rate)?;
        // Whoever only says how many bits of new blocks are wrong wants no fewer of worn ones.
        let worn_fallback = fallback.native.worn_rate.max(new_rate);
        let worn_rate = rate("worn_bit_error_rate", self.worn_bit_error_rate, worn_fallback)?;
        if worn_rate < new_rate {
            let allowed = format!("must be at least new_bit_error_rate = {new_rate}");
            return Err(FaultError::new("worn_bit_error_rate", worn_rate, allowed));
        }
        let cell = CellErrors { wear: self.wear(2.0)?, new_rate, worn_rate };
        Ok(BitErrors {
            native: cell,
            slc: cell,
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
