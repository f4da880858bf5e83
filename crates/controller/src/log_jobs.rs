//! Jobs of log-structured schemes: programming buffered pages, cleaning - one job a die at a time.

use std::collections::VecDeque;

use drivelab_ftl::{CleaningStep, FtlError, LogMapping, Purpose, Stored, Urgency};
use drivelab_nand::op::PageKind;
use drivelab_nand::{BlockIndex, DieIndex, Lpn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;

use crate::buffer::NONE;
use crate::config::{CleaningPace, ControllerConfig, DieAllocation};
use crate::event_queue::Event;
use crate::flash::Sensing;
use crate::scheduled::Scheduled;
use crate::ssd::SolidStateDrive;

/// What a die is doing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DieJob {
    pub has_job: bool,
    /// The job holds one of the channel's program tokens.
    pub has_token: bool,
    /// In its channel's queue for a token.
    pub waits: bool,
    /// In the queue of idle dies.
    pub is_listed: bool,
    /// Buffer entries of the job.
    pub(crate) entry_count: u32,
    /// The page of the block that they go to.
    page: u32,
    /// The job is an erase that can't begin yet, in durable mode.
    late_erase: Option<BlockIndex>,
    /// Copies that paced cleaning owes before the next host page.
    pub(crate) owed_copies: u32,
}

/// Jobs of all dies, and what they share.
#[derive(Clone, Debug)]
pub struct LogJobs {
    pub(crate) dies: Vec<DieJob>,
    /// Entries of every die's job, `entries_per_die` each.
    pub(crate) entries: Vec<u32>,
    pub(crate) entries_per_die: usize,
    page_granules: u32,
    /// Programs that each channel may still start.
    pub(crate) tokens: Vec<u32>,
    /// Dies that wait for a token of their channel.
    pub(crate) token_queue: Vec<VecDeque<u32>>,
    /// Round-robin: the die of the next host page.
    pub(crate) next_die: u32,
    /// Other allocations: dies without a job, longest idle first; one list for each channel, or one for all.
    pub(crate) idle: Vec<VecDeque<u32>>,
    /// The list that the next host page goes to.
    pub(crate) next_list: usize,
    /// The die that looks first when metadata becomes due without a program.
    pub(crate) next_metadata_die: u32,
    /// Some die has been cleaned since it was last found that none has to go on.
    has_cleaned: bool,
    /// Units of the page being put together.
    lpns: Vec<Lpn>,
    stored: Vec<Stored>,
}

impl LogJobs {
    pub(crate) fn new<M: LogMapping>(mapping: &M, config: &ControllerConfig) -> Self {
        let geometry = mapping.layout().geometry;
        let dies = geometry.die_count();
        let limit = config.scheduling.programs_per_channel;
        let lists = match config.scheduling.die_allocation {
            DieAllocation::RoundRobin => 0,
            DieAllocation::ChannelRoundRobin => geometry.channel_count,
            DieAllocation::EarliestFree => 1,
        };
        let entries_per_die = mapping.units_per_page_max() as usize;
        Self {
            dies: vec![DieJob { is_listed: lists > 0, ..DieJob::default() }; dies as usize],
            entries: vec![NONE; dies as usize * entries_per_die],
            entries_per_die,
            page_granules: mapping.page_granules(),
            tokens: vec![if limit == 0 { u32::MAX } else { limit }; geometry.channel_count as usize],
            token_queue: vec![VecDeque::new(); geometry.channel_count as usize],
            next_die: 0,
            // Dies are numbered channel first, so every lists-th die belongs to the same list.
            idle: (0..lists).map(|list| (list..dies).step_by(lists as usize).collect()).collect(),
            next_list: 0,
            next_metadata_die: 0,
            has_cleaned: false,
            lpns: Vec::with_capacity(entries_per_die),
            stored: Vec::with_capacity(entries_per_die),
        }
    }

