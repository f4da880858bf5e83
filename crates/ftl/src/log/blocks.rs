//! Open blocks, closed blocks and valid page counts of every die.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, UnitLayout};

use super::free_pool::FreePool;
use super::streams::{STREAMS, Stream};
use crate::victim::NOT_CLOSED;
const NO_BLOCK: u32 = u32::MAX;
/// Block bookkeeping, rebuilt from flash after a power cut.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Valid units per block, with [`NOT_CLOSED`] set while the block is free or open.
    valid: Vec<u16>,
    free: FreePool,
    open: Vec<[u32; STREAMS]>,
    /// Sequence number with which the newest data of each closed block came from the host; copies keep theirs. 0: not
    /// known yet.
    newest: Vec<u64>,
    blocks_per_die: u32,
}

impl Blocks {
    /// All blocks of all dies are free; the first `reserved` of each die belong to somebody else.
    pub(crate) fn new(layout: &UnitLayout, flash: &FlashArray, reserved: u32) -> Self {
        let dies = layout.geometry.die_count();
        let blocks_per_die = layout.geometry.blocks_per_die();
        let free = FreePool::new(layout, flash, reserved);
        Self {
            valid: vec![NOT_CLOSED; layout.block_count() as usize],
            free,
            open: vec![[NO_BLOCK; STREAMS]; dies as usize],
            newest: vec![0; layout.block_count() as usize],
            blocks_per_die,
        }
    }

    /// As flash was found: erased blocks are free, full ones closed. A block that is partly programmed goes on for the
    /// stream of its last page, as long as that has none; further ones count as closed.
    pub(crate) fn restore(
        layout: &UnitLayout,
        flash: &FlashArray,
        reserved: u32,
        stream_of: impl Fn(BlockIndex) -> Stream,
    ) -> Self {
        let mut blocks = Self::new(layout, flash, reserved);
        blocks.free = FreePool::erased(layout, flash, reserved);
        for block in (0..layout.block_count()).map(BlockIndex) {
            let pages = flash.write_pointer(block);
            if pages == 0 || block.0 % blocks.blocks_per_die < reserved {
                continue;
            }
            let open = &mut blocks.open[layout.die_of(block).0 as usize];
            let has_room = pages + layout.pages_per_unit <= layout.geometry.pages_per_block;
            let mine = stream_of(block) as usize;
            match [mine, 1 - mine].into_iter().find(|&stream| open[stream] == NO_BLOCK) {
                Some(stream) if has_room => open[stream] = block.0,
                _ => blocks.valid[block.0 as usize] = 0,
            }
        }
        blocks
    }

    /// Blocks that have failed are neither free nor open nor candidates for cleaning.
    pub(crate) fn withhold(&mut self, layout: &UnitLayout, is_bad: &[bool]) {
        for die in (0..layout.geometry.die_count()).map(DieIndex) {
            self.free.retain(die, |block| !is_bad[block.0 as usize]);
            for open in &mut self.open[die.0 as usize] {
                if *open != NO_BLOCK && is_bad[*open as usize] {
                    *open = NO_BLOCK;
                }
            }
        }
        for (valid, _) in self.valid.iter_mut().zip(is_bad).filter(|&(_, &is_bad)| is_bad) {
            *valid |= NOT_CLOSED;
        }
    }

    /// A block has failed: it is no candidate for cleaning any more.
    pub(crate) fn retire(&mut self, block: BlockIndex) {
        self.valid[block.0 as usize] |= NOT_CLOSED;
    }

    /// Free blocks of a die.
    #[inline]
    pub fn free_count(&self, die: DieIndex) -> u32 {
        self.free.count(die)
    }

    /// Valid units of a block, whatever its state.
    #[inline]
    pub fn valid_count(&self, block: BlockIndex) -> u32 {
        u32::from(self.valid[block.0 as usize] & !NOT_CLOSED)
    }

