//! A command inside a solid-state drive, and where its time goes.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Outcome};
use crate::flash::BusyTime;
use crate::host::account::Account;

/// A command inside the drive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub command: Command,
    /// Where its time goes.
    pub account: Account,
    /// What the firmware has to do for it, the pipeline included.
    pub firmware_ns: Nanos,
    /// Time on the link, for the whole command.
    pub link_ns: Nanos,
    /// Writes: sectors that have entered the buffer.
    pub sectors_done: u32,
    /// Writes: waiting for buffer space.
    pub is_stalled: bool,
    /// Busy time of the dies when a wait for them began.
    pub wait_base: BusyTime,
    /// Entries that must reach flash before this command is done.
    pub pending: u32,
    /// All units are in the buffer.
    pub admitted: bool,
    /// Flush: entries with a lower order number count.
    pub flush_order: u64,
    /// Flush: so many pages of the log count, if any.
    pub log_pages: u64,
    /// How it will have ended.
    pub outcome: Outcome,
}

impl Slot {
    /// A command that has just been handed over, for which the firmware has so much to do.
    #[inline]
    pub(super) fn new(command: Command, submitted_ns: Nanos, firmware_ns: Nanos, link_ns: Nanos) -> Self {
        Self {
            command,
            account: Account::new(submitted_ns),
            firmware_ns,
            link_ns,
            sectors_done: 0,
            is_stalled: false,
            wait_base: BusyTime::default(),
            pending: 0,
            admitted: false,
            flush_order: 0,
            log_pages: 0,
            outcome: Outcome::Done,
        }
    }
}
