//! Parameters of the controller.

use drivelab_nand::{FlashTiming, GeometryError};
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::buffer::NONE;
use crate::command::{Op, SECTOR_BYTES};
use crate::host::submission::SubmissionConfig;

/// The host link: first come first served, each way by itself or both together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkConfig {
    /// Payload rate in bytes per second; 0: takes no time.
    pub bytes_per_s: u64,
    /// Largest payload of one frame (data FIS).
    pub frame_bytes: u32,
    /// Framing, handshake and turnaround of one frame.
    pub frame_overhead_ns: Nanos,
    /// Command and status frames of one command.
    pub command_overhead_ns: Nanos,
    /// Data goes both ways at the same time (PCI Express), not one way after the other.
    pub full_duplex: bool,
}

impl LinkConfig {
    /// Time on the link of one command that moves `bytes`.
    #[must_use]
    pub fn command_ns(&self, bytes: u64) -> Nanos {
        let frames = bytes.div_ceil(u64::from(self.frame_bytes.max(1)));
        self.command_overhead_ns
            + frames * self.frame_overhead_ns
            + drivelab_sim::time::transfer_ns(bytes, self.bytes_per_s)
    }
}

/// A limit that firmware puts on a kind of command: a token bucket. Commands above the sustained rate spend a credit
/// that fills up while the drive is asked for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GovernorConfig {
    /// Sustained commands per second; 0: no limit.
    pub commands_per_s: u32,
    /// Commands of credit.
    pub burst_commands: u32,
    /// While writes wait for the buffer, what becomes free in it goes back to them evenly, with this time constant; 0: at
    /// once.
    pub credit_ns: Nanos,
}

/// Firmware work: processors that take commands on in order, the work on single pages between them as it comes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirmwareConfig {
    /// Processors, all alike: each takes on the next command when it is free.
    pub cores: u32,
    /// A read.
    pub read_ns: Nanos,
    /// A write.
    pub write_ns: Nanos,
    /// A trim.
    pub trim_ns: Nanos,
    /// A flush.
    pub flush_ns: Nanos,
    /// Further time that a command spends in the controller without keeping others waiting: protocol, set-up of
    /// transfers, compression.
    pub pipeline_ns: Nanos,
    /// Limit of writes.
    pub write_governor: GovernorConfig,
}

impl FirmwareConfig {
    /// Work for a command of this kind.
    #[inline]
    #[must_use]
    pub fn command_ns(&self, op: Op) -> Nanos {
        match op {
            Op::Read => self.read_ns,
            Op::Write => self.write_ns,
            Op::Trim => self.trim_ns,
            Op::Flush => self.flush_ns,
        }
    }
}

/// The write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferConfig {
    /// Map units it holds.
    pub units: u32,
    /// Writes are acknowledged when their data is in the buffer.
    pub write_back: bool,
    /// Overwrites of a unit that still waits in the buffer replace it there.
    pub coalesce: bool,
    /// How long a page that is not full waits for more data.
    pub hold_ns: Nanos,
    /// A capacitor keeps the buffer through a power cut: flush and FUA need not wait for flash.
    pub capacitor: bool,
    /// Which superblock's units leave next, where they are grouped.
    pub eviction: BufferEviction,
    /// It takes data that go on where the last ended; other data wait until all that it holds is in flash, and while a
    /// merge is under way, whose copies go through it, everything waits.
    pub one_group: bool,
}

/// Which superblock's units leave a buffer that groups them, when space is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferEviction {
    /// The one whose units have waited longest.
    #[default]
    Oldest,
    /// The one with most units.
    Fullest,
    /// That of any waiting unit.
    Random,
}

/// Which die the next host page goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DieAllocation {
    /// Strictly one after another: the stripe waits for a die that is being cleaned.
    RoundRobin,
    /// Channels strictly one after another; on a channel the die that has been idle longest.
    ChannelRoundRobin,
    /// The die that has been idle longest.
    #[default]
    EarliestFree,
}