    /// Whether a block is closed: fully programmed, and a candidate for cleaning.
    pub fn is_closed(&self, block: BlockIndex) -> bool {
        self.valid[block.0 as usize] & NOT_CLOSED == 0
    }

    /// The open block of a stream.
    #[inline]
    pub fn open_block(&self, die: DieIndex, stream: Stream) -> Option<BlockIndex> {
        let block = self.open[die.0 as usize][stream as usize];
        (block != NO_BLOCK).then_some(BlockIndex(block))
    }

    /// Whether a block of a die is the open block of a stream.
    pub(crate) fn is_open(&self, die: DieIndex, block: BlockIndex) -> bool {
        self.open[die.0 as usize].contains(&block.0)
    }

    /// The words of one die, for victim selection.
    pub(crate) fn die_words(&self, die: DieIndex) -> &[u16] {
        let first = (die.0 * self.blocks_per_die) as usize;
        &self.valid[first..first + self.blocks_per_die as usize]
    }

    /// Opens the least worn free block for a stream.
    #[inline]
    pub(crate) fn open_next(&mut self, die: DieIndex, stream: Stream) -> Option<BlockIndex> {
        let block = self.free.take(die)?;
        self.open[die.0 as usize][stream as usize] = block.0;
        Some(block)
    }

    /// The host's open block of a die, written up to this sequence number, becomes that of cleaning.
    pub(crate) fn lend(&mut self, die: DieIndex, sequence: u64) -> Option<BlockIndex> {
        let block = self.open_block(die, Stream::Host)?;
        self.note_newest(block, sequence);
        self.abandon(die, Stream::Host);
        self.open[die.0 as usize][Stream::Cleaning as usize] = block.0;
        Some(block)
    }

    /// A block holds data that came from the host with this sequence number.
    #[inline]
    pub(crate) fn note_newest(&mut self, block: BlockIndex, sequence: u64) {
        let newest = &mut self.newest[block.0 as usize];
        *newest = sequence.max(*newest);
    }

    /// Data of a block is copied to another: how old it is stays known, or it is as new as may be.
    #[inline]
    pub(crate) fn note_copied(&mut self, from: BlockIndex, to: BlockIndex, now: u64) {
        let newest = self.newest[from.0 as usize];
        self.note_newest(to, if newest == 0 { now } else { newest });
    }

    /// Sequence number with which the newest data of a closed block came from the host.
    #[must_use]
    pub fn newest_sequence(&self, block: BlockIndex) -> u64 {
        self.newest[block.0 as usize]
    }

    /// The same of all blocks of a die.
    pub(crate) fn die_newest(&self, die: DieIndex) -> &[u64] {
        let first = (die.0 * self.blocks_per_die) as usize;
        &self.newest[first..first + self.blocks_per_die as usize]
    }

    /// A block is fully programmed.
    #[inline]
    pub(crate) fn close(&mut self, die: DieIndex, stream: Stream) {
        let block = std::mem::replace(&mut self.open[die.0 as usize][stream as usize], NO_BLOCK);
        self.valid[block as usize] &= !NOT_CLOSED;
    }

    /// Forgets an open block without closing it (it is about to be erased).
    pub(crate) fn abandon(&mut self, die: DieIndex, stream: Stream) {
        self.open[die.0 as usize][stream as usize] = NO_BLOCK;
    }

    /// A block was erased and is free again.
    pub(crate) fn release(&mut self, die: DieIndex, block: BlockIndex, erase_count: u32) {
        debug_assert_eq!(self.valid_count(block), 0);
        self.valid[block.0 as usize] = NOT_CLOSED;
        self.newest[block.0 as usize] = 0;
        self.free.put(die, block, erase_count);
    }

    #[inline]
    pub(crate) fn add_valid(&mut self, block: BlockIndex, count: u32) {
        self.valid[block.0 as usize] += count as u16;
    }

    #[inline]
    pub(crate) fn remove_valid(&mut self, block: BlockIndex, count: u32) {
        self.valid[block.0 as usize] -= count as u16;
    }
}
