//! Writing and cleaning the part of the map that is in flash, one page at a time.

use drivelab_nand::{DieIndex, Lpn, Ppn};

use super::entry::{Extent, SHARED, TRIMMED};
use super::map::CompressedMap;
use crate::error::FtlError;
use crate::log::{MapStep, MetadataStep};

/// Units whose entries are on a line, of so many.
fn units_of(line: u32, units_per_line: u32, units: usize) -> std::ops::Range<usize> {
    let first = line as usize * units_per_line as usize;
    first..(first + units_per_line as usize).min(units)
}

impl CompressedMap {
    /// Where an entry says that a fragment lies.
    #[inline]
    pub(super) fn place_of(&self, entry: u32) -> Ppn {
        if entry & SHARED != 0 { self.duplicates.get(entry & !SHARED).page } else { Ppn(entry - 1) }
    }

    /// The next step for the log of the map on a die. Trims that were deferred take effect on the lines that its cleaning
    /// comes across, one at a time, so that the firmware gets to commands of the host in between.
    pub(super) fn keep_map(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        let Self { logs, map_cache, map, config, trimmed_units, .. } = self;
        let deferred = config.trims_deferred && *trimmed_units > 0;
        let units_per_line = map_cache.units_per_line();
        let has_trims = |line: u32| {
            let units = units_of(line, units_per_line, map.len());
            map[units].iter().any(|entry| entry & TRIMMED != 0)
        };
        let MapStep { mut step, held } = logs.keep_map(&mut map_cache.log, die, |log, line| {
            deferred && log.is_first_victim(die) && has_trims(line)
        })?;
        for index in 0..map_cache.log.copied().len() {
            map_cache.arrive_if_waiting(map_cache.log.copied()[index]);
        }
        if let Some(line) = held {
            step.units_released = self.apply_trims(line);
        }
        Ok(step)
    }

    /// Removes the entries of a line whose units were trimmed; how many they are.
    fn apply_trims(&mut self, line: u32) -> u32 {
        let mut released = 0;
        for index in units_of(line, self.map_cache.units_per_line(), self.map.len()) {
            let entry = self.map[index];
            if entry & TRIMMED != 0 {
                self.map[index] = 0;
                self.release_entry(entry, Extent::of(self.extents[index]));
                self.map_cache.forget(Lpn(index as u32));
                released += 1;
            }
        }
        released
    }
}
