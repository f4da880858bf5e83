//! What a log does about blocks that fail: it goes on in others, and empties those that hold something.

use drivelab_nand::view::{BlockState, MediumView};
use drivelab_nand::{BlockIndex, DieIndex};

use super::bad_blocks::{BadBlocks, FailedProgram};
use super::die_logs::DieLogs;
use crate::error::FtlError;
use crate::placement::Stream;

impl DieLogs {
    /// The drive has bad blocks from now on; `spare_blocks_new`: so many it can lose.
    pub(crate) fn expect_failures(&mut self, spare_blocks_new: u32) -> &mut BadBlocks {
        let (dies, blocks) = (self.layout.geometry.die_count(), self.layout.block_count());
        self.bad.get_or_insert_with(|| Box::new(BadBlocks::new(dies, blocks, spare_blocks_new)))
    }

    /// Blocks of a die that can't hold valid data, beside those of a drive without faults.
    #[inline]
    pub(crate) fn withheld(&self, die: DieIndex) -> u32 {
        let Some(bad) = &self.bad else { return 0 };
        // A superblock lacks a block, or there is one less.
        let size = self.config.superblock_blocks;
        let lost = bad.withheld(die) - bad.failure_reserve();
        (lost.div_ceil(size) + bad.failure_reserve()) * size
    }

    /// Free blocks of a die that are kept for the failure of others.
    #[inline]
    pub(crate) fn failure_reserve(&self) -> u32 {
        self.bad.as_ref().map_or(0, |bad| bad.failure_reserve())
    }

    /// Sees to it that the next program of a stream succeeds: pages that fail are lost, their block is retired, and the
    /// stream goes on in another one.
    ///
    /// # Errors
    /// [`FtlError::NoFreeBlock`]: there is no other one.
    pub(crate) fn ready_page(
        &mut self,
        die: DieIndex,
        stream: Stream,
        is_host: bool,
    ) -> Result<(), FtlError> {
        if self.bad.is_none() {
            return Ok(());
        }
        loop {
            if is_host && self.slc.is_some() && !self.has_cached_block(die) {
                // The cache may have to be folded before there is another one.
                return Ok(());
            }
            let block = self.open(die, stream, is_host)?;
            let (sequence, worn) = (self.flash.next_sequence(), self.flash.erase_count(block));
            let page = self.flash.write_pointer(block);
            let Some(bad) = &mut self.bad else { return Ok(()) };
            if bad.is_ready(block, page, worn) || !bad.program_fails(block, (page, sequence), worn) {
                return Ok(());
            }
            let mode = self.flash.mode(block);
            bad.failed_programs.push(FailedProgram { block, page, mode, sequence });
            bad.mark(die, block);
            bad.to_empty[die.0 as usize].push_back(block);
            self.flash.program_page(block, page)?;
            self.blocks.fail_open(die, stream);
            if self.slc.is_some() {
                self.leave_cache(die, block);
            }
            self.renew_parity(die);
        }
    }

    /// Whether the erase that was just counted in flash has failed: the block is retired then, and holds nothing.
    pub(crate) fn has_erase_failed(&mut self, die: DieIndex, block: BlockIndex) -> bool {
        let worn = self.flash.erase_count(block);
        let Some(bad) = &mut self.bad else { return false };
        let failed = bad.erase_fails(block, worn);
        if failed {
            bad.mark(die, block);
            bad.failed_erase = Some(block);
        }
        failed
    }

    /// A block is to be emptied before others, and goes back to use if it has not failed.
    pub(crate) fn refresh(&mut self, block: BlockIndex) -> bool {
        let die = self.layout.die_of(block);
        let is_victim = self.victim_of(die) == Some(block);
        let is_closed = self.is_full(die, block);
        let Some(bad) = &mut self.bad else { return false };
        let queue = &mut bad.to_empty[die.0 as usize];
        let wanted = is_closed && !is_victim && !queue.contains(&block);
        if wanted {
            queue.push_back(block);
        }
        wanted
    }

    /// Whether a block is closed, one that is always of the SLC cache included: cleaning doesn't know those.
    pub(super) fn is_full(&self, die: DieIndex, block: BlockIndex) -> bool {
        self.blocks.is_closed(block)
            || self.slc.as_ref().is_some_and(|cache| cache.of(die).closed.contains(&block))
    }

    /// Whether blocks of a die are to be emptied before others.
    #[inline]
    pub(crate) fn has_to_empty(&self, die: DieIndex) -> bool {
        self.bad.as_ref().is_some_and(|bad| !bad.to_empty[die.0 as usize].is_empty())
    }

    /// The next block of a die that is to be emptied before others. Of those that are to be written anew only one for whose
    /// data there is room: the next patrol asks again.
    pub(crate) fn next_to_empty(&mut self, die: DieIndex) -> Option<BlockIndex> {
        let lacks_room = self.has_to_empty(die) && self.lacks_copy_room(die);
        loop {
            let bad = self.bad.as_mut()?;
            let block = bad.to_empty[die.0 as usize].pop_front()?;
            let is_bad = bad.is_bad(block);
            let holds_data = self.blocks.valid_count(block) > 0;
            let is_wanted =
                if is_bad { holds_data } else { self.is_full(die, block) && !(holds_data && lacks_room) };
            if is_wanted {
                return Some(block);
            }
        }
    }

    /// Whether a block has failed.
    #[inline]
    pub(crate) fn is_bad(&self, block: BlockIndex) -> bool {
        self.bad.as_ref().is_some_and(|bad| bad.is_bad(block))
    }

    /// Bad blocks leave the pools that have just been made anew; those that hold something are to be emptied.
    pub(crate) fn withhold_bad_blocks(&mut self) {
        let Some(bad) = &mut self.bad else { return };
        self.blocks.withhold(&self.layout, &bad.is_bad, self.streams);
        for queue in &mut bad.to_empty {
            queue.clear();
        }
        for block in (0..self.layout.block_count()).map(BlockIndex) {
            if bad.is_bad(block) && self.flash.write_pointer(block) > 0 {
                bad.to_empty[self.layout.die_of(block).0 as usize].push_back(block);
            }
        }
        if self.slc.is_some() {
            self.withhold_from_cache();
        }
    }

    /// Blocks that were found retired are bad.
    pub(crate) fn restore_bad_blocks(&mut self, medium: &dyn MediumView, spare_blocks_new: u32) {
        let layout = self.layout;
        let is_retired = |&block: &BlockIndex| medium.block(block).state == BlockState::Retired;
        let found: Vec<_> = (0..layout.block_count()).map(BlockIndex).filter(is_retired).collect();
        if found.is_empty() && self.bad.is_none() {
            return;
        }
        let bad = self.expect_failures(spare_blocks_new);
        for block in found {
            bad.mark(layout.die_of(block), block);
        }
        self.withhold_bad_blocks();
    }
}
