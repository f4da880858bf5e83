//! The text that `blkparse` prints by default (REFERENCES.md, \[BLKTRACE\]):
//! `major,minor cpu sequence time pid action RWBS`, then `sector + sectors [process]`, or `[process]` alone where
//! nothing is transferred, or `sector + sectors [error]` for completions.
//!
//! - Time is in seconds since the start, sectors are of 512 bytes.
//! - A request goes through several actions, each a line: it arrives with Q (queued, before the scheduler merges
//!   and sorts) or D (given to the drive), as asked; C is its completion. The drive's response time is C - D of the
//!   same first sector. Other actions, and the summary at the end, are skipped.
//! - RWBS: `F` in front is a flush before, `R`, `W` or `D` (discard) the direction, `N` none; what follows (FUA,
//!   ahead, barrier, sync, meta) is not kept.

use std::collections::BTreeMap;

use drivelab_controller::Op;
use drivelab_sim::Nanos;

use super::format::Format;
use super::format::is_device_number;
use super::line::{number, quoted, time};
use super::options::{ArrivalEvent, TimeUnit};
use super::table::{Row, Trace};

/// How lines of the summary begin.
const SUMMARY: [&str; 12] = [
    "CPU",
    "Total",
    "Reads",
    "Read",
    "Writes",
    "PC",
    "IO",
    "Timer",
    "Throughput",
    "Events",
    "Skips",
    "Allocation",
];
/// First letters of actions that are no arrival and no completion (an unplug by a timer is UT).
const OTHER_ACTIONS: &str = "ABFGIMPRSTUWXm";

pub(super) struct Blkparse {
    arrival: ArrivalEvent,
    /// Requests that arrived and were not completed, by device and first sector.
    arrived: BTreeMap<(String, u64), usize>,
    /// When they were given to the drive.
    issued_ns: BTreeMap<(String, u64), Nanos>,
    /// Whether there were arrivals of the other kind.
    others: bool,
    in_summary: bool,
}

/// A line of an event.
struct Event<'t> {
    device: &'t str,
    time_ns: Nanos,
    rwbs: &'t str,
    payload: &'t [&'t str],
}

impl Blkparse {
    pub(super) fn new(arrival: ArrivalEvent) -> Self {
        Self {
            arrival,
            arrived: BTreeMap::new(),
            issued_ns: BTreeMap::new(),
            others: false,
            in_summary: false,
        }
    }

    /// What to try if there were no arrivals.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self.arrival {
            _ if !self.others => None,
            ArrivalEvent::Queued => Some("it has D events but no Q events: choose D as arrival"),
            ArrivalEvent::Issued => Some("it has Q events but no D events: choose Q as arrival"),
        }
    }

    pub(super) fn line(&mut self, text: &str, trace: &mut Trace) -> Result<(), String> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        let first = parts.first().copied().unwrap_or_default();
        if !is_device_number(first) {
            self.in_summary |= SUMMARY.iter().any(|word| first.starts_with(word));
            if self.in_summary {
                return Ok(());
            }
            return Err(format!("device = {}: must be major,minor, or a summary's line", quoted(first)));
        }
        let [device, cpu, sequence, timestamp, pid, action, rwbs, payload @ ..] = parts.as_slice() else {
            let (count, layout) = (parts.len(), Format::Blkparse.layout());
            return Err(format!("{count} columns: must be at least 7, {layout}"));
        };
        number(cpu, "cpu", 1)?;
        number(sequence, "sequence", 1)?;
        let time_ns = time(timestamp, "time", TimeUnit::Second)?;
        number(pid, "pid", 1)?;
        let event = Event { device, time_ns, rwbs, payload };
        match *action {
            "Q" if self.arrival == ArrivalEvent::Queued => self.arrival(&event, trace),
            "D" if self.arrival == ArrivalEvent::Issued => {
                self.issue(&event)?;
                self.arrival(&event, trace)
            }
            "Q" => {
                self.others = true;
                Ok(())
            }
            "D" => {
                self.others = true;
                self.issue(&event)
            }
            "C" => self.completion(&event, trace),
            _ if action.len() <= 2 && action.starts_with(|first| OTHER_ACTIONS.contains(first)) => Ok(()),
            _ => {
                Err(format!("action = {}: must begin with one of {OTHER_ACTIONS}, Q, D or C", quoted(action)))
            }
        }
    }

    fn arrival(&mut self, event: &Event<'_>, trace: &mut Trace) -> Result<(), String> {
        let (flush_first, op) = command(event.rwbs)?;
        let range = event.range()?;
        if flush_first {
            trace.push(Row::new(Op::Flush, 0, 0, event.time_ns, event.device))?;
        }
        match (op, range) {
            (Some(op), Some((sector, sector_count))) => {
                let row = Row::new(op, sector, sector_count, event.time_ns, event.device);
                if let Some(index) = trace.push(row)? {
                    self.arrived.insert((event.device.to_owned(), sector), index);
                }
            }
            _ if flush_first => {}
            _ => trace.leave_out(event.device),
        }
        Ok(())
    }

    fn issue(&mut self, event: &Event<'_>) -> Result<(), String> {
        if let Some((sector, _)) = event.range()? {
            self.issued_ns.insert((event.device.to_owned(), sector), event.time_ns);
        }
        Ok(())
    }

    fn completion(&mut self, event: &Event<'_>, trace: &mut Trace) -> Result<(), String> {
        if let Some((sector, _)) = event.range()? {
            let key = (event.device.to_owned(), sector);
            let issued_ns = self.issued_ns.remove(&key);
            if let (Some(index), Some(issued_ns)) = (self.arrived.remove(&key), issued_ns) {
                trace.response_ns[index] = event.time_ns.saturating_sub(issued_ns);
            }
        }
        Ok(())
    }
}

impl Event<'_> {
    /// First sector and sectors; `None` where nothing is transferred: `[process]` alone, `sector [error]`, or a
    /// command that is no read or write (`bytes (its bytes in hexadecimal) [process]`).
    fn range(&self) -> Result<Option<(u64, u64)>, String> {
        match self.payload {
            [sector, "+", count, after, ..] if after.starts_with(['[', '(']) => {
                let count = number(count, "sectors", 1)?;
                Ok(Some((number(sector, "sector", 1)?, count)).filter(|_| count > 0))
            }
            [first, ..] if first.starts_with(['[', '(']) => Ok(None),
            [_, second, ..] if second.starts_with(['[', '(']) => Ok(None),
            _ => {
                let found = quoted(&self.payload.join(" "));
                Err(format!("{found} after RWBS: must be 'sector + sectors [process]', or '[process]'"))
            }
        }
    }
}

/// Whether a flush comes first, and the direction.
fn command(rwbs: &str) -> Result<(bool, Option<Op>), String> {
    let (flush_first, rest) = match rwbs.strip_prefix('F') {
        Some(rest) => (true, rest),
        None => (false, rwbs),
    };
    let mut letters = rest.chars();
    let op = match letters.next() {
        Some('R') => Some(Op::Read),
        Some('W') => Some(Op::Write),
        Some('D') => Some(Op::Trim),
        Some('N') => None,
        None if flush_first => None,
        _ => return Err(format!("RWBS = {}: must have R, W, D, N or F in front", quoted(rwbs))),
    };
    match letters.find(|letter| !"FABSME".contains(*letter)) {
        None => Ok((flush_first, op)),
        Some(letter) => Err(format!("RWBS = {}: {letter:?} must be one of F, A, B, S, M, E", quoted(rwbs))),
    }
}
