//! A solid-state drive as a state machine: what it is made of, and the order in which things happen.
//!
//! `host` works on commands, the back end of the mapping scheme (`scheduled`) on dies. Three kinds of event drive
//! both: the firmware is done with a command (a queue: one processor, in order), a die has finished a job (a heap: at
//! most one job a die), the data of a read is ready for the link (the same heap). Completions leave in the order of
//! the link. Flash reads reserve die and bus when they are issued; programs, copies and erases are issued one at a
//! time when their die is free, so that a read never waits for more than the operation under way. A page whose data has
//! not come reserves nothing until it has (a queue of its own, in order of time).

use std::collections::VecDeque;

use drivelab_ftl::Backlog;
use drivelab_nand::{DieIndex, GeometryError, UnitLayout};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;

use crate::buffer::{NONE, WriteBuffer};
use crate::command::{Command, CommandError, Completion, Device, LatencySplit, Op, Outcome, SECTOR_BYTES};
use crate::config::ControllerConfig;
use crate::durable::Durable;
use crate::event_queue::{Event, EventQueue};
use crate::faults::Faults;
use crate::flash::{BusyTime, Flash};
use crate::governor::Governor;
use crate::host_queue::{HostQueue, HostSide};
use crate::meters::Meters;
use crate::read_ahead::ReadAhead;
use crate::scheduled::Scheduled;

/// A command inside the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub command: Command,
    pub submitted_ns: Nanos,
    pub split: LatencySplit,
    /// Time on the link, for the whole command.
    pub link_ns: Nanos,
    /// Writes: sectors that have entered the buffer.
    pub sectors_done: u32,
    /// Up to here `split` says where the time went. It may lie ahead: the link is reserved in advance.
    pub told_ns: Nanos,
    /// Writes: waiting for buffer space.
    pub is_stalled: bool,
    /// Busy time of the dies when a wait for them began.
    pub wait_base: BusyTime,
    /// Entries that must reach flash before this command is done.
    pub pending: u32,
    /// All units are in the buffer.
    pub admitted: bool,
    /// Flush: entries with a lower order number count.
    pub flush_order: u64,
    /// Flush: so many pages of the log count, if any.
    pub log_pages: u64,
    /// How it will have ended.
    pub outcome: Outcome,
}

/// Durable mode: after so long without commands, what waits for the log of the map goes there, be it less than a page.
/// Assumed: a second without commands is a pause.
const LOG_REST_NS: Nanos = 1_000_000_000;

impl Slot {
    /// A command that has just been handed over, for which the firmware has so much to do.
    #[inline]
    fn new(command: Command, submitted_ns: Nanos, firmware_ns: Nanos, link_ns: Nanos) -> Self {
        Self {
            command,
            submitted_ns,
            split: LatencySplit { firmware_ns, ..LatencySplit::default() },
            link_ns,
            sectors_done: 0,
            told_ns: submitted_ns,
            is_stalled: false,
            wait_base: BusyTime::default(),
            pending: 0,
            admitted: false,
            flush_order: 0,
            log_pages: 0,
            outcome: Outcome::Done,
        }
    }

    /// The command has waited for others of the host until then, if it lies ahead.
    #[inline]
    pub(crate) fn queued_until(&mut self, until: Nanos) {
        self.split.queueing_ns += until.saturating_sub(self.told_ns);
        self.told_ns = self.told_ns.max(until);
    }
}

