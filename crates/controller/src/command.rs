//! What a host may ask of a drive, and what it hears back: the commands of ATA that move or drop data
//! (REFERENCES.md, \[ACS\]).

use drivelab_ftl::Content;
use drivelab_sim::Nanos;
use drivelab_sim::time::LATEST;
use serde::{Deserialize, Serialize};

/// Bytes of a logical sector: the unit in which hosts address a drive.
pub const SECTOR_BYTES: u64 = drivelab_nand::SECTOR_BYTES as u64;

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// Transfer sectors to the host.
    Read,
    /// Transfer sectors from the host.
    Write,
    /// Done when every write acknowledged before it is in flash.
    Flush,
    /// The host no longer needs these sectors; whole map units inside the range read as zeros afterwards.
    Trim,
}

/// One command of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Chosen by the host, given back with the completion. Any value; the drive does not interpret it.
    pub tag: u32,
    /// Kind.
    pub op: Op,
    /// Forced unit access: a write is done only when it is in flash.
    pub fua: bool,
    /// First sector.
    pub lba: u64,
    /// Number of sectors; 0 only for `Flush`.
    pub sector_count: u32,
    /// What this write's content is, for oracles that read it back: sector `i` of the command holds the stamp
    /// `stamp + i`. Kept only by drives told to (`SolidStateDrive::keep_stamps`).
    pub stamp: u64,
    /// What matters of a write's content; only compressing drives look at it.
    pub content: Content,
    /// The write stream that the host would like a write to go to; 0: it doesn't say. Only drives that place by hints look
    /// at it.
    pub hint: u8,
    /// The submission queue that it comes by. Only drives with several look at it; one beyond the last is one of those
    /// that there are, in turn.
    pub queue: u16,
}

/// The priority that a host gives a submission queue when it makes it. Only weighted round robin looks at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueClass {
    /// Before all others, however many they are.
    Urgent,
    /// The first weight.
    High,
    /// The second weight.
    #[default]
    Medium,
    /// The third weight.
    Low,
}

impl QueueClass {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Urgent => "urgent",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

impl Command {
    /// A command without FUA or stamp, of random content.
    #[must_use]
    pub fn new(tag: u32, op: Op, lba: u64, sector_count: u32) -> Self {
        Self { tag, op, fua: false, lba, sector_count, stamp: 0, content: Content::RANDOM, hint: 0, queue: 0 }
    }

    /// Bytes that the command moves over the host link.
    #[inline]
    #[must_use]
    pub fn transfer_bytes(&self) -> u64 {
        match self.op {
            Op::Read | Op::Write => u64::from(self.sector_count) * SECTOR_BYTES,
            Op::Flush | Op::Trim => 0,
        }
    }

    /// Whether a drive of `capacity_sectors` that has reached `reached_ns` may be handed the command at `now_ns`.
    ///
    /// # Errors
    /// [`CommandError`] of a range that leaves the drive, of no sectors, or of a time that has passed.
    #[inline]
    pub fn check(&self, now_ns: Nanos, reached_ns: Nanos, capacity_sectors: u64) -> Result<(), CommandError> {
        let end = self.lba.saturating_add(u64::from(self.sector_count));
        if end > capacity_sectors {
            return Err(CommandError::OutOfRange { lba: self.lba, end, capacity_sectors });
        }
        if self.sector_count == 0 && self.op != Op::Flush {
            return Err(CommandError::Empty);
        }
        if now_ns < reached_ns {
            return Err(CommandError::Past { now_ns, reached_ns });
        }
        Ok(())
    }
}

/// Where the time of one command went, in ns. Every part is measured while it happens; that they add up to the latency
/// is checked, not made so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySplit {
    /// Waiting for the firmware, the link, a bus, buffer space or a die that were busy with other host work.
    pub queueing_ns: Nanos,
    /// On the host link.
    pub link_ns: Nanos,
    /// Firmware working on this command.
    pub firmware_ns: Nanos,
    /// Flash working for this command while its data is not on the link: sensing, bus transfer, programming where the
    /// command waits for it. Of a hard disk, arm and media.
    pub flash_ns: Nanos,
    /// Waiting for flash, or for buffer space, while cleaning (or wear levelling) held it.
    pub cleaning_ns: Nanos,
}

impl LatencySplit {
    /// The sum of all parts.
    #[must_use]
    pub fn total_ns(&self) -> Nanos {
        self.queueing_ns + self.link_ns + self.firmware_ns + self.flash_ns + self.cleaning_ns
    }
}

