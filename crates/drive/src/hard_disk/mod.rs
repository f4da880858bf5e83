//! A hard disk as a state machine: what it is made of, and the order in which things happen.
//!
//! `commands` works on commands of the host, `media` on the arm. Three kinds of event drive both: the firmware is
//! done with a command, data of a write has arrived over the link, the heads have done a job. A job is an access to
//! sectors of one track, or reading ahead. Completions leave in the order of the link.

pub mod arm;
mod commands;
pub mod config;
mod durable;
pub mod geometry;
mod media;
pub mod meters;
mod power_cycle;
mod read_cache;
mod report;
pub mod seek;
mod slot;
mod write_cache;

use std::collections::VecDeque;

use drivelab_controller::{
    Account, Backlog, Command, CommandError, Completion, Device, Effect, HostQueue, HostSide, Link, Op,
    Outcome, SECTOR_BYTES,
};
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use arm::Arm;
pub use config::{
    ArmConfig, DiskPowerConfig, HardDiskConfig, PlatterConfig, ReadCacheConfig, Scheduling, WriteCacheConfig,
};
use durable::Durable;
use geometry::{Geometry, Place};
pub use meters::DiskMeters;
use read_cache::ReadCache;
use seek::SeekCurve;
use serde::{Deserialize, Serialize};
use slot::Slot;
use write_cache::WriteCache;

/// A read that needs the media.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingRead {
    slot: u32,
    order: u64,
    arrived_ns: Nanos,
    /// What is missing.
    lba: u64,
    end: u64,
    /// Place of `lba`.
    place: Place,
}

/// Data of a write on its way over the link.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Arrival {
    at_ns: Nanos,
    slot: u32,
    lba: u64,
    sectors: u32,
    stamp: u64,
    /// The command, and the first of its sectors that this is.
    tag: u32,
    offset: u32,
    /// The command waits for the media.
    alone: bool,
    /// An extent of the write cache was claimed for it.
    claimed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Work {
    Nothing,
    Read,
    Write,
    ReadAhead,
}

/// What the arm is doing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Job {
    work: Work,
    lba: u64,
    sectors: u32,
    start_ns: Nanos,
    /// The first sector is under the head.
    begin_ns: Nanos,
    end_ns: Nanos,
}

const NO_JOB: Job = Job { work: Work::Nothing, lba: 0, sectors: 0, start_ns: 0, begin_ns: 0, end_ns: NEVER };

/// A hard disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HardDisk {
    config: HardDiskConfig,
    geometry: Geometry,
    arm: Arm,
    read_cache: ReadCache,
    write_cache: WriteCache,
    meters: DiskMeters,
    now_ns: Nanos,
    slots: Vec<Slot>,
    /// Commands inside; its processor is the firmware's.
    queue: HostQueue,
    link: Link,
    arrivals: VecDeque<Arrival>,
    job: Job,
    /// The read that the job is for; it goes on over all its tracks.
    current: Option<PendingRead>,
    reads: Vec<PendingRead>,
    /// Writes whose data waits for room in the cache, in order.
    admission: VecDeque<u32>,
    flushes: Vec<u32>,
    /// Extents that commands wait for.
    awaited_extents: u32,
    /// One past the last sector that the host has read; reading ahead goes on from there.
    ahead_of: Option<u64>,
    next_order: u64,
    /// Accesses up to this one come before all others: one of them had waited for too long.
    overdue_order: u64,
    /// Something has changed at this instant that may give the arm work.
    dispatch_due: bool,
    /// What every sector on the media holds, if stamps are kept.
    media: Option<Vec<u64>>,
    /// By slot: what has been read so far.
    partial_stamps: Vec<Vec<u64>>,
    read_stamps: Vec<(u32, Vec<u64>)>,
    durable: Option<Box<Durable>>,
}

impl HardDisk {
    /// A new disk, spinning, the arm at the rim, all sectors zero.
    ///
    /// # Errors
    /// Parameters that make no working disk; the message names one, its value and what is allowed.
    pub fn new(config: HardDiskConfig) -> Result<Self, GeometryError> {
        config.check()?;
        let geometry = Geometry::new(&config)?;
        let curve = SeekCurve::new(geometry.cylinders(), &config.arm)?;
        let depth = config.queue_depth;
        let unused = Slot {
            command: Command::new(0, Op::Flush, 0, 0),
            account: Account::new(0),
            link_ns: 0,
            sectors_done: 0,
            pending: 0,
            admitted: false,
            flush_order: 0,
        };
        let write = &config.write_cache;
        Ok(Self {
            config,
            geometry,
            arm: Arm::new(curve, &config.arm),
            read_cache: ReadCache::new(&config.read_cache),
            write_cache: WriteCache::new(write.entries, write.size_bytes / SECTOR_BYTES, depth),
            meters: DiskMeters::default(),
            now_ns: 0,
            slots: vec![unused; depth as usize],
            queue: HostQueue::new(depth, 0),
            link: Link::default(),
            arrivals: VecDeque::with_capacity(depth as usize),
            job: NO_JOB,
            current: None,
            reads: Vec::with_capacity(depth as usize),
            admission: VecDeque::with_capacity(depth as usize),
            flushes: Vec::with_capacity(depth as usize),
            awaited_extents: 0,
            ahead_of: None,
            next_order: 0,
            overdue_order: 0,
            dispatch_due: false,
            media: None,
            partial_stamps: Vec::new(),
            read_stamps: Vec::new(),
            durable: None,
        })
    }

