//! The page map: every map unit of the host may lie anywhere in flash.
//!
//! `map` gives the place of an LPN, out-of-band data in flash the LPN of a place, one bit per place says which of
//! the two is current. All three are flat arrays; a unit costs 12 bytes and one bit.

use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::{BlockIndex, DieIndex, FlashArray, GeometryError, Lpn, Ppn, UnitLayout};
use drivelab_sim::sabotage::{self, Sabotage};

use crate::backlog::Backlog;
use crate::bad_blocks::BadBlocks;
use crate::blocks::{Blocks, Stream, ValidBits};
use crate::cleaning::{CleaningStep, Urgency};
use crate::config::{CleaningMode, FtlConfig};
use crate::counters::FtlCounters;
use crate::die_logs::{DieLogs, MetadataStep, check_thresholds};
use crate::error::FtlError;
use crate::mapping::{LogMapping, Mapping, Stored, Superseded};
use crate::recovery::Recovered;
use crate::stamps::Stamps;

/// A page-mapped FTL over its flash array.
#[derive(Clone, Debug)]
pub struct PageMap {
    pub(crate) logs: DieLogs,
    /// Place + 1 of every LPN; 0: not mapped. (Zero, so that the memory of a new drive is never touched.)
    pub(crate) map: Vec<u32>,
    pub(crate) valid: ValidBits,
    /// A die takes no host data beyond this many valid units, so that cleaning always finds something to free.
    die_limit: u32,
    /// What a block adds to that.
    units_lasting: u32,
    pub(crate) stamps: Option<Stamps>,
    /// Places that hold nothing current since these were last asked for; `None`: nobody asks.
    pub(crate) superseded: Option<Vec<Ppn>>,
    /// Places that the last page of copies came from, and what lay there.
    pub(crate) copied_from: Vec<Ppn>,
    pub(crate) copied: Vec<Lpn>,
    /// Sectors of some place were lost.
    has_lost_sectors: bool,
}

impl PageMap {
    /// An FTL over an erased array.
    ///
    /// # Errors
    /// A parameter that makes no working drive: user capacity that does not fit beside the blocks that cleaning
    /// needs, thresholds out of range.
    pub fn new(layout: UnitLayout, config: FtlConfig) -> Result<Self, GeometryError> {
        let dies = layout.geometry.die_count();
        if config.cleaning_mode == CleaningMode::RewriteInPlace && layout.block_count() != 1 {
            let allowed =
                "must be 1 in all (1 channel, 1 die, 1 plane) for ftl.cleaning_mode = rewrite-in-place";
            return Err(GeometryError::new("flash.blocks_per_plane", layout.block_count(), allowed));
        }
        let relocates = config.cleaning_mode == CleaningMode::Relocate;
        let reserved = config.reserved_blocks();
        let lasting = DieLogs::lasting_blocks(&layout, &config, reserved);
        // A block whose invalid units do not fill a page is no victim, so that much of it may stay unusable.
        let units_lasting = layout.units_per_block - if relocates { layout.units_per_page - 1 } else { 0 };
        let die_limit = lasting * units_lasting;
        let slack = if relocates { dies * layout.units_per_page } else { 0 };
        let room = (u64::from(die_limit) * u64::from(dies)).saturating_sub(u64::from(slack));
        if config.user_units == 0 || u64::from(config.user_units) > room {
            let bytes = u64::from(config.user_units) * u64::from(layout.unit_bytes);
            let allowed = format!(
                "must be 1 map unit ({} bytes) to {} bytes: raw capacity less {} working blocks per die",
                layout.unit_bytes,
                room * u64::from(layout.unit_bytes),
                layout.geometry.blocks_per_die() - lasting
            );
            return Err(GeometryError::new("user_capacity_bytes", bytes, allowed));
        }
        check_thresholds(&layout, &config, reserved)?;
        Ok(Self {
            map: vec![0; config.user_units as usize],
            valid: ValidBits::new(layout.unit_count()),
            die_limit,
            units_lasting,
            stamps: None,
            superseded: None,
            copied_from: Vec::new(),
            copied: Vec::new(),
            has_lost_sectors: false,
            logs: DieLogs::new(FlashArray::new(layout), config, reserved),
        })
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &FtlConfig {
        &self.logs.config
    }

    /// Block bookkeeping, to look at.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.logs.blocks
    }

