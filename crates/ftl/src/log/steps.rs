//! What a log does to a die, one flash operation at a time, and how much it needs to.

use drivelab_nand::{BlockIndex, Lpn, Ppn};
use serde::{Deserialize, Serialize};

/// Why a block is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To free space.
    Cleaning,
    /// To put a little-worn block back into use.
    WearLevelling,
    /// To move data out of the SLC cache.
    Folding,
}

/// How much a die needs cleaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Enough free blocks.
    None,
    /// Only if there is nothing better to do.
    Idle,
    /// Below the start threshold.
    Wanted,
    /// The host cannot write on this die before a block is freed.
    Urgent,
}

/// One flash operation of cleaning. The FTL's own state has already changed when a step is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleaningStep {
    /// Read the units in [`LogMapping::copied_page_bytes`](crate::LogMapping::copied_page_bytes) and program them as one page at `to`.
    Copy {
        /// First place of the page that was programmed.
        to: Ppn,
        /// Why.
        purpose: Purpose,
    },
    /// Read a unit into the write buffer, from where it will be written again; then
    /// [`LogMapping::release`](crate::LogMapping::release) it.
    ReadIntoBuffer {
        /// The unit.
        lpn: Lpn,
    },
    /// Program a page of parity over dies, which host or cleaning pages of this die have to wait for.
    Parity {
        /// The page.
        at: Ppn,
    },
    /// Erase a block.
    Erase {
        /// The block.
        block: BlockIndex,
        /// Why.
        purpose: Purpose,
    },
}

/// Work on metadata of a die: pages of its own are read, then a block is erased, then a page is programmed, each if at
/// all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataStep {
    /// Pages read.
    pub pages_read: u32,
    /// Bytes of them that are needed.
    pub bytes_read: u32,
    /// Trimmed units whose entries were found and removed: the firmware's work.
    pub units_released: u32,
    /// The block that is erased.
    pub erased: Option<BlockIndex>,
    /// Block, and page within it, that is programmed.
    pub programmed: Option<(BlockIndex, u32)>,
}
