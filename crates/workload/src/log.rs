//! Every request of a run, one by one.

use drivelab_controller::{Completion, Outcome, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::table::reserve_in_huge_pages;

use crate::requests::op_code;

/// Rows that wait to become columns: a request writes one place of memory, and each column is then written a stretch at
/// a time. So few that they stay in the processor's nearest cache.
const WAITING_ROWS: usize = 128;

/// Declares the log as columns and one request as a row, with the same fields.
macro_rules! log {
    ($($(#[$text:meta])* $field:ident: $type:ty),+ $(,)?) => {
        /// Requests in the order in which they were done, as columns of one length.
        #[derive(Clone, Debug, Default)]
        pub struct RequestLog {
            $($(#[$text])* pub $field: Vec<$type>),+
        }

        #[derive(Clone, Copy, Debug)]
        struct Row {
            $($field: $type),+
        }

        impl RequestLog {
            fn extend(&mut self, rows: &[Row]) {
                $(
                    reserve_in_huge_pages(&mut self.$field, rows.len());
                    self.$field.extend(rows.iter().map(|row| row.$field));
                )+
            }
        }
    };
}

log! {
    /// Which of the run's jobs.
    job: u32,
    /// 0 read, 1 write, 2 flush, 3 trim.
    op: u8,
    /// First byte.
    offset_bytes: u64,
    /// Bytes; 0 for flushes.
    length_bytes: u64,
    /// 0 done, 1 uncorrectable, 2 refused, 3 failed.
    outcome: u8,
    /// From when it counts: its job issued it, or (open loop) it arrived. This and the times below are since the log's
    /// origin.
    issued_ns: Nanos,
    /// The drive was handed it.
    submitted_ns: Nanos,
    /// The host heard that it was done.
    completed_ns: Nanos,
    /// From issued to completed.
    latency_ns: Nanos,
    /// Parts of its latency, which add up to it; waiting in the host counts as queueing.
    queueing_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::link_ns`].
    link_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::firmware_ns`].
    firmware_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::flash_ns`].
    flash_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::cleaning_ns`].
    cleaning_ns: Nanos,
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
}

/// A log that is being written.
#[derive(Clone, Debug)]
pub(crate) struct LogWriter {
    /// The time of the drive's clock at which the log's times are 0.
    origin_ns: Nanos,
    rows: Vec<Row>,
    columns: RequestLog,
}

impl LogWriter {
    pub(crate) fn new(origin_ns: Nanos) -> Self {
        Self { origin_ns, rows: Vec::with_capacity(WAITING_ROWS), columns: RequestLog::default() }
    }

    #[inline]
    pub(crate) fn record(&mut self, job: u32, lba: u64, issued_ns: Nanos, done: &Completion) {
        if self.rows.len() == WAITING_ROWS {
            self.write_columns();
        }
        self.rows.push(Row {
            job,
            op: op_code(done.op),
            offset_bytes: lba * SECTOR_BYTES,
            length_bytes: u64::from(done.sector_count) * SECTOR_BYTES,
            outcome: outcome_code(done.outcome),
            issued_ns: issued_ns - self.origin_ns,
            submitted_ns: done.submitted_ns - self.origin_ns,
            completed_ns: done.completed_ns - self.origin_ns,
            latency_ns: done.completed_ns - issued_ns,
            queueing_ns: done.split.queueing_ns + (done.submitted_ns - issued_ns),
            link_ns: done.split.link_ns,
            firmware_ns: done.split.firmware_ns,
            flash_ns: done.split.flash_ns,
            cleaning_ns: done.split.cleaning_ns,
        });
    }

    /// What was written since the last call.
    pub(crate) fn take(&mut self) -> RequestLog {
        self.write_columns();
        std::mem::take(&mut self.columns)
    }

    #[inline(never)]
    fn write_columns(&mut self) {
        self.columns.extend(&self.rows);
        self.rows.clear();
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
