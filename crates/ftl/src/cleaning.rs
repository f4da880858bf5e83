//! Cleaning (garbage collection) and static wear levelling, one flash operation at a time.
//!
//! Each die is cleaned by itself: victim, copies and freed block are on one die, so cleaning never waits for
//! another die and a controller can interleave it with host work page by page.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use crate::blocks::Stream;
use crate::config::CleaningMode;
use crate::mapping::Mapping;
use crate::page_map::{FtlError, PageMap};
use crate::victim::{self, View};

/// Static wear levelling looks at a die once in (its blocks / this) erases of it: often enough to keep up, rarely
/// enough that looking at all blocks costs nothing per page.
const WEAR_CHECKS_PER_ROUND: u32 = 64;

/// Why a block is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To free space.
    Cleaning,
    /// To put a little-worn block back into use.
    WearLevelling,
}

/// How much a die needs cleaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Enough free blocks.
    None,
    /// Only if there is nothing better to do.
    Idle,
    /// Below the start threshold.
    Wanted,
    /// The host cannot write on this die before a block is freed.
    Urgent,
}

/// One flash operation of cleaning. The FTL's own state has already changed when a step is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleaningStep {
    /// Read the units in [`LogMapping::copied_page_bytes`] and program them as one page at `to`.
    Copy {
        /// First place of the page that was programmed.
        to: Ppn,
        /// Why.
        purpose: Purpose,
    },
    /// Read a unit into the write buffer, from where it will be written again; then
    /// [`LogMapping::release`](crate::LogMapping::release) it.
    ReadIntoBuffer {
        /// The unit.
        lpn: Lpn,
    },
    /// Erase a block.
    Erase {
        /// The block.
        block: BlockIndex,
        /// Why.
        purpose: Purpose,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    victim: BlockIndex,
    /// Next place to look at.
    cursor: Ppn,
    purpose: Purpose,
    /// Valid units that the victim had when it was picked.
    pub(crate) valid_at_start: u32,
}

/// State of cleaning on every die.
#[derive(Clone, Debug)]
pub struct CleaningState {
    pub(crate) jobs: Vec<Option<Job>>,
    /// Between the start and the stop threshold.
    pub(crate) active: Vec<bool>,
    scan_start: Vec<u32>,
    erases_since_wear_check: Vec<u32>,
    pub(crate) copied_from: Vec<Ppn>,
    lpns: Vec<Lpn>,
}

impl CleaningState {
    pub(crate) fn new(dies: u32) -> Self {
        let dies = dies as usize;
        Self {
            jobs: vec![None; dies],
            active: vec![false; dies],
            scan_start: vec![0; dies],
            erases_since_wear_check: vec![0; dies],
            copied_from: Vec::new(),
            lpns: Vec::new(),
        }
    }
}

impl PageMap {
    /// Dies begin their scans at different blocks; otherwise all would wear their first blocks most.
    pub(crate) fn spread_scan_starts(&mut self) {
        let blocks = self.layout.geometry.blocks_per_die();
        for (die, start) in self.cleaning.scan_start.iter_mut().enumerate() {
            *start = (die as u32).wrapping_mul(2_654_435_761) % blocks;
        }
    }

