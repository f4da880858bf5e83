//! State of every block and page, and the rules of flash.
//!
//! A page is programmed once after an erase, pages of a block in order; a block is erased whole; reading an
//! erased page is an error that says so. The array keeps what flash itself would keep through a power cut:
//! write pointers, erase counts and the out-of-band data of every programmed page.

use drivelab_sim::Table;
use serde::{Deserialize, Serialize};

use crate::cell_mode::CellMode;
use crate::geometry::{BlockIndex, Lpn, Ppn, UnitLayout};

/// What flash refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlashRule {
    /// Programming a page out of order, or one that is not erased.
    #[error("block {block}: page {page} cannot be programmed, the next erased page is {next}")]
    ProgramOrder {
        /// The block.
        block: u32,
        /// The page asked for.
        page: u32,
        /// The only page that may be programmed now; equal to the block's page count when it is full.
        next: u32,
    },
    /// Reading a page that was not programmed since the last erase.
    #[error("unit {ppn} was read, but its page is erased")]
    ReadErased {
        /// The place.
        ppn: u32,
    },
}

/// The array.
///
/// Out-of-band data is 32 bits per place: LPN + 1. Zero for padding and for erased places, so that memory of a new
/// drive is never touched. Of sequence numbers, which real flash has beside them, the array keeps those of the first
/// programs of blocks: the places of a block are in order, and whoever mounts a drive reads its medium.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlashArray {
    layout: UnitLayout,
    oob: Table<u32>,
    /// Pages programmed since the last erase, per block.
    write_pointer: Vec<u32>,
    erase_count: Vec<u32>,
    first_sequence: Vec<u64>,
    /// How every block was opened; empty: all as native ones.
    modes: Vec<CellMode>,
    /// Units that a page of one bit a cell holds: the first so many places of a word line.
    slc_page_units: u32,
    next_sequence: u64,
    program_count: u64,
    erase_total: u64,
}

impl FlashArray {
    /// An erased array that was never used.
    #[must_use]
    pub fn new(layout: UnitLayout) -> Self {
        let blocks = layout.block_count() as usize;
        Self {
            layout,
            oob: Table::new(layout.unit_count() as usize),
            write_pointer: vec![0; blocks],
            erase_count: vec![0; blocks],
            first_sequence: vec![0; blocks],
            modes: Vec::new(),
            slc_page_units: 0,
            next_sequence: 1,
            program_count: 0,
            erase_total: 0,
        }
    }

    /// An erased array whose out-of-band data is kept elsewhere: only whole pages are programmed, nothing is read.
    #[must_use]
    pub fn without_units(layout: UnitLayout) -> Self {
        Self { oob: Table::new(0), ..Self::new(layout) }
    }

    /// How units lie on pages.
    #[inline]
    #[must_use]
    pub fn layout(&self) -> &UnitLayout {
        &self.layout
    }

    /// Blocks may be opened with one bit a cell from now on, where native cells have so many.
    pub fn keep_modes(&mut self, bits: u32) {
        self.modes = vec![CellMode::Native; self.layout.block_count() as usize];
        self.slc_page_units = self.layout.units_per_page / bits;
    }

    /// An erased block is opened in a mode.
    pub fn set_mode(&mut self, block: BlockIndex, mode: CellMode) {
        debug_assert_eq!(self.write_pointer(block), 0, "a block keeps its mode until it is erased");
        self.modes[block.0 as usize] = mode;
    }

    /// How a block was opened last.
    #[inline]
    #[must_use]
    pub fn mode(&self, block: BlockIndex) -> CellMode {
        self.modes.get(block.0 as usize).copied().unwrap_or_default()
    }

    /// The same of the block that a place lies in, which is found only if blocks differ.
    #[inline]
    #[must_use]
    pub fn mode_at(&self, place: Ppn) -> CellMode {
        if self.modes.is_empty() { CellMode::Native } else { self.mode(self.layout.block_of(place)) }
    }

