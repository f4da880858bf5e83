//! How many bits a block's cells are programmed with.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an erased block is opened as; it stays that until it is erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

    /// Of the byte of a page's header that says what it was programmed for, the bit of a page with one bit a cell.
    const SLC_BIT: u8 = 0x80;

    /// The mode in such a byte.
    pub(crate) fn of_kind_byte(byte: u8) -> Self {
        if byte & Self::SLC_BIT == 0 { Self::Native } else { Self::Slc }
    }

    /// What it adds to the byte.
    pub(crate) fn kind_bits(self) -> u8 {
        match self {
            Self::Native => 0,
            Self::Slc => Self::SLC_BIT,
        }
    }
}

impl fmt::Display for CellMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Slc => "slc",
        })
    }
}
