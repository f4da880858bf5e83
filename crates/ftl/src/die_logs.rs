//! What every scheme is made of that appends to open blocks of every die and cleans die by die: flash, its blocks,
//! the blocks being emptied, the map journal. What a page holds, and what of it is valid, is the scheme's own.
//!
//! Valid data is counted in a measure of the scheme: map units, or granules of compressed data.

use drivelab_nand::op::PageKind;
use drivelab_nand::view::BlockState;
use drivelab_nand::{BlockIndex, DieIndex, FlashArray, GeometryError, UnitLayout};
use drivelab_sim::Stream as RandomStream;
use drivelab_sim::sabotage::{self, Sabotage};

use crate::backlog::Backlog;
use crate::bad_blocks::BadBlocks;
use crate::blocks::{Blocks, Stream};
use crate::cleaning::{CleaningState, CleaningStep, Job, Purpose, Urgency};
use crate::compressed_map::parity::Parity;
use crate::config::{CleaningMode, FtlConfig};
use crate::counters::FtlCounters;
use crate::error::FtlError;
use crate::journal::Journal;
use crate::recovery::Recovered;
use crate::victim::{self, VictimSelection, View};

/// Purpose number of the victim selection's random stream.
const VICTIM_STREAM: u64 = 0x0056_4943;

/// Free blocks of a die that host writes may not take: cleaning needs one to copy into.
const RESERVE_BLOCKS: u32 = 1;
/// Blocks of a die that never hold valid data for good: two open ones and the reserve.
const WORKING_BLOCKS: u32 = 3;

/// Static wear levelling looks at a die once in (its blocks / this) erases of it: often enough to keep up, rarely
/// enough that looking at all blocks costs nothing per page.
const WEAR_CHECKS_PER_ROUND: u32 = 64;

/// Work on metadata of a die: pages of its own are read, then a block is erased, then a page is programmed, each if at
/// all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataStep {
    /// Pages read.
    pub pages_read: u32,
    /// Bytes of them that are needed.
    pub bytes_read: u32,
    /// Trimmed units whose entries were found and removed: the firmware's work.
    pub units_released: u32,
    /// The block that is erased.
    pub erased: Option<BlockIndex>,
    /// Block, and page within it, that is programmed.
    pub programmed: Option<(BlockIndex, u32)>,
}

/// How much valid data a block and a page can hold, in the scheme's measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    /// A block.
    pub per_block: u32,
    /// A page: a block with less than this to gain is no victim.
    pub per_page: u32,
    /// Pages that hold no data.
    pub parity: Parity,
}

/// Flash of all dies, and what is done to it.
#[derive(Clone, Debug)]
pub struct DieLogs {
    pub(crate) layout: UnitLayout,
    pub(crate) config: FtlConfig,
    pub(crate) flash: FlashArray,
    pub(crate) blocks: Blocks,
    pub(crate) cleaning: CleaningState,
    pub(crate) journal: Journal,
    pub(crate) counters: FtlCounters,
    random: RandomStream,
    /// Valid units (map units, or fragments) per die.
    pub(crate) die_valid: Vec<u32>,
    /// Blocks that have failed, or may; `None`: none will.
    pub(crate) bad: Option<Box<BadBlocks>>,
    /// The first so many blocks of each die keep metadata.
    pub(crate) reserved: u32,
    /// A die with so many free blocks has room for the host and need not be cleaned, not even in a pause.
    calm_blocks: u32,
}

impl DieLogs {
    /// Erased dies, `reserved` blocks of each for metadata.
    pub(crate) fn new(flash: FlashArray, config: FtlConfig, reserved: u32) -> Self {
        let layout = *flash.layout();
        let dies = layout.geometry.die_count();
        let mut logs = Self {
            blocks: Blocks::new(&layout, &flash, reserved),
            cleaning: CleaningState::new(dies),
            journal: Journal::new(&config, dies),
            counters: FtlCounters::default(),
            random: RandomStream::new(config.seed, VICTIM_STREAM),
            die_valid: vec![0; dies as usize],
            bad: None,
            reserved,
            calm_blocks: config.calm_blocks(),
            layout,
            config,
            flash,
        };
        logs.spread_scan_starts();
        logs
    }