    /// Units that a page of this mode holds.
    #[inline]
    #[must_use]
    pub fn page_units(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Native => self.layout.units_per_page,
            CellMode::Slc => self.slc_page_units,
        }
    }

    /// What a block holds now is programmed in this mode; `None`: it is erased, and may be opened in any.
    #[must_use]
    pub fn mode_of_data(&self, block: BlockIndex) -> Option<CellMode> {
        (self.write_pointer(block) > 0).then(|| self.mode(block))
    }

    /// Units that a block has room for in its mode; erased, as a native one.
    #[must_use]
    pub fn block_units(&self, block: BlockIndex) -> u32 {
        let mode = self.mode_of_data(block).unwrap_or_default();
        self.layout.units_per_block / self.layout.units_per_page * self.page_units(mode)
    }

    /// The places of these units: of a block with one bit a cell the first ones of every word line.
    pub fn places(&self, block: BlockIndex) -> impl Iterator<Item = Ppn> {
        let (first, per_page) = (self.layout.first_ppn(block).0, self.layout.units_per_page);
        let held = self.page_units(self.mode_of_data(block).unwrap_or_default());
        let places = (0..self.layout.units_per_block).filter(move |place| place % per_page < held);
        places.map(move |place| Ppn(first + place))
    }

    /// Programs the next page of a block (or the pages of one unit) with `units`; places that are left over, and
    /// those of [`Lpn::PADDING`], are padding. Gives the first place.
    ///
    /// # Errors
    /// [`FlashRule::ProgramOrder`] unless `page` is the block's next erased page. The array is unchanged then.
    #[inline]
    pub fn program(&mut self, block: BlockIndex, page: u32, units: &[Lpn]) -> Result<Ppn, FlashRule> {
        debug_assert!(units.len() <= self.page_units(self.mode(block)) as usize);
        let first = self.program_page(block, page)?;
        for (place, lpn) in self.oob[first.0 as usize..].iter_mut().zip(units) {
            // LPN + 1 of padding wraps to 0, which is what padding has.
            *place = lpn.0.wrapping_add(1);
        }
        Ok(first)
    }

    /// Programs the next page of a block; who keeps the out-of-band data knows what is on it. Gives the first place.
    ///
    /// # Errors
    /// As [`Self::program`].
    #[inline]
    pub fn program_page(&mut self, block: BlockIndex, page: u32) -> Result<Ppn, FlashRule> {
        let index = block.0 as usize;
        let next = self.write_pointer[index];
        if page != next || next + self.layout.pages_per_unit > self.layout.geometry.pages_per_block {
            return Err(FlashRule::ProgramOrder { block: block.0, page, next });
        }
        if next == 0 {
            self.first_sequence[index] = self.next_sequence;
        }
        self.next_sequence += 1;
        let first = block.0 * self.layout.units_per_block
            + next / self.layout.pages_per_unit * self.layout.units_per_page;
        self.write_pointer[index] = next + self.layout.pages_per_unit;
        self.program_count += 1;
        Ok(Ppn(first))
    }

    /// A block of a new array becomes what was found of it: `write_pointer` pages are programmed, the first of them by
    /// the program with this sequence number. Its places are padding until [`Self::restore_unit`].
    pub fn restore_block(
        &mut self,
        block: BlockIndex,
        write_pointer: u32,
        erase_count: u32,
        first_sequence: u64,
    ) {
        let index = block.0 as usize;
        self.write_pointer[index] = write_pointer;
        self.erase_count[index] = erase_count;
        self.first_sequence[index] = first_sequence;
    }

    /// A restored block was programmed in this mode.
    pub fn restore_mode(&mut self, block: BlockIndex, mode: CellMode) {
        self.modes[block.0 as usize] = mode;
    }

    /// A place of a restored block holds a unit.
    pub fn restore_unit(&mut self, ppn: Ppn, lpn: Lpn) {
        self.oob[ppn.0 as usize] = lpn.0.wrapping_add(1);
    }

    /// Programs go on after this one.
    pub fn restore_sequence(&mut self, last: u64) {
        self.next_sequence = last + 1;
    }

    /// Reads a place's out-of-band data, as a read of its page does: which logical page it was programmed with; `None`:
    /// padding or metadata.
    ///
    /// # Errors
    /// [`FlashRule::ReadErased`] if the page was not programmed since the last erase.
    #[inline]
    pub fn read(&self, ppn: Ppn) -> Result<Option<Lpn>, FlashRule> {
        self.read_in(self.layout.block_of(ppn), ppn)
    }

    /// The same of a place that is known to lie in this block.
    ///
    /// # Errors
    /// As [`Self::read`].
    #[inline]
    pub fn read_in(&self, block: BlockIndex, ppn: Ppn) -> Result<Option<Lpn>, FlashRule> {
        debug_assert_eq!(block, self.layout.block_of(ppn));
        if self.layout.page_of(ppn) >= self.write_pointer[block.0 as usize] {
            return Err(FlashRule::ReadErased { ppn: ppn.0 });
        }
        let entry = self.oob.get(ppn.0 as usize).copied().unwrap_or(0);
        Ok(entry.checked_sub(1).map(Lpn))
    }

    /// Erases a block.
    pub fn erase(&mut self, block: BlockIndex) {
        let index = block.0 as usize;
        if !self.oob.is_empty() {
            let first = self.layout.first_ppn(block).0 as usize;
            self.oob[first..first + self.layout.units_per_block as usize].fill(0);
        }
        self.write_pointer[index] = 0;
        self.erase_count[index] += 1;
        self.erase_total += 1;
    }

    /// Pages of a block programmed since its last erase.
    #[inline]
    #[must_use]
    pub fn write_pointer(&self, block: BlockIndex) -> u32 {
        self.write_pointer[block.0 as usize]
    }

    /// The same of all blocks.
    #[must_use]
    pub fn write_pointers(&self) -> &[u32] {
        &self.write_pointer
    }

    /// How often a block was erased.
    #[inline]
    #[must_use]
    pub fn erase_count(&self, block: BlockIndex) -> u32 {
        self.erase_count[block.0 as usize]
    }

    /// Erase counts of all blocks.
    #[must_use]
    pub fn erase_counts(&self) -> &[u32] {
        &self.erase_count
    }

    /// Sequence number of a block's first program since its last erase. With a place it names a program.
    #[inline]
    #[must_use]
    pub fn first_sequence(&self, block: BlockIndex) -> u64 {
        self.first_sequence[block.0 as usize]
    }

    /// Sequence numbers of the first program since the last erase, of `count` blocks from `first` on.
    #[must_use]
    pub fn first_sequences(&self, first: u32, count: u32) -> &[u64] {
        &self.first_sequence[first as usize..(first + count) as usize]
    }

    /// Sequence number that the next program will have.
    #[inline]
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Program operations since the array was made.
    #[must_use]
    pub fn program_count(&self) -> u64 {
        self.program_count
    }

    /// Erase operations since the array was made.
    #[must_use]
    pub fn erase_total(&self) -> u64 {
        self.erase_total
    }

    /// The LPN in a place's out-of-band data, without any check: for prefetching only.
    #[inline]
    #[must_use]
    pub fn peek(&self, ppn: Ppn) -> Option<Lpn> {
        self.oob[ppn.0 as usize].checked_sub(1).map(Lpn)
    }

    /// Brings a place's out-of-band data into the processor's cache.
    #[inline]
    pub fn prefetch(&self, ppn: Ppn) {
        drivelab_sim::prefetch(&self.oob, ppn.0 as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;

    fn array(unit_bytes: u32) -> FlashArray {
        let geometry = Geometry {
            channel_count: 1,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 2,
            pages_per_block: 4,
            page_bytes: 4096,
            oob_bytes: 0,
            two_plane: false,
        };
        FlashArray::new(UnitLayout::new(geometry, unit_bytes).unwrap())
    }

    #[test]
    fn pages_are_programmed_in_order_once_per_erase() {
        let mut flash = array(4096);
        let block = BlockIndex(1);
        assert_eq!(
            flash.program(block, 1, &[Lpn(7)]),
            Err(FlashRule::ProgramOrder { block: 1, page: 1, next: 0 })
        );
        assert_eq!(flash.program(block, 0, &[Lpn(7)]), Ok(Ppn(4)));
        assert!(flash.program(block, 0, &[Lpn(8)]).is_err(), "no overwrite");
        assert_eq!(flash.read(Ppn(4)), Ok(Some(Lpn(7))));
        assert_eq!(flash.first_sequences(1, 1), [1]);
        flash.program(block, 1, &[Lpn::PADDING]).unwrap();
        for page in 2..4 {
            flash.program(block, page, &[]).unwrap();
        }
        assert_eq!(
            flash.program(block, 4, &[Lpn(9)]),
            Err(FlashRule::ProgramOrder { block: 1, page: 4, next: 4 })
        );
        assert_eq!(flash.read(Ppn(5)), Ok(None), "padding");
        flash.erase(block);
        assert_eq!(flash.read(Ppn(4)), Err(FlashRule::ReadErased { ppn: 4 }));
        assert_eq!(flash.erase_count(block), 1);
        assert_eq!(flash.program(block, 0, &[Lpn(1)]), Ok(Ppn(4)));
        assert_eq!(flash.first_sequences(1, 1), [5]);
    }

    #[test]
    fn a_unit_of_two_pages_takes_two_pages() {
        let mut flash = array(8192);
        assert_eq!(flash.program(BlockIndex(0), 0, &[Lpn(0)]), Ok(Ppn(0)));
        assert_eq!(flash.write_pointer(BlockIndex(0)), 2);
        assert_eq!(flash.program(BlockIndex(0), 2, &[Lpn(1)]), Ok(Ppn(1)));
        assert!(flash.program(BlockIndex(0), 4, &[Lpn(1)]).is_err());
    }
}
