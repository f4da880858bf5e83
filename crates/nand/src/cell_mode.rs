//! How many bits a block's cells are programmed with.

use std::fmt;

/// What an erased block is opened as; it stays that until it is erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellMode {
    /// As many bits a cell as the part is made for.
    #[default]
    Native,
    /// One bit a cell: a word line holds one page of each plane.
    Slc,
}

impl CellMode {
    /// All modes, each at its number.
    pub const ALL: [Self; 2] = [Self::Native, Self::Slc];
}

impl fmt::Display for CellMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Slc => "slc",
        })
    }
}
