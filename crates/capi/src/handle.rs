//! A drive, and what is on its way to the host.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use drivelab_controller::{self as controller, Command, CommandError, Device};
use drivelab_drive::{Drive, Layer, Model};
use drivelab_sim::Nanos;
use drivelab_sim::time::LATEST;

use crate::records::{Completion, Op, Request};

/// Requests whose map entries are on their way into the processor's cache while one is taken. Of a batch that is handed
/// over again and again, as there is room for a few, no more are looked at.
const AHEAD: usize = 32;

/// A drive.
#[derive(Clone, Debug)]
pub struct Handle {
    drive: Drive,
    /// Completed, and not heard of yet: from `heard` on.
    done: Vec<Completion>,
    heard: usize,
    /// What the drive said last; kept, so that no call allocates.
    said: Vec<controller::Completion>,
    error: CString,
}

impl Handle {
    pub(crate) fn open(texts: &[&str], seed: u64) -> Result<Self, String> {
        let origins: Vec<String> = (0..texts.len()).map(|number| format!("text {number}")).collect();
        let layers: Vec<Layer<'_>> =
            texts.iter().zip(&origins).map(|(text, origin)| Layer { text, origin }).collect();
        let model = Model::parse_layers(&layers, &[]).map_err(|error| error.to_string())?;
        let drive = Drive::new(Arc::new(model), seed).map_err(|error| error.to_string())?;
        Ok(Self { drive, done: Vec::new(), heard: 0, said: Vec::new(), error: CString::default() })
    }

    pub(crate) fn capacity_sectors(&self) -> u64 {
        self.drive.capacity_sectors()
    }

    pub(crate) fn queue_depth(&self) -> u32 {
        self.drive.queue_depth()
    }

    pub(crate) fn now_ns(&self) -> Nanos {
        self.drive.now_ns()
    }

    pub(crate) fn counters(&self) -> String {
        self.drive.counters().to_string()
    }

    pub(crate) fn error(&self) -> &CStr {
        &self.error
    }

    pub(crate) fn submit(&mut self, requests: &[Request]) -> usize {
        if !self.error.is_empty() {
            self.error = CString::default();
        }
        for request in requests.iter().take(AHEAD) {
            self.drive.prefetch(request.lba);
        }
        for (taken, request) in requests.iter().enumerate() {
            if let Some(later) = requests.get(taken + AHEAD) {
                self.drive.prefetch(later.lba);
            }
            let Some(op) = Op::of(request.op) else {
                self.refuse(&format!("op is {}; it must be 0 to 3", request.op));
                return taken;
            };
            if request.reserved != [0; 5] {
                self.refuse("reserved must be 0");
                return taken;
            }
            // A flush is of no place.
            let (lba, sectors) = match op {
                controller::Op::Flush => (0, 0),
                _ => (request.lba, request.sector_count),
            };
            let command = Command {
                fua: request.fua != 0,
                hint: request.hint,
                ..Command::new(request.tag, op, lba, sectors)
            };
            let time_ns = match self.time_of(&command, request.time_ns) {
                Ok(time_ns) => time_ns,
                Err(reason) => {
                    self.refuse(&reason);
                    return taken;
                }
            };
            if time_ns > self.drive.now_ns() {
                self.drive.advance(time_ns, &mut self.said);
                self.hear();
            }
            match self.drive.submit(time_ns, command) {
                Ok(()) => {}
                Err(CommandError::QueueFull { .. }) => return taken,
                Err(error) => {
                    self.refuse(&error.to_string());
                    return taken;
                }
            }
        }
        requests.len()
    }

    /// When a command is handed over: one that waited for room in the queue comes late. Or why it can't be, before any
    /// time passes for it.
    fn time_of(&self, command: &Command, asked_ns: Nanos) -> Result<Nanos, String> {
        let reached_ns = self.drive.now_ns();
        if asked_ns > LATEST {
            return Err(format!("time_ns is {asked_ns}; it must be 0 to {LATEST}"));
        }
        if reached_ns > LATEST {
            return Err(format!(
                "the drive has reached {reached_ns} ns, beyond {LATEST}: it takes nothing any more"
            ));
        }
        let time_ns = asked_ns.max(reached_ns);
        command
            .check(time_ns, reached_ns, self.drive.capacity_sectors())
            .map_err(|error| error.to_string())?;
        Ok(time_ns)
    }

    fn refuse(&mut self, reason: &str) {
        // No reason holds a 0.
        self.error = CString::new(reason).unwrap_or_default();
    }

    /// When there is something to hear of, or something happens inside; `Nanos::MAX`: never, without a new request. What
    /// happens later than a wait can go is none of those.
    pub(crate) fn next_ns(&mut self) -> Nanos {
        if self.heard < self.done.len() {
            return self.drive.now_ns();
        }
        self.drive.next_event().filter(|&next_ns| next_ns <= LATEST).unwrap_or(Nanos::MAX)
    }

    /// At most `most` completions; [`Self::forget`] them afterwards. No time passes for none.
    pub(crate) fn wait(&mut self, until_ns: Nanos, most: usize) -> &[Completion] {
        // A drive that has reached a later time could take no request any more.
        let until_ns = if until_ns == Nanos::MAX { until_ns } else { until_ns.min(LATEST) };
        if self.heard == self.done.len() && most > 0 {
            if self.drive.engine().outstanding() > 0 {
                self.drive.advance_to_completion(until_ns, &mut self.said);
                self.hear();
            } else if until_ns != Nanos::MAX && until_ns > self.drive.now_ns() {
                self.drive.advance(until_ns, &mut self.said);
            }
        }
        let end = self.done.len().min(self.heard.saturating_add(most));
        &self.done[self.heard..end]
    }

