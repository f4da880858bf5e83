//! Blocks whose cells hold one bit: a word line of theirs is one page of each plane.

use drivelab_nand::{CellMode, DieIndex};
use drivelab_sim::Nanos;

use super::Flash;
use crate::config::SlcTimes;

impl Flash {
    /// Bytes of a word line of one bit a cell and their bus time, and what else it takes.
    pub(super) fn slc_times(&self) -> Option<((u64, Nanos), SlcTimes)> {
        let lines = self.operations.as_ref()?.config;
        let bytes = u64::from(self.layout.geometry.program_bytes() / lines.page_types);
        Some(((bytes, self.bus_ns(bytes, 1)), lines.slc))
    }

    /// Programs a word line; when that is done.
    pub(super) fn program_slc(
        &mut self,
        die: DieIndex,
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let Some((transfer, slc)) = self.slc_times() else { return now };
        self.program_once::<true>(die, (transfer, slc.program_ns), ready, now, is_cleaning)
    }

    /// Erases a block that was programmed in this mode; when that is done.
    pub(crate) fn erase_in(&mut self, mode: CellMode, die: DieIndex, now: Nanos, is_cleaning: bool) -> Nanos {
        match (mode, self.slc_times()) {
            (CellMode::Slc, Some((_, slc))) => self.erase_for(die, slc.erase_ns, now, is_cleaning),
            _ => self.erase(die, now, is_cleaning),
        }
    }
}
