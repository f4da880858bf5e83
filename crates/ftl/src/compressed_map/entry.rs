//! Map entries, and the room of what they point at.

use drivelab_nand::{BlockIndex, Ppn};
use serde::{Deserialize, Serialize};

use super::fragments::Key;

/// Set in a map entry that refers to a shared fragment; its number is below.
pub(super) const SHARED: u32 = 1 << 31;
/// Set in a map entry that a trim should have removed but did not: it reads as zeros, but still holds its space.
pub(super) const TRIMMED: u32 = 1 << 30;

/// Room of a fragment, in granules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extent {
    /// What it takes on a page.
    pub size: u8,
    /// What it is counted as: its size, and for the last fragment of a full page the rest of the page, on which
    /// nothing else fitted.
    pub charge: u8,
}

impl Extent {
    /// As the table of extents holds it.
    #[inline]
    pub fn of(word: u16) -> Self {
        let [size, charge] = word.to_le_bytes();
        Self { size, charge }
    }

    /// For the table of extents.
    #[inline]
    pub fn word(self) -> u16 {
        u16::from_le_bytes([self.size, self.charge])
    }
}

/// A page that is being filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPage {
    pub block: BlockIndex,
    pub place: Ppn,
    pub used: u32,
    pub last: Option<Key>,
}
