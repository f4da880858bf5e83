//! Where the time of a command goes that is inside.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Completion, LatencySplit, Outcome};

/// Every stretch of a command's time, told once, when it is known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Account {
    /// When the host handed the command over.
    pub submitted_ns: Nanos,
    /// Where its time went.
    pub split: LatencySplit,
    /// Up to here `split` says so. It may lie ahead: the link is reserved in advance.
    pub told_ns: Nanos,
}

impl Account {
    /// Of a command that has just been handed over.
    #[inline]
    #[must_use]
    pub fn new(submitted_ns: Nanos) -> Self {
        Self { submitted_ns, split: LatencySplit::default(), told_ns: submitted_ns }
    }

    /// The command has waited for others of the host until then, if it lies ahead.
    #[inline]
    pub fn queued_until(&mut self, until: Nanos) {
        self.split.queueing_ns += until.saturating_sub(self.told_ns);
        self.told_ns = self.told_ns.max(until);
    }

    /// The firmware works for it for so long.
    #[inline]
    pub fn in_firmware(&mut self, firmware_ns: Nanos) {
        self.split.firmware_ns += firmware_ns;
        self.told_ns += firmware_ns;
    }

    /// Flash or media have worked for it until then, as far as that is not told already.
    #[inline]
    pub fn worked_until(&mut self, until: Nanos) {
        self.split.flash_ns += until.saturating_sub(self.told_ns);
        self.told_ns = self.told_ns.max(until);
    }

    /// It is on the link for so long.
    #[inline]
    pub fn on_link(&mut self, link_ns: Nanos) {
        self.split.link_ns += link_ns;
        self.told_ns += link_ns;
    }

    /// The command is done.
    #[inline]
    #[must_use]
    pub fn completion(&self, command: &Command, outcome: Outcome, completed_ns: Nanos) -> Completion {
        Completion {
            tag: command.tag,
            op: command.op,
            outcome,
            sector_count: command.sector_count,
            submitted_ns: self.submitted_ns,
            completed_ns,
            split: self.split,
        }
    }
}
