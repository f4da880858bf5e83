//! The superblock map: every superblock has one block, and a bank one replacement under way.
//!
//! A write to row r copies the rows before r into the replacement, then writes; when another superblock of the bank
//! is written, or a row that the replacement already has, the rest is copied. So every small random write costs one
//! full merge of all rows, and sequential writing fills replacements and ends in switch merges. The map knows no
//! unwritten rows: a new drive reads and merges as a used one does.

use drivelab_nand::DieIndex;

use crate::merge::{GroupPlan, GroupUnit, MergeCore, MergeMap, MergeScheme, OPEN, Route};

/// The rule of the superblock map.
#[derive(Clone, Copy, Debug)]
pub struct OneReplacement;

/// A superblock map.
pub type SuperblockMap = MergeMap<OneReplacement>;

impl MergeScheme for OneReplacement {
    const FIXED: bool = true;

    const WORKING_BLOCKS: u32 = 1;

    fn plan(core: &MergeCore, bank: DieIndex, units: &[GroupUnit]) -> GroupPlan {
        let rows = core.whole_rows(units);
        let first = core.superblocks.locate(units[0].lpn);
        let open = core.banks[bank.0 as usize].slots[OPEN];
        let next = open.map(|open| (open.superblock, core.flash.write_pointer(open.block)));
        let goes_on = next == Some((first.superblock, first.row)) || (next.is_none() && first.row == 0);
        if rows > 0 && goes_on {
            let accepted = 0..(rows * core.superblocks.units_per_row) as usize;
            return GroupPlan { accepted, merges: false, route: Route::Append };
        }
        GroupPlan { accepted: 0..units.len(), merges: true, route: Route::CopyUpTo }
    }
}
