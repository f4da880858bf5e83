//! One drive of any family, behind one interface.

use drivelab_controller::{Backlog, Command, CommandError, Completion, Device, QueueClass, SolidStateDrive};
use drivelab_ftl::{CompressedMap, DemandLoaded, LogBlockMap, PageMap, SuperblockMap};
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::flash_report;
use crate::hard_disk::HardDisk;
use crate::partition::Partition;
use crate::raid0::Raid0;

/// An array of drives of any family.
pub type Array = Raid0<Partition<Engine>>;

/// A drive of any family. One branch a command chooses among them: the work inside is compiled for each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Engine {
    /// Flash behind a page map.
    PageMap(Box<SolidStateDrive<PageMap>>),
    /// Flash behind a page map that lies in flash itself.
    DemandMap(Box<SolidStateDrive<PageMap<DemandLoaded>>>),
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

/// The same expression for a flash drive of whatever scheme, another for a hard disk and for an array. The one place beside
/// [`Engine`] that lists all of its variants.
#[macro_export]
macro_rules! by_kind {
    ($engine:expr, $flash:ident => $work:expr, $disk:ident => $disk_work:expr, $array:ident => $array_work:expr $(,)?) => {
        match $engine {
            $crate::Engine::PageMap($flash) => $work,
            $crate::Engine::DemandMap($flash) => $work,
            $crate::Engine::CompressedMap($flash) => $work,
            $crate::Engine::SuperblockMap($flash) => $work,
            $crate::Engine::LogBlockMap($flash) => $work,
            $crate::Engine::HardDisk($disk) => $disk_work,
            $crate::Engine::Raid0($array) => $array_work,
        }
    };
}

/// The same expression for the drive of whatever kind.
macro_rules! each {
    ($engine:expr, $drive:ident => $work:expr) => {
        by_kind!($engine, $drive => $work, $drive => $work, $drive => $work)
    };
}

impl Engine {
    /// Erases everything: the new state, except for wear. Commands still inside are completed unheard.
    pub fn secure_erase(&mut self) {
        each!(self, drive => drop(drive.secure_erase()));
    }

    /// What lies in flash becomes older, of an array in all of its members.
    pub fn age(&mut self, duration_ns: Nanos) {
        by_kind!(self, flash => flash.age(duration_ns), _disk => (), array => array.age(duration_ns));
    }

    /// Keeps a 64-bit stamp per sector from now on, for oracles. Call it on a new, small drive.
    pub fn keep_stamps(&mut self) {
        each!(self, drive => drive.keep_stamps());
    }

    /// Tag and stamps of every read worked on since the last call, if stamps are kept.
    pub fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        each!(self, drive => drive.take_read_stamps())
    }

    /// What the drive has put off, to look at.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        each!(self, drive => drive.backlog())
    }

    /// Recounts all books; for tests and `check`.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        each!(self, drive => drive.check())
    }

    /// What must be true between any two events; cheap enough to be asked after each.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check_step(&self) -> Result<(), String> {
        each!(self, drive => drive.check_step())
    }

    /// Sectors of the unit that a trim frees only whole; `None` for a drive that takes trims without effect.
    #[must_use]
    pub fn trim_unit_sectors(&self) -> Option<u32> {
        by_kind!(self,
            flash => flash_report::trim_unit_sectors(flash),
            _disk => None,
            array => array.trim_unit_sectors())
    }

    /// Commands inside the drive.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        each!(self, drive => drive.outstanding())
    }

    /// Cumulative counters as a flat JSON object.
    #[must_use]
    pub fn counters(&self) -> Value {
        by_kind!(self,
            flash => flash_report::counters(flash), disk => disk.counters(), array => array.counters())
    }

    /// State of every page, for flash drives small enough to look at.
    #[must_use]
    pub fn page_states(&self) -> Value {
        by_kind!(self,
            flash => flash_report::page_states(flash),
            _disk => Value::Array(Vec::new()),
            array => array.members().map(|member| member.device().page_states()).collect())
    }

    /// What follows from the parameters: capacities in bytes, counts.
    #[must_use]
    pub fn derived(&self) -> Value {
        by_kind!(self,
            flash => flash_report::derived(flash), disk => disk.derived(), array => array.derived())
    }
}

impl Device for Engine {
    fn capacity_sectors(&self) -> u64 {
        each!(self, drive => drive.capacity_sectors())
    }

    fn queue_depth(&self) -> u32 {
        each!(self, drive => drive.queue_depth())
    }

    fn queue_count(&self) -> u32 {
        each!(self, drive => drive.queue_count())
    }

    fn queue_lengths(&self) -> Vec<u32> {
        each!(self, drive => drive.queue_lengths())
    }

    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        each!(self, drive => drive.set_queue_classes(classes));
    }

    fn max_transfer_sectors(&self) -> u32 {
        each!(self, drive => drive.max_transfer_sectors())
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

    #[allow(clippy::inline_always, reason = "hot, and called by too many families to be inlined otherwise")]
    #[inline(always)]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, drive => drive.advance_to_completion(until_ns, done));
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        each!(self, drive => drive.prefetch(lba));
    }
}
