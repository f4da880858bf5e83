//! Writes of which a power cut leaves only the first half, even though they were flushed.
//!
//! Such a unit has two payload cells: the right one, which the drive reads, and one that holds the first half of the
//! write over what was there before. Flash names the second one until the unit is moved, or the drive goes to rest; so
//! that is what a power cut leaves.

use std::collections::BTreeMap;

use drivelab_nand::op::{PageKind, Record};
use serde::{Deserialize, Serialize};

use crate::kept::effects::Effect;

/// Most torn cells at once: a medium has room for few cells beside those of all units. Other writes stay whole.
const TORN_CELLS_MAX: usize = 256;

/// Torn cells of right ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TornCells {
    cells: BTreeMap<u32, u32>,
}

impl TornCells {
    /// Whether there is no room for another one.
    pub fn is_full(&self) -> bool {
        self.cells.len() >= TORN_CELLS_MAX
    }

    /// Whether nothing is torn.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A right cell has a torn one.
    pub fn add(&mut self, cell: u32, torn: u32) {
        self.cells.insert(cell, torn);
    }

    /// The torn cell of a right one.
    pub fn of(&self, cell: u32) -> Option<u32> {
        self.cells.get(&cell).copied()
    }

    /// The torn cell of a right one that is used no more.
    pub fn remove(&mut self, cell: u32) -> Option<u32> {
        self.cells.remove(&cell)
    }

    /// Records of a page: the host's name the torn cells, those of moved data the right ones again. Torn cells that
    /// nothing names any more once the page is in flash are put into `freed`.
    pub fn rename(&mut self, kind: PageKind, words: &mut [u64], freed: &mut Vec<u32>) {
        let (records, _) = words.as_chunks_mut::<{ Record::WORDS }>();
        for words in records {
            let record = Record::from_words(*words);
            match (self.of(record.cell), kind) {
                (Some(cell), PageKind::Host) => *words = Record { cell, ..record }.to_words(),
                (Some(_), _) => freed.extend(self.remove(record.cell)),
                (None, _) => {}
            }
        }
    }

    /// What makes the torn cells right: the drive goes to rest.
    pub fn mending(&self) -> impl Iterator<Item = Effect> {
        let mend = |(&from, &to)| Effect::Copy { from, to, count: 1 };
        self.cells.iter().map(mend)
    }
}
