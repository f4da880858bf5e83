//! Every request of a run, one by one.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use drivelab_controller::{Completion, Outcome, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::table::reserve_in_huge_pages;

use crate::requests::op_code;

/// Rows that wait to become columns: a request writes one place of memory, and each column is then written a stretch at
/// a time. So few that they stay in the processor's nearest cache.
const WAITING_ROWS: usize = 128;

/// A log from which on another thread writes the columns: a shorter one is written before a thread would pay.
const LONG_ROWS: usize = 1 << 16;

/// Rows that are handed to that thread together, and how often they may wait for it: they stay in the caches that
/// processors share.
const HANDED_ROWS: usize = 4096;
const HANDED_MAX: usize = 8;

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
#[derive(Debug)]
pub(crate) struct LogWriter {
    /// The time of the drive's clock at which the log's times are 0.
    origin_ns: Nanos,
    /// As many as go together.
    rows: Vec<Row>,
    columns: RequestLog,
    /// Who has the columns of a long log.
    writer: Option<ColumnWriter>,
    /// Whether a writer may be asked for: where there is another processor.
    may_have_writer: bool,
}

impl LogWriter {
    pub(crate) fn new(origin_ns: Nanos) -> Self {
        Self {
            origin_ns,
            rows: Vec::with_capacity(WAITING_ROWS),
            columns: RequestLog::default(),
            writer: None,
            may_have_writer: thread::available_parallelism().is_ok_and(|processors| processors.get() > 1),
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, job: u32, lba: u64, issued_ns: Nanos, done: &Completion) {
        if self.rows.len() == self.rows.capacity() {
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
        match self.writer.take() {
            Some(writer) => {
                self.rows = Vec::with_capacity(WAITING_ROWS);
                writer.finish()
            }
            None => std::mem::take(&mut self.columns),
        }
    }

    #[inline(never)]
    fn write_columns(&mut self) {
        if let Some(writer) = &mut self.writer {
            self.rows = writer.hand_over(std::mem::take(&mut self.rows));
            return;
        }
        self.columns.extend(&self.rows);
        self.rows.clear();
        if self.may_have_writer && self.columns.len() >= LONG_ROWS {
            self.writer = ColumnWriter::start(&mut self.columns);
            match self.writer {
                Some(_) => self.rows = Vec::with_capacity(HANDED_ROWS),
                None => self.may_have_writer = false,
            }
        }
    }
}

/// A thread that makes columns of rows. A long log is memory that nobody has touched before, and to be given it by the
/// system takes longer than to simulate the requests: another processor waits for it meanwhile. The log is the same.
#[derive(Debug)]
struct ColumnWriter {
    full: SyncSender<Vec<Row>>,
    /// Never locked: a receiver alone can't be part of what threads share.
    empty: Mutex<Receiver<Vec<Row>>>,
    thread: JoinHandle<RequestLog>,
}

impl ColumnWriter {
    /// A writer that goes on with these columns; nobody, and the columns as they are, if the system has no thread.
    fn start(columns: &mut RequestLog) -> Option<Self> {
        let (full, rows) = sync_channel::<Vec<Row>>(HANDED_MAX);
        let (give_back, empty) = sync_channel(HANDED_MAX + 1);
        let (begin, begun) = sync_channel::<RequestLog>(1);
        let work = move || {
            let mut columns = begun.recv().unwrap_or_default();
            for mut handed in rows {
                columns.extend(&handed);
                handed.clear();
                // Nobody needs it any more once the last rows were handed over.
                let _ = give_back.try_send(handed);
            }
            columns
        };
        let thread = thread::Builder::new().name("request log".to_owned()).spawn(work).ok()?;
        begin.send(std::mem::take(columns)).expect("it waits for them");
        Some(Self { full, empty: Mutex::new(empty), thread })
    }

    /// Gives it rows, when it has room for them; an empty place for others.
    fn hand_over(&mut self, rows: Vec<Row>) -> Vec<Row> {
        self.full.send(rows).expect("it ends when this is dropped");
        let empty = self.empty.get_mut().ok().and_then(|empty| empty.try_recv().ok());
        empty.unwrap_or_else(|| Vec::with_capacity(HANDED_ROWS))
    }

    /// The columns, with all that was handed over.
    fn finish(self) -> RequestLog {
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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

#[cfg(test)]
mod tests {
    use drivelab_controller::{LatencySplit, Op};

    use super::*;

    /// Each number of a request says which it is.
    fn completion(number: u64) -> Completion {
        Completion {
            tag: 0,
            op: if number.is_multiple_of(3) { Op::Write } else { Op::Read },
            outcome: Outcome::Done,
            sector_count: 1 + (number % 7) as u32,
            submitted_ns: number + 20,
            completed_ns: number + 35,
            split: LatencySplit {
                queueing_ns: 1,
                link_ns: 2,
                firmware_ns: 3,
                flash_ns: 4,
                cleaning_ns: 5 + number % 11,
            },
        }
    }

    fn record(log: &mut LogWriter, numbers: std::ops::Range<u64>) {
        for number in numbers {
            log.record((number % 5) as u32, 10 * number, number + 10, &completion(number));
        }
    }

    fn assert_holds(log: &RequestLog, numbers: std::ops::Range<u64>) {
        assert_eq!(log.len() as u64, numbers.end - numbers.start);
        for (row, number) in numbers.enumerate() {
            let found = [
                u64::from(log.job[row]),
                u64::from(log.op[row]),
                log.offset_bytes[row],
                log.length_bytes[row],
                log.issued_ns[row],
                log.submitted_ns[row],
                log.completed_ns[row],
                log.latency_ns[row],
                log.queueing_ns[row],
                log.cleaning_ns[row],
            ];
            let op = u64::from(op_code(completion(number).op));
            let times = [number + 10, number + 20, number + 35, 25, 11, 5 + number % 11];
            assert_eq!(found[..4], [number % 5, op, 5120 * number, 512 * (1 + number % 7)], "{number}");
            assert_eq!(found[4..], times, "{number}");
        }
    }

    #[test]
    fn a_log_is_the_same_whoever_writes_its_columns() {
        let long = LONG_ROWS as u64;
        for count in [0, 1, 127, 128, long - 1, long + 1, long + 4096 + 128, 5 * long + 77] {
            for may_have_writer in [false, true] {
                let mut log = LogWriter { may_have_writer, ..LogWriter::new(0) };
                record(&mut log, 0..count);
                assert_eq!(log.writer.is_some(), may_have_writer && count > long, "{count}");
                assert_holds(&log.take(), 0..count);
                // And goes on as if it were new.
                assert!(log.take().is_empty());
                record(&mut log, 3..300);
                assert_holds(&log.take(), 3..300);
            }
        }
    }

    #[test]
    fn a_writer_ends_with_the_log_that_nobody_takes() {
        let mut log = LogWriter { may_have_writer: true, ..LogWriter::new(0) };
        record(&mut log, 0..2 * LONG_ROWS as u64);
        let ColumnWriter { full, empty, thread } = log.writer.take().expect("a long log has one");
        // What dropping the log drops.
        drop((full, empty));
        assert!(thread.join().expect("no panic").len() >= LONG_ROWS);
    }
}
