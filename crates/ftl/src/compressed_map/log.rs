//! The compressed map as a scheme that writes a log on every die.

use drivelab_nand::{DieIndex, Lpn, Ppn};

use super::entry::OpenPage;
use super::map::CompressedMap;
use crate::error::FtlError;
use crate::log::{CleaningStep, MetadataStep, Urgency};
use crate::mapping::{LogMapping, Stored};
use crate::placement::Stream;

impl LogMapping for CompressedMap {
    #[inline]
    fn page_granules(&self) -> u32 {
        self.shape.page_granules
    }

    #[inline]
    fn room_of(&self, stored: Stored) -> u32 {
        match stored.identity {
            Some(identity) if self.duplicates.find(identity).is_some() => 1,
            _ => u32::from(stored.granules),
        }
    }

    #[inline]
    fn has_room(&self, die: DieIndex) -> bool {
        self.logs.has_host_block(die) && !self.is_parity_due(die, Stream::HOST)
    }

    #[inline]
    fn is_full(&self, die: DieIndex) -> bool {
        self.logs.die_valid[die.0 as usize] >= self.die_limits[die.0 as usize] && !self.logs.is_in_need()
    }

    #[inline]
    fn is_wedged(&self, die: DieIndex) -> bool {
        self.logs.is_wedged(die)
    }

    fn program_host(&mut self, die: DieIndex, lpns: &[Lpn], stored: &[Stored]) -> Result<Ppn, FtlError> {
        if !self.has_room(die) {
            return Err(FtlError::NoFreeBlock { die: die.0 });
        }
        let (block, place) = self.program_page(die, Stream::HOST)?;
        self.fragments.begin_page(block, place.0 % self.shape.pages_per_block);
        self.duplicates.begin_page();
        if let Some(durable) = &mut self.durable {
            durable.begin_page();
        }
        let mut page = OpenPage { block, place, used: 0, last: None };
        for (index, (&lpn, &stored)) in lpns.iter().zip(stored).enumerate() {
            let is_new = self.map[lpn.0 as usize] == 0;
            if lpns[index + 1..].contains(&lpn) {
                // Outdated by a later write on the same page: buffers do not coalesce what a command waits for.
                page.used += self.room_of(stored);
            } else {
                self.store(die, &mut page, lpn, stored);
                self.note_change(lpn, is_new);
            }
        }
        self.finish_page(&page);
        // Only now, so that what the first units of the page replace is still there for the last to refer to: the
        // caller has reckoned with that.
        while let Some((entry, extent)) = self.outdated.pop() {
            self.release_entry(entry, extent);
        }
        self.close_if_full(die, Stream::HOST, place);
        let counters = &mut self.logs.counters;
        counters.programs_host += 1;
        counters.units_host += lpns.len() as u64;
        counters.granules_padded += u64::from(self.shape.page_granules.saturating_sub(page.used));
        Ok(place)
    }

    fn store_stamps(&mut self, first: Ppn, _offset: u32, lpn: Lpn, stamps: &[u64]) {
        if self.durable.is_some() {
            self.replace_cell(first, lpn, stamps[0]);
        } else if let Some(kept) = &mut self.stamps {
            let first = lpn.0 as usize * stamps.len();
            kept[first..first + stamps.len()].copy_from_slice(stamps);
        }
    }

    #[inline]
    fn take_map_reader(&mut self) -> Option<DieIndex> {
        self.map_cache.reads.take_called()
    }

    #[inline]
    fn read_map(&mut self, die: DieIndex) -> Option<u32> {
        self.map_cache.read_due(die)
    }

    fn is_metadata_due(&self) -> bool {
        self.logs.journal.is_due() || self.map_cache.log.is_due()
    }

    #[inline]
    fn is_metadata_due_on(&self, die: DieIndex) -> bool {
        self.logs.journal.is_due() || self.map_cache.log.is_due_on(die)
    }

    fn holds_host_pages(&self) -> bool {
        self.logs.journal.is_checkpointing() || self.map_cache.is_behind()
    }

    #[inline]
    fn is_map_behind(&self) -> bool {
        self.logs.journal.is_behind() || self.map_cache.is_full()
    }

    fn program_metadata(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        if self.map_cache.is_partial() { self.keep_map(die) } else { self.logs.program_journal(die) }
    }

    #[inline]
    fn cleaning_urgency(&mut self, die: DieIndex) -> Urgency {
        let has_room = self.has_room(die);
        self.logs.urgency(die, has_room)
    }

    #[inline]
    fn is_cleaning(&self, die: DieIndex) -> bool {
        self.logs.is_cleaning(die)
    }

    fn cleaning_debt(&self, die: DieIndex) -> Option<(u32, u32)> {
        Some((self.logs.valid_at_start(die)?, self.measure(die).per_block))
    }

    fn next_cleaning_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        self.clean_step(die)
    }

    fn copied_page_bytes(&self, cursor: &mut usize) -> Option<u32> {
        let granules = self.moving.source_granules().get(*cursor)?;
        *cursor += 1;
        Some(granules * self.config.granule_bytes)
    }

    fn cleans_when_idle(&self) -> bool {
        self.logs.config.idle_cleaning_blocks > 0 || self.config.trim_loss_percent > 0
    }

    fn rest(&mut self) {
        self.trimmed_ranges = 0;
    }
}
