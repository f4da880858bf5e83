//! Which die the next host page of a log-structured scheme goes to.

use drivelab_ftl::LogMapping;
use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;

use crate::back_end::log::LogJobs;
use crate::config::DieAllocation;
use crate::drive::{Scheduled, SolidStateDrive};

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// Hands buffered pages to dies until the buffer is empty or no die can take one.
    #[inline]
    pub(crate) fn drain_log(&mut self, now: Nanos) {
        if self.is_halted() {
            return;
        }
        if self.mapping.holds_host_pages() {
            // All dies work on the map, whoever's turn it is.
            for die in 0..self.layout.geometry.die_count() {
                self.pick_job(die, now);
            }
            // What they began may have been all that was waited for.
            if self.mapping.holds_host_pages() {
                return;
            }
        }
        match self.config.scheduling.die_allocation {
            DieAllocation::RoundRobin => self.drain_round_robin(now),
            DieAllocation::ChannelRoundRobin | DieAllocation::EarliestFree => self.drain_to_idle_dies(now),
        }
        if self.jobs.has_passes {
            self.pad_word_lines(now);
        }
    }

    fn drain_round_robin(&mut self, now: Nanos) {
        let dies = self.layout.geometry.die_count();
        let (mut passed, mut is_second_round) = (0, false);
        while self.buffer.queued() > 0 && passed < dies {
            let die = self.jobs.next_die;
            let job = &self.jobs.dies[die as usize];
            if job.has_job || job.waits {
                return;
            }
            if self.mapping.is_full(DieIndex(die)) || self.is_frozen(die) {
                // Too much valid data here: the stripe passes this die by.
                self.jobs.next_die = (die + 1) % dies;
                passed += 1;
                continue;
            }
            self.pick_job(die, now);
            let job = &self.jobs.dies[die as usize];
            if !job.has_job && !job.waits && self.mapping.is_wedged(DieIndex(die)) {
                self.jobs.next_die = (die + 1) % dies;
                // While a die is wedged none counts as full: those that were passed by before are asked once more.
                passed = if is_second_round { passed + 1 } else { 1 };
                is_second_round = true;
                continue;
            }
            if !job.has_job {
                return;
            }
            passed = 0;
        }
    }

    #[inline]
    fn drain_to_idle_dies(&mut self, now: Nanos) {
        let lists = self.jobs.idle.len();
        let dies_per_list = self.layout.geometry.die_count() as usize / lists;
        let (mut passed, mut is_second_round) = (0, false);
        while passed < lists && self.buffer.queued() > 0 && self.has_page(self.jobs.page_granules, now) {
            let list = self.jobs.next_list;
            let queued = self.buffer.queued();
            let mut tries = self.jobs.idle[list].len();
            let all_idle = tries == dies_per_list;
            while tries > 0 && self.buffer.queued() == queued {
                let Some(die) = self.jobs.idle[list].pop_front() else { break };
                self.jobs.dies[die as usize].is_listed = false;
                self.pick_job(die, now);
                tries -= 1;
            }
            if self.buffer.queued() < queued {
                passed = 0;
            } else if all_idle && self.jobs.idle[list].len() == dies_per_list {
                // None of its dies can take a page: too much valid data there. The stripe passes it by.
                self.jobs.next_list = (list + 1) % lists;
                // The same as above, for the lists before.
                let is_wedged = |&die: &u32| self.mapping.is_wedged(DieIndex(die));
                let begins_again = !is_second_round && self.jobs.idle[list].iter().any(is_wedged);
                passed = if begins_again { 1 } else { passed + 1 };
                is_second_round |= begins_again;
            } else {
                return;
            }
        }
    }
}
