//! Superblocks as streams open and fill them and cleaning picks them: what blocks add to themselves where they are not
//! their own unit of cleaning.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray};
use drivelab_sim::sabotage::{self, Sabotage};

use super::blocks::Blocks;
use super::superblocks::NO_BLOCK;
use crate::placement::Stream;
use crate::victim::{NOT_CLOSED, View};

impl Blocks {
    /// Blocks of a whole superblock.
    pub(super) fn superblock_blocks(&self) -> u32 {
        self.superblocks.as_ref().map_or(1, |superblocks| superblocks.size)
    }

    /// Opens the least worn free blocks for a stream, or goes on in those that it has opened. `may_be_short`: rather fewer
    /// of them than none.
    pub(super) fn open_superblock(
        &mut self,
        die: DieIndex,
        stream: Stream,
        may_be_short: bool,
    ) -> Option<BlockIndex> {
        let superblocks = self.superblocks.as_mut()?;
        if superblocks.waiting(die, stream).is_empty() {
            let free = self.free.blocks(die);
            if free == 0 || (free < superblocks.size && !may_be_short) {
                return None;
            }
            let blocks: Vec<_> =
                (0..free.min(superblocks.size)).filter_map(|_| self.free.take(die)).collect();
            superblocks.join(&blocks);
            superblocks.waiting_mut(die, stream).extend(&blocks);
            self.victims.opened(die, blocks[0]);
        }
        let block = superblocks.waiting_mut(die, stream).pop_front()?;
        self.open[die.0 as usize][stream.index()] = block.0;
        Some(block)
    }

    /// The open block of a stream is full: the next of its superblock follows, or all of them are candidates from now on.
    pub(super) fn close_in_superblock(&mut self, die: DieIndex, stream: Stream) {
        let block = std::mem::replace(&mut self.open[die.0 as usize][stream.index()], NO_BLOCK);
        if self.open_superblock_waiting(die, stream).is_none() {
            self.close_superblock(die, BlockIndex(block));
        }
    }

    pub(super) fn open_superblock_waiting(&mut self, die: DieIndex, stream: Stream) -> Option<BlockIndex> {
        let block = self.superblocks.as_mut()?.waiting_mut(die, stream).pop_front()?;
        self.open[die.0 as usize][stream.index()] = block.0;
        Some(block)
    }

    pub(super) fn close_superblock(&mut self, die: DieIndex, block: BlockIndex) {
        let Some(superblocks) = &self.superblocks else { return };
        let all = if sabotage::is(Sabotage::SuperblockHalfClosed) { 1 } else { usize::MAX };
        for member in superblocks.members(block).take(all) {
            self.valid[member.0 as usize] &= !NOT_CLOSED;
        }
        if let Some(head) = superblocks.head_of(block) {
            self.victims.closed(die, head);
        }
    }

    /// The open block of a stream has failed: its superblock goes on without it.
    pub(super) fn fail_open(&mut self, die: DieIndex, stream: Stream) {
        let block = std::mem::replace(&mut self.open[die.0 as usize][stream.index()], NO_BLOCK);
        let Some(superblocks) = &mut self.superblocks else { return };
        let other = superblocks.leave(BlockIndex(block));
        if self.open_superblock_waiting(die, stream).is_none()
            && let Some(other) = other
        {
            self.close_superblock(die, other);
        }
    }

    /// What a stream has open goes to another.
    pub(super) fn lend_waiting(&mut self, die: DieIndex, from: Stream, to: Stream) {
        let Some(superblocks) = &mut self.superblocks else { return };
        let waiting = std::mem::take(superblocks.waiting_mut(die, from));
        *superblocks.waiting_mut(die, to) = waiting;
    }

    /// A block was erased, or has failed: it is no candidate any more and in no superblock. What stays of one that it stood
    /// for remains a candidate if it was one.
    #[inline]
    pub(super) fn withdraw(&mut self, die: DieIndex, block: BlockIndex) {
        let is_head = self.is_head(block);
        match self.superblocks.as_mut().and_then(|superblocks| superblocks.leave(block)) {
            Some(other) if is_head => self.victims.replaced(die, block, other),
            _ => self.victims.withdrawn(die, block),
        }
    }