    /// The list of a die; only for allocations that keep lists.
    #[inline]
    fn list_of(&self, die: u32) -> usize {
        if self.idle.len() == 1 { 0 } else { die as usize % self.idle.len() }
    }
}

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    #[inline]
    pub(crate) fn start_job(&mut self, die: u32, end: Nanos) {
        self.jobs.dies[die as usize].has_job = true;
        self.events.push(end, Event::JobDone(DieIndex(die)));
    }

    /// A die has finished its job.
    #[inline]
    pub(crate) fn log_job_done(&mut self, die: u32, now: Nanos) {
        if let Some(durable) = &mut self.durable {
            durable.job_done(die);
        }
        let job = &mut self.jobs.dies[die as usize];
        job.has_job = false;
        let had_token = std::mem::take(&mut job.has_token);
        let (count, page) = (std::mem::take(&mut job.entry_count), job.page);
        for index in 0..count as usize {
            let id = self.jobs.entries[die as usize * self.jobs.entries_per_die + index];
            let entry = *self.buffer.entry(id);
            self.buffer.finish(id);
            if entry.waiter != NONE || !self.flushes.is_empty() {
                self.entry_done(entry.waiter, entry.order, self.flash.program_work_ns(page), now);
            }
        }
        if count > 0 {
            if !self.admission.is_empty() && !sabotage::is(Sabotage::StallForgotten) {
                self.admit(now);
            }
            self.note_idle(now);
        }
        if had_token && self.config.scheduling.programs_per_channel > 0 {
            let channel = self.layout.channel_of(DieIndex(die)) as usize;
            let lost = u32::from(sabotage::is(Sabotage::TokenLost));
            let invented = u32::from(sabotage::is(Sabotage::TokenInvented));
            self.jobs.tokens[channel] += 1 + invented - lost;
            while self.jobs.tokens[channel] > 0
                && let Some(waiting) = self.jobs.token_queue[channel].pop_front()
            {
                self.jobs.dies[waiting as usize].waits = false;
                self.pick_job(waiting, now);
            }
        }
        if sabotage::is(Sabotage::DieNotWoken) {
            return;
        }
        self.pick_job(die, now);
        self.drain_log(now);
    }

    /// Gives a die without a job something to do, if there is something for it.
    #[inline]
    pub(crate) fn pick_job(&mut self, die: u32, now: Nanos) {
        let job = &self.jobs.dies[die as usize];
        if job.has_job || job.waits || self.is_halted() {
            return;
        }
        let listed = !self.jobs.idle.is_empty();
        let turn =
            if listed { self.jobs.list_of(die) == self.jobs.next_list } else { self.jobs.next_die == die };
        let started = self.try_map_read(die, now)
            || !self.is_frozen(die)
                && (self.try_cleaning(die, now)
                    || self.try_metadata(die, now)
                    || (turn && self.try_host_page(die, now)));
        if !started && listed {
            let list = self.jobs.list_of(die);
            let job = &mut self.jobs.dies[die as usize];
            if !job.is_listed && !job.waits && !job.has_job {
                job.is_listed = true;
                self.jobs.idle[list].push_back(die);
            }
        }
    }

    /// Takes a program token of the die's channel, or queues for one.
    #[inline]
    pub(crate) fn take_token(&mut self, die: u32) -> bool {
        if self.config.scheduling.programs_per_channel == 0 {
            return true;
        }
        let channel = self.layout.channel_of(DieIndex(die)) as usize;
        let job = &mut self.jobs.dies[die as usize];
        if self.jobs.tokens[channel] == 0 {
            job.waits = true;
            self.jobs.token_queue[channel].push_back(die);
            return false;
        }
        self.jobs.tokens[channel] -= 1;
        job.has_token = true;
        true
    }

    pub(crate) fn return_token(&mut self, die: u32) {
        if std::mem::take(&mut self.jobs.dies[die as usize].has_token) {
            self.jobs.tokens[self.layout.channel_of(DieIndex(die)) as usize] += 1;
        }
    }

    /// Starts a step of cleaning if this die needs one now. `true`: the die is taken (or waits for a token).
    #[inline]
    fn try_cleaning(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        let clean = match self.mapping.cleaning_urgency(index) {
            Urgency::None => false,
            Urgency::Urgent => true,
            Urgency::Wanted => {
                self.config.scheduling.cleaning_pace == CleaningPace::Block
                    || self.jobs.dies[die as usize].owed_copies > 0
                    || !self.mapping.is_cleaning(index)
                    || match self.config.scheduling.cleaning_pace {
                        CleaningPace::Yielding => self.is_idle(),
                        _ => self.buffer.queued() == 0,
                    }
            }
            Urgency::Idle => {
                self.idle_cleaning_wanted() || self.mapping.begin_rewrite(index, self.buffer.queued())
            }
        };
        if !clean {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        match self.mapping.next_cleaning_step(index) {
            Ok(Some(step)) => {
                self.jobs.has_cleaned = true;
                let end = self.time_cleaning_steps(die, step, now);
                if self.jobs.dies[die as usize].late_erase.is_some() {
                    self.jobs.dies[die as usize].has_job = true;
                    self.begin_later(end, die);
                } else {
                    self.start_job(die, end);
                }
                self.call_map_readers(now);
                true
            }
            Ok(None) if self.is_stuck() => self.cannot_clean(die, FtlError::NoFreeBlock { die }, now),
            Ok(None) => {
                self.return_token(die);
                false
            }
            Err(error) => self.cannot_clean(die, error, now),
        }
    }

    /// Whether no die has room or can make any.
    fn is_stuck(&self) -> bool {
        (0..self.layout.geometry.die_count()).all(|die| self.mapping.is_wedged(DieIndex(die)))
    }

    /// A step of cleaning, and as many copies after it as firmware asks a die for at once; when all are done.
    #[inline]
    fn time_cleaning_steps(&mut self, die: u32, first: CleaningStep, now: Nanos) -> Nanos {
        let index = DieIndex(die);
        let mut end = self.time_cleaning_step(die, first, now);
        let mut is_copy = matches!(first, CleaningStep::Copy { .. });
        let mut more = self.config.scheduling.cleaning_copies_at_once.saturating_sub(1);
        if self.buffer.queued() > 0 {
            // A write that waits gets the copies that are owed for it, and no more.
            more = more.min(self.jobs.dies[die as usize].owed_copies);
        }
        while more > 0 && is_copy {
            match self.mapping.next_cleaning_step(index) {
                Ok(Some(step)) => {
                    is_copy = matches!(step, CleaningStep::Copy { .. });
                    end = self.time_cleaning_step(die, step, now);
                }
                Ok(None) => break,
                Err(error) => {
                    end = self.cannot_copy_more(die, error, now).unwrap_or(end);
                    break;
                }
            }
            more -= 1;
        }
        end
    }

    fn time_cleaning_step(&mut self, die: u32, step: CleaningStep, now: Nanos) -> Nanos {
        let index = DieIndex(die);
        if self.faults.is_some() {
            self.spend_failed_programs(die, now, true);
        }
        if !matches!(step, CleaningStep::Parity { .. }) {
            let owed = &mut self.jobs.dies[die as usize].owed_copies;
            *owed = owed.saturating_sub(u32::from(!sabotage::is(Sabotage::CopiesStayOwed)));
        }
        match step {
            CleaningStep::Copy { to, purpose } => {
                let mut ready = now;
                let mut cursor = 0;
                while let Some(bytes) = self.mapping.copied_page_bytes(&mut cursor) {
                    match purpose {
                        Purpose::Cleaning => self.meters.read_bytes_cleaning += u64::from(bytes),
                        Purpose::WearLevelling => self.meters.read_bytes_wear += u64::from(bytes),
                    }
                    let pages = u64::from(self.layout.pages_per_unit);
                    let sensing = Sensing { die: index, pages, bytes: u64::from(bytes), is_cleaning: true };
                    ready = self.flash.sense(sensing, now);
                }
                if self.faults.is_some() {
                    ready = self.copy_with_faults(to, ready, now);
                    self.note_age(to, now);
                }
                if let Some(durable) = &mut self.durable {
                    durable.program(index, &self.mapping, to, PageKind::Moved, (now, now));
                }
                self.flash.program(index, self.layout.page_of(to), ready, now, true)
            }
            CleaningStep::ReadIntoBuffer { lpn } => {
                let bytes = u64::from(self.layout.unit_bytes);
                self.meters.read_bytes_cleaning += bytes;
                let pages = u64::from(self.layout.pages_per_unit);
                let ready = self.flash.sense(Sensing { die: index, pages, bytes, is_cleaning: true }, now);
                if self.buffer.find(lpn).is_none() {
                    let id = self.buffer.insert_from_flash(lpn, now, ready);
                    for &flush in &self.flushes {
                        self.slots[flush as usize].pending += 1;
                    }
                    if let (Some(stamps), Some(kept)) =
                        (self.buffer.stamps_mut(id), self.mapping.stamps_of(lpn))
                    {
                        stamps.copy_from_slice(kept);
                    }
                }
                self.mapping.release(lpn);
                ready
            }
            CleaningStep::Parity { at } => {
                if let Some(durable) = &mut self.durable {
                    durable.program(index, &self.mapping, at, PageKind::Metadata, (now, now));
                }
                self.flash.program(index, self.layout.page_of(at), now, now, false)
            }
            CleaningStep::Erase { block, .. } => {
                let from = self.erase_from(index, block, now);
                if let Some(durable) = &mut self.durable {
                    durable.erase(index, block, from, now);
                }
                if self.faults.is_some() {
                    self.note_failed_erase(index);
                }
                if from > now {
                    self.jobs.dies[die as usize].late_erase = Some(block);
                    return from;
                }
                self.flash.erase(index, now, true)
            }
        }
    }

    /// The job of a die that had to wait begins.
    pub(crate) fn begin_log_job(&mut self, die: u32, now: Nanos) {
        let index = DieIndex(die);
        if self.jobs.dies[die as usize].late_erase.take().is_none() {
            self.begin_page(die, now);
            return;
        }
        let end = self.flash.erase(index, now, true);
        if let Some(durable) = &mut self.durable {
            durable.begun(index, end);
        }
        self.start_job(die, end);
    }

    /// The page of host data that a die was given goes to it.
    #[inline]
    fn begin_page(&mut self, die: u32, now: Nanos) {
        let index = DieIndex(die);
        let end = self.flash.program(index, self.jobs.dies[die as usize].page, now, now, false);
        if let Some(durable) = &mut self.durable {
            durable.begun(index, end);
        }
        self.start_job(die, end);
    }

    #[inline]
    fn idle_cleaning_wanted(&self) -> bool {
        self.is_idle() && self.idle_alarm_ns == NEVER
    }

    /// Whether some die has begun to clean and has not cleaned enough.
    pub(crate) fn has_cleaning_left(&mut self) -> bool {
        let dies = self.layout.geometry.die_count();
        let mapping = &mut self.mapping;
        self.jobs.has_cleaned = self.jobs.has_cleaned
            && (0..dies).any(|die| mapping.cleaning_urgency(DieIndex(die)) >= Urgency::Wanted);
        self.jobs.has_cleaned
    }

    /// Every die looks for work.
    pub(crate) fn resume_dies(&mut self, now: Nanos) {
        for die in 0..self.layout.geometry.die_count() {
            self.pick_job(die, now);
        }
        self.drain_log(now);
    }

    /// Idle-time cleaning begins.
    pub(crate) fn clean_idle_dies(&mut self, now: Nanos) {
        if self.is_idle() {
            self.mapping.rest();
            for die in 0..self.layout.geometry.die_count() {
                self.pick_job(die, now);
            }
        }
    }

    /// Whether the buffer has a page to program: a full one, or one that need not wait for more. Sets the alarm for one
    /// that must.
    #[inline]
    pub(crate) fn has_page(&mut self, now: Nanos) -> bool {
        let due = self.page_due_ns();
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
    pub(crate) fn page_due_ns(&self) -> Nanos {
        if self.buffer.queued_granules() >= self.jobs.page_granules {
            return 0;
        }
        let Some(front) = self.buffer.front() else { return NEVER };
        if self.buffer.is_awaited() || !self.flushes.is_empty() || !self.admission.is_empty() {
            return 0;
        }
        self.buffer.entry(front).inserted_ns + self.config.buffer.hold_ns
    }

    /// Takes as many of the oldest entries from the buffer as fit on a page. Gives when their data is complete, and
    /// how many they are.
    #[inline]
    fn take_page(&mut self, die: u32, now: Nanos) -> (Nanos, usize) {
        self.jobs.lpns.clear();
        self.jobs.stored.clear();
        let mut ready = now;
        let mut room = self.jobs.page_granules;
        let first = die as usize * self.jobs.entries_per_die;
        while self.jobs.lpns.len() < self.jobs.entries_per_die
            && let Some(id) = self.buffer.front()
            && let entry = *self.buffer.entry(id)
            && let granules = self.mapping.room_of(entry.stored)
            && granules <= room
        {
            self.buffer.take_front();
            room -= granules;
            ready = ready.max(entry.ready_ns);
            self.jobs.entries[first + self.jobs.lpns.len()] = id;
            self.jobs.lpns.push(entry.lpn);
            self.jobs.stored.push(entry.stored);
        }
        (ready, self.jobs.lpns.len())
    }

    /// Programs the oldest page of the buffer on a die that has no job. `true`: the die is taken.
    #[inline]
    fn try_host_page(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        if self.buffer.queued() == 0
            || self.mapping.holds_host_pages()
            || self.mapping.is_full(index)
            || !self.mapping.has_room(index)
            || !self.has_page(now)
        {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        if self.faults.is_some()
            && let Some(has_job) = self.ready_host_page(die, now)
        {
            return has_job;
        }
        let (mut ready, count) = self.take_page(die, now);
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
        let page = self.layout.page_of(place);
        self.jobs.dies[die as usize].entry_count = count as u32;
        self.jobs.dies[die as usize].page = page;
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
            durable.program(index, &self.mapping, place, PageKind::Host, (ready, now));
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

    /// Paced cleaning: a block with v valid units of n frees n - v; so many copies go with each host page.
    #[inline]
    fn owe_copies(&mut self, die: DieIndex) {
        if let Some((valid, units)) = self.mapping.cleaning_debt(die) {
            self.jobs.dies[die.0 as usize].owed_copies += valid.div_ceil((units - valid).max(1)) + 1;
        }
    }
}
