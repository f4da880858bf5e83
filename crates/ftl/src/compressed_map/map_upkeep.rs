//! Writing and cleaning the part of the map that is in flash, one page at a time.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use super::entry::{SHARED, TRIMMED};
use super::map::CompressedMap;
use crate::error::FtlError;
use crate::log::MetadataStep;

impl CompressedMap {
    /// Where an entry says that a fragment lies.
    #[inline]
    pub(super) fn place_of(&self, entry: u32) -> Ppn {
        if entry & SHARED != 0 { self.duplicates.get(entry & !SHARED).page } else { Ppn(entry - 1) }
    }

    /// The next step for the log of the map on a die: of cleaning, if a block is being emptied or must be, or a page of
    /// lines that wait.
    pub(super) fn keep_map(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        if self.map_cache.log.victim(die).is_none() {
            self.map_cache.log.open(die, &self.logs.flash);
        }
        if let Some(victim) = self.map_cache.log.victim(die) {
            return self.clean_map(die, victim);
        }
        let lines = self.map_cache.log.take_waiting();
        let programmed = Some(self.program_lines(die, &lines)?);
        Ok(MetadataStep { programmed, ..MetadataStep::default() })
    }

    /// Copies a page of lines out of a victim, or erases it. Trims that were deferred take effect on the lines that it
    /// comes across, one at a time, so that the firmware gets to commands of the host in between.
    fn clean_map(&mut self, die: DieIndex, victim: BlockIndex) -> Result<MetadataStep, FtlError> {
        let mut step = MetadataStep::default();
        let mut kept = Vec::new();
        let room = self.map_cache.log.lines_per_page() as usize;
        let applies = self.config.trims_deferred && self.map_cache.log.is_first_victim(die);
        while kept.len() < room
            && let Some(lines) = self.map_cache.log.next_page(die)
        {
            let trimmed = if applies { lines.iter().find(|&&line| self.has_trims(line)) } else { None };
            if let Some(&line) = trimmed {
                self.map_cache.log.step_back(die);
                if kept.is_empty() {
                    step.pages_read = 1;
                    step.bytes_read = self.map_cache.line_bytes();
                    step.units_released = self.apply_trims(line);
                }
                break;
            }
            step.pages_read += 1;
            step.bytes_read += lines.len() as u32 * self.map_cache.line_bytes();
            let fits = lines.len().min(room - kept.len());
            if fits < lines.len() {
                self.map_cache.log.step_back(die);
            }
            kept.extend_from_slice(&lines[..fits]);
        }
        if !kept.is_empty() {
            step.programmed = Some(self.program_lines(die, &kept)?);
            for &line in &kept {
                self.map_cache.arrive_if_waiting(line);
            }
        } else if step.pages_read == 0 {
            self.logs.flash.erase(victim);
            self.logs.counters.erases_map += 1;
            self.map_cache.log.erased(die);
            step.erased = Some(victim);
        }
        Ok(step)
    }

    fn program_lines(&mut self, die: DieIndex, lines: &[u32]) -> Result<(BlockIndex, u32), FtlError> {
        let block = self.map_cache.log.open(die, &self.logs.flash);
        let page = self.logs.flash.write_pointer(block);
        self.logs.flash.program_page(block, page)?;
        self.logs.counters.programs_map += 1;
        self.map_cache.log.programmed(die, block, page, lines);
        Ok((block, page))
    }

    fn has_trims(&self, line: u32) -> bool {
        let units = self.map_cache.units_of(line, self.map.len() as u32);
        self.map[units.start as usize..units.end as usize].iter().any(|entry| entry & TRIMMED != 0)
    }

    /// Removes the entries of a line whose units were trimmed; how many they are.
    fn apply_trims(&mut self, line: u32) -> u32 {
        let mut released = 0;
        for unit in self.map_cache.units_of(line, self.map.len() as u32) {
            let index = unit as usize;
            let entry = self.map[index];
            if entry & TRIMMED != 0 {
                self.map[index] = 0;
                self.release_entry(entry, self.extents[index]);
                self.map_cache.forget(Lpn(unit));
                released += 1;
            }
        }
        released
    }
}
