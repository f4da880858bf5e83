//! What schemes add that write a log on every die.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use super::contents::Stored;
use super::scheme::Scheme;
use crate::error::FtlError;
use crate::log::{CleaningStep, MetadataStep, Urgency};

/// A scheme that appends to an open block of every die and cleans die by die.
pub trait LogMapping: Scheme {
    /// Granules that one page has room for.
    fn page_granules(&self) -> u32;

    /// Most units that one page may hold.
    #[inline]
    fn units_per_page_max(&self) -> u32 {
        self.page_granules()
    }

    /// The same of the next page of the host on a die; less where that is of one bit a cell.
    #[inline]
    fn host_page_granules(&self, die: DieIndex) -> u32 {
        let _ = die;
        self.page_granules()
    }

    /// The least that a page of the host has room for, on whatever die.
    #[inline]
    fn host_page_granules_min(&self) -> u32 {
        self.page_granules()
    }

    /// Whether blocks are programmed with one bit a cell: pages of the host differ from die to die.
    #[inline]
    fn has_slc_cache(&self) -> bool {
        false
    }

    /// Granules that a unit would take on a page now: contents stored already need no second copy.
    #[inline]
    fn room_of(&self, stored: Stored) -> u32 {
        u32::from(stored.granules)
    }

    /// Whether host data can be programmed on a die right now.
    fn has_room(&self, die: DieIndex) -> bool;

    /// Whether a die holds so much valid data that host writes must go elsewhere.
    fn is_full(&self, die: DieIndex) -> bool;

    /// Whether a die has neither room nor a block that could be emptied, because power cuts have torn what room there
    /// was.
    fn is_wedged(&self, die: DieIndex) -> bool;

    /// Sees to it that the next page of host data on a die can be programmed: pages before it that fail are lost, and
    /// are told by [`FailingBlocks::bad_blocks_mut`](super::FailingBlocks::bad_blocks_mut). Afterwards
    /// [`Self::has_room`] may be false.
    ///
    /// # Errors
    /// [`FtlError::NoFreeBlock`]: every block that there was has failed.
    fn ready_host_page(&mut self, die: DieIndex) -> Result<(), FtlError> {
        let _ = die;
        Ok(())
    }

    /// Programs one page of host data; `stored` says what each unit takes. Their old places become invalid.
    ///
    /// # Errors
    /// [`FtlError::NoFreeBlock`] if [`Self::has_room`] is false; nothing has changed then.
    fn program_host(&mut self, die: DieIndex, lpns: &[Lpn], stored: &[Stored]) -> Result<Ppn, FtlError>;

    /// Programs a page without data in an open native block of a die; gives its first place.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect: the block is open.
    fn pad(&mut self, die: DieIndex, block: BlockIndex) -> Result<Ppn, FtlError> {
        let _ = block;
        Err(FtlError::NoFreeBlock { die: die.0 })
    }

    /// Stores the stamps of the `offset`-th unit that was just programmed on the page at `first`.
    fn store_stamps(&mut self, first: Ppn, offset: u32, lpn: Lpn, stamps: &[u64]);

    /// The next die that was given lines of the map to read which changes need; no command waits for them.
    #[inline]
    fn take_map_reader(&mut self) -> Option<DieIndex> {
        None
    }

    /// Reads the lines on one page of the map that changes wait for on a die. How many bytes they are; `None`: it has none.
    #[inline]
    fn read_map(&mut self, die: DieIndex) -> Option<u32> {
        let _ = die;
        None
    }

    /// Whether a page of metadata (map journal, parity) waits to be programmed.
    fn is_metadata_due(&self) -> bool;

    /// Whether this die has something to do for it.
    #[inline]
    fn is_metadata_due_on(&self, die: DieIndex) -> bool {
        let _ = die;
        self.is_metadata_due()
    }

    /// Whether no host page may be programmed before the dies have done more for the map: a checkpoint of it is being
    /// written, or changes wait for as many lines of it as memory holds.
    #[inline]
    fn holds_host_pages(&self) -> bool {
        false
    }

    /// Whether so much of the map waits to be written that dies write it before anything else.
    #[inline]
    fn is_map_behind(&self) -> bool {
        false
    }

    /// Programs the due page of metadata on a die, or makes room for it.
    ///
    /// # Errors
    /// [`FtlError::Flash`], which would be a defect of the scheme.
    fn program_metadata(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError>;

    /// How much a die needs cleaning.
    fn cleaning_urgency(&mut self, die: DieIndex) -> Urgency;

    /// Whether a victim is being emptied on a die.
    fn is_cleaning(&self, die: DieIndex) -> bool;

    /// What the block being emptied on a die held when it was picked, and what a block holds, in the same measure:
    /// what a paced cleaner must copy for how much room.
    fn cleaning_debt(&self, die: DieIndex) -> Option<(u32, u32)>;

    /// Whether what a die has begun to clean is done in one go, whatever the pace of cleaning.
    #[inline]
    fn cleans_at_once(&self, die: DieIndex) -> bool {
        let _ = die;
        false
    }

    /// The next die that waited until another had cleaned, and waits no longer.
    #[inline]
    fn take_waiting_die(&mut self) -> Option<DieIndex> {
        None
    }

    /// Does the next operation of cleaning on a die and says what it was; picks a victim if none is being
    /// emptied. `None`: there is nothing to gain.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect: thresholds and capacity were checked when the drive was made.
    fn next_cleaning_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError>;

    /// Bytes that the last [`CleaningStep::Copy`] read from its next source page; `cursor` starts at 0 and is moved
    /// on. `None`: that was all.
    fn copied_page_bytes(&self, cursor: &mut usize) -> Option<u32>;

    /// Places that the units of the last [`CleaningStep::Copy`] came from, in the order in which they lie on the page.
    fn copied_places(&self) -> &[Ppn] {
        &[]
    }

    /// Whether the drive has work for idle time.
    fn cleans_when_idle(&self) -> bool;

    /// The host has paused for as long as idle-time work waits for.
    fn rest(&mut self) {}

    /// Rewrite-in-place: `queued` waiting units do not fit on the erased pages, so the block is emptied now.
    #[inline]
    fn begin_rewrite(&mut self, die: DieIndex, queued: u32) -> bool {
        let _ = (die, queued);
        false
    }

    /// Rewrite-in-place: a unit that [`CleaningStep::ReadIntoBuffer`] named has moved to the write buffer.
    fn release(&mut self, lpn: Lpn) {
        let _ = lpn;
    }
}
