//! Versions of a unit that flash holds.

use drivelab_nand::op::PageKind;
use drivelab_nand::{BlockIndex, Lpn};

use super::{Medium, PageState};

impl Medium {
    /// Cells in which pages hold a unit, newest first.
    pub fn versions(&self, lpn: u32) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for block in (0..self.shape.blocks).map(BlockIndex) {
            for page in 0..self.shape.pages_per_block {
                let place = self.page_at(block, page);
                if place.state == PageState::Programmed && place.kind != PageKind::Metadata as u8 {
                    let records = self.records_of(block, place).iter().filter(|record| record.lpn.0 == lpn);
                    found.extend(records.map(|record| (place.sequence, record.cell)));
                }
            }
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        found
    }

    /// Whether a page holds newer data of a unit that a block holds too.
    pub fn supersedes(&self, (block, page): (BlockIndex, u32), older: BlockIndex) -> bool {
        let newer = self.records_of(block, self.page_at(block, page));
        let pages = (0..self.shape.pages_per_block).map(|page| self.page_at(older, page));
        let mut held = pages
            .filter(|page| page.state == PageState::Programmed)
            .flat_map(|page| self.records_of(older, page));
        held.any(|held| held.lpn != Lpn::PADDING && newer.iter().any(|newer| newer.lpn == held.lpn))
    }
}
