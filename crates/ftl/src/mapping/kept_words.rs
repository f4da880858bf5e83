//! Words that go wherever a unit's data goes.

use drivelab_nand::Lpn;

use super::places::Mapping;

/// Words of every unit, for those that look: stamps of sectors, or the number of a payload cell.
pub trait KeptWords: Mapping {
    /// Keeps so many words per unit from now on, which go where its data goes. Call it on a new drive.
    fn keep_words(&mut self, words_per_unit: u32);

    /// Keeps the number of every unit's cell from now on, and all that power cuts need beside it. Call it on a new drive.
    fn keep_cells(&mut self);

    /// Keeps a stamp per sector from now on. Call it on a new drive.
    fn keep_stamps(&mut self) {
        self.keep_words(self.sectors_per_unit());
    }

    /// Whether stamps are kept.
    fn keeps_stamps(&self) -> bool;

    /// Stamps of a unit as flash holds it now; `None` where it holds nothing of it (zeros).
    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]>;
}
