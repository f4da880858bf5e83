//! A command inside a hard disk.

use drivelab_controller::{Account, Command};
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// A command inside the disk.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Slot {
    pub command: Command,
    /// Where its time goes.
    pub account: Account,
    /// Time on the link, for the whole command.
    pub link_ns: Nanos,
    /// Sectors that have been on the link: of a read to the host, of a write to the cache.
    pub sectors_done: u32,
    /// Extents that must reach the media before this command is done.
    pub pending: u32,
    /// A write: all data has been taken.
    pub admitted: bool,
    /// A flush: extents with a lower order count.
    pub flush_order: u64,
}

impl Slot {
    /// The heads have worked for it from `from` to `until`, as far as that is not told already.
    #[inline]
    pub fn media_worked(&mut self, from: Nanos, until: Nanos) {
        self.account.queued_until(from);
        self.account.worked_until(until);
    }
}
