//! Copies of drives that tell the pages of a word line apart: one sensing after the other, so that reads of the host get
//! in between, then the program. All of it is one job of the die.

use drivelab_ftl::{LogMapping, Purpose};
use drivelab_nand::op::PageKind;
use drivelab_nand::{CellMode, DieIndex, Ppn};
use drivelab_sim::Nanos;

use super::LogJobs;
use crate::drive::events::Event;
use crate::drive::{Scheduled, SolidStateDrive};

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// A copy to `to` begins with its first sensing; when that is done.
    #[inline(never)]
    pub(super) fn begin_copy(&mut self, die: DieIndex, to: Ppn, purpose: Purpose, now: Nanos) -> Nanos {
        let places = self.mapping.copied_places();
        let bytes = places.len() as u64 * u64::from(self.layout.unit_bytes);
        match purpose {
            Purpose::Cleaning => self.meters.read_bytes_cleaning += bytes,
            Purpose::WearLevelling => self.meters.read_bytes_wear += bytes,
            Purpose::Folding => self.meters.read_bytes_folding += bytes,
        }
        let line = |place: &Ppn| place.0 / self.layout.units_per_page;
        let copying = &mut self.jobs.copying[die.0 as usize];
        for places in places.chunk_by(|one, other| line(one) == line(other)) {
            let mode = self.mapping.flash().mode_at(places[0]);
            self.flash.copied_sensings((die, mode), places, &mut copying.sensings);
        }
        let mode = self.mapping.flash().mode_at(to);
        copying.page = Some((to, mode));
        copying.until_ns = now;
        if self.jobs.has_passes && mode == CellMode::Native {
            self.flash.hold_line(die, to, self.mapping.copied_places(), true);
        }
        if self.faults.is_some() {
            let read_again = self.copy_with_faults(to, now, now);
            self.jobs.copying[die.0 as usize].until_ns = read_again;
            self.note_age(to, now);
        }
        if let Some(durable) = &mut self.durable {
            if durable.has_passes && mode == CellMode::Native {
                durable.program_coarse(die, &self.mapping, to, PageKind::Moved, false);
            } else {
                durable.program(die, &self.mapping, to, PageKind::Moved, (now, now));
            }
        }
        if M::LOADS_MAP_ON_DEMAND {
            let loaded = self.load_map(true, now).ready_ns;
            let copying = &mut self.jobs.copying[die.0 as usize];
            copying.until_ns = copying.until_ns.max(loaded);
        }
        self.next_of_copy(die, now).unwrap_or(now)
    }

    /// The next operation of a copy under way; when it is done.
    fn next_of_copy(&mut self, die: DieIndex, now: Nanos) -> Option<Nanos> {
        let copying = &mut self.jobs.copying[die.0 as usize];
        if let Some(sensing) = copying.sensings.pop_front() {
            return Some(self.flash.sense(sensing, now));
        }
        let (to, mode) = copying.page.take()?;
        let until = copying.until_ns;
        Some(self.flash.program_data(mode, die, (to, now), now, true).max(until))
    }

    /// Whether the job of a die goes on, with what it has to do next or because reads came in front of its operation.
    #[inline(never)]
    pub(super) fn goes_on(&mut self, die: DieIndex, now: Nanos) -> bool {
        let end = self.flash.put_off_until(die, now).or_else(|| self.next_of_copy(die, now));
        let end = if self.jobs.has_passes { end.or_else(|| self.next_pass(die, now)) } else { end };
        if let Some(end) = end {
            self.events.push(end, Event::JobDone(die));
        }
        end.is_some()
    }
}
