//! Drives that are broken on purpose, to show that the checker can fail. The product has no switch for any of this: the
//! stream of effects is changed on its way to the medium, acknowledgements are moved, or the medium lies.

use drivelab_drive::Family;
use drivelab_nand::op::{FlashOp, PageKind, Record};

use super::medium::Medium;
use super::oracle::Class;

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// A flush is acknowledged at once.
    FlushIgnored,
    /// A write with FUA is acknowledged as any other.
    FuaIgnored,
    /// The host hears of completions before what led to them is carried out.
    HeardTooEarly,
    /// Trims don't reach the log of the map.
    TrimNotLogged,
    /// The last unit in flash is missing from every checkpoint.
    CheckpointShort,
    /// A checkpoint says that it covers more programs than it does.
    CheckpointTooNew,
    /// Cleaning copies an older version of a unit.
    StaleCopy,
    /// Cleaning leaves a unit behind.
    UnitLeftBehind,
    /// Erases don't wait for the programs that supersede what they erase.
    EraseTooEarly,
    /// A container is given back when newer data is in the buffer, not when it is in flash.
    CellFreedEarly,
    /// Sequence numbers have too few bits.
    SequenceWraps,
    /// Pages during whose program the power failed count.
    TornPageAccepted,
    /// What has had the first of two passes when the power fails counts.
    CoarseLineAccepted,
    /// Blocks are erased though what supersedes their data is between its passes.
    ErasedBeforeFinePass,
    /// A block whose erase was cut is used as if it were erased.
    TornEraseTrusted,
    /// Nothing says after a power cut which blocks have one bit a cell.
    ModeForgotten,
    /// What the capacitor should keep is gone.
    CapacitorDry,
    /// What the capacitor has kept it keeps for ever.
    CapacitorClings,
    /// A secure erase does nothing.
    SecureEraseIgnored,
    /// A disk loses a sector that it should write.
    SectorLost,
    /// A disk writes a sector beside its place.
    SectorMisdirected,
}

/// Families whose flash has a map.
const MAPS: &[Family] = &[Family::PageMap, Family::SuperblockMap, Family::LogBlockMap, Family::CompressedMap];
const ALL: &[Family] = &[
    Family::PageMap,
    Family::SuperblockMap,
    Family::LogBlockMap,
    Family::CompressedMap,
    Family::HardDisk,
    Family::Raid0,
];
const DISKS: &[Family] = &[Family::HardDisk];

/// A broken drive, where there is one, and as what it may show itself.
pub type Known = (Sabotage, &'static [Family], &'static [Class]);

impl Sabotage {
    /// All.
    pub const ALL: [Known; 18] = [
        (Self::FlushIgnored, ALL, &[Class::Stale, Class::Lost, Class::Resurrected]),
        (Self::FuaIgnored, ALL, &[Class::Stale, Class::Lost, Class::Resurrected]),
        (Self::HeardTooEarly, ALL, &[Class::Stale, Class::Lost, Class::Resurrected, Class::Invented]),
        // The cells of what was trimmed are used for other sectors; a cut tears what comes into one.
        (
            Self::TrimNotLogged,
            MAPS,
            &[Class::Resurrected, Class::Stale, Class::Freed, Class::Misplaced, Class::Torn],
        ),
        (Self::CheckpointShort, MAPS, &[Class::Lost, Class::Stale]),
        (
            Self::CheckpointTooNew,
            MAPS,
            // What a stale place names is another's by now; the cut may have come while that one was written.
            &[Class::Lost, Class::Stale, Class::Misplaced, Class::Freed, Class::Torn, Class::Unmountable],
        ),
        (Self::StaleCopy, MAPS, &[Class::Stale, Class::Misplaced, Class::Freed, Class::Torn]),
        (
            Self::UnitLeftBehind,
            MAPS,
            &[Class::Stale, Class::Lost, Class::Misplaced, Class::Freed, Class::Unmountable],
        ),
        (Self::EraseTooEarly, MAPS, &[Class::Lost, Class::Stale, Class::Torn, Class::Misplaced]),
        (Self::CellFreedEarly, MAPS, &[Class::Freed]),
        (
            Self::SequenceWraps,
            MAPS,
            &[
                Class::Stale,
                Class::Misplaced,
                Class::Lost,
                Class::Freed,
                Class::Resurrected,
                Class::Unmountable,
                Class::Torn,
            ],
        ),
        (Self::TornPageAccepted, MAPS, &[Class::Torn, Class::Unmountable]),
        (Self::TornEraseTrusted, MAPS, &[Class::Broken]),
        (Self::CapacitorDry, MAPS, &[Class::Lost, Class::Stale, Class::Resurrected]),
        (
            Self::CapacitorClings,
            MAPS,
            &[Class::Broken, Class::Resurrected, Class::Stale, Class::Freed, Class::Misplaced],
        ),
        // The cells of what should be gone are used for other sectors, and a cut tears what comes into one.
        (
            Self::SecureEraseIgnored,
            ALL,
            &[Class::Resurrected, Class::Stale, Class::Broken, Class::Misplaced, Class::Torn],
        ),
        (Self::SectorLost, DISKS, &[Class::Lost, Class::Stale]),
        (Self::SectorMisdirected, DISKS, &[Class::Misplaced, Class::Lost, Class::Stale]),
    ];

