//! What a drive finds in its flash when the power comes back.

use crate::cell_mode::CellMode;
use crate::geometry::BlockIndex;
use crate::op::{PageKind, Record};

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// It can be programmed where it is erased.
    Good,
    /// The power failed while it was erased: nothing of it can be read, and it must be erased again.
    TornErase,
    /// It has failed: what can be read of it stays readable, nothing more.
    Retired,
}

/// A block as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundBlock {
    /// State.
    pub state: BlockState,
    /// How often it was erased.
    pub erase_count: u32,
    /// Pages that are not erased, torn ones among them.
    pub write_pointer: u32,
}

/// A page as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPage {
    /// Number of the program operation.
    pub sequence: u64,
    /// What it was programmed for.
    pub kind: PageKind,
    /// With how many bits a cell.
    pub mode: CellMode,
}

/// The medium as recovery reads it. Indices must be in range.
pub trait MediumView {
    /// Blocks.
    fn block_count(&self) -> u32;

    /// A block.
    fn block(&self, block: BlockIndex) -> FoundBlock;

    /// The page that was programmed at this page of a block; `None` if it is erased, torn, or inside a larger unit.
    fn page(&self, block: BlockIndex, page: u32) -> Option<FoundPage>;

    /// Appends the records of a programmed page, in order.
    fn records(&self, block: BlockIndex, page: u32, out: &mut Vec<Record>);

    /// Sequence number that the newest complete checkpoint covers; `None`: there is none.
    fn checkpoint_sequence(&self) -> Option<u64>;

    /// The newest complete checkpoint's entry of a unit.
    fn checkpoint_entry(&self, lpn: u32) -> u32;

    /// Appends the records of the log, in order.
    fn log(&self, out: &mut Vec<Record>);

    /// Units that a capacitor kept, in the order in which they were written, with their cells.
    fn held(&self, out: &mut Vec<(u32, u32)>);
}
