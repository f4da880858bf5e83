//! A solid-state drive as a state machine: its parts, and what they do together.
//!
//! The parts - host queue, buffer, flash - own what they hold and know nothing of each other or of the drive. The
//! drive's files stand above them: `turn` has the order in which things happen, `commands`, `reads` and `writes` work on
//! the host's commands; a back end ([`Scheduled`]), which gives dies their work, and what is kept see the drive, too. What
//! happens at a time that was known before is an event, in order of time (`events` has the kinds); commands that the firmware is
//! done with and completions are queues, in order. Completions leave in the order of the link. Flash reads reserve die
//! and bus when they are issued; programs, copies and erases are issued one at a time when their die is free, so that a
//! read never waits for more than the operation under way. A page whose data has not come reserves nothing until it has
//! (a queue of its own, in order of time). `check` recounts what must be true between any two events.

pub(crate) mod check;
mod commands;
pub(crate) mod events;
mod reads;
mod recording;
mod slot;
mod turn;
mod writes;

use std::collections::VecDeque;
use std::fmt::Debug;

use drivelab_ftl::{Backlog, Scheme};
use drivelab_nand::{DieIndex, GeometryError, Lpn, UnitLayout};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;
use serde::{Deserialize, Serialize};

use crate::buffer::WriteBuffer;
use crate::buffer::clusters::Clusters;
use crate::command::{Command, Completion, Op};
use crate::config::ControllerConfig;
use crate::flash::{DieWork, Flash};
use crate::host::governor::Governor;
use crate::host::link::Link;
use crate::host::queue::{HostQueue, HostSide};
use crate::host::read_ahead::ReadAhead;
use crate::kept::durable::Durable;
use crate::kept::faults::Faults;
use crate::meters::Meters;
use crate::timeline::Timeline;
use events::EventQueue;
pub(crate) use slot::Slot;

/// A mapping scheme and the back end that schedules its flash operations. Everything else of the controller - host
/// link, firmware, write buffer, reads, timing of dies and channels - is the same for all schemes.
pub trait Scheduled: Scheme + Sized {
    /// What the back end remembers: jobs under way, queues.
    type Jobs: Clone + Debug + Send;

    /// Whether the rest of a unit that the host writes only in part is fetched when the unit is programmed, not when it
    /// comes into the buffer.
    const COMPLETES_LATE: bool = false;

    /// How waiting units are grouped, if they are.
    fn clusters(&self, config: &ControllerConfig) -> Option<Clusters> {
        let _ = config;
        None
    }

    /// The back end of a new (or erased) drive.
    fn jobs(&self, config: &ControllerConfig) -> Self::Jobs;

    /// Units that the write buffer must have room for at least.
    fn buffer_units_min(&self) -> u32;

    /// Whether the buffer takes data of this unit just now, as far as it has space.
    #[inline]
    fn takes_host_data(drive: &SolidStateDrive<Self>, lpn: Lpn) -> bool {
        let _ = (drive, lpn);
        true
    }

    /// Something may have become possible: data has come into the buffer, a hold time has passed.
    fn drain(drive: &mut SolidStateDrive<Self>, now: Nanos);

    /// The job of a die (or bank) is done.
    fn job_done(drive: &mut SolidStateDrive<Self>, die: DieIndex, now: Nanos);

    /// The data of a bank's row is in the page registers, for back ends that ask to hear of it.
    #[inline]
    fn row_in_register(drive: &mut SolidStateDrive<Self>, bank: DieIndex, now: Nanos) {
        let _ = (drive, bank, now);
    }

    /// Metadata may have become due without data of the host: dies without a job write it.
    #[inline]
    fn write_metadata(drive: &mut SolidStateDrive<Self>, now: Nanos) {
        let _ = (drive, now);
    }

    /// The job of a die that had to wait may begin.
    fn begin_late(drive: &mut SolidStateDrive<Self>, die: u32, now: Nanos);

    /// The drive has been idle for its idle delay.
    fn begin_idle_work(drive: &mut SolidStateDrive<Self>, now: Nanos);

