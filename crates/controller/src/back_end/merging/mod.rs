//! Back end of the merging schemes: groups of units of one superblock leave the buffer, a bank works on each row by
//! row, and the firmware is in at most one merge at a time.
//!
//! The buffer is a write-back cache. A group leaves when a write waits for space, when a command waits for flash, or
//! when it has waited for the hold time. Whole rows in order go to several banks at once. The firmware is serial: while
//! it copies rows of a merge no other group begins, and commands are taken on between two rows only; a group that needs a
//! merge, and for space alone the beginning of a row that is still coming, begin only when no bank is at work, so that rows
//! are not torn apart while others leave. A row's space in the buffer is free when its data has moved to the page registers.

mod rows;

use drivelab_ftl::{GroupUnit, Mapping, MergeMap, MergeScheme};
use drivelab_nand::{DieIndex, Lpn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;
use serde::{Deserialize, Serialize};

use crate::buffer::clusters::Clusters;
use crate::buffer::sector_bits;
use crate::config::ControllerConfig;
use crate::drive::events::Event;
use crate::drive::{Scheduled, SolidStateDrive};

/// What a bank does next, when it may begin.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum LateStep {
    /// A row whose data has not come.
    Row { is_copy: bool },
    /// An erase that must wait for programs on other banks, in durable mode.
    Erase,
}

/// When a step is done, or when it may begin.
enum Timed {
    Until(Nanos),
    NotBefore(Nanos),
}

/// What a bank is doing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct BankJob {
    is_busy: bool,
    /// The job copies rows: the firmware is in a merge.
    merges: bool,
    /// Buffer entries of the group, as the job counts them.
    entries: Vec<u32>,
    /// Buffer entries of the row under way, and the page of the block that it goes to.
    row: Vec<u32>,
    page: u32,
    /// The step under way has not begun.
    late: Option<LateStep>,
    /// Those of them that a trim has overtaken, in durable mode.
    overtaken: Vec<u32>,
}

/// Jobs of all banks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MergeJobs {
    banks: Vec<BankJob>,
    /// Banks whose job makes the firmware merge.
    merging: u32,
    /// Banks with a job.
    working: u32,
    /// The group being put together.
    ids: Vec<u32>,
    units: Vec<GroupUnit>,
}

impl<S: MergeScheme> Scheduled for MergeMap<S> {
    type Jobs = MergeJobs;

    const COMPLETES_LATE: bool = true;

    fn clusters(&self, config: &ControllerConfig) -> Option<Clusters> {
        let buffer = &config.buffer;
        Some(Clusters::new(*self.superblocks(), buffer.eviction, self.config().seed, buffer.units))
    }

    fn jobs(&self, _: &ControllerConfig) -> MergeJobs {
        let banks = self.layout().geometry.die_count();
        MergeJobs {
            banks: vec![BankJob::default(); banks as usize],
            merging: 0,
            working: 0,
            ids: Vec::new(),
            units: Vec::new(),
        }
    }

    fn buffer_units_min(&self) -> u32 {
        self.layout().units_per_page
    }

    #[inline]
    fn takes_host_data(drive: &SolidStateDrive<Self>, lpn: Lpn) -> bool {
        if !drive.config.buffer.one_group {
            return true;
        }
        let newest = drive.buffer.newest();
        drive.jobs.merging == 0 && (drive.buffer.is_empty() || lpn == newest || lpn.0 == newest.0 + 1)
    }

    #[inline]
    fn drain(drive: &mut SolidStateDrive<Self>, now: Nanos) {
        drive.begin_groups(now);
    }

    #[inline]
    fn job_done(drive: &mut SolidStateDrive<Self>, bank: DieIndex, now: Nanos) {
        drive.row_done(bank.0, now);
    }

    #[inline]
    fn row_in_register(drive: &mut SolidStateDrive<Self>, bank: DieIndex, now: Nanos) {
        drive.move_to_register(bank.0, now);
    }

    fn begin_late(drive: &mut SolidStateDrive<Self>, bank: u32, now: Nanos) {
        drive.begin_late_step(DieIndex(bank), now);
    }

    fn begin_idle_work(drive: &mut SolidStateDrive<Self>, now: Nanos) {
        drive.begin_groups(now);
    }

    fn recover(drive: &mut SolidStateDrive<Self>, now: Nanos) -> Nanos {
        let banks = (0..drive.jobs.banks.len() as u32).map(DieIndex);
        banks.map(|bank| drive.recover_bank(bank, now)).max().unwrap_or(now)
    }

