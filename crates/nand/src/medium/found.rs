//! The medium as recovery reads it.

use super::Medium;
use super::block::{PROGRAMMED, PageHead};
use super::shape::RECORD_BYTES;
use super::words::load;
use crate::geometry::BlockIndex;
use crate::op::Record;
use crate::view::{BlockState, FoundBlock, FoundPage, MediumView};

impl<B: AsRef<[u8]> + AsMut<[u8]>> Medium<B> {
    /// A page's header, if it was programmed and can be read.
    fn readable(&self, block: u32, page: u32) -> Option<PageHead> {
        if !page.is_multiple_of(self.shape.pages_per_unit)
            || self.block_head(block).state() == BlockState::TornErase
        {
            return None;
        }
        Some(self.page_head(block, page)).filter(|head| head.status() == PROGRAMMED)
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> MediumView for Medium<B> {
    fn block_count(&self) -> u32 {
        self.shape.blocks
    }

    fn block(&self, block: BlockIndex) -> FoundBlock {
        let head = self.block_head(block.0);
        let programs = match head.state() {
            // Nobody knows what its cells hold: no page of it is erased.
            BlockState::TornErase => self.shape.programs_per_block(),
            BlockState::Good | BlockState::Retired => self.programs_done(block.0),
        };
        FoundBlock {
            state: head.state(),
            erase_count: head.erase_count,
            write_pointer: programs * self.shape.pages_per_unit,
        }
    }

    fn page(&self, block: BlockIndex, page: u32) -> Option<FoundPage> {
        let head = self.readable(block.0, page)?;
        Some(FoundPage { sequence: head.sequence, kind: head.page_kind()?, mode: head.mode() })
    }

    fn records(&self, block: BlockIndex, page: u32, out: &mut Vec<Record>) {
        let Some(head) = self.readable(block.0, page) else { return };
        if head.end() > self.shape.records_per_block {
            return;
        }
        let at = self.record_at(block.0, head.first());
        let bytes = &self.bytes.as_ref()[at..at + usize::from(head.records()) * RECORD_BYTES];
        let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
        out.extend(records.iter().map(|record| Record::from_words([load(record, 0), load(record, 8)])));
    }

    fn checkpoint_sequence(&self) -> Option<u64> {
        self.is_complete(self.active).then(|| self.covered(self.active))
    }

    fn checkpoint_entry(&self, lpn: u32) -> u32 {
        self.table_entry(self.active, lpn)
    }

    fn log(&self, out: &mut Vec<Record>) {
        let records = (0..self.log_records()).map_while(|index| self.log_record(self.active, index));
        out.extend(records.map(Record::from_words));
    }

    fn held(&self, out: &mut Vec<(u32, u32)>) {
        out.extend(self.held_entries().iter().map(|entry| (entry.lpn, entry.cell)));
    }
}
