//! Requests on their way between jobs and the drive.

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use super::active::{ActiveJob, May, Turn};
use super::splitting::Part;
use super::{IDLE, Run, Slot};
use crate::error::WorkloadError;
use crate::generator::Request;
use crate::requests::op_code;

impl Run<'_> {
    /// Issues what has become due, and finds the next such time.
    pub(super) fn issue_due(&mut self, device: &mut impl Device, now_ns: Nanos) -> Result<(), WorkloadError> {
        for index in 0..self.jobs.len() {
            self.issue_all(device, index as u32, now_ns)?;
        }
        let waits = self.counters_before.is_none() && !self.stopped;
        let snapshot = waits.then_some(self.measure_start_ns);
        let events = self.jobs.iter().filter_map(ActiveJob::next_event_ns);
        self.next_event_ns = events.chain(snapshot).min().unwrap_or(NEVER);
        Ok(())
    }

    #[inline]
    pub(super) fn complete(
        &mut self,
        device: &mut impl Device,
        completion: &Completion,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let tag = completion.tag;
        let Some(slot) = self.slots.get_mut(tag as usize).filter(|slot| slot.issued_ns != IDLE) else {
            return self.complete_part(device, completion, now_ns);
        };
        let done = *slot;
        // What was outstanding until before now is not, where the host looks late.
        if self.jobs[done.job as usize].is_immediate()
            && self.waiting.is_empty()
            && self.splitting.is_none()
            && completion.completed_ns == now_ns
        {
            return self.replace(device, completion, done, now_ns);
        }
        slot.issued_ns = IDLE;
        self.left(now_ns);
        if let Some((tag, request)) = self.waiting.pop() {
            self.submit(device, tag, &request, now_ns)?;
        }
        self.complete_request(device, completion, done, now_ns)
    }

    /// A request is done, and nobody waits for its place in the drive: mostly the next of its job takes it at once. Then as
    /// many are outstanding as before, at all times: nobody who counts them has to hear of it.
    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    fn replace(
        &mut self,
        device: &mut impl Device,
        completion: &Completion,
        done: Slot,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let tag = completion.tag;
        self.log_completion(completion, &done);
        let job = &mut self.jobs[done.job as usize];
        job.note(completion, done.issued_ns);
        let turn = job.turn_in_place(completion.op, now_ns, device);
        if let May::Issue = turn.may {
            let Turn { request, from_ns, .. } = turn;
            let Request { lba, background, .. } = request;
            self.slots[tag as usize] = Slot { issued_ns: from_ns, lba, background, ..done };
            return self
                .hand_over(device, command_of(tag, &request), tag, true, now_ns)
                .inspect_err(|_| self.left(now_ns));
        }
        self.slots[tag as usize].issued_ns = IDLE;
        self.left(now_ns);
        self.jobs[done.job as usize].release(tag);
        Ok(())
    }

    /// A command less is in the drive.
    #[inline]
    fn left(&mut self, now_ns: Nanos) {
        self.outstanding -= 1;
        self.series.end(now_ns);
        self.busy.end(now_ns);
    }

    #[inline]
    fn log_completion(&mut self, completion: &Completion, Slot { issued_ns, lba, job, .. }: &Slot) {
        if let Some(log) = &mut self.log
            && self.jobs[*job as usize].counts(completion)
        {
            log.record(*job, *lba, *issued_ns, completion);
        }
    }

    /// A command that is no request of its own is done.
    #[cold]
    fn complete_part(
        &mut self,
        device: &mut impl Device,
        completion: &Completion,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let place = completion.tag.checked_sub(self.slots.len() as u32);
        let splitting = self.splitting.as_mut();
        let Some((tag, whole)) = splitting.and_then(|splitting| splitting.done(place?)) else {
            let message = format!("completed tag {}, which is not outstanding", completion.tag);
            return Err(WorkloadError::Misbehaved(message));
        };
        self.left(now_ns);
        self.hand_over_parts(device, now_ns)?;
        let Some(sector_count) = whole else { return Ok(()) };
        let slot = &mut self.slots[tag as usize];
        let done = *slot;
        slot.issued_ns = IDLE;
        self.complete_request(device, &Completion { tag, sector_count, ..*completion }, done, now_ns)
    }

    /// A request is done; its last command was this.
    fn complete_request(
        &mut self,
        device: &mut impl Device,
        completion: &Completion,
        done: Slot,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        self.log_completion(completion, &done);
        let job = &mut self.jobs[done.job as usize];
        job.complete(completion, done.issued_ns, done.background);
        job.release(completion.tag);
        self.issue_all(device, done.job, now_ns)
    }

    /// Issues requests of a job as long as it may and has free tags.
    fn issue_all(
        &mut self,
        device: &mut impl Device,
        index: u32,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        while let Some(tag) = self.jobs[index as usize].take_free() {
            let turn = self.jobs[index as usize].turn(now_ns, device);
            match turn.may {
                May::Issue => self.issue(device, tag, &turn.request, turn.from_ns, now_ns)?,
                May::Wait(until_ns) => {
                    self.jobs[index as usize].release(tag);
                    self.next_event_ns = self.next_event_ns.min(until_ns);
                    break;
                }
                May::Rest => {
                    self.jobs[index as usize].release(tag);
                    break;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn issue(
        &mut self,
        device: &mut impl Device,
        tag: u32,
        request: &Request,
        from_ns: Nanos,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let slot = &mut self.slots[tag as usize];
        *slot = Slot { issued_ns: from_ns, lba: request.lba, background: request.background, ..*slot };
        if self.outstanding < self.hands_over_below {
            return self.submit(device, tag, request, now_ns);
        }
        self.hold(device, tag, request, now_ns)
    }

    /// A request waits for room in the drive's queue, or goes in parts.
    #[inline(never)]
    fn hold(
        &mut self,
        device: &mut impl Device,
        tag: u32,
        request: &Request,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let Some(splitting) = &mut self.splitting else {
            self.waiting.push(tag, *request);
            return Ok(());
        };
        splitting.add(tag, request);
        self.hand_over_parts(device, now_ns)
    }

    /// Hands over parts of requests as far as the drive's queue has room.
    fn hand_over_parts(&mut self, device: &mut impl Device, now_ns: Nanos) -> Result<(), WorkloadError> {
        while self.outstanding < self.queue_depth
            && let Some((place, part)) = self.splitting.as_mut().and_then(|splitting| splitting.next())
        {
            let Part { request, op, fua, lba, sector_count, is_first } = part;
            let tag = self.slots.len() as u32 + place;
            let command = Command { fua, ..Command::new(tag, op, lba, sector_count) };
            self.send(device, command, request, is_first, now_ns)?;
        }
        Ok(())
    }

    #[inline]
    fn submit(
        &mut self,
        device: &mut impl Device,
        tag: u32,
        request: &Request,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        self.send(device, command_of(tag, request), tag, true, now_ns)
    }

    /// Hands over a command of the request with the tag `of`: its first, or another. One more is in the drive.
    #[inline]
    fn send(
        &mut self,
        device: &mut impl Device,
        command: Command,
        of: u32,
        is_first: bool,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        self.hand_over(device, command, of, is_first, now_ns)?;
        self.outstanding += 1;
        self.series.begin(now_ns);
        self.busy.begin(now_ns);
        Ok(())
    }

    /// The same, of which nobody hears who counts what is in the drive.
    #[allow(clippy::inline_always, reason = "hot, and called from a cold place too")]
    #[inline(always)]
    fn hand_over(
        &mut self,
        device: &mut impl Device,
        mut command: Command,
        of: u32,
        is_first: bool,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let Slot { issued_ns, job, queue, .. } = self.slots[of as usize];
        command.queue = queue;
        let op = command.op;
        if op == Op::Write {
            let job = &mut self.jobs[job as usize];
            command.content = job.contents.draw();
            command.hint = job.write_hint;
        }
        device.submit(now_ns, command)?;
        let job = &mut self.jobs[job as usize];
        if let Some(lateness) = &mut job.measurement.kinds[usize::from(op_code(op))].lateness
            && now_ns >= job.measure_start_ns
            && is_first
        {
            lateness.record(now_ns - issued_ns);
        }
        Ok(())
    }
}

/// The command of a request that goes in one.
#[inline]
fn command_of(tag: u32, &Request { op, fua, lba, sector_count, .. }: &Request) -> Command {
    Command { fua, ..Command::new(tag, op, lba, sector_count) }
}