    /// Keeps a 64-bit stamp per sector, so that an oracle can compare what it reads. Call it on a new disk.
    pub fn keep_stamps(&mut self) {
        self.media = Some(vec![0; self.config.capacity_sectors as usize]);
        self.partial_stamps = vec![Vec::new(); self.slots.len()];
    }

    /// Tag and stamps of every read completed since the last call, if stamps are kept.
    pub fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        std::mem::take(&mut self.read_stamps)
    }

    /// What is on the media, if stamps are kept; the caches not included.
    #[must_use]
    pub fn media_stamps(&self) -> Option<&[u64]> {
        self.media.as_deref()
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &HardDiskConfig {
        &self.config
    }

    /// Tracks and zones, to look at.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Counters.
    #[must_use]
    pub fn meters(&self) -> DiskMeters {
        DiskMeters { link_busy_ns: self.link.busy_ns(), ..self.meters }
    }

    /// Energy used since the disk was made, in nJ.
    #[must_use]
    pub fn energy_nj(&self) -> u64 {
        self.meters().energy_nj(self.now_ns, &self.config.power)
    }

    /// Commands inside the disk.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.queue.outstanding()
    }

    /// What the disk has put off, to look at.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog { buffered_sectors: self.write_cache.sectors(), ..Backlog::default() }
    }

    /// Recounts all books; for tests.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        self.check_step()?;
        self.read_cache.check()
    }

    /// What must be true between any two events; cheap enough to be asked after each.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check_step(&self) -> Result<(), String> {
        self.queue.check()?;
        let inside = self.outstanding() as usize;
        if self.admission.len() + self.flushes.len() + self.reads.len() > inside {
            return Err(format!("{inside} commands are inside, more wait"));
        }
        if self.flushes.iter().any(|&slot| self.slots[slot as usize].pending == 0) {
            return Err("a flush waits for nothing".to_owned());
        }
        if !self.arrivals.iter().is_sorted_by_key(|arrival| arrival.at_ns) {
            return Err("data on its way is not in order of time".to_owned());
        }
        let coming: u64 = self.arrivals.iter().map(|arrival| u64::from(arrival.sectors)).sum();
        self.write_cache.check(coming)?;
        if (self.job.work == Work::Write) != self.write_cache.active().is_some() {
            return Err(format!("the arm's job is {:?}, the write cache disagrees", self.job.work));
        }
        let awaited =
            self.write_cache.awaited() + self.arrivals.iter().filter(|arrival| arrival.alone).count();
        if awaited != self.awaited_extents as usize {
            return Err(format!("{awaited} extents are awaited, the book says {}", self.awaited_extents));
        }
        Ok(())
    }

    /// Writes zeros over the whole disk, which takes a pass at media rate. Commands still inside are completed
    /// first; their completions are given back.
    pub fn secure_erase(&mut self) -> Vec<Completion> {
        let done = self.finish_all();
        self.stop_reading_ahead(self.now_ns);
        self.read_cache.clear();
        self.write_cache.clear();
        self.arrivals.clear();
        self.job = NO_JOB;
        self.current = None;
        self.ahead_of = None;
        self.dispatch_due = false;
        if let Some(media) = &mut self.media {
            media.fill(0);
        }
        if let Some(durable) = self.durable.take() {
            let effects = durable.effects;
            if self.record_effects().is_ok()
                && let Some(durable) = &mut self.durable
            {
                durable.effects = effects;
                durable.effects.list.push(Effect::SecureErase);
            }
        }
        let pass_ns = self.geometry.pass_ns();
        self.meters.write_busy_ns += pass_ns;
        self.meters.media_write_bytes += self.capacity_sectors() * SECTOR_BYTES;
        self.now_ns += pass_ns;
        self.arm.stay_at(&self.geometry.place(0), self.now_ns);
        self.queue.restart(self.now_ns);
        self.link.restart(self.now_ns);
        done
    }
}

impl HostSide for HardDisk {
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
    fn completion(&self, slot: u32, completed_ns: Nanos) -> Completion {
        let done = &self.slots[slot as usize];
        done.account.completion(&done.command, Outcome::Done, completed_ns)
    }

    fn count(&mut self, slot: u32) {
        let command = &self.slots[slot as usize].command;
        self.meters.host.count(command, command.sector_count);
    }

    #[inline]
    fn next_internal(&self) -> Nanos {
        let arrival = self.arrivals.front().map_or(NEVER, |arrival| arrival.at_ns);
        self.queue.next_ready().min(arrival).min(self.job.end_ns)
    }

    #[inline]
    fn happen(&mut self, now: Nanos) {
        if self.job.end_ns == now {
            self.job_done(now);
        } else if self.arrivals.front().is_some_and(|arrival| arrival.at_ns == now) {
            self.data_arrived(now);
        } else if let Some(slot) = self.queue.take_ready(now) {
            self.begin_command(slot, now);
        }
        if self.dispatch_due && self.next_internal() != now {
            self.dispatch_due = false;
            self.dispatch(now);
        }
    }
}

impl Device for HardDisk {
    fn capacity_sectors(&self) -> u64 {
        self.config.capacity_sectors
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
        let work = self.config.firmware.command_ns(command.op);
        let ready = self.queue.occupy_processor(work, now_ns);
        self.meters.firmware_busy_ns += work;
        let link_ns = self.config.link.command_ns(command.transfer_bytes());
        let mut account = Account::new(now_ns);
        account.queued_until(ready - work);
        account.in_firmware(work);
        self.slots[slot as usize] =
            Slot { command, account, link_ns, sectors_done: 0, pending: 0, admitted: false, flush_order: 0 };
        self.queue.push(ready, slot);
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
}
