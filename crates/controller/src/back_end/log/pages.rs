//! Pages of host data: when one leaves the buffer, what is on it, and its way to a die.

use drivelab_ftl::LogMapping;
use drivelab_nand::op::PageKind;
use drivelab_nand::{CellMode, DieIndex};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;

use super::LogJobs;
use crate::config::CleaningPace;
use crate::drive::{Scheduled, SolidStateDrive};

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// Granules of the next page of a die.
    #[inline]
    pub(super) fn granules_of(&self, die: u32) -> u32 {
        if self.jobs.has_slc_cache {
            return self.mapping.host_page_granules(DieIndex(die));
        }
        self.jobs.page_granules
    }

    /// Whether the buffer has a page of so many granules to program: a full one, or one that need not wait for more. Sets
    /// the alarm for one that must.
    #[inline]
    pub(crate) fn has_page(&mut self, granules: u32, now: Nanos) -> bool {
        let due = self.page_due_ns(granules);
        if due <= now || (due != NEVER && sabotage::is(Sabotage::HoldIgnored)) {
            return true;
        }
        if due != NEVER && !sabotage::is(Sabotage::HoldAlarmLost) {
            self.hold_alarm_ns = due;
        }
        false
    }

    /// When the oldest page of the buffer is to be programmed: at once if it is full or somebody waits for it, otherwise
    /// when it has waited for more for long enough; `NEVER`: there is none.
    #[inline]
    pub(crate) fn page_due_ns(&self, granules: u32) -> Nanos {
        if self.buffer.queued_granules() >= granules {
            return 0;
        }
        let Some(front) = self.buffer.front() else { return NEVER };
        // What waits for space that is withheld gets it without a page more, and fills this one.
        let needs_space = !self.admission.is_empty() && !self.buffer.withholds();
        if self.buffer.is_awaited() || !self.flushes.is_empty() || needs_space {
            return 0;
        }
        self.buffer.entry(front).inserted_ns + self.config.buffer.hold_ns
    }

    /// Takes as many of the oldest entries from the buffer as fit on a page. Gives when their data is complete, and
    /// how many they are.
    #[inline]
    fn take_page(&mut self, die: u32, mut room: u32, now: Nanos) -> (Nanos, usize) {
        let jobs = &mut self.jobs;
        jobs.lpns.clear();
        jobs.stored.clear();
        let mut ready = now;
        let first = die as usize * jobs.entries_per_die;
        let ids = &mut jobs.entries[first..first + jobs.entries_per_die];
        let count = self.buffer.take_oldest(ids, |entry| {
            let granules = self.mapping.room_of(entry.stored);
            if granules > room {
                return false;
            }
            room -= granules;
            ready = ready.max(entry.ready_ns);
            jobs.lpns.push(entry.lpn);
            jobs.stored.push(entry.stored);
            true
        });
        (ready, count)
    }

    /// Programs the oldest page of the buffer on a die that has no job. `true`: the die is taken.
    #[inline]
    pub(super) fn try_host_page(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        if self.buffer.queued() == 0
            || self.mapping.holds_host_pages()
            || self.mapping.is_full(index)
            || !self.mapping.has_room(index)
        {
            return false;
        }
        let mut room = self.granules_of(die);
        if !self.has_page(room, now) {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        if self.faults.is_some() {
            if let Some(has_job) = self.ready_host_page(die, now) {
                return has_job;
            }
            // In place of a block that has failed there may be one of another mode.
            room = self.granules_of(die);
        }
        let (mut ready, count) = self.take_page(die, room, now);
        let work = self.config.scheduling.program_firmware_ns;
        if work > 0 {
            ready = ready.max(self.occupy_firmware(work, now));
        }
        let place = match self.mapping.program_host(index, &self.jobs.lpns, &self.jobs.stored) {
            Ok(place) => place,
            Err(error) => unreachable!("host page on die {die}: {error}"),
        };
        if self.mapping.keeps_stamps() {
            for offset in 0..count {
                let id = self.jobs.entries[die as usize * self.jobs.entries_per_die + offset];
                if let Some(stamps) = self.buffer.stamps(id) {
                    self.mapping.store_stamps(place, offset as u32, self.buffer.entry(id).lpn, stamps);
                }
            }
        }
        if M::LOADS_MAP_ON_DEMAND {
            ready = ready.max(self.map_ready_ns(now));
        }
        self.jobs.dies[die as usize].entry_count = count as u32;
        self.jobs.dies[die as usize].place = place;
        if self.jobs.has_slc_cache {
            self.jobs.dies[die as usize].mode = self.mapping.flash().mode_at(place);
            self.jobs.dies[die as usize].has_just_erased = false;
        }
        if self.config.scheduling.cleaning_pace != CleaningPace::Block {
            self.owe_copies(index);
        }
        self.jobs.next_die = if die + 1 == self.layout.geometry.die_count() { 0 } else { die + 1 };
        if self.jobs.idle.len() > 1 {
            self.jobs.next_list = (self.jobs.next_list + 1) % self.jobs.idle.len();
        }
        if let Some(durable) = &mut self.durable {
            ready = durable.ready_after_needed(index, &mut self.mapping, ready);
            durable.supersede(index, &mut self.mapping);
            durable.begins_later(index, ready);
            if durable.has_passes && self.mapping.flash().mode_at(place) == CellMode::Native {
                durable.program_coarse(index, &self.mapping, place, PageKind::Host, ready > now);
            } else {
                durable.program(index, &self.mapping, place, PageKind::Host, (ready, now));
            }
        }
        if self.faults.is_some() {
            self.note_age(place, now);
        }
        if ready > now {
            self.jobs.dies[die as usize].has_job = true;
            self.begin_later(ready, die);
        } else {
            self.begin_page(die, now);
        }
        self.call_map_readers(now);
        true
    }
}
