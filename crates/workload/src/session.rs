//! A drive as a part of somebody's program: requests come as arrays, as time goes on; what is done goes back as arrays.

use std::collections::VecDeque;
use std::mem;

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use crate::data::{Contents, DataPattern};
use crate::error::WorkloadError;
use crate::log::{LogWriter, RequestLog};
use crate::requests::{Requests, op_of_code};

/// A request that the drive has not been handed yet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at_ns: Nanos,
    number: u64,
    op: Op,
    lba: u64,
    sector_count: u32,
    hint: u8,
}

/// One request in the drive.
#[derive(Clone, Copy, Debug)]
struct Slot {
    arrived_ns: Nanos,
    lba: u64,
    number: u64,
}

/// Requests of a program on their way to a drive and back.
///
/// What doesn't fit into the drive's queue waits here, in order; its latency counts from its arrival. Everything is as
/// in an open loop of a run that had all requests from the start.
#[derive(Debug)]
pub struct Session {
    arriving: VecDeque<Arrival>,
    /// By tag.
    slots: Vec<Slot>,
    free: Vec<u32>,
    next_number: u64,
    latest_ns: Nanos,
    contents: Contents,
    fua: bool,
    said: Vec<Completion>,
    numbers: Vec<u64>,
    log: LogWriter,
}

impl Session {
    /// A program before its first request; `data` and `seed` say what its writes hold, `fua` that each is done only when
    /// it is in flash.
    #[must_use]
    pub fn new(device: &impl Device, data: &DataPattern, seed: u64, fua: bool) -> Self {
        let depth = device.queue_depth();
        Self {
            arriving: VecDeque::new(),
            slots: vec![Slot { arrived_ns: 0, lba: 0, number: 0 }; depth as usize],
            free: (0..depth).rev().collect(),
            next_number: 0,
            latest_ns: 0,
            contents: Contents::new(data, seed, 0),
            fua,
            said: Vec::new(),
            numbers: Vec::new(),
            log: LogWriter::new(0),
        }
    }

    /// Takes requests over, which arrive at `requests.arrival_ns` of the drive's clock; the number of the first. They
    /// are numbered from 0, in the order in which they came. A write has its element of `hints` ([`Command::hint`]), or 0
    /// without them; other requests have no use of theirs.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] naming the first element that is not allowed, such as a time that has passed or lies
    /// before that of a request before; nothing has been taken then.
    pub fn submit(
        &mut self,
        device: &impl Device,
        requests: &Requests<'_>,
        hints: Option<&[u8]>,
    ) -> Result<u64, WorkloadError> {
        requests.validate(device.capacity_sectors(), true)?;
        if let Some(hints) = hints.filter(|hints| hints.len() != requests.len()) {
            let allowed = format!("must be that of op, {}", requests.len());
            return Err(WorkloadError::invalid("length of hint", hints.len(), allowed));
        }
        let Some(times) = requests.arrival_ns else { return Ok(self.next_number) };
        let earliest_ns = self.latest_ns.max(device.now_ns());
        if let Some(&first_ns) = times.first().filter(|&&first_ns| first_ns < earliest_ns) {
            let allowed = format!(
                "must be at least {earliest_ns}: the drive is at {}, and requests come in order of time",
                device.now_ns()
            );
            return Err(WorkloadError::invalid("arrival_ns[0]", first_ns, allowed));
        }
        let first = self.next_number;
        for (index, &at_ns) in times.iter().enumerate() {
            // Validated.
            let Some(op) = op_of_code(requests.op[index]) else { continue };
            let (lba, sector_count) = match op {
                Op::Flush => (0, 0),
                _ => (requests.lba[index], requests.sector_count[index]),
            };
            let hint = hints.map_or(0, |hints| hints[index]);
            self.arriving.push_back(Arrival { at_ns, number: self.next_number, op, lba, sector_count, hint });
            self.next_number += 1;
            self.latest_ns = at_ns;
        }
        Ok(first)
    }

    /// Lets the drive work until `until_ns` of its clock; of [`NEVER`]: until everything is done.
    ///
    /// # Errors
    /// [`WorkloadError::Refused`] and [`WorkloadError::Misbehaved`] if the drive breaks its interface.
    pub fn advance<D: Device>(&mut self, device: &mut D, until_ns: Nanos) -> Result<(), WorkloadError> {
        let mut said = mem::take(&mut self.said);
        loop {
            self.hand_over(device)?;
            let is_idle = self.outstanding() == 0;
            let next_ns = self.arriving.front().map_or(NEVER, |arrival| arrival.at_ns);
            let now_ns = device.now_ns();
            // What has arrived and found no room waits for a completion.
            let limit_ns = if next_ns <= now_ns { until_ns } else { next_ns.min(until_ns) };
            if now_ns >= until_ns || is_idle && limit_ns == NEVER {
                break;
            }
            if is_idle {
                device.advance(limit_ns, &mut said);
            } else {
                device.advance_to_completion(limit_ns, &mut said);
            }
            if said.is_empty() && device.now_ns() < limit_ns || device.now_ns() == NEVER {
                let message = format!("{} commands never complete", self.outstanding());
                return Err(WorkloadError::Misbehaved(message));
            }
            for done in said.drain(..) {
                let slot = self.slots[done.tag as usize];
                self.free.push(done.tag);
                self.numbers.push(slot.number);
                self.log.record(0, slot.lba, slot.arrived_ns, &done);
            }
        }
        self.said = said;
        Ok(())
    }

    /// What is done since the last call: each request's number, and what it was like, in times of the drive's clock.
    pub fn take_done(&mut self) -> (Vec<u64>, RequestLog) {
        (mem::take(&mut self.numbers), self.log.take())
    }

    /// Requests that are not done.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.outstanding() as u64 + self.arriving.len() as u64
    }

    fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Hands the drive what has arrived, as far as there is room.
    fn hand_over(&mut self, device: &mut impl Device) -> Result<(), WorkloadError> {
        let now_ns = device.now_ns();
        while let Some(&Arrival { at_ns, number, op, lba, sector_count, hint }) =
            self.arriving.front().filter(|arrival| arrival.at_ns <= now_ns)
        {
            let Some(tag) = self.free.pop() else { break };
            let mut command =
                Command { fua: self.fua && op == Op::Write, ..Command::new(tag, op, lba, sector_count) };
            if op == Op::Write {
                command.content = self.contents.draw();
                command.hint = hint;
            }
            self.slots[tag as usize] = Slot { arrived_ns: at_ns, lba, number };
            if let Err(refused) = device.submit(now_ns, command) {
                self.free.push(tag);
                return Err(refused.into());
            }
            self.arriving.pop_front();
        }
        Ok(())
    }
}
