//! What a mapping scheme is to the rest of a drive.
//!
//! [`Mapping`] is what every scheme answers: where a unit lies, what a trim or a secure erase does to it, and the
//! books. [`LogMapping`] is what schemes add that write a log on every die and clean die by die (the page map, the
//! compressed map); schemes that merge whole superblocks are driven through steps of their own. The controller is
//! generic over the scheme, so a flash operation costs no virtual call.

use std::fmt::Debug;

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Lpn, Ppn, SECTOR_BYTES, UnitLayout};

use crate::backlog::Backlog;
use crate::content::{Content, Identity, UnitContent};
use crate::counters::FtlCounters;
use crate::error::FtlError;
use crate::log::{BadBlocks, CleaningStep, MetadataStep, Urgency};
use crate::recovery::Recovered;

/// What of a buffered unit's content matters to the scheme that stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Room that it takes on a page, in the scheme's granules ([`LogMapping::page_granules`]); 1 or more.
    pub granules: u16,
    /// Which content it is a copy of, if the scheme stores copies once.
    pub identity: Option<Identity>,
}

impl Stored {
    /// A unit of a scheme that looks at no content.
    pub const PLAIN: Self = Self { granules: 1, identity: None };
}

/// A read of the map itself that must come before a unit can be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapFetch {
    /// Where that piece of the map lies.
    pub die: DieIndex,
    /// Its size.
    pub bytes: u32,
}

/// Records that the log of a map has room for: a few hundred pages.
pub(crate) const LOG_RECORDS: u32 = 1 << 16;

/// A mapping scheme over its flash array.
pub trait Mapping: Clone + Debug + Send {
    /// How places lie on pages: what the numbers of [`Self::lookup`] mean.
    fn layout(&self) -> &UnitLayout;

    /// Map units that the host can address.
    fn user_units(&self) -> u32;

    /// Sectors of a map unit.
    #[inline]
    fn sectors_per_unit(&self) -> u32 {
        self.layout().sectors_per_unit
    }

    /// Where a unit lies in flash, or `None` if it reads as zeros without looking there.
    fn lookup(&self, lpn: Lpn) -> Option<Ppn>;

    /// The read of the map that must come before anything is known of a unit, if only that it isn't mapped; its entry is
    /// in memory afterwards. None is needed where the scheme's directory of the map, which is always in memory, says that
    /// no unit around it was ever written.
    #[inline]
    fn fetch_map(&mut self, lpn: Lpn) -> Option<MapFetch> {
        let _ = lpn;
        None
    }

    /// Whether sensing the page of `first` brings `lpn` too, which follows the unit at `first` by `distance` units.
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool;

    /// Bytes that the bus carries to read `sectors` sectors of a unit: what is stored compressed is read whole.
    #[inline]
    fn read_bytes(&self, lpn: Lpn, sectors: u32) -> u32 {
        let _ = lpn;
        sectors * SECTOR_BYTES
    }

    /// Bytes that the bus carries for a unit beyond those of `previous`, which is read with it from the same page:
    /// none if both are the same fragment.
    #[inline]
    fn read_bytes_beside(&self, previous: Lpn, lpn: Lpn, sectors: u32) -> u32 {
        let _ = previous;
        self.read_bytes(lpn, sectors)
    }

    /// What the `index`-th unit of a write takes in flash.
    #[inline]
    fn stored(&self, content: &Content, index: u32) -> Stored {
        let _ = (content, index);
        Stored::PLAIN
    }

    /// Whether the content of writes matters at all.
    fn looks_at_content(&self) -> bool {
        false
    }

    /// What a unit of these bytes takes in flash. `is_whole`: they are all of the unit's; what is mixed with older bytes
    /// is a copy of nothing.
    fn stored_bytes(&mut self, content: UnitContent, is_whole: bool) -> Stored {
        let _ = (content, is_whole);
        Stored::PLAIN
    }

    /// The page that a read of a unit senses: [`Self::lookup`], unless firmware reads what the host has trimmed.
    #[inline]
    fn sensed(&self, lpn: Lpn) -> Option<Ppn> {
        self.lookup(lpn)
    }

    /// Whether trims have an effect; otherwise they are accepted and ignored.
    #[inline]
    fn takes_trims(&self) -> bool {
        true
    }

    /// A range of units is about to be trimmed, each by [`Self::trim`].
    fn begin_trim(&mut self) {}

    /// The host does not need a unit any more.
    fn trim(&mut self, lpn: Lpn);

    /// Units of one extent were trimmed, each by [`Self::trim`], and some of them held something: that must reach
    /// flash. It is one update of the map: first unit and count instead of unit and place.
    fn note_trimmed_extent(&mut self) {}

    /// Frees every unit and erases every block that is not erased. Gives the most blocks erased on one die (they
    /// are erased one after another there, while dies work side by side) and the blocks erased in all.
    fn secure_erase(&mut self) -> (u32, u64);

    /// Brings the map entry of a unit into the processor's cache.
    #[inline]
    fn prefetch(&self, lpn: u64) {
        let _ = lpn;
    }

    /// The array, to look at.
    fn flash(&self) -> &FlashArray;

    /// Whether a place holds current data.
    fn is_valid(&self, ppn: Ppn) -> bool;

    /// Bytes of flash that the scheme holds back: they hold neither the host's data nor what is outdated of it. Raw
    /// capacity less these and the user capacity is the effective spare area, which decides what cleaning costs.
    fn held_back_bytes(&self) -> u64;

