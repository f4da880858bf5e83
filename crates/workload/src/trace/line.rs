//! Lines of a trace file, and the numbers in their columns.

use std::io::{BufRead, Read};

use crate::error::WorkloadError;

/// Longer lines are not those of a trace (a binary file has no line ends).
const LINE_BYTES_MAX: usize = 4096;

/// Reads lines one at a time into one buffer.
pub(super) struct Lines<'o, R> {
    reader: R,
    origin: &'o str,
    line: u64,
    buffer: Vec<u8>,
}

impl<'o, R: BufRead> Lines<'o, R> {
    pub(super) fn new(reader: R, origin: &'o str) -> Self {
        Self { reader, origin, line: 0, buffer: Vec::new() }
    }

    /// The next line that is not blank, without spaces around it; `None` at the end.
    pub(super) fn next_filled(&mut self) -> Result<Option<&str>, WorkloadError> {
        loop {
            self.buffer.clear();
            let limit = LINE_BYTES_MAX as u64 + 1;
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer);
            let count = read.map_err(|error| WorkloadError::Unreadable {
                path: self.origin.to_owned(),
                reason: error.to_string(),
            })?;
            if count == 0 {
                return Ok(None);
            }
            self.line += 1;
            if count > LINE_BYTES_MAX {
                let message =
                    format!("the line is longer than {LINE_BYTES_MAX} bytes; a trace is a text file");
                return Err(self.error(message));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(self.error("the line is not UTF-8 text".to_owned())),
        }
    }

    /// An error in the line that was read last.
    pub(super) fn error(&self, message: String) -> WorkloadError {
        WorkloadError::Trace { origin: self.origin.to_owned(), line: self.line.max(1), message }
    }
}

/// The columns of a line if there are exactly `N`.
pub(super) fn columns<'t, const N: usize>(
    parts: impl Iterator<Item = &'t str>,
    layout: &str,
) -> Result<[&'t str; N], String> {
    let mut columns = [""; N];
    let mut count = 0;
    for part in parts {
        if let Some(column) = columns.get_mut(count) {
            *column = part.trim();
        }
        count += 1;
    }
    if count == N { Ok(columns) } else { Err(format!("{count} columns: must be {N}, {layout}")) }
}

/// A whole number without sign, times `unit`.
pub(super) fn number(text: &str, name: &str, unit: u64) -> Result<u64, String> {
    let most = u64::MAX / unit;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(value) if digits && value <= most => Ok(value * unit),
        _ => Err(format!("{name} = {}: must be a whole number from 0 to {most}", quoted(text))),
    }
}

/// A value of a file in a message: in quotes, without control characters, and not too long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
    if text.chars().count() > SHOWN { format!("'{shown}...'") } else { format!("'{shown}'") }
}
