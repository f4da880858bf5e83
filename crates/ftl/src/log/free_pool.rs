//! Erased blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, UnitLayout};
use serde::{Deserialize, Serialize};

/// Erased blocks of every die, least worn first (dynamic wear levelling).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FreePool {
    /// Erase count above, block below.
    dies: Vec<BinaryHeap<Reverse<u64>>>,
    /// Whole superblocks that the blocks of each die make.
    superblocks: Vec<u32>,
    superblock_blocks: u32,
}

impl FreePool {
    /// All blocks of all dies are free; the first `reserved` of each die belong to somebody else.
    pub(crate) fn new(
        layout: &UnitLayout,
        flash: &FlashArray,
        reserved: u32,
        superblock_blocks: u32,
    ) -> Self {
        let mut pool = Self::of(layout, flash, reserved..layout.geometry.blocks_per_die());
        pool.superblock_blocks = superblock_blocks;
        (0..layout.geometry.die_count()).for_each(|die| pool.recount(DieIndex(die)));
        pool
    }

    /// These blocks of every die are free.
    pub(crate) fn of(layout: &UnitLayout, flash: &FlashArray, blocks: Range<u32>) -> Self {
        let blocks_per_die = layout.geometry.blocks_per_die();
        let word =
            |block: u32| Reverse(u64::from(flash.erase_count(BlockIndex(block))) << 32 | u64::from(block));
        let dies: Vec<_> = (0..layout.geometry.die_count())
            .map(|die| blocks.clone().map(|block| word(die * blocks_per_die + block)).collect())
            .collect();
        let superblocks = vec![blocks.len() as u32; dies.len()];
        Self { dies, superblocks, superblock_blocks: 1 }
    }

    /// Free superblocks of a die: free blocks, where blocks are by themselves.
    #[inline]
    #[must_use]
    pub fn count(&self, die: DieIndex) -> u32 {
        self.superblocks[die.0 as usize]
    }

    /// Free blocks of a die.
    #[must_use]
    pub fn blocks(&self, die: DieIndex) -> u32 {
        self.dies[die.0 as usize].len() as u32
    }

    fn recount(&mut self, die: DieIndex) {
        self.superblocks[die.0 as usize] = self.blocks(die) / self.superblock_blocks;
    }

    /// Takes the least worn free block.
    #[inline]
    pub(crate) fn take(&mut self, die: DieIndex) -> Option<BlockIndex> {
        let Reverse(word) = self.dies[die.0 as usize].pop()?;
        self.recount(die);
        Some(BlockIndex(word as u32))
    }

    /// Those of these blocks of every die that are erased are free.
    pub(super) fn erased_of(layout: &UnitLayout, flash: &FlashArray, blocks: Range<u32>) -> Self {
        let dies = layout.geometry.die_count() as usize;
        let (heaps, superblocks) = (vec![BinaryHeap::new(); dies], vec![0; dies]);
        let mut pool = Self { dies: heaps, superblocks, superblock_blocks: 1 };
        for block in (0..layout.block_count()).map(BlockIndex) {
            let is_one = blocks.contains(&(block.0 % layout.geometry.blocks_per_die()));
            if is_one && flash.write_pointer(block) == 0 {
                pool.put(layout.die_of(block), block, flash.erase_count(block));
            }
        }
        pool
    }

    /// The erased blocks of all dies are free, but for the first `reserved` of each die.
    pub(crate) fn erased(
        layout: &UnitLayout,
        flash: &FlashArray,
        reserved: u32,
        superblock_blocks: u32,
    ) -> Self {
        let mut pool = Self::erased_of(layout, flash, reserved..layout.geometry.blocks_per_die());
        pool.superblock_blocks = superblock_blocks;
        (0..layout.geometry.die_count()).for_each(|die| pool.recount(DieIndex(die)));
        pool
    }

    /// Blocks of a die for which this doesn't hold are free no more.
    pub(crate) fn retain(&mut self, die: DieIndex, is_kept: impl Fn(BlockIndex) -> bool) {
        self.dies[die.0 as usize].retain(|&Reverse(word)| is_kept(BlockIndex(word as u32)));
        self.recount(die);
    }

    /// A block was erased and is free again.
    #[inline]
    pub(crate) fn put(&mut self, die: DieIndex, block: BlockIndex, erase_count: u32) {
        self.dies[die.0 as usize].push(Reverse(u64::from(erase_count) << 32 | u64::from(block.0)));
        self.recount(die);
    }
}
