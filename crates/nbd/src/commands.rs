//! Commands of a served drive that are under way: which request each belongs to, and the bytes of it.

use drivelab_controller::{Command, Op, Outcome, SECTOR_BYTES};
use drivelab_image::HostData;

use crate::export::{Errno, Ticket};

const SECTOR: usize = SECTOR_BYTES as usize;

/// Buffers that are kept for the next command, and how large they may be.
const SPARE_BUFFERS: usize = 64;
const SPARE_BYTES_MAX: usize = 128 << 10;

/// A request of a client, which is one command of the drive or several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// Whom to answer.
    pub ticket: Ticket,
    /// It stores what the host gave.
    pub is_write: bool,
    /// A flush follows when its commands are done.
    pub then_flush: bool,
    /// The image is brought to its disk before the answer.
    pub is_synced: bool,
    /// What the first of its commands that failed was answered.
    pub failure: Option<Errno>,
    commands: u32,
}

impl Job {
    pub fn new(ticket: Ticket) -> Self {
        Self { ticket, is_write: false, then_flush: false, is_synced: false, failure: None, commands: 0 }
    }
}

#[derive(Debug)]
struct Slot {
    command: Command,
    job: u32,
    /// It writes zeros, which need no memory.
    is_zeros: bool,
    /// Begins with what is written, or has been read; what a buffer held before may follow.
    data: Vec<u8>,
}

impl Slot {
    fn bytes(&self) -> usize {
        self.command.sector_count as usize * SECTOR
    }
}

/// Commands under way, by tag.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    slots: Vec<Option<Slot>>,
    free_slots: Vec<u32>,
    jobs: Vec<Option<Job>>,
    free_jobs: Vec<u32>,
    buffers: Vec<Vec<u8>>,
    zeros: Vec<u8>,
}

impl Commands {
    /// A request comes in; its commands follow.
    pub fn begin(&mut self, job: Job) -> u32 {
        let job = Some(Job { commands: 0, ..job });
        if let Some(index) = self.free_jobs.pop() {
            self.jobs[index as usize] = job;
            return index;
        }
        self.jobs.push(job);
        self.jobs.len() as u32 - 1
    }

    /// A command of a request; its tag. A write without data writes zeros.
    pub fn push(&mut self, job: u32, command: Command, data: Option<&[u8]>) -> u32 {
        if let Some(job) = &mut self.jobs[job as usize] {
            job.commands += 1;
        }
        let mut buffer = self.buffers.pop().unwrap_or_default();
        let bytes = command.sector_count as usize * SECTOR;
        match (command.op, data) {
            (Op::Write, Some(data)) => {
                buffer.clear();
                buffer.extend_from_slice(data);
            }
            (Op::Write, None) => self.zeros.resize(self.zeros.len().max(bytes), 0),
            // The drive fills all of it before the command is done.
            (Op::Read, _) => buffer.resize(buffer.len().max(bytes), 0),
            (Op::Flush | Op::Trim, _) => {}
        }
        let is_zeros = command.op == Op::Write && data.is_none();
        let tag = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        let command = Command { tag, ..command };
        self.slots[tag as usize] = Some(Slot { command, job, is_zeros, data: buffer });
        tag
    }

    /// A command as the drive takes it.
    pub fn command(&self, tag: u32) -> Command {
        self.slots[tag as usize]
            .as_ref()
            .map_or_else(|| Command::new(tag, Op::Flush, 0, 0), |slot| slot.command)
    }

    /// A command is done: its request, if that is done with it. The command's data stay until it is released.
    pub fn finish(&mut self, tag: u32, outcome: Outcome) -> Option<Job> {
        let index = self.slots.get(tag as usize)?.as_ref()?.job;
        let job = self.jobs[index as usize].as_mut()?;
        job.commands -= 1;
        job.failure = job.failure.or(failure(outcome));
        if job.commands > 0 || job.then_flush {
            let is_last = job.commands == 0;
            self.release(tag);
            return if is_last { self.end(index) } else { None };
        }
        self.end(index)
    }

    fn end(&mut self, job: u32) -> Option<Job> {
        self.free_jobs.push(job);
        self.jobs[job as usize].take()
    }

    /// What a read has read; nothing for all other commands.
    pub fn data(&self, tag: u32) -> &[u8] {
        match &self.slots[tag as usize] {
            Some(slot) if slot.command.op == Op::Read => &slot.data[..slot.bytes()],
            _ => &[],
        }
    }

    /// The place of a command is free again.
    pub fn release(&mut self, tag: u32) {
        if let Some(slot) = self.slots[tag as usize].take() {
            self.free_slots.push(tag);
            if self.buffers.len() < SPARE_BUFFERS && slot.data.capacity() <= SPARE_BYTES_MAX {
                self.buffers.push(slot.data);
            }
        }
    }

    /// Forgets all commands; the requests that they were of.
    pub fn abandon(&mut self) -> Vec<Job> {
        std::mem::take(self).jobs.into_iter().flatten().collect()
    }
}

/// What a client hears of a command that ended so.
fn failure(outcome: Outcome) -> Option<Errno> {
    match outcome {
        Outcome::Done => None,
        Outcome::Uncorrectable | Outcome::Failed => Some(Errno::Io),
        Outcome::Refused => Some(Errno::NotPermitted),
    }
}

impl HostData for Commands {
    fn written(&self, tag: u32, offset: u32, count: u32) -> Option<&[u8]> {
        let slot = self.slots.get(tag as usize)?.as_ref()?;
        let (begin, end) = bounds(offset, count);
        if slot.command.op != Op::Write || end > slot.bytes() {
            return None;
        }
        if slot.is_zeros { self.zeros.get(begin..end) } else { slot.data.get(begin..end) }
    }

    fn to_read(&mut self, tag: u32, offset: u32, count: u32) -> Option<&mut [u8]> {
        let slot = self.slots.get_mut(tag as usize)?.as_mut()?;
        let (begin, end) = bounds(offset, count);
        if slot.command.op == Op::Read && end <= slot.bytes() { slot.data.get_mut(begin..end) } else { None }
    }
}

fn bounds(offset: u32, count: u32) -> (usize, usize) {
    (offset as usize * SECTOR, (offset as usize + count as usize) * SECTOR)
}
