//! Work of the dies: programming buffered pages, cleaning, the map journal - one job a die at a time.

use std::cmp::Reverse;
use std::collections::VecDeque;

use drivelab_ftl::{CleaningMode, CleaningStep, Purpose, Urgency};
use drivelab_nand::{DieIndex, Lpn, UnitLayout};
use drivelab_sim::Nanos;

use crate::buffer::NONE;
use crate::command::SECTOR_BYTES;
use crate::config::{CleaningPace, ControllerConfig, DieAllocation};
use crate::ssd::{NONE_NS, SolidStateDrive};

/// One die.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Operations are reserved up to here.
    busy_until_ns: Nanos,
    /// The last of them that belongs to cleaning ends here.
    cleaning_until_ns: Nanos,
    has_job: bool,
    /// The job holds one of the channel's program tokens.
    has_token: bool,
    /// In its channel's queue for a token.
    waits: bool,
    /// In the queue of idle dies.
    is_listed: bool,
    /// Buffer entries of the job.
    entry_count: u32,
    /// Copies that paced cleaning owes before the next host page.
    owed_copies: u32,
}

/// All dies, and what they share.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    /// Entries of every die's job, `units_per_page` each.
    entries: Vec<u32>,
    units_per_page: usize,
    /// Programs that each channel may still start.
    tokens: Vec<u32>,
    /// Dies that wait for a token of their channel.
    token_queue: Vec<VecDeque<u32>>,
    /// Round-robin: the die of the next host page.
    next_die: u32,
    /// Other allocations: dies without a job, longest idle first; one list for each channel, or one for all.
    idle: Vec<VecDeque<u32>>,
    /// The list that the next host page goes to.
    next_list: usize,
    /// Busy time of all dies so far: for the host, for cleaning.
    pub busy: (Nanos, Nanos),
    /// Whether idle-time cleaning is configured.
    pub cleans_when_idle: bool,
    scratch: Vec<Lpn>,
    /// Bus time of one whole page, in and out.
    page_bus_ns: Nanos,
    /// Transfer and slow program of one unit: what a command that waits for flash owes to flash itself.
    pub page_program_ns: Nanos,
}

impl Lanes {
    pub(crate) fn new(layout: &UnitLayout, config: &ControllerConfig, cleans_when_idle: bool) -> Self {
        let dies = layout.geometry.die_count();
        let limit = config.scheduling.programs_per_channel;
        let page = u64::from(layout.geometry.page_bytes + layout.geometry.oob_bytes);
        let lists = match config.scheduling.die_allocation {
            DieAllocation::RoundRobin => 0,
            DieAllocation::ChannelRoundRobin => layout.geometry.channel_count,
            DieAllocation::EarliestFree => 1,
        };
        let listed = lists > 0;
        let page_bus_ns = config.timing.bus_ns(page * u64::from(layout.geometry.fused_planes()));
        Self {
            lanes: vec![Lane { is_listed: listed, ..Lane::default() }; dies as usize],
            entries: vec![NONE; (dies * layout.units_per_page) as usize],
            units_per_page: layout.units_per_page as usize,
            tokens: vec![if limit == 0 { u32::MAX } else { limit }; layout.geometry.channel_count as usize],
            token_queue: vec![VecDeque::new(); layout.geometry.channel_count as usize],
            next_die: 0,
            // Dies are numbered channel first, so every lists-th die belongs to the same list.
            idle: (0..lists).map(|list| (list..dies).step_by(lists as usize).collect()).collect(),
            next_list: 0,
            busy: (0, 0),
            cleans_when_idle,
            scratch: Vec::with_capacity(layout.units_per_page as usize),
            page_bus_ns,
            page_program_ns: u64::from(layout.pages_per_unit) * (page_bus_ns + config.timing.program_slow_ns),
        }
    }

    /// How long an operation arriving now waits for a die, and how much of that because of cleaning.
    #[inline]
    pub(crate) fn wait(&self, die: DieIndex, now: Nanos) -> (Nanos, Nanos) {
        let lane = &self.lanes[die.0 as usize];
        let wait = lane.busy_until_ns.saturating_sub(now);
        (wait, lane.cleaning_until_ns.saturating_sub(now).min(wait))
    }

