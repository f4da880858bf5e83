//! Writing and cleaning the part of a map that is in flash, one page at a time.

use drivelab_nand::{BlockIndex, DieIndex};

use super::die_logs::DieLogs;
use super::map_log::MapLog;
use super::steps::MetadataStep;
use crate::error::FtlError;

/// A step for the log of a map.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MapStep {
    pub step: MetadataStep,
    /// The line that the scheme has to look at before cleaning can go on: it was read, and nothing else happened.
    pub held: Option<u32>,
}

impl DieLogs {
    /// The next step for the log of the map on a die: of cleaning, if a block is being emptied or must be, or a page of
    /// lines that wait. Cleaning copies no line that `holds`.
    pub(crate) fn keep_map(
        &mut self,
        map: &mut MapLog,
        die: DieIndex,
        holds: impl Fn(&MapLog, u32) -> bool,
    ) -> Result<MapStep, FtlError> {
        if map.victim(die).is_none() {
            map.open(die, &self.flash);
        }
        let mut lines = std::mem::take(&mut map.page);
        let result = match map.victim(die) {
            Some(victim) => self.clean_map(map, die, victim, &mut lines, holds),
            None => {
                map.take_waiting(&mut lines);
                let programmed = self.program_lines(map, die, &lines).map(Some);
                lines.clear();
                programmed.map(|programmed| MapStep {
                    step: MetadataStep { programmed, ..MetadataStep::default() },
                    held: None,
                })
            }
        };
        map.page = lines;
        result
    }

    /// Copies a page of lines out of a victim, or erases it.
    fn clean_map(
        &mut self,
        map: &mut MapLog,
        die: DieIndex,
        victim: BlockIndex,
        kept: &mut Vec<u32>,
        holds: impl Fn(&MapLog, u32) -> bool,
    ) -> Result<MapStep, FtlError> {
        let (mut step, mut held) = (MetadataStep::default(), None);
        let mut lines = std::mem::take(&mut map.found);
        let room = map.lines_per_page() as usize;
        kept.clear();
        while kept.len() < room && map.next_page(die, &mut lines) {
            if let Some(&line) = lines.iter().find(|&&line| holds(map, line)) {
                map.step_back(die);
                if kept.is_empty() {
                    step.pages_read = 1;
                    step.bytes_read = map.line_bytes();
                    held = Some(line);
                }
                break;
            }
            step.pages_read += 1;
            let fits = lines.len().min(room - kept.len());
            // A page that is looked at again is sensed again; what was taken of it doesn't come a second time.
            step.bytes_read += fits as u32 * map.line_bytes();
            if fits < lines.len() {
                map.step_back(die);
            }
            kept.extend_from_slice(&lines[..fits]);
        }
        map.found = lines;
        if !kept.is_empty() {
            step.programmed = Some(self.program_lines(map, die, kept)?);
        } else if step.pages_read == 0 {
            self.flash.erase(victim);
            self.counters.erases_map += 1;
            map.erased(die);
            step.erased = Some(victim);
        }
        Ok(MapStep { step, held })
    }

    fn program_lines(
        &mut self,
        map: &mut MapLog,
        die: DieIndex,
        lines: &[u32],
    ) -> Result<(BlockIndex, u32), FtlError> {
        let block = map.open(die, &self.flash);
        let page = self.flash.write_pointer(block);
        self.flash.program_page(block, page)?;
        self.counters.programs_map += 1;
        map.programmed(die, block, page, lines);
        Ok((block, page))
    }
}