    /// Blocks of a die that can hold valid data for good.
    pub(crate) fn lasting_blocks(layout: &UnitLayout, config: &FtlConfig, reserved: u32) -> u32 {
        let working = match config.cleaning_mode {
            CleaningMode::Relocate => WORKING_BLOCKS,
            CleaningMode::RewriteInPlace => 0,
        };
        layout.geometry.blocks_per_die().saturating_sub(reserved + working)
    }

    /// Quarters of blocks that a die holds back while it is cleaned. Those of the journal; the free ones, which are
    /// between one less than the threshold at which cleaning starts and as many, and less than that while cleaning
    /// has just opened one (about a third of a block above the lower: measured); the erased half of each of two open
    /// blocks; what is there twice of the block being emptied, almost half of it. Together 3/4 above the threshold.
    pub(crate) fn held_back_quarters(&self) -> u32 {
        match self.config.cleaning_mode {
            CleaningMode::Relocate => 4 * (self.reserved + self.config.cleaning_start_blocks) + 3,
            CleaningMode::RewriteInPlace => 0,
        }
    }

    /// Dies begin their scans at different blocks; otherwise all would wear their first blocks most.
    fn spread_scan_starts(&mut self) {
        let blocks = self.layout.geometry.blocks_per_die();
        for (die, start) in self.cleaning.scan_start.iter_mut().enumerate() {
            *start = (die as u32).wrapping_mul(2_654_435_761) % blocks;
        }
    }

    /// Free blocks of a die that the host may not take.
    #[inline]
    pub(crate) fn reserve(&self) -> u32 {
        match self.config.cleaning_mode {
            CleaningMode::Relocate => RESERVE_BLOCKS + self.failure_reserve(),
            CleaningMode::RewriteInPlace => 0,
        }
    }

    /// Whether a die has not even the block that cleaning needs. It comes to that only when power cuts have torn pages
    /// in it, or blocks have failed.
    #[inline]
    fn lacks_reserve(&self, die: DieIndex) -> bool {
        self.blocks.free_count(die) < RESERVE_BLOCKS && self.config.cleaning_mode == CleaningMode::Relocate
    }

