//! The compressed map as the controller drives it.

use drivelab_nand::op::NO_CELL;
use drivelab_nand::{DieIndex, FlashArray, Lpn, Ppn, SECTOR_BYTES, UnitLayout};

use super::duplicates::Duplicates;
use super::durable::Durable;
use super::entry::{Extent, SHARED, TRIMMED};
use super::fragments::Fragments;
use super::map::CompressedMap;
use super::map_cache::MapCache;
use super::source::Moving;
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::mapping::{BlockUse, Books, FailingBlocks, MapFetch, Mapping, SettledUses, UnitPiece};

impl Mapping for CompressedMap {
    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.logs.layout
    }

    fn user_units(&self) -> u32 {
        self.logs.config.user_units
    }

    #[inline]
    fn sectors_per_unit(&self) -> u32 {
        self.config.unit_bytes / SECTOR_BYTES
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.map[lpn.0 as usize];
        if entry == 0 || entry & TRIMMED != 0 { None } else { Some(self.place_of(entry)) }
    }

    #[inline]
    fn fetch_map(&mut self, lpn: Lpn) -> Option<MapFetch> {
        self.map_cache.look_up(lpn)
    }

    #[inline]
    fn sensed(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.map[lpn.0 as usize];
        // What the firmware has not taken in is in the map as ever: only when the page is there does its age tell that
        // it was trimmed since. Trims that are deferred are looked up beside the map.
        if entry & TRIMMED != 0 && !self.config.trims_deferred {
            Some(self.place_of(entry & !TRIMMED))
        } else {
            self.lookup(lpn)
        }
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, _distance: u32, lpn: Lpn) -> bool {
        self.sensed(lpn) == Some(first)
    }

    fn takes_trims(&self) -> bool {
        self.logs.config.trim_supported
    }

    fn begin_trim(&mut self) {
        self.trimmed_ranges = self.trimmed_ranges.saturating_add(1);
    }

    fn trim(&mut self, lpn: Lpn) {
        let index = lpn.0 as usize;
        let entry = self.map[index];
        let frees = self.frees_trimmed();
        if entry == 0 || (entry & TRIMMED != 0 && !frees) {
            return;
        }
        if frees {
            self.map[index] = 0;
            self.release_entry(entry, Extent::of(self.extents[index]));
            if self.map_cache.is_partial() {
                self.map_cache.remove(lpn);
            }
        } else {
            self.map[index] |= TRIMMED;
            self.trimmed_units += 1;
        }
        if entry & TRIMMED == 0 {
            self.replace_cell(Ppn(0), lpn, u64::from(NO_CELL));
            self.logs.counters.units_trimmed += 1;
        }
    }

    fn note_trimmed_extent(&mut self) {
        // Without the whole map in memory, lines of it are written back instead.
        if !self.map_cache.is_partial() {
            self.logs.journal.note_updates(1);
        }
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        let erased = self.logs.secure_erase();
        self.map.clear();
        self.extents.clear();
        self.fragments = Fragments::new(self.logs.layout.block_count());
        self.duplicates = Duplicates::default();
        let (config, geometry) = (&self.config, &self.logs.layout.geometry);
        let units = self.map.len() as u32;
        self.map_cache = MapCache::new(config.map_cache_bytes, config.map_fetch_bytes, units, geometry);
        self.trimmed_ranges = 0;
        self.trimmed_units = 0;
        self.moving = Moving::new(self.logs.layout.geometry.die_count());
        if let Some(stamps) = &mut self.stamps {
            stamps.fill(0);
        }
        if let Some(durable) = &mut self.durable {
            **durable = Durable::new(self.map.len(), self.logs.layout.block_count());
        }
        erased
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        drivelab_sim::prefetch(&self.map, lpn as usize);
        drivelab_sim::prefetch(&self.extents, lpn as usize);
        self.map_cache.prefetch(Lpn(lpn as u32));
    }

    #[inline]
    fn prefetch_change(&self, lpn: Lpn) {
        let entry = self.map.get(lpn.0 as usize).map_or(0, |entry| entry & !TRIMMED);
        if entry != 0 && entry & SHARED == 0 {
            let block = self.logs.layout.block_of(Ppn(entry - 1));
            self.logs.blocks.prefetch(block);
            self.fragments.prefetch(block);
        }
    }

    fn flash(&self) -> &FlashArray {
        &self.logs.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.has_fragments(ppn)
    }
}

impl Books for CompressedMap {
    fn held_back_bytes(&self) -> u64 {
        let geometry = &self.logs.layout.geometry;
        let (dies, blocks) = (geometry.die_count(), geometry.blocks_per_die());
        let pages = u64::from(self.shape.pages_per_block);
        let quarters = u64::from(self.logs.held_back_quarters());
        let held_pages = |die| {
            let data_pages = u64::from(self.parity.data_pages(DieIndex(die), self.shape.pages_per_block));
            quarters * data_pages / 4 + u64::from(blocks) * (pages - data_pages)
        };
        (0..dies).map(held_pages).sum::<u64>() * u64::from(geometry.program_bytes())
    }

    fn map_log_fill_ratio(&self) -> Option<f64> {
        self.map_cache.is_partial().then(|| self.map_cache.log.fill_ratio())
    }

    fn unit_pieces(&self) -> Vec<UnitPiece> {
        let piece_of = |index: u32| {
            let entry = self.map[index as usize];
            (entry != 0).then(|| UnitPiece {
                lpn: Lpn(index),
                place: self.place_of(entry & !TRIMMED),
                granules: u32::from(Extent::of(self.extents[index as usize]).size),
                is_trimmed: entry & TRIMMED != 0,
            })
        };
        (0..self.user_units()).filter_map(piece_of).collect()
    }

    fn counters(&self) -> &FtlCounters {
        &self.logs.counters
    }

    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        let counters = self.counters();
        vec![("units_duplicate", counters.units_duplicate), ("granules_padded", counters.granules_padded)]
    }

    fn valid_units(&self) -> u64 {
        self.logs.valid_units()
    }

    fn free_blocks(&self) -> u64 {
        self.logs.free_blocks()
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = self.logs.backlog();
        backlog.metadata_pages += u64::from(self.map_cache.due_pages());
        backlog.trimmed_units = u64::from(self.trimmed_units);
        backlog
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        self.logs.block_uses(self.logs.layout.geometry.program_bytes() / self.shape.page_granules)
    }

    fn settled_uses(&self) -> Option<SettledUses<'_>> {
        self.logs.settled_uses(self.logs.layout.geometry.program_bytes() / self.shape.page_granules)
    }

    fn check(&self) -> Result<(), String> {
        self.recount()
    }
}

impl FailingBlocks for CompressedMap {}
