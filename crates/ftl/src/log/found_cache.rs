//! An SLC cache as it was found in flash, and one some of whose blocks have failed.
//!
//! Every page says with how many bits a cell it was programmed, so a block is known by any page of it that can be read.
//! Nothing else of the cache need be kept: which blocks are in it, and how many, follows from that; whether it takes data
//! is decided anew, as after a pause.

use drivelab_nand::op::PageKind;
use drivelab_nand::view::MediumView;
use drivelab_nand::{BlockIndex, CellMode, DieIndex};

use super::blocks::Blocks;
use super::die_logs::DieLogs;
use super::free_pool::FreePool;
use super::slc_cache::SlcCache;
use crate::placement::Stream;
use crate::victim::Victims;

impl DieLogs {
    /// Blocks and cache become what was found. `found_of`: what the last page of a block that can be read was programmed
    /// for.
    pub(super) fn restore_cache(
        &mut self,
        medium: &dyn MediumView,
        victims: Victims,
        found_of: impl Fn(BlockIndex) -> Option<PageKind>,
    ) {
        let Some(config) = self.config.slc_cache.clone() else { return };
        let (layout, dies) = (self.layout, self.layout.geometry.die_count());
        let per_die = layout.geometry.blocks_per_die();
        let own = self.reserved + config.static_blocks;
        for block in (0..layout.block_count()).map(BlockIndex).filter(|block| block.0 % per_die >= own) {
            let first = (0..self.flash.write_pointer(block)).find_map(|page| medium.page(block, page));
            self.flash.restore_mode(block, first.map_or(CellMode::Native, |page| page.mode));
        }
        self.blocks = Blocks::restore_cached(&layout, &self.flash, own, victims, self.streams, found_of);
        let static_free = FreePool::erased_of(&layout, &self.flash, self.reserved..own);
        let mut cache = SlcCache::new(config, static_free, dies);
        for die in (0..dies).map(DieIndex) {
            // Dynamic ones first: of two that were being written the host goes on in that one, and the other is closed.
            let all =
                (own..per_die).chain(self.reserved..own).map(|block| BlockIndex(die.0 * per_die + block));
            for block in all.filter(|&block| self.flash.mode(block) == CellMode::Slc) {
                let pages = self.flash.write_pointer(block);
                if pages == 0 {
                    continue;
                }
                if !self.is_static(block) {
                    cache.opened(die);
                } else if pages < layout.geometry.pages_per_block
                    && self.blocks.open_block(die, Stream::HOST).is_none()
                {
                    self.blocks.open_own(die, Stream::HOST, block);
                }
                if !self.blocks.is_open(die, block) {
                    cache.close(die, block);
                }
            }
        }
        self.slc = Some(Box::new(cache));
    }

    /// The map is what was found: the cache begins as after a pause.
    pub(crate) fn settle_cache(&mut self) {
        self.note_pause();
        let Some(cache) = &mut self.slc else { return };
        for own in &mut cache.dies {
            own.note_empty(|block| self.blocks.valid_count(block) == 0);
        }
    }

    /// Blocks that have failed are of the cache no more, which has just been made anew.
    pub(super) fn withhold_from_cache(&mut self) {
        for die in (0..self.layout.geometry.die_count()).map(DieIndex) {
            let per_die = self.layout.geometry.blocks_per_die();
            for block in (die.0 * per_die..(die.0 + 1) * per_die).map(BlockIndex) {
                if self.is_bad(block) {
                    self.leave_cache(die, block);
                }
            }
        }
    }

    /// A block of a die has failed, before or after it was fully programmed.
    pub(super) fn leave_cache(&mut self, die: DieIndex, block: BlockIndex) {
        let is_dynamic = !self.is_static(block) && self.flash.mode_of_data(block) == Some(CellMode::Slc);
        if let Some(cache) = &mut self.slc {
            cache.failed(die, block, is_dynamic);
        }
    }
}
