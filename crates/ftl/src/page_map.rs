//! The page map: every map unit of the host may lie anywhere in flash.
//!
//! `map` gives the place of an LPN, out-of-band data in flash the LPN of a place, one bit per place says which of
//! the two is current. All three are flat arrays; a unit costs 12 bytes and one bit.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, FlashRule, GeometryError, Lpn, Ppn, UnitLayout};
use drivelab_sim::Stream as RandomStream;

use crate::blocks::{Blocks, Stream, ValidBits};
use crate::cleaning::{CleaningState, CleaningStep, Urgency};
use crate::config::{CleaningMode, FtlConfig};
use crate::counters::FtlCounters;
use crate::journal::Journal;
use crate::mapping::{LogMapping, Mapping, Stored};
use crate::stamps::Stamps;

/// Purpose number of the victim selection's random stream.
const VICTIM_STREAM: u64 = 0x0056_4943;

/// Free blocks of a die that host writes may not take: cleaning needs one to copy into.
const RESERVE_BLOCKS: u32 = 1;
/// Blocks of a die that never hold valid data for good: two open ones and the reserve.
const WORKING_BLOCKS: u32 = 3;

/// What the FTL refuses: always a mistake of the caller, never of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FtlError {
    /// A rule of flash would be broken.
    #[error(transparent)]
    Flash(#[from] FlashRule),
    /// The die has no room; it must be cleaned first.
    #[error("die {die} has no free block for this write")]
    NoFreeBlock {
        /// The die.
        die: u32,
    },
}

/// A page-mapped FTL over its flash array.
#[derive(Clone, Debug)]
pub struct PageMap {
    pub(crate) layout: UnitLayout,
    pub(crate) config: FtlConfig,
    pub(crate) flash: FlashArray,
    /// Place + 1 of every LPN; 0: not mapped. (Zero, so that the memory of a new drive is never touched.)
    pub(crate) map: Vec<u32>,
    pub(crate) valid: ValidBits,
    pub(crate) blocks: Blocks,
    pub(crate) cleaning: CleaningState,
    pub(crate) journal: Journal,
    pub(crate) counters: FtlCounters,
    pub(crate) random: RandomStream,
    /// Valid units per die.
    pub(crate) die_valid: Vec<u32>,
    /// A die takes no host data beyond this many valid units, so that cleaning always finds something to free.
    pub(crate) die_limit: u32,
    pub(crate) stamps: Option<Stamps>,
}

