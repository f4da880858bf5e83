//! A drive, and what is on its way to the host.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use drivelab_controller::{self as controller, Command, CommandError, Device};
use drivelab_drive::{Drive, Layer, Model};
use drivelab_sim::Nanos;

use crate::records::{Completion, Op, Request};

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
        for request in requests {
            self.drive.prefetch(request.lba);
        }
        for (taken, request) in requests.iter().enumerate() {
            let Some(op) = Op::of(request.op) else {
                self.refuse(&format!("op is {}; it must be 0 to 3", request.op));
                return taken;
            };
            if request.time_ns > self.drive.now_ns() {
                self.drive.advance(request.time_ns, &mut self.said);
                self.hear();
            }
            let command = Command {
                fua: request.fua != 0,
                ..Command::new(request.tag, op, request.lba, request.sector_count)
            };
            match self.drive.submit(request.time_ns, command) {
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

    fn refuse(&mut self, reason: &str) {
        // No reason holds a 0.
        self.error = CString::new(reason).unwrap_or_default();
    }

    /// At most `most` completions; [`Self::forget`] them afterwards.
    pub(crate) fn wait(&mut self, until_ns: Nanos, most: usize) -> &[Completion] {
        if self.heard == self.done.len() {
            self.done.clear();
            self.heard = 0;
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

    /// The host has heard of so many more.
    pub(crate) fn forget(&mut self, count: usize) {
        self.heard += count;
    }

    fn hear(&mut self) {
        self.done.extend(self.said.drain(..).map(Completion::from));
    }
}
