//! One bank: its replacements, its log blocks and what it has to do.

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

use super::plan::GroupUnit;

/// The replacement that takes rows in order, as the host writes them.
pub(crate) const OPEN: usize = 0;
/// The replacement of a merge that is completed at once.
pub(crate) const MERGING: usize = 1;

/// A block that takes the place of a superblock's block, row by row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
