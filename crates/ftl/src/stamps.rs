//! Words that go wherever the FTL moves a unit: for oracles a 64-bit stamp of every sector, for drives whose bytes are
//! kept the number of the unit's payload cell.

use drivelab_nand::{Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

/// Stamps of every place in flash. 0 is what a sector of zeros holds, and no cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stamps {
    words: Vec<u64>,
    words_per_unit: usize,
}

impl Stamps {
    /// Room for a whole array: 8 bytes a word.
    #[must_use]
    pub fn new(layout: &UnitLayout, words_per_unit: u32) -> Self {
        let words_per_unit = words_per_unit as usize;
        Self { words: vec![0; layout.unit_count() as usize * words_per_unit], words_per_unit }
    }

    /// Stamps of one place.
    #[must_use]
    pub fn unit(&self, ppn: Ppn) -> &[u64] {
        let first = ppn.0 as usize * self.words_per_unit;
        &self.words[first..first + self.words_per_unit]
    }

    /// Stores the stamps of one place.
    pub fn store(&mut self, ppn: Ppn, stamps: &[u64]) {
        let first = ppn.0 as usize * self.words_per_unit;
        self.words[first..first + self.words_per_unit].copy_from_slice(stamps);
    }

    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn) {
        let first = from.0 as usize * self.words_per_unit;
        self.words.copy_within(first..first + self.words_per_unit, to.0 as usize * self.words_per_unit);
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}
