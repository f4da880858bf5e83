//! Groups of units, what a scheme would do with one, and the flash operations that come of it.

use drivelab_nand::{BlockIndex, Lpn, Ppn};
use serde::{Deserialize, Serialize};

/// A unit of the host on its way to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupUnit {
    /// Which unit.
    pub lpn: Lpn,
    /// The host wrote only part of it; the rest comes from where it was.
    pub is_partial: bool,
}

/// A read that a row needed: `units` units of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRead {
    /// First place that was read.
    pub from: Ppn,
    /// Units that were read.
    pub units: u32,
    /// Those of them that complete what the host wrote in part.
    pub completing: u32,
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
        /// What it moves is moved for wear levelling.
        rotates: bool,
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