    /// The list of a die; only for allocations that keep lists.
    #[inline]
    fn list_of(&self, die: u32) -> usize {
        if self.idle.len() == 1 { 0 } else { die as usize % self.idle.len() }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        for (die, lane) in self.lanes.iter().enumerate() {
            if lane.has_job && lane.waits {
                return Err(format!("die {die} has a job and waits for a token"));
            }
        }
        Ok(())
    }
}

impl SolidStateDrive {
    /// Senses `pages` pages and moves `sectors` of them over the bus; when they are in the controller.
    #[inline]
    pub(crate) fn sense_and_transfer(
        &mut self,
        die: DieIndex,
        sectors: u64,
        pages: u64,
        now: Nanos,
        cleaning: bool,
    ) -> Nanos {
        let timing = self.config.timing;
        let geometry = &self.layout.geometry;
        let page_sectors = u64::from(geometry.page_bytes) / SECTOR_BYTES;
        // Error correction data comes with every sector.
        let bytes = sectors * SECTOR_BYTES + sectors * u64::from(geometry.oob_bytes) / page_sectors;
        let mut ready = now;
        let bus_ns = if sectors * SECTOR_BYTES == u64::from(geometry.program_bytes()) {
            self.lanes.page_bus_ns
        } else {
            timing.bus_ns(bytes / pages)
        };
        for _ in 0..pages {
            let begin = self.lanes.lanes[die.0 as usize].busy_until_ns.max(now);
            let channel = &mut self.channels[self.layout.channel_of(die) as usize];
            let bus_start = if timing.hold_bus_while_reading {
                channel.reserve(now, begin, timing.read_ns + bus_ns) + timing.read_ns
            } else {
                channel.reserve(now, begin + timing.read_ns, bus_ns)
            };
            ready = bus_start + bus_ns;
            self.meters.sense_busy_ns += timing.read_ns;
            self.meters.bus_busy_ns += bus_ns;
            // The page register is taken until its data has left.
            self.occupy(die, begin, ready, cleaning);
        }
        ready
    }

    #[inline]
    fn occupy(&mut self, die: DieIndex, begin: Nanos, end: Nanos, cleaning: bool) {
        let lane = &mut self.lanes.lanes[die.0 as usize];
        lane.busy_until_ns = end;
        if cleaning {
            lane.cleaning_until_ns = end;
            self.lanes.busy.1 += end - begin;
        } else {
            self.lanes.busy.0 += end - begin;
        }
    }

    /// Moves a page to a die and programs it; when that is done.
    #[inline]
    fn transfer_and_program(
        &mut self,
        die: DieIndex,
        page: u32,
        ready: Nanos,
        now: Nanos,
        cleaning: bool,
    ) -> Nanos {
        let timing = self.config.timing;
        let bus_ns = self.lanes.page_bus_ns;
        let mut end = now;
        for index in 0..self.layout.pages_per_unit {
            let begin = self.lanes.lanes[die.0 as usize].busy_until_ns.max(ready);
            let channel = &mut self.channels[self.layout.channel_of(die) as usize];
            let start = channel.reserve(now, begin, bus_ns);
            let program_ns = timing.program_ns(page + index);
            end = start + bus_ns + program_ns;
            self.meters.bus_busy_ns += bus_ns;
            self.meters.program_busy_ns += program_ns;
            self.occupy(die, start, end, cleaning);
        }
        end
    }

    fn erase_on(&mut self, die: DieIndex, now: Nanos, cleaning: bool) -> Nanos {
        let begin = self.lanes.lanes[die.0 as usize].busy_until_ns.max(now);
        let end = begin + self.config.timing.erase_ns;
        self.meters.erase_busy_ns += self.config.timing.erase_ns;
        self.occupy(die, begin, end, cleaning);
        end
    }

    #[inline]
    fn start_job(&mut self, die: u32, end: Nanos) {
        self.lanes.lanes[die as usize].has_job = true;
        self.events.push(Reverse((end, die)));
    }

