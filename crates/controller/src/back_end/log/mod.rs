//! Jobs of log-structured schemes: programming buffered pages, cleaning - one job a die at a time.

mod allocation;
mod check;
mod cleaning;
mod copies;
mod map_upkeep;
mod pages;
mod passes;
mod schemes;

use std::collections::VecDeque;

use drivelab_ftl::{LogMapping, Stored};
use drivelab_nand::{BlockIndex, CellMode, DieIndex, Lpn, Ppn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use serde::{Deserialize, Serialize};

use crate::buffer::NONE;
use crate::config::{ControllerConfig, DieAllocation};
use crate::drive::events::Event;
use crate::drive::{Scheduled, SolidStateDrive};
use crate::flash::Sensing;

/// What a die is doing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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
    /// First place of the page that they go to.
    place: Ppn,
    /// How that block is programmed.
    mode: CellMode,
    /// The job is an erase that can't begin yet, in durable mode.
    late_erase: Option<BlockIndex>,
    /// Copies that paced cleaning owes before the next host page.
    pub(crate) owed_copies: u32,
    /// What level cleaning owes beside them, in parts of a copy.
    owed_parts: u32,
    /// Its last cleaning was the erase of a block that had nothing to copy, and no page of the host came since.
    has_just_erased: bool,
}

/// What a die still has to do for a copy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Copying {
    sensings: VecDeque<Sensing>,
    /// First place of the page that is programmed when all has been read, and how.
    page: Option<(Ppn, CellMode)>,
    /// The copy isn't made before.
    until_ns: Nanos,
}

/// Jobs of all dies, and what they share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogJobs {
    pub(crate) dies: Vec<DieJob>,
    /// Entries of every die's job, `entries_per_die` each.
    pub(crate) entries: Vec<u32>,
    pub(crate) entries_per_die: usize,
    page_granules: u32,
    /// Dies may write pages of fewer granules: `page_granules` is what the smallest have.
    has_slc_cache: bool,
    /// Word lines are programmed in two passes.
    has_passes: bool,
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
    /// What every die still has to do for its copy, where copies are more than one operation.
    copying: Vec<Copying>,
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
        let passes = config.word_lines.and_then(|lines| lines.passes);
        // The last job of a block ends the fine passes of all word lines that are between theirs.
        let lines = 1 + passes.map_or(0, |passes| passes.held_word_lines);
        let entries_per_die = (mapping.units_per_page_max() * lines) as usize;
        Self {
            dies: vec![DieJob { is_listed: lists > 0, ..DieJob::default() }; dies as usize],
            entries: vec![NONE; dies as usize * entries_per_die],
            entries_per_die,
            page_granules: mapping.host_page_granules_min(),
            has_slc_cache: mapping.has_slc_cache(),
            has_passes: passes.is_some(),
            tokens: vec![if limit == 0 { u32::MAX } else { limit }; geometry.channel_count as usize],
            token_queue: vec![VecDeque::new(); geometry.channel_count as usize],
            next_die: 0,
            // Dies are numbered channel first, so every lists-th die belongs to the same list.
            idle: (0..lists).map(|list| (list..dies).step_by(lists as usize).collect()).collect(),
            next_list: 0,
            next_metadata_die: 0,
            copying: vec![Copying::default(); dies as usize],
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

    /// What a command that waits for the last page of a die owes to flash itself.
    fn page_work_ns(&self, die: u32) -> Nanos {
        let job = &self.jobs.dies[die as usize];
        match job.mode {
            CellMode::Native => self.flash.program_work_ns(self.layout.page_of(job.place)),
            CellMode::Slc => self.flash.slc_program_work_ns(),
        }
    }

    /// A die has finished its job.
    #[inline]
    pub(crate) fn log_job_done(&mut self, die: u32, now: Nanos) {
        if self.flash.has_word_lines() && self.goes_on(DieIndex(die), now) {
            return;
        }
        if let Some(durable) = &mut self.durable {
            durable.job_done(die);
            if self.jobs.has_passes {
                self.tell_fine_lines(die, now);
            }
        }
        let job = &mut self.jobs.dies[die as usize];
        job.has_job = false;
        let had_token = std::mem::take(&mut job.has_token);
        let count = std::mem::take(&mut job.entry_count);
        if count > 0 {
            let first = die as usize * self.jobs.entries_per_die;
            let entries = first..first + count as usize;
            // Who waited for them is told after all have left: nothing enters the buffer meanwhile.
            if self.buffer.finish(&self.jobs.entries[entries.clone()]) || !self.flushes.is_empty() {
                for index in entries {
                    let entry = self.buffer.entry(self.jobs.entries[index]);
                    let (waiter, order) = (entry.waiter, entry.order);
                    self.entry_done(waiter, order, self.page_work_ns(die), now);
                }
            }
            if !self.admission.is_empty() && !sabotage::is(Sabotage::StallForgotten) {
                self.space_is_free(count, now);
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
        if job.has_job || job.waits || self.is_held_back(die, now) {
            return;
        }
        let listed = !self.jobs.idle.is_empty();
        let turn =
            if listed { self.jobs.list_of(die) == self.jobs.next_list } else { self.jobs.next_die == die };
        let started = self.try_map_read(die, now)
            || !self.is_frozen(die)
                && (self.mapping.is_map_behind() && self.try_metadata(die, now)
                    || self.try_cleaning(die, now)
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

    /// The job of a die that had to wait begins.
    pub(crate) fn begin_log_job(&mut self, die: u32, now: Nanos) {
        let index = DieIndex(die);
        let Some(block) = self.jobs.dies[die as usize].late_erase.take() else {
            self.begin_page(die, now);
            return;
        };
        let end = self.flash.erase_in(self.mapping.flash().mode(block), index, now, true);
        if let Some(durable) = &mut self.durable {
            durable.begun(index, end);
        }
        self.start_job(die, end);
    }

    /// The page of host data that a die was given goes to it.
    #[inline]
    fn begin_page(&mut self, die: u32, now: Nanos) {
        let index = DieIndex(die);
        let job = &self.jobs.dies[die as usize];
        let (mode, place) = (job.mode, job.place);
        let end = self.flash.program_data(mode, index, (place, now), now, false);
        if let Some(durable) = &mut self.durable {
            durable.begun(index, end);
        }
        self.start_job(die, end);
    }

    /// Every die looks for work.
    pub(crate) fn resume_dies(&mut self, now: Nanos) {
        for die in 0..self.layout.geometry.die_count() {
            self.pick_job(die, now);
        }
        self.drain_log(now);
    }
}
