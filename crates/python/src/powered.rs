//! A drive at work, and what happens to its flash meanwhile.

use drivelab_controller::{Command, CommandError, Completion, Device, QueueClass};
use drivelab_drive::Gauges;
use drivelab_image::KeptFlash;
use drivelab_sim::Nanos;
use drivelab_workload::Meters;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;

/// A drive at work, and what happens to its flash.
pub struct Powered<'a> {
    pub(crate) drive: &'a mut drivelab_drive::Drive,
    pub(crate) flash: &'a mut KeptFlash,
}

/// Work on the device that a [`Drive`] is, with flash that is kept or without; an error where that could not follow.
macro_rules! on_device {
    ($drive:expr, $device:ident => $work:expr) => {{
        let drive = &mut *$drive;
        match &mut drive.kept {
            None => {
                let $device = &mut drive.inner;
                $work
            }
            Some(flash) => {
                $crate::powered::check_power(flash)?;
                let powered = &mut $crate::powered::Powered { drive: &mut drive.inner, flash };
                let found = {
                    let $device = &mut *powered;
                    $work
                };
                $crate::powered::check_flash(powered.flash)?;
                found
            }
        }
    }};
}
pub(crate) use on_device;

/// An error for a drive without power.
pub fn check_power(flash: &KeptFlash) -> PyResult<()> {
    if flash.is_on() { Ok(()) } else { Err(errors::WorkloadError::new_err("the power is off")) }
}

/// An error where flash could not do what the drive did.
pub fn check_flash(flash: &mut KeptFlash) -> PyResult<()> {
    flash.take_failure().map_or(Ok(()), |failure| Err(errors::failed(&failure)))
}

impl Device for Powered<'_> {
    fn capacity_sectors(&self) -> u64 {
        self.drive.capacity_sectors()
    }

    fn queue_depth(&self) -> u32 {
        self.drive.queue_depth()
    }

    fn queue_count(&self) -> u32 {
        self.drive.queue_count()
    }

    fn queue_lengths(&self) -> Vec<u32> {
        self.drive.queue_lengths()
    }

    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        self.drive.set_queue_classes(classes);
    }

    fn max_transfer_sectors(&self) -> u32 {
        self.drive.max_transfer_sectors()
    }

    fn now_ns(&self) -> Nanos {
        self.drive.now_ns()
    }

    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        self.drive.submit(now_ns, command)
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.drive.next_event()
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        // In pieces: what happens to flash is carried out before there is much of it.
        while let Some(event_ns) = self.drive.next_event().filter(|&event_ns| event_ns < until_ns) {
            self.drive.advance(event_ns, done);
            self.flash.follow(self.drive, done);
        }
        self.drive.advance(until_ns.max(self.drive.now_ns()), done);
        self.flash.follow(self.drive, done);
    }

    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.drive.advance_to_completion(until_ns, done);
        self.flash.follow(self.drive, done);
    }

    fn prefetch(&self, lba: u64) {
        self.drive.prefetch(lba);
    }
}

impl Meters for Powered<'_> {
    fn counters(&self) -> Value {
        self.drive.counters()
    }

    fn gauges(&self) -> Gauges {
        self.drive.gauges()
    }
}

/// Erases everything of a drive, and of what is kept of its flash.
pub fn secure_erase(drive: &mut drivelab_drive::Drive, flash: &mut KeptFlash) -> PyResult<()> {
    check_power(flash)?;
    flash.follow(drive, &mut Vec::new());
    drive.secure_erase();
    flash.follow(drive, &mut Vec::new());
    check_flash(flash)
}
