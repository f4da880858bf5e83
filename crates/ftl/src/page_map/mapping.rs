//! The page map as a mapping scheme: where units lie, and the books.

use std::ops::Range;

use drivelab_nand::{FlashArray, Lpn, Ppn, UnitLayout};
use drivelab_sim::sabotage::{self, Sabotage};

use super::map::PageMap;
use super::memory::MapMemory;
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::log::ValidBits;
use crate::mapping::{BlockUse, Books, Contents, MapFetch, Mapping, SettledUses, SlcUse};

impl<H: MapMemory> Mapping for PageMap<H> {
    const LOADS_MAP_ON_DEMAND: bool = H::LOADS_ON_DEMAND;

    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.logs.layout
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map[lpn.0 as usize].checked_sub(1).map(Ppn)
    }

    #[inline]
    fn fetch_map(&mut self, lpn: Lpn) -> Option<MapFetch> {
        self.memory.look_up(lpn)
    }

    #[inline]
    fn take_map_fetch(&mut self) -> Option<MapFetch> {
        self.memory.take_fetch()
    }

    #[inline]
    fn note_map_arrival(&mut self, line: u32, at: u64) {
        self.memory.arrives(line, at);
    }

    #[inline]
    fn map_arrival(&self, lpn: Lpn) -> u64 {
        self.memory.arrival(lpn)
    }

    #[inline]
    fn map_trip_ns(&self) -> u64 {
        self.memory.trip_ns()
    }

    fn takes_trims(&self) -> bool {
        self.logs.config.trim_supported
    }

    fn trim(&mut self, lpn: Lpn) {
        if sabotage::is(Sabotage::TrimsPileUp) {
            self.logs.journal.note_updates(256);
        }
        if let Some(place) = self.unmap(lpn) {
            self.logs.note_trimmed_place(place);
            self.memory.trim(lpn);
            self.logs.counters.units_trimmed += 1;
        }
    }

    fn note_trimmed_extent(&mut self) {
        self.logs.journal.note_updates(1);
        self.memory.end_extent();
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        let erased = self.logs.secure_erase();
        self.map.clear();
        self.valid = ValidBits::new(self.logs.layout.unit_count());
        self.placement = self.logs.config.placements(self.logs.layout.block_count());
        if let Some(stamps) = &mut self.stamps {
            stamps.clear();
        }
        self.memory.restart(&self.logs.flash);
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
            // Where it lies isn't known before another piece of the map has been read.
            && !self.memory.begins_line(lpn)
    }
}

impl<H: MapMemory> Contents for PageMap<H> {
    #[inline]
    fn takes_hints(&self) -> bool {
        self.placement.takes_hints()
    }

    fn note_hint(&mut self, units: Range<u32>, hint: u8) {
        self.placement.hinted(units, hint);
    }
}

impl<H: MapMemory> Books for PageMap<H> {
    fn held_back_bytes(&self) -> u64 {
        let layout = &self.logs.layout;
        let unit_bytes = u64::from(layout.unit_bytes);
        // What units leave unused at the end of pages and blocks is nobody's.
        let unused = layout.geometry.raw_bytes() - u64::from(layout.unit_count()) * unit_bytes;
        let quarters = u64::from(self.logs.held_back_quarters());
        let dies = self.logs.data_units.iter();
        let held_back: u64 = dies
            .map(|&data| {
                // Pages of parity hold nothing of the host's, wherever they are.
                let parity = u64::from(layout.units_per_block - data);
                4 * u64::from(layout.geometry.blocks_per_die()) * parity + quarters * u64::from(data)
            })
            .sum();
        unused + held_back * unit_bytes / 4
    }

    fn map_log_fill_ratio(&self) -> Option<f64> {
        self.memory.log_fill_ratio()
    }

    fn slc_cache(&self) -> Option<SlcUse> {
        self.logs.slc_use()
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
        let mut backlog = self.logs.backlog();
        backlog.metadata_pages += u64::from(self.memory.due_pages());
        backlog
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        self.logs.block_uses(self.logs.layout.unit_bytes)
    }

    fn settled_uses(&self) -> Option<SettledUses<'_>> {
        self.logs.settled_uses(self.logs.layout.unit_bytes)
    }

    fn check(&self) -> Result<(), String> {
        self.recount()
    }
}
