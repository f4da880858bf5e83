//! A cache of blocks whose cells are programmed with one bit each: faster, and of a fraction of a native block's data.
//!
//! Static blocks are never anything else. Dynamic ones are opened out of the free pool like any other and hold 1/b of
//! what they would as native ones, so data in them takes b times its room until it is folded: copied to native blocks.

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, DieIndex};
use serde::{Deserialize, Serialize};

use super::free_pool::FreePool;

/// What becomes of writes of the host when the cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// They go to native blocks. Blocks are folded when those run out, or in a pause.
    #[default]
    Native,
    /// They wait until blocks have been folded: everything goes through the cache.
    Wait,
    /// They go to native blocks while the cache is folded beside, and to the cache again when it is empty.
    Refill,
}

/// Parameters of the cache. Counts of blocks are of all dies where nothing else is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlcCacheConfig {
    /// Bits of a native cell.
    pub bits: u32,
    /// Blocks of each die that are always of the cache.
    pub static_blocks: u32,
    /// Most other blocks that it takes.
    pub dynamic_blocks: u32,
    /// It takes so many while no more of the user capacity than this is mapped, ...
    pub whole_until: f64,
    /// ... none from here on, and fewer and fewer between.
    pub gone_from: f64,
    /// Free blocks of each die, beside those that cleaning keeps free (where others only have to be erased, those in reserve),
    /// that it leaves, and that are not written natively either before it is folded.
    pub reserve_blocks: u32,
    /// Where writes go when it is full.
    pub when_full: WhenFull,
    /// It takes data again when it has no more blocks than this.
    pub refill_blocks: u32,
    /// Blocks that a pause leaves in it.
    pub kept_blocks: u32,
    /// Dies that fold at the same time; 0: all.
    pub fold_dies: u32,
}

impl DieCache {
    /// Whether one of those that are closed holds nothing valid.
    pub(super) fn note_empty(&mut self, is_empty: impl Fn(BlockIndex) -> bool) {
        self.has_empty = self.closed.iter().any(|&block| is_empty(block));
    }
}

impl SlcCacheConfig {
    /// Most dynamic blocks when this share of the user capacity is mapped.
    pub(super) fn dynamic_limit(&self, fill: f64) -> u32 {
        let share = if fill <= self.whole_until {
            1.0
        } else if fill >= self.gone_from {
            0.0
        } else {
            (self.gone_from - fill) / (self.gone_from - self.whole_until)
        };
        (f64::from(self.dynamic_blocks) * share) as u32
    }
}

/// Blocks of the cache on one die.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DieCache {
    /// Those that are fully programmed.
    pub closed: Vec<BlockIndex>,
    /// Dynamic ones, open or closed.
    pub dynamic: u32,
    /// One of those that are closed was seen to hold nothing valid.
    pub has_empty: bool,
    /// Where the search for blocks without valid data goes on that a pause or a trim has begun, counted from the first of
    /// the die; `None`: it has ended.
    pub dead_search_from: Option<u32>,
    /// Waits until another die has folded its block.
    waits: bool,
}

/// Blocks of the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SlcCache {
    pub config: SlcCacheConfig,
    /// Erased static blocks.
    pub(super) static_free: FreePool,
    pub(super) dies: Vec<DieCache>,
    /// Dynamic blocks of all dies, and how many there may be. That is looked at when blocks are opened and erased, and when a
    /// trim leaves one empty.
    pub(super) dynamic: u32,
    pub(super) dynamic_limit: u32,
    /// Fully programmed ones of all dies.
    pub(super) closed: u32,
    /// Whether writes go to the cache, as far as there is room.
    pub(super) takes_data: bool,
    /// Dies that wait to fold, the first longest.
    waiting: VecDeque<DieIndex>,
}

impl SlcCache {
    /// An empty cache.
    pub(super) fn new(config: SlcCacheConfig, static_free: FreePool, dies: u32) -> Self {
        Self {
            dynamic_limit: config.dynamic_limit(0.0),
            config,
            static_free,
            dies: vec![DieCache::default(); dies as usize],
            dynamic: 0,
            closed: 0,
            takes_data: true,
            waiting: VecDeque::with_capacity(dies as usize),
        }
    }

