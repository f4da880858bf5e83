//! The host: several jobs that share one drive, in the drive's virtual time.
//!
//! The life of a request: drawn a few turns ahead (so that the drive can prefetch its map entry) -> issued when
//! its job may -> in the host's queue while the drive's is full -> in the drive -> completion -> measured, and
//! its tag issues the next. A closed loop touches nothing but the request, its slot and the histogram.

mod active;
mod ahead;
mod issuing;
mod logging;
mod queues;
mod splitting;
mod waiting;

use std::mem;

use drivelab_controller::{Completion, Device, Op, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;
use serde_json::Value;

use crate::busy::BusyTime;
use crate::drive_series::DriveSeries;
use crate::error::WorkloadError;
use crate::job::Source;
use crate::latency_parts::AboutEqual;
use crate::log::LogWriter;
use crate::measurement::KindMeasurement;
use crate::meter::Meters;
use crate::progress::Progress;
use crate::report::Report;
use crate::requests::{Task, op_code};
use active::ActiveJob;
use splitting::Splitting;
use waiting::Waiting;

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
    let mut run = Run::begin(drive, tasks)?;
    run.advance(drive, NEVER, progress)?;
    Ok(run.report(drive))
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
    lba: u64,
    job: u32,
    /// The submission queue of its job.
    queue: u16,
    /// Nobody waits for it.
    background: bool,
}

/// Jobs on a drive, as far as they have come: [`run`] in pieces, between which one may look at the drive.
///
/// It goes on with the same drive, to which nothing else is done meanwhile. Where it is stopped in between changes
/// nothing of what comes.
pub struct Run<'a> {
    jobs: Vec<ActiveJob<'a>>,
    /// By tag.
    slots: Vec<Slot>,
    /// Requests that the drive's queue has no room for.
    waiting: Waiting,
    /// In the drive.
    outstanding: u32,
    busy: BusyTime,
    /// Commands that the drive takes before requests wait in front of it.
    queue_depth: u32,
    /// Where requests may be larger than commands; then no request is handed over as it is, and none waits in `waiting`.
    splitting: Option<Box<Splitting>>,
    /// Requests are handed over as they are while so many commands are outstanding: the queue's depth, or none.
    hands_over_below: u32,
    /// The drive runs at most until here without the host.
    next_event_ns: Nanos,
    start_ns: Nanos,
    measure_start_ns: Nanos,
    counters_before: Option<Value>,
    series: DriveSeries,
    log: Option<LogWriter>,
    stopped: bool,
    /// What the drive said last; kept, so that no turn allocates.
    done: Vec<Completion>,
    turns: u64,
    looked_ns: Nanos,
}

