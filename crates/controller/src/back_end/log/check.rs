//! What must be true of the jobs of log-structured schemes between any two events.

use drivelab_ftl::LogMapping;
use drivelab_nand::DieIndex;

use crate::back_end::log::LogJobs;
use crate::buffer::{EntryState, NONE};
use crate::drive::check::tally;
use crate::drive::{Scheduled, SolidStateDrive};

impl LogJobs {
    /// Copies owed on dies that are being cleaned.
    pub(crate) fn owed_copies(&self, is_cleaning: impl Fn(DieIndex) -> bool) -> u64 {
        let dies = (0u32..).map(DieIndex).zip(&self.dies).filter(|&(die, _)| is_cleaning(die));
        dies.map(|(_, job)| u64::from(job.owed_copies)).sum()
    }
}

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// Recounts jobs, tokens and the lists of dies.
    pub(crate) fn check_log_jobs(&self) -> Result<(), String> {
        let count = self.jobs.dies.len();
        let listed = tally(self.jobs.idle.iter().flatten().copied(), count);
        let counts = self.events_of_each(count).into_iter().zip(listed);
        (0u32..).zip(counts).try_for_each(|(die, (events, listed))| self.check_die(die, events, listed))?;
        self.check_wakefulness()?;
        self.check_held()?;
        let limit = self.config.scheduling.programs_per_channel;
        for channel in (0..self.layout.geometry.channel_count).filter(|_| limit > 0) {
            let dies = (0u32..).zip(&self.jobs.dies);
            let of_channel = dies.filter(|&(die, _)| self.layout.channel_of(DieIndex(die)) == channel);
            let (mut taken, mut waiting) = (0, 0);
            for (_, job) in of_channel {
                taken += u32::from(job.has_token);
                waiting += usize::from(job.waits);
            }
            let free = self.jobs.tokens[channel as usize];
            if free + taken != limit {
                return Err(format!(
                    "channel {channel}: {free} tokens are free and {taken} taken of {limit}"
                ));
            }
            let queue = &self.jobs.token_queue[channel as usize];
            if queue.len() != waiting || queue.iter().any(|&die| !self.jobs.dies[die as usize].waits) {
                return Err(format!(
                    "channel {channel}: {waiting} dies wait for a token, the queue is {queue:?}"
                ));
            }
            if free > 0 && waiting > 0 {
                return Err(format!(
                    "channel {channel}: {waiting} dies wait for a token, and {free} are free"
                ));
            }
        }
        Ok(())
    }

    /// No page of the host waits for a die that does nothing, and one that waits for more data has an alarm.
    fn check_wakefulness(&self) -> Result<(), String> {
        // Whoever is still to be called will be.
        let is_due = self.drain_due && self.has_events_left();
        if self.is_halted() || self.faults.is_some() || self.mapping.holds_host_pages() || is_due {
            return Ok(());
        }
        let could_take_a_page = |&die: &u32| {
            let (job, index) = (&self.jobs.dies[die as usize], DieIndex(die));
            let is_kept = self.durable.as_ref().is_some_and(|durable| durable.kept_block(die).is_some());
            !job.has_job
                && !job.waits
                && !is_kept
                && self.mapping.has_room(index)
                && !self.mapping.is_full(index)
        };
        // Of all dies only those whose turn it is.
        let asleep = match self.jobs.idle.get(self.jobs.next_list) {
            Some(list) => list.iter().copied().find(could_take_a_page),
            None => Some(self.jobs.next_die).filter(could_take_a_page),
        };
        let Some(die) = asleep else { return Ok(()) };
        let due = self.page_due_ns(self.granules_of(die));
        if due <= self.now_ns {
            return Err(format!("a page of the host waits for die {die}, which does nothing"));
        }
        if self.hold_alarm_ns > due {
            return Err(format!(
                "a page that is not full waits for more until {due} ns, and no alarm is set"
            ));
        }
        Ok(())
    }

    /// What the buffer says that it holds for word lines between their passes is what the word lines say.
    fn check_held(&self) -> Result<(), String> {
        let (mut held, mut awaited) = (0, 0);
        for id in self.flash.held_entries() {
            let entry = self.buffer.entry(id);
            if entry.state != EntryState::Programming {
                return Err(format!("entry {id} is held between two passes, and is {:?}", entry.state));
            }
            held += 1;
            awaited += u32::from(entry.waiter != NONE);
        }
        if (held, awaited) == self.buffer.held() {
            return Ok(());
        }
        Err(format!(
            "{held} entries are held between two passes, {awaited} of them awaited; the buffer says {:?}",
            self.buffer.held()
        ))
    }

    /// Of a die with so many events, so often in the lists of idle ones.
    fn check_die(&self, die: u32, events: usize, listed: usize) -> Result<(), String> {
        let job = &self.jobs.dies[die as usize];
        if events != usize::from(job.has_job) {
            return Err(format!("die {die}: {events} events of one job or none ({job:?})"));
        }
        // It may have a job and be listed: what it does of its own accord, idle, is no page of the host.
        if (job.has_job && job.waits) || (job.has_token && !job.has_job) {
            return Err(format!("die {die} works and waits: {job:?}"));
        }
        if listed != usize::from(job.is_listed) {
            return Err(format!("die {die} is {listed} times in the lists of idle dies: {job:?}"));
        }
        // A die that nobody knows of would never work again. A halt takes dies from the lists until it is over.
        let is_known = job.has_job || job.waits || job.is_listed || self.jobs.idle.is_empty();
        if !is_known && self.durable.is_none() {
            return Err(format!("die {die} is idle and not listed"));
        }
        let first = die as usize * self.jobs.entries_per_die;
        for &id in &self.jobs.entries[first..first + job.entry_count as usize] {
            let state = self.buffer.entry(id).state;
            if state != EntryState::Programming {
                return Err(format!("die {die} programs entry {id}, which is {state:?}"));
            }
        }
        Ok(())
    }
}
