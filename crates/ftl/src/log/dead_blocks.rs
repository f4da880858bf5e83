//! Blocks of a drive with an SLC cache that hold nothing valid and only have to be erased. The cache grows into free
//! blocks, so they are erased in pauses, and those that a search has found as soon as the cache takes data and finds none
//! free.

use drivelab_nand::{BlockIndex, DieIndex, Ppn};

use super::die_logs::DieLogs;
use super::slc_cache::SlcCache;

impl DieLogs {
    /// A unit of a place was trimmed: what is erased from now on makes room, if it was the last of its block.
    #[inline]
    pub(crate) fn note_trimmed_place(&mut self, place: Ppn) {
        if self.slc.is_some() {
            let block = self.layout.block_of(place);
            if self.blocks.valid_count(block) == 0 {
                self.note_dead(block);
            }
        }
    }

    #[cold]
    fn note_dead(&mut self, block: BlockIndex) {
        let die = self.layout.die_of(block);
        if !self.is_dead(die, block) {
            return;
        }
        let number = block.0 - die.0 * self.layout.geometry.blocks_per_die();
        let fill = self.fill();
        let Some(cache) = &mut self.slc else { return };
        // There may be more of it now, and it takes data again if it was emptied before.
        cache.note_fill(fill);
        cache.takes_data |= cache.closed <= cache.config.refill_blocks;
        let own = cache.of_mut(die);
        own.has_empty |= own.closed.contains(&block);
        own.dead_search_from = Some(own.dead_search_from.map_or(number, |from| from.min(number)));
    }

    /// Whether a block of a die is written and holds nothing valid.
    fn is_dead(&self, die: DieIndex, block: BlockIndex) -> bool {
        let is_written = self.blocks.is_closed(block) || self.is_static(block) && self.is_full(die, block);
        is_written && self.blocks.valid_count(block) == 0
    }

    /// The block that holds nothing valid and that the search on a die has come to.
    pub(super) fn found_dead(&self, die: DieIndex) -> Option<BlockIndex> {
        let first = die.0 * self.layout.geometry.blocks_per_die();
        let found = BlockIndex(first + self.slc.as_ref()?.of(die).dead_search_from?);
        self.is_dead(die, found).then_some(found)
    }

    /// Whether the cache takes data on a die and lacks a free block of the kind that an erase would give it.
    pub(super) fn wants_dead(&self, cache: &SlcCache, die: DieIndex) -> bool {
        cache.takes_data
            && self.found_dead(die).is_some_and(|found| {
                if self.is_static(found) {
                    cache.static_free.count(die) == 0
                } else {
                    cache.may_grow(die) && self.blocks.free_count(die) <= self.cache_floor(cache)
                }
            })
    }

    /// A block of a die that only has to be erased, and moves the search on to it: what it held was trimmed or overwritten.
    /// A pause begins a search of every block, and a trim of those from the first on that it leaves empty, so that a die
    /// isn't searched each time that it is asked what it needs; what is outdated behind that waits for the next search.
    pub(super) fn next_dead(&mut self, die: DieIndex) -> Option<BlockIndex> {
        let from = self.slc.as_ref()?.of(die).dead_search_from?;
        let per_die = self.layout.geometry.blocks_per_die();
        let first = die.0 * per_die;
        let found = (first + from..first + per_die).map(BlockIndex).find(|&block| self.is_dead(die, block));
        self.slc.as_mut()?.of_mut(die).dead_search_from = found.map(|block| block.0 - first);
        found
    }
}
