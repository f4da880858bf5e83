//! What goes wrong, and when.

use drivelab_ftl::bad_blocks::Wear;
use serde::{Deserialize, Serialize};

use super::sheet::{CutPhase, FaultSheet};

/// Faults of a drive. The same plan on the same drive with the same commands gives the same faults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// From which everything random is drawn.
    pub seed: u64,
    /// Blocks that may fail before the drive only reads any more, if it is fewer than the model has to spare.
    pub spare_blocks: Option<u32>,
    /// The faults.
    pub faults: Vec<Fault>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// When.
    pub trigger: Trigger,
    /// At most so often.
    pub count: u64,
    /// Only commands that touch these sectors.
    pub range: Option<SectorRange>,
    /// Only this block.
    pub block: Option<u32>,
    /// The chance grows with wear.
    pub wear: Option<Wear>,
    /// As it was written.
    pub sheet: FaultSheet,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FaultKind {
    /// The power fails; whoever owns the drive carries it out.
    PowerCut {
        /// When, within the operation.
        phase: CutPhase,
    },
    /// A page can't be programmed.
    ProgramFailure,
    /// A block can't be erased.
    EraseFailure,
    /// Reads fail.
    ReadError,
    /// Bits flip.
    BitErrors(BitErrors),
    /// A command takes longer.
    LatencySpike {
        /// How much.
        duration_ns: u64,
    },
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
    MisdirectedWrite {
        /// How far away; drawn if it is not given.
        distance_sectors: Option<i64>,
    },
}

/// When a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Trigger {
    /// Whenever it can.
    Always,
    /// At the operation or command of this number, from 1.
    Number(u64),
    /// With this chance each time.
    Probability(f64),
}

/// Sectors of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorRange {
    /// The first.
    pub first: u64,
    /// One past the last.
    pub end: u64,
}

impl SectorRange {
    /// The sectors of a command that lie inside: the first, counted from the command's own first, and how many.
    #[must_use]
    pub fn within(self, lba: u64, sector_count: u32) -> Option<(u32, u32)> {
        let (first, end) = (self.first.max(lba), self.end.min(lba + u64::from(sector_count)));
        (first < end).then(|| ((first - lba) as u32, (end - first) as u32))
    }
}

/// Where the power is to be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PowerCut {
    /// Number of the flash operation (`Effect::Begin`); 0: at once.
    pub operation: u64,
    /// When, within it.
    pub phase: CutPhase,
}

/// Wear, and the shares of wrong bits before it and after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellErrors {
    /// Endurance, and how steeply wear grows.
    pub wear: Wear,
    /// Share of wrong bits of a new block.
    pub new_rate: f64,
    /// Share of wrong bits of a block that has reached its endurance.
    pub worn_rate: f64,
}

impl CellErrors {
    /// Share of wrong bits of what was just programmed into a block that was erased so often.
    #[must_use]
    pub fn rate(&self, erase_count: u32) -> f64 {
        self.new_rate + (self.worn_rate - self.new_rate) * self.wear.factor(erase_count)
    }
}

/// Wrong bits of what was programmed, and what error correction makes of them.
///
/// The share of wrong bits is that of wear, `new + (worn - new) (erases / endurance)^exponent`, times
/// `1 + age / retention`, times `1 + reads / read_disturb`. Their number in a codeword is drawn from the Poisson
/// distribution once for each page that is programmed, as a quantile: so it only grows, and a codeword that can't be
/// corrected stays so. A retry reads with other thresholds and leaves a fraction of them. The forms follow \[CAI\] and
/// \[MIELKE\] of REFERENCES.md; the constants are assumed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BitErrors {
    /// Of blocks of the bits a cell that the part is made for.
    pub native: CellErrors,
    /// Of blocks of one bit a cell.
    pub slc: CellErrors,
    /// Age after which there are twice as many.
    pub retention_ns: f64,
    /// Reads of the block after which there are twice as many.
    pub read_disturb_reads: u64,
    /// Bits that can be corrected in a codeword.
    pub correctable_bits: u32,
    /// Bytes of a codeword.
    pub codeword_bytes: u32,
    /// How often a read is tried again.
    pub retries: u32,
    /// What a retry leaves of the wrong bits.
    pub retry_factor: f64,
    /// A block with a codeword of more wrong bits than this is moved elsewhere; 0: never.
    pub refresh_bits: u32,
}

impl Default for BitErrors {
    /// MLC flash of 2009: 10 000 erases, 8 bits corrected in 512 bytes.
    fn default() -> Self {
        let wear = Wear { endurance_erases: 10_000, exponent: 2.0, erases_before: 0 };
        let cell = CellErrors { wear, new_rate: 1e-7, worn_rate: 1e-4 };
        Self {
            native: cell,
            slc: cell,
            retention_ns: 8760.0 * 3.6e12,
            read_disturb_reads: 100_000,
            correctable_bits: 8,
            codeword_bytes: 512,
            retries: 4,
            retry_factor: 0.5,
            refresh_bits: 0,
        }
    }
}