impl PageMap {
    /// An FTL over an erased array.
    ///
    /// # Errors
    /// A parameter that makes no working drive: user capacity that does not fit beside the blocks that cleaning
    /// needs, thresholds out of range.
    pub fn new(layout: UnitLayout, config: FtlConfig) -> Result<Self, GeometryError> {
        let per_die = layout.geometry.blocks_per_die();
        let reserved = config.reserved_blocks();
        let working = match config.cleaning_mode {
            CleaningMode::Relocate => WORKING_BLOCKS,
            CleaningMode::RewriteInPlace => 0,
        };
        let dies = layout.geometry.die_count();
        if config.cleaning_mode == CleaningMode::RewriteInPlace && layout.block_count() != 1 {
            let allowed =
                "must be 1 in all (1 channel, 1 die, 1 plane) for ftl.cleaning_mode = rewrite-in-place";
            return Err(GeometryError::new("flash.blocks_per_plane", layout.block_count(), allowed));
        }
        // A block whose invalid units do not fill a page is no victim, so that much of it may stay unusable.
        let usable = layout.units_per_block - if working > 0 { layout.units_per_page - 1 } else { 0 };
        let die_limit = per_die.saturating_sub(reserved + working) * usable;
        let slack = if working > 0 { dies * layout.units_per_page } else { 0 };
        let room = (u64::from(die_limit) * u64::from(dies)).saturating_sub(u64::from(slack));
        if config.user_units == 0 || u64::from(config.user_units) > room {
            let bytes = u64::from(config.user_units) * u64::from(layout.unit_bytes);
            let allowed = format!(
                "must be 1 map unit ({} bytes) to {} bytes: raw capacity less {} working blocks per die",
                layout.unit_bytes,
                room * u64::from(layout.unit_bytes),
                reserved + working
            );
            return Err(GeometryError::new("user_capacity_bytes", bytes, allowed));
        }
        check_thresholds(&config, per_die, reserved)?;
        let flash = FlashArray::new(layout);
        let mut ftl = Self {
            blocks: Blocks::new(&layout, &flash, reserved),
            cleaning: CleaningState::new(dies),
            journal: Journal::new(&config, dies),
            counters: FtlCounters::default(),
            random: RandomStream::new(config.seed, VICTIM_STREAM),
            map: vec![0; config.user_units as usize],
            valid: ValidBits::new(layout.unit_count()),
            die_valid: vec![0; dies as usize],
            die_limit,
            stamps: None,
            layout,
            config,
            flash,
        };
        ftl.spread_scan_starts();
        Ok(ftl)
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &FtlConfig {
        &self.config
    }

    /// Block bookkeeping, to look at.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Programs one page and moves the map entries of its units to it.
    #[inline]
    pub(crate) fn program(&mut self, die: DieIndex, stream: Stream, units: &[Lpn]) -> Result<Ppn, FtlError> {
        let block = match self.blocks.open_block(die, stream) {
            Some(block) => block,
            None => self.blocks.open_next(die, stream).ok_or(FtlError::NoFreeBlock { die: die.0 })?,
        };
        let page = self.flash.write_pointer(block);
        let first = self.flash.program(block, page, units)?;
        self.blocks.add_valid(block, units.len() as u32);
        self.die_valid[die.0 as usize] += units.len() as u32;
        for (offset, &lpn) in units.iter().enumerate() {
            let place = first.0 + offset as u32;
            let old = std::mem::replace(&mut self.map[lpn.0 as usize], place + 1);
            if old != 0 {
                self.invalidate(Ppn(old - 1));
            }
            self.valid.set(Ppn(place));
        }
        if page + 2 * self.layout.pages_per_unit > self.layout.geometry.pages_per_block {
            self.blocks.close(die, stream);
        }
        self.counters.units_padded += u64::from(self.layout.units_per_page) - units.len() as u64;
        self.journal.note_updates(units.len() as u32);
        Ok(first)
    }

    #[inline]
    fn invalidate(&mut self, ppn: Ppn) {
        let block = self.layout.block_of(ppn);
        self.valid.clear(ppn);
        self.blocks.remove_valid(block);
        let die = self.layout.die_of(block);
        self.die_valid[die.0 as usize] -= 1;
    }

    /// Removes a map entry; whether there was one.
    pub(crate) fn unmap(&mut self, lpn: Lpn) -> bool {
        let old = std::mem::replace(&mut self.map[lpn.0 as usize], 0);
        if old != 0 {
            self.invalidate(Ppn(old - 1));
        }
        old != 0
    }

    /// Erased places that host data can still take on a die without cleaning.
    fn room_units(&self, die: DieIndex) -> u32 {
        let open = self.blocks.open_block(die, Stream::Host).map_or(0, |block| {
            self.layout.units_per_block
                - self.flash.write_pointer(block) / self.layout.pages_per_unit * self.layout.units_per_page
        });
        open + self.blocks.free_count(die).saturating_sub(self.reserve()) * self.layout.units_per_block
    }

    fn reserve(&self) -> u32 {
        match self.config.cleaning_mode {
            CleaningMode::Relocate => RESERVE_BLOCKS,
            CleaningMode::RewriteInPlace => 0,
        }
    }
}

impl Mapping for PageMap {
    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.layout
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map[lpn.0 as usize].checked_sub(1).map(Ppn)
    }

