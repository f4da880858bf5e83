//! The page map as a mapping scheme: where units lie, and the books.

use std::ops::Range;

use drivelab_nand::{FlashArray, Lpn, Ppn, UnitLayout};
use drivelab_sim::sabotage::{self, Sabotage};

use super::map::PageMap;
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::log::ValidBits;
use crate::mapping::{Books, Contents, Mapping};

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
        self.map.clear();
        self.valid = ValidBits::new(self.logs.layout.unit_count());
        self.placement = self.logs.config.placements(self.logs.layout.block_count());
        if let Some(stamps) = &mut self.stamps {
            stamps.clear();
        }
        erased
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        drivelab_sim::prefetch(&self.map, lpn as usize);
    }

    #[inline]
    fn prefetch_change(&self, lpn: Lpn) {
        if let Some(place) = self.map[lpn.0 as usize].checked_sub(1) {
            self.valid.prefetch(Ppn(place));
            self.logs.blocks.prefetch(self.logs.layout.block_of(Ppn(place)));
        }
    }

    fn flash(&self) -> &FlashArray {
        &self.logs.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid.get(ppn)
    }

    fn user_units(&self) -> u32 {
        self.logs.config.user_units
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool {
        distance < self.logs.layout.units_per_page - first.0 % self.logs.layout.units_per_page
            && self.lookup(lpn) == Some(Ppn(first.0 + distance))
    }
}

impl Contents for PageMap {
    #[inline]
    fn takes_hints(&self) -> bool {
        self.placement.takes_hints()
    }

    fn note_hint(&mut self, units: Range<u32>, hint: u8) {
        self.placement.hinted(units, hint);
    }
}

impl Books for PageMap {
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

    fn check(&self) -> Result<(), String> {
        self.recount()
    }
}
