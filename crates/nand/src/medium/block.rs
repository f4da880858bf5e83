//! Blocks and pages: programs and erases.

use std::ops::Range;

use super::Medium;
use super::error::MediumError;
use super::shape::{BLOCK_BYTES, PAGE_BYTES, RECORD_BYTES};
use super::words::{commit, load, store, wipe};
use crate::cell_mode::CellMode;
use crate::op::{PageKind, Record};
use crate::view::BlockState;

/// Status of a page that is erased.
const ERASED: u8 = 0;
/// Status of a page that was programmed.
pub(super) const PROGRAMMED: u8 = 1;
/// Status of a page during whose program the power failed, or that has had the first of two passes.
pub(super) const TORN: u8 = 2;

/// A page's header: the two words that are stored, so that every program loads and stores them whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageHead {
    pub(super) sequence: u64,
    word: u64,
}

impl PageHead {
    fn new(sequence: u64, first: u32, records: u16, kind: u8, status: u8) -> Self {
        let word =
            u64::from(first) | u64::from(records) << 32 | u64::from(kind) << 48 | u64::from(status) << 56;
        Self { sequence, word }
    }

    /// First record within the block.
    pub(super) fn first(self) -> u32 {
        self.word as u32
    }

    pub(super) fn records(self) -> u16 {
        (self.word >> 32) as u16
    }

    /// A [`PageKind`] and, in its highest bit, a [`CellMode`]; of a torn page the mode of those before it.
    pub(super) fn kind(self) -> u8 {
        (self.word >> 48) as u8
    }

    pub(super) fn status(self) -> u8 {
        (self.word >> 56) as u8
    }

    /// What it was programmed for, if that is anything.
    pub(super) fn page_kind(self) -> Option<PageKind> {
        PageKind::from_byte(self.kind() & !CellMode::Slc.kind_bits())
    }

    /// With how many bits a cell.
    pub(super) fn mode(self) -> CellMode {
        CellMode::of_kind_byte(self.kind())
    }

    /// Whether a page in a mode can't follow: a page that says so was programmed in another one. Torn pages before any that
    /// can be read say nothing.
    pub(super) fn is_of_another_mode(self, mode: CellMode) -> bool {
        self.sequence > 0 && self.mode() != mode
    }

    /// One past its last record.
    pub(super) fn end(self) -> u32 {
        self.first().saturating_add(u32::from(self.records()))
    }
}

/// A block's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHead {
    pub(super) erase_count: u32,
    /// A [`BlockState`], or any other byte.
    pub(super) state: u8,
}

impl BlockHead {
    /// The state; an unknown byte can't be trusted to be a good block.
    pub(super) fn state(self) -> BlockState {
        match self.state {
            0 => BlockState::Good,
            1 => BlockState::TornErase,
            _ => BlockState::Retired,
        }
    }
}

