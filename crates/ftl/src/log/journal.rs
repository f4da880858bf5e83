//! The map journal: how map updates reach flash, so that a drive finds its data again after power-on.
//!
//! Every `journal_updates_per_page` map updates fill one journal page; the trim of an extent is one update, whatever its
//! length. After `checkpoint_updates` of them the part of the map that changed is written as a checkpoint of
//! `checkpoint_pages`; host writes wait for it, since the map must not change meanwhile. Each die keeps two blocks for
//! both and uses them in turn; the older one is erased when the newer is full.

use drivelab_nand::{BlockIndex, DieIndex, UnitLayout};
use drivelab_sim::sabotage::{self, Sabotage};
use serde::{Deserialize, Serialize};

use super::config::{FtlConfig, JOURNAL_BLOCKS};

/// Pages of the journal for every die that may wait until cleaning lets them through (assumed).
const WAITING_PAGES: u32 = 2;

/// State of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Journal {
    updates_per_page: u32,
    checkpoint_updates: u32,
    checkpoint_pages: u32,
    updates: u32,
    updates_since_checkpoint: u32,
    checkpointing: bool,
    due_pages: u32,
    /// More than a checkpoint and what may wait otherwise are written before anything else.
    waiting_pages_max: u32,
    /// Which of its two blocks each die writes now.
    current: Vec<u32>,
}

impl Journal {
    pub(crate) fn new(config: &FtlConfig, dies: u32) -> Self {
        Self {
            updates_per_page: config.journal_updates_per_page,
            checkpoint_updates: config.checkpoint_updates,
            checkpoint_pages: config.checkpoint_pages,
            updates: 0,
            updates_since_checkpoint: 0,
            checkpointing: false,
            due_pages: 0,
            waiting_pages_max: config.checkpoint_pages + WAITING_PAGES * dies,
            current: vec![0; dies as usize],
        }
    }

    /// Counts map updates.
    #[inline]
    pub(crate) fn note_updates(&mut self, count: u32) {
        if self.updates_per_page == 0 {
            return;
        }
        self.updates += count;
        if self.updates >= self.updates_per_page {
            self.due_pages += self.updates / self.updates_per_page;
            self.updates %= self.updates_per_page;
        }
        if self.checkpoint_updates > 0 && !self.checkpointing {
            self.updates_since_checkpoint += count;
            if self.updates_since_checkpoint >= self.checkpoint_updates {
                self.updates_since_checkpoint = 0;
                self.due_pages += self.checkpoint_pages;
                self.checkpointing = self.due_pages > 0;
            }
        }
    }

    /// Whether a checkpoint is being written: host writes wait.
    #[inline]
    pub(crate) fn is_checkpointing(&self) -> bool {
        self.checkpointing
    }

    /// Whether a page of updates waits to be programmed.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due_pages > if sabotage::is(Sabotage::JournalWaits) { 1000 } else { 0 }
    }

    /// Whether so many pages wait that nothing else may come before them: dies that clean for minutes, as those of a cache
    /// that folds at rest, would have all their changes wait.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.due_pages > self.waiting_pages_max && !sabotage::is(Sabotage::JournalComesLast)
    }

    /// Pages that wait to be programmed.
    pub(crate) fn due_pages(&self) -> u32 {
        self.due_pages
    }

    pub(crate) fn take(&mut self) {
        self.due_pages -= 1;
        self.checkpointing &= self.due_pages > 0;
    }

    /// The block of a die that takes the next page.
    pub(crate) fn block(&self, layout: &UnitLayout, die: DieIndex) -> BlockIndex {
        BlockIndex(die.0 * layout.geometry.blocks_per_die() + self.current[die.0 as usize])
    }

    /// Goes on in the block of each die that was programmed last.
    pub(crate) fn restore(&mut self, layout: &UnitLayout, last_sequence: impl Fn(BlockIndex) -> u64) {
        if self.updates_per_page == 0 {
            return;
        }
        for die in 0..self.current.len() as u32 {
            let block = |index: u32| BlockIndex(die * layout.geometry.blocks_per_die() + index);
            let newest = (0..JOURNAL_BLOCKS).max_by_key(|&index| last_sequence(block(index)));
            self.current[die as usize] = newest.unwrap_or(0);
        }
    }

    /// Goes to the die's other block.
    pub(crate) fn turn(&mut self, die: DieIndex) {
        let current = &mut self.current[die.0 as usize];
        *current = (*current + 1) % JOURNAL_BLOCKS;
    }
}
