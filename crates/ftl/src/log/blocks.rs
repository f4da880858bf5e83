//! Open blocks, closed blocks and valid page counts of every die.

use drivelab_nand::op::PageKind;
use drivelab_nand::{BlockIndex, CellMode, DieIndex, FlashArray, UnitLayout};
use serde::{Deserialize, Serialize};

use super::free_pool::FreePool;
use super::superblocks::{NO_BLOCK, Superblocks};
use crate::placement::{STREAMS_MAX, Stream, StreamCounts};
use crate::victim::{NOT_CLOSED, Victims, View};

/// Where a block is kept that is open, and that no stream writes now: a drive with an SLC cache, which has two streams.
const PARKED: usize = STREAMS_MAX - 1;

/// Block bookkeeping, rebuilt from flash after a power cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// Valid units per block, with [`NOT_CLOSED`] set while the block is free or open.
    pub(super) valid: Vec<u32>,
    pub(super) free: FreePool,
    pub(super) open: Vec<[u32; STREAMS_MAX]>,
    /// Sequence number with which the newest data of each closed block came from the host; copies keep theirs. 0: not
    /// known yet.
    pub(super) newest: Vec<u64>,
    /// The policy that picks victims; it hears of every change.
    pub(super) victims: Victims,
    /// Which blocks are opened and erased together; `None`: each is by itself.
    pub(super) superblocks: Option<Box<Superblocks>>,
    pub(super) blocks_per_die: u32,
}

impl Blocks {
    /// All blocks of all dies are free; the first `reserved` of each die belong to somebody else. So many are a superblock.
    pub(crate) fn new(
        layout: &UnitLayout,
        flash: &FlashArray,
        reserved: u32,
        superblock_blocks: u32,
        victims: Victims,
    ) -> Self {
        let dies = layout.geometry.die_count();
        let blocks_per_die = layout.geometry.blocks_per_die();
        let free = FreePool::new(layout, flash, reserved, superblock_blocks);
        Self {
            valid: vec![NOT_CLOSED; layout.block_count() as usize],
            free,
            open: vec![[NO_BLOCK; STREAMS_MAX]; dies as usize],
            newest: vec![0; layout.block_count() as usize],
            victims,
            superblocks: Superblocks::new(superblock_blocks, dies, blocks_per_die),
            blocks_per_die,
        }
    }

    /// As flash was found: erased blocks are free, full ones closed. A block that is partly programmed goes on for the
    /// stream of its last page, as long as that has none; further ones count as closed.
    pub(crate) fn restore(
        layout: &UnitLayout,
        flash: &FlashArray,
        (reserved, superblock_blocks): (u32, u32),
        victims: Victims,
        streams: StreamCounts,
        stream_of: impl Fn(BlockIndex) -> Stream,
    ) -> Self {
        let sizes = (reserved, superblock_blocks);
        let mut blocks = Self::found(layout, flash, sizes, victims, |block, open| {
            let mine = std::iter::once(stream_of(block)).chain(streams.all());
            mine.map(Stream::index).find(|&stream| open[stream] == NO_BLOCK)
        });
        blocks.find_superblocks(flash, layout.geometry.die_count(), streams, stream_of);
        blocks.tell_victims(layout, flash);
        blocks
    }

    /// As flash of a drive with an SLC cache was found, but for blocks that are always of the cache. A native block that is
    /// partly programmed with data of the host is left aside, as long as none is: the host goes on in it when the cache
    /// takes no more. One whose mode nobody knows, as it has no page that can be read, counts as closed.
    pub(super) fn restore_cached(
        layout: &UnitLayout,
        flash: &FlashArray,
        reserved: u32,
        victims: Victims,
        streams: StreamCounts,
        found_of: impl Fn(BlockIndex) -> Option<PageKind>,
    ) -> Self {
        let moved = || streams.moved().map(Stream::index);
        let mut blocks = Self::found(layout, flash, (reserved, 1), victims, |block, open| {
            let is_closed = |&stream: &usize| open[stream] == NO_BLOCK;
            match (flash.mode(block), found_of(block)?) {
                (CellMode::Slc, _) => Some(Stream::HOST.index()).filter(is_closed),
                (CellMode::Native, PageKind::Moved) => moved().chain([PARKED]).find(is_closed),
                (CellMode::Native, _) => std::iter::once(PARKED).chain(moved()).find(is_closed),
            }
        });
        blocks.tell_victims(layout, flash);
        blocks
    }

