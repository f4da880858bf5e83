//! Why an effect can't be carried out.

use drivelab_nand::MediumError;

use crate::room::NoRoom;

/// Why an effect can't be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// What flash can't do.
    #[error(transparent)]
    Medium(#[from] MediumError),
    /// Cells that aren't there.
    #[error("cells {first} to {end}, but there are {count}")]
    Cell {
        /// The first.
        first: u32,
        /// One past the last.
        end: u64,
        /// How many there are.
        count: u32,
    },
    /// Sectors that a cell doesn't have.
    #[error("sectors {first} to {} of a cell of {sectors}", u64::from(*first) + u64::from(*count))]
    Sectors {
        /// The first.
        first: u32,
        /// How many.
        count: u32,
        /// How many a cell has.
        sectors: u32,
    },
    /// Data of a command that nobody knows.
    #[error("command {tag} has no sectors {offset} to {}", u64::from(*offset) + u64::from(*count))]
    Host {
        /// Its tag.
        tag: u32,
        /// First sector of its data.
        offset: u32,
        /// Sectors.
        count: u32,
    },
    /// No space for what is to be stored.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
}
