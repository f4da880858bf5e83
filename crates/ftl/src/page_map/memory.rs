//! What of a page map the controller's memory holds: all of it, unless the type says otherwise
//! ([`DemandLoaded`](super::DemandLoaded)). That is settled when a drive is made, so the whole map costs no question.

use std::fmt::Debug;

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Lpn};
use serde::{Deserialize, Serialize};

use crate::error::FtlError;
use crate::log::{DieLogs, MetadataStep};
use crate::mapping::MapFetch;

/// What of a page map is in memory.
pub trait MapMemory: Clone + Debug + Send {
    /// Whether pieces of the map have to be read from flash.
    const LOADS_ON_DEMAND: bool;

    /// Blocks of a die that hold what of the map is in flash.
    fn reserved_blocks(&self) -> u32 {
        0
    }

    /// See [`crate::Books::map_log_fill_ratio`].
    fn log_fill_ratio(&self) -> Option<f64> {
        None
    }

    /// What must be read before a unit can be looked up; its entry is in memory afterwards.
    #[inline]
    fn look_up(&mut self, lpn: Lpn) -> Option<MapFetch> {
        let _ = lpn;
        None
    }

    /// Whether a unit's entry is in another piece of the map than that of the unit before it.
    #[inline]
    fn begins_line(&self, lpn: Lpn) -> bool {
        let _ = lpn;
        false
    }

    /// A unit has another place; `is_new`: it had none.
    #[inline]
    fn change(&mut self, lpn: Lpn, is_new: bool) {
        let _ = (lpn, is_new);
    }

    /// A unit has lost its place, one of an extent that is trimmed in order.
    #[inline]
    fn trim(&mut self, lpn: Lpn) {
        let _ = lpn;
    }

    /// The extent ends.
    fn end_extent(&mut self) {}

    /// How long the last use of the map took that needed no flash.
    #[inline]
    fn trip_ns(&self) -> u64 {
        0
    }

    /// The next piece that must be read for what has changed.
    #[inline]
    fn take_fetch(&mut self) -> Option<MapFetch> {
        None
    }

    /// A piece that is being read will be there then.
    #[inline]
    fn arrives(&mut self, line: u32, at: u64) {
        let _ = (line, at);
    }

    /// When the entry of a unit was or will be there.
    #[inline]
    fn arrival(&self, lpn: Lpn) -> u64 {
        let _ = lpn;
        0
    }

    /// Whether so many pieces wait to be written that nothing may change before some have been.
    #[inline]
    fn is_behind(&self) -> bool {
        false
    }

    /// Whether there is a page to be programmed for the map.
    fn is_due(&self, logs: &DieLogs) -> bool;

    /// Whether this die has something to do for it.
    #[inline]
    fn is_due_on(&self, logs: &DieLogs, die: DieIndex) -> bool {
        let _ = die;
        self.is_due(logs)
    }

    /// Pages that wait to be programmed beside those of the journal.
    fn due_pages(&self) -> u32 {
        0
    }

    /// Programs a page for the map on a die, or makes room for it.
    ///
    /// # Errors
    /// [`FtlError::Flash`], which would be a defect of the scheme.
    fn keep(&mut self, logs: &mut DieLogs, die: DieIndex) -> Result<MetadataStep, FtlError>;

    /// As on an erased drive.
    fn restart(&mut self, flash: &FlashArray) {
        let _ = flash;
    }

    /// As after power-on, of a new one: the map is as was found.
    fn restore(&mut self, map: &[u32], flash: &FlashArray, last_sequence: impl Fn(BlockIndex) -> u64) {
        let _ = (map, flash, last_sequence);
    }

    /// Recounts the books.
    ///
    /// # Errors
    /// The first contradiction, in words.
    fn check(&self, map: &[u32]) -> Result<(), String> {
        let _ = map;
        Ok(())
    }
}

/// All of the map is in memory, and updates of it go to a journal.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct WholeMap;

impl MapMemory for WholeMap {
    const LOADS_ON_DEMAND: bool = false;

    #[inline]
    fn is_due(&self, logs: &DieLogs) -> bool {
        logs.journal.is_due()
    }

    fn keep(&mut self, logs: &mut DieLogs, die: DieIndex) -> Result<MetadataStep, FtlError> {
        logs.program_journal(die)
    }
}