impl<'a> Run<'a> {
    /// Starts jobs on a drive that has no commands outstanding.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] if a job or its requests are not allowed.
    pub fn begin<D: Device + Meters>(device: &mut D, tasks: &[Task<'a>]) -> Result<Self, WorkloadError> {
        validate(device, tasks)?;
        let (now_ns, queue_depth) = (device.now_ns(), device.queue_depth());
        let capacity_bytes = device.capacity_sectors() * SECTOR_BYTES;
        let (queues, classes) = queues::arrange(device, tasks)?;
        device.set_queue_classes(&classes);
        let mut slots = Vec::new();
        let mut jobs = Vec::new();
        for (task, index) in tasks.iter().zip(0u32..) {
            let depth = if task.job.is_open_loop() { queue_depth } else { task.job.queue_depth };
            let (first, queue) = (slots.len() as u32, queues[index as usize]);
            slots.resize(
                slots.len() + depth as usize,
                Slot { issued_ns: IDLE, lba: 0, job: index, queue, background: false },
            );
            jobs.push(ActiveJob::new(task, index, now_ns, capacity_bytes, first..first + depth));
        }
        let measure_start_ns = jobs.iter().map(|job| job.measure_start_ns).min().unwrap_or(now_ns);
        let interval_ns = tasks.iter().map(|task| task.job.series_interval_ns).min().unwrap_or(NEVER);
        let waiting = Waiting::before(queue_depth, slots.len());
        let splitting = Splitting::needed(tasks, device.max_transfer_sectors(), slots.len());
        let mut run = Self {
            jobs,
            slots,
            waiting,
            outstanding: 0,
            busy: BusyTime::new(measure_start_ns),
            queue_depth,
            hands_over_below: if splitting.is_some() { 0 } else { queue_depth },
            splitting,
            next_event_ns: now_ns,
            start_ns: now_ns,
            measure_start_ns,
            counters_before: None,
            series: DriveSeries::new(measure_start_ns, interval_ns),
            log: None,
            stopped: false,
            done: Vec::with_capacity(queue_depth as usize),
            turns: 0,
            looked_ns: now_ns,
        };
        run.wake(device, now_ns);
        run.sample(device, now_ns);
        Ok(run)
    }

    /// Goes on until `until_ns` of the drive's clock, or until every job has ended and its requests are done, which
    /// is what it returns. Then the drive is left at the time of the last completion.
    ///
    /// # Errors
    /// [`WorkloadError::Cancelled`] if asked to stop, [`WorkloadError::Timeless`] for a job whose time never comes,
    /// [`WorkloadError::Refused`] and [`WorkloadError::Misbehaved`] if the drive breaks its interface. Requests in flight
    /// are completed first; the run can't go on.
    pub fn advance<D: Device + Meters>(
        &mut self,
        device: &mut D,
        until_ns: Nanos,
        progress: &Progress,
    ) -> Result<bool, WorkloadError> {
        let ended = self.go_on(device, until_ns, progress);
        match ended {
            Ok(true) => progress.set_fraction(1.0),
            Ok(false) => {}
            Err(_) => self.drain(device),
        }
        ended
    }

    /// When the first job begins to measure, and when the last one does: after their ramps.
    #[must_use]
    pub fn measures_from_ns(&self) -> (Nanos, Nanos) {
        let starts = self.jobs.iter().map(|job| job.measure_start_ns);
        (self.measure_start_ns, starts.max().unwrap_or(self.measure_start_ns))
    }

    /// Issues nothing more: the run ends with the requests that are outstanding, and waits for no ramp.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.jobs.iter_mut().for_each(ActiveJob::stop);
        self.next_event_ns = 0;
    }

    fn go_on<D: Device + Meters>(
        &mut self,
        device: &mut D,
        until_ns: Nanos,
        progress: &Progress,
    ) -> Result<bool, WorkloadError> {
        let mut done = mem::take(&mut self.done);
        let mut now_ns = device.now_ns();
        loop {
            if self.turns.is_multiple_of(TURNS_PER_LOOK) {
                self.look(now_ns, progress)?;
            }
            self.turns += 1;
            if now_ns >= self.next_event_ns {
                self.issue_due(device, now_ns)?;
            }
            let limit_ns = self.next_event_ns.min(until_ns).min(self.series.next_ns);
            if self.outstanding > 0 {
                device.advance_to_completion(limit_ns, &mut done);
            } else if self.next_event_ns != NEVER {
                device.advance(limit_ns, &mut done);
            } else {
                break;
            }
            now_ns = device.now_ns();
            self.sample(device, now_ns);
            if now_ns >= self.next_event_ns {
                self.wake(device, now_ns);
            }
            for completion in &done {
                self.complete(device, completion, now_ns)?;
            }
            if done.is_empty() && now_ns < limit_ns || now_ns == NEVER {
                let message = format!("{} commands never complete", self.outstanding);
                return Err(WorkloadError::Misbehaved(message));
            }
            done.clear();
            if now_ns >= until_ns {
                self.done = done;
                return Ok(false);
            }
        }
        let idle_until_ns = self.jobs.iter().map(|job| job.idle_until_ns).max().unwrap_or(0);
        while now_ns < idle_until_ns.min(until_ns) {
            device.advance(idle_until_ns.min(until_ns).min(self.series.next_ns), &mut done);
            now_ns = device.now_ns();
            self.sample(device, now_ns);
        }
        self.done = done;
        Ok(idle_until_ns <= until_ns)
    }

