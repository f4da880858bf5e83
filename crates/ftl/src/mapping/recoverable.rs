//! What power cuts need.

use drivelab_nand::{BlockIndex, Lpn, Ppn};
use serde::{Deserialize, Serialize};

use super::kept_words::KeptWords;
use crate::recovery::Recovered;

/// Records that the log of a map has room for: a few hundred pages.
pub(crate) const LOG_RECORDS: u32 = 1 << 16;

/// A unit that flash held and that is current no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// Where it lay. [`Self::ANYWHERE`]: what it needs may be in any block, so none may be erased before.
    pub block: BlockIndex,
    /// Its payload cell.
    pub cell: u32,
}

impl Superseded {
    /// No block in particular.
    pub const ANYWHERE: BlockIndex = BlockIndex(u32::MAX);
}

/// A scheme that finds everything again after a power cut, while a word per unit is kept.
pub trait Recoverable: KeptWords {
    /// Why a drive of these parameters can't find its data again after a power cut, if it can't.
    fn forgets(&self) -> Option<&'static str> {
        None
    }

    /// What flash lost with the last operations, since this was last called. Only while a word per unit is kept: the
    /// number of its cell. Call it after the words of these operations have been stored.
    fn take_superseded(&mut self, out: &mut Vec<Superseded>);

    /// Places that what was programmed last can't be read without, but does not hold itself: it may count only when they
    /// do.
    fn take_needed(&mut self, out: &mut Vec<Ppn>) {
        let _ = out;
    }

    /// Out-of-band data of the page that was programmed last at `first`: two words for each record.
    fn page_records(&self, first: Ppn, out: &mut Vec<u64>);

    /// Most records on the pages of a block.
    fn records_per_block(&self) -> u32 {
        self.layout().units_per_block
    }

    /// Records that the log of the map should have room for.
    fn log_records(&self) -> u32 {
        LOG_RECORDS
    }

    /// Records that a power cut would lose with the block that holds them now: they go to the log of the map.
    fn take_log_records(&mut self, out: &mut Vec<u64>) {
        let _ = out;
    }

    /// One more than the number of the page that holds a unit's newest record, or 0: its entry in a checkpoint.
    fn checkpoint_entry(&self, lpn: Lpn) -> u32 {
        let layout = self.layout();
        self.lookup(lpn).map_or(0, |ppn| {
            let block = layout.block_of(ppn);
            block.0 * layout.geometry.pages_per_block + layout.page_of(ppn) + 1
        })
    }

    /// Records that belong to a checkpoint beside its entries.
    fn checkpoint_records(&self, out: &mut Vec<u64>) {
        let _ = out;
    }

    /// A new scheme becomes what flash holds. [`KeptWords::keep_cells`] was called.
    ///
    /// # Errors
    /// What flash holds can't be of this scheme and these parameters, in words.
    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String>;

    /// Blocks that the mount erased because they hold nothing current, those of torn erases aside.
    fn erased_by_mount(&self) -> &[BlockIndex] {
        &[]
    }
}
