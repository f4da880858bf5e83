//! The page map as a mapping scheme.

use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::{BlockIndex, FlashArray, Lpn, Ppn, UnitLayout};
use drivelab_sim::sabotage::{self, Sabotage};

use super::map::PageMap;
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::log::{BadBlocks, CleaningMode, ValidBits};
use crate::mapping::{Mapping, Superseded};
use crate::recovery::Recovered;
use crate::stamps::Stamps;
impl Mapping for PageMap {
    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.logs.layout
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map[lpn.0 as usize].checked_sub(1).map(Ppn)
    }

    fn takes_trims(&self) -> bool {
        self.logs.config.trim_supported
    }

    fn trim(&mut self, lpn: Lpn) {
        if sabotage::is(Sabotage::TrimsPileUp) {
            self.logs.journal.note_updates(256);
        }
        if self.unmap(lpn) {
            self.logs.counters.units_trimmed += 1;
        }
    }

    fn note_trimmed_extent(&mut self) {
        self.logs.journal.note_updates(1);
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        let erased = self.logs.secure_erase();
        self.map = vec![0; self.map.len()];
        self.valid = ValidBits::new(self.logs.layout.unit_count());
        if let Some(stamps) = &mut self.stamps {
            stamps.clear();
        }
        erased
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        drivelab_sim::prefetch(&self.map, lpn as usize);
    }

    fn flash(&self) -> &FlashArray {
        &self.logs.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid.get(ppn)
    }

    fn held_back_bytes(&self) -> u64 {
        let layout = &self.logs.layout;
        let unit_bytes = u64::from(layout.unit_bytes);
        // What units leave unused at the end of pages and blocks is nobody's.
        let unused = layout.geometry.raw_bytes() - u64::from(layout.unit_count()) * unit_bytes;
        let quarters = u64::from(layout.geometry.die_count()) * u64::from(self.logs.held_back_quarters());
        unused + quarters * u64::from(layout.units_per_block) * unit_bytes / 4
    }

    fn counters(&self) -> &FtlCounters {
        &self.logs.counters
    }

    fn valid_units(&self) -> u64 {
        self.logs.valid_units()
    }

    fn free_blocks(&self) -> u64 {
        self.logs.free_blocks()
    }

    fn backlog(&self) -> Backlog {
        self.logs.backlog()
    }

    fn keep_words(&mut self, words_per_unit: u32) {
        self.stamps = Some(Stamps::new(&self.logs.layout, words_per_unit));
        self.superseded = (words_per_unit == 1).then(Vec::new);
    }

    fn user_units(&self) -> u32 {
        self.logs.config.user_units
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool {
        distance < self.logs.layout.units_per_page - first.0 % self.logs.layout.units_per_page
            && self.lookup(lpn) == Some(Ppn(first.0 + distance))
    }

    fn check(&self) -> Result<(), String> {
        self.recount()
    }

    fn keeps_stamps(&self) -> bool {
        self.stamps.is_some()
    }

    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]> {
        Some(self.stamps.as_ref()?.unit(self.lookup(lpn)?))
    }

    fn forgets(&self) -> Option<&'static str> {
        match self.logs.config.cleaning_mode {
            CleaningMode::Relocate => None,
            CleaningMode::RewriteInPlace => {
                Some("it rewrites its block in place, from memory that a power cut empties")
            }
        }
    }

    fn expect_failures(&mut self) -> Result<&mut BadBlocks, &'static str> {
        let spare = self.spare();
        match self.logs.config.cleaning_mode {
            CleaningMode::Relocate => Ok(self.logs.expect_failures(spare)),
            CleaningMode::RewriteInPlace => Err("it rewrites its only block in place"),
        }
    }

    fn bad_blocks(&self) -> Option<&BadBlocks> {
        self.logs.bad.as_deref()
    }

    fn bad_blocks_mut(&mut self) -> Option<&mut BadBlocks> {
        self.logs.bad.as_deref_mut()
    }

    fn reserved_blocks(&self) -> u32 {
        self.logs.config.reserved_blocks()
    }

    fn keeps_lost_sectors(&self) -> bool {
        self.superseded.is_some()
    }

    fn has_lost_sectors(&self) -> bool {
        self.has_lost_sectors
    }

    fn lost_sectors(&self, ppn: Ppn) -> u32 {
        self.stamps.as_ref().map_or(0, |cells| (cells.unit(ppn)[0] >> 32) as u32)
    }

    fn lose_sectors(&mut self, ppn: Ppn, marks: u32) {
        if let Some(cells) = &mut self.stamps {
            let word = cells.unit(ppn)[0] | u64::from(marks) << 32;
            cells.store(ppn, &[word]);
            self.has_lost_sectors |= marks != 0;
        }
    }

    fn spare_blocks_new(&self) -> Option<u32> {
        (self.logs.config.cleaning_mode == CleaningMode::Relocate).then(|| self.spare())
    }

    fn refresh(&mut self, block: BlockIndex) -> bool {
        self.logs.refresh(block)
    }

    fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        let (Some(superseded), Some(cells)) = (&mut self.superseded, &self.stamps) else { return };
        let layout = &self.logs.layout;
        out.extend(
            superseded
                .drain(..)
                .map(|ppn| Superseded { block: layout.block_of(ppn), cell: cells.unit(ppn)[0] as u32 }),
        );
    }

    fn page_records(&self, first: Ppn, out: &mut Vec<u64>) {
        let Some(cells) = &self.stamps else { return };
        for place in (first.0..first.0 + self.logs.layout.units_per_page).map(Ppn) {
            let lpn = self.logs.flash.peek(place);
            // Above the cell's number are the marks of lost sectors.
            let word = if lpn.is_some() { cells.unit(place)[0] } else { u64::from(NO_CELL) };
            let (cell, info) = (word as u32, word >> 32);
            out.extend(Record { lpn: lpn.unwrap_or(Lpn::PADDING), cell, info }.to_words());
        }
    }

    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.logs.restore(recovered)?;
        self.logs.restore_bad_blocks(recovered.medium, self.spare());
        self.restore_map(recovered)
    }
}
