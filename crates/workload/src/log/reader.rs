//! Rows of a log on their way from who runs to another thread, which makes columns of them.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::columns::{RequestLog, Row};

/// Rows that are handed over together.
pub(super) const HANDED_ROWS: usize = 4096;

/// How often rows may wait for the writer of a long log: they stay in the caches that processors share.
const WRITER_MAX: usize = 8;

/// How often they may wait for who reads a log as it is written, and may be at something else for a while: 23 MiB.
pub(super) const STREAMED_MAX: usize = 64;

/// The end of who runs, and that of who reads; so many handed rows may wait.
pub(super) fn pair(waiting_max: usize) -> (HandOver, LogReader) {
    let (full, rows) = sync_channel(waiting_max);
    let (give_back, empty) = sync_channel(waiting_max + 1);
    (HandOver { full, empty: Mutex::new(empty) }, LogReader { rows: Mutex::new(rows), give_back })
}

/// Where rows are handed over; the reader ends once this is dropped.
#[derive(Debug)]
pub(super) struct HandOver {
    full: SyncSender<Vec<Row>>,
    /// Never locked, as below: a receiver alone can't be part of what threads share.
    empty: Mutex<Receiver<Vec<Row>>>,
}

impl HandOver {
    /// Gives rows to the reader, when it has room for them; an empty place for others, or None if the reader left.
    pub(super) fn hand_over(&mut self, rows: Vec<Row>) -> Option<Vec<Row>> {
        self.full.send(rows).ok()?;
        let empty = self.empty.get_mut().ok().and_then(|empty| empty.try_recv().ok());
        Some(empty.unwrap_or_else(|| Vec::with_capacity(HANDED_ROWS)))
    }
}

/// Reads the log of a run that goes on in another thread, which waits for it where it is slower.
#[derive(Debug)]
pub struct LogReader {
    rows: Mutex<Receiver<Vec<Row>>>,
    give_back: SyncSender<Vec<Row>>,
}

impl LogReader {
    /// The next requests: at least `rows` of them, or what is left; None once the log has ended. Waits for them.
    pub fn next(&mut self, rows: usize) -> Option<RequestLog> {
        let mut columns = RequestLog::with_capacity(rows + HANDED_ROWS);
        while columns.len() < rows && self.read_into(&mut columns) {}
        (!columns.is_empty()).then_some(columns)
    }

    /// Takes what was handed over once; whether there was anything.
    fn read_into(&mut self, columns: &mut RequestLog) -> bool {
        let Some(mut handed) = self.rows.get_mut().ok().and_then(|rows| rows.recv().ok()) else {
            return false;
        };
        columns.extend(&handed);
        handed.clear();
        // Nobody needs it any more once the last rows were handed over.
        let _ = self.give_back.try_send(handed);
        true
    }
}

/// A thread that writes the columns of a long log. That is memory that nobody has touched before, and to be given it by
/// the system takes about as long as to simulate the requests: another processor waits for it meanwhile. Measured with
/// 10 M reads, the first run of a process takes a fifth less with it, later ones a tenth. The log is the same.
#[derive(Debug)]
pub(super) struct ColumnWriter {
    rows: HandOver,
    thread: JoinHandle<RequestLog>,
}

impl ColumnWriter {
    /// A writer that goes on with these columns; nobody, and the columns as they are, if the system has no thread.
    pub(super) fn start(columns: &mut RequestLog) -> Option<Self> {
        let (rows, mut reader) = pair(WRITER_MAX);
        let (begin, begun) = sync_channel::<RequestLog>(1);
        let work = move || {
            let mut columns = begun.recv().unwrap_or_default();
            while reader.read_into(&mut columns) {}
            columns
        };
        let thread = thread::Builder::new().name("request log".to_owned()).spawn(work).ok()?;
        begin.send(std::mem::take(columns)).expect("it waits for them");
        Some(Self { rows, thread })
    }

    /// Gives it rows; an empty place for others.
    pub(super) fn hand_over(&mut self, rows: Vec<Row>) -> Vec<Row> {
        self.rows.hand_over(rows).expect("it ends when this is dropped")
    }

    /// The columns, with all that was handed over.
    pub(super) fn finish(self) -> RequestLog {
        drop(self.rows);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// What dropping it leaves.
    #[cfg(test)]
    pub(super) fn dropped(self) -> JoinHandle<RequestLog> {
        self.thread
    }
}
