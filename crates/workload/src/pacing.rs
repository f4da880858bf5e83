//! When a job may issue its next request: rate limits, think time, and programs that wait and compute.

use drivelab_controller::{Op, SECTOR_BYTES};
use drivelab_sim::time::SECOND;
use drivelab_sim::{Nanos, Stream};

use crate::generator::Request;
use crate::job::{Job, RateProcess};

/// Streams of distances are numbered from here, one for each job of a run.
const PURPOSE_FIRST: u64 = 0x5241_5445_0000;

/// A schedule of so many units (requests or bytes) per second. At even distances it is kept exactly: the remainder of
/// every division is carried on, so that no rate drifts.
#[derive(Clone, Debug)]
struct Rate {
    per_second: u64,
    /// When the next request is due, after the start of the job.
    due_ns: Nanos,
    remainder: u64,
    /// Distances are drawn from it, distributed exponentially; `None`: even ones.
    chance: Option<Stream>,
}

impl Rate {
    fn new(per_second: u64, chance: Option<Stream>) -> Self {
        Self { per_second, due_ns: 0, remainder: 0, chance }
    }

    fn issued(&mut self, units: u64) {
        if let Some(chance) = &mut self.chance {
            let mean_ns = units as f64 * SECOND as f64 / self.per_second as f64;
            let distance_ns = -(1.0 - chance.unit()).ln() * mean_ns;
            self.due_ns = self.due_ns.saturating_add(distance_ns.round() as Nanos);
            return;
        }
        // At most 2^30 bytes * 10^9 + remainder when generated; saturates for absurd handed-over requests.
        let scaled = units.saturating_mul(SECOND).saturating_add(self.remainder);
        self.due_ns = self.due_ns.saturating_add(scaled / self.per_second);
        self.remainder = scaled % self.per_second;
    }
}

/// A pause after every so many requests, from when all of them are done (as fio does it).
#[derive(Clone, Copy, Debug)]
struct Think {
    time_ns: Nanos,
    blocks: u64,
    left: u64,
    until_ns: Nanos,
}

/// A program that waits for what it asked for and then computes: see [`crate::Program`].
#[derive(Clone, Copy, Debug)]
struct Processor {
    /// Requests outstanding that the program waits for.
    awaited: u32,
    /// Since when it could go on, if it waits for nothing.
    ready_ns: Nanos,
}

/// Limits of one job. A flush counts in none of them, as with fio: it waits for no rate, only for a pause that
/// is under way.
#[derive(Clone, Debug)]
pub struct Pacing {
    start_ns: Nanos,
    iops: Option<Rate>,
    bytes: Option<Rate>,
    think: Option<Think>,
    processor: Option<Processor>,
    open_loop: bool,
}

impl Pacing {
    /// The limits of a validated job that starts at `start_ns` of the drive's clock. `index` is its number in the run.
    #[must_use]
    pub fn new(job: &Job, index: u32, start_ns: Nanos) -> Self {
        let rate = |per_second| {
            let is_by_chance = job.rate_process == RateProcess::Poisson;
            let chance = || Stream::new(job.seed, PURPOSE_FIRST + u64::from(index));
            Rate::new(per_second, is_by_chance.then(chance))
        };
        let think = Think {
            time_ns: job.thinktime_ns,
            blocks: job.thinktime_blocks,
            left: job.thinktime_blocks,
            until_ns: 0,
        };
        Self {
            start_ns,
            iops: job.rate_iops.map(rate),
            bytes: job.rate_bytes_per_s.map(rate),
            think: (job.thinktime_ns > 0).then_some(think),
            processor: job.thinks().then_some(Processor { awaited: 0, ready_ns: start_ns }),
            open_loop: job.is_open_loop(),
        }
    }

