//! The map journal: how map updates reach flash, so that a drive finds its data again after power-on.
//!
//! Every `journal_updates_per_page` map updates fill one journal page. Each die keeps two blocks for it and
//! uses them in turn; the older one is erased when the newer is full (what it held is in a checkpoint by then).

use drivelab_nand::{BlockIndex, DieIndex, UnitLayout};

/// Blocks of a die that the journal keeps.
pub const JOURNAL_BLOCKS: u32 = 2;

/// State of the journal.
#[derive(Clone, Debug)]
pub struct Journal {
    updates_per_page: u32,
    updates: u32,
    due_pages: u32,
    /// Which of its two blocks each die writes now.
    current: Vec<u32>,
}

impl Journal {
    pub(crate) fn new(updates_per_page: u32, dies: u32) -> Self {
        Self { updates_per_page, updates: 0, due_pages: 0, current: vec![0; dies as usize] }
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
    }

    /// Whether a page of updates waits to be programmed.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due_pages > 0
    }

    pub(crate) fn take(&mut self) {
        self.due_pages -= 1;
    }

    /// The block of a die that takes the next page.
    pub(crate) fn block(&self, layout: &UnitLayout, die: DieIndex) -> BlockIndex {
        BlockIndex(die.0 * layout.geometry.blocks_per_die() + self.current[die.0 as usize])
    }

    /// Goes to the die's other block.
    pub(crate) fn turn(&mut self, die: DieIndex) {
        let current = &mut self.current[die.0 as usize];
        *current = (*current + 1) % JOURNAL_BLOCKS;
    }
}