/// How cleaning shares a die with host writes below the start threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CleaningPace {
    /// A block is emptied in one go; host pages of that die wait.
    Block,
    /// Just as many copies per host page as keep the free pool level.
    #[default]
    Paced,
    /// As many copies as free what host pages take, in fractions, and few more: writes at saturation are evenly slow.
    Level,
    /// As paced; and with nothing to write, copies wait until the host has no command under way.
    Yielding,
}

/// Scheduling over channels and dies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchedulingConfig {
    /// Which die the next host page goes to.
    pub die_allocation: DieAllocation,
    /// Programs in flight on one channel (power, command queue depth of the sequencer); 0: no limit.
    pub programs_per_channel: u32,
    /// How cleaning shares a die with host writes.
    pub cleaning_pace: CleaningPace,
    /// Pages of copies that a die makes in one job, which reads of the host can't divide; 0 or 1: one.
    pub cleaning_copies_at_once: u32,
    /// A read behind writes that have no space in the buffer waits with them.
    pub in_order: bool,
    /// Idle time before idle-time cleaning begins.
    pub idle_delay_ns: Nanos,
    /// Firmware work for each page that is programmed for the host.
    pub program_firmware_ns: Nanos,
    /// Firmware work for each map unit that a write covers in part while flash holds the rest.
    pub partial_unit_firmware_ns: Nanos,
    /// Partial units on their way at once, from the read of the rest to the end of the program; 0: no limit.
    pub partial_units_at_once: u32,
    /// Rate at which data from flash gets to the link (error correction, internal buses); 0: takes no time.
    pub read_path_bytes_per_s: u64,
    /// Rate at which data gets to all channels to be programmed (scrambling, encoding, internal buses); 0: takes no time.
    pub write_path_bytes_per_s: u64,
    /// What is read ahead of a read that goes on where the last one ended; 0: nothing.
    pub read_ahead_bytes: u64,
}

/// Word lines that are programmed whole, in one operation, and read page by page: planes side by side, and on each of
/// them as many pages as a cell has bits. Units lie on the lower pages of all planes first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordLineConfig {
    /// Planes that a word line crosses.
    pub planes: u32,
    /// Pages of a word line on a plane: bits of a cell, at most 4.
    pub page_types: u32,
    /// tR of each of them, the lower page first.
    pub read_ns: [Nanos; 4],
    /// Planes whose pages of one kind are sensed together.
    pub planes_at_once: u32,
    /// Each plane reads by itself; otherwise a die reads one thing after the other.
    pub independent_planes: bool,
    /// Reads of the host suspend programs and erases; `None`: they wait for the end.
    pub suspension: Option<SuspensionConfig>,
    /// Times of blocks with one bit a cell, where there are such.
    pub slc: SlcTimes,
    /// Native word lines are programmed twice; `None`: once.
    pub passes: Option<PassConfig>,
}

/// Two passes of a program: a coarse one, and a fine one when the word lines behind have had their coarse one. Nothing can
/// be read of a word line between its two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassConfig {
    /// tPROG of the coarse pass.
    pub coarse_ns: Nanos,
    /// tPROG of the fine one.
    pub fine_ns: Nanos,
    /// Word lines behind one that have their coarse pass before its fine one.
    pub held_word_lines: u32,
    /// The data crosses the bus for either pass; otherwise the die keeps it.
    pub sends_twice: bool,
}

/// Times of blocks with one bit a cell, whose word lines hold one page of each plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlcTimes {
    /// tR.
    pub read_ns: Nanos,
    /// tPROG of a word line.
    pub program_ns: Nanos,
    /// tBERS.
    pub erase_ns: Nanos,
}

/// Programs and erases that stop for reads of the host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuspensionConfig {
    /// From the wish to the read's beginning, for a program; `None`: reads wait for its end.
    pub program_ns: Option<Nanos>,
    /// The same for an erase.
    pub erase_ns: Option<Nanos>,
    /// From the end of the last read to where the operation goes on.
    pub resume_ns: Nanos,
    /// An operation runs for so long at least before it stops again.
    pub slice_ns: Nanos,
    /// An operation that ends within so long is not stopped any more: reads wait for its end.
    pub finish_ns: Nanos,
    /// Times that an operation stops; 0: no limit.
    pub most: u32,
    /// No more reads come in front of an operation that has been kept from running for this share of its own time.
    pub suspended_max_percent: u32,
}