    /// Erased blocks are free, full ones closed. `goes_on`: as which open block one goes on that is partly programmed, of a
    /// die with these.
    fn found(
        layout: &UnitLayout,
        flash: &FlashArray,
        (reserved, superblock_blocks): (u32, u32),
        victims: Victims,
        goes_on: impl Fn(BlockIndex, &[u32; STREAMS_MAX]) -> Option<usize>,
    ) -> Self {
        let mut blocks = Self::new(layout, flash, reserved, superblock_blocks, victims);
        blocks.free = FreePool::erased(layout, flash, reserved, superblock_blocks);
        for block in (0..layout.block_count()).map(BlockIndex) {
            let pages = flash.write_pointer(block);
            if pages == 0 || block.0 % blocks.blocks_per_die < reserved {
                continue;
            }
            let open = &mut blocks.open[layout.die_of(block).0 as usize];
            let has_room = pages + layout.pages_per_unit <= layout.geometry.pages_per_block;
            match goes_on(block, open).filter(|_| has_room) {
                Some(stream) => open[stream] = block.0,
                None => blocks.valid[block.0 as usize] = 0,
            }
        }
        blocks
    }

    /// Tells the policy what was found.
    fn tell_victims(&mut self, layout: &UnitLayout, flash: &FlashArray) {
        let is_written =
            |&block: &BlockIndex| self.is_closed(block) || self.is_open(layout.die_of(block), block);
        let all = (0..layout.block_count()).map(BlockIndex);
        let mut written: Vec<_> = all.filter(is_written).filter(|&block| self.is_head(block)).collect();
        written.sort_by_key(|&block| flash.first_sequences(block.0, 1)[0]);
        for block in written {
            let die = layout.die_of(block);
            self.victims.opened(die, block);
            if self.is_closed(block) {
                self.victims.closed(die, block);
            }
        }
    }

    /// Blocks that have failed are neither free nor open nor candidates for cleaning.
    pub(crate) fn withhold(&mut self, layout: &UnitLayout, is_bad: &[bool], streams: StreamCounts) {
        for die in (0..layout.geometry.die_count()).map(DieIndex) {
            self.free.retain(die, |block| !is_bad[block.0 as usize]);
            for open in &mut self.open[die.0 as usize] {
                if *open != NO_BLOCK && is_bad[*open as usize] {
                    *open = NO_BLOCK;
                }
            }
        }
        for block in (0..layout.block_count()).map(BlockIndex).filter(|&block| is_bad[block.0 as usize]) {
            self.retire(layout.die_of(block), block);
        }
        self.settle_superblocks(layout.geometry.die_count(), is_bad, streams);
    }

    /// A block has failed: it is no candidate for cleaning any more.
    pub(crate) fn retire(&mut self, die: DieIndex, block: BlockIndex) {
        self.valid[block.0 as usize] |= NOT_CLOSED;
        self.withdraw(die, block);
    }

    /// Free blocks of a die.
    pub(super) fn free_blocks(&self, die: DieIndex) -> u32 {
        self.free.blocks(die)
    }

    /// Free superblocks of a die: free blocks, where blocks are by themselves.
    #[inline]
    pub fn free_count(&self, die: DieIndex) -> u32 {
        self.free.count(die)
    }

    /// Valid units of a block, whatever its state.
    #[inline]
    pub fn valid_count(&self, block: BlockIndex) -> u32 {
        self.valid[block.0 as usize] & !NOT_CLOSED
    }