    /// Whether the host's stream of a die has an open block or may open one.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn has_host_block(&self, die: DieIndex) -> bool {
        self.blocks.free_count(die) > self.reserve()
            || (self.blocks.open_block(die, Stream::Host).is_some() && !self.is_short(die))
    }

    /// Whether cleaning needs the room that is left on a die.
    #[inline]
    fn is_short(&self, die: DieIndex) -> bool {
        self.lacks_reserve(die) && (!self.is_cleaning(die) || self.cleaning.borrows[die.0 as usize])
    }

    /// The block that a stream writes next; opens one if it has none.
    #[inline]
    pub(crate) fn open(&mut self, die: DieIndex, stream: Stream) -> Result<BlockIndex, FtlError> {
        match self.blocks.open_block(die, stream) {
            Some(block) => Ok(block),
            None => match self.blocks.open_next(die, stream) {
                Some(block) => Ok(block),
                None if stream == Stream::Cleaning => {
                    let written = self.flash.next_sequence() - 1;
                    self.blocks.lend(die, written).ok_or(FtlError::NoFreeBlock { die: die.0 })
                }
                None => Err(FtlError::NoFreeBlock { die: die.0 }),
            },
        }
    }

    /// Closes a stream's block after its last page.
    #[inline]
    pub(crate) fn close_if_full(&mut self, die: DieIndex, stream: Stream, last_page: u32) {
        if last_page + 2 * self.layout.pages_per_unit > self.layout.geometry.pages_per_block {
            if stream == Stream::Host
                && let Some(block) = self.blocks.open_block(die, stream)
            {
                self.blocks.note_newest(block, self.flash.next_sequence() - 1);
            }
            self.blocks.close(die, stream);
        }
    }

    /// The same as [`Self::urgency`] where that takes no reckoning: a die with blocks to spare.
    #[inline]
    pub(crate) fn calm_urgency(&mut self, die: DieIndex) -> Option<Urgency> {
        if self.blocks.free_count(die) < self.calm_blocks || self.bad.is_some() {
            return None;
        }
        self.cleaning.active[die.0 as usize] = false;
        Some(if self.is_cleaning(die) { Urgency::Wanted } else { Urgency::None })
    }

    /// How much a die needs cleaning; `has_room`: the host can write there now.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn urgency(&mut self, die: DieIndex, has_room: bool) -> Urgency {
        let index = die.0 as usize;
        let free = self.blocks.free_count(die);
        if free < self.config.cleaning_start_blocks {
            self.cleaning.active[index] = true;
        } else if free >= self.config.cleaning_stop_blocks {
            self.cleaning.active[index] = false;
        }
        if !has_room {
            return Urgency::Urgent;
        }
        if sabotage::is(Sabotage::CleaningTooLate) {
            return Urgency::None;
        }
        if self.has_to_empty(die) {
            return Urgency::Wanted;
        }
        if self.cleaning.active[index] || self.cleaning.jobs[index].is_some() {
            return Urgency::Wanted;
        }
        if free < self.config.idle_cleaning_blocks { Urgency::Idle } else { Urgency::None }
    }

    /// Whether a victim is being emptied on a die.
    #[inline]
    pub(crate) fn is_cleaning(&self, die: DieIndex) -> bool {
        self.cleaning.jobs[die.0 as usize].is_some()
    }

    /// The block being emptied on a die.
    #[inline]
    pub(crate) fn victim_of(&self, die: DieIndex) -> Option<BlockIndex> {
        self.cleaning.jobs[die.0 as usize].map(|job| job.victim)
    }

    /// Valid data that the block being emptied on a die had when it was picked.
    #[inline]
    pub(crate) fn valid_at_start(&self, die: DieIndex) -> Option<u32> {
        self.cleaning.jobs[die.0 as usize].map(|job| job.valid_at_start)
    }

    /// The block being emptied on a die; picks one if there is none. `None`: no block is worth it. `pages_of`: how many
    /// pages the valid data of a block fills, of which there is so much.
    #[inline]
    pub(crate) fn victim(
        &mut self,
        die: DieIndex,
        measure: Measure,
        pages_of: impl Fn(BlockIndex, u32) -> u32,
    ) -> Option<Job> {
        let index = die.0 as usize;
        if let Some(job) = self.cleaning.jobs[index] {
            return Some(job);
        }
        if let Some(block) = self.next_to_empty(die) {
            return Some(self.begin(block, Purpose::Cleaning));
        }
        let picked = if self.lacks_reserve(die) {
            self.pick_what_fits(die, measure, pages_of)
        } else {
            self.pick_victim(die, measure)
        };
        if picked.is_none() {
            self.cleaning.active[index] = false;
        }
        let is_wedged = picked.is_none()
            && !self.has_host_block(die)
            && (self.lacks_reserve(die) || self.cleaning.wedged_dies > 0);
        if std::mem::replace(&mut self.cleaning.wedged[index], is_wedged) != is_wedged {
            let dies = &mut self.cleaning.wedged_dies;
            *dies = if is_wedged { *dies + 1 } else { *dies - 1 };
        }
        picked
    }

    /// Whether a die has neither room nor a block that could be emptied. It comes to that when power cuts, one soon after
    /// the other, have torn one page after another: the drive lives on with the other dies, whatever is valid there,
    /// until so much of this one is outdated that a block can be erased.
    #[inline]
    pub(crate) fn is_wedged(&self, die: DieIndex) -> bool {
        self.cleaning.wedged[die.0 as usize]
    }

    /// Whether no die has limits for valid data because another one is wedged.
    #[inline]
    pub(crate) fn is_in_need(&self) -> bool {
        self.cleaning.wedged_dies > 0
    }

    fn pick_victim(&mut self, die: DieIndex, measure: Measure) -> Option<Job> {
        let per_die = self.layout.geometry.blocks_per_die();
        let first = die.0 * per_die;
        let start = self.cleaning.scan_start[die.0 as usize];
        let view = View {
            valid: self.blocks.die_words(die),
            first_sequence: self.flash.first_sequences(first, per_die),
            newest_sequence: self.blocks.die_newest(die),
            next_sequence: self.flash.next_sequence(),
            units_per_block: measure.per_block,
            most_valid: (measure.per_block - measure.per_page) as u16,
            choices: self.config.choices,
            start: start as usize,
        };
        let block = victim::pick(self.config.victim_selection, &view, &mut self.random)?;
        self.cleaning.scan_start[die.0 as usize] = (block + 1) % per_die;
        Some(self.begin(BlockIndex(first + block), Purpose::Cleaning))
    }

    /// With no block in reserve: the block with the least to copy, if that fits into what is open on the die, the host's
    /// block included.
    fn pick_what_fits(
        &mut self,
        die: DieIndex,
        measure: Measure,
        pages_of: impl Fn(BlockIndex, u32) -> u32,
    ) -> Option<Job> {
        let geometry = self.layout.geometry;
        let room = |stream| {
            let open = self.blocks.open_block(die, stream);
            open.map_or(0, |block| {
                let step = self.layout.pages_per_unit;
                let (used, all) = (self.flash.write_pointer(block) / step, geometry.pages_per_block / step);
                measure.parity.data_pages(die, all) - measure.parity.data_pages(die, used)
            })
        };
        let (own, host) = (room(Stream::Cleaning), room(Stream::Host));
        let first = die.0 * geometry.blocks_per_die();
        let (needed, block) = (first..first + geometry.blocks_per_die())
            .map(BlockIndex)
            .filter(|&block| self.blocks.is_closed(block))
            .map(|block| (self.blocks.valid_count(block), block))
            .filter(|&(valid, _)| valid <= measure.per_block - measure.per_page)
            .map(|(valid, block)| (pages_of(block, valid), block))
            .min_by_key(|&(pages, block)| (pages, block.0))?;
        if needed > own + host {
            return None;
        }
        self.cleaning.borrows[die.0 as usize] = needed > own;
        Some(self.begin(block, Purpose::Cleaning))
    }

    /// A job that empties a block.
    pub(crate) fn begin(&self, victim: BlockIndex, purpose: Purpose) -> Job {
        Job { victim, cursor: 0, purpose, valid_at_start: self.blocks.valid_count(victim) }
    }

    /// Counts one page of copies, of a victim to a block. Nobody but cost-benefit asks for the age of blocks.
    #[inline]
    pub(crate) fn count_copy(&mut self, units: u64, purpose: Purpose, victim: BlockIndex, to: BlockIndex) {
        if self.config.victim_selection == VictimSelection::CostBenefit {
            // A block that failed before it was full has no age yet.
            self.blocks.note_copied(victim, to, self.flash.next_sequence() - 1);
        }
        match purpose {
            Purpose::Cleaning => {
                self.counters.programs_cleaning += 1;
                self.counters.units_cleaning += units;
            }
            Purpose::WearLevelling => {
                self.counters.programs_wear += 1;
                self.counters.units_wear += units;
            }
        }
    }

    /// Erases the emptied victim.
    pub(crate) fn erase_victim(&mut self, die: DieIndex, job: Job) -> CleaningStep {
        self.cleaning.jobs[die.0 as usize] = None;
        self.cleaning.borrows[die.0 as usize] = false;
        if self.blocks.open_block(die, Stream::Host) == Some(job.victim) {
            self.blocks.abandon(die, Stream::Host);
        }
        self.flash.erase(job.victim);
        let worn = self.flash.erase_count(job.victim);
        if self.has_erase_failed(die, job.victim) {
            self.blocks.retire(job.victim);
        } else {
            self.blocks.release(die, job.victim, worn);
        }
        match job.purpose {
            Purpose::Cleaning => self.counters.erases_cleaning += 1,
            Purpose::WearLevelling => self.counters.erases_wear += 1,
        }
        if self.config.wear_spread_limit > 0 {
            self.check_wear(die, worn);
        }
        CleaningStep::Erase { block: job.victim, purpose: job.purpose }
    }

    /// Static wear levelling: cold data holds little-worn blocks; when the spread of a die's erase counts exceeds
    /// the limit, its least worn closed block is emptied next, so that it returns to use.
    fn check_wear(&mut self, die: DieIndex, worn: u32) {
        let index = die.0 as usize;
        self.cleaning.erases_since_wear_check[index] += 1;
        let interval = self.layout.geometry.blocks_per_die() / WEAR_CHECKS_PER_ROUND;
        if self.cleaning.erases_since_wear_check[index] < interval || self.blocks.free_count(die) == 0 {
            return;
        }
        self.cleaning.erases_since_wear_check[index] = 0;
        let per_die = self.layout.geometry.blocks_per_die();
        let coldest = (die.0 * per_die..(die.0 + 1) * per_die)
            .map(BlockIndex)
            .filter(|&block| self.blocks.is_closed(block))
            .min_by_key(|&block| (self.flash.erase_count(block), block.0));
        if let Some(block) = coldest
            && worn.saturating_sub(self.flash.erase_count(block)) > self.config.wear_spread_limit
        {
            self.cleaning.jobs[index] = Some(self.begin(block, Purpose::WearLevelling));
        }
    }

    /// Programs the due page of the map journal on a die, after an erase of its block if need be.
    pub(crate) fn program_journal(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        let pages = self.layout.geometry.pages_per_block;
        let step = self.layout.pages_per_unit;
        let mut erased = None;
        if self.flash.write_pointer(self.journal.block(&self.layout, die)) + step > pages {
            self.journal.turn(die);
            let block = self.journal.block(&self.layout, die);
            if self.flash.write_pointer(block) > 0 {
                self.flash.erase(block);
                self.counters.erases_map += 1;
                erased = Some(block);
            }
        }
        let block = self.journal.block(&self.layout, die);
        let page = self.flash.write_pointer(block);
        self.flash.program_page(block, page)?;
        self.counters.programs_map += 1;
        self.journal.take();
        Ok(MetadataStep { erased, programmed: Some((block, page)), ..MetadataStep::default() })
    }

    /// Blocks become what was found in flash; what is on them follows. `Err`: flash of another geometry.
    pub(crate) fn restore(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        let medium = recovered.medium;
        let layout = self.layout;
        if medium.block_count() != layout.block_count() {
            let (found, wanted) = (medium.block_count(), layout.block_count());
            return Err(format!("flash has {found} blocks, the model {wanted}"));
        }
        let pages = |block: BlockIndex| {
            let end = medium.block(block).write_pointer;
            (0..end).filter_map(move |page| medium.page(block, page))
        };
        for block in (0..layout.block_count()).map(BlockIndex) {
            let found = medium.block(block);
            // A block of nothing but torn pages has no sequence number yet.
            let first = pages(block).next().map_or(recovered.last_sequence + 1, |page| page.sequence);
            // A torn erase is done again before anything else.
            let (pages, erases) = match found.state {
                BlockState::TornErase => (0, found.erase_count + 1),
                BlockState::Good | BlockState::Retired => (found.write_pointer, found.erase_count),
            };
            self.flash.restore_block(block, pages, erases, first);
        }
        self.flash.restore_sequence(recovered.last_sequence);
        let last = |block: BlockIndex| {
            (0..medium.block(block).write_pointer).rev().find_map(|page| medium.page(block, page))
        };
        self.blocks = Blocks::restore(&layout, &self.flash, self.reserved, |block| {
            match last(block).map(|page| page.kind) {
                Some(PageKind::Moved) => Stream::Cleaning,
                _ => Stream::Host,
            }
        });
        for block in (0..layout.block_count()).map(BlockIndex) {
            // Flash doesn't say when copied data came from the host: it counts as new as its copy.
            self.blocks.note_newest(block, last(block).map_or(0, |page| page.sequence));
        }
        self.journal.restore(&layout, |block| last(block).map_or(0, |page| page.sequence));
        Ok(())
    }

    /// Erases every block that is not erased and forgets all that was going on. Gives the most blocks erased on one
    /// die and the blocks erased in all.
    pub(crate) fn secure_erase(&mut self) -> (u32, u64) {
        let per_die = self.layout.geometry.blocks_per_die();
        let dies = self.layout.geometry.die_count();
        let mut most = 0;
        let mut all = 0;
        for die in 0..dies {
            let mut erased = 0;
            for block in die * per_die..(die + 1) * per_die {
                if self.flash.write_pointer(BlockIndex(block)) > 0 {
                    self.flash.erase(BlockIndex(block));
                    erased += 1;
                }
            }
            all += u64::from(erased);
            most = most.max(erased);
        }
        self.counters.erases_secure += all;
        self.blocks = Blocks::new(&self.layout, &self.flash, self.reserved);
        self.cleaning = CleaningState::new(dies);
        self.journal = Journal::new(&self.config, dies);
        self.random = RandomStream::new(self.config.seed, VICTIM_STREAM);
        self.die_valid.fill(0);
        self.withhold_bad_blocks();
        self.spread_scan_starts();
        (most, all)
    }

    /// Units that hold current data.
    pub(crate) fn valid_units(&self) -> u64 {
        self.die_valid.iter().map(|&count| u64::from(count)).sum()
    }

    /// Free blocks of all dies.
    pub(crate) fn free_blocks(&self) -> u64 {
        (0..self.layout.geometry.die_count())
            .map(|die| u64::from(self.blocks.free_count(DieIndex(die))))
            .sum()
    }

    /// What is put off: metadata, and cleaning that has begun.
    pub(crate) fn backlog(&self) -> Backlog {
        let cleaning = self.cleaning.jobs.iter().zip(&self.cleaning.active);
        Backlog {
            metadata_pages: u64::from(self.journal.due_pages()),
            cleaning_dies: cleaning.filter(|&(job, &active)| job.is_some() || active).count() as u64,
            ..Backlog::default()
        }
    }

    /// Erased places that host data can still take on a die without cleaning.
    pub(crate) fn room_units(&self, die: DieIndex) -> u32 {
        let open = self.blocks.open_block(die, Stream::Host).map_or(0, |block| {
            self.layout.units_per_block
                - self.flash.write_pointer(block) / self.layout.pages_per_unit * self.layout.units_per_page
        });
        open + self.blocks.free_count(die).saturating_sub(self.reserve()) * self.layout.units_per_block
    }

    /// Recounts a die's valid units (`valid`, counted by the scheme) and its free pool.
    pub(crate) fn check_die(&self, die: DieIndex, valid: u32) -> Result<(), String> {
        if valid != self.die_valid[die.0 as usize] {
            return Err(format!(
                "die {} has {valid} valid units, its count says {}",
                die.0, self.die_valid[die.0 as usize]
            ));
        }
        let per_die = self.layout.geometry.blocks_per_die();
        let erased = (die.0 * per_die..(die.0 + 1) * per_die)
            .skip(self.reserved as usize)
            .filter(|&block| {
                self.flash.write_pointer(BlockIndex(block)) == 0 && !self.is_bad(BlockIndex(block))
            })
            // Of a stream that opened it, and could not write it yet because others had failed.
            .filter(|&block| !self.blocks.is_open(die, BlockIndex(block)))
            .count();
        let free = self.blocks.free_count(die) as usize;
        if erased != free {
            return Err(format!("die {} has {erased} erased blocks, but {free} in its free pool", die.0));
        }
        Ok(())
    }
}

/// Whether cleaning can work with these thresholds.
///
/// # Errors
/// The first threshold that is out of range.
pub(crate) fn check_thresholds(
    layout: &UnitLayout,
    config: &FtlConfig,
    reserved: u32,
) -> Result<(), GeometryError> {
    if config.cleaning_mode == CleaningMode::RewriteInPlace {
        return Ok(());
    }
    let blocks = layout.geometry.blocks_per_die() - reserved;
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
