//! The log-block map: block-mapped superblocks, and log blocks that take any unit.
//!
//! Rows that the host writes in order from the start of a superblock fill a replacement, as in the superblock map
//! (the sequential log block of REFERENCES.md, \[LOGB\]). Any other group of units is appended to log blocks, which are
//! page-mapped, as long as there are erased blocks beyond the reserve: on a new drive these are nearly all, on a
//! drive that is full of data only the spare area. When there are none, the group's superblock is merged: row by row,
//! from its block, from log blocks and from the group.

use drivelab_nand::DieIndex;

use crate::merge::{GroupPlan, GroupUnit, MergeCore, MergeMap, MergeScheme, OPEN, Route};

/// The rule of the log-block map.
#[derive(Clone, Copy, Debug)]
pub struct LogBlocks;

/// A log-block map.
pub type LogBlockMap = MergeMap<LogBlocks>;

impl MergeScheme for LogBlocks {
    const FIXED: bool = false;

    // The replacement of a merge, and the open replacement. What log blocks leave beyond that they may not find.
    const WORKING_BLOCKS: u32 = 2;

    fn plan(core: &MergeCore, bank: DieIndex, units: &[GroupUnit]) -> GroupPlan {
        let superblock = core.superblocks.locate(units[0].lpn).superblock;
        // What one more superblock with data of its own will take of the erased blocks for good.
        let takes = u32::from(core.log.units_of(superblock) == 0 && !core.has_block(superblock));
        append(core, bank, units).or_else(|| log(core, bank, units, takes)).unwrap_or_else(|| {
            let open = core.banks[bank.0 as usize].slots[OPEN];
            match open {
                Some(open) if open.superblock == superblock => {
                    complete(core, units, core.flash.write_pointer(open.block))
                }
                _ if takes > 0 && core.unpromised_blocks(bank) < 2 => make_room(core, bank),
                _ => {
                    let merges = core.data[superblock as usize] != 0 || core.log.units_of(superblock) > 0;
                    GroupPlan { accepted: 0..units.len(), merges, route: Route::Merge }
                }
            }
        })
    }
}

/// Whole rows in order from where the open replacement ends, or from the start of another superblock.
fn append(core: &MergeCore, bank: DieIndex, units: &[GroupUnit]) -> Option<GroupPlan> {
    let rows = core.whole_rows(units);
    let first = core.superblocks.locate(units[0].lpn);
    let open = core.banks[bank.0 as usize].slots[OPEN];
    let accepted = 0..(rows * core.superblocks.units_per_row) as usize;
    match open {
        _ if rows == 0 => None,
        Some(open) if open.superblock == first.superblock => {
            let goes_on = core.flash.write_pointer(open.block) == first.row;
            goes_on.then_some(GroupPlan { accepted, merges: false, route: Route::Append })
        }
        _ if first.row > 0 || core.unpromised_blocks(bank) < 2 => None,
        other => Some(GroupPlan { accepted, merges: other.is_some(), route: Route::Append }),
    }
}

/// As much of the group as log blocks have room for; `None` if they have none.
fn log(core: &MergeCore, bank: DieIndex, units: &[GroupUnit], takes: u32) -> Option<GroupPlan> {
    let state = &core.banks[bank.0 as usize];
    let left = core.unpromised_blocks(bank).checked_sub(takes)?;
    if left == 0 {
        return None;
    }
    let open_rows = match state.logs.back() {
        Some(&block) if state.log_is_open => core.superblocks.row_count - core.flash.write_pointer(block),
        _ => 0,
    };
    let allowed = match core.config.log_blocks {
        0 => u32::MAX,
        most => most.saturating_sub(state.logs.len() as u32),
    };
    // One erased block more stays for merges.
    let blocks = left.saturating_sub(1 + core.config.reserve_blocks.max(1)).min(allowed);
    let rows = u64::from(open_rows) + u64::from(blocks) * u64::from(core.superblocks.row_count);
    let room = (rows * u64::from(core.superblocks.units_per_row)).min(units.len() as u64) as usize;
    (room > 0).then_some(GroupPlan { accepted: 0..room, merges: false, route: Route::Log })
}

/// Completes the open replacement of the group's superblock, with the units that come after what it has.
fn complete(core: &MergeCore, units: &[GroupUnit], next_row: u32) -> GroupPlan {
    let after = units.partition_point(|unit| core.superblocks.locate(unit.lpn).row < next_row);
    GroupPlan { accepted: after..units.len(), merges: true, route: Route::Complete }
}

/// Nothing can be promised to one more superblock: log blocks must go, or the open replacement.
fn make_room(core: &MergeCore, bank: DieIndex) -> GroupPlan {
    let state = &core.banks[bank.0 as usize];
    let route = if state.logs.is_empty() { Route::Complete } else { Route::Reclaim };
    GroupPlan { accepted: 0..0, merges: true, route }
}
