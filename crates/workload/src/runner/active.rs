//! One job while it runs.

use drivelab_controller::{Completion, Device, Op, Outcome, SECTOR_BYTES};
use drivelab_sim::Nanos;

use super::ahead::{AHEAD, Ahead};
use crate::data::Contents;
use crate::generator::{Generator, Request};
use crate::job::Job;
use crate::measurement::Measurement;
use crate::pacing::Pacing;
use crate::report::JobReport;
use crate::requests::{Replay, Task};

enum Source<'a> {
    Generated(Box<Generator>),
    Replay(Replay<'a>),
}

/// What a job may do at a point in time.
pub(super) enum May {
    /// Issue the request.
    Issue,
    /// Nothing before this time.
    Wait(Nanos),
    /// Nothing before a completion, or ever again.
    Rest,
}

/// The fewest requests at one instant before a job that waits for time is given up. Twice as many as lead once over its
/// span are waited for, too: an ideal drive answers from its map what was never written, and takes time for the rest.
const TIMELESS_REQUESTS_MIN: u64 = 1 << 25;
/// And the most: half a minute's work or so.
const TIMELESS_REQUESTS_MAX: u64 = 1 << 28;

/// What a job may do, and which request that is about. Beside each other: an enum with a request inside is written down
/// piece by piece and read as a whole at once, which stalls the processor.
pub(super) struct Turn {
    pub may: May,
    /// What to issue; of no meaning otherwise.
    pub request: Request,
    /// From when that counts.
    pub from_ns: Nanos,
}

impl Turn {
    #[inline]
    fn without(may: May) -> Self {
        Self { may, request: Request::flush(), from_ns: 0 }
    }
}

pub(super) struct ActiveJob<'a> {
    job: Job,
    source: Source<'a>,
    /// Of the writes, in the order in which they are submitted.
    pub(super) contents: Contents,
    /// That comes with each of them.
    pub(super) write_hint: u8,
    ahead: Ahead,
    pacing: Pacing,
    immediate: bool,
    started: bool,
    measuring: bool,
    start_ns: Nanos,
    pub(super) measure_start_ns: Nanos,
    /// Completions from here on count: after the ramp's last instant, which belongs to the ramp.
    counts_from_ns: Nanos,
    runtime_ns: Option<Nanos>,
    /// From here on nothing is issued; 0 once the job has ended for another reason.
    stop_ns: Nanos,
    issued_bytes: u64,
    issued_count: u64,
    /// What that was when the clock was first seen to stand as it does.
    issued_before_now: u64,
    /// So many more, and time will never pass.
    timeless_requests: u64,
    /// Applies from `measure_start_ns` on.
    byte_limit: u64,
    /// What is left of `io_requests` from then on.
    requests_left: Option<u64>,
    /// The job still has to end with a flush.
    owes_flush: bool,
    /// Tags without a request.
    free: Vec<u32>,
    outstanding: u32,
    last_completion_ns: Nanos,
    last_awaited_ns: Nanos,
    /// A limited job that ran out of time while waiting has run until here.
    pub(super) idle_until_ns: Nanos,
    pub(super) measurement: Measurement,
}

impl<'a> ActiveJob<'a> {
    /// A job that takes its tags from `tags`. The task was validated.
    pub(super) fn new(
        task: &Task<'a>,
        index: u32,
        now_ns: Nanos,
        capacity_bytes: u64,
        tags: std::ops::Range<u32>,
    ) -> Self {
        let job = &task.job;
        let source = match task.requests {
            Some(requests) => Source::Replay(Replay::new(requests, job)),
            None => Source::Generated(Box::new(Generator::new(job, index, capacity_bytes))),
        };
        let whole = match (&source, job.time_based) {
            (Source::Generated(_), false) => job.span_bytes_on(capacity_bytes).saturating_mul(job.loops),
            _ => u64::MAX,
        };
        let byte_limit = if job.time_based { u64::MAX } else { job.io_bytes.unwrap_or(whole) };
        let start_ns = now_ns.saturating_add(job.start_ns);
        let measure_start_ns = start_ns.saturating_add(job.ramp_ns);
        let pacing = Pacing::new(job, index, start_ns);
        let requests_left = job.io_requests.filter(|_| !job.time_based);
        let smallest_bytes = job.block_sizes.iter().map(|size| size.bytes).min().unwrap_or(SECTOR_BYTES);
        Self {
            job: job.clone(),
            source,
            contents: Contents::new(&job.data, job.seed, index),
            write_hint: job.write_hint,
            ahead: Ahead::new(),
            immediate: pacing.is_immediate() && requests_left.is_none() && !job.flush_at_end,
            measurement: Measurement::new(measure_start_ns, job.series_interval_ns, pacing.is_open_loop()),
            pacing,
            started: false,
            measuring: job.ramp_ns == 0,
            start_ns,
            measure_start_ns,
            counts_from_ns: if job.ramp_ns == 0 { 0 } else { measure_start_ns.saturating_add(1) },
            runtime_ns: job.runtime_ns,
            stop_ns: job
                .runtime_ns
                .map_or(Nanos::MAX, |runtime_ns| measure_start_ns.saturating_add(runtime_ns)),
            issued_bytes: 0,
            issued_count: 0,
            issued_before_now: 0,
            timeless_requests: (2 * job.span_bytes_on(capacity_bytes) / smallest_bytes)
                .clamp(TIMELESS_REQUESTS_MIN, TIMELESS_REQUESTS_MAX),
            byte_limit,
            requests_left,
            owes_flush: false,
            // Popped from the end: lowest tag first.
            free: tags.rev().collect(),
            outstanding: 0,
            last_completion_ns: 0,
            last_awaited_ns: 0,
            idle_until_ns: 0,
        }
    }