    fn trim(&mut self, lpn: Lpn) {
        if self.unmap(lpn) {
            self.counters.units_trimmed += 1;
            self.journal.note_updates(1);
        }
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        let before = self.counters.erases_secure;
        let per_die = self.layout.geometry.blocks_per_die();
        let mut most = 0;
        for die in 0..self.layout.geometry.die_count() {
            let mut erased = 0;
            for block in die * per_die..(die + 1) * per_die {
                if self.flash.write_pointer(BlockIndex(block)) > 0 {
                    self.flash.erase(BlockIndex(block));
                    erased += 1;
                }
            }
            self.counters.erases_secure += u64::from(erased);
            most = most.max(erased);
        }
        let reserved = self.config.reserved_blocks();
        let dies = self.layout.geometry.die_count();
        self.blocks = Blocks::new(&self.layout, &self.flash, reserved);
        self.cleaning = CleaningState::new(dies);
        self.journal = Journal::new(&self.config, dies);
        self.map.fill(0);
        self.valid = ValidBits::new(self.layout.unit_count());
        self.die_valid.fill(0);
        self.spread_scan_starts();
        if let Some(stamps) = &mut self.stamps {
            stamps.clear();
        }
        (most, self.counters.erases_secure - before)
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        drivelab_sim::prefetch(&self.map, lpn as usize);
    }

    fn flash(&self) -> &FlashArray {
        &self.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid.get(ppn)
    }

    fn counters(&self) -> &FtlCounters {
        &self.counters
    }

    fn valid_units(&self) -> u64 {
        self.die_valid.iter().map(|&count| u64::from(count)).sum()
    }

    fn free_blocks(&self) -> u64 {
        (0..self.layout.geometry.die_count())
            .map(|die| u64::from(self.blocks.free_count(DieIndex(die))))
            .sum()
    }

    fn keep_stamps(&mut self) {
        self.stamps = Some(Stamps::new(&self.layout));
    }

    fn user_units(&self) -> u32 {
        self.config.user_units
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool {
        distance < self.layout.units_per_page - first.0 % self.layout.units_per_page
            && self.lookup(lpn) == Some(Ppn(first.0 + distance))
    }

    fn check(&self) -> Result<(), String> {
        self.recount()
    }

    fn keeps_stamps(&self) -> bool {
        self.stamps.is_some()
    }

    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]> {
        Some(self.stamps.as_ref()?.unit(self.lookup(lpn)?))
    }
}

impl LogMapping for PageMap {
    #[inline]
    fn has_room(&self, die: DieIndex) -> bool {
        self.blocks.open_block(die, Stream::Host).is_some() || self.blocks.free_count(die) > self.reserve()
    }

    #[inline]
    fn is_full(&self, die: DieIndex) -> bool {
        self.die_valid[die.0 as usize] >= self.die_limit
            && self.config.cleaning_mode == CleaningMode::Relocate
    }

    #[inline]
    fn is_checkpointing(&self) -> bool {
        self.journal.is_checkpointing()
    }

    #[inline]
    fn program_host(&mut self, die: DieIndex, lpns: &[Lpn], _stored: &[Stored]) -> Result<Ppn, FtlError> {
        if !self.has_room(die) {
            return Err(FtlError::NoFreeBlock { die: die.0 });
        }
        let first = self.program(die, Stream::Host, lpns)?;
        self.counters.programs_host += 1;
        self.counters.units_host += lpns.len() as u64;
        Ok(first)
    }

    #[inline]
    fn is_metadata_due(&self) -> bool {
        self.journal.is_due()
    }

    fn program_metadata(&mut self, die: DieIndex) -> Result<(u32, bool), FtlError> {
        let pages = self.layout.geometry.pages_per_block;
        let step = self.layout.pages_per_unit;
        let mut erased = false;
        if self.flash.write_pointer(self.journal.block(&self.layout, die)) + step > pages {
            self.journal.turn(die);
            let block = self.journal.block(&self.layout, die);
            if self.flash.write_pointer(block) > 0 {
                self.flash.erase(block);
                self.counters.erases_map += 1;
                erased = true;
            }
        }
        let block = self.journal.block(&self.layout, die);
        let page = self.flash.write_pointer(block);
        self.flash.program(block, page, &[])?;
        self.counters.programs_map += 1;
        self.journal.take();
        Ok((page, erased))
    }

