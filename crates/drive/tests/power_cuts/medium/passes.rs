//! Word lines that are programmed in two passes.

use drivelab_nand::op::{NO_CELL, PageKind, Record};
use drivelab_nand::{BlockIndex, CellMode};

use super::{Medium, Page, PageState, to_records};

impl Medium {
    /// A word line has had the first.
    pub(super) fn program_coarse(
        &mut self,
        block: BlockIndex,
        page: u32,
        words: &[u64],
    ) -> Result<(), String> {
        self.check_mode(block, CellMode::Native)?;
        self.take_page(block, page)?;
        self.store_records(block, page, words)?;
        let place = self.page_mut(block, page);
        *place = Page { state: PageState::Coarse, kind: PageKind::Host as u8, ..*place };
        Ok(())
    }

    /// A word line has had the second.
    pub(super) fn program_fine(
        &mut self,
        (block, page): (BlockIndex, u32),
        kind: PageKind,
        sequence: u64,
        words: &[u64],
    ) -> Result<(), String> {
        self.check_fine(block, page)?;
        let (first, room) = self.page_at(block, page).records;
        let count = (words.len() / Record::WORDS) as u32;
        if count > room {
            return Err(format!("block {}: page {page} has more records in its fine pass", block.0));
        }
        let at = (block.0 * self.shape.records_per_block + first) as usize;
        self.records[at..].iter_mut().zip(to_records(words)).for_each(|(place, record)| *place = record);
        let place = self.page_mut(block, page);
        let records = (first, count);
        *place = Page { state: PageState::Programmed, sequence, kind: kind as u8, records, ..*place };
        for record in to_records(words).filter(|record| record.cell != NO_CELL) {
            self.cells.keep(record.cell);
        }
        Ok(())
    }

    /// A word line has its fine pass after its own coarse one, and after those of so many behind it: they would shift
    /// what is fine already.
    fn check_fine(&self, block: BlockIndex, page: u32) -> Result<(), String> {
        let step = self.shape.pages_per_unit;
        let behind = (1..=self.held_word_lines).map(|line| page + line * step);
        let mut behind = behind.filter(|&other| other + step <= self.shape.pages_per_block);
        if self.page_at(block, page).state != PageState::Coarse {
            return Err(format!("block {}: page {page} has its fine pass, but is not coarse", block.0));
        }
        match behind.find(|&other| self.page_at(block, other).state == PageState::Erased) {
            Some(other) => {
                Err(format!("block {}: page {page} is fine before page {other} is coarse", block.0))
            }
            None => Ok(()),
        }
    }

    /// The power has failed: what is between its passes stays so.
    pub fn forget_passes(&mut self) {
        if self.held_word_lines > 0 && !self.shows_coarse {
            for page in self.pages.iter_mut().filter(|page| page.state == PageState::Coarse) {
                page.state = PageState::Torn;
            }
        }
    }
}
