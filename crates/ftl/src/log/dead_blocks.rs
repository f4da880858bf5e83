//! Blocks of a drive with an SLC cache that hold nothing valid and only have to be erased. The cache grows into free
//! blocks, so they are erased in pauses, and behind a trim as soon as the cache takes data and finds none free.

use drivelab_nand::{BlockIndex, DieIndex, Ppn};

use super::die_logs::DieLogs;
use super::slc_cache::SlcCache;

impl DieLogs {
    /// A unit of a place was trimmed: what is erased from now on makes room, if it was the last of its block.
    #[inline]
    pub(crate) fn note_trimmed(&mut self, place: Ppn) {
        if self.slc.is_some() {
            self.note_dead(self.layout.block_of(place));
        }
    }

    #[cold]
    fn note_dead(&mut self, block: BlockIndex) {
        let die = self.layout.die_of(block);
        let number = block.0 - die.0 * self.layout.geometry.blocks_per_die();
        let is_dead = self.is_dead(die, block);
        if let Some(cache) = self.slc.as_mut().filter(|_| is_dead) {
            let from = &mut cache.of_mut(die).dead_search_from;
            *from = Some(from.map_or(number, |from| from.min(number)));
            cache.takes_data |= cache.closed <= cache.config.refill_blocks;
        }
    }

    /// Whether a block of a die is written and holds nothing valid.
    fn is_dead(&self, die: DieIndex, block: BlockIndex) -> bool {
        let is_written = self.blocks.is_closed(block) || self.is_static(block) && self.is_full(die, block);
        is_written && self.blocks.valid_count(block) == 0
    }

    /// Whether the search on a die has come to a block that holds nothing valid.
    pub(super) fn has_dead(&self, die: DieIndex) -> bool {
        let first = die.0 * self.layout.geometry.blocks_per_die();
        let from = self.slc.as_ref().and_then(|cache| cache.of(die).dead_search_from);
        from.is_some_and(|from| self.is_dead(die, BlockIndex(first + from)))
    }

    /// Whether the cache takes data on a die and lacks a free block, of which it could have more.
    pub(super) fn wants_dead(&self, cache: &SlcCache, die: DieIndex) -> bool {
        cache.takes_data
            && cache.may_grow(die)
            && self.blocks.free_count(die) <= self.cache_floor(cache)
            && self.has_dead(die)
    }

    /// A block of a die that only has to be erased, and moves the search on to it: what it held was trimmed or overwritten.
    /// Each pause looks at every block once, and a trim at those behind the first that it leaves empty, so that a die isn't
    /// searched each time that it is asked what it needs; what is outdated behind that waits for the next pause.
    pub(super) fn next_dead(&mut self, die: DieIndex) -> Option<BlockIndex> {
        let from = self.slc.as_ref()?.of(die).dead_search_from?;
        let per_die = self.layout.geometry.blocks_per_die();
        let first = die.0 * per_die;
        let found = (first + from..first + per_die).map(BlockIndex).find(|&block| self.is_dead(die, block));
        self.slc.as_mut()?.of_mut(die).dead_search_from = found.map(|block| block.0 - first);
        found
    }
}
