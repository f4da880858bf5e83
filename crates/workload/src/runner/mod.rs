//! The host: several jobs that share one drive, in the drive's virtual time.
//!
//! The life of a request: drawn a few turns ahead (so that the drive can prefetch its map entry) -> issued when
//! its job may -> in the host's queue while the drive's is full -> in the drive -> completion -> measured, and
//! its tag issues the next. A closed loop touches nothing but the request, its slot and the histogram.

mod active;
mod waiting;

use drivelab_controller::{Command, Completion, Device, Op, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;
use serde_json::Value;

use crate::busy::BusyTime;
use crate::error::WorkloadError;
use crate::generator::Request;
use crate::job::Source;
use crate::meter::Meters;
use crate::progress::Progress;
use crate::report::Report;
use crate::requests::{Task, op_code};
use active::{ActiveJob, Turn};
use waiting::Waiting;

/// Looks at a clock that stands still before a run is given up. An ideal drive may answer many requests in no time.
const TIMELESS_LOOKS: u32 = 20_000;
/// Completion turns between looks at the progress object.
const TURNS_PER_LOOK: u64 = 4096;
/// Of a slot without a request.
const IDLE: Nanos = Nanos::MAX;

/// Runs jobs on a drive, all starting together, until each has ended and its requests are done.
///
/// The drive must have no commands outstanding. It is left at the time of the last completion.
///
/// # Errors
/// [`WorkloadError::Invalid`] before anything has happened if a job or its requests are not allowed;
/// [`WorkloadError::Cancelled`] if asked to stop (requests in flight are completed first);
/// [`WorkloadError::Refused`] and [`WorkloadError::Misbehaved`] if the drive breaks its interface.
pub fn run<D: Device + Meters>(
    drive: &mut D,
    tasks: &[Task<'_>],
    progress: &Progress,
) -> Result<Report, WorkloadError> {
    validate(drive, tasks)?;
    progress.set_fraction(0.0);
    let mut host = Host::new(drive, tasks);
    let outcome = host.run(progress);
    if outcome.is_err() {
        host.drain();
    }
    outcome?;
    progress.set_fraction(1.0);
    Ok(host.into_report())
}

fn validate(drive: &impl Device, tasks: &[Task<'_>]) -> Result<(), WorkloadError> {
    let capacity_bytes = drive.capacity_sectors() * SECTOR_BYTES;
    if tasks.is_empty() {
        return Err(WorkloadError::invalid("jobs", "[]", "needs at least one job"));
    }
    let mut slots = 0;
    for task in tasks {
        let job = &task.job;
        job.validate(capacity_bytes)?;
        slots += u64::from(job.queue_depth.max(drive.queue_depth()));
        let key = || format!("job '{}': source.kind", job.name);
        match (job.source, &task.requests) {
            (Source::Requests { .. }, Some(requests)) => {
                requests.validate(drive.capacity_sectors(), job.is_open_loop())?;
                if job.thinks() && requests.program.is_none() {
                    let allowed = "must be given with pacing think";
                    return Err(WorkloadError::invalid("think_ns", "none", allowed));
                }
            }
            (Source::Generated {}, None) => {}
            (Source::Requests { .. }, None) => {
                return Err(WorkloadError::invalid(
                    key(),
                    "requests",
                    "needs arrays of requests beside the job",
                ));
            }
            (Source::Generated {}, Some(_)) => {
                return Err(WorkloadError::invalid(
                    key(),
                    "generated",
                    "must be requests when arrays are given",
                ));
            }
        }
    }
    if slots > u64::from(u32::MAX) {
        return Err(WorkloadError::invalid("sum of queue_depth", slots, "must be less than 2^32"));
    }
    Ok(())
}

/// One outstanding request.
#[derive(Clone, Copy)]
struct Slot {
    /// From when its latency counts; `IDLE` if there is none.
    issued_ns: Nanos,
    job: u32,
    /// Nobody waits for it.
    background: bool,
}

struct Host<'d, 'a, D> {
    device: &'d mut D,
    jobs: Vec<ActiveJob<'a>>,
    /// By tag.
    slots: Vec<Slot>,
    /// Requests that the drive's queue has no room for.
    waiting: Waiting,
    /// In the drive.
    outstanding: u32,
    busy: BusyTime,
    queue_depth: u32,
    /// The drive runs at most until here without the host.
    next_event_ns: Nanos,
    start_ns: Nanos,
    measure_start_ns: Nanos,
    counters_before: Option<Value>,
}

impl<'d, 'a, D: Device + Meters> Host<'d, 'a, D> {
    fn new(device: &'d mut D, tasks: &'a [Task<'_>]) -> Self {
        let (now_ns, queue_depth) = (device.now_ns(), device.queue_depth());
        let capacity_bytes = device.capacity_sectors() * SECTOR_BYTES;
        let mut slots = Vec::new();
        let mut jobs = Vec::new();
        for (task, index) in tasks.iter().zip(0u32..) {
            let depth = if task.job.is_open_loop() { queue_depth } else { task.job.queue_depth };
            let first = slots.len() as u32;
            slots.resize(
                slots.len() + depth as usize,
                Slot { issued_ns: IDLE, job: index, background: false },
            );
            jobs.push(ActiveJob::new(task, index, now_ns, capacity_bytes, first..first + depth));
        }
        let measure_start_ns = jobs.iter().map(|job| job.measure_start_ns).min().unwrap_or(now_ns);
        let waiting = Waiting::before(queue_depth, slots.len());
        Self {
            device,
            jobs,
            slots,
            waiting,
            outstanding: 0,
            busy: BusyTime::new(measure_start_ns),
            queue_depth,
            next_event_ns: now_ns,
            start_ns: now_ns,
            measure_start_ns,
            counters_before: None,
        }
    }

    fn run(&mut self, progress: &Progress) -> Result<(), WorkloadError> {
        let mut done: Vec<Completion> = Vec::with_capacity(self.queue_depth as usize);
        let mut now_ns = self.start_ns;
        self.wake(now_ns);
        let (mut looked_ns, mut timeless_looks) = (now_ns, 0);
        for turn in 0u64.. {
            if turn % TURNS_PER_LOOK == 0 {
                timeless_looks = if now_ns == looked_ns { timeless_looks + 1 } else { 0 };
                looked_ns = now_ns;
                if timeless_looks > TIMELESS_LOOKS && self.jobs.iter().any(|job| job.fraction(now_ns) < 1.0) {
                    let message = "the drive answers these requests in no time, so a time limit never comes";
                    return Err(WorkloadError::Misbehaved(message.to_owned()));
                }
                if progress.is_cancelled() {
                    return Err(WorkloadError::Cancelled);
                }
                let fractions = self.jobs.iter().map(|job| job.fraction(now_ns));
                progress.set_fraction(fractions.fold(1.0, f64::min));
            }
            if now_ns >= self.next_event_ns {
                self.issue_due(now_ns)?;
            }
            if self.outstanding > 0 {
                self.device.advance_to_completion(self.next_event_ns, &mut done);
            } else if self.next_event_ns != NEVER {
                self.device.advance(self.next_event_ns, &mut done);
            } else {
                break;
            }
            now_ns = self.device.now_ns();
            if now_ns >= self.next_event_ns {
                self.wake(now_ns);
            }
            for completion in &done {
                self.complete(completion, now_ns)?;
            }
            if done.is_empty() && now_ns < self.next_event_ns || now_ns == NEVER {
                let message = format!("{} commands never complete", self.outstanding);
                return Err(WorkloadError::Misbehaved(message));
            }
            done.clear();
        }
        let idle_until_ns = self.jobs.iter().map(|job| job.idle_until_ns).max().unwrap_or(0);
        if idle_until_ns > now_ns {
            self.device.advance(idle_until_ns, &mut done);
        }
        Ok(())
    }

    /// Starts jobs and measurements. Comes before the completions of the same instant, so that what the host
    /// does about these counts as measured.
    fn wake(&mut self, now_ns: Nanos) {
        if self.counters_before.is_none() && now_ns >= self.measure_start_ns {
            self.counters_before = Some(self.device.counters());
        }
        for job in &mut self.jobs {
            job.wake(now_ns, self.device);
        }
    }

    /// Issues what has become due, and finds the next such time.
    fn issue_due(&mut self, now_ns: Nanos) -> Result<(), WorkloadError> {
        for index in 0..self.jobs.len() {
            self.issue_all(index as u32, now_ns)?;
        }
        let snapshot = self.counters_before.is_none().then_some(self.measure_start_ns);
        let events = self.jobs.iter().filter_map(ActiveJob::next_event_ns);
        self.next_event_ns = events.chain(snapshot).min().unwrap_or(NEVER);
        Ok(())
    }

    #[inline]
    fn complete(&mut self, completion: &Completion, now_ns: Nanos) -> Result<(), WorkloadError> {
        let tag = completion.tag;
        let Some(slot) = self.slots.get_mut(tag as usize).filter(|slot| slot.issued_ns != IDLE) else {
            let message = format!("completed tag {tag}, which is not outstanding");
            return Err(WorkloadError::Misbehaved(message));
        };
        let issued_ns = std::mem::replace(&mut slot.issued_ns, IDLE);
        let (job, background) = (slot.job, slot.background);
        self.outstanding -= 1;
        self.busy.end(now_ns);
        if let Some((tag, request)) = self.waiting.pop() {
            self.submit(tag, &request, now_ns)?;
        }
        if self.jobs[job as usize].complete(completion, issued_ns, background) {
            if let Turn::Issue(request, from_ns) = self.jobs[job as usize].turn(now_ns, self.device) {
                return self.issue(tag, &request, from_ns, now_ns);
            }
            self.jobs[job as usize].release(tag);
            return Ok(());
        }
        self.jobs[job as usize].release(tag);
        self.issue_all(job, now_ns)
    }

    /// Issues requests of a job as long as it may and has free tags.
    fn issue_all(&mut self, index: u32, now_ns: Nanos) -> Result<(), WorkloadError> {
        while let Some(tag) = self.jobs[index as usize].take_free() {
            match self.jobs[index as usize].turn(now_ns, self.device) {
                Turn::Issue(request, from_ns) => self.issue(tag, &request, from_ns, now_ns)?,
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
        tag: u32,
        request: &Request,
        from_ns: Nanos,
        now_ns: Nanos,
    ) -> Result<(), WorkloadError> {
        let slot = &mut self.slots[tag as usize];
        (slot.issued_ns, slot.background) = (from_ns, request.background);
        if self.outstanding < self.queue_depth {
            return self.submit(tag, request, now_ns);
        }
        self.waiting.push(tag, *request);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, tag: u32, request: &Request, now_ns: Nanos) -> Result<(), WorkloadError> {
        let Request { op, fua, lba, sector_count, .. } = *request;
        let mut command = Command { fua, ..Command::new(tag, op, lba, sector_count) };
        if op == Op::Write {
            let job = self.slots[tag as usize].job;
            let job = &mut self.jobs[job as usize];
            command.content = job.contents.draw();
            command.hint = job.write_hint;
        }
        self.device.submit(now_ns, command)?;
        self.outstanding += 1;
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

    /// Lets the drive finish what it has, so that it can be used again after an error.
    fn drain(&mut self) {
        let mut done = Vec::new();
        while self.outstanding > 0 {
            let Some(time_ns) = self.device.next_event() else { return };
            self.device.advance(time_ns, &mut done);
            self.outstanding = self.outstanding.saturating_sub(done.len() as u32);
            done.clear();
        }
    }

    fn into_report(self) -> Report {
        let end_ns = self.device.now_ns();
        let counters_after = self.device.counters();
        Report {
            start_ns: self.start_ns,
            measure_start_ns: self.measure_start_ns.min(end_ns),
            end_ns,
            busy_ns: self.busy.sum_ns(),
            jobs: self.jobs.iter().map(ActiveJob::report).collect(),
            counters_before: self.counters_before.unwrap_or_else(|| counters_after.clone()),
            counters_after,
        }
    }
}