    /// The host has heard of so many more. They go as soon as they are the greater part: a host that hands over a request
    /// for each that it hears of never hears of all.
    pub(crate) fn forget(&mut self, count: usize) {
        self.heard += count;
        if 2 * self.heard >= self.done.len() {
            self.done.drain(..self.heard);
            self.heard = 0;
        }
    }

    fn hear(&mut self) {
        self.done.extend(self.said.drain(..).map(Completion::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 2] = [
        include_str!("../../../models/flash/imft-50nm-mlc.toml"),
        include_str!("../../../models/intel-x25-m-g1-80gb.toml"),
    ];

    fn write(tag: u32, lba: u64, time_ns: Nanos) -> Request {
        Request { time_ns, lba, tag, sector_count: 8, op: 1, fua: 0, hint: 0, reserved: [0; 5] }
    }

    #[test]
    fn requests_that_found_no_room_are_taken_late() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        let depth = drive.queue_depth() as usize;
        let requests: Vec<_> =
            (0..3 * depth as u32).map(|tag| write(tag, u64::from(tag) * 8, 1000)).collect();
        let (mut taken, mut heard) = (0, 0);
        while heard < requests.len() {
            taken += drive.submit(&requests[taken..]);
            assert!(drive.error().is_empty(), "{:?}", drive.error());
            let done = drive.wait(Nanos::MAX, requests.len()).len();
            assert!(done > 0, "{heard} of {taken} requests done");
            drive.forget(done);
            heard += done;
        }
        assert_eq!(taken, requests.len());
    }

    #[test]
    fn what_was_heard_of_takes_no_memory() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        for number in 0..100_000u32 {
            let time_ns = u64::from(number) * 1_000_000;
            assert_eq!(drive.submit(&[write(number, u64::from(number % 64) * 8, time_ns)]), 1);
            let done = drive.wait(drive.now_ns(), 256).len();
            drive.forget(done);
        }
        assert!(drive.done.capacity() < 64, "room for {} completions", drive.done.capacity());
    }

    #[test]
    fn a_drive_that_waited_for_ever_still_takes_requests() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        assert!(drive.wait(Nanos::MAX - 1, 1).is_empty());
        assert_eq!(drive.now_ns(), LATEST);
        assert_eq!(drive.submit(&[write(1, 0, 0)]), 1, "{:?}", drive.error());
        assert!(drive.wait(Nanos::MAX, 0).is_empty());
        assert_eq!(drive.now_ns(), LATEST, "no time passes where nothing can be heard of");
    }

    #[test]
    fn a_flush_is_of_no_place() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        for sector_count in [0, 123, u32::MAX] {
            assert_eq!(drive.submit(&[Request { op: 2, sector_count, ..write(1, u64::MAX, 0) }]), 1);
            assert_eq!(drive.wait(Nanos::MAX, 1)[0].sector_count, 0);
            drive.forget(1);
        }
    }

    /// By hearing of one event after the other a host misses no completion, and never lets time pass by one.
    #[test]
    fn a_host_that_goes_from_event_to_event_hears_of_each_when_it_happens() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        assert_eq!(drive.next_ns(), Nanos::MAX);
        assert_eq!(drive.submit(&[write(1, 0, 1000), write(2, 64, 2000)]), 2);
        let mut heard = Vec::new();
        loop {
            let next_ns = drive.next_ns();
            if next_ns == Nanos::MAX {
                break;
            }
            let done = drive.wait(next_ns, 1);
            assert!(done.iter().all(|done| done.completed_ns == next_ns));
            heard.extend_from_slice(done);
            let count = done.len();
            drive.forget(count);
        }
        assert_eq!(heard.iter().map(|done| done.tag).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn what_is_handed_over_after_the_end_of_time_is_refused_by_the_drives_clock() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        assert_eq!(drive.submit(&[write(1, 0, LATEST)]), 1);
        assert_eq!(
            drive.next_ns(),
            Nanos::MAX,
            "a wait until then would go to the latest time, again and again"
        );
        assert_eq!(drive.wait(Nanos::MAX, 1).len(), 1);
        drive.forget(1);
        assert!(drive.now_ns() > LATEST);
        assert_eq!(drive.submit(&[write(2, 0, 0)]), 0);
        assert!(
            drive.error().to_str().unwrap().starts_with("the drive has reached 4611"),
            "{:?}",
            drive.error()
        );
    }

    #[test]
    fn of_a_refused_request_nothing_has_happened() {
        let mut drive = Handle::open(&TEXTS, 1).unwrap();
        let end = drive.capacity_sectors();
        for request in [
            write(1, end, 5_000_000),
            write(2, 0, Nanos::MAX),
            Request { op: 9, ..write(3, 0, 7) },
            Request { reserved: [0, 0, 0, 0, 1], ..write(3, 0, 7) },
        ] {
            assert_eq!(drive.submit(&[request]), 0);
            assert!(!drive.error().is_empty());
            assert_eq!(drive.now_ns(), 0, "{:?}", drive.error());
        }
        assert_eq!(drive.submit(&[write(4, 0, 5_000_000)]), 1);
    }
}
