//! RAID-0: one drive to the host, strips over several members, no redundancy.
//!
//! A command is cut into one piece per member (strips of one command that lie on one member lie there in a row), and
//! a piece into transfers of at most `max_transfer_bytes`, as host controllers and bridges do. Pieces wait in front of
//! their member, first in first out, while its queue is full. The command is done when its last piece is.
//!
//! An array of the host's software has no link of its own: members hang on ports side by side. A bridge in a drive's
//! case has one, half duplex, that all data passes: pieces of reads while they leave their member, pieces of writes
//! before they enter it, one piece per member ahead (its buffer).
//!
//! Members are independent between the array's own events, so each runs ahead to its next completion, but never
//! beyond the next event of another member. Ties go to the lower number.

mod array;
mod config;
mod pieces;
mod port;
mod stamps;
mod stripes;

use std::collections::VecDeque;

use drivelab_controller::meters::energy_nj;
use drivelab_controller::{Command, CommandError, Completion, Device, Op, SECTOR_BYTES};
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;

pub use array::Array;
pub use config::{Raid0Config, Raid0Meters};
use port::{NEVER, Port};
use stamps::Stamps;
pub use stripes::{Share, Stripes};

/// A command inside the array.
#[derive(Clone, Copy, Debug)]
struct Slot {
    command: Command,
    submitted_ns: Nanos,
    /// Time on the array's own link, for the whole command.
    link_ns: Nanos,
    /// Sectors (flush: members) that are not done.
    left: u64,
}

/// A striped array of drives. Any devices do, arrays included; sizes may differ, the smallest counts.
#[derive(Clone, Debug)]
pub struct Raid0<D> {
    config: Raid0Config,
    stripes: Stripes,
    /// Most sectors that one command asks of a member.
    transfer_sectors: u64,
    /// Transfers end where strips do.
    cut_at_strips: bool,
    ports: Vec<Port<D>>,
    capacity_sectors: u64,
    now_ns: Nanos,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// What each member still has to be asked for, by slot and member.
    shares: Vec<Share>,
    driver_free_ns: Nanos,
    /// Commands that the driver (or the bridge's firmware) works on: one processor, in order.
    driver: VecDeque<(Nanos, u32)>,
    link_free_ns: Nanos,
    /// In order of time.
    completions: VecDeque<(Completion, u32)>,
    /// Completed while a host that skipped ahead was not looking.
    overdue: Vec<Completion>,
    scratch: Vec<Completion>,
    meters: Raid0Meters,
    stamps: Option<Stamps>,
}

impl<D: Device> Raid0<D> {
    /// An array of devices that have no commands inside.
    ///
    /// # Errors
    /// No members, a strip that is no whole number of sectors or larger than a member, no queue.
    pub fn new(members: Vec<D>, config: Raid0Config) -> Result<Self, GeometryError> {
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let smallest = members.iter().map(Device::capacity_sectors).min().unwrap_or(0);
        config.check(count, smallest)?;
        let stripes = Stripes::new(count, config.strip_bytes / SECTOR_BYTES);
        let depth = config.queue_depth as usize;
        let now_ns = members.iter().map(Device::now_ns).max().unwrap_or(0);
        let unused = Slot { command: Command::new(0, Op::Flush, 0, 0), submitted_ns: 0, link_ns: 0, left: 0 };
        Ok(Self {
            capacity_sectors: stripes.capacity_sectors(smallest),
            stripes,
            transfer_sectors: config.max_transfer_bytes / SECTOR_BYTES,
            cut_at_strips: config.max_transfer_bytes / 2 < config.strip_bytes,
            ports: members.into_iter().map(|device| Port::new(device, depth, now_ns)).collect(),
            now_ns,
            slots: vec![unused; depth],
            free_slots: (0..config.queue_depth).rev().collect(),
            shares: vec![Share { lba: 0, end: 0 }; depth * count as usize],
            driver_free_ns: now_ns,
            driver: VecDeque::with_capacity(depth),
            link_free_ns: now_ns,
            completions: VecDeque::with_capacity(depth),
            overdue: Vec::new(),
            scratch: Vec::new(),
            meters: Raid0Meters::default(),
            stamps: None,
            config,
        })
    }

    /// The members, in the order of the strips.
    pub fn members(&self) -> impl Iterator<Item = &D> {
        self.ports.iter().map(|port| &port.device)
    }

    /// Where sectors lie.
    #[must_use]
    pub fn stripes(&self) -> &Stripes {
        &self.stripes
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &Raid0Config {
        &self.config
    }

    /// Counters of the array itself.
    #[must_use]
    pub fn meters(&self) -> &Raid0Meters {
        &self.meters
    }

    /// Energy that the array itself has used since it was made, in nJ; its members have their own.
    #[must_use]
    pub fn energy_nj(&self) -> u64 {
        let (idle_mw, link_mw) = (self.config.idle_mw, self.config.link_mw);
        energy_nj(&[(self.now_ns, idle_mw), (self.meters.link_busy_ns, link_mw)])
    }

    /// Commands inside the array.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.config.queue_depth - self.free_slots.len() as u32
    }

    /// Erases every member as `erase` does, side by side. Commands still inside are completed first; their completions
    /// are given back.
    pub fn erase_members(&mut self, mut erase: impl FnMut(&mut D)) -> Vec<Completion> {
        let mut done = std::mem::take(&mut self.overdue);
        while self.outstanding() > 0 {
            let Some(next) = self.next_event() else { break };
            self.advance(next, &mut done);
        }
        for port in &mut self.ports {
            erase(&mut port.device);
            self.now_ns = self.now_ns.max(port.device.now_ns());
        }
        for port in &mut self.ports {
            port.device.advance(self.now_ns, &mut self.scratch);
            port.next_ns = port.device.next_event().unwrap_or(NEVER);
        }
        debug_assert!(self.scratch.is_empty());
        self.driver_free_ns = self.now_ns;
        self.link_free_ns = self.now_ns;
        done
    }

