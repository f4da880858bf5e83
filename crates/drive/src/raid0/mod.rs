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
mod durable;
mod pieces;
mod port;
mod stamped;
mod stamps;
mod stripes;

use drivelab_controller::meters::energy_nj;
use drivelab_controller::{
    Account, Command, CommandError, Completion, Device, HostQueue, HostSide, LatencySplit, Link, Op, Outcome,
    SECTOR_BYTES,
};
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

pub use config::{Raid0Config, Raid0Meters};
use durable::Pieces;
use port::Port;
use serde::{Deserialize, Serialize};
use stamps::Stamps;
pub use stripes::{Share, Stripes};

/// A command inside the array.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Slot {
    command: Command,
    submitted_ns: Nanos,
    /// When the driver was done with it.
    begun_ns: Nanos,
    /// Time on the array's own link, for the whole command.
    link_ns: Nanos,
    /// Sectors (flush: members) that are not done.
    left: u64,
    /// Sectors of pieces that members have refused, if in part.
    refused: u32,
    /// The worst that a member has said.
    outcome: Outcome,
    /// Where its time went, once it is done.
    split: LatencySplit,
}

/// A striped array of drives. Any devices do, arrays included; sizes may differ, the smallest counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Commands inside; its processor is the host's driver, or the bridge's firmware.
    queue: HostQueue,
    /// What each member still has to be asked for, by slot and member.
    shares: Vec<Share>,
    link: Link,
    scratch: Vec<Completion>,
    meters: Raid0Meters,
    stamps: Option<Stamps>,
    durable: Option<Pieces>,
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
        let unused = Slot {
            command: Command::new(0, Op::Flush, 0, 0),
            submitted_ns: 0,
            begun_ns: 0,
            link_ns: 0,
            left: 0,
            refused: 0,
            outcome: Outcome::Done,
            split: LatencySplit::default(),
        };
        Ok(Self {
            capacity_sectors: stripes.capacity_sectors(smallest),
            stripes,
            transfer_sectors: config.max_transfer_bytes / SECTOR_BYTES,
            cut_at_strips: config.max_transfer_bytes / 2 < config.strip_bytes,
            ports: members.into_iter().map(|device| Port::new(device, depth, now_ns)).collect(),
            now_ns,
            slots: vec![unused; depth],
            queue: HostQueue::new(config.queue_depth, now_ns),
            shares: vec![Share { lba: 0, end: 0 }; depth * count as usize],
            link: Link::free_from(now_ns),
            scratch: Vec::new(),
            meters: Raid0Meters::default(),
            stamps: None,
            durable: None,
            config,
        })
    }

    /// The members, in the order of the strips.
    pub fn members(&self) -> impl Iterator<Item = &D> {
        self.ports.iter().map(|port| &port.device)
    }

    /// The drives, to change.
    pub(crate) fn members_mut(&mut self) -> impl Iterator<Item = &mut D> {
        self.ports.iter_mut().map(|port| &mut port.device)
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
    pub fn meters(&self) -> Raid0Meters {
        Raid0Meters { link_busy_ns: self.link.busy_ns(), ..self.meters }
    }

    /// Energy that the array itself has used since it was made, in nJ; its members have their own.
    #[must_use]
    pub fn energy_nj(&self) -> u64 {
        let (idle_mw, link_mw) = (self.config.idle_mw, self.config.link_mw);
        energy_nj(&[(self.now_ns, idle_mw), (self.link.busy_ns(), link_mw)])
    }

    /// Commands inside the array.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.queue.outstanding()
    }

    /// Erases every member as `erase` does, side by side. Commands still inside are completed first; their completions
    /// are given back.
    pub fn erase_members(&mut self, mut erase: impl FnMut(&mut D)) -> Vec<Completion> {
        let done = self.finish_all();
        for port in &mut self.ports {
            erase(&mut port.device);
            self.now_ns = self.now_ns.max(port.device.now_ns());
        }
        for port in &mut self.ports {
            port.device.advance(self.now_ns, &mut self.scratch);
            port.next_ns = port.device.next_event().unwrap_or(NEVER);
        }
        debug_assert!(self.scratch.is_empty());
        self.queue.restart(self.now_ns);
        self.link.restart(self.now_ns);
        done
    }

    /// What must be true of queues between any two events.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check_queues(&self) -> Result<(), String> {
        self.queue.check()?;
        let inside = self.outstanding() as usize;
        for (member, port) in self.ports.iter().enumerate() {
            if port.inside > port.device.queue_depth() {
                return Err(format!("member {member} holds {} pieces, more than its queue", port.inside));
            }
            if port.waiting.len() > inside {
                return Err(format!("{inside} commands are inside, more wait for member {member}"));
            }
            if port.gate_ns != NEVER && port.gate_ns != port.data_ns {
                return Err(format!("member {member} waits for data, but not for when it comes"));
            }
        }
        Ok(())
    }

    /// The array's own next event: the driver is done with a command, or data of a write has arrived.
    #[inline]
    fn next_own(&self) -> Nanos {
        let driver = self.queue.next_ready();
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
            if let Some(durable) = &mut self.durable {
                durable.done(member as u32, piece.tag);
            }
            self.piece_done(piece);
        }
        if !pieces.is_empty() {
            self.feed(member as u32, self.now_ns);
        }
        pieces.clear();
        self.scratch = pieces;
    }
}

