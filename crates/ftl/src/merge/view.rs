//! Blocks of all banks, to look at.

use drivelab_nand::{BlockIndex, Ppn};

use super::bank::Task;
use super::core::MergeCore;
use crate::mapping::{BlockRole, BlockUse};

impl MergeCore {
    /// Every block of the drive, in order. Units are counted one by one only in the few blocks that a merge is about.
    pub(crate) fn block_uses(&self) -> Vec<BlockUse> {
        let mut known = self.known_counts();
        let mut roles = vec![BlockRole::Free; self.layout.block_count() as usize];
        let mut set = |block: BlockIndex, role| roles[block.0 as usize] = role;
        for block in self.data.iter().filter_map(|&block| block.checked_sub(1)) {
            set(BlockIndex(block), BlockRole::Closed);
        }
        for bank in &self.banks {
            for replacement in bank.slots.iter().flatten() {
                set(replacement.block, BlockRole::Open);
            }
            for &block in bank.logs.iter().chain(&bank.dead) {
                set(block, BlockRole::Log);
            }
            for task in &bank.tasks {
                if let Task::Reclaim { block, .. } = *task {
                    set(block, BlockRole::Emptied);
                }
            }
        }
        let blocks = (0..self.layout.block_count()).map(BlockIndex).zip(roles);
        let used = |(block, role): (BlockIndex, BlockRole)| BlockUse {
            role,
            stream: None,
            valid_bytes: known[block.0 as usize].take().unwrap_or_else(|| self.valid_units_of(block))
                * self.layout.unit_bytes,
        };
        blocks.map(used).collect()
    }

    /// Valid units of the blocks whose number follows from other books. A superblock that isn't being rewritten has what
    /// the host wrote in its own block, but for what is in the log; what log blocks hold is counted as it changes, and
    /// is all current where flash need not outlive a power cut.
    fn known_counts(&self) -> Vec<Option<u32>> {
        let mut known = vec![None; self.layout.block_count() as usize];
        if self.superseded.is_some() {
            return known;
        }
        for (superblock, written) in (0u32..).zip(self.written_units()) {
            if let Some(block) = self.data[superblock as usize].checked_sub(1) {
                known[block as usize] = Some(written - self.log.units_of(superblock));
            }
        }
        for bank in &self.banks {
            for &block in bank.logs.iter().chain(&bank.dead) {
                known[block.0 as usize] = Some(self.log.valid_of(block));
            }
            for replacement in bank.slots.iter().flatten() {
                if let Some(block) = self.data[replacement.superblock as usize].checked_sub(1) {
                    known[block as usize] = None;
                }
            }
        }
        known
    }

    /// How many units of every superblock the host has written and not trimmed.
    fn written_units(&self) -> Vec<u32> {
        let cut = &self.superblocks;
        let units_of_row = |superblock, row| {
            let first = cut.first_lpn(superblock, row).0.min(cut.user_units);
            (first, (first + cut.units_per_row).min(cut.user_units))
        };
        // A drive that is full is the usual one, and its rows need no look.
        let is_full = self.written_count == u64::from(cut.user_units);
        let whole = self.layout.units_per_block;
        let count = |superblock| {
            let (_, end) = units_of_row(superblock, cut.row_count - 1);
            if is_full && end < cut.user_units {
                return whole;
            }
            let rows = (0..cut.row_count).map(|row| units_of_row(superblock, row));
            rows.map(|(first, end)| self.written.count(Ppn(first), Ppn(end))).sum()
        };
        (0..cut.count).map(count).collect()
    }

    /// A block whose valid units the books have wrong.
    pub(crate) fn wrong_use(&self) -> Option<BlockIndex> {
        let uses = self.block_uses();
        let units = |block| self.valid_units_of(block) * self.layout.unit_bytes;
        (0u32..)
            .map(BlockIndex)
            .zip(uses)
            .find_map(|(block, found)| (found.valid_bytes != units(block)).then_some(block))
    }

    fn valid_units_of(&self, block: BlockIndex) -> u32 {
        let first = self.layout.first_ppn(block).0;
        let written = self.flash.write_pointer(block) * self.layout.units_per_page;
        let places = (first..first + written.min(self.layout.units_per_block)).map(Ppn);
        places.filter(|&place| self.holds_current(place)).count() as u32
    }
}