/// How a command ended. Only drives with faults end one in another way than `Done`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did what was asked.
    #[default]
    Done,
    /// A read of sectors that flash can't give back; which ones is in `SolidStateDrive::take_unreadable`.
    Uncorrectable,
    /// A write or trim of a drive that only reads any more. A write may have been done in part.
    Refused,
    /// A flush, or a write that had to reach flash, and flash has no room left that works.
    Failed,
}

/// Sectors of a read that could not be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The tag of the command.
    pub tag: u32,
    /// The first of them, counted from the command's first sector.
    pub first_sector: u32,
    /// How many.
    pub sector_count: u32,
}

/// A finished command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The tag of the command.
    pub tag: u32,
    /// Kind of the command.
    pub op: Op,
    /// How it ended.
    pub outcome: Outcome,
    /// Sectors of the command.
    pub sector_count: u32,
    /// When it was submitted.
    pub submitted_ns: Nanos,
    /// When the host heard that it is done.
    pub completed_ns: Nanos,
    /// Where the time went; adds up to `completed_ns - submitted_ns`.
    pub split: LatencySplit,
}

impl Completion {
    /// From submission to completion.
    #[inline]
    #[must_use]
    pub fn latency_ns(&self) -> Nanos {
        self.completed_ns - self.submitted_ns
    }
}

/// Why a command was refused. Nothing has happened inside the drive then but what lay before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The range leaves the drive.
    #[error("sectors {lba}..{end} leave the drive, which has {capacity_sectors} sectors")]
    OutOfRange {
        /// First sector asked for.
        lba: u64,
        /// One past the last sector asked for (saturating).
        end: u64,
        /// Size of the drive.
        capacity_sectors: u64,
    },
    /// A read, write or trim of no sectors.
    #[error("a read, write or trim needs at least one sector")]
    Empty,
    /// All tags of the drive's queue are in use.
    #[error("the command queue is full ({queue_depth} commands)")]
    QueueFull {
        /// Commands that the drive accepts at once.
        queue_depth: u32,
    },
    /// Later than anything may be asked. What was asked before may go on beyond.
    #[error("command submitted at {now_ns} ns; it must be 0 to {LATEST}")]
    TooLate {
        /// Time of the submission.
        now_ns: Nanos,
    },
    /// Time ran backwards.
    #[error("command submitted at {now_ns} ns, but the drive has already reached {reached_ns} ns")]
    Past {
        /// Time of the submission.
        now_ns: Nanos,
        /// Time that the drive has reached.
        reached_ns: Nanos,
    },
}

/// A drive as its host sees it: a state machine in virtual time, without I/O or clocks of its own.
///
/// ```text
/// submit(now, command) -> next_event() = Some(t) -> advance(t, done) -> completions -> submit ...
/// ```
pub trait Device {
    /// Size in 512-byte sectors.
    fn capacity_sectors(&self) -> u64;

    /// Commands that may be outstanding at once.
    fn queue_depth(&self) -> u32;

    /// Submission queues that the host has, each with an order of its own.
    fn queue_count(&self) -> u32 {
        1
    }

    /// Commands that wait in each submission queue, to look at; nothing, where there is one line.
    fn queue_lengths(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The host makes its submission queues anew, with these classes, while no command is outstanding.
    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        let _ = classes;
    }

    /// Most sectors that one command may read or write; the host splits what is larger.
    fn max_transfer_sectors(&self) -> u32 {
        u32::MAX
    }

    /// Time that the drive has reached.
    fn now_ns(&self) -> Nanos;

    /// Hands over a command at `now_ns`, which must not lie before any time already reached. A whole drive takes none after
    /// [`LATEST`].
    ///
    /// # Errors
    /// [`CommandError`]; the drive is unchanged then but for time.
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError>;

    /// When something next happens inside, or `None` if nothing will without a new command.
    /// Not every event completes a command.
    fn next_event(&mut self) -> Option<Nanos>;

    /// Lets time pass until `until_ns` (inclusive), appending completions in order of time. `Nanos::MAX` is never: all
    /// that is inside happens, and the clock stays where the last of it did.
    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>);

    /// Lets time pass until at least one command completes, or until `until_ns`; same completions as
    /// `advance` would give, fewer calls. Returns with `now_ns` at the last completion appended; of `Nanos::MAX` without
    /// one, nothing is inside any more.
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        let before = done.len();
        while done.len() == before {
            match self.next_event() {
                Some(time) if time <= until_ns => self.advance(time, done),
                _ => {
                    self.advance(until_ns, done);
                    return;
                }
            }
        }
    }

    /// A hint that this sector will soon be asked for: brings its map entry into the processor's cache.
    /// Never changes a result.
    fn prefetch(&self, lba: u64) {
        let _ = lba;
    }
}
