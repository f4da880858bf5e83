//! Durable mode of a disk: its bytes are kept outside, one payload cell for every sector.
//!
//! The platter is the first cells, one for each sector in order; sectors that wait in the write cache have cells above
//! them. When the heads have written a sector its bytes are copied to the platter: no map, so nothing to recover.

use drivelab_controller::{Cells, Effect, Effects};
use serde::{Deserialize, Serialize};

/// State of durable mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Durable {
    pub effects: Effects,
    pub cells: Cells,
}

/// The platter's cell of a sector.
#[inline]
pub(super) fn platter(lba: u64) -> u32 {
    lba as u32 + 1
}

impl Durable {
    /// Sectors of a write come into the cache: their cells.
    pub fn fill(&mut self, sectors: u32, tag: u32, offset: u32) -> Vec<u64> {
        (offset..offset + sectors)
            .map(|offset| {
                let cell = self.cells.take();
                self.effects.list.push(Effect::Fill { cell, base: 0, first: 0, count: 1, tag, offset });
                u64::from(cell)
            })
            .collect()
    }

    /// Cells whose sectors were overwritten in the cache.
    pub fn give(&mut self, cells: impl Iterator<Item = u64>) {
        cells.for_each(|cell| self.cells.give(cell as u32));
    }

    /// Sectors from `lba` on have reached the platter.
    pub fn store(&mut self, lba: u64, cells: impl Iterator<Item = u64>) {
        for (lba, from) in (lba..).zip(cells) {
            self.effects.list.push(Effect::Copy { from: from as u32, to: platter(lba), count: 1 });
            self.cells.give(from as u32);
        }
    }
}
