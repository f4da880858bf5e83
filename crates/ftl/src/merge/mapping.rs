//! A merging scheme as a mapping scheme.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Lpn, Ppn, UnitLayout};

use super::map::{MergeMap, MergeScheme};
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::mapping::{BlockUse, Books, Contents, FailingBlocks, KeptWords, Mapping, Recoverable, Superseded};
use crate::recovery::Recovered;
use crate::stamps::Stamps;

impl<S: MergeScheme> Mapping for MergeMap<S> {
    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.core.layout
    }

    fn user_units(&self) -> u32 {
        self.core.config.user_units
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.core.lookup(lpn)
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool {
        first.0 % self.core.layout.units_per_page + distance < self.core.layout.units_per_page
            && self.core.lookup(lpn) == Some(Ppn(first.0 + distance))
    }

    fn takes_trims(&self) -> bool {
        self.core.config.trim_supported
    }

    fn trim(&mut self, lpn: Lpn) {
        self.core.trim(lpn);
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        self.core.secure_erase()
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        self.core.log.prefetch(lpn as usize);
    }

    fn flash(&self) -> &FlashArray {
        &self.core.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.core.holds_current(ppn)
    }
}

impl<S: MergeScheme> Contents for MergeMap<S> {}

impl<S: MergeScheme> Books for MergeMap<S> {
    fn map_log_fill_ratio(&self) -> Option<f64> {
        None
    }

    fn held_back_bytes(&self) -> u64 {
        let layout = &self.core.layout;
        let logs = if S::FIXED { 0 } else { self.core.config.reserve_blocks.max(1) };
        let blocks = u64::from(layout.geometry.die_count()) * u64::from(S::WORKING_BLOCKS + logs);
        blocks * u64::from(layout.units_per_block) * u64::from(layout.unit_bytes)
    }

    fn counters(&self) -> &FtlCounters {
        &self.core.counters
    }

    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        let counters = self.counters();
        vec![
            ("merges_full", counters.merges_full),
            ("merges_partial", counters.merges_partial),
            ("merges_switch", counters.merges_switch),
        ]
    }

    fn valid_units(&self) -> u64 {
        self.core.written_count
    }

    fn free_blocks(&self) -> u64 {
        (0..self.core.banks.len() as u32).map(|bank| u64::from(self.core.free.count(DieIndex(bank)))).sum()
    }

    fn backlog(&self) -> Backlog {
        let banks = (0..self.core.banks.len() as u32).map(DieIndex);
        let cleaning_dies = banks.filter(|&bank| self.is_busy(bank)).count() as u64;
        Backlog { cleaning_dies, ..Backlog::default() }
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        self.core.block_uses()
    }

    fn check(&self) -> Result<(), String> {
        self.core.check()
    }
}

impl<S: MergeScheme> KeptWords for MergeMap<S> {
    fn keep_words(&mut self, words_per_unit: u32) {
        self.core.stamps = Some(Stamps::new(&self.core.layout, words_per_unit));
    }

    fn keep_cells(&mut self) {
        self.keep_words(1);
        self.core.superseded = Some(Vec::new());
        self.core.spared_blocks = u32::from(!S::FIXED);
    }

    fn keeps_stamps(&self) -> bool {
        self.core.stamps.is_some()
    }

    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]> {
        let ppn = self.core.lookup(lpn).filter(|_| self.core.written.get(Ppn(lpn.0)))?;
        Some(self.core.stamps.as_ref()?.unit(ppn))
    }
}

impl<S: MergeScheme> Recoverable for MergeMap<S> {
    fn forgets(&self) -> Option<&'static str> {
        let spare = self.core.layout.geometry.blocks_per_die() - self.core.superblocks.most_per_bank();
        (spare <= S::WORKING_BLOCKS).then_some(
            "a bank has no erased block to spare in which a merge that a power cut broke off could be done again",
        )
    }

    fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        if let Some(superseded) = &mut self.core.superseded {
            out.append(superseded);
        }
    }

    fn page_records(&self, first: Ppn, out: &mut Vec<u64>) {
        self.core.page_records(first, out);
    }

    fn checkpoint_entry(&self, lpn: Lpn) -> u32 {
        let written = self.core.written.get(Ppn(lpn.0)).then(|| self.core.lookup(lpn)).flatten();
        written.map_or(0, |ppn| self.core.page_number(ppn) + 1)
    }

    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.core.mount(recovered)
    }

    fn erased_by_mount(&self) -> &[BlockIndex] {
        &self.core.erased_by_mount
    }
}

impl<S: MergeScheme> FailingBlocks for MergeMap<S> {}