    #[inline]
    fn page_granules(&self) -> u32 {
        self.layout.units_per_page
    }

    fn store_stamps(&mut self, first: Ppn, offset: u32, _lpn: Lpn, stamps: &[u64]) {
        if let Some(kept) = &mut self.stamps {
            kept.store(Ppn(first.0 + offset), stamps);
        }
    }

    fn cleans_when_idle(&self) -> bool {
        self.config.idle_cleaning_blocks > 0 || self.config.cleaning_mode == CleaningMode::RewriteInPlace
    }

    fn begin_rewrite(&mut self, die: DieIndex, queued: u32) -> bool {
        self.config.cleaning_mode == CleaningMode::RewriteInPlace
            && queued > self.room_units(die)
            && self.force_rewrite(die)
    }

    fn release(&mut self, lpn: Lpn) {
        self.unmap(lpn);
    }

    #[inline]
    fn cleaning_urgency(&mut self, die: DieIndex) -> Urgency {
        let index = die.0 as usize;
        if self.config.cleaning_mode == CleaningMode::RewriteInPlace {
            return if self.cleaning.jobs[index].is_some() { Urgency::Urgent } else { Urgency::Idle };
        }
        let free = self.blocks.free_count(die);
        if free < self.config.cleaning_start_blocks {
            self.cleaning.active[index] = true;
        } else if free >= self.config.cleaning_stop_blocks {
            self.cleaning.active[index] = false;
        }
        if !self.has_room(die) {
            return Urgency::Urgent;
        }
        if self.cleaning.active[index] || self.cleaning.jobs[index].is_some() {
            return Urgency::Wanted;
        }
        if free < self.config.idle_cleaning_blocks { Urgency::Idle } else { Urgency::None }
    }

    #[inline]
    fn is_cleaning(&self, die: DieIndex) -> bool {
        self.cleaning.jobs[die.0 as usize].is_some()
    }

    fn cleaning_debt(&self, die: DieIndex) -> Option<(u32, u32)> {
        let job = self.cleaning.jobs[die.0 as usize]?;
        Some((job.valid_at_start, self.layout.units_per_block))
    }

    fn next_cleaning_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        self.clean_step(die)
    }

    fn copied_page_bytes(&self, cursor: &mut usize) -> Option<u32> {
        let rest = self.cleaning.copied_from.get(*cursor..).filter(|rest| !rest.is_empty())?;
        let page = rest[0].0 / self.layout.units_per_page;
        let units = rest.iter().take_while(|from| from.0 / self.layout.units_per_page == page).count();
        *cursor += units;
        Some(units as u32 * self.layout.unit_bytes)
    }
}

fn check_thresholds(config: &FtlConfig, per_die: u32, reserved: u32) -> Result<(), GeometryError> {
    if config.cleaning_mode == CleaningMode::RewriteInPlace {
        return Ok(());
    }
    let blocks = per_die - reserved;
    let (start, stop) = (config.cleaning_start_blocks, config.cleaning_stop_blocks);
    if start < RESERVE_BLOCKS + 1 || start > blocks {
        let allowed = format!("must be {} to {blocks} blocks per die", RESERVE_BLOCKS + 1);
        return Err(GeometryError::new("ftl.cleaning_start_blocks", start, allowed));
    }
    if stop < start || stop > blocks {
        let allowed = format!("must be ftl.cleaning_start_blocks = {start} to {blocks} blocks per die");
        return Err(GeometryError::new("ftl.cleaning_stop_blocks", stop, allowed));
    }
    if config.idle_cleaning_blocks > blocks {
        let allowed = format!("must be at most {blocks} blocks per die");
        return Err(GeometryError::new("ftl.idle_cleaning_blocks", config.idle_cleaning_blocks, allowed));
    }
    if config.choices == 0 {
        return Err(GeometryError::new("ftl.choices", 0u32, "must be 1 or more"));
    }
    Ok(())
}
