//! What the merging schemes share: superblocks at fixed rows, rewritten row by row in replacement blocks.
//!
//! A superblock of the host lies on one physical superblock, its rows at fixed offsets. Flash pages are programmed in
//! order, so to change a row the superblock is written anew: a *replacement* takes the rows one after another, each
//! from the host or copied from where it was, and when nothing is left in the old block the replacement takes its
//! place and the old block is erased. That is a merge (REFERENCES.md, \[BAST\]): *switch* if the host had written
//! every row in order, *partial* if only what follows the host's rows was copied, *full* otherwise.
//!
//! A bank works on one group of units at a time: `begin` queues tasks, [`MergeMap::next_step`] does one flash operation
//! and says what it was. The old block is erased only after its replacement is complete.

mod check;
mod core;
mod map;
mod mount;
mod role;
mod steps;

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, Lpn, Ppn};

pub use self::core::MergeCore;
pub use self::map::{MergeMap, MergeScheme};

/// Parameters of the merging schemes. Block counts are per bank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeConfig {
    /// Map units that the host can address.
    pub user_units: u32,
    /// Banks that consecutive rows go round.
    pub interleaved_banks: u32,
    /// Whether a trim frees units; otherwise it is accepted and ignored.
    pub trim_supported: bool,
    /// Static wear levelling: after so many merges of a bank ...
    pub rotation_merges: u32,
    /// ... so many of its superblocks move to other blocks, each bank's in turn; 0: none.
    pub rotation_superblocks: u32,
    /// Erased blocks that log blocks leave to merges and to replacement of bad blocks.
    pub reserve_blocks: u32,
    /// Most log blocks; 0: as many as there are erased blocks.
    pub log_blocks: u32,
    /// Seed of the order in which buffered groups leave, where that is random.
    pub seed: u64,
}

/// A unit of the host on its way to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupUnit {
    /// Which unit.
    pub lpn: Lpn,
    /// The host wrote only part of it; the rest comes from where it was.
    pub is_partial: bool,
}

/// A read that a row needed: `units` units of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRead {
    /// First place that was read.
    pub from: Ppn,
    /// Units that were read.
    pub units: u32,
}

/// One flash operation of a bank. The state of the scheme has already changed when a step is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeStep {
    /// A row was programmed, after the reads that the scheme names.
    Row {
        /// First place of the row.
        to: Ppn,
        /// Nothing in it is the host's.
        is_copy: bool,
    },
    /// A block was erased.
    Erase {
        /// The block.
        block: BlockIndex,
    },
}

/// What a scheme would do with a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// Units of the group that the job takes. May be none: then the job only makes room.
    pub accepted: std::ops::Range<usize>,
    /// Whether rows are copied: the firmware is in a merge while the job lasts.
    pub merges: bool,
    pub(crate) route: Route,
}

/// Which way a group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// In order into the open replacement, or a new one.
    Append,
    /// Into the open replacement up to the last row of the group, whatever is missing copied.
    CopyUpTo,
    /// Into the open replacement, which is then completed.
    Complete,
    /// Into log blocks.
    Log,
    /// Into a new replacement of its own, completed at once.
    Merge,
    /// Nowhere yet: the oldest log block is emptied first.
    Reclaim,
}

/// The replacement that takes rows in order, as the host writes them.
pub(crate) const OPEN: usize = 0;
/// The replacement of a merge that is completed at once.
pub(crate) const MERGING: usize = 1;

/// A block that takes the place of a superblock's block, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replacement {
    pub superblock: u32,
    pub block: BlockIndex,
    /// A row has been copied.
    pub copied: bool,
    /// A row of the host came after, or together with, copied units.
    pub mixed: bool,
    /// Moved by static wear levelling.
    pub rotates: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// Opens a replacement.
    Open { slot: usize, superblock: u32, rotates: bool },
    /// Writes the rows of a replacement before `until`.
    Rows { slot: usize, until: u32 },
    /// Writes the rest of a replacement, as far as there is anything.
    Rest { slot: usize },
    /// Puts a replacement in the place of the superblock's block, which is erased.
    Close { slot: usize },
    /// Appends the group to log blocks.
    Log,
    /// Merges every superblock with units in a log block; places before `from` have been looked at.
    Reclaim { block: BlockIndex, from: u32 },
    /// Moves superblocks in turn.
    Rotate { left: u32 },
}

/// One bank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    pub slots: [Option<Replacement>; 2],
    pub tasks: VecDeque<Task>,
    pub group: Vec<GroupUnit>,
    /// Units of the group that are in flash.
    pub cursor: usize,
    /// Units of the group that were trimmed on their way.
    pub trimmed: Vec<Lpn>,
    /// Log blocks, oldest first.
    pub logs: VecDeque<BlockIndex>,
    /// Whether the newest log block has erased rows.
    pub log_is_open: bool,
    /// Log blocks whose last unit is outdated.
    pub dead: Vec<BlockIndex>,
    /// Superblocks without a block of their own that have units in the log: each will need one.
    pub committed: u32,
    pub merges_since_rotation: u32,
    pub next_rotation: u32,
}
