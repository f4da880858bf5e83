//! One drive of any family, behind one interface.

use drivelab_controller::{
    Command, CommandError, Completion, Device, Effects, FlashShape, MountReport, SolidStateDrive,
};
use drivelab_ftl::{CompressedMap, LogBlockMap, PageMap, SuperblockMap};
use drivelab_nand::view::MediumView;
use drivelab_sim::Nanos;
use serde_json::Value;

use crate::hard_disk::HardDisk;
use crate::raid0::Array;
use crate::{flash_report, raid0_report};

/// A drive of any family. One branch a command chooses among them: the work inside is compiled for each.
#[derive(Clone, Debug)]
pub enum Engine {
    /// Flash behind a page map.
    PageMap(Box<SolidStateDrive<PageMap>>),
    /// Flash behind a map that compresses and stores copies once.
    CompressedMap(Box<SolidStateDrive<CompressedMap>>),
    /// Flash behind a map of superblocks.
    SuperblockMap(Box<SolidStateDrive<SuperblockMap>>),
    /// Flash behind a map of superblocks, with log blocks.
    LogBlockMap(Box<SolidStateDrive<LogBlockMap>>),
    /// Platters and heads.
    HardDisk(Box<HardDisk>),
    /// Strips over several drives.
    Raid0(Box<Array>),
}

/// The same expression for the drive of whatever family.
macro_rules! each {
    ($engine:expr, $drive:ident => $work:expr) => {
        match $engine {
            Engine::PageMap($drive) => $work,
            Engine::CompressedMap($drive) => $work,
            Engine::SuperblockMap($drive) => $work,
            Engine::LogBlockMap($drive) => $work,
            Engine::HardDisk($drive) => $work,
            Engine::Raid0($drive) => $work,
        }
    };
}

impl Engine {
    /// Erases everything: the new state, except for wear. Commands still inside are completed unheard.
    pub fn secure_erase(&mut self) {
        each!(self, drive => drop(drive.secure_erase()));
    }

    /// Keeps a 64-bit stamp per sector from now on, for oracles. Call it on a new, small drive.
    pub fn keep_stamps(&mut self) {
        each!(self, drive => drive.keep_stamps());
    }