    /// Whether requests come at their own times.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.open_loop
    }

    /// Whether a request is issued as soon as another is done: nothing here to ask.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        self.iops.is_none()
            && self.bytes.is_none()
            && self.think.is_none()
            && self.processor.is_none()
            && !self.open_loop
    }

    /// From when on a request, which is the next, may be issued; `None`: not before outstanding ones are done.
    #[must_use]
    pub fn earliest_ns(&self, request: &Request) -> Option<Nanos> {
        let mut after_start_ns = if self.open_loop { request.delay_ns } else { 0 };
        if request.op != Op::Flush {
            for rate in [&self.iops, &self.bytes].into_iter().flatten() {
                after_start_ns = after_start_ns.max(rate.due_ns);
            }
        }
        let mut earliest_ns = self.start_ns.saturating_add(after_start_ns);
        if let Some(processor) = &self.processor
            && request.delay_ns > 0
        {
            if processor.awaited > 0 {
                return None;
            }
            earliest_ns = earliest_ns.max(processor.ready_ns.saturating_add(request.delay_ns));
        }
        match &self.think {
            None => Some(earliest_ns),
            Some(think) if think.left == 0 => None,
            Some(think) => Some(earliest_ns.max(think.until_ns)),
        }
    }

    /// A request was issued at `now_ns`.
    pub fn issued(&mut self, request: &Request, now_ns: Nanos) {
        if request.op != Op::Flush {
            if let Some(rate) = &mut self.iops {
                rate.issued(1);
            }
            if let Some(rate) = &mut self.bytes {
                rate.issued(u64::from(request.sector_count) * SECTOR_BYTES);
            }
            if let Some(think) = &mut self.think {
                think.left -= 1;
            }
        }
        if let Some(processor) = &mut self.processor {
            processor.awaited += u32::from(!request.background);
            processor.ready_ns = now_ns;
        }
    }

    /// A request was done at `now_ns`, and `outstanding` are not. `background`: nobody waited for it.
    pub fn completed(&mut self, now_ns: Nanos, outstanding: u32, background: bool) {
        if let Some(processor) = &mut self.processor
            && !background
        {
            processor.awaited -= 1;
            processor.ready_ns = processor.ready_ns.max(now_ns);
        }
        if let Some(think) = &mut self.think
            && think.left == 0
            && outstanding == 0
        {
            think.left = think.blocks;
            think.until_ns = now_ns.saturating_add(think.time_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{ReplayPacing, Rw, Source};
    use drivelab_controller::Op;

    fn request(delay_ns: Nanos, background: bool) -> Request {
        Request { op: Op::Read, fua: false, lba: 0, sector_count: 8, delay_ns, background }
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_does_not_drift() {
        let mut rate = Rate::new(7, None);
        (0..7_000_000).for_each(|_| rate.issued(1));
        assert_eq!(rate.due_ns, 1_000_000 * SECOND);
        let mut rate = Rate::new(3_000_001, None);
        (0..3_000_001).for_each(|_| rate.issued(4096));
        assert_eq!(rate.due_ns, 4096 * SECOND);
    }

    #[test]
    fn thinking_starts_when_all_are_done() {
        let mut job = Job::new("think", Rw::RandRead, 4096, 2);
        (job.thinktime_ns, job.thinktime_blocks) = (500, 2);
        let mut pacing = Pacing::new(&job, 0, 100);
        let request = request(0, false);
        assert_eq!(pacing.earliest_ns(&request), Some(100));
        pacing.issued(&request, 100);
        pacing.issued(&request, 100);
        assert_eq!(pacing.earliest_ns(&request), None);
        pacing.completed(150, 1, false);
        assert_eq!(pacing.earliest_ns(&request), None);
        pacing.completed(170, 0, false);
        assert_eq!(pacing.earliest_ns(&request), Some(670));
    }

    #[test]
    fn a_program_computes_once_it_has_what_it_waits_for() {
        let mut job = Job::new("program", Rw::Read, 4096, 8);
        job.source = Source::Requests { pacing: ReplayPacing::Think, idle_cap_ns: None };
        let mut pacing = Pacing::new(&job, 0, 100);
        assert!(!pacing.is_immediate());
        assert_eq!(pacing.earliest_ns(&request(40, false)), Some(140));
        pacing.issued(&request(40, false), 140);
        assert_eq!(pacing.earliest_ns(&request(0, true)), Some(100), "together with the one before");
        pacing.issued(&request(0, true), 140);
        assert_eq!(pacing.earliest_ns(&request(5, false)), None, "waits for the read");
        pacing.completed(200, 1, false);
        assert_eq!(pacing.earliest_ns(&request(5, false)), Some(205), "not for the write");
        pacing.issued(&request(5, true), 205);
        assert_eq!(pacing.earliest_ns(&request(7, false)), Some(212), "from when the write was handed over");
        pacing.completed(209, 1, true);
        assert_eq!(pacing.earliest_ns(&request(7, false)), Some(212));
    }
}
