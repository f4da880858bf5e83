//! Recorded traces: readers for all formats into one table of requests.
//!
//! A file, plain or compressed by gzip, is read line by line. Times are rebased to the first request; requests that a
//! recorder wrote out of order are sorted by time. An error names file, line, value, and what is allowed.

mod alibaba;
mod blkparse;
mod fit;
mod fiu;
mod format;
mod iolog;
mod line;
mod mqsim;
mod msr;
mod options;
mod parser;
mod source;
mod systor17;
mod table;
mod tencent;

use std::io::{self, BufRead};
use std::path::Path;

use crate::error::WorkloadError;
use crate::progress::Progress;
pub use fit::Beyond;
pub use format::Format;
pub use options::{ArrivalEvent, ReadOptions, TimeUnit};
use parser::Parser;
pub use table::{Trace, UNKNOWN_NS};

/// Reads a trace file, plain or compressed by gzip; without a format, guesses it from the first line.
///
/// # Errors
/// [`WorkloadError::Unreadable`], [`WorkloadError::Trace`], [`WorkloadError::Invalid`] for an option that the format
/// doesn't have or a device that the trace doesn't have, [`WorkloadError::Cancelled`].
pub fn read_trace(path: &Path, options: &ReadOptions, progress: &Progress) -> Result<Trace, WorkloadError> {
    let origin = path.display().to_string();
    let read = || {
        let reader = source::open(path, progress).map_err(|error| unreadable(&origin, &error))?;
        Trace::read_lines(reader, &origin, options)
    };
    read().map_err(|error| if progress.is_cancelled() { WorkloadError::Cancelled } else { error })
}

fn unreadable(origin: &str, error: &io::Error) -> WorkloadError {
    WorkloadError::Unreadable { path: origin.to_owned(), reason: error.to_string() }
}

impl Trace {
    /// Reads a trace, plain or compressed; `origin` is its name in messages.
    ///
    /// # Errors
    /// As [`read_trace`].
    pub fn read(reader: impl BufRead, origin: &str, options: &ReadOptions) -> Result<Self, WorkloadError> {
        let reader = source::unpacked(reader).map_err(|error| unreadable(origin, &error))?;
        Self::read_lines(reader, origin, options)
    }

    fn read_lines(reader: impl BufRead, origin: &str, options: &ReadOptions) -> Result<Self, WorkloadError> {
        let mut lines = line::Lines::new(reader, origin);
        let mut started: Option<(Self, Parser)> = None;
        while let Some(text) = lines.next_filled()? {
            if let Some((trace, parser)) = &mut started {
                let taken = parser.line(text, trace);
                taken.map_err(|message| lines.error(message))?;
                continue;
            }
            // Editors on some systems put a byte order mark in front.
            let text = text.to_owned();
            let text = text.trim_start_matches('\u{feff}');
            let format = options.format.or_else(|| Format::guess(text)).ok_or_else(|| {
                let (found, known) = (line::quoted(text), Format::all_layouts());
                lines.error(format!("{found} fits no known format: {known}"))
            })?;
            options.validate(format)?;
            let (trace, parser) =
                started.insert((Self::new(format, options.device.as_deref()), Parser::new(format, options)));
            if !format.is_header(text) {
                parser.line(text, trace).map_err(|message| lines.error(message))?;
            }
        }
        let hint = started.as_ref().and_then(|(_, parser)| parser.hint());
        match started {
            Some((trace, _)) if !trace.is_empty() => Ok(trace.in_order()),
            Some((trace, _)) if !trace.device_names.is_empty() && trace.wanted.is_some() => {
                Err(trace.lacks_wanted())
            }
            _ => {
                let hint = hint.unwrap_or("it needs at least one");
                Err(lines.error(format!("the file has no requests; {hint}")))
            }
        }
    }
}
