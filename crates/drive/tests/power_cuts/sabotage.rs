//! Drives that are broken on purpose, to show that the checker can fail. The product has no switch for any of this: the
//! stream of effects is changed on its way to the medium, acknowledgements are moved, or the medium lies.

use drivelab_nand::op::{FlashOp, PageKind, Record};

use crate::medium::Medium;
use crate::oracle::Class;

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// A flush is acknowledged at once.
    FlushIgnored,
    /// A write with FUA is acknowledged as any other.
    FuaIgnored,
    /// Trims don't reach the log of the map.
    TrimNotLogged,
    /// The last unit in flash is missing from every checkpoint.
    CheckpointShort,
    /// A checkpoint says that it covers more programs than it does.
    CheckpointTooNew,
    /// Cleaning copies an older version of a unit.
    StaleCopy,
    /// Erases don't wait for the programs that supersede what they erase.
    EraseTooEarly,
    /// A container is given back when newer data is in the buffer, not when it is in flash.
    CellFreedEarly,
    /// Sequence numbers have too few bits.
    SequenceWraps,
    /// Pages during whose program the power failed count.
    TornPageAccepted,
    /// A block whose erase was cut is used as if it were erased.
    TornEraseTrusted,
    /// What the capacitor should keep is gone.
    CapacitorDry,
}

impl Sabotage {
    /// All, and as what each may show itself.
    pub const ALL: [(Self, &[Class]); 12] = [
        (Self::FlushIgnored, &[Class::Stale, Class::Lost, Class::Resurrected]),
        (Self::FuaIgnored, &[Class::Stale, Class::Lost, Class::Resurrected]),
        (Self::TrimNotLogged, &[Class::Resurrected, Class::Stale, Class::Freed, Class::Misplaced]),
        (Self::CheckpointShort, &[Class::Lost, Class::Stale]),
        (
            Self::CheckpointTooNew,
            &[Class::Lost, Class::Stale, Class::Misplaced, Class::Freed, Class::Unmountable],
        ),
        (Self::StaleCopy, &[Class::Stale, Class::Misplaced, Class::Freed]),
        (Self::EraseTooEarly, &[Class::Lost, Class::Stale, Class::Torn, Class::Misplaced]),
        (Self::CellFreedEarly, &[Class::Freed]),
        (
            Self::SequenceWraps,
            &[Class::Stale, Class::Misplaced, Class::Lost, Class::Freed, Class::Resurrected],
        ),
        (Self::TornPageAccepted, &[Class::Torn]),
        (Self::TornEraseTrusted, &[Class::Broken]),
        (Self::CapacitorDry, &[Class::Lost, Class::Stale, Class::Resurrected]),
    ];

    /// Makes the medium lie.
    pub fn prepare(self, medium: &mut Medium) {
        match self {
            Self::SequenceWraps => medium.wraps_at = Some(64),
            Self::TornPageAccepted => medium.shows_torn = true,
            Self::TornEraseTrusted => medium.hides_torn_erases = true,
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
            (Self::StaleCopy, FlashOp::Program { kind: PageKind::Moved, .. }) => {
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
