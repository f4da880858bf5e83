//! Requests on their way between jobs and the drive.

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use super::active::{ActiveJob, Turn};
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
            let message = format!("completed tag {tag}, which is not outstanding");
            return Err(WorkloadError::Misbehaved(message));
        };
        let Slot { issued_ns, lba, job, background } = *slot;
        slot.issued_ns = IDLE;
        self.outstanding -= 1;
        self.series.end(now_ns);
        self.busy.end(now_ns);
        if let Some((tag, request)) = self.waiting.pop() {
            self.submit(device, tag, &request, now_ns)?;
        }
        if let Some(log) = &mut self.log
            && self.jobs[job as usize].counts(completion)
        {
            log.record(job, lba, issued_ns, completion);
        }
        if self.jobs[job as usize].complete(completion, issued_ns, background) {
            if let Turn::Issue(request, from_ns) = self.jobs[job as usize].turn(now_ns, device) {
                return self.issue(device, tag, &request, from_ns, now_ns);
            }
            self.jobs[job as usize].release(tag);
            return Ok(());
        }
        self.jobs[job as usize].release(tag);
        self.issue_all(device, job, now_ns)
    }

    /// Issues requests of a job as long as it may and has free tags.
    fn issue_all(
        &mut self,
        device: &mut impl Device,
        index: u32,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        while let Some(tag) = self.jobs[index as usize].take_free() {
            match self.jobs[index as usize].turn(now_ns, device) {
                Turn::Issue(request, from_ns) => self.issue(device, tag, &request, from_ns, now_ns)?,
                Turn::Wait(until_ns) => {
                    self.jobs[index as usize].release(tag);
                    self.next_event_ns = self.next_event_ns.min(until_ns);
                    break;
                }
                Turn::Rest => {
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
        *slot = Slot { issued_ns: from_ns, lba: request.lba, job: slot.job, background: request.background };
        if self.outstanding < self.queue_depth {
            return self.submit(device, tag, request, now_ns);
        }
        self.waiting.push(tag, *request);
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
        let Request { op, fua, lba, sector_count, .. } = *request;
        let mut command = Command { fua, ..Command::new(tag, op, lba, sector_count) };
        if op == Op::Write {
            let job = self.slots[tag as usize].job;
            let job = &mut self.jobs[job as usize];
            command.content = job.contents.draw();
            command.hint = job.write_hint;
        }
        device.submit(now_ns, command)?;
        self.outstanding += 1;
        self.series.begin(now_ns);
        self.busy.begin(now_ns);
        let Slot { issued_ns, job, .. } = self.slots[tag as usize];
        let job = &mut self.jobs[job as usize];
        if let Some(lateness) = &mut job.measurement.kinds[usize::from(op_code(op))].lateness
            && now_ns >= job.measure_start_ns
        {
            lateness.record(now_ns - issued_ns);
        }
        Ok(())
    }
}
