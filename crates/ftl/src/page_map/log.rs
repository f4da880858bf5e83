//! The page map as a scheme that writes a log on every die: host pages, metadata, cleaning, one step at a time.

use drivelab_nand::{BlockIndex, CellMode, DieIndex, Lpn, Ppn};

use super::map::PageMap;
use super::memory::MapMemory;
use crate::error::FtlError;
use crate::log::{CleaningMode, CleaningStep, MetadataStep, Urgency};
use crate::mapping::{LogMapping, Stored};

impl<H: MapMemory> LogMapping for PageMap<H> {
    #[inline]
    fn has_room(&self, die: DieIndex) -> bool {
        self.logs.has_host_block(die)
    }

    #[inline]
    fn is_full(&self, die: DieIndex) -> bool {
        self.logs.die_valid[die.0 as usize] + self.logs.withheld(die) * self.units_lasting >= self.die_limit
            && self.logs.config.cleaning_mode == CleaningMode::Relocate
            && !self.logs.is_in_need()
    }

    #[inline]
    fn is_wedged(&self, die: DieIndex) -> bool {
        self.logs.is_wedged(die)
    }

    #[inline]
    fn holds_host_pages(&self) -> bool {
        self.logs.journal.is_checkpointing() || self.memory.is_behind()
    }

    #[inline]
    fn program_host(&mut self, die: DieIndex, lpns: &[Lpn], _stored: &[Stored]) -> Result<Ppn, FtlError> {
        if !self.has_room(die) {
            return Err(FtlError::NoFreeBlock { die: die.0 });
        }
        let first = self.place_host(die, lpns)?;
        self.logs.counters.programs_host += 1;
        self.logs.counters.units_host += lpns.len() as u64;
        Ok(first)
    }

    fn pad(&mut self, die: DieIndex, block: BlockIndex) -> Result<Ppn, FtlError> {
        let first = self.logs.pad(die, block)?;
        self.logs.counters.programs_host += 1;
        Ok(first)
    }

    fn ready_host_page(&mut self, die: DieIndex) -> Result<(), FtlError> {
        self.logs.streams.host().try_for_each(|stream| self.logs.ready_page(die, stream, true))
    }

    #[inline]
    fn is_metadata_due(&self) -> bool {
        self.memory.is_due(&self.logs)
    }

    #[inline]
    fn is_metadata_due_on(&self, die: DieIndex) -> bool {
        self.memory.is_due_on(&self.logs, die)
    }

    #[inline]
    fn is_map_behind(&self) -> bool {
        self.logs.journal.is_behind() || self.memory.is_behind()
    }

    fn program_metadata(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        self.memory.keep(&mut self.logs, die)
    }

    #[inline]
    fn page_granules(&self) -> u32 {
        self.logs.layout.units_per_page
    }

    #[inline]
    fn host_page_granules(&self, die: DieIndex) -> u32 {
        self.logs.flash.page_units(self.logs.host_mode(die))
    }

    fn host_page_granules_min(&self) -> u32 {
        let mode = if self.logs.slc.is_some() { CellMode::Slc } else { CellMode::Native };
        self.logs.flash.page_units(mode)
    }

    #[inline]
    fn has_slc_cache(&self) -> bool {
        self.logs.slc.is_some()
    }

    fn store_stamps(&mut self, first: Ppn, offset: u32, _lpn: Lpn, stamps: &[u64]) {
        if let Some(kept) = &mut self.stamps {
            kept.store(Ppn(first.0 + offset), stamps);
        }
    }

    fn cleans_when_idle(&self) -> bool {
        self.logs.config.idle_cleaning_blocks > 0
            || self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace
            || self.logs.slc.is_some()
            || self.logs.config.held_word_lines > 0
    }

    fn rest(&mut self) {
        self.logs.note_pause();
    }

    fn begin_rewrite(&mut self, die: DieIndex, queued: u32) -> bool {
        self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace
            && queued > self.logs.room_units(die)
            && self.force_rewrite(die)
    }

    fn release(&mut self, lpn: Lpn) {
        self.unmap(lpn);
    }

    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    fn cleaning_urgency(&mut self, die: DieIndex) -> Urgency {
        if let Some(urgency) = self.logs.calm_urgency(die) {
            return urgency;
        }
        if !self.logs.is_plain {
            return self.urgency_of_others(die);
        }
        let has_room = self.has_room(die);
        self.logs.urgency(die, has_room)
    }

    #[inline]
    fn is_cleaning(&self, die: DieIndex) -> bool {
        self.logs.is_cleaning(die)
    }

    fn cleaning_debt(&self, die: DieIndex) -> Option<(u32, u32)> {
        let valid = self.logs.valid_at_start(die)?;
        if self.logs.slc.is_some() {
            return self.logs.folding_debt(die);
        }
        Some((valid, self.logs.superblock_units))
    }

    #[inline]
    fn cleans_at_once(&self, die: DieIndex) -> bool {
        self.logs.folds_at_once(die)
    }

    #[inline]
    fn take_waiting_die(&mut self) -> Option<DieIndex> {
        if self.logs.slc.is_some() { self.logs.take_waiting_die() } else { None }
    }

    fn next_cleaning_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        self.clean_step(die)
    }

    fn copied_places(&self) -> &[Ppn] {
        &self.copied_from
    }

    fn copied_page_bytes(&self, cursor: &mut usize) -> Option<u32> {
        let rest = self.copied_from.get(*cursor..).filter(|rest| !rest.is_empty())?;
        let page = rest[0].0 / self.logs.layout.units_per_page;
        let units = rest.iter().take_while(|from| from.0 / self.logs.layout.units_per_page == page).count();
        *cursor += units;
        Some(units as u32 * self.logs.layout.unit_bytes)
    }
}

impl<H: MapMemory> PageMap<H> {
    /// How much a die of a drive needs cleaning that rewrites in place, has an SLC cache, or programs parity.
    #[inline(never)]
    fn urgency_of_others(&mut self, die: DieIndex) -> Urgency {
        if self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace {
            return if self.logs.is_cleaning(die) { Urgency::Urgent } else { Urgency::Idle };
        }
        let has_room = self.has_room(die);
        if self.logs.slc.is_some() {
            return self.logs.cached_urgency(die, has_room);
        }
        if self.logs.owes_parity(die) {
            return Urgency::Urgent;
        }
        self.logs.urgency(die, has_room)
    }
}