    /// Dies may be given work again, after a halt.
    fn resume(drive: &mut SolidStateDrive<Self>, now: Nanos) {
        Self::drain(drive, now);
    }

    /// After a mount, does what must be done before the host is served; when that is done.
    fn recover(drive: &mut SolidStateDrive<Self>, now: Nanos) -> Nanos {
        let _ = drive;
        now
    }

    /// Whether the drive has work for idle time.
    fn works_when_idle(&self) -> bool {
        false
    }

    /// Copies that the back end owes on dies that are being cleaned.
    fn owed_copies(&self, jobs: &Self::Jobs) -> u64 {
        let _ = jobs;
        0
    }

    /// Whether work has begun that is to be done with when the host pauses.
    fn has_work_left(drive: &mut SolidStateDrive<Self>) -> bool {
        let _ = drive;
        false
    }

    /// Recounts the back end's own books, as they must be between any two events.
    ///
    /// # Errors
    /// The first contradiction, in words.
    fn check_jobs(drive: &SolidStateDrive<Self>) -> Result<(), String>;
}

/// A flash drive over a mapping scheme.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    pub(crate) link: Link,
    /// The way from the host, where both ways are used at the same time.
    pub(crate) link_in: Link,
    /// What the last command moved over the link, in bytes, and for how long: the next one mostly moves as much.
    last_on_link: (u64, Nanos),
    pub(crate) read_ahead: ReadAhead,
    /// Writes whose data waits for buffer space, in order.
    pub(crate) admission: VecDeque<u32>,
    pub(crate) flushes: Vec<u32>,
    /// Dies whose job is a page, or an erase, that can't begin yet, by when it can.
    pub(crate) late: Timeline<u32>,
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
        let layout = *mapping.layout();
        let dies = layout.geometry.die_count();
        let sectors_per_unit = mapping.sectors_per_unit();
        config.check(dies, sectors_per_unit, mapping.buffer_units_min())?;
        let depth = config.queue_depth;
        let unused = Slot::new(Command::new(0, Op::Flush, 0, 0), 0, 0, 0);
        let capacity_sectors = u64::from(mapping.user_units()) * u64::from(sectors_per_unit);
        let mut buffer = WriteBuffer::new(config.buffer.units, sectors_per_unit);
        buffer.cluster(mapping.clusters(&config));
        Ok(Self {
            config,
            layout,
            buffer,
            flash: Flash::new(
                layout,
                config.timing,
                config.word_lines,
                (config.scheduling.read_path_bytes_per_s, config.scheduling.write_path_bytes_per_s),
            ),
            jobs: mapping.jobs(&config),
            works_when_idle: mapping.works_when_idle(),
            mapping,
            meters: Meters::default(),
            now_ns: 0,
            slots: vec![unused; depth as usize],
            queue: HostQueue::new(depth, 0)
                .with_processors(config.firmware.cores)
                .with_submissions(config.submission),
            write_governor: Governor::new(config.firmware.write_governor, depth),
            active_since_ns: 0,
            events: EventQueue::with_capacity(dies, depth),
            link: Link::default(),
            link_in: Link::default(),
            last_on_link: (0, config.link.command_ns(0)),
            read_ahead: ReadAhead::new(config.scheduling.read_ahead_bytes, sectors_per_unit),
            admission: VecDeque::with_capacity(depth as usize),
            flushes: Vec::with_capacity(depth as usize),
            late: Timeline::with_capacity(dies),
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
            link_busy_ns: self.link.busy_ns() + self.link_in.busy_ns(),
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

    /// Commands inside the drive, or in its submission queues.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.queue.outstanding() + self.queue.waiting()
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

    /// Time of all dies that cleaning and wear levelling have reserved, since power came or all was erased.
    pub fn cleaning_ns(&self) -> Nanos {
        self.flash.busy().cleaning_ns
    }

    /// Every die, to look at.
    pub fn die_work(&self) -> impl Iterator<Item = DieWork> + '_ {
        self.flash.die_work()
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
        self.link.restart(self.now_ns);
        self.link_in.restart(self.now_ns);
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
}
