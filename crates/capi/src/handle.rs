//! A drive, and what is on its way to the host.

use std::ffi::{CStr, CString};
use std::io::{self, Write};
use std::sync::Arc;

use drivelab_controller::{self as controller, Command, CommandError, Device};
use drivelab_drive::{Drive, Layer, Model};
use drivelab_ftl::Content;
use drivelab_sim::Nanos;
use drivelab_sim::time::LATEST;

use crate::records::{Completion, Op, QueueClass, Request};

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
        let drive = Drive::new(model(texts)?, seed).map_err(|error| error.to_string())?;
        Ok(Self::of(drive, Vec::new()))
    }

    fn of(drive: Drive, done: Vec<Completion>) -> Self {
        Self { drive, done, heard: 0, said: Vec::new(), error: CString::default() }
    }

    /// Writes the drive, and what hasn't been heard of.
    pub(crate) fn save(&self, out: impl Write) -> io::Result<()> {
        self.drive.write_state_beside(&&self.done[self.heard..], out)
    }

    /// The drive that [`Self::save`] wrote.
    pub(crate) fn restore(texts: &[&str], bytes: &[u8]) -> Result<Self, String> {
        let (drive, done) =
            Drive::read_state_beside(model(texts)?, bytes).map_err(|error| error.to_string())?;
        Ok(Self::of(drive, done))
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

    pub(crate) fn smart(&self) -> String {
        self.drive.smart().to_string()
    }

    /// Erases everything, if no request is inside; otherwise the reason stands in the error.
    pub(crate) fn secure_erase(&mut self) -> bool {
        let erased = self.check_idle().map(|()| self.drive.secure_erase());
        self.tell(erased)
    }

    /// The host makes its submission queues anew, with these classes, if no request is inside and it knows them all.
    pub(crate) fn set_queue_classes(&mut self, numbers: &[u8]) -> bool {
        let class_of = |(queue, &number): (usize, &u8)| {
            let unknown = || format!("the class of queue {queue} is {number}; it must be 0 to 3");
            QueueClass::of(number).ok_or_else(unknown)
        };
        let classes = self
            .check_idle()
            .and_then(|()| numbers.iter().enumerate().map(class_of).collect::<Result<Vec<_>, _>>());
        let set = classes.map(|classes| self.drive.set_queue_classes(&classes));
        self.tell(set)
    }

    /// For what an idle drive takes alone.
    fn check_idle(&self) -> Result<(), String> {
        match self.drive.engine().outstanding() {
            0 => Ok(()),
            inside => Err(format!("{inside} requests are inside; this is for a drive that has none")),
        }
    }

    /// Whether something was done; why not, stands in the error.
    fn tell(&mut self, result: Result<(), String>) -> bool {
        self.error = CString::default();
        match result {
            Ok(()) => true,
            Err(reason) => {
                self.refuse(&reason);
                false
            }
        }
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
            if request.reserved != 0 {
                self.refuse("reserved must be 0");
                return taken;
            }
            let compressible_permille =
                if op == controller::Op::Write { request.compressible_permille } else { 0 };
            let Some(compressed_permille) = 1000u16.checked_sub(compressible_permille) else {
                self.refuse(&format!(
                    "compressible_permille is {compressible_permille}; it must be 0 to 1000"
                ));
                return taken;
            };
            // A flush is of no place.
            let (lba, sectors) = match op {
                controller::Op::Flush => (0, 0),
                _ => (request.lba, request.sector_count),
            };
            let command = Command {
                fua: request.fua != 0,
                hint: request.hint,
                queue: request.queue,
                content: Content { compressed_permille, ..Content::RANDOM },
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

/// The model of texts, what is general first.
fn model(texts: &[&str]) -> Result<Arc<Model>, String> {
    let origins: Vec<String> = (0..texts.len()).map(|number| format!("text {number}")).collect();
    let layers: Vec<Layer<'_>> =
        texts.iter().zip(&origins).map(|(text, origin)| Layer { text, origin }).collect();
    Model::parse_layers(&layers, &[]).map(Arc::new).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