    /// When the host next has to look at this job, completions apart.
    pub(super) fn next_event_ns(&self) -> Option<Nanos> {
        if !self.started {
            return Some(self.start_ns);
        }
        if self.has_ended() {
            return None;
        }
        let gate_ns = match self.ahead.first() {
            Some(request) if !self.free.is_empty() => self.pacing.earliest_ns(request),
            _ => None,
        };
        // A flush that the job ends with comes at its end, not when another request would.
        let gate_ns = gate_ns.map(|at| if self.owes_flush { at.min(self.stop_ns) } else { at });
        let measure_ns = (!self.measuring).then_some(self.measure_start_ns);
        gate_ns.into_iter().chain(measure_ns).min()
    }

    /// Starts the job or its measurement if the time has come.
    pub(super) fn wake(&mut self, now_ns: Nanos, device: &impl Device) {
        if !self.started && now_ns >= self.start_ns {
            self.started = true;
            for _ in 0..AHEAD {
                self.look_ahead(device);
            }
        }
        if !self.measuring && now_ns >= self.measure_start_ns {
            self.measuring = true;
            self.issued_bytes = 0;
        }
    }

    /// Draws one more request, if there is one, and tells the drive.
    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    fn look_ahead(&mut self, device: &impl Device) {
        // Not by way of an option, for the same reason as in `Turn`.
        let request = match &mut self.source {
            Source::Generated(generator) => generator.draw(),
            Source::Replay(replay) => match replay.draw() {
                Some(request) => request,
                None => return,
            },
        };
        device.prefetch(request.lba);
        self.ahead.push(request);
    }

    /// What to do with a free tag. What is issued is outstanding from now on.
    #[inline]
    pub(super) fn turn(&mut self, now_ns: Nanos, device: &impl Device) -> Turn {
        let turn = self.decide(now_ns, device);
        if let May::Issue = turn.may {
            self.begin(&turn);
        }
        turn
    }

    /// The same, of a tag whose request, with this operation, is done at this instant: if one takes its place, nothing is
    /// outstanding that was not, or not for no time at all, and no count has to hear of either.
    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    pub(super) fn turn_in_place(&mut self, of: Op, now_ns: Nanos, device: &impl Device) -> Turn {
        let turn = self.decide(now_ns, device);
        let issues = matches!(turn.may, May::Issue);
        if !(issues && turn.request.op == of && turn.from_ns == now_ns) {
            self.end(of, now_ns);
            if issues {
                self.begin(&turn);
            }
        }
        turn
    }

    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    fn decide(&mut self, now_ns: Nanos, device: &impl Device) -> Turn {
        if now_ns >= self.stop_ns || (self.issued_bytes >= self.byte_limit && self.measuring) {
            return self.end_issuing(now_ns);
        }
        let Some(&request) = self.ahead.first() else { return self.end_issuing(now_ns) };
        let mut from_ns = now_ns;
        if !self.immediate {
            if self.requests_left == Some(0) && self.measuring {
                return self.end_issuing(now_ns);
            }
            match self.pacing.earliest_ns(&request) {
                None => return Turn::without(May::Rest),
                Some(earliest_ns) if earliest_ns >= self.stop_ns => {
                    if self.owes_flush && now_ns < self.stop_ns {
                        return Turn::without(May::Wait(self.stop_ns));
                    }
                    self.idle_until_ns = self.stop_ns;
                    return self.end_issuing(now_ns);
                }
                Some(earliest_ns) if earliest_ns > now_ns => return Turn::without(May::Wait(earliest_ns)),
                Some(earliest_ns) if self.pacing.is_open_loop() => from_ns = earliest_ns,
                Some(_) => {}
            }
            self.pacing.issued(&request, now_ns);
            // One that was just issued is the last.
            self.owes_flush = self.job.flush_at_end && request.op != Op::Flush;
            if self.measuring && request.op != Op::Flush {
                self.requests_left = self.requests_left.map(|left| left - 1);
            }
        }
        self.ahead.pass();
        self.look_ahead(device);
        self.issued_bytes += u64::from(request.sector_count) * SECTOR_BYTES;
        self.issued_count += 1;
        Turn { may: May::Issue, request, from_ns }
    }

