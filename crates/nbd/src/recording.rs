//! What clients ask for, written as a trace: fio's iolog, version 3, which the laboratory replays.
//!
//! A line is complete or, after a kill of the process, the last one. What a trace can't say is left out: contents, and
//! that a write was forced. Zeroes that may be a hole are a trim, others a write.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use drivelab_sim::time::MICROSECOND;

use crate::export::{Request, RequestKind};

/// A trace that grows.
pub struct Recorder {
    out: BufWriter<File>,
    requests: u64,
    /// The first line that couldn't be written; nothing is written after it.
    failure: Option<io::Error>,
    last_us: u64,
}

impl Recorder {
    /// Begins a trace in a new file.
    ///
    /// # Errors
    /// The file is there already, or can't be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut out = BufWriter::new(File::create_new(path)?);
        out.write_all(b"fio version 3 iolog\n0 drive add\n0 drive open\n")?;
        Ok(Self { out, requests: 0, failure: None, last_us: 0 })
    }

    /// Adds a request that the drive has taken at this time.
    pub(crate) fn add(&mut self, now_ns: u64, request: &Request) {
        let action = match request.kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::WriteZeroes if request.no_hole => "write",
            RequestKind::Trim | RequestKind::WriteZeroes => "trim",
            RequestKind::Flush => "sync",
            RequestKind::Cache => return,
        };
        if self.failure.is_some() {
            return;
        }
        self.last_us = now_ns / MICROSECOND;
        let (offset, length) =
            if request.kind == RequestKind::Flush { (0, 0) } else { (request.offset, request.length) };
        match writeln!(self.out, "{} drive {action} {offset} {length}", self.last_us) {
            Ok(()) => self.requests += 1,
            Err(error) => self.failure = Some(error),
        }
    }

    /// Ends the trace; gives how many requests it has.
    ///
    /// # Errors
    /// Something couldn't be written, now or before.
    pub fn finish(mut self) -> io::Result<u64> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        writeln!(self.out, "{} drive close", self.last_us)?;
        self.out.flush()?;
        Ok(self.requests)
    }
}