    /// The other blocks of a block's superblock.
    pub(crate) fn others_of_superblock(&self, block: BlockIndex) -> impl Iterator<Item = BlockIndex> + '_ {
        self.superblocks.iter().flat_map(move |superblocks| superblocks.members(block).skip(1))
    }

    /// Valid units of a block's superblock.
    pub(super) fn valid_of_superblock(&self, block: BlockIndex) -> u32 {
        let others = self.others_of_superblock(block).map(|other| self.valid_count(other));
        self.valid_count(block) + others.sum::<u32>()
    }

    /// Whether blocks of several dies or planes are one.
    pub(crate) fn has_superblocks(&self) -> bool {
        self.superblocks.is_some()
    }

    /// Whether a block stands for its superblock.
    pub(super) fn is_head(&self, block: BlockIndex) -> bool {
        self.superblocks.as_ref().is_none_or(|superblocks| superblocks.head[block.0 as usize] == block.0)
    }

    /// Whether a block belongs to a superblock that a stream of its die has open.
    pub(super) fn is_of_open(&self, block: BlockIndex) -> bool {
        let Some(superblocks) = &self.superblocks else { return false };
        superblocks.head_of(block).is_some() && !self.is_closed(block)
    }

    /// Whether a block is erased, and of a superblock that a stream of its die has open.
    pub(super) fn waits_erased(&self, die: DieIndex, block: BlockIndex) -> bool {
        self.superblocks.as_ref().is_some_and(|superblocks| superblocks.waits(die, block))
    }

    /// Erased blocks of superblocks that streams have open.
    pub(super) fn waiting_blocks(&self, die: DieIndex, stream: Stream) -> u32 {
        self.superblocks.as_ref().map_or(0, |superblocks| superblocks.waiting(die, stream).len() as u32)
    }

    /// Picks a superblock of a die: a closed one out of which at least a page is gained. Policies see of each the mean of its
    /// blocks, rounded down, in the place of the block that stands for it.
    pub(super) fn pick_superblock(
        &mut self,
        die: DieIndex,
        flash: &FlashArray,
        (units_per_block, most_valid): (u32, u32),
        start: u32,
    ) -> Option<BlockIndex> {
        let mut superblocks = self.superblocks.take()?;
        let per_page = units_per_block - most_valid;
        let (first, count) = (die.0 * self.blocks_per_die, self.blocks_per_die);
        let mut words = std::mem::take(&mut superblocks.words);
        words.clear();
        for block in (first..first + count).map(BlockIndex) {
            if superblocks.head[block.0 as usize] != block.0 || !self.is_closed(block) {
                words.push(NOT_CLOSED);
                continue;
            }
            let (mut blocks, mut valid, mut pages, mut newest) = (0, 0, 0, 0);
            for member in superblocks.members(block) {
                let units = self.valid_count(member);
                (blocks, valid, pages) = (blocks + 1, valid + units, pages + units.div_ceil(per_page));
                newest = self.newest[member.0 as usize].max(newest);
            }
            self.newest[block.0 as usize] = newest;
            // What frees a page has less than a block's units on the average.
            let frees = pages < blocks * (units_per_block / per_page);
            words.push(if frees { valid / blocks } else { units_per_block });
        }
        let places = first as usize..(first + count) as usize;
        let view = View {
            first,
            valid: &words,
            first_sequence: flash.first_sequences(first, count),
            newest_sequence: &self.newest[places.clone()],
            erase_counts: &flash.erase_counts()[places],
            next_sequence: flash.next_sequence(),
            units_per_block,
            most_valid: units_per_block - 1,
            start: start as usize,
        };
        let picked = self.victims.pick(die, &view).map(|block| BlockIndex(first + block));
        superblocks.words = words;
        self.superblocks = Some(superblocks);
        picked
    }

    /// Whether rings, heads, what waits and what the policy knows agree.
    pub(super) fn check_superblocks(
        &self,
        die: DieIndex,
        is_bad: impl Fn(BlockIndex) -> bool,
    ) -> Result<(), String> {
        let Some(superblocks) = &self.superblocks else { return Ok(()) };
        let all = die.0 * self.blocks_per_die..(die.0 + 1) * self.blocks_per_die;
        for block in all.clone().map(BlockIndex) {
            let head = superblocks.head_of(block);
            let members: Vec<_> = superblocks.members(block).take(superblocks.size as usize + 1).collect();
            if members.len() > superblocks.size as usize {
                return Err(format!("block {} is in a superblock of too many blocks", block.0));
            }
            if members.iter().any(|&member| superblocks.head_of(member) != head) {
                return Err(format!("blocks of the superblock of block {} have several heads", block.0));
            }
            if head.is_some_and(|head| !members.contains(&head)) {
                return Err(format!("block {} has a head that is not in its superblock", block.0));
            }
            if head.is_none() && (members.len() > 1 || (self.is_closed(block) && !is_bad(block))) {
                return Err(format!("block {} holds data and is in no superblock", block.0));
            }
            if members.iter().any(|&member| self.is_closed(member) != self.is_closed(block)) {
                return Err(format!("of the superblock of block {} only a part is closed", block.0));
            }
        }
        let is_candidate = |&block: &BlockIndex| self.is_head(block) && self.is_closed(block);
        let candidates: Vec<_> = all.map(BlockIndex).filter(is_candidate).collect();
        self.victims.check(die, &candidates)
    }
}