    /// Tag and stamps of every read worked on since the last call, if stamps are kept.
    pub fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        each!(self, drive => drive.take_read_stamps())
    }

    /// Durable mode from now on ([`SolidStateDrive::record_effects`]). Call it on a new drive.
    ///
    /// # Errors
    /// Why the drive forgets its data with its power.
    pub fn record_effects(&mut self, log_records: u32) -> Result<(), &'static str> {
        match self {
            Self::PageMap(drive) => drive.record_effects(log_records),
            Self::CompressedMap(drive) => drive.record_effects(log_records),
            Self::SuperblockMap(drive) => drive.record_effects(log_records),
            Self::LogBlockMap(drive) => drive.record_effects(log_records),
            Self::HardDisk(_) => Err("hard disks can't be kept in an image"),
            Self::Raid0(_) => Err("arrays can't be kept in an image"),
        }
    }

    /// The effects since they were last taken, instead of what `out` held.
    pub fn take_effects(&mut self, out: &mut Effects) {
        match self {
            Self::PageMap(drive) => drive.take_effects(out),
            Self::CompressedMap(drive) => drive.take_effects(out),
            Self::SuperblockMap(drive) => drive.take_effects(out),
            Self::LogBlockMap(drive) => drive.take_effects(out),
            Self::HardDisk(_) | Self::Raid0(_) => out.clear(),
        }
    }

    /// Whether a checkpoint must be written ([`Self::standby`]).
    #[must_use]
    pub fn wants_checkpoint(&self) -> bool {
        match self {
            Self::PageMap(drive) => drive.wants_checkpoint(),
            Self::CompressedMap(drive) => drive.wants_checkpoint(),
            Self::SuperblockMap(drive) => drive.wants_checkpoint(),
            Self::LogBlockMap(drive) => drive.wants_checkpoint(),
            Self::HardDisk(_) | Self::Raid0(_) => false,
        }
    }

    /// Goes to rest: everything is in flash, and a checkpoint is written. Gives completions not heard of.
    pub fn standby(&mut self) -> Vec<Completion> {
        match self {
            Self::PageMap(drive) => drive.standby(),
            Self::CompressedMap(drive) => drive.standby(),
            Self::SuperblockMap(drive) => drive.standby(),
            Self::LogBlockMap(drive) => drive.standby(),
            Self::HardDisk(_) | Self::Raid0(_) => Vec::new(),
        }
    }

    /// A new drive becomes what its flash holds, in durable mode.
    ///
    /// # Errors
    /// Flash that can't be this drive's, in words.
    pub fn mount(&mut self, medium: &dyn MediumView, log_records: u32) -> Result<MountReport, String> {
        match self {
            Self::PageMap(drive) => drive.mount(medium, log_records),
            Self::CompressedMap(drive) => drive.mount(medium, log_records),
            Self::SuperblockMap(drive) => drive.mount(medium, log_records),
            Self::LogBlockMap(drive) => drive.mount(medium, log_records),
            Self::HardDisk(_) => Err("hard disks can't be kept in an image".to_owned()),
            Self::Raid0(_) => Err("arrays can't be kept in an image".to_owned()),
        }
    }

    /// Whether a range that begins with this sector holds anything, and for how many of `sector_count` sectors that
    /// goes on. In durable mode.
    #[must_use]
    pub fn allocation(&self, lba: u64, sector_count: u64) -> (bool, u64) {
        match self {
            Self::PageMap(drive) => drive.allocation(lba, sector_count),
            Self::CompressedMap(drive) => drive.allocation(lba, sector_count),
            Self::SuperblockMap(drive) => drive.allocation(lba, sector_count),
            Self::LogBlockMap(drive) => drive.allocation(lba, sector_count),
            Self::HardDisk(_) | Self::Raid0(_) => (true, sector_count),
        }
    }

    /// What must be known to lay out the drive's flash on a medium; `None`: it has none.
    #[must_use]
    pub fn flash_shape(&self) -> Option<FlashShape> {
        match self {
            Self::PageMap(drive) => Some(drive.flash_shape()),
            Self::CompressedMap(drive) => Some(drive.flash_shape()),
            Self::SuperblockMap(drive) => Some(drive.flash_shape()),
            Self::LogBlockMap(drive) => Some(drive.flash_shape()),
            Self::HardDisk(_) | Self::Raid0(_) => None,
        }
    }

    /// Recounts all books; for tests and `check`.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        each!(self, drive => drive.check())
    }

    /// Sectors of the unit that a trim frees only whole; `None` for a drive that takes trims without effect.
    #[must_use]
    pub fn trim_unit_sectors(&self) -> Option<u32> {
        match self {
            Self::CompressedMap(drive) => flash_report::trim_unit_sectors(drive),
            Self::PageMap(drive) => flash_report::trim_unit_sectors(drive),
            Self::SuperblockMap(drive) => flash_report::trim_unit_sectors(drive),
            Self::LogBlockMap(drive) => flash_report::trim_unit_sectors(drive),
            Self::HardDisk(_) => None,
            Self::Raid0(array) => array.trim_unit_sectors(),
        }
    }

    /// Commands inside the drive.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        each!(self, drive => drive.outstanding())
    }

    /// Cumulative counters as a flat JSON object.
    #[must_use]
    pub fn counters(&self) -> Value {
        match self {
            Self::PageMap(drive) => flash_report::counters(drive),
            Self::CompressedMap(drive) => flash_report::counters(drive),
            Self::SuperblockMap(drive) => flash_report::counters(drive),
            Self::LogBlockMap(drive) => flash_report::counters(drive),
            Self::HardDisk(disk) => disk.counters(),
            Self::Raid0(array) => raid0_report::counters(array),
        }
    }

    /// State of every page, for flash drives small enough to look at.
    #[must_use]
    pub fn page_states(&self) -> Value {
        match self {
            Self::PageMap(drive) => flash_report::page_states(drive),
            Self::CompressedMap(drive) => flash_report::page_states(drive),
            Self::SuperblockMap(drive) => flash_report::page_states(drive),
            Self::LogBlockMap(drive) => flash_report::page_states(drive),
            Self::HardDisk(_) => Value::Array(Vec::new()),
            Self::Raid0(array) => array.members().map(|member| member.device().page_states()).collect(),
        }
    }

    /// What follows from the parameters: capacities in bytes, counts.
    #[must_use]
    pub fn derived(&self) -> Value {
        match self {
            Self::PageMap(drive) => flash_report::derived(drive),
            Self::CompressedMap(drive) => flash_report::derived(drive),
            Self::SuperblockMap(drive) => flash_report::derived(drive),
            Self::LogBlockMap(drive) => flash_report::derived(drive),
            Self::HardDisk(disk) => disk.derived(),
            Self::Raid0(array) => raid0_report::derived(array),
        }
    }
}

impl Device for Engine {
    fn capacity_sectors(&self) -> u64 {
        each!(self, drive => drive.capacity_sectors())
    }

    fn queue_depth(&self) -> u32 {
        each!(self, drive => drive.queue_depth())
    }

    fn now_ns(&self) -> Nanos {
        each!(self, drive => drive.now_ns())
    }

    #[inline]
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        each!(self, drive => drive.submit(now_ns, command))
    }

    fn next_event(&mut self) -> Option<Nanos> {
        each!(self, drive => drive.next_event())
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, drive => drive.advance(until_ns, done));
    }

    #[inline]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, drive => drive.advance_to_completion(until_ns, done));
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        each!(self, drive => drive.prefetch(lba));
    }
}