    /// Blocks that the drive could lose when it was new.
    fn spare(&self) -> u32 {
        let dies = self.logs.layout.geometry.die_count();
        let room = u64::from(self.die_limit) * u64::from(dies);
        let needed = u64::from(self.logs.config.user_units + dies * self.logs.layout.units_per_page);
        (room.saturating_sub(needed) / u64::from(self.units_lasting)) as u32
    }

    /// Programs one page and moves the map entries of its units to it.
    #[inline]
    pub(crate) fn program(&mut self, die: DieIndex, stream: Stream, units: &[Lpn]) -> Result<Ppn, FtlError> {
        let block = self.logs.open(die, stream)?;
        let page = self.logs.flash.write_pointer(block);
        let first = self.logs.flash.program(block, page, units)?;
        self.logs.blocks.add_valid(block, units.len() as u32);
        self.logs.die_valid[die.0 as usize] += units.len() as u32;
        for (offset, &lpn) in units.iter().enumerate() {
            let place = first.0 + offset as u32;
            let old = std::mem::replace(&mut self.map[lpn.0 as usize], place + 1);
            if old != 0 {
                self.invalidate(Ppn(old - 1));
                if stream == Stream::Host {
                    self.note_superseded(Ppn(old - 1));
                }
            }
            self.valid.set(Ppn(place));
        }
        self.logs.close_if_full(die, stream, page);
        self.logs.counters.units_padded += u64::from(self.logs.layout.units_per_page) - units.len() as u64;
        self.logs.journal.note_updates(units.len() as u32);
        Ok(first)
    }

    #[inline]
    fn invalidate(&mut self, ppn: Ppn) {
        let block = self.logs.layout.block_of(ppn);
        self.valid.clear(ppn);
        self.logs.blocks.remove_valid(block, 1);
        let die = self.logs.layout.die_of(block);
        self.logs.die_valid[die.0 as usize] -= 1;
    }

    /// Removes a map entry; whether there was one.
    pub(crate) fn unmap(&mut self, lpn: Lpn) -> bool {
        let old = std::mem::replace(&mut self.map[lpn.0 as usize], 0);
        if old != 0 {
            self.invalidate(Ppn(old - 1));
            self.note_superseded(Ppn(old - 1));
        }
        old != 0
    }

    #[inline]
    fn note_superseded(&mut self, ppn: Ppn) {
        if let Some(superseded) = &mut self.superseded {
            superseded.push(ppn);
        }
    }
}

impl PageMap {
    /// Goes through all pages once, in order, and maps the units whose newest version they hold.
    fn restore_map(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        let layout = self.logs.layout;
        let pages_per_block = layout.geometry.pages_per_block;
        let mut records = Vec::new();
        let mut mapped = 0;
        for block in (0..layout.block_count()).map(BlockIndex) {
            for page in (0..self.logs.flash.write_pointer(block)).step_by(layout.pages_per_unit as usize) {
                let Some(head) = recovered.medium.page(block, page) else { continue };
                records.clear();
                recovered.medium.records(block, page, &mut records);
                let place = layout.first_ppn(block).0 + page / layout.pages_per_unit * layout.units_per_page;
                let number = block.0 * pages_per_block + page + 1;
                for (offset, record) in records.iter().enumerate() {
                    let ppn = Ppn(place + offset as u32);
                    if record.lpn == Lpn::PADDING || offset as u32 >= layout.units_per_page {
                        continue;
                    }
                    self.logs.flash.restore_unit(ppn, record.lpn, head.sequence);
                    self.has_lost_sectors |= record.info != 0;
                    if let Some(cells) = &mut self.stamps {
                        cells.store(ppn, &[record.info << 32 | u64::from(record.cell)]);
                    }
                    let is_last = records[offset + 1..].iter().all(|later| later.lpn != record.lpn);
                    if is_last && recovered.page_of.get(record.lpn.0 as usize) == Some(&number) {
                        self.map[record.lpn.0 as usize] = ppn.0 + 1;
                        self.valid.set(ppn);
                        self.logs.blocks.add_valid(block, 1);
                        self.logs.die_valid[layout.die_of(block).0 as usize] += 1;
                        mapped += 1;
                    }
                }
            }
        }
        let wanted = recovered.page_of.iter().filter(|&&page| page != 0).count();
        if mapped == wanted {
            Ok(())
        } else {
            Err(format!("{wanted} units should be in flash, but only {mapped} are where they should be"))
        }
    }
}