/// A flash drive over a mapping scheme.
#[derive(Clone, Debug)]
pub struct SolidStateDrive<M: Scheduled> {
    pub(crate) config: ControllerConfig,
    pub(crate) layout: UnitLayout,
    pub(crate) mapping: M,
    pub(crate) buffer: WriteBuffer,
    pub(crate) flash: Flash,
    pub(crate) jobs: M::Jobs,
    pub(crate) meters: Meters,
    pub(crate) now_ns: Nanos,
    pub(crate) slots: Vec<Slot>,
    /// Commands inside; its processor is the firmware's.
    queue: HostQueue,
    write_governor: Governor,
    /// When the first of the commands that are inside came.
    active_since_ns: Nanos,
    pub(crate) events: EventQueue,
    pub(crate) link_free_ns: Nanos,
    pub(crate) read_ahead: ReadAhead,
    /// Writes whose data waits for buffer space, in order.
    pub(crate) admission: VecDeque<u32>,
    pub(crate) flushes: Vec<u32>,
    /// Dies whose job is a page, or an erase, that can't begin yet: from when on, in order of time.
    pub(crate) late: VecDeque<(Nanos, u32)>,
    /// Data has come into the buffer at this instant. Dies are given pages when nothing else happens at it: what the
    /// host hands over at once is seen at once.
    pub(crate) drain_due: bool,
    /// When a page that is not full stops waiting for more data.
    pub(crate) hold_alarm_ns: Nanos,
    /// When idle-time cleaning begins.
    pub(crate) idle_alarm_ns: Nanos,
    pub(crate) read_stamps: Vec<(u32, Vec<u64>)>,
    pub(crate) durable: Option<Box<Durable>>,
    pub(crate) faults: Option<Box<Faults>>,
    pub(crate) sectors_per_unit: u32,
    works_when_idle: bool,
    unit_shift: Option<u32>,
    pub(crate) capacity_sectors: u64,
}

impl<M: Scheduled> SolidStateDrive<M> {
    /// A new drive, never used.
    ///
    /// # Errors
    /// Parameters that make no working drive; the message names one, its value and what is allowed.
    pub fn new(mapping: M, config: ControllerConfig) -> Result<Self, GeometryError> {
        check(&mapping, &config)?;
        let layout = *mapping.layout();
        let dies = layout.geometry.die_count();
        let depth = config.queue_depth;
        let unused = Slot::new(Command::new(0, Op::Flush, 0, 0), 0, 0, 0);
        let sectors_per_unit = mapping.sectors_per_unit();
        let capacity_sectors = u64::from(mapping.user_units()) * u64::from(sectors_per_unit);
        let mut buffer = WriteBuffer::new(config.buffer.units, sectors_per_unit);
        buffer.cluster(mapping.clusters(&config));
        Ok(Self {
            config,
            layout,
            buffer,
            flash: Flash::new(layout, config.timing, config.scheduling.read_path_bytes_per_s),
            jobs: mapping.jobs(&config),
            works_when_idle: mapping.works_when_idle(),
            mapping,
            meters: Meters::default(),
            now_ns: 0,
            slots: vec![unused; depth as usize],
            queue: HostQueue::new(depth, 0),
            write_governor: Governor::new(config.firmware.write_governor, depth),
            active_since_ns: 0,
            events: EventQueue::with_capacity(dies + depth),
            link_free_ns: 0,
            read_ahead: ReadAhead::new(config.scheduling.read_ahead_bytes, sectors_per_unit),
            admission: VecDeque::with_capacity(depth as usize),
            flushes: Vec::with_capacity(depth as usize),
            late: VecDeque::with_capacity(dies as usize),
            drain_due: false,
            hold_alarm_ns: NEVER,
            idle_alarm_ns: NEVER,
            read_stamps: Vec::new(),
            durable: None,
            faults: None,
            sectors_per_unit,
            unit_shift: sectors_per_unit.is_power_of_two().then(|| sectors_per_unit.trailing_zeros()),
            capacity_sectors,
        })
    }

    /// Keeps a 64-bit stamp per sector, so that an oracle can compare what it reads. Call it on a new drive.
    pub fn keep_stamps(&mut self) {
        self.mapping.keep_stamps();
        self.buffer.keep_words(self.sectors_per_unit);
    }

