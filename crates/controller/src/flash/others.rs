//! What is reserved for others when a command comes that reads several pieces, which wait for each other, too.
//!
//! Others have something to do up to the end of what is reserved for them: whatever waits longer waits for its own
//! command. That may be more than the wait for others: gaps of a bus that pieces of the command fill, a program that is
//! suspended for them. So a command's wait for itself is never told too long.

use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Until when a resource was reserved, and the command that found it so.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Found {
    command: u64,
    until_ns: Nanos,
}

impl Found {
    /// The first piece of a command finds what others have reserved, later ones what it has found.
    #[inline]
    fn by(&mut self, command: u64, until_ns: impl FnOnce() -> Nanos) -> Nanos {
        if self.command != command {
            *self = Self { command, until_ns: until_ns() };
        }
        self.until_ns
    }
}

/// What the pieces of the command that was begun last have found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Others {
    command: u64,
    dies: Vec<Found>,
    channels: Vec<Found>,
    read_path_ns: Nanos,
}

impl Others {
    pub(super) fn new(dies: u32, channels: u32) -> Self {
        Self {
            command: 0,
            dies: vec![Found::default(); dies as usize],
            channels: vec![Found::default(); channels as usize],
            read_path_ns: 0,
        }
    }

    /// A command begins that reads several pieces; the way to the link is reserved up to `read_path_ns`.
    pub(super) fn begin(&mut self, read_path_ns: Nanos) {
        self.command += 1;
        self.read_path_ns = read_path_ns;
    }

    /// Until when all that a piece needs is reserved for others, where nothing of the command has been before.
    #[inline]
    pub(super) fn until(
        &mut self,
        die: DieIndex,
        channel: u32,
        die_until: impl FnOnce() -> Nanos,
        bus_until: impl FnOnce() -> Nanos,
    ) -> Nanos {
        let of_die = self.dies[die.0 as usize].by(self.command, die_until);
        let of_bus = self.channels[channel as usize].by(self.command, bus_until);
        of_die.max(of_bus).max(self.read_path_ns)
    }
}