    /// A die has finished its job.
    #[inline]
    pub(crate) fn die_done(&mut self, die: u32, now: Nanos) {
        let lane = &mut self.lanes.lanes[die as usize];
        lane.has_job = false;
        let had_token = std::mem::take(&mut lane.has_token);
        let count = std::mem::take(&mut lane.entry_count);
        for index in 0..count as usize {
            let id = self.lanes.entries[die as usize * self.lanes.units_per_page + index];
            let entry = *self.buffer.entry(id);
            self.buffer.finish(id);
            self.entry_done(entry.waiter, entry.order, now);
        }
        if count > 0 {
            if !self.admission.is_empty() {
                self.admit(now);
            }
            self.note_idle(now);
        }
        if had_token && self.config.scheduling.programs_per_channel > 0 {
            let channel = self.layout.channel_of(DieIndex(die)) as usize;
            self.lanes.tokens[channel] += 1;
            while self.lanes.tokens[channel] > 0
                && let Some(waiting) = self.lanes.token_queue[channel].pop_front()
            {
                self.lanes.lanes[waiting as usize].waits = false;
                self.pick_job(waiting, now);
            }
        }
        self.pick_job(die, now);
        self.drain(now);
    }

    /// Gives a die without a job something to do, if there is something for it.
    #[inline]
    fn pick_job(&mut self, die: u32, now: Nanos) {
        let lane = &self.lanes.lanes[die as usize];
        if lane.has_job || lane.waits {
            return;
        }
        let listed = !self.lanes.idle.is_empty();
        let turn =
            if listed { self.lanes.list_of(die) == self.lanes.next_list } else { self.lanes.next_die == die };
        let started = self.try_cleaning(die, now)
            || self.try_journal(die, now)
            || (turn && self.try_host_page(die, now));
        if !started && listed {
            let list = self.lanes.list_of(die);
            let lane = &mut self.lanes.lanes[die as usize];
            if !lane.is_listed && !lane.waits && !lane.has_job {
                lane.is_listed = true;
                self.lanes.idle[list].push_back(die);
            }
        }
    }

    /// Takes a program token of the die's channel, or queues for one.
    #[inline]
    fn take_token(&mut self, die: u32) -> bool {
        if self.config.scheduling.programs_per_channel == 0 {
            return true;
        }
        let channel = self.layout.channel_of(DieIndex(die)) as usize;
        let lane = &mut self.lanes.lanes[die as usize];
        if self.lanes.tokens[channel] == 0 {
            lane.waits = true;
            self.lanes.token_queue[channel].push_back(die);
            return false;
        }
        self.lanes.tokens[channel] -= 1;
        lane.has_token = true;
        true
    }

    fn return_token(&mut self, die: u32) {
        if std::mem::take(&mut self.lanes.lanes[die as usize].has_token) {
            self.lanes.tokens[self.layout.channel_of(DieIndex(die)) as usize] += 1;
        }
    }

