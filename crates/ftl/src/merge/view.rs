//! Blocks of all banks, to look at.

use drivelab_nand::{BlockIndex, Ppn};

use super::bank::Task;
use super::core::MergeCore;
use crate::mapping::{BlockRole, BlockUse};

impl MergeCore {
    /// Every block of the drive, in order. Counts the valid units one by one.
    pub(crate) fn block_uses(&self) -> Vec<BlockUse> {
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
        let used = |(block, role)| BlockUse {
            role,
            stream: None,
            valid_bytes: self.valid_units_of(block) * self.layout.unit_bytes,
        };
        blocks.map(used).collect()
    }

    fn valid_units_of(&self, block: BlockIndex) -> u32 {
        let first = self.layout.first_ppn(block).0;
        let written = self.flash.write_pointer(block) * self.layout.units_per_page;
        let places = (first..first + written.min(self.layout.units_per_block)).map(Ppn);
        places.filter(|&place| self.holds_current(place)).count() as u32
    }
}
