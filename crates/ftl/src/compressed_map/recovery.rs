//! Power cuts: what the compressed map keeps for them.

use drivelab_nand::{Lpn, Ppn};

use super::durable::Durable;
use super::entry::{SHARED, TRIMMED};
use super::map::CompressedMap;
use crate::mapping::{KeptWords, LOG_RECORDS, Mapping, Recoverable, Superseded};
use crate::recovery::Recovered;

impl KeptWords for CompressedMap {
    fn keep_words(&mut self, words_per_unit: u32) {
        self.stamps = Some(vec![0; self.map.len() * words_per_unit as usize]);
        self.words_per_unit = words_per_unit;
    }

    fn keep_cells(&mut self) {
        self.keep_words(1);
        let blocks = self.logs.layout.block_count();
        self.durable = Some(Box::new(Durable::new(self.map.len(), blocks)));
    }

    fn keeps_stamps(&self) -> bool {
        self.stamps.is_some()
    }

    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]> {
        self.lookup(lpn)?;
        let words = self.words_per_unit as usize;
        let first = lpn.0 as usize * words;
        Some(&self.stamps.as_ref()?[first..first + words])
    }
}

impl Recoverable for CompressedMap {
    fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        if let Some(durable) = &mut self.durable {
            durable.take_superseded(out);
        }
    }

    fn take_needed(&mut self, out: &mut Vec<Ppn>) {
        if let Some(durable) = &mut self.durable {
            durable.take_needed(out);
        }
    }

    fn page_records(&self, _first: Ppn, out: &mut Vec<u64>) {
        self.records_of_page(out);
    }

    fn records_per_block(&self) -> u32 {
        // A content that comes for the first time is a fragment, in two records, and a reference to it.
        3 * self.shape.page_granules * self.shape.pages_per_block
    }

    fn log_records(&self) -> u32 {
        // All units may be references that have lost their page. When they are, the log must still have room for some
        // time until the next checkpoint.
        self.user_units().saturating_mul(3).saturating_add(LOG_RECORDS)
    }

    fn take_log_records(&mut self, out: &mut Vec<u64>) {
        self.log_homeless(out);
    }

    fn checkpoint_entry(&self, lpn: Lpn) -> u32 {
        let entry = self.map[lpn.0 as usize];
        let Some(durable) = &self.durable else { return 0 };
        if entry & TRIMMED != 0 {
            0
        } else if entry & SHARED != 0 {
            durable.reference_at(lpn)
        } else {
            entry
        }
    }

    fn checkpoint_records(&self, out: &mut Vec<u64>) {
        self.log_all(out);
    }

    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.restore(recovered)
    }
}