    /// Does the next operation of cleaning on a die and says what it was; picks a victim if none is being
    /// emptied. `None`: there is nothing to gain.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect: thresholds and capacity were checked when the drive was made.
    pub(crate) fn clean_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        let index = die.0 as usize;
        let mut job = match self.cleaning.jobs[index] {
            Some(job) => job,
            None => match self.pick_victim(die) {
                Some(job) => job,
                None => {
                    self.cleaning.active[index] = false;
                    return Ok(None);
                }
            },
        };
        let end = Ppn(self.layout.first_ppn(job.victim).0 + self.layout.units_per_block);
        if self.config.cleaning_mode == CleaningMode::RewriteInPlace {
            if let Some(from) = self.valid.next(job.cursor, end) {
                let lpn = self.lpn_at(from)?;
                job.cursor = Ppn(from.0 + 1);
                self.cleaning.jobs[index] = Some(job);
                return Ok(Some(CleaningStep::ReadIntoBuffer { lpn }));
            }
            return Ok(Some(self.erase_victim(die, job)));
        }
        self.cleaning.copied_from.clear();
        let mut lpns = std::mem::take(&mut self.cleaning.lpns);
        lpns.clear();
        while lpns.len() < self.layout.units_per_page as usize {
            let Some(from) = self.valid.next(job.cursor, end) else { break };
            lpns.push(self.lpn_at(from)?);
            self.cleaning.copied_from.push(from);
            job.cursor = Ppn(from.0 + 1);
        }
        let step = if lpns.is_empty() {
            self.erase_victim(die, job)
        } else {
            self.cleaning.jobs[index] = Some(job);
            self.prefetch_next_copy(job.cursor, end);
            let to = self.program(die, Stream::Cleaning, &lpns)?;
            self.note_copy(to, lpns.len() as u64, job.purpose);
            CleaningStep::Copy { to, purpose: job.purpose }
        };
        self.cleaning.lpns = lpns;
        Ok(Some(step))
    }

    /// Map entries of valid units lie anywhere in memory. The die's next copy comes after a step of every other die:
    /// time enough to bring in the entry that it will change, and the out-of-band words after it.
    #[inline]
    fn prefetch_next_copy(&self, cursor: Ppn, end: Ppn) {
        if let Some(next) = self.valid.next(cursor, end) {
            if let Some(lpn) = self.flash.peek(next) {
                self.prefetch(u64::from(lpn.0));
            }
            self.flash.prefetch(Ppn(next.0 + 8));
        }
    }

    fn note_copy(&mut self, to: Ppn, units: u64, purpose: Purpose) {
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
        if let Some(stamps) = &mut self.stamps {
            for (offset, &from) in self.cleaning.copied_from.iter().enumerate() {
                stamps.copy(from, Ppn(to.0 + offset as u32));
            }
        }
    }

    fn lpn_at(&self, ppn: Ppn) -> Result<Lpn, FtlError> {
        let oob = self.flash.read(ppn)?;
        debug_assert!(
            oob.lpn.is_some_and(|lpn| self.lookup(lpn) == Some(ppn)),
            "valid place without its LPN"
        );
        Ok(oob.lpn.unwrap_or(Lpn(0)))
    }

    fn pick_victim(&mut self, die: DieIndex) -> Option<Job> {
        let per_die = self.layout.geometry.blocks_per_die();
        let first = die.0 * per_die;
        let block = if self.config.cleaning_mode == CleaningMode::RewriteInPlace {
            // Open or closed, any block of the die with outdated data. Padding is not: rewriting would bring it back.
            (0..per_die).find(|&block| {
                let places = self.layout.first_ppn(BlockIndex(first + block)).0;
                (places..places + self.layout.units_per_block)
                    .map(Ppn)
                    .any(|ppn| self.flash.peek(ppn).is_some() && !self.valid.get(ppn))
            })?
        } else {
            let start = self.cleaning.scan_start[die.0 as usize];
            let view = View {
                valid: self.blocks.die_words(die),
                first_sequence: self.flash.first_sequences(first, per_die),
                next_sequence: self.flash.next_sequence(),
                units_per_block: self.layout.units_per_block,
                most_valid: (self.layout.units_per_block - self.layout.units_per_page) as u16,
                choices: self.config.choices,
                start: start as usize,
            };
            let block = victim::pick(self.config.victim_selection, &view, &mut self.random)?;
            self.cleaning.scan_start[die.0 as usize] = (block + 1) % per_die;
            block
        };
        Some(self.begin(BlockIndex(first + block), Purpose::Cleaning))
    }

    /// Empties the whole block of a rewrite-in-place drive even though nothing of it is invalid yet: newer data in
    /// the write buffer supersedes it. `false` if the block is erased already.
    pub(crate) fn force_rewrite(&mut self, die: DieIndex) -> bool {
        let block = BlockIndex(die.0 * self.layout.geometry.blocks_per_die());
        if self.flash.write_pointer(block) == 0 {
            return false;
        }
        if self.cleaning.jobs[die.0 as usize].is_none() {
            let job = self.begin(block, Purpose::Cleaning);
            self.cleaning.jobs[die.0 as usize] = Some(job);
        }
        true
    }

    fn begin(&self, victim: BlockIndex, purpose: Purpose) -> Job {
        Job {
            victim,
            cursor: self.layout.first_ppn(victim),
            purpose,
            valid_at_start: self.blocks.valid_count(victim),
        }
    }

    fn erase_victim(&mut self, die: DieIndex, job: Job) -> CleaningStep {
        self.cleaning.jobs[die.0 as usize] = None;
        if self.blocks.open_block(die, Stream::Host) == Some(job.victim) {
            self.blocks.abandon(die, Stream::Host);
        }
        self.flash.erase(job.victim);
        let worn = self.flash.erase_count(job.victim);
        self.blocks.release(die, job.victim, worn);
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
}
