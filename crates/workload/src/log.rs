//! Every request of a run, one by one.

use drivelab_controller::{Completion, Outcome};
use drivelab_sim::Nanos;

use crate::requests::op_code;

/// Requests in the order in which they were done, as columns of one length. Times are those of the drive's clock.
#[derive(Clone, Debug, Default)]
pub struct RequestLog {
    /// Which of the run's jobs.
    pub job: Vec<u32>,
    /// 0 read, 1 write, 2 flush, 3 trim.
    pub op: Vec<u8>,
    /// First sector.
    pub lba: Vec<u64>,
    /// Sectors; 0 for flushes.
    pub sector_count: Vec<u32>,
    /// 0 done, 1 uncorrectable, 2 refused, 3 failed.
    pub outcome: Vec<u8>,
    /// From when it counts: its job issued it, or (open loop) it arrived.
    pub issued_ns: Vec<Nanos>,
    /// The drive was handed it.
    pub submitted_ns: Vec<Nanos>,
    /// The host heard that it was done.
    pub completed_ns: Vec<Nanos>,
    /// Parts of its latency, which add up to `completed_ns - issued_ns`; waiting in the host counts as queueing.
    pub queueing_ns: Vec<Nanos>,
    /// See [`drivelab_controller::LatencySplit::link_ns`].
    pub link_ns: Vec<Nanos>,
    /// See [`drivelab_controller::LatencySplit::firmware_ns`].
    pub firmware_ns: Vec<Nanos>,
    /// See [`drivelab_controller::LatencySplit::flash_ns`].
    pub flash_ns: Vec<Nanos>,
    /// See [`drivelab_controller::LatencySplit::cleaning_ns`].
    pub cleaning_ns: Vec<Nanos>,
}

impl RequestLog {
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

    pub(crate) fn record(&mut self, job: u32, lba: u64, issued_ns: Nanos, done: &Completion) {
        self.job.push(job);
        self.op.push(op_code(done.op));
        self.lba.push(lba);
        self.sector_count.push(done.sector_count);
        self.outcome.push(outcome_code(done.outcome));
        self.issued_ns.push(issued_ns);
        self.submitted_ns.push(done.submitted_ns);
        self.completed_ns.push(done.completed_ns);
        self.queueing_ns.push(done.split.queueing_ns + (done.submitted_ns - issued_ns));
        self.link_ns.push(done.split.link_ns);
        self.firmware_ns.push(done.split.firmware_ns);
        self.flash_ns.push(done.split.flash_ns);
        self.cleaning_ns.push(done.split.cleaning_ns);
    }
}

fn outcome_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Uncorrectable => 1,
        Outcome::Refused => 2,
        Outcome::Failed => 3,
    }
}