    /// Nothing is issued any more, but for the flush that some jobs end with, once everything else is done.
    #[inline(never)]
    fn end_issuing(&mut self, now_ns: Nanos) -> Turn {
        self.stop_ns = 0;
        if !self.owes_flush || self.outstanding > 0 {
            return Turn::without(May::Rest);
        }
        self.owes_flush = false;
        self.issued_count += 1;
        Turn { may: May::Issue, request: Request::flush(), from_ns: now_ns }
    }

    /// What a turn issues is outstanding.
    #[inline]
    fn begin(&mut self, turn: &Turn) {
        self.outstanding += 1;
        self.measurement.begin(turn.request.op, turn.from_ns);
    }

    /// A request is not outstanding any more.
    #[inline]
    fn end(&mut self, op: Op, completed_ns: Nanos) {
        self.outstanding -= 1;
        self.measurement.end(op, completed_ns);
    }

    /// Whether a tag may be used again at once, without asking for others.
    #[inline]
    pub(super) fn is_immediate(&self) -> bool {
        self.immediate
    }

    /// Takes note of what a completion says. The job hears by [`Self::turn_in_place`] that it is not outstanding any more.
    #[inline]
    pub(super) fn note(&mut self, completion: &Completion, counted_from_ns: Nanos) {
        self.last_completion_ns = completion.completed_ns;
        // What a drive that only reads any more refuses is neither fast nor slow.
        let was_refused = matches!(completion.outcome, Outcome::Refused | Outcome::Failed);
        if self.counts(completion) && !was_refused {
            self.measurement.record(completion, counted_from_ns);
        }
    }

    /// Takes note of a completion.
    #[inline]
    pub(super) fn complete(&mut self, completion: &Completion, counted_from_ns: Nanos, background: bool) {
        self.end(completion.op, completion.completed_ns);
        self.note(completion, counted_from_ns);
        if !self.immediate {
            self.pacing.completed(completion.completed_ns, self.outstanding, background);
            if !background {
                self.last_awaited_ns = completion.completed_ns;
            }
        }
    }

    /// Whether a completion belongs to what is measured.
    #[inline]
    pub(super) fn counts(&self, completion: &Completion) -> bool {
        completion.completed_ns >= self.counts_from_ns
    }

    /// Nothing more is issued.
    pub(super) fn stop(&mut self) {
        self.started = true;
        self.stop_ns = 0;
        self.owes_flush = false;
    }

    /// Gives a tag back.
    pub(super) fn release(&mut self, tag: u32) {
        self.free.push(tag);
    }

    /// A tag without a request, if the job has started.
    pub(super) fn take_free(&mut self) -> Option<u32> {
        if self.started { self.free.pop() } else { None }
    }

    fn has_ended(&self) -> bool {
        self.started && self.stop_ns == 0
    }

    /// The clock has moved since the host last looked at it.
    pub(super) fn note_time(&mut self) {
        self.issued_before_now = self.issued_count;
    }

    /// Whether the job has had so many requests answered at this instant that the time which alone can end it, or its
    /// ramp, will not come.
    pub(super) fn waits_for_ever(&self) -> bool {
        let by_time =
            matches!(self.source, Source::Generated(_)) && (!self.measuring || self.byte_limit == u64::MAX);
        by_time && !self.has_ended() && self.issued_count - self.issued_before_now > self.timeless_requests
    }

    /// Share of the job that is done.
    pub(super) fn fraction(&self, now_ns: Nanos) -> f64 {
        if self.has_ended() {
            return 1.0;
        }
        let share = |done: u64, all: u64| if all == 0 { 1.0 } else { done as f64 / all as f64 };
        let time = self.runtime_ns.map_or(0.0, |runtime_ns| {
            let total_ns = (self.measure_start_ns - self.start_ns).saturating_add(runtime_ns);
            share(now_ns.saturating_sub(self.start_ns), total_ns)
        });
        let bytes = if self.measuring { share(self.issued_bytes, self.byte_limit) } else { 0.0 };
        let count = match &self.source {
            Source::Generated(_) => self.requests_left.map_or(0.0, |left| {
                let all = self.job.io_requests.unwrap_or(left);
                share(all - left, all)
            }),
            Source::Replay(replay) => share(self.issued_count, replay.len() as u64),
        };
        time.max(bytes).max(count).min(1.0)
    }

    pub(super) fn name(&self) -> &str {
        &self.job.name
    }

    pub(super) fn report(&self) -> JobReport {
        let end_ns = self.last_completion_ns.max(self.idle_until_ns);
        let runtime_ns = end_ns.saturating_sub(self.measure_start_ns);
        let waited_ns = self.last_awaited_ns.max(self.idle_until_ns).saturating_sub(self.measure_start_ns);
        let waited_ns = self.job.thinks().then_some(waited_ns);
        JobReport::new(&self.job, runtime_ns, waited_ns, &self.measurement)
    }
}
