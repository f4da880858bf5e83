//! Superblocks: blocks of a die that are opened, filled, picked as victims and erased together. Drives whose unit of
//! cleaning is one block have none of this: a question where a block is opened, closed, picked or erased.
//!
//! Firmwares lay a superblock over all dies. Dies act by themselves here, so a die has its part of each: so many blocks, one
//! filled after the other. Write amplification is the same (ARCHITECTURE.md; held by a test).

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, DieIndex};
use serde::{Deserialize, Serialize};

use crate::placement::{STREAMS_MAX, Stream};

/// No block: no stream, or no superblock, has one there.
pub(super) const NO_BLOCK: u32 = u32::MAX;

/// Which blocks are one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Superblocks {
    /// Blocks of one.
    pub size: u32,
    /// The block that stands for the superblock of each block: the one that was opened first. `NO_BLOCK`: it is in none.
    pub head: Vec<u32>,
    /// The next block of the same superblock, in a ring. A block that is in none is its own next.
    next: Vec<u32>,
    /// Erased blocks of the superblock that each stream of a die has open, in the order in which they will be written.
    waiting: Vec<VecDeque<BlockIndex>>,
    /// What policies see of a die, in the place of counts of blocks.
    pub words: Vec<u32>,
}

impl Superblocks {
    /// None yet. `None`: every block is its own unit of cleaning.
    pub fn new(size: u32, dies: u32, blocks_per_die: u32) -> Option<Box<Self>> {
        let blocks = dies * blocks_per_die;
        let places = dies as usize * STREAMS_MAX;
        (size > 1).then(|| {
            Box::new(Self {
                size,
                head: vec![NO_BLOCK; blocks as usize],
                next: (0..blocks).collect(),
                waiting: vec![VecDeque::with_capacity(size as usize); places],
                words: Vec::with_capacity(blocks_per_die as usize),
            })
        })
    }

    pub fn waiting(&self, die: DieIndex, stream: Stream) -> &VecDeque<BlockIndex> {
        &self.waiting[die.0 as usize * STREAMS_MAX + stream.index()]
    }

    pub fn waiting_mut(&mut self, die: DieIndex, stream: Stream) -> &mut VecDeque<BlockIndex> {
        &mut self.waiting[die.0 as usize * STREAMS_MAX + stream.index()]
    }

    /// Whether a block is erased and waits to be written for a stream that has opened its superblock.
    pub fn waits(&self, die: DieIndex, block: BlockIndex) -> bool {
        let first = die.0 as usize * STREAMS_MAX;
        self.waiting[first..first + STREAMS_MAX].iter().any(|blocks| blocks.contains(&block))
    }

    /// The blocks of a superblock, beginning with any of them.
    pub fn members(&self, block: BlockIndex) -> impl Iterator<Item = BlockIndex> + '_ {
        let mut next = Some(block);
        std::iter::from_fn(move || {
            let this = next?;
            next = Some(BlockIndex(self.next[this.0 as usize])).filter(|&after| after != block);
            Some(this)
        })
    }

    pub fn head_of(&self, block: BlockIndex) -> Option<BlockIndex> {
        let head = self.head[block.0 as usize];
        (head != NO_BLOCK).then_some(BlockIndex(head))
    }

    /// These blocks become one; the first stands for it.
    pub fn join(&mut self, blocks: &[BlockIndex]) {
        for (index, block) in blocks.iter().enumerate() {
            self.head[block.0 as usize] = blocks[0].0;
            self.next[block.0 as usize] = blocks[(index + 1) % blocks.len()].0;
        }
    }

    /// A block leaves its superblock; one of those that stay, if there are others.
    pub fn leave(&mut self, block: BlockIndex) -> Option<BlockIndex> {
        let head = std::mem::replace(&mut self.head[block.0 as usize], NO_BLOCK);
        let next = std::mem::replace(&mut self.next[block.0 as usize], block.0);
        if next == block.0 {
            return None;
        }
        let others: Vec<_> = self.members(BlockIndex(next)).take_while(|&other| other != block).collect();
        if let Some(last) = others.last() {
            self.next[last.0 as usize] = next;
        }
        if head == block.0 {
            for other in &others {
                self.head[other.0 as usize] = next;
            }
        }
        Some(BlockIndex(next))
    }
}
