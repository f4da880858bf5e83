//! Lines of a trace file, and the numbers in their columns.

use std::io::{BufRead, Read};

use drivelab_sim::Nanos;

use super::format::{Format, is_digits};
use super::options::TimeUnit;
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
                reason: match self.line {
                    0 => error.to_string(),
                    line => format!("after line {line}: {error}"),
                },
            })?;
            if count == 0 {
                return Ok(None);
            }
            self.line += 1;
            if self.buffer.contains(&0) {
                let message = "the line has NUL bytes; a trace is a text file (unpack an archive first)";
                return Err(self.error(message.to_owned()));
            }
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
    format: Format,
) -> Result<[&'t str; N], String> {
    let mut columns = [""; N];
    let mut count = 0;
    for part in parts {
        if let Some(column) = columns.get_mut(count) {
            *column = part.trim();
        }
        count += 1;
    }
    if count == N {
        return Ok(columns);
    }
    Err(format!("{count} columns: must be {N}, {}", format.layout()))
}

/// A whole number without sign, times `unit`.
pub(super) fn number(text: &str, name: &str, unit: u64) -> Result<u64, String> {
    let most = u64::MAX / unit;
    match text.parse::<u64>() {
        Ok(value) if is_digits(text) && value <= most => Ok(value * unit),
        _ => Err(format!("{name} = {}: must be a whole number from 0 to {most}", quoted(text))),
    }
}

/// A time in a unit, with or without decimals, in ns; what is less than 1 ns is cut off.
pub(super) fn time(text: &str, name: &str, unit: TimeUnit) -> Result<Nanos, String> {
    // 12 decimals of a second are picoseconds; more mean nothing here.
    const DECIMALS_MAX: usize = 12;
    let parsed = || {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        if !is_digits(whole) || !is_digits(decimals) {
            return None;
        }
        let decimals = &decimals[..decimals.len().min(DECIMALS_MAX)];
        let unit_ps = u128::from(unit.picoseconds());
        let part_ps = decimals.parse::<u128>().ok()? * unit_ps / 10u128.pow(decimals.len() as u32);
        let time_ps = u128::from(whole.parse::<u64>().ok()?) * unit_ps + part_ps;
        Nanos::try_from(time_ps / u128::from(TimeUnit::Nanosecond.picoseconds())).ok()
    };
    parsed().ok_or_else(|| {
        let (found, unit) = (quoted(text), unit.name());
        format!("{name} = {found}: must be a number of {unit} without sign, less than 2^64 ns")
    })
}

/// A value of a file in a message: in quotes, without control characters, and not too long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
    if text.chars().count() > SHOWN { format!("'{shown}...'") } else { format!("'{shown}'") }
}