    pub(super) fn of(&self, die: DieIndex) -> &DieCache {
        &self.dies[die.0 as usize]
    }

    pub(super) fn of_mut(&mut self, die: DieIndex) -> &mut DieCache {
        &mut self.dies[die.0 as usize]
    }

    /// So much of the user capacity is mapped.
    pub(super) fn note_fill(&mut self, fill: f64) {
        self.dynamic_limit = self.config.dynamic_limit(fill);
    }

    /// Whether a die may have another dynamic block.
    pub(super) fn may_grow(&self, die: DieIndex) -> bool {
        let share = self.dynamic_limit.div_ceil(self.dies.len() as u32);
        self.dynamic < self.dynamic_limit && self.of(die).dynamic < share
    }

    /// A dynamic block of a die is opened.
    pub(super) fn opened(&mut self, die: DieIndex) {
        self.dynamic += 1;
        self.of_mut(die).dynamic += 1;
    }

    /// A block of a die is fully programmed.
    pub(super) fn close(&mut self, die: DieIndex, block: BlockIndex) {
        self.closed += 1;
        self.of_mut(die).closed.push(block);
    }

    fn forget_closed(&mut self, die: DieIndex, block: BlockIndex) {
        let own = &mut self.dies[die.0 as usize];
        if let Some(place) = own.closed.iter().position(|&closed| closed == block) {
            own.closed.remove(place);
            self.closed -= 1;
        }
    }

    /// A block of a die has failed, `is_dynamic`: one that was opened.
    pub(super) fn failed(&mut self, die: DieIndex, block: BlockIndex, is_dynamic: bool) {
        self.forget_closed(die, block);
        self.static_free.retain(die, |free| free != block);
        let count = u32::from(is_dynamic);
        self.dies[die.0 as usize].dynamic -= count;
        self.dynamic -= count;
    }

    /// A block of a die was erased, `had_data`: after its data had been folded.
    pub(super) fn erased(&mut self, die: DieIndex, block: BlockIndex, is_static: bool, had_data: bool) {
        self.forget_closed(die, block);
        let own = &mut self.dies[die.0 as usize];
        if !is_static {
            own.dynamic -= 1;
            self.dynamic -= 1;
        }
        // Room that took no copies is there for the next write, unless the cache is emptied first.
        let is_room = !had_data && self.config.when_full != WhenFull::Refill;
        if is_room || self.closed <= self.config.refill_blocks {
            self.takes_data = true;
        }
    }

    /// Blocks that a pause folds.
    pub(super) fn due_in_pause(&self) -> u32 {
        self.closed.saturating_sub(self.config.kept_blocks)
    }

    pub(super) fn waits(&self, die: DieIndex) -> bool {
        self.of(die).waits
    }

    /// A die waits until others have folded.
    pub(super) fn wait(&mut self, die: DieIndex) {
        if !std::mem::replace(&mut self.of_mut(die).waits, true) {
            self.waiting.push_back(die);
        }
    }

    /// The die that has waited longest waits no longer.
    pub(super) fn take_waiting(&mut self) -> Option<DieIndex> {
        let die = self.waiting.pop_front()?;
        self.of_mut(die).waits = false;
        Some(die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dynamic_part_shrinks_between_two_fill_levels() {
        let config = SlcCacheConfig {
            bits: 4,
            static_blocks: 1,
            dynamic_blocks: 120,
            whole_until: 0.2,
            gone_from: 0.8,
            reserve_blocks: 0,
            when_full: WhenFull::Native,
            refill_blocks: 0,
            kept_blocks: 0,
            fold_dies: 0,
        };
        let limits = [0.0, 0.2, 0.5, 0.75, 0.8, 1.0].map(|fill| config.dynamic_limit(fill));
        assert_eq!(limits, [120, 120, 60, 10, 0, 0]);
        let fixed = SlcCacheConfig { whole_until: 1.0, gone_from: 1.0, ..config };
        assert_eq!([0.0, 0.9, 1.0].map(|fill| fixed.dynamic_limit(fill)), [120; 3]);
    }
}
