//! Flash operations as the medium sees them: what changes in the cells, and nothing of when or why.
//!
//! An operation carries words beside it: two for each [`Record`] of a program or of the log, one for each entry of a
//! checkpoint page.

use serde::{Deserialize, Serialize};

use crate::cell_mode::CellMode;
use crate::geometry::{BlockIndex, Lpn};

/// No payload cell.
pub const NO_CELL: u32 = 0;

/// What a page was programmed for. The out-of-band data of every page says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum PageKind {
    /// Data from the host.
    Host = 1,
    /// Valid data that cleaning, merging or wear levelling moved.
    Moved = 2,
    /// Nothing of the host's: journal, parity, padding.
    Metadata = 3,
}

impl PageKind {
    /// The kind of a stored byte.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Host, Self::Moved, Self::Metadata].into_iter().find(|&kind| kind as u8 == byte)
    }
}

/// An operation. Sequence numbers increase over the drive's whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlashOp {
    /// A page was programmed (the pages of one unit, if units are larger), with one record for each unit on it.
    Program {
        /// Where.
        block: BlockIndex,
        /// Page within the block.
        page: u32,
        /// What for.
        kind: PageKind,
        /// With how many bits a cell: all pages of a block with as many. The out-of-band data of every page says so, or
        /// nobody could go on with the block after a power cut.
        mode: CellMode,
        /// Number of the program operation.
        sequence: u64,
    },
    /// A word line has had the first of two passes: it is used up, and nothing can be read of it until it has had the
    /// second. The records are those of its second.
    Coarse {
        /// Where.
        block: BlockIndex,
        /// Page within the block.
        page: u32,
    },
    /// A word line has had the second of two passes: it counts as programmed.
    Fine {
        /// Where.
        block: BlockIndex,
        /// Page within the block.
        page: u32,
        /// What for.
        kind: PageKind,
        /// Number of the program operation.
        sequence: u64,
    },
    /// A block was erased.
    Erase {
        /// Which.
        block: BlockIndex,
    },
    /// A block has failed and is never used again; what can be read of it stays readable.
    Retire {
        /// Which.
        block: BlockIndex,
    },
    /// Records were appended to the log of the map: trims, each with the sequence number before which data is dropped.
    Log,
    /// The system area that is not in use was erased, for a new checkpoint.
    CheckpointBegin,
    /// A page of the checkpoint: for each unit from `first_lpn` on, one more than the number of the page that holds it
    /// (block times pages per block, plus page), or 0.
    Checkpoint {
        /// First unit.
        first_lpn: u32,
    },
    /// Records that outlive the checkpoint were put into the log that will go with it.
    CheckpointLog,
    /// The checkpoint is complete and counts from now on: programs up to `sequence` are in it, and so is the log.
    CheckpointEnd {
        /// Last program that it covers.
        sequence: u64,
    },
}

/// Out-of-band data of one unit on a page, or one entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which unit; [`Lpn::PADDING`]: none.
    pub lpn: Lpn,
    /// Where its bytes are kept; of a log entry: how many units.
    pub cell: u32,
    /// What else the mapping scheme must know; of a log entry: the sequence number before which data is dropped.
    pub info: u64,
}

impl Record {
    /// Words of a record.
    pub const WORDS: usize = 2;

    /// As words.
    #[inline]
    #[must_use]
    pub fn to_words(self) -> [u64; Self::WORDS] {
        [u64::from(self.lpn.0) | u64::from(self.cell) << 32, self.info]
    }

    /// From words.
    #[inline]
    #[must_use]
    pub fn from_words(words: [u64; Self::WORDS]) -> Self {
        Self { lpn: Lpn(words[0] as u32), cell: (words[0] >> 32) as u32, info: words[1] }
    }
}