    fn check_jobs(drive: &SolidStateDrive<Self>) -> Result<(), String> {
        let jobs = &drive.jobs;
        let events_of_each = drive.events_of_each(jobs.banks.len());
        for ((bank, job), events) in (0u32..).zip(&jobs.banks).zip(events_of_each) {
            if events != usize::from(job.is_busy) {
                return Err(format!("bank {bank}: {events} events of one job or none ({job:?})"));
            }
            if job.late.is_some() != drive.late.items().any(|&late| late == bank) {
                return Err(format!("bank {bank} waits, or does not, against its book ({job:?})"));
            }
        }
        drive.check_wakefulness()?;
        let working = jobs.banks.iter().filter(|bank| bank.is_busy).count() as u32;
        let merging = jobs.banks.iter().filter(|bank| bank.is_busy && bank.merges).count() as u32;
        if working != jobs.working || merging != jobs.merging || merging > 1 {
            let (kept, merges) = (jobs.working, jobs.merging);
            return Err(format!(
                "{working} banks work and {merging} merge, the counts say {kept} and {merges}"
            ));
        }
        Ok(())
    }
}

impl<S: MergeScheme> SolidStateDrive<MergeMap<S>> {
    /// Begins jobs on banks that have none, as long as something must leave the buffer.
    #[inline]
    fn begin_groups(&mut self, now: Nanos) {
        if self.is_halted() {
            return;
        }
        // Looking for a group of an idle bank goes through all groups if there is no such bank.
        let banks = self.jobs.banks.len() as u32;
        while self.jobs.merging == 0
            && self.jobs.working < banks
            && self.must_leave(now)
            && self.begin_group(now)
        {}
    }

    /// Whether a group must leave the buffer now; otherwise sets the alarm for when it must.
    fn must_leave(&mut self, now: Nanos) -> bool {
        let due = self.group_due_ns();
        if due > now && due != NEVER && !sabotage::is(Sabotage::GroupForgotten) {
            self.hold_alarm_ns = due;
        }
        due <= now
    }

    /// When a group must leave the buffer: at once if somebody waits for it, otherwise when the oldest has waited for
    /// long enough; `NEVER`: there is none.
    fn group_due_ns(&self) -> Nanos {
        if self.buffer.queued() == 0 {
            return NEVER;
        }
        if !self.admission.is_empty() || !self.flushes.is_empty() || self.buffer.is_awaited() {
            return 0;
        }
        let since = self.buffer.clusters().and_then(Clusters::oldest_since_ns);
        since.map_or(NEVER, |since| since + self.config.buffer.hold_ns)
    }

    /// Nothing that must leave the buffer waits while no bank works, and a group that may wait has an alarm.
    fn check_wakefulness(&self) -> Result<(), String> {
        if self.is_halted() || self.faults.is_some() || self.drain_due || self.jobs.working > 0 {
            return Ok(());
        }
        let due = self.group_due_ns();
        if due <= self.now_ns {
            return Err("a group must leave the buffer, and no bank works".to_owned());
        }
        if self.hold_alarm_ns > due {
            return Err(format!("a group waits for more until {due} ns, and no alarm is set"));
        }
        Ok(())
    }

    /// Begins a job for the superblock whose turn it is among those of idle banks. `false`: none can begin.
    fn begin_group(&mut self, now: Nanos) -> bool {
        let banks = &self.jobs.banks;
        let is_idle = |bank: DieIndex| !banks[bank.0 as usize].is_busy;
        let for_space = !self.admission.is_empty() && self.flushes.is_empty() && !self.buffer.is_awaited();
        let Some(clusters) = self.buffer.clusters_mut() else { return false };
        // Only space is a matter of policy; what waits for flash, or has waited long, goes by age.
        let chosen = if for_space { clusters.choose(is_idle) } else { clusters.oldest(is_idle) };
        let Some(superblock) = chosen else { return false };
        let bank = self.mapping.superblocks().bank_of(superblock);
        self.collect_group(superblock);
        if for_space && self.jobs.working > 0 && self.is_still_coming() {
            return false;
        }
        let plan = self.mapping.plan(bank, &self.jobs.units);
        if plan.merges && self.jobs.working > 0 {
            return false;
        }
        let accepted = plan.accepted.clone();
        self.mapping.begin(bank, &self.jobs.units[accepted.clone()], &plan);
        let job = &mut self.jobs.banks[bank.0 as usize];
        job.is_busy = true;
        job.merges = plan.merges;
        job.entries.clear();
        job.entries.extend_from_slice(&self.jobs.ids[accepted]);
        self.jobs.merging += u32::from(plan.merges);
        self.jobs.working += 1;
        for &id in &job.entries {
            self.buffer.take(id);
        }
        self.buffer.age_rest(superblock);
        self.next_step(bank, now);
        true
    }

