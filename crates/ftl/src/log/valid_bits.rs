//! Which places hold current data.

use drivelab_nand::Ppn;
use drivelab_sim::Table;
use serde::{Deserialize, Serialize};

/// One bit per place: does it hold the current data of its LPN?
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ValidBits {
    words: Table<u64>,
}

impl ValidBits {
    pub(crate) fn new(places: u32) -> Self {
        Self { words: Table::new(places.div_ceil(64) as usize) }
    }

    /// Whether a place is valid.
    #[inline]
    pub fn get(&self, ppn: Ppn) -> bool {
        self.words[(ppn.0 / 64) as usize] >> (ppn.0 % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, ppn: Ppn) {
        self.words[(ppn.0 / 64) as usize] |= 1 << (ppn.0 % 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, ppn: Ppn) {
        self.words[(ppn.0 / 64) as usize] &= !(1 << (ppn.0 % 64));
    }

    /// Brings the bit of a place into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, ppn: Ppn) {
        drivelab_sim::prefetch(&self.words, (ppn.0 / 64) as usize);
    }

    /// How many places in `from..end` are valid.
    pub(crate) fn count(&self, from: Ppn, end: Ppn) -> u32 {
        let (mut place, mut count) = (from.0, 0);
        while place < end.0 {
            let next = (place / 64 + 1) * 64;
            let beyond = next.saturating_sub(end.0);
            let word = self.words[(place / 64) as usize] << beyond >> beyond >> (place % 64);
            count += word.count_ones();
            place = next;
        }
        count
    }

    /// The first valid place in `from..end`.
    #[inline]
    pub(crate) fn next(&self, from: Ppn, end: Ppn) -> Option<Ppn> {
        let mut place = from.0;
        while place < end.0 {
            let word = self.words[(place / 64) as usize] >> (place % 64);
            if word != 0 {
                let found = place + word.trailing_zeros();
                return (found < end.0).then_some(Ppn(found));
            }
            place = (place / 64 + 1) * 64;
        }
        None
    }
}
