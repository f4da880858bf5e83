//! Cleaning of one die: how much it is needed, which block is emptied, what becomes of it; and static wear levelling.
//!
//! Valid data is counted in a measure of the scheme: map units, or granules of compressed data.

use drivelab_nand::{BlockIndex, CellMode, DieIndex};
use drivelab_sim::sabotage::{self, Sabotage};

use super::config::{CleaningMode, RESERVE_BLOCKS};
use super::die_logs::DieLogs;
use super::jobs::Job;
use super::parity::Parity;
use super::steps::{CleaningStep, Purpose, Urgency};
use crate::placement::Stream;

/// Static wear levelling looks at a die once in (its blocks / this) erases of it: often enough to keep up, rarely
/// enough that looking at all blocks costs nothing per page.
const WEAR_CHECKS_PER_ROUND: u32 = 64;

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

impl DieLogs {
    /// Whether a die has not even the block that cleaning needs. It comes to that only when power cuts have torn pages
    /// in it, or blocks have failed.
    #[inline]
    fn lacks_reserve(&self, die: DieIndex) -> bool {
        self.blocks.free_count(die) < RESERVE_BLOCKS && self.config.cleaning_mode == CleaningMode::Relocate
    }

    /// Whether cleaning needs the room that is left on a die.
    #[allow(clippy::inline_always, reason = "a part of a function that is inlined itself")]
    #[inline(always)]
    pub(super) fn is_short(&self, die: DieIndex) -> bool {
        self.lacks_reserve(die) && (!self.is_cleaning(die) || self.cleaning.borrows[die.0 as usize])
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
        if free < self.thresholds.start {
            self.cleaning.active[index] = true;
        } else if free >= self.thresholds.stop {
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
        if free < self.thresholds.idle { Urgency::Idle } else { Urgency::None }
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
        } else if self.slc.is_some() {
            self.cached_victim(die, measure)
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

    pub(super) fn pick_victim(&mut self, die: DieIndex, measure: Measure) -> Option<Job> {
        let per_die = self.layout.geometry.blocks_per_die();
        let start = self.cleaning.scan_start[die.0 as usize];
        let most_valid = measure.per_block - measure.per_page;
        let block = self.blocks.pick_victim(die, &self.flash, (measure.per_block, most_valid), start)?;
        self.cleaning.scan_start[die.0 as usize] = (block.0 - die.0 * per_die + 1) % per_die;
        Some(self.begin(block, Purpose::Cleaning))
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
        let all = geometry.pages_per_block / self.layout.pages_per_unit;
        let room_in = |open: Option<BlockIndex>| {
            open.map_or(0, |block| {
                let used = self.flash.write_pointer(block) / self.layout.pages_per_unit;
                let left = measure.parity.data_pages(die, all) - measure.parity.data_pages(die, used);
                // In native pages.
                left * self.flash.page_units(self.flash.mode(block)) / self.layout.units_per_page
            })
        };
        let room = |stream| {
            room_in(self.blocks.open_block(die, stream))
                + self.blocks.waiting_blocks(die, stream) * measure.parity.data_pages(die, all)
        };
        // Fewer free blocks than a superblock has can be opened for copies.
        let free = self.blocks.free_blocks(die) * measure.parity.data_pages(die, all);
        let own: u32 = free + self.streams.moved().map(room).sum::<u32>();
        let parked = self.slc.as_ref().and_then(|_| self.blocks.parked(die));
        let host = self.streams.host().map(room).sum::<u32>() + room_in(parked);
        let first = die.0 * geometry.blocks_per_die();
        let (needed, block) = (first..first + geometry.blocks_per_die())
            .map(BlockIndex)
            .filter(|&block| self.blocks.is_closed(block) && self.blocks.is_head(block))
            .filter_map(|block| {
                let others = self.blocks.others_of_superblock(block);
                let mut gained = false;
                let pages = std::iter::once(block).chain(others).map(|member| {
                    let valid = self.blocks.valid_count(member);
                    gained |= valid <= measure.per_block - measure.per_page;
                    pages_of(member, valid)
                });
                let pages = pages.sum::<u32>();
                gained.then_some((pages, block))
            })
            .min_by_key(|&(pages, block)| (pages, block.0))?;
        if needed > own + host {
            return None;
        }
        self.cleaning.borrows[die.0 as usize] = needed > own;
        Some(self.begin(block, Purpose::Cleaning))
    }

    /// Whether a die has no page left to copy to, neither in a free block nor in any that is open. Room is reckoned
    /// when a victim is picked; padding that is programmed before that is empty, each time the drive goes to rest,
    /// takes of it.
    #[inline]
    pub(crate) fn lacks_copy_room(&self, die: DieIndex) -> bool {
        self.lacks_reserve(die) && self.blocks.free_blocks(die) == 0 && !self.blocks.has_open(die)
    }

    /// The block that a die empties is left as it is, and may be picked again. Nothing is lost: what was copied is
    /// outdated there, and the rest is valid as before.
    #[inline]
    pub(crate) fn end_job(&mut self, die: DieIndex) {
        self.cleaning.jobs[die.0 as usize] = None;
        self.cleaning.borrows[die.0 as usize] = false;
    }

    /// A job that empties a block.
    pub(crate) fn begin(&self, victim: BlockIndex, purpose: Purpose) -> Job {
        let purpose = match self.flash.mode(victim) {
            CellMode::Native => purpose,
            CellMode::Slc => Purpose::Folding,
        };
        Job { victim, cursor: 0, purpose, valid_at_start: self.blocks.valid_of_superblock(victim) }
    }

    /// What follows in the superblock of a block that holds nothing valid any more, before any of them is erased.
    #[inline]
    pub(crate) fn next_in_superblock(&self, job: Job) -> Option<Job> {
        let mut others = self.blocks.others_of_superblock(job.victim);
        let victim = others.find(|&other| self.blocks.valid_count(other) > 0)?;
        Some(Job { victim, cursor: 0, ..job })
    }

    /// Counts one page of copies, of a victim to a block.
    #[inline]
    pub(crate) fn count_copy(&mut self, units: u64, purpose: Purpose, victim: BlockIndex, to: BlockIndex) {
        // A block that failed before it was full has no age yet.
        self.blocks.note_copied(victim, to, self.flash.next_sequence() - 1);
        match purpose {
            Purpose::Cleaning => {
                self.counters.programs_cleaning += 1;
                self.counters.units_cleaning += units;
            }
            Purpose::WearLevelling => {
                self.counters.programs_wear += 1;
                self.counters.units_wear += units;
            }
            Purpose::Folding => {
                self.counters.programs_folding += 1;
                self.counters.units_folding += units;
            }
        }
    }

    /// Erases the emptied victim.
    pub(crate) fn erase_victim(&mut self, die: DieIndex, job: Job) -> CleaningStep {
        self.end_job(die);
        if self.blocks.open_block(die, Stream::HOST) == Some(job.victim) {
            self.blocks.abandon(die, Stream::HOST);
        }
        let left = self.blocks.others_of_superblock(job.victim).next();
        self.flash.erase(job.victim);
        let worn = self.flash.erase_count(job.victim);
        let is_static = self.slc.is_some() && self.is_static(job.victim);
        if self.has_erase_failed(die, job.victim) {
            self.blocks.retire(die, job.victim);
        } else if is_static {
            self.release_static(die, job.victim, worn);
        } else {
            self.blocks.release(die, job.victim, worn);
        }
        match job.purpose {
            Purpose::Cleaning => self.counters.erases_cleaning += 1,
            Purpose::WearLevelling => self.counters.erases_wear += 1,
            Purpose::Folding => self.counters.erases_folding += 1,
        }
        if self.slc.is_some() {
            self.note_folded(die, job);
            self.next_dead(die);
        }
        if let Some(victim) = left {
            // All blocks of a superblock are erased, one operation each, before anything else is cleaned.
            self.cleaning.jobs[die.0 as usize] = Some(Job { victim, cursor: 0, ..job });
            return CleaningStep::Erase { block: job.victim, purpose: job.purpose };
        }
        // A static block of the cache is never exchanged for others: how worn it is says nothing of them.
        if self.config.wear_spread_limit > 0 && !is_static {
            self.check_wear(die, worn);
        }
        // Before another die is given the turn.
        if job.purpose == Purpose::Folding
            && !self.is_cleaning(die)
            && let Some(block) = self.block_to_fold_on(die)
        {
            self.cleaning.jobs[die.0 as usize] = Some(self.begin(block, Purpose::Folding));
        }
        CleaningStep::Erase { block: job.victim, purpose: job.purpose }
    }

    /// What a die that has folded a block goes on with, while others wait for their turn: until the host has room on it. A
    /// block for copies takes what two or three of the cache give free, on all dies at the same time: were turns a block
    /// each, the host would have room nowhere for a whole round.
    fn block_to_fold_on(&self, die: DieIndex) -> Option<BlockIndex> {
        let is_limited = self.slc.as_ref().is_some_and(|cache| cache.config.fold_dies > 0);
        if !is_limited || self.has_cached_block(die) {
            return None;
        }
        let folded = self.block_to_fold(die)?;
        // One with less to copy, as a native block may be, makes room without a turn.
        let per_die = self.layout.geometry.blocks_per_die();
        let valid = self.blocks.valid_count(folded);
        (die.0 * per_die..(die.0 + 1) * per_die)
            .map(BlockIndex)
            .all(|block| !self.blocks.is_closed(block) || self.blocks.valid_count(block) >= valid)
            .then_some(folded)
    }

    /// Static wear levelling: cold data holds little-worn blocks; when the spread of a die's erase counts exceeds
    /// the limit, its least worn closed block is emptied next, so that it returns to use.
    fn check_wear(&mut self, die: DieIndex, worn: u32) {
        let index = die.0 as usize;
        self.cleaning.erases_since_wear_check[index] += 1;
        let interval = self.layout.geometry.blocks_per_die() / WEAR_CHECKS_PER_ROUND;
        // Copies of a whole block fit into one that is free, and padding behind them.
        let needed = 1 + u32::from(self.config.held_word_lines > 0);
        if self.cleaning.erases_since_wear_check[index] < interval || self.blocks.free_count(die) < needed {
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
}