impl Mapping for PageMap {
    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.logs.layout
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map[lpn.0 as usize].checked_sub(1).map(Ppn)
    }

    fn takes_trims(&self) -> bool {
        self.logs.config.trim_supported
    }

    fn trim(&mut self, lpn: Lpn) {
        if sabotage::is(Sabotage::TrimsPileUp) {
            self.logs.journal.note_updates(256);
        }
        if self.unmap(lpn) {
            self.logs.counters.units_trimmed += 1;
        }
    }

    fn note_trimmed_extent(&mut self) {
        self.logs.journal.note_updates(1);
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        let erased = self.logs.secure_erase();
        self.map = vec![0; self.map.len()];
        self.valid = ValidBits::new(self.logs.layout.unit_count());
        if let Some(stamps) = &mut self.stamps {
            stamps.clear();
        }
        erased
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        drivelab_sim::prefetch(&self.map, lpn as usize);
    }

    fn flash(&self) -> &FlashArray {
        &self.logs.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid.get(ppn)
    }

    fn held_back_bytes(&self) -> u64 {
        let layout = &self.logs.layout;
        let unit_bytes = u64::from(layout.unit_bytes);
        // What units leave unused at the end of pages and blocks is nobody's.
        let unused = layout.geometry.raw_bytes() - u64::from(layout.unit_count()) * unit_bytes;
        let quarters = u64::from(layout.geometry.die_count()) * u64::from(self.logs.held_back_quarters());
        unused + quarters * u64::from(layout.units_per_block) * unit_bytes / 4
    }

    fn counters(&self) -> &FtlCounters {
        &self.logs.counters
    }

    fn valid_units(&self) -> u64 {
        self.logs.valid_units()
    }

    fn free_blocks(&self) -> u64 {
        self.logs.free_blocks()
    }

    fn backlog(&self) -> Backlog {
        self.logs.backlog()
    }

    fn keep_words(&mut self, words_per_unit: u32) {
        self.stamps = Some(Stamps::new(&self.logs.layout, words_per_unit));
        self.superseded = (words_per_unit == 1).then(Vec::new);
    }

    fn user_units(&self) -> u32 {
        self.logs.config.user_units
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool {
        distance < self.logs.layout.units_per_page - first.0 % self.logs.layout.units_per_page
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

    fn forgets(&self) -> Option<&'static str> {
        match self.logs.config.cleaning_mode {
            CleaningMode::Relocate => None,
            CleaningMode::RewriteInPlace => {
                Some("it rewrites its block in place, from memory that a power cut empties")
            }
        }
    }

    fn expect_failures(&mut self) -> Result<&mut BadBlocks, &'static str> {
        let spare = self.spare();
        match self.logs.config.cleaning_mode {
            CleaningMode::Relocate => Ok(self.logs.expect_failures(spare)),
            CleaningMode::RewriteInPlace => Err("it rewrites its only block in place"),
        }
    }

    fn bad_blocks(&self) -> Option<&BadBlocks> {
        self.logs.bad.as_deref()
    }

    fn bad_blocks_mut(&mut self) -> Option<&mut BadBlocks> {
        self.logs.bad.as_deref_mut()
    }

    fn reserved_blocks(&self) -> u32 {
        self.logs.config.reserved_blocks()
    }

    fn keeps_lost_sectors(&self) -> bool {
        self.superseded.is_some()
    }

    fn has_lost_sectors(&self) -> bool {
        self.has_lost_sectors
    }

    fn lost_sectors(&self, ppn: Ppn) -> u32 {
        self.stamps.as_ref().map_or(0, |cells| (cells.unit(ppn)[0] >> 32) as u32)
    }

    fn lose_sectors(&mut self, ppn: Ppn, marks: u32) {
        if let Some(cells) = &mut self.stamps {
            let word = cells.unit(ppn)[0] | u64::from(marks) << 32;
            cells.store(ppn, &[word]);
            self.has_lost_sectors |= marks != 0;
        }
    }

    fn spare_blocks_new(&self) -> Option<u32> {
        (self.logs.config.cleaning_mode == CleaningMode::Relocate).then(|| self.spare())
    }

    fn refresh(&mut self, block: BlockIndex) -> bool {
        self.logs.refresh(block)
    }

    fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        let (Some(superseded), Some(cells)) = (&mut self.superseded, &self.stamps) else { return };
        let layout = &self.logs.layout;
        out.extend(
            superseded
                .drain(..)
                .map(|ppn| Superseded { block: layout.block_of(ppn), cell: cells.unit(ppn)[0] as u32 }),
        );
    }

    fn page_records(&self, first: Ppn, out: &mut Vec<u64>) {
        let Some(cells) = &self.stamps else { return };
        for place in (first.0..first.0 + self.logs.layout.units_per_page).map(Ppn) {
            let lpn = self.logs.flash.peek(place);
            // Above the cell's number are the marks of lost sectors.
            let word = if lpn.is_some() { cells.unit(place)[0] } else { u64::from(NO_CELL) };
            let (cell, info) = (word as u32, word >> 32);
            out.extend(Record { lpn: lpn.unwrap_or(Lpn::PADDING), cell, info }.to_words());
        }
    }

    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.logs.restore(recovered)?;
        self.logs.restore_bad_blocks(recovered.medium, self.spare());
        self.restore_map(recovered)
    }
}

