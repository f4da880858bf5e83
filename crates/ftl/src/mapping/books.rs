//! What a mapping scheme counts.

use drivelab_nand::{Lpn, Ppn};

use super::block_use::{BlockUse, SettledUses};
use crate::backlog::Backlog;
use crate::counters::FtlCounters;

/// An SLC cache, to look at: its blocks are of all dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcUse {
    /// Bits of a native cell.
    pub bits: u32,
    /// Data that a block of it holds.
    pub block_bytes: u64,
    /// Most blocks that it may have: those that are there, when nothing else is on the drive.
    pub most_blocks: u32,
    /// Of them those that are never anything else.
    pub static_blocks: u32,
    /// Those that hold data, or are open for it.
    pub used_blocks: u32,
}

/// A unit as it lies in flash, of a scheme whose units take more room or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitPiece {
    /// Which unit.
    pub lpn: Lpn,
    /// The page that it lies on.
    pub place: Ppn,
    /// Room that it takes there, in granules.
    pub granules: u32,
    /// It was trimmed, reads as zeros, and takes its room all the same.
    pub is_trimmed: bool,
}

/// The books of a mapping scheme.
pub trait Books {
    /// Bytes of flash that the scheme holds back: they hold neither the host's data nor what is outdated of it. Raw
    /// capacity less these and the user capacity is the effective spare area, which decides what cleaning costs.
    fn held_back_bytes(&self) -> u64;

    /// Of a map that lies in flash: the share of the blocks kept for it, but the one that is erased or being emptied, that
    /// its lines fill when all of the drive is mapped. It decides how much of the map is copied to make room for changes.
    /// `None`: all of the map is in memory.
    fn map_log_fill_ratio(&self) -> Option<f64>;

    /// The SLC cache, if there is one.
    fn slc_cache(&self) -> Option<SlcUse> {
        None
    }

    /// Every unit with the room that it takes, to look at; nothing, where all take the same.
    fn unit_pieces(&self) -> Vec<UnitPiece> {
        Vec::new()
    }

    /// Counters.
    fn counters(&self) -> &FtlCounters;

    /// Of these the ones that mean something of this scheme alone, by the names of reports.
    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Units that hold current data.
    fn valid_units(&self) -> u64;

    /// Free blocks of all dies.
    fn free_blocks(&self) -> u64;

    /// What the scheme has put off, to look at; the rest of a drive's is the controller's.
    fn backlog(&self) -> Backlog;

    /// Every block of the drive, in order: what it is used for.
    fn block_uses(&self) -> Vec<BlockUse>;

    /// The same, where nearly all blocks are told by a number; `None`: each has to be asked about.
    fn settled_uses(&self) -> Option<SettledUses<'_>> {
        None
    }

    /// Recounts all books.
    ///
    /// # Errors
    /// The first contradiction, in words.
    fn check(&self) -> Result<(), String>;
}