/// Electrical power, in mW while the part is busy (`_mw`), or all the time (`idle_mw`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PowerConfig {
    /// Controller, DRAM and link at rest.
    pub idle_mw: u32,
    /// More while a command is inside the drive: what a firmware that knows the power state switches off without one.
    pub active_mw: u32,
    /// More while the firmware works on a command.
    pub firmware_mw: u32,
    /// More while the link moves data.
    pub link_mw: u32,
    /// A channel's bus while it moves data.
    pub bus_mw: u32,
    /// A die while it senses.
    pub read_mw: u32,
    /// A die while it programs.
    pub program_mw: u32,
    /// A die while it erases.
    pub erase_mw: u32,
}

impl PowerConfig {
    /// Whether anything is known of it: a drive of which nothing is has no energy, which is not none.
    #[must_use]
    pub fn is_known(&self) -> bool {
        *self != Self::default()
    }
}

/// Everything the controller needs to know beside the FTL's own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControllerConfig {
    /// Commands that the controller has room for (NCQ depth).
    pub queue_depth: u32,
    /// Queues in the host's memory, in front of that room.
    pub submission: SubmissionConfig,
    /// Host link.
    pub link: LinkConfig,
    /// Firmware.
    pub firmware: FirmwareConfig,
    /// Write buffer.
    pub buffer: BufferConfig,
    /// Scheduling.
    pub scheduling: SchedulingConfig,
    /// Flash timing.
    pub timing: FlashTiming,
    /// Pages of a word line, where reads tell them apart.
    pub word_lines: Option<WordLineConfig>,
    /// Power.
    pub power: PowerConfig,
}

/// Most commands that a host keeps outstanding on a drive: 128 queues of 8192.
const MOST_OUTSTANDING: u64 = 1 << 20;

impl ControllerConfig {
    /// Whether a drive with so many dies can work, whose buffer holds units of this many sectors, and must have room for so
    /// many of them at least.
    ///
    /// # Errors
    /// One of the parameters, its value and what is allowed.
    pub(crate) fn check(
        &self,
        dies: u32,
        sectors_per_unit: u32,
        buffer_units_min: u32,
    ) -> Result<(), GeometryError> {
        if self.queue_depth == 0 || self.queue_depth > 65_536 {
            return Err(GeometryError::new("controller.queue_depth", self.queue_depth, "must be 1 to 65536"));
        }
        let SubmissionConfig { queues, entries, .. } = self.submission;
        if queues > 1 && self.queue_depth < 2 {
            let allowed = format!("must be at least 2 with nvme.queue_count = {queues}");
            return Err(GeometryError::new("controller.queue_depth", self.queue_depth, allowed));
        }
        if u64::from(queues) * u64::from(entries) > MOST_OUTSTANDING {
            let allowed = format!(
                "must be at most {} with nvme.queue_count = {queues}",
                MOST_OUTSTANDING / u64::from(queues)
            );
            return Err(GeometryError::new("nvme.queue_entries", entries, allowed));
        }
        let unit = u64::from(sectors_per_unit) * SECTOR_BYTES;
        let bytes = u64::from(self.buffer.units) * unit;
        if let Some(passes) = self.word_lines.and_then(|lines| lines.passes) {
            // Each die has some between their passes, and one must be on its way.
            let held = u64::from(passes.held_word_lines) * u64::from(dies);
            let least = (held + 1) * u64::from(buffer_units_min);
            if u64::from(self.buffer.units) < least {
                let allowed = format!(
                    "must hold at least {} bytes with flash.program_passes = 2: {held} word lines between their passes, and one",
                    least * unit
                );
                return Err(GeometryError::new("write_buffer.size_bytes", bytes, allowed));
            }
        }
        if self.buffer.units < buffer_units_min || self.buffer.units >= NONE / 4 {
            let allowed = format!(
                "must hold at least {} bytes, what one program writes",
                u64::from(buffer_units_min) * unit
            );
            return Err(GeometryError::new("write_buffer.size_bytes", bytes, allowed));
        }
        Ok(())
    }
}
