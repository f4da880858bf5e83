//! What failing blocks, and sectors that are lost, need.

use drivelab_nand::{BlockIndex, Ppn};

use crate::log::BadBlocks;

/// A scheme some of whose flash may fail. What is provided here can replace nothing.
pub trait FailingBlocks {
    /// Blocks of the drive may fail from now on.
    ///
    /// # Errors
    /// Why this scheme can't go on without one of its blocks.
    fn expect_failures(&mut self) -> Result<&mut BadBlocks, &'static str> {
        Err("its mapping scheme can't replace a block that fails")
    }

    /// Blocks that have failed, or may; `None`: none will.
    fn bad_blocks(&self) -> Option<&BadBlocks> {
        None
    }

    /// The same, to change.
    fn bad_blocks_mut(&mut self) -> Option<&mut BadBlocks> {
        None
    }

    /// Blocks that a new drive can lose; `None`: the scheme can't replace any.
    fn spare_blocks_new(&self) -> Option<u32> {
        None
    }

    /// A block's data is to be moved elsewhere before it can't be read any more; whether that will be done.
    fn refresh(&mut self, block: BlockIndex) -> bool {
        let _ = block;
        false
    }

    /// Blocks of a die that keep its journal; they never fail.
    fn reserved_blocks(&self) -> u32 {
        0
    }

    /// Whether sectors of a place can be marked as lost: only while a word per unit is kept.
    fn keeps_lost_sectors(&self) -> bool {
        false
    }

    /// Whether there may be any.
    fn has_lost_sectors(&self) -> bool {
        false
    }

    /// Marks of sectors of a place that are lost, a bit for each 32nd of the unit (or for each sector).
    fn lost_sectors(&self, ppn: Ppn) -> u32 {
        let _ = ppn;
        0
    }

    /// More sectors of a place are lost.
    fn lose_sectors(&mut self, ppn: Ppn, marks: u32) {
        let _ = (ppn, marks);
    }
}