    /// Whether the group may be the beginning of a row that the newest unit of the buffer goes on with: rows that are
    /// under way mostly make space as well, and it will be whole. Torn apart, the rows behind it would be out of order up to
    /// the end of their superblock. A unit by itself at the beginning of a row counts, too, until another one comes.
    fn is_still_coming(&self) -> bool {
        let (units, superblocks) = (&self.jobs.units, self.mapping.superblocks());
        let goes_on = units.last().is_some_and(|last| last.lpn == self.buffer.newest());
        goes_on
            && units.len() < superblocks.units_per_row as usize
            && superblocks.locate(units[0].lpn).offset == 0
    }

    /// Puts the waiting units of a superblock in order. Of a unit that waits twice the older copy goes first.
    fn collect_group(&mut self, superblock: u32) {
        let all = sector_bits(0, self.sectors_per_unit);
        let MergeJobs { ids, units, .. } = &mut self.jobs;
        ids.clear();
        units.clear();
        let Some(clusters) = self.buffer.clusters() else { return };
        ids.extend(clusters.members(superblock));
        let buffer = &self.buffer;
        ids.sort_unstable_by_key(|&id| (buffer.entry(id).lpn, buffer.entry(id).order));
        ids.dedup_by_key(|id| buffer.entry(*id).lpn);
        units.extend(ids.iter().map(|&id| {
            let entry = buffer.entry(id);
            GroupUnit { lpn: entry.lpn, is_partial: entry.sectors & all != all }
        }));
    }

    /// Does the next flash operation of a bank's job, or ends the job.
    fn next_step(&mut self, bank: DieIndex, now: Nanos) {
        match self.time_step(bank, now) {
            Some(Timed::Until(end)) => self.events.push(end, Event::JobDone(bank)),
            Some(Timed::NotBefore(from)) => self.begin_later(from, bank.0),
            None => self.end_job(bank, now),
        }
    }

    /// The step of a bank that had to wait begins.
    fn begin_late_step(&mut self, bank: DieIndex, now: Nanos) {
        if let Some(end) = self.time_late_step(bank, now) {
            self.events.push(end, Event::JobDone(bank));
        }
    }

    fn end_job(&mut self, bank: DieIndex, now: Nanos) {
        let job = &mut self.jobs.banks[bank.0 as usize];
        job.is_busy = false;
        let was_closed = job.merges && self.config.buffer.one_group;
        self.jobs.merging -= u32::from(job.merges && !sabotage::is(Sabotage::MergeNeverEnds));
        self.jobs.working -= 1;
        if was_closed && !self.admission.is_empty() {
            self.admit(now);
        }
        self.note_idle(now);
    }

    /// The host data of a row has left the buffer.
    fn move_to_register(&mut self, bank: u32, now: Nanos) {
        let row = &self.jobs.banks[bank as usize].row;
        for &id in row {
            self.buffer.move_to_register(id);
        }
        if !self.admission.is_empty() {
            self.admit(now);
        }
        self.begin_groups(now);
    }

    /// A row is programmed, or a block erased: flash has changed.
    fn row_done(&mut self, bank: u32, now: Nanos) {
        if let Some(durable) = &mut self.durable {
            durable.job_done(bank);
        }
        let work_ns = self.flash.program_work_ns(self.jobs.banks[bank as usize].page);
        let mut row = std::mem::take(&mut self.jobs.banks[bank as usize].row);
        // Who waited for them is told after all have left: nothing enters the buffer meanwhile.
        self.buffer.finish(&row);
        for &id in &row {
            let entry = self.buffer.entry(id);
            let (waiter, order) = (entry.waiter, entry.order);
            if self.jobs.banks[bank as usize].overtaken.contains(&id) {
                self.overtaken_done(waiter, order, work_ns, now);
            } else {
                self.entry_done(waiter, order, work_ns, now);
            }
        }
        self.jobs.banks[bank as usize].overtaken.clear();
        if !row.is_empty() && !self.admission.is_empty() {
            self.admit(now);
        }
        row.clear();
        self.jobs.banks[bank as usize].row = row;
        self.next_step(DieIndex(bank), now);
        self.begin_groups(now);
    }
}