    /// The array's own next event: the driver is done with a command, or data of a write has arrived.
    #[inline]
    fn next_own(&self) -> Nanos {
        let driver = self.driver.front().map_or(NEVER, |&(time, _)| time);
        match self.config.link {
            None => driver,
            Some(_) => self.ports.iter().map(|port| port.gate_ns).fold(driver, Nanos::min),
        }
    }

    /// The member whose event comes first, its time, and the time of the next of the others.
    #[inline]
    fn next_member(&self) -> (usize, Nanos, Nanos) {
        let (mut first, mut first_ns, mut second_ns) = (0, NEVER, NEVER);
        for (index, port) in self.ports.iter().enumerate() {
            if port.next_ns < first_ns {
                (first, second_ns, first_ns) = (index, first_ns, port.next_ns);
            } else {
                second_ns = second_ns.min(port.next_ns);
            }
        }
        (first, first_ns, second_ns)
    }

    /// Lets a member run to its next completion, at most until `limit`.
    #[inline]
    fn run_member(&mut self, member: usize, limit: Nanos) {
        let mut pieces = std::mem::take(&mut self.scratch);
        let port = &mut self.ports[member];
        port.device.advance_to_completion(limit, &mut pieces);
        port.inside -= pieces.len() as u32;
        port.next_ns = port.device.next_event().unwrap_or(NEVER);
        self.now_ns = self.now_ns.max(port.device.now_ns());
        for piece in &pieces {
            self.piece_done(piece);
        }
        if !pieces.is_empty() {
            self.feed(member as u32, self.now_ns);
        }
        pieces.clear();
        self.scratch = pieces;
    }

    fn own_event(&mut self, now: Nanos) {
        self.now_ns = now;
        if let Some(&(time, slot)) = self.driver.front()
            && time == now
        {
            self.driver.pop_front();
            self.begin(slot, now);
            return;
        }
        for member in 0..self.ports.len() {
            if self.ports[member].gate_ns == now {
                self.feed(member as u32, now);
            }
        }
    }

    /// Lets everything happen up to `until`; stops after the first completions if `stop` says so.
    #[inline]
    fn process(&mut self, until: Nanos, stop: bool, done: &mut Vec<Completion>) {
        let before = done.len();
        loop {
            let (member, member_ns, others_ns) = self.next_member();
            let own_ns = self.next_own();
            let next = member_ns.min(own_ns);
            let completion_ns = self.completions.front().map_or(NEVER, |(front, _)| front.completed_ns);
            let has_enough = stop && done.len() > before;
            if completion_ns < next {
                if completion_ns > until || (has_enough && completion_ns > self.now_ns) {
                    break;
                }
                if let Some((completion, slot)) = self.completions.pop_front() {
                    self.now_ns = completion_ns;
                    self.free_slots.push(slot);
                    done.push(completion);
                }
                continue;
            }
            if next > until || next == NEVER || (has_enough && next > self.now_ns) {
                break;
            }
            if member_ns <= own_ns {
                // Before the others' next event, so that ties go by number however far the host looks ahead.
                let others_ns = if others_ns > member_ns { others_ns - 1 } else { member_ns };
                let limit = until.min(others_ns).min(own_ns).min(completion_ns);
                self.run_member(member, if has_enough { self.now_ns } else { limit });
            } else {
                self.own_event(own_ns);
            }
        }
        if until != NEVER && !(stop && done.len() > before) {
            self.now_ns = self.now_ns.max(until);
        }
        for port in &mut self.ports {
            // Nothing is due: only the members' time passes.
            if port.device.now_ns() < self.now_ns {
                port.device.advance(self.now_ns, &mut self.scratch);
            }
        }
        debug_assert!(self.scratch.is_empty());
    }
}

impl<D: Device> Device for Raid0<D> {
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
        command.check(now_ns, self.now_ns, self.capacity_sectors)?;
        if now_ns > self.now_ns {
            // The host skipped ahead: what lies in between happens first, and it hears of it later.
            let mut overdue = std::mem::take(&mut self.overdue);
            self.process(now_ns, false, &mut overdue);
            self.overdue = overdue;
        }
        let Some(slot) = self.free_slots.pop() else {
            return Err(CommandError::QueueFull { queue_depth: self.config.queue_depth });
        };
        let bytes = self.meters.host_command(&command);
        let link_ns = self.config.link.map_or(0, |link| link.command_ns(bytes));
        let left = u64::from(command.sector_count);
        self.slots[slot as usize] = Slot { command, submitted_ns: now_ns, link_ns, left };
        if let Some(stamps) = &mut self.stamps {
            stamps.submitted(slot, &command);
        }
        if self.config.driver_ns == 0 {
            self.begin(slot, now_ns);
        } else {
            self.driver_free_ns = self.driver_free_ns.max(now_ns) + self.config.driver_ns;
            self.driver.push_back((self.driver_free_ns, slot));
        }
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        if !self.overdue.is_empty() {
            return Some(self.now_ns);
        }
        let completion = self.completions.front().map_or(NEVER, |(front, _)| front.completed_ns);
        let next = self.next_member().1.min(self.next_own()).min(completion);
        (next != NEVER).then_some(next)
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        done.append(&mut self.overdue);
        self.process(until_ns, false, done);
    }

    #[inline]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        if self.overdue.is_empty() {
            self.process(until_ns, true, done);
        } else {
            done.append(&mut self.overdue);
        }
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        let (member, there) = self.stripes.place(lba);
        self.ports[member as usize].device.prefetch(there);
    }
}