fn state_byte(state: BlockState) -> u8 {
    match state {
        BlockState::Good => 0,
        BlockState::TornErase => 1,
        BlockState::Retired => 2,
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Medium<B> {
    pub(super) fn block_head(&self, block: u32) -> BlockHead {
        let word = load(self.bytes.as_ref(), self.layout.blocks + block as usize * BLOCK_BYTES);
        BlockHead { erase_count: word as u32, state: (word >> 32) as u8 }
    }

    fn commit_block(&mut self, block: u32, erase_count: u32, state: BlockState) {
        let at = self.layout.blocks + block as usize * BLOCK_BYTES;
        commit(self.bytes.as_mut(), at, u64::from(erase_count) | u64::from(state_byte(state)) << 32);
    }

    #[inline]
    fn page_at(&self, block: u32, page: u32) -> usize {
        let page = block as usize * self.shape.pages_per_block as usize + page as usize;
        self.layout.pages + page * PAGE_BYTES
    }

    /// Where a record of a block lies.
    pub(super) fn record_at(&self, block: u32, record: u32) -> usize {
        let record = block as usize * self.shape.records_per_block as usize + record as usize;
        self.layout.records + record * RECORD_BYTES
    }

    #[inline]
    pub(super) fn page_head(&self, block: u32, page: u32) -> PageHead {
        let at = self.page_at(block, page);
        let bytes = self.bytes.as_ref();
        PageHead { sequence: load(bytes, at), word: load(bytes, at + 8) }
    }

    fn commit_page(&mut self, block: u32, page: u32, head: PageHead) {
        let at = self.page_at(block, page);
        let bytes = self.bytes.as_mut();
        store(bytes, at, head.sequence);
        commit(bytes, at + 8, head.word);
    }

    /// Programs of a block that were done or torn since it was erased: the pages of a block are consumed in order.
    pub(super) fn programs_done(&self, block: u32) -> u32 {
        let (mut low, mut high) = (0, self.shape.programs_per_block());
        while low < high {
            let middle = low.midpoint(high);
            if self.page_head(block, middle * self.shape.pages_per_unit).status() == ERASED {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    fn block_in_range(&self, block: u32) -> Result<BlockHead, MediumError> {
        if block >= self.shape.blocks {
            return Err(MediumError::NoBlock { block, blocks: self.shape.blocks });
        }
        Ok(self.block_head(block))
    }

    /// The header of the page before one that is to be programmed; of the first page, an empty one.
    #[inline]
    fn programmable(&self, block: u32, page: u32) -> Result<PageHead, MediumError> {
        match self.block_in_range(block)?.state() {
            BlockState::Good => {}
            BlockState::TornErase => return Err(MediumError::TornErase { block }),
            BlockState::Retired => return Err(MediumError::Retired { block }),
        }
        let step = self.shape.pages_per_unit;
        let fits = page.is_multiple_of(step) && page / step < self.shape.programs_per_block();
        if fits && self.page_head(block, page).status() == ERASED {
            let before = page.checked_sub(step).map(|before| self.page_head(block, before));
            match before {
                None => return Ok(PageHead::default()),
                Some(head) if head.status() != ERASED => return Ok(head),
                Some(_) => {}
            }
        }
        Err(MediumError::ProgramOrder { block, page, next: self.programs_done(block) * step })
    }

    /// Where an operation on a block stores something.
    pub(super) fn touched_block(&self, block: u32, with_records: bool) -> [Range<usize>; 3] {
        if block >= self.shape.blocks {
            return [0..0, 0..0, 0..0];
        }
        let entry = self.layout.blocks + block as usize * BLOCK_BYTES;
        let end = if with_records { self.shape.records_per_block } else { 0 };
        [
            entry..entry + BLOCK_BYTES,
            self.page_at(block, 0)..self.page_at(block, self.shape.pages_per_block),
            self.record_at(block, 0)..self.record_at(block, end),
        ]
    }

    pub(super) fn program(
        &mut self,
        block: u32,
        page: u32,
        (kind, mode): (PageKind, CellMode),
        sequence: u64,
        records: &[[u64; Record::WORDS]],
    ) -> Result<(), MediumError> {
        let before = self.programmable(block, page)?;
        if sequence <= before.sequence {
            return Err(MediumError::Sequence { block, page, sequence, last: before.sequence });
        }
        if before.is_of_another_mode(mode) {
            return Err(MediumError::Mode { block, page, mode });
        }
        let first = before.end();
        let room = self.shape.records_per_block.saturating_sub(first);
        let count = match u16::try_from(records.len()) {
            Ok(count) if u32::from(count) <= room => count,
            _ => return Err(MediumError::Records { block, page, records: records.len(), room }),
        };
        let mut at = self.record_at(block, first);
        let bytes = self.bytes.as_mut();
        for record in records {
            store(bytes, at, record[0]);
            store(bytes, at + 8, record[1]);
            at += RECORD_BYTES;
        }
        let kind = kind as u8 | mode.kind_bits();
        let head = PageHead::new(sequence, first, count, kind, PROGRAMMED);
        self.commit_page(block, page, head);
        Ok(())
    }

    /// The first of two passes: the page is used up, room is kept for its records, and nothing can be read of it.
    pub(super) fn program_coarse(
        &mut self,
        block: u32,
        page: u32,
        records: usize,
    ) -> Result<(), MediumError> {
        let before = self.programmable(block, page)?;
        if before.is_of_another_mode(CellMode::Native) {
            return Err(MediumError::Mode { block, page, mode: CellMode::Native });
        }
        let first = before.end();
        let room = self.shape.records_per_block.saturating_sub(first);
        let count = match u16::try_from(records) {
            Ok(count) if u32::from(count) <= room => count,
            _ => return Err(MediumError::Records { block, page, records, room }),
        };
        let head = PageHead::new(before.sequence, first, count, CellMode::Native.kind_bits(), TORN);
        self.commit_page(block, page, head);
        Ok(())
    }

    /// The second: the page counts.
    pub(super) fn program_fine(
        &mut self,
        block: u32,
        page: u32,
        kind: PageKind,
        sequence: u64,
        records: &[[u64; Record::WORDS]],
    ) -> Result<(), MediumError> {
        let head = self.block_in_range(block)?;
        if head.state() == BlockState::Retired {
            return Err(MediumError::Retired { block });
        }
        let step = self.shape.pages_per_unit;
        let fits = page.is_multiple_of(step) && page / step < self.shape.programs_per_block();
        if !fits || self.page_head(block, page).status() != TORN {
            return Err(MediumError::FineFirst { block, page });
        }
        let (coarse, room) = (self.page_head(block, page), self.shape.records_per_block);
        if records.len() != usize::from(coarse.records()) || coarse.end() > room {
            let room = u32::from(coarse.records());
            return Err(MediumError::Records { block, page, records: records.len(), room });
        }
        let last = page.checked_sub(step).map_or(0, |before| self.page_head(block, before).sequence);
        if sequence <= last {
            return Err(MediumError::Sequence { block, page, sequence, last });
        }
        let mut at = self.record_at(block, coarse.first());
        let bytes = self.bytes.as_mut();
        for record in records {
            store(bytes, at, record[0]);
            store(bytes, at + 8, record[1]);
            at += RECORD_BYTES;
        }
        let kind = kind as u8 | CellMode::Native.kind_bits();
        self.commit_page(
            block,
            page,
            PageHead::new(sequence, coarse.first(), coarse.records(), kind, PROGRAMMED),
        );
        Ok(())
    }

    pub(super) fn tear_program(&mut self, block: u32, page: u32) -> Result<(), MediumError> {
        // The number of the last program that can be read goes on, so that order is still seen beyond the torn page.
        let before = self.programmable(block, page)?;
        let kind = before.mode().kind_bits();
        let head = PageHead::new(before.sequence, before.end(), 0, kind, TORN);
        self.commit_page(block, page, head);
        Ok(())
    }

    pub(super) fn erase(&mut self, block: u32) -> Result<(), MediumError> {
        if self.block_in_range(block)?.state() == BlockState::Retired {
            return Err(MediumError::Retired { block });
        }
        self.clear_block(block, BlockState::Good);
        Ok(())
    }

    pub(super) fn tear_erase(&mut self, block: u32) -> Result<(), MediumError> {
        if self.block_in_range(block)?.state() == BlockState::Retired {
            return Err(MediumError::Retired { block });
        }
        self.set_state(block, BlockState::TornErase)
    }

    pub(super) fn set_state(&mut self, block: u32, state: BlockState) -> Result<(), MediumError> {
        let head = self.block_in_range(block)?;
        self.commit_block(block, head.erase_count, state);
        Ok(())
    }

    /// Erases a block whatever its state, if it isn't erased.
    pub(super) fn wipe_block(&mut self, block: u32) {
        let head = self.block_head(block);
        let pages = self.page_at(block, 0)..self.page_at(block, self.shape.pages_per_block);
        let is_erased = self.bytes.as_ref()[pages].iter().all(|&byte| byte == 0);
        if !is_erased || (head.state != 0 && head.state != state_byte(BlockState::Retired)) {
            let is_retired = head.state() == BlockState::Retired;
            self.clear_block(block, if is_retired { BlockState::Retired } else { BlockState::Good });
        }
        // Out-of-band data of before must not be found in the bytes either.
        let records = self.record_at(block, 0)..self.record_at(block, self.shape.records_per_block);
        wipe(self.bytes.as_mut(), records);
    }

    /// Clears the pages' headers. Until that is done the block counts as one whose erase was torn, but for a retired one:
    /// it stays so at every moment, or it would be used again after a cut.
    fn clear_block(&mut self, block: u32, after: BlockState) {
        let erase_count = self.block_head(block).erase_count;
        if after != BlockState::Retired {
            self.commit_block(block, erase_count, BlockState::TornErase);
        }
        let (begin, end) = (self.page_at(block, 0), self.page_at(block, self.shape.pages_per_block));
        self.bytes.as_mut()[begin..end].fill(0);
        self.commit_block(block, erase_count.saturating_add(1), after);
    }
}
