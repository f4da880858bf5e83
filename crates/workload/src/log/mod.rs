//! Every request of a run, one by one.

mod columns;
mod reader;

use std::thread;

use drivelab_controller::{Completion, Outcome, SECTOR_BYTES};
use drivelab_sim::Nanos;

use crate::requests::op_code;

pub use columns::RequestLog;
use columns::Row;
pub use reader::LogReader;
use reader::{ColumnWriter, HandOver};

/// Rows that wait to become columns: a request writes one place of memory, and each column is then written a stretch at
/// a time. So few that they stay in the processor's nearest cache.
const WAITING_ROWS: usize = 128;

/// A log from which on another thread writes the columns: a shorter one is written before a thread would pay.
const LONG_ROWS: usize = 1 << 16;

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct LogWriter {
    /// The time of the drive's clock at which the log's times are 0.
    origin_ns: Nanos,
    /// As many as go together.
    rows: Vec<Row>,
    to: To,
}

/// Where rows go.
#[derive(Debug)]
enum To {
    /// Into columns here; a long log's may be given to a writer, where there is another processor.
    Columns { columns: Box<RequestLog>, may_have_writer: bool },
    /// To the writer of a long log.
    Writer(ColumnWriter),
    /// To who reads them while the run goes on.
    Reader(HandOver),
    /// Nowhere: the reader left.
    Nobody,
}

impl LogWriter {
    pub(crate) fn new(origin_ns: Nanos) -> Self {
        let may_have_writer = thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
        let to = To::Columns { columns: Box::default(), may_have_writer };
        Self { origin_ns, rows: Vec::with_capacity(WAITING_ROWS), to }
    }