    /// Tag and stamps of every read worked on since the last call, if stamps are kept.
    pub fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        std::mem::take(&mut self.read_stamps)
    }

    /// The mapping scheme, to look at.
    #[must_use]
    pub fn mapping(&self) -> &M {
        &self.mapping
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &ControllerConfig {
        &self.config
    }

    /// Counters of the controller.
    #[must_use]
    pub fn meters(&self) -> Meters {
        let work = self.flash.work();
        Meters {
            sense_busy_ns: work.sense_ns,
            program_busy_ns: work.program_ns,
            erase_busy_ns: work.erase_ns,
            bus_busy_ns: work.bus_ns,
            ..self.meters
        }
    }

    /// Energy used since the drive was made, in nJ.
    #[must_use]
    pub fn energy_nj(&self) -> u64 {
        let mut meters = self.meters();
        if self.outstanding() > 0 {
            meters.active_ns += self.now_ns - self.active_since_ns;
        }
        meters.energy_nj(self.now_ns, &self.config.power)
    }

    /// Commands inside the drive.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.queue.outstanding()
    }

    /// What the drive has put off, to look at.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog {
            owed_copies: self.mapping.owed_copies(&self.jobs),
            log_records: self.durable.as_ref().map_or(0, |durable| durable.waiting_records()),
            buffered_sectors: u64::from(self.buffer.live()) * u64::from(self.sectors_per_unit),
            ..self.mapping.backlog()
        }
    }

    /// Recounts all books; for tests and `check`.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        self.mapping.check()?;
        self.check_step()
    }

    /// What must be true between any two events: queues, tokens, buffer, reservations. Cheap enough to be asked after
    /// each; the map's books are [`Self::check`]'s.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check_step(&self) -> Result<(), String> {
        self.queue.check()?;
        self.buffer.check()?;
        let inside = self.outstanding() as usize;
        let (held, flushes) = (self.write_governor.held(), self.flushes.len());
        if held + self.admission.len() + flushes > inside {
            return Err(format!("{inside} commands are inside, more wait"));
        }
        if self.flushes.iter().any(|&slot| self.slots[slot as usize].pending == 0) {
            return Err("a flush waits for nothing".to_owned());
        }
        if !self.flash.is_sound() {
            return Err("two use a bus or a die at once".to_owned());
        }
        if !self.late.iter().is_sorted_by_key(|&(from, _)| from) {
            return Err("jobs that must wait are not in order of time".to_owned());
        }
        M::check_jobs(self)
    }

    /// How many events wait for the die or bank with this number: the end of its job, or its beginning.
    pub(crate) fn events_of(&self, die: u32) -> usize {
        self.events.count(Event::JobDone(DieIndex(die)))
            + self.late.iter().filter(|&&(_, late)| late == die).count()
    }

    /// Erases every block and forgets every map entry, as ATA SECURITY ERASE UNIT does. Dies erase side by side.
    /// Commands still inside are completed first; their completions are given back.
    pub fn secure_erase(&mut self) -> Vec<Completion> {
        let done = self.finish_all();
        let (most, erased) = self.mapping.secure_erase();
        self.buffer.clear();
        self.flash.restart();
        self.jobs = self.mapping.jobs(&self.config);
        self.write_governor = Governor::new(self.config.firmware.write_governor, self.config.queue_depth);
        self.events.clear();
        self.late.clear();
        self.now_ns += self.flash.erase_all(erased, most);
        self.queue.restart(self.now_ns);
        self.link_free_ns = self.now_ns;
        self.read_ahead = ReadAhead::new(self.config.scheduling.read_ahead_bytes, self.sectors_per_unit);
        self.hold_alarm_ns = NEVER;
        self.idle_alarm_ns = NEVER;
        self.drain_due = false;
        self.admission.clear();
        self.flushes.clear();
        if let Some(durable) = &mut self.durable {
            durable.restart();
        }
        self.restart_faults();
        done
    }

    /// Unit of a sector, and the sector's place in it.
    #[inline]
    pub(crate) fn unit_of(&self, lba: u64) -> (u32, u32) {
        match self.unit_shift {
            Some(shift) => ((lba >> shift) as u32, (lba & ((1 << shift) - 1)) as u32),
            None => {
                let sectors = u64::from(self.sectors_per_unit);
                ((lba / sectors) as u32, (lba % sectors) as u32)
            }
        }
    }

    /// Whether the host wants nothing and everything is in flash.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.buffer.is_empty()
    }

    /// Whether the firmware has a command to work on.
    pub(crate) fn has_ready_command(&self) -> bool {
        self.queue.next_ready() != NEVER
    }

    /// A command is done: it leaves over the link at `completed_ns`, not before any other.
    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, completed_ns: Nanos) {
        let done = &self.slots[slot as usize];
        let mut split = done.split;
        if sabotage::is(Sabotage::LinkToldTwice) {
            split.link_ns *= 2;
        }
        if sabotage::is(Sabotage::FirmwareHidden) {
            split.queueing_ns += std::mem::take(&mut split.firmware_ns);
        }
        let completion = Completion {
            tag: done.command.tag,
            op: done.command.op,
            outcome: done.outcome,
            sector_count: done.command.sector_count,
            submitted_ns: done.submitted_ns,
            completed_ns,
            split,
        };
        self.queue.complete(completion, slot);
    }

    /// Sets the alarm of idle-time work if the drive has just become idle and has some.
    #[inline]
    pub(crate) fn note_idle(&mut self, since_ns: Nanos) {
        if self.is_idle() {
            self.set_idle_alarm(since_ns);
        }
    }

    fn set_idle_alarm(&mut self, since_ns: Nanos) {
        let has_log = self.durable.as_ref().is_some_and(|durable| durable.has_records());
        if self.works_when_idle || has_log || M::has_work_left(self) {
            let delay = self.config.scheduling.idle_delay_ns;
            let delay = if has_log { delay.max(LOG_REST_NS) } else { delay };
            self.idle_alarm_ns = since_ns.max(self.now_ns) + delay;
        }
    }

    /// The firmware takes a command on, after all that it has taken on before.
    #[inline]
    fn begin_firmware(&mut self, slot: u32, now: Nanos) {
        let firmware_ns = self.slots[slot as usize].split.firmware_ns;
        let work = firmware_ns - self.config.firmware.pipeline_ns;
        let begin = self.occupy_firmware(work, now) - work;
        let state = &mut self.slots[slot as usize];
        state.queued_until(begin);
        state.told_ns += firmware_ns;
        self.queue.push(begin + firmware_ns, slot);
    }

    /// A die's job can't begin before this time, which lies ahead.
    #[inline]
    pub(crate) fn begin_later(&mut self, from: Nanos, die: u32) {
        let later = self.late.iter().rev().take_while(|&&(time, _)| time > from).count();
        if later == 0 {
            self.late.push_back((from, die));
        } else {
            self.late.insert(self.late.len() - later, (from, die));
        }
    }

    /// A die's job that had to wait begins, unless what it waits for has turned out to come later.
    fn begin_late(&mut self, die: u32, now: Nanos) {
        if let Some(durable) = &mut self.durable {
            let from = durable.may_begin_ns(DieIndex(die));
            if from > now {
                durable.begins_later(DieIndex(die), from);
                self.begin_later(from, die);
                return;
            }
        }
        M::begin_late(self, die, now);
    }

    /// Whether writes wait for the governor.
    pub(crate) fn holds_writes(&self) -> bool {
        self.write_governor.next_release_ns() != NEVER
    }

    /// The firmware's next `work`, after all that it has taken on before; when it is done.
    #[inline]
    pub(crate) fn occupy_firmware(&mut self, work: Nanos, now: Nanos) -> Nanos {
        self.meters.firmware_busy_ns += work;
        self.queue.occupy_processor(work, now)
    }

    /// What the processor has to do for a unit that is written in part; when it is done.
    #[inline]
    pub(crate) fn work_on_partial(&mut self, now: Nanos) -> Nanos {
        let work = self.config.scheduling.partial_unit_firmware_ns;
        if work > 0 { self.occupy_firmware(work, now) } else { now }
    }

    /// The firmware takes no command on before this time.
    pub(crate) fn hold_firmware(&mut self, until: Nanos) {
        self.queue.hold_processor(until);
    }
}