    /// What only a drive with an SLC cache can do.
    pub const OF_SLC_CACHE: Known = (Self::ModeForgotten, &[Family::PageMap], &[Class::Broken]);

    /// What only a drive can do that programs in two passes.
    pub const OF_TWO_PASSES: [Known; 2] = [
        (Self::CoarseLineAccepted, &[Family::PageMap], &[Class::Torn, Class::Unmountable, Class::Stale]),
        (
            Self::ErasedBeforeFinePass,
            &[Family::PageMap],
            // A mount that counts what should be in flash misses what was erased.
            &[Class::Lost, Class::Stale, Class::Torn, Class::Misplaced, Class::Unmountable],
        ),
    ];

    /// What is broken in the product, for as long as a drive is tried.
    pub fn switch(self) -> Option<drivelab_sim::sabotage::Sabotage> {
        (self == Self::ErasedBeforeFinePass).then_some(drivelab_sim::sabotage::Sabotage::CoarseFencesNothing)
    }

    /// Makes the medium lie.
    pub fn prepare(self, medium: &mut Medium) {
        match self {
            Self::SequenceWraps => medium.wraps_at = Some(64),
            Self::TornPageAccepted => medium.shows_torn = true,
            Self::CoarseLineAccepted => medium.shows_coarse = true,
            Self::TornEraseTrusted => medium.hides_torn_erases = true,
            Self::ModeForgotten => medium.hides_modes = true,
            _ => {}
        }
    }

    /// Changes what an operation writes.
    pub fn change(self, medium: &Medium, op: &mut FlashOp, words: &mut Vec<u64>) {
        match (self, op) {
            (Self::CheckpointTooNew, FlashOp::CheckpointEnd { sequence }) => *sequence += 4,
            (Self::TrimNotLogged, FlashOp::Log) => words.clear(),
            (Self::CheckpointShort, FlashOp::Checkpoint { .. }) => {
                if let Some(entry) = words.iter_mut().rev().find(|entry| **entry != 0) {
                    *entry = 0;
                }
            }
            (
                Self::UnitLeftBehind,
                FlashOp::Program { kind: PageKind::Moved, .. } | FlashOp::Fine { kind: PageKind::Moved, .. },
            ) => {
                words.truncate(words.len().saturating_sub(Record::WORDS));
            }
            (
                Self::StaleCopy,
                FlashOp::Program { kind: PageKind::Moved, .. } | FlashOp::Fine { kind: PageKind::Moved, .. },
            ) => {
                for words in words.chunks_exact_mut(Record::WORDS) {
                    let record = Record::from_words([words[0], words[1]]);
                    if let Some(&(_, cell)) = medium.versions(record.lpn.0).get(1) {
                        words.copy_from_slice(&Record { cell, ..record }.to_words());
                    }
                }
            }
            _ => {}
        }
    }
}