    /// A log that is read while it is written, and who reads it.
    pub(crate) fn with_reader(origin_ns: Nanos) -> (Self, LogReader) {
        let (hand_over, reader) = reader::pair(reader::STREAMED_MAX);
        let rows = Vec::with_capacity(reader::HANDED_ROWS);
        (Self { origin_ns, rows, to: To::Reader(hand_over) }, reader)
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

    /// What was written since the last call; nothing of a log that has a reader, who gets all of it.
    pub(crate) fn take(&mut self) -> RequestLog {
        self.write_columns();
        match std::mem::replace(&mut self.to, To::Nobody) {
            To::Columns { columns, may_have_writer } => {
                self.to = To::Columns { columns: Box::default(), may_have_writer };
                *columns
            }
            To::Writer(writer) => {
                *self = Self::new(self.origin_ns);
                writer.finish()
            }
            to @ (To::Reader(_) | To::Nobody) => {
                self.to = to;
                RequestLog::default()
            }
        }
    }

    #[inline(never)]
    fn write_columns(&mut self) {
        match &mut self.to {
            To::Writer(writer) => {
                self.rows = writer.hand_over(std::mem::take(&mut self.rows));
                return;
            }
            To::Reader(reader) => {
                match reader.hand_over(std::mem::take(&mut self.rows)) {
                    Some(empty) => self.rows = empty,
                    None => self.to = To::Nobody,
                }
                return;
            }
            To::Nobody => {}
            To::Columns { columns, may_have_writer } => {
                columns.extend(&self.rows);
                if *may_have_writer && columns.len() >= LONG_ROWS {
                    *may_have_writer = false;
                    if let Some(writer) = ColumnWriter::start(columns) {
                        self.to = To::Writer(writer);
                        self.rows = Vec::with_capacity(reader::HANDED_ROWS);
                        return;
                    }
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use drivelab_controller::{LatencySplit, Op};

    use super::*;

    /// Each number of a request says which it is.
    fn completion(number: u64) -> Completion {
        Completion {
            tag: 0,
            op: if number.is_multiple_of(3) { Op::Write } else { Op::Read },
            outcome: if number.is_multiple_of(4) { Outcome::Refused } else { Outcome::Done },
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
                log.link_ns[row],
                log.firmware_ns[row],
                log.flash_ns[row],
                u64::from(log.outcome[row]),
            ];
            let op = u64::from(op_code(completion(number).op));
            let times = [number + 10, number + 20, number + 35, 25, 11, 5 + number % 11, 2, 3, 4];
            let outcome = u64::from(outcome_code(completion(number).outcome));
            assert_eq!(found[..4], [number % 5, op, 5120 * number, 512 * (1 + number % 7)], "{number}");
            assert_eq!(found[4..13], times, "{number}");
            assert_eq!(found[13], outcome, "{number}");
        }
    }

    #[test]
    fn a_log_is_the_same_whoever_writes_its_columns() {
        let long = LONG_ROWS as u64;
        for count in [0, 1, 127, 128, long - 1, long + 1, long + 4096 + 128, 5 * long + 77] {
            for may_have_writer in [false, true] {
                let mut log = with_columns(may_have_writer);
                record(&mut log, 0..count);
                let has_writer = matches!(log.to, To::Writer(_));
                assert_eq!(has_writer, may_have_writer && count > long, "{count}");
                assert_holds(&log.take(), 0..count);
                // And goes on as if it were new.
                assert!(log.take().is_empty());
                record(&mut log, 3..300);
                assert_holds(&log.take(), 3..300);
            }
        }
    }

    #[test]
    fn who_reads_a_log_gets_all_of_it_in_order() {
        for count in [0, 1, 127, 4096, 4097, 5 * LONG_ROWS as u64 + 77] {
            let (mut log, mut reader) = LogWriter::with_reader(0);
            let reading = thread::spawn(move || {
                let mut whole = RequestLog::default();
                while let Some(part) = reader.next(10_000) {
                    assert!(!part.is_empty());
                    append(&mut whole, &part);
                }
                whole
            });
            record(&mut log, 0..count);
            assert!(log.take().is_empty());
            drop(log);
            assert_holds(&reading.join().expect("no panic"), 0..count);
        }
    }

    #[test]
    fn a_log_whose_reader_left_goes_nowhere_and_holds_nobody_up() {
        let (mut log, mut reader) = LogWriter::with_reader(0);
        record(&mut log, 0..10_000);
        assert_holds(&reader.next(1).expect("the first rows"), 0..4096);
        drop(reader);
        record(&mut log, 0..10 * LONG_ROWS as u64);
        assert!(matches!(log.to, To::Nobody) && log.rows.len() <= 4096);
        assert!(log.take().is_empty());
    }

    #[test]
    fn a_writer_ends_with_the_log_that_nobody_takes() {
        let mut log = with_columns(true);
        record(&mut log, 0..2 * LONG_ROWS as u64);
        let To::Writer(writer) = log.to else { panic!("a long log has one") };
        assert!(writer.dropped().join().expect("no panic").len() >= LONG_ROWS);
    }

    fn append(whole: &mut RequestLog, part: &RequestLog) {
        whole.job.extend(&part.job);
        whole.op.extend(&part.op);
        whole.offset_bytes.extend(&part.offset_bytes);
        whole.length_bytes.extend(&part.length_bytes);
        whole.issued_ns.extend(&part.issued_ns);
        whole.submitted_ns.extend(&part.submitted_ns);
        whole.completed_ns.extend(&part.completed_ns);
        whole.latency_ns.extend(&part.latency_ns);
        whole.queueing_ns.extend(&part.queueing_ns);
        whole.cleaning_ns.extend(&part.cleaning_ns);
        whole.link_ns.extend(&part.link_ns);
        whole.firmware_ns.extend(&part.firmware_ns);
        whole.flash_ns.extend(&part.flash_ns);
        whole.outcome.extend(&part.outcome);
    }

    fn with_columns(may_have_writer: bool) -> LogWriter {
        let to = To::Columns { columns: Box::default(), may_have_writer };
        LogWriter { to, ..LogWriter::new(0) }
    }
}
