//! Requests handed over as arrays, and the source that replays them.

use drivelab_controller::Op;
use drivelab_sim::Nanos;

use crate::error::WorkloadError;
use crate::generator::Request;
use crate::job::{Job, ReplayPacing, Source};

/// Columns of requests, all of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    /// 0 read, 1 write, 2 flush, 3 trim.
    pub op: &'a [u8],
    /// First sector.
    pub lba: &'a [u64],
    /// Sectors; 0 for flushes only.
    pub sector_count: &'a [u32],
    /// Arrival after the start of the run, ascending.
    pub arrival_ns: Option<&'a [Nanos]>,
    /// What a program does besides; needed with pacing `think`, and used only there.
    pub program: Option<Program<'a>>,
}

/// When a program hands over each of its requests.
///
/// Request i is handed over as soon as fewer than `queue_depth` are outstanding and
/// - `think_ns[i]` is 0: request i - 1 was handed over;
/// - otherwise: `think_ns[i]` has passed since the program had everything it waits for, that is since the last
///   completion of the requests before i that are not in the background, but not since before request i - 1 was
///   handed over. (Before any request: since the job's start.)
///
/// So requests with 0 after one with processor time go out together; 1 ns is the least that orders them.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Processor time before the request.
    pub think_ns: &'a [Nanos],
    /// Not 0: the program doesn't wait for it, as for a write that the operating system has taken over.
    pub background: &'a [u8],
}

/// A job, and its requests if it brings its own.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The job.
    pub job: Job,
    /// Needed if the job's source is `requests`, and only then.
    pub requests: Option<Requests<'a>>,
}

impl From<Job> for Task<'_> {
    fn from(job: Job) -> Self {
        Self { job, requests: None }
    }
}

/// The number of an operation in traces and arrays.
#[must_use]
pub fn op_code(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
    }
}

/// The operation of a number.
#[must_use]
pub fn op_of_code(code: u8) -> Option<Op> {
    [Op::Read, Op::Write, Op::Flush, Op::Trim].get(usize::from(code)).copied()
}

impl Requests<'_> {
    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Checks all of them against a drive's size.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] naming the first element that is not allowed.
    pub fn validate(&self, capacity_sectors: u64, needs_arrival: bool) -> Result<(), WorkloadError> {
        let count = self.len();
        let lengths = [
            ("lba", Some(self.lba.len())),
            ("sector_count", Some(self.sector_count.len())),
            ("arrival_ns", self.arrival_ns.map(<[_]>::len)),
            ("think_ns", self.program.map(|program| program.think_ns.len())),
            ("background", self.program.map(|program| program.background.len())),
        ];
        for (key, length) in lengths {
            if length.is_some_and(|length| length != count) {
                let allowed = format!("must be that of op, {count}");
                return Err(WorkloadError::invalid(
                    format!("length of {key}"),
                    length.unwrap_or_default(),
                    allowed,
                ));
            }
        }
        if needs_arrival && self.arrival_ns.is_none() {
            return Err(WorkloadError::invalid(
                "arrival_ns",
                "none",
                "must be given with pacing arrival or capped",
            ));
        }
        for (index, ((&code, &lba), &sectors)) in
            self.op.iter().zip(self.lba).zip(self.sector_count).enumerate()
        {
            let refuse = |key: &str, value: u64, allowed: String| {
                Err(WorkloadError::invalid(format!("{key}[{index}]"), value, allowed))
            };
            let Some(op) = op_of_code(code) else {
                let allowed = "must be 0 (read), 1 (write), 2 (flush) or 3 (trim)".to_owned();
                return refuse("op", code.into(), allowed);
            };
            if op == Op::Flush {
                continue;
            }
            if sectors == 0 {
                return refuse("sector_count", 0, "must be at least 1, except for flushes".to_owned());
            }
            if lba >= capacity_sectors || capacity_sectors - lba < u64::from(sectors) {
                let allowed = format!(
                    "with {sectors} sectors leaves the drive of {capacity_sectors} sectors; offsets of a trace can \
                     be wrapped (modulo) or renumbered (compact)"
                );
                return refuse("lba", lba, allowed);
            }
        }
        if let Some(arrivals) = self.arrival_ns
            && let Some(index) = arrivals.windows(2).position(|pair| pair[0] > pair[1])
        {
            let allowed = format!("must not be less than the one before, {}", arrivals[index]);
            return Err(WorkloadError::invalid(
                format!("arrival_ns[{}]", index + 1),
                arrivals[index + 1],
                allowed,
            ));
        }
        Ok(())
    }
}

/// Reads through arrays of requests that were validated.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    requests: Requests<'a>,
    next: usize,
    fua: bool,
    idle_cap_ns: Nanos,
    thinks: bool,
    /// Of the request before, as recorded and as replayed; both 0 at the start.
    recorded_ns: Nanos,
    due_ns: Nanos,
}

impl<'a> Replay<'a> {
    /// Replays `requests` as `job` says.
    #[must_use]
    pub fn new(requests: Requests<'a>, job: &Job) -> Self {
        let idle_cap_ns = match job.source {
            Source::Requests { pacing: ReplayPacing::Capped, idle_cap_ns } => {
                idle_cap_ns.unwrap_or(Nanos::MAX)
            }
            _ => Nanos::MAX,
        };
        let thinks = job.thinks();
        Self { requests, next: 0, fua: job.fua, idle_cap_ns, thinks, recorded_ns: 0, due_ns: 0 }
    }

    /// Number of requests in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The next request, or `None` after the last.
    #[inline]
    pub fn draw(&mut self) -> Option<Request> {
        let index = self.next;
        let op = op_of_code(*self.requests.op.get(index)?)?;
        self.next += 1;
        if let Some(arrivals) = self.requests.arrival_ns {
            let gap = arrivals[index].saturating_sub(self.recorded_ns);
            self.recorded_ns = arrivals[index];
            self.due_ns = self.due_ns.saturating_add(gap.min(self.idle_cap_ns));
        }
        let (delay_ns, background) = match self.requests.program {
            Some(program) if self.thinks => (program.think_ns[index], program.background[index] != 0),
            _ => (self.due_ns, false),
        };
        let flush = op == Op::Flush;
        Some(Request {
            op,
            fua: self.fua && op == Op::Write,
            lba: if flush { 0 } else { self.requests.lba[index] },
            sector_count: if flush { 0 } else { self.requests.sector_count[index] },
            delay_ns,
            background,
        })
    }
}