    /// Counters.
    fn counters(&self) -> &FtlCounters;

    /// Units that hold current data.
    fn valid_units(&self) -> u64;

    /// Free blocks of all dies.
    fn free_blocks(&self) -> u64;

    /// What the scheme has put off, to look at; the rest of a drive's is the controller's.
    fn backlog(&self) -> Backlog;

    /// Recounts all books.
    ///
    /// # Errors
    /// The first contradiction, in words.
    fn check(&self) -> Result<(), String>;

    /// Keeps so many words per unit from now on, which go where its data goes. Call it on a new drive.
    fn keep_words(&mut self, words_per_unit: u32);

    /// Keeps a stamp per sector from now on. Call it on a new drive.
    fn keep_stamps(&mut self) {
        self.keep_words(self.sectors_per_unit());
    }

    /// Whether stamps are kept.
    fn keeps_stamps(&self) -> bool;

    /// Stamps of a unit as flash holds it now; `None` where it holds nothing of it (zeros).
    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]>;

    /// Why a drive of these parameters can't find its data again after a power cut, if it can't.
    fn forgets(&self) -> Option<&'static str> {
        None
    }

    /// What flash lost with the last operations, since this was last called. Only while a word per unit is kept: the
    /// number of its cell. Call it after the words of these operations have been stored.
    fn take_superseded(&mut self, out: &mut Vec<Superseded>);

    /// Places that what was programmed last can't be read without, but does not hold itself: it may count only when they
    /// do.
    fn take_needed(&mut self, out: &mut Vec<Ppn>) {
        let _ = out;
    }

    /// Blocks of the drive may fail from now on.
    ///
    /// # Errors
    /// Why this scheme can't go on without one of its blocks.
    fn expect_failures(&mut self) -> Result<&mut BadBlocks, &'static str> {
        Err("its mapping scheme can't replace a block that fails")
    }

    /// Blocks that have failed, or may; `None`: none will.
    fn bad_blocks(&self) -> Option<&BadBlocks> {
        None
    }

    /// The same, to change.
    fn bad_blocks_mut(&mut self) -> Option<&mut BadBlocks> {
        None
    }

    /// Blocks that a new drive can lose; `None`: the scheme can't replace any.
    fn spare_blocks_new(&self) -> Option<u32> {
        None
    }

    /// A block's data is to be moved elsewhere before it can't be read any more; whether that will be done.
    fn refresh(&mut self, block: BlockIndex) -> bool {
        let _ = block;
        false
    }

    /// Blocks of a die that keep its journal; they never fail.
    fn reserved_blocks(&self) -> u32 {
        0
    }

    /// Whether sectors of a place can be marked as lost: only while a word per unit is kept.
    fn keeps_lost_sectors(&self) -> bool {
        false
    }

    /// Whether there may be any.
    fn has_lost_sectors(&self) -> bool {
        false
    }

    /// Marks of sectors of a place that are lost, a bit for each 32nd of the unit (or for each sector).
    fn lost_sectors(&self, ppn: Ppn) -> u32 {
        let _ = ppn;
        0
    }

    /// More sectors of a place are lost.
    fn lose_sectors(&mut self, ppn: Ppn, marks: u32) {
        let _ = (ppn, marks);
    }

    /// Out-of-band data of the page that was programmed last at `first`: two words for each record.
    fn page_records(&self, first: Ppn, out: &mut Vec<u64>);

    /// Most records on the pages of a block.
    fn records_per_block(&self) -> u32 {
        self.layout().units_per_block
    }

    /// Records that the log of the map should have room for.
    fn log_records(&self) -> u32 {
        LOG_RECORDS
    }

    /// Records that a power cut would lose with the block that holds them now: they go to the log of the map.
    fn take_log_records(&mut self, out: &mut Vec<u64>) {
        let _ = out;
    }

    /// One more than the number of the page that holds a unit's newest record, or 0: its entry in a checkpoint.
    fn checkpoint_entry(&self, lpn: Lpn) -> u32 {
        let layout = self.layout();
        self.lookup(lpn).map_or(0, |ppn| {
            let block = layout.block_of(ppn);
            block.0 * layout.geometry.pages_per_block + layout.page_of(ppn) + 1
        })
    }

    /// Records that belong to a checkpoint beside its entries.
    fn checkpoint_records(&self, out: &mut Vec<u64>) {
        let _ = out;
    }

    /// A new scheme becomes what flash holds. [`Self::keep_words`] was called with one word.
    ///
    /// # Errors
    /// What flash holds can't be of this scheme and these parameters, in words.
    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String>;

    /// Blocks that the mount erased because they hold nothing current, those of torn erases aside.
    fn erased_by_mount(&self) -> &[BlockIndex] {
        &[]
    }
}

/// A unit that flash held and that is current no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superseded {
    /// Where it lay. [`Self::ANYWHERE`]: what it needs may be in any block, so none may be erased before.
    pub block: BlockIndex,
    /// Its payload cell.
    pub cell: u32,
}

impl Superseded {
    /// No block in particular.
    pub const ANYWHERE: BlockIndex = BlockIndex(u32::MAX);
}

/// A scheme that appends to an open block of every die and cleans die by die.
pub trait LogMapping: Mapping {
    /// Granules that one page has room for.
    fn page_granules(&self) -> u32;

    /// Most units that one page may hold.
    #[inline]
    fn units_per_page_max(&self) -> u32 {
        self.page_granules()
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
    /// are told by [`Mapping::bad_blocks_mut`]. Afterwards [`Self::has_room`] may be false.
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