    /// Starts a step of cleaning if this die needs one now. `true`: the die is taken (or waits for a token).
    #[inline]
    fn try_cleaning(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        let clean = match self.ftl.cleaning_urgency(index) {
            Urgency::None => false,
            Urgency::Urgent => true,
            Urgency::Wanted => {
                self.config.scheduling.cleaning_pace == CleaningPace::Block
                    || self.lanes.lanes[die as usize].owed_copies > 0
                    || !self.ftl.is_cleaning(index)
                    || self.buffer.queued() == 0
            }
            Urgency::Idle => self.idle_cleaning_wanted() || self.rewrite_wanted(index),
        };
        if !clean {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        match self.ftl.next_cleaning_step(index) {
            Ok(Some(step)) => {
                let end = self.time_cleaning_step(die, step, now);
                self.start_job(die, end);
                true
            }
            Ok(None) => {
                self.return_token(die);
                false
            }
            Err(error) => {
                // The FTL's own checks make this unreachable; a drive that goes on would lose data.
                unreachable!("cleaning die {die}: {error}")
            }
        }
    }

    fn time_cleaning_step(&mut self, die: u32, step: CleaningStep, now: Nanos) -> Nanos {
        let index = DieIndex(die);
        let owed = &mut self.lanes.lanes[die as usize].owed_copies;
        *owed = owed.saturating_sub(1);
        match step {
            CleaningStep::Copy { to, purpose } => {
                let mut ready = now;
                let mut at = 0;
                while at < self.ftl.copied_from().len() {
                    let page = self.ftl.copied_from()[at].0 / self.layout.units_per_page;
                    let units = self.ftl.copied_from()[at..]
                        .iter()
                        .take_while(|from| from.0 / self.layout.units_per_page == page)
                        .count();
                    let sectors = units as u64 * u64::from(self.layout.sectors_per_unit);
                    match purpose {
                        Purpose::Cleaning => self.meters.read_bytes_cleaning += sectors * SECTOR_BYTES,
                        Purpose::WearLevelling => self.meters.read_bytes_wear += sectors * SECTOR_BYTES,
                    }
                    let pages = u64::from(self.layout.pages_per_unit);
                    ready = self.sense_and_transfer(index, sectors, pages, now, true);
                    at += units;
                }
                self.transfer_and_program(index, self.layout.page_of(to), ready, now, true)
            }
            CleaningStep::ReadIntoBuffer { from, lpn } => {
                let sectors = u64::from(self.layout.sectors_per_unit);
                self.meters.read_bytes_cleaning += sectors * SECTOR_BYTES;
                let pages = u64::from(self.layout.pages_per_unit);
                let ready = self.sense_and_transfer(index, sectors, pages, now, true);
                if self.buffer.find(lpn).is_none() {
                    let id = self.buffer.insert_from_flash(lpn, now, ready);
                    for &flush in &self.flushes {
                        self.slots[flush as usize].pending += 1;
                    }
                    if let (Some(stamps), Some(kept)) = (self.buffer.stamps_mut(id), self.ftl.stamps()) {
                        stamps.copy_from_slice(kept.unit(from));
                    }
                }
                ready
            }
            CleaningStep::Erase { .. } => self.erase_on(index, now, true),
        }
    }

    #[inline]
    fn idle_cleaning_wanted(&self) -> bool {
        self.lanes.cleans_when_idle && self.is_idle() && self.idle_ns == NONE_NS
    }

    /// Rewrite-in-place: what waits does not fit on the erased pages.
    fn rewrite_wanted(&mut self, die: DieIndex) -> bool {
        if self.ftl.config().cleaning_mode != CleaningMode::RewriteInPlace
            || self.buffer.queued() <= self.ftl.room_units(die)
        {
            return false;
        }
        self.ftl.force_rewrite(die)
    }

    /// Idle-time cleaning begins.
    pub(crate) fn clean_idle_dies(&mut self, now: Nanos) {
        if self.is_idle() {
            for die in 0..self.layout.geometry.die_count() {
                self.pick_job(die, now);
            }
        }
    }

    #[inline]
    fn try_journal(&mut self, die: u32, now: Nanos) -> bool {
        if !self.ftl.is_journal_due() {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        match self.ftl.program_journal(DieIndex(die)) {
            Ok((page, erased)) => {
                let ready = if erased { self.erase_on(DieIndex(die), now, false) } else { now };
                let end = self.transfer_and_program(DieIndex(die), page, ready, now, false);
                self.start_job(die, end);
                true
            }
            Err(error) => unreachable!("map journal of die {die}: {error}"),
        }
    }

    /// Whether the buffer has a page to program: a full one, or one that need not wait for more.
    #[inline]
    fn has_page(&mut self, now: Nanos) -> bool {
        if self.buffer.queued() as usize >= self.lanes.units_per_page {
            return true;
        }
        let Some(front) = self.buffer.front() else { return false };
        let entry = self.buffer.entry(front);
        let due = entry.inserted_ns + self.config.buffer.hold_ns;
        if due <= now || self.buffer.is_awaited() || !self.flushes.is_empty() || !self.admission.is_empty() {
            return true;
        }
        self.hold_ns = due;
        false
    }

    /// Programs the oldest page of the buffer on a die that has no job. `true`: the die is taken.
    #[inline]
    fn try_host_page(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        if self.buffer.queued() == 0
            || self.ftl.is_checkpointing()
            || self.ftl.is_full(index)
            || !self.ftl.has_room(index)
            || !self.has_page(now)
        {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        let mut lpns = std::mem::take(&mut self.lanes.scratch);
        lpns.clear();
        let mut ready = now;
        let first = die as usize * self.lanes.units_per_page;
        while lpns.len() < self.lanes.units_per_page {
            let Some(id) = self.buffer.take_front() else { break };
            let entry = self.buffer.entry(id);
            ready = ready.max(entry.ready_ns);
            self.lanes.entries[first + lpns.len()] = id;
            lpns.push(entry.lpn);
        }
        let place = match self.ftl.program_host(index, &lpns) {
            Ok(place) => place,
            Err(error) => unreachable!("host page on die {die}: {error}"),
        };
        if self.ftl.stamps().is_some() {
            for offset in 0..lpns.len() {
                let id = self.lanes.entries[first + offset];
                if let (Some(stamps), Some(kept)) = (self.buffer.stamps(id), self.ftl.stamps_mut()) {
                    kept.store(drivelab_nand::Ppn(place.0 + offset as u32), stamps);
                }
            }
        }
        self.lanes.lanes[die as usize].entry_count = lpns.len() as u32;
        self.lanes.scratch = lpns;
        if self.config.scheduling.cleaning_pace == CleaningPace::Paced {
            self.owe_copies(index);
        }
        self.lanes.next_die = if die + 1 == self.layout.geometry.die_count() { 0 } else { die + 1 };
        if self.lanes.idle.len() > 1 {
            self.lanes.next_list = (self.lanes.next_list + 1) % self.lanes.idle.len();
        }
        let end = self.transfer_and_program(index, self.layout.page_of(place), ready, now, false);
        self.start_job(die, end);
        true
    }

    /// Paced cleaning: a block with v valid units of n frees n - v; so many copies go with each host page.
    #[inline]
    fn owe_copies(&mut self, die: DieIndex) {
        if let Some((valid, units)) = self.ftl.cleaning_debt(die) {
            self.lanes.lanes[die.0 as usize].owed_copies += valid.div_ceil((units - valid).max(1)) + 1;
        }
    }

    /// Hands buffered pages to dies until the buffer is empty or no die can take one.
    #[inline]
    pub(crate) fn drain(&mut self, now: Nanos) {
        if self.ftl.is_checkpointing() {
            // All dies write the checkpoint, whoever's turn it is.
            for die in 0..self.layout.geometry.die_count() {
                self.pick_job(die, now);
            }
            return;
        }
        match self.config.scheduling.die_allocation {
            DieAllocation::RoundRobin => self.drain_round_robin(now),
            DieAllocation::ChannelRoundRobin | DieAllocation::EarliestFree => self.drain_to_idle_dies(now),
        }
    }

    fn drain_round_robin(&mut self, now: Nanos) {
        let dies = self.layout.geometry.die_count();
        let mut passed = 0;
        while self.buffer.queued() > 0 && passed < dies {
            let die = self.lanes.next_die;
            let lane = &self.lanes.lanes[die as usize];
            if lane.has_job || lane.waits {
                return;
            }
            if self.ftl.is_full(DieIndex(die)) {
                // Too much valid data here: the stripe passes this die by.
                self.lanes.next_die = (die + 1) % dies;
                passed += 1;
                continue;
            }
            self.pick_job(die, now);
            let lane = &self.lanes.lanes[die as usize];
            if !lane.has_job {
                return;
            }
            passed = 0;
        }
    }

    #[inline]
    fn drain_to_idle_dies(&mut self, now: Nanos) {
        let lists = self.lanes.idle.len();
        let dies_per_list = self.layout.geometry.die_count() as usize / lists;
        let mut passed = 0;
        while passed < lists && self.buffer.queued() > 0 && self.has_page(now) {
            let list = self.lanes.next_list;
            let queued = self.buffer.queued();
            let mut tries = self.lanes.idle[list].len();
            let all_idle = tries == dies_per_list;
            while tries > 0 && self.buffer.queued() == queued {
                let Some(die) = self.lanes.idle[list].pop_front() else { break };
                self.lanes.lanes[die as usize].is_listed = false;
                self.pick_job(die, now);
                tries -= 1;
            }
            if self.buffer.queued() < queued {
                passed = 0;
            } else if all_idle && self.lanes.idle[list].len() == dies_per_list {
                // None of its dies can take a page: too much valid data there. The stripe passes it by.
                self.lanes.next_list = (list + 1) % lists;
                passed += 1;
            } else {
                return;
            }
        }
    }
}