    /// Whether a block is closed: fully programmed, and a candidate for cleaning.
    pub fn is_closed(&self, block: BlockIndex) -> bool {
        self.valid[block.0 as usize] & NOT_CLOSED == 0
    }

    /// The open block of a stream.
    #[inline]
    pub fn open_block(&self, die: DieIndex, stream: Stream) -> Option<BlockIndex> {
        let block = self.open[die.0 as usize][stream.index()];
        (block != NO_BLOCK).then_some(BlockIndex(block))
    }

    /// Whether a block of a die is the open block of a stream.
    pub(crate) fn is_open(&self, die: DieIndex, block: BlockIndex) -> bool {
        self.open[die.0 as usize].contains(&block.0)
    }

    /// Whether a die has an open block, or one that was left aside.
    pub(crate) fn has_open(&self, die: DieIndex) -> bool {
        self.open[die.0 as usize].iter().any(|&block| block != NO_BLOCK)
    }

    /// The open blocks of all dies and streams.
    pub(crate) fn all_open(&self) -> impl Iterator<Item = BlockIndex> + '_ {
        let open = self.open.iter().flat_map(|streams| streams.iter());
        open.filter(|&&block| block != NO_BLOCK).map(|&block| BlockIndex(block))
    }

    /// Picks a block of a die to be cleaned: a closed one with no more than `most_valid` of `units_per_block`. A scan
    /// begins at its `start`-th block.
    pub(crate) fn pick_victim(
        &mut self,
        die: DieIndex,
        flash: &FlashArray,
        (units_per_block, most_valid): (u32, u32),
        start: u32,
    ) -> Option<BlockIndex> {
        if self.superblocks.is_some() {
            return self.pick_superblock(die, flash, (units_per_block, most_valid), start);
        }
        let (first, count) = (die.0 * self.blocks_per_die, self.blocks_per_die);
        let places = first as usize..(first + count) as usize;
        let view = View {
            first,
            valid: &self.valid[places.clone()],
            first_sequence: flash.first_sequences(first, count),
            newest_sequence: &self.newest[places.clone()],
            erase_counts: &flash.erase_counts()[places],
            next_sequence: flash.next_sequence(),
            units_per_block,
            most_valid,
            start: start as usize,
        };
        self.victims.pick(die, &view).map(|block| BlockIndex(first + block))
    }

    /// Opens the least worn free block for a stream.
    #[inline]
    pub(crate) fn open_next(&mut self, die: DieIndex, stream: Stream) -> Option<BlockIndex> {
        if self.superblocks.is_some() {
            return self.open_superblock(die, stream, false);
        }
        let block = self.free.take(die)?;
        self.open[die.0 as usize][stream.index()] = block.0;
        self.victims.opened(die, block);
        Some(block)
    }

    /// A stream writes a block of its own, which is no candidate for cleaning and was never in the free pool.
    pub(super) fn open_own(&mut self, die: DieIndex, stream: Stream, block: BlockIndex) {
        self.open[die.0 as usize][stream.index()] = block.0;
    }

    /// The open block of a stream is left aside, partly written.
    pub(super) fn park(&mut self, die: DieIndex, stream: Stream) {
        let open = &mut self.open[die.0 as usize];
        open[PARKED] = std::mem::replace(&mut open[stream.index()], NO_BLOCK);
    }

    /// The open block of a stream, or none, is left aside, and the one that was is open.
    pub(super) fn exchange_parked(&mut self, die: DieIndex, stream: Stream) {
        self.open[die.0 as usize].swap(PARKED, stream.index());
    }

    /// The block that was left aside.
    pub(super) fn parked(&self, die: DieIndex) -> Option<BlockIndex> {
        let block = self.open[die.0 as usize][PARKED];
        (block != NO_BLOCK).then_some(BlockIndex(block))
    }

    /// A stream goes on in the block that was left aside, if one was.
    pub(super) fn take_parked(&mut self, die: DieIndex, stream: Stream) -> Option<BlockIndex> {
        let block = self.parked(die)?;
        let open = &mut self.open[die.0 as usize];
        open[PARKED] = NO_BLOCK;
        open[stream.index()] = block.0;
        Some(block)
    }

    /// A block of a stream's own was erased.
    pub(super) fn forget(&mut self, block: BlockIndex) {
        debug_assert_eq!(self.valid_count(block), 0);
        self.newest[block.0 as usize] = 0;
    }

    /// The stream of a die that comes last of those with an open block, and its place. The host's come first.
    fn last_open(&self, die: DieIndex) -> Option<usize> {
        self.open[die.0 as usize].iter().rposition(|&block| block != NO_BLOCK)
    }

    /// The block that [`Self::lend`] would take.
    pub(crate) fn last_open_block(&self, die: DieIndex) -> Option<BlockIndex> {
        self.last_open(die).map(|stream| BlockIndex(self.open[die.0 as usize][stream]))
    }

    /// An open block of a die, of the last stream that has one, written up to this sequence number, becomes that of a
    /// stream that has none.
    pub(crate) fn lend(&mut self, die: DieIndex, to: Stream, sequence: u64) -> Option<BlockIndex> {
        let from = self.last_open(die)?;
        let open = &mut self.open[die.0 as usize];
        let block = BlockIndex(std::mem::replace(&mut open[from], NO_BLOCK));
        open[to.index()] = block.0;
        self.lend_waiting(die, Stream(from as u8), to);
        self.note_newest(block, sequence);
        Some(block)
    }

    /// A block holds data that came from the host with this sequence number.
    #[inline]
    pub(crate) fn note_newest(&mut self, block: BlockIndex, sequence: u64) {
        let newest = &mut self.newest[block.0 as usize];
        *newest = sequence.max(*newest);
    }

    /// Data of a block is copied to another: how old it is stays known, or it is as new as may be. Most policies don't
    /// ask for that.
    #[inline]
    pub(crate) fn note_copied(&mut self, from: BlockIndex, to: BlockIndex, now: u64) {
        if !self.victims.asks_for_age() {
            return;
        }
        let newest = self.newest[from.0 as usize];
        self.note_newest(to, if newest == 0 { now } else { newest });
    }

    /// Sequence number with which the newest data of a closed block came from the host.
    #[must_use]
    pub fn newest_sequence(&self, block: BlockIndex) -> u64 {
        self.newest[block.0 as usize]
    }

    /// A block is fully programmed.
    #[inline]
    pub(crate) fn close(&mut self, die: DieIndex, stream: Stream) {
        if self.superblocks.is_some() {
            return self.close_in_superblock(die, stream);
        }
        let block = std::mem::replace(&mut self.open[die.0 as usize][stream.index()], NO_BLOCK);
        self.valid[block as usize] &= !NOT_CLOSED;
        self.victims.closed(die, BlockIndex(block));
    }

    /// Forgets an open block without closing it (it is about to be erased).
    pub(crate) fn abandon(&mut self, die: DieIndex, stream: Stream) {
        self.open[die.0 as usize][stream.index()] = NO_BLOCK;
    }

    /// A block was erased and is free again.
    pub(crate) fn release(&mut self, die: DieIndex, block: BlockIndex, erase_count: u32) {
        debug_assert_eq!(self.valid_count(block), 0);
        self.valid[block.0 as usize] = NOT_CLOSED;
        self.newest[block.0 as usize] = 0;
        self.withdraw(die, block);
        self.free.put(die, block, erase_count);
    }

    /// Brings the count of a block into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockIndex) {
        drivelab_sim::prefetch(&self.valid, block.0 as usize);
    }

    #[inline]
    pub(crate) fn add_valid(&mut self, block: BlockIndex, count: u32) {
        self.valid[block.0 as usize] += count;
    }

    #[inline]
    pub(crate) fn remove_valid(&mut self, block: BlockIndex, count: u32) {
        self.valid[block.0 as usize] -= count;
        self.victims.lost(block, count);
    }
}

#[cfg(test)]
#[path = "blocks_test.rs"]
mod tests;