    /// Says how far the run is, and hears whether it shall go on.
    fn look(&mut self, now_ns: Nanos, progress: &Progress) -> Result<(), WorkloadError> {
        if now_ns != self.looked_ns {
            self.jobs.iter_mut().for_each(ActiveJob::note_time);
        } else if let Some(job) = self.jobs.iter().find(|job| job.waits_for_ever()) {
            return Err(WorkloadError::Timeless { job: job.name().to_owned() });
        }
        self.looked_ns = now_ns;
        if progress.is_cancelled() {
            return Err(WorkloadError::Cancelled);
        }
        let fractions = self.jobs.iter().map(|job| job.fraction(now_ns));
        progress.set_fraction(fractions.fold(1.0, f64::min));
        Ok(())
    }

    /// Starts jobs and measurements. Comes before the completions of the same instant, so that what the host
    /// does about these counts as measured.
    fn wake<D: Device + Meters>(&mut self, device: &D, now_ns: Nanos) {
        if self.counters_before.is_none() && now_ns >= self.measure_start_ns {
            self.counters_before = Some(device.counters());
        }
        for job in &mut self.jobs {
            job.wake(now_ns, device);
        }
    }

    /// Notes how the drive is, if the end of an interval has come.
    #[inline]
    fn sample(&mut self, device: &impl Meters, now_ns: Nanos) {
        if now_ns >= self.series.next_ns {
            self.series.sample(now_ns, &device.gauges());
        }
    }

    /// Lets the drive finish what it has, so that it can be used again after an error.
    fn drain(&mut self, device: &mut impl Device) {
        let mut done = Vec::new();
        while self.outstanding > 0 {
            let Some(time_ns) = device.next_event() else { return };
            device.advance(time_ns, &mut done);
            self.outstanding = self.outstanding.saturating_sub(done.len() as u32);
            done.clear();
        }
    }

    /// What has been measured of a run that has ended.
    #[must_use]
    pub fn report<D: Device + Meters>(&self, device: &D) -> Report {
        let end_ns = device.now_ns();
        let counters_after = device.counters();
        Report {
            start_ns: self.start_ns,
            measure_start_ns: self.measure_start_ns.min(end_ns),
            end_ns,
            busy_ns: self.busy.sum_ns(),
            jobs: self.jobs.iter().map(ActiveJob::report).collect(),
            drive_series: self.series.report(end_ns, &device.gauges()),
            counters_before: self.counters_before.clone().unwrap_or_else(|| counters_after.clone()),
            counters_after,
        }
    }

    /// Reads and writes that have been measured so far, of all jobs: by job and kind, the fastest first.
    #[must_use]
    pub fn latencies_so_far(&self) -> Vec<AboutEqual> {
        let transfers =
            self.jobs.iter().flat_map(|job| &job.measurement.kinds[..=usize::from(op_code(Op::Write))]);
        transfers.flat_map(|kind| kind.parts.by_latency()).collect()
    }

    /// What has been measured so far, for each job and kind of command.
    #[must_use]
    pub fn so_far(&self) -> Vec<[SoFar; 4]> {
        let counted = |kind: &KindMeasurement| SoFar {
            count: kind.latency.count(),
            bytes: kind.sectors * SECTOR_BYTES,
            latency_sum_ns: kind.latency.sum_ns(),
        };
        self.jobs.iter().map(|job| job.measurement.kinds.each_ref().map(counted)).collect()
    }
}

/// What has been measured so far of one kind of command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar {
    /// Commands done.
    pub count: u64,
    /// Bytes transferred or trimmed.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u128,
}