impl LogMapping for PageMap {
    #[inline]
    fn has_room(&self, die: DieIndex) -> bool {
        self.logs.has_host_block(die)
    }

    #[inline]
    fn is_full(&self, die: DieIndex) -> bool {
        self.logs.die_valid[die.0 as usize] + self.logs.withheld(die) * self.units_lasting >= self.die_limit
            && self.logs.config.cleaning_mode == CleaningMode::Relocate
            && !self.logs.is_in_need()
    }

    #[inline]
    fn is_wedged(&self, die: DieIndex) -> bool {
        self.logs.is_wedged(die)
    }

    #[inline]
    fn holds_host_pages(&self) -> bool {
        self.logs.journal.is_checkpointing()
    }

    #[inline]
    fn program_host(&mut self, die: DieIndex, lpns: &[Lpn], _stored: &[Stored]) -> Result<Ppn, FtlError> {
        if !self.has_room(die) {
            return Err(FtlError::NoFreeBlock { die: die.0 });
        }
        let first = self.program(die, Stream::Host, lpns)?;
        self.logs.counters.programs_host += 1;
        self.logs.counters.units_host += lpns.len() as u64;
        Ok(first)
    }

    fn ready_host_page(&mut self, die: DieIndex) -> Result<(), FtlError> {
        self.logs.ready_page(die, Stream::Host)
    }

    #[inline]
    fn is_metadata_due(&self) -> bool {
        self.logs.journal.is_due()
    }

    fn program_metadata(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        self.logs.program_journal(die)
    }

    #[inline]
    fn page_granules(&self) -> u32 {
        self.logs.layout.units_per_page
    }

    fn store_stamps(&mut self, first: Ppn, offset: u32, _lpn: Lpn, stamps: &[u64]) {
        if let Some(kept) = &mut self.stamps {
            kept.store(Ppn(first.0 + offset), stamps);
        }
    }

    fn cleans_when_idle(&self) -> bool {
        self.logs.config.idle_cleaning_blocks > 0
            || self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace
    }

    fn begin_rewrite(&mut self, die: DieIndex, queued: u32) -> bool {
        self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace
            && queued > self.logs.room_units(die)
            && self.force_rewrite(die)
    }

    fn release(&mut self, lpn: Lpn) {
        self.unmap(lpn);
    }

    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    fn cleaning_urgency(&mut self, die: DieIndex) -> Urgency {
        if let Some(urgency) = self.logs.calm_urgency(die) {
            return urgency;
        }
        if self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace {
            return if self.logs.is_cleaning(die) { Urgency::Urgent } else { Urgency::Idle };
        }
        let has_room = self.has_room(die);
        self.logs.urgency(die, has_room)
    }

    #[inline]
    fn is_cleaning(&self, die: DieIndex) -> bool {
        self.logs.is_cleaning(die)
    }

    fn cleaning_debt(&self, die: DieIndex) -> Option<(u32, u32)> {
        Some((self.logs.valid_at_start(die)?, self.logs.layout.units_per_block))
    }

    fn next_cleaning_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        self.clean_step(die)
    }

    fn copied_places(&self) -> &[Ppn] {
        &self.copied_from
    }

    fn copied_page_bytes(&self, cursor: &mut usize) -> Option<u32> {
        let rest = self.copied_from.get(*cursor..).filter(|rest| !rest.is_empty())?;
        let page = rest[0].0 / self.logs.layout.units_per_page;
        let units = rest.iter().take_while(|from| from.0 / self.logs.layout.units_per_page == page).count();
        *cursor += units;
        Some(units as u32 * self.logs.layout.unit_bytes)
    }
}