impl<D: Device> HostSide for Raid0<D> {
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
        let Slot { command, submitted_ns, outcome, split, .. } = self.slots[slot as usize];
        Account { submitted_ns, split, told_ns: completed_ns }.completion(&command, outcome, completed_ns)
    }

    fn count(&mut self, slot: u32) {
        let Slot { command, refused, .. } = &self.slots[slot as usize];
        self.meters.host.count(command, command.sector_count - refused);
    }

    #[inline]
    fn next_internal(&self) -> Nanos {
        self.next_member().1.min(self.next_own())
    }

    /// An event of the array itself.
    fn happen(&mut self, now: Nanos) {
        self.now_ns = now;
        if let Some(slot) = self.queue.take_ready(now) {
            self.begin(slot, now);
            return;
        }
        for member in 0..self.ports.len() {
            if self.ports[member].gate_ns == now {
                self.feed(member as u32, now);
            }
        }
    }

    /// As of every drive, but a member runs ahead of the array to its next completion.
    #[inline]
    fn process(&mut self, until: Nanos, stop: bool, done: &mut Vec<Completion>) {
        let before = done.len();
        loop {
            let (member, member_ns, others_ns) = self.next_member();
            let own_ns = self.next_own();
            let next = member_ns.min(own_ns);
            let completion_ns = self.queue.next_completion();
            let has_enough = stop && done.len() > before;
            if completion_ns < next {
                if completion_ns > until || (has_enough && completion_ns > self.now_ns) {
                    break;
                }
                self.now_ns = completion_ns;
                self.leave(completion_ns, done);
                continue;
            }
            if next > until || next == NEVER || (has_enough && next > self.now_ns) {
                break;
            }
            if member_ns <= own_ns {
                // Before the others' next event, so that ties go by number however far the host looks ahead.
                let others_ns = others_ns.saturating_sub(u64::from(others_ns < NEVER)).max(member_ns);
                let limit = until.min(others_ns).min(own_ns).min(completion_ns);
                self.run_member(member, if has_enough { self.now_ns } else { limit });
            } else {
                self.happen(own_ns);
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
        let slot = self.enter(now_ns, &command)?;
        let link_ns = self.config.link.map_or(0, |link| link.command_ns(command.transfer_bytes()));
        let left = u64::from(command.sector_count);
        let ready = match self.config.driver_ns {
            0 => now_ns,
            work => self.queue.occupy_processor(work, now_ns),
        };
        self.slots[slot as usize] = Slot {
            command,
            submitted_ns: now_ns,
            begun_ns: ready,
            link_ns,
            left,
            refused: 0,
            outcome: Outcome::Done,
            split: LatencySplit::default(),
        };
        if let Some(stamps) = &mut self.stamps {
            stamps.submitted(slot, &command);
        }
        if self.config.driver_ns == 0 {
            self.begin(slot, now_ns);
        } else {
            self.queue.push(ready, slot);
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
        let (member, there) = self.stripes.place(lba);
        self.ports[member as usize].device.prefetch(there);
    }
}
