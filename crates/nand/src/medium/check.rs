//! What can't be right about a medium's bytes, whatever they are.

use super::Medium;
use super::block::{PROGRAMMED, PageHead, TORN};
use super::findings::Findings;
use super::shape::RECORD_BYTES;
use super::words::load;
use crate::geometry::Lpn;
use crate::op::Record;
use crate::view::BlockState;

/// What the next page of a block must be.
#[derive(Clone, Copy)]
struct Next {
    first: u32,
    is_erased: bool,
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Medium<B> {
    /// Every contradiction that needs no knowledge of a mapping scheme to see, in words.
    pub fn check(&self) -> Vec<String> {
        let mut wrong = Findings::default();
        self.find_in_areas(&mut wrong);
        for area in 0..2 {
            self.check_entries(area, &mut wrong);
        }
        self.check_held(&mut wrong);
        for block in 0..self.shape.blocks {
            self.check_block(block, &mut wrong);
        }
        wrong.into_lines()
    }

    fn check_entries(&self, area: usize, wrong: &mut Findings) {
        let pages = u64::from(self.shape.blocks) * u64::from(self.shape.pages_per_block);
        if self.is_complete(area) {
            for lpn in 0..self.shape.user_units {
                let entry = self.table_entry(area, lpn);
                if u64::from(entry) > pages {
                    wrong.push(format!("checkpoint {area}: unit {lpn} on page {entry} of {pages}"));
                }
            }
        }
    }

    fn check_held(&self, wrong: &mut Findings) {
        let held = self.held_entries();
        let units = self.shape.user_units;
        for entry in held.iter().filter(|entry| entry.lpn >= units) {
            wrong.push(format!("unit {} is held, but there are {units}", entry.lpn));
        }
        for pair in held.windows(2).filter(|pair| pair[0].order == pair[1].order) {
            wrong.push(format!("units {} and {} are held in the same place", pair[0].lpn, pair[1].lpn));
        }
    }

    fn check_block(&self, block: u32, wrong: &mut Findings) {
        let head = self.block_head(block);
        if head.state > 2 {
            wrong.push(format!("block {block}: state {} is none", head.state));
        }
        if head.state() == BlockState::TornErase {
            return;
        }
        let mut before: Option<PageHead> = None;
        let mut next = Next { first: 0, is_erased: false };
        for page in (0..self.shape.pages_per_block).step_by(self.shape.pages_per_unit as usize) {
            let head = self.page_head(block, page);
            if head.status() == 0 {
                next.is_erased = true;
            } else {
                if let Some(fault) = self.page_fault(head, next, before) {
                    wrong.push(format!("block {block}, page {page}: {fault}"));
                }
                self.check_records(block, page, head, wrong);
                next.first = head.end();
                before = Some(head);
            }
        }
    }

    /// What is wrong with a page's header after those before it.
    fn page_fault(&self, head: PageHead, next: Next, before: Option<PageHead>) -> Option<String> {
        if next.is_erased {
            return Some("not erased, but one before it is".into());
        }
        if head.status() != PROGRAMMED && head.status() != TORN {
            return Some(format!("status {} is none", head.status()));
        }
        let room = self.shape.records_per_block;
        if head.first() != next.first || head.end() > room {
            let (first, end) = (head.first(), head.end());
            return Some(format!("records {first} to {end}, but they begin at {} of {room}", next.first));
        }
        if head.status() == TORN {
            // One that has had its coarse pass keeps room for the records of the fine one.
            return None;
        }
        if head.page_kind().is_none() {
            return Some(format!("kind {} is none", head.kind()));
        }
        if before.is_some_and(|before| before.is_of_another_mode(head.mode())) {
            return Some(format!("programmed in {} mode, but pages before it were not", head.mode()));
        }
        let last = before.map_or(0, |before| before.sequence);
        (head.sequence <= last).then(|| format!("program {} comes after program {last}", head.sequence))
    }

    fn check_records(&self, block: u32, page: u32, head: PageHead, wrong: &mut Findings) {
        if head.end() > self.shape.records_per_block || head.status() != PROGRAMMED {
            return;
        }
        let units = self.shape.user_units;
        for index in head.first()..head.end() {
            let at = self.record_at(block, index);
            let bytes = &self.bytes.as_ref()[at..at + RECORD_BYTES];
            let lpn = Record::from_words([load(bytes, 0), load(bytes, 8)]).lpn;
            if lpn != Lpn::PADDING && lpn.0 >= units {
                wrong.push(format!("block {block}, page {page}: unit {}, but there are {units}", lpn.0));
            }
        }
    }
}
