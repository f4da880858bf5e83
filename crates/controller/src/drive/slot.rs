//! A command inside a solid-state drive, and where its time goes.

use drivelab_sim::Nanos;

use crate::command::{Command, LatencySplit, Outcome};
use crate::flash::BusyTime;

/// A command inside the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub command: Command,
    pub submitted_ns: Nanos,
    pub split: LatencySplit,
    /// Time on the link, for the whole command.
    pub link_ns: Nanos,
    /// Writes: sectors that have entered the buffer.
    pub sectors_done: u32,
    /// Up to here `split` says where the time went. It may lie ahead: the link is reserved in advance.
    pub told_ns: Nanos,
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
            submitted_ns,
            split: LatencySplit { firmware_ns, ..LatencySplit::default() },
            link_ns,
            sectors_done: 0,
            told_ns: submitted_ns,
            is_stalled: false,
            wait_base: BusyTime::default(),
            pending: 0,
            admitted: false,
            flush_order: 0,
            log_pages: 0,
            outcome: Outcome::Done,
        }
    }

    /// The command has waited for others of the host until then, if it lies ahead.
    #[inline]
    pub(crate) fn queued_until(&mut self, until: Nanos) {
        self.split.queueing_ns += until.saturating_sub(self.told_ns);
        self.told_ns = self.told_ns.max(until);
    }
}
