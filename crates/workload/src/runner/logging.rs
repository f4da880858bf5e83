//! Every request of a run, for who asks.

use super::Run;
use crate::log::{LogReader, LogWriter, RequestLog};

impl Run<'_> {
    /// Keeps a log from now on, 94 bytes for each request that is measured; its times are since the run began.
    pub fn keep_log(&mut self) {
        self.log.get_or_insert_with(|| LogWriter::new(self.start_ns));
    }

    /// Keeps a log from now on for who reads it in another thread while the run goes on, which waits for the reader where
    /// that is slower: a run that nobody reads stands still.
    pub fn stream_log(&mut self) -> LogReader {
        let (writer, reader) = LogWriter::with_reader(self.start_ns);
        self.log = Some(writer);
        reader
    }

    /// The reader of the log gets its last rows and its end.
    pub fn end_log(&mut self) {
        self.take_log();
        self.log = None;
    }

    /// The log since the last call; empty if none is kept.
    pub fn take_log(&mut self) -> RequestLog {
        self.log.as_mut().map(LogWriter::take).unwrap_or_default()
    }
}