impl<M: Scheduled> HostSide for SolidStateDrive<M> {
    #[inline]
    fn queue(&self) -> &HostQueue {
        &self.queue
    }

    #[inline]
    fn queue_mut(&mut self) -> &mut HostQueue {
        &mut self.queue
    }

    #[inline]
    fn clock(&mut self) -> &mut Nanos {
        &mut self.now_ns
    }

    #[inline]
    fn next_internal(&self) -> Nanos {
        let event = self.events.next_ns();
        let late = self.late.front().map_or(NEVER, |&(time, _)| time);
        let command = self.queue.next_ready().min(self.write_governor.next_release_ns());
        command.min(event).min(late).min(self.hold_alarm_ns).min(self.idle_alarm_ns)
    }

    #[inline]
    fn left(&mut self, now: Nanos) {
        if self.queue.is_empty() {
            self.meters.active_ns += now - self.active_since_ns;
        }
        self.note_idle(now);
    }

    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    fn happen(&mut self, now: Nanos) {
        if let Some(event) = self.events.take(now) {
            match event {
                Event::JobDone(die) => M::job_done(self, die, now),
                Event::LogPageDone => self.log_page_done(now),
                Event::RowInRegister(bank) => M::row_in_register(self, bank, now),
                Event::ReadReady(slot) => self.finish_over_link(slot, now),
            }
        } else if let Some(&(time, die)) = self.late.front()
            && time == now
        {
            self.late.pop_front();
            self.begin_late(die, now);
        } else if let Some(slot) = self.queue.take_ready(now) {
            self.begin_command(slot, now);
        } else if let Some(slot) = self.write_governor.release(now) {
            self.begin_firmware(slot, now);
        } else if self.hold_alarm_ns == now {
            self.hold_alarm_ns = NEVER;
            M::drain(self, now);
        } else {
            self.idle_alarm_ns = NEVER;
            self.log_waiting(now);
            M::begin_idle_work(self, now);
        }
        if self.drain_due && self.next_internal() != now {
            self.drain_due = false;
            M::drain(self, now);
        }
        if self.faults.is_some() {
            self.settle_faults(now);
        }
    }
}

