//! Blocks of all dies and the SLC cache, to look at.

use drivelab_nand::{BlockIndex, CellMode, DieIndex};

use super::die_logs::DieLogs;
use crate::mapping::{BlockRole, BlockUse, SettledUses, SlcUse};
use crate::placement::Stream;

impl DieLogs {
    /// Every block of the drive, in order; what is counted as valid has so many bytes.
    pub(crate) fn block_uses(&self, unit_bytes: u32) -> Vec<BlockUse> {
        let each = |block| self.block_use(BlockIndex(block), unit_bytes);
        let blocks = 0..self.layout.block_count();
        let Some(settled) = self.settled_uses(unit_bytes) else {
            return blocks.map(each).collect();
        };
        let mut uses: Vec<_> = blocks.map(|block| settled.of(BlockIndex(block))).collect();
        for &(block, used) in &settled.unsettled {
            uses[block.0 as usize] = used;
        }
        debug_assert!(
            (0u32..).zip(&uses).all(|(block, found)| *found == each(block)),
            "a block is something else"
        );
        uses
    }

    /// The same, of logs whose blocks' state says what nearly all of them are.
    pub(crate) fn settled_uses(&self, unit_bytes: u32) -> Option<SettledUses<'_>> {
        if self.bad.is_some() || self.blocks.has_superblocks() {
            return None;
        }
        let victims = self.cleaning.jobs.iter().flatten().map(|job| job.victim);
        let unsettled = self.blocks.all_open().chain(victims);
        let unsettled = unsettled.map(|block| (block, self.block_use(block, unit_bytes))).collect();
        let per_die = (self.reserved, self.layout.geometry.blocks_per_die());
        Some(SettledUses::new(&self.blocks.valid, unsettled, per_die, unit_bytes))
    }

    fn block_use(&self, block: BlockIndex, unit_bytes: u32) -> BlockUse {
        let die = self.layout.die_of(block);
        let stream = self.stream_of_open(die, block);
        let is_victim = self.cleaning.jobs[die.0 as usize].is_some_and(|job| {
            job.victim == block || self.blocks.others_of_superblock(job.victim).any(|other| other == block)
        });
        let role = if block.0 % self.layout.geometry.blocks_per_die() < self.reserved {
            BlockRole::Metadata
        } else if self.bad.as_ref().is_some_and(|bad| bad.is_bad(block)) {
            BlockRole::Failed
        } else if is_victim {
            BlockRole::Emptied
        } else if stream.is_some() || self.blocks.is_open(die, block) || self.blocks.is_of_open(block) {
            BlockRole::Open
        } else if self.blocks.is_closed(block) || self.blocks.valid_count(block) > 0 {
            // A static block of the SLC cache is no victim, and so never closed; it holds data all the same.
            BlockRole::Closed
        } else {
            BlockRole::Free
        };
        BlockUse { role, stream, valid_bytes: self.blocks.valid_count(block) * unit_bytes }
    }

    fn stream_of_open(&self, die: DieIndex, block: BlockIndex) -> Option<u8> {
        let takes = |stream: &Stream| self.blocks.open_block(die, *stream) == Some(block);
        self.streams.all().find(takes).map(|stream| stream.0)
    }

    /// The cache, to look at.
    pub(crate) fn slc_use(&self) -> Option<SlcUse> {
        let cache = self.slc.as_ref()?;
        let dies = self.layout.geometry.die_count();
        let units = self.flash.page_units(CellMode::Slc) * self.layout.geometry.pages_per_block;
        let static_blocks = dies * cache.config.static_blocks;
        let kept_free = self.thresholds.stop + cache.config.reserve_blocks;
        let kept_free = kept_free + self.reserved + cache.config.static_blocks;
        let dynamic = self.layout.block_count().saturating_sub(dies * kept_free);
        let open = (0..dies).map(DieIndex).filter_map(|die| self.blocks.open_block(die, Stream::HOST));
        let open = open.filter(|&block| self.flash.mode(block) == CellMode::Slc).count() as u32;
        Some(SlcUse {
            bits: cache.config.bits,
            block_bytes: u64::from(units) * u64::from(self.layout.unit_bytes),
            most_blocks: static_blocks + dynamic.min(cache.config.dynamic_blocks),
            static_blocks,
            used_blocks: cache.closed + open,
        })
    }
}