impl<M: Scheduled> Device for SolidStateDrive<M> {
    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn queue_depth(&self) -> u32 {
        self.config.queue_depth
    }

    fn now_ns(&self) -> Nanos {
        self.now_ns
    }

    #[inline]
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        let slot = self.enter(now_ns, &command)?;
        if self.queue.outstanding() == 1 {
            self.active_since_ns = now_ns;
        }
        self.idle_alarm_ns = NEVER;
        let mut work = self.config.firmware.command_ns(command.op);
        if let Some(faults) = &mut self.faults {
            work += faults.spike_ns(&command);
        }
        let link_ns = self.config.link.command_ns(command.transfer_bytes());
        let firmware_ns = work + self.config.firmware.pipeline_ns;
        self.slots[slot as usize] = Slot::new(command, now_ns, firmware_ns, link_ns);
        let is_limited =
            command.op == Op::Write || (command.op == Op::Read && sabotage::is(Sabotage::ReadsGoverned));
        if !is_limited || !self.write_governor.holds(slot, now_ns) {
            self.begin_firmware(slot, now_ns);
        }
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.next_turn()
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.turn(until_ns, done);
    }

    #[inline]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.turn_to_completion(until_ns, done);
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        let (unit, _) = self.unit_of(lba);
        self.mapping.prefetch(u64::from(unit));
    }
}

fn check<M: Scheduled>(mapping: &M, config: &ControllerConfig) -> Result<(), GeometryError> {
    if config.queue_depth == 0 || config.queue_depth > 65_536 {
        return Err(GeometryError::new("controller.queue_depth", config.queue_depth, "must be 1 to 65536"));
    }
    let least = mapping.buffer_units_min();
    if config.buffer.units < least || config.buffer.units >= NONE / 4 {
        let unit = u64::from(mapping.sectors_per_unit()) * SECTOR_BYTES;
        let allowed =
            format!("must hold at least {} bytes, what one program writes", u64::from(least) * unit);
        let bytes = u64::from(config.buffer.units) * unit;
        return Err(GeometryError::new("write_buffer.size_bytes", bytes, allowed));
    }
    Ok(())
}
