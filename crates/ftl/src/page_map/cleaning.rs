//! Cleaning (garbage collection) and static wear levelling of a page map, one flash operation at a time.
//!
//! Each die is cleaned by itself: victim, copies and freed block are on one die, so cleaning never waits for
//! another die and a controller can interleave it with host work page by page.

use drivelab_nand::{BlockIndex, CellMode, DieIndex, Lpn, Ppn};

use super::map::PageMap;
use super::memory::MapMemory;
use crate::error::FtlError;
use crate::log::{CleaningMode, CleaningStep, Job, Measure, Parity, Purpose};
use crate::mapping::{KeptWords, Mapping};
use crate::placement::Stream;

impl<H: MapMemory> PageMap<H> {
    /// Does the next operation of cleaning on a die and says what it was; picks a victim if none is being
    /// emptied. `None`: there is nothing to gain.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect: thresholds and capacity were checked when the drive was made.
    pub(crate) fn clean_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        if !self.logs.is_plain {
            if self.logs.config.cleaning_mode == CleaningMode::RewriteInPlace {
                return self.rewrite_step(die);
            }
            if let Some(step) = self.logs.program_parity(die)? {
                return Ok(Some(step));
            }
        }
        let measure = Measure {
            per_block: self.logs.data_units[die.0 as usize],
            per_page: self.logs.least_gain,
            parity: Parity::striped(self.logs.config.parity_stripe_pages),
        };
        let units = self.logs.layout.units_per_page;
        // No padding: it ends with the block that the copies end in, as there the last word line is programmed whole.
        let pages_of = |_, valid: u32| valid.div_ceil(units);
        let is_new = !self.logs.is_cleaning(die);
        let Some(mut job) = self.logs.victim(die, measure, pages_of) else { return Ok(None) };
        let first = self.logs.layout.first_ppn(job.victim).0;
        let end = Ppn(first + self.logs.layout.units_per_block);
        let mut cursor = Ppn(first + job.cursor);
        // One that was picked just now fits; one that has failed must be emptied whatever comes.
        let lacks_room = !is_new && self.logs.lacks_copy_room(die) && !self.logs.is_bad(job.victim);
        if lacks_room && self.valid.next(cursor, end).is_some() {
            self.logs.end_job(die);
            return self.clean_step(die);
        }
        self.copied_from.clear();
        self.copied.clear();
        let most = match self.logs.slc {
            Some(_) => {
                let is_any = self.valid.next(cursor, end).is_some();
                if is_any && self.logs.bad.is_some() {
                    // The page that is ready says how much it takes.
                    self.logs.cleaning.jobs[die.0 as usize] = Some(job);
                    self.logs.ready_page(die, self.logs.copy_stream(job.purpose), false)?;
                }
                self.logs.copied_units(die, job.purpose, is_any)?
            }
            None => self.logs.layout.units_per_page,
        };
        while self.copied.len() < most as usize {
            let Some(from) = self.valid.next(cursor, end) else { break };
            let lpn = self.lpn_at(job.victim, from)?;
            self.copied.push(lpn);
            self.copied_from.push(from);
            cursor = Ppn(from.0 + 1);
        }
        if self.logs.bad.is_some() && !self.copied.is_empty() {
            self.logs.cleaning.jobs[die.0 as usize] = Some(job);
            let stream = self.copy_stream(job);
            self.logs.ready_page(die, stream, false)?;
        }
        job.cursor = cursor.0 - first;
        if !self.copied.is_empty() {
            self.logs.cleaning.jobs[die.0 as usize] = Some(job);
            self.prefetch_next_copy(cursor, end);
            let to = self.place_copies(die, job)?;
            self.note_copy(to, job);
            return Ok(Some(CleaningStep::Copy { to, purpose: job.purpose }));
        }
        if self.logs.is_bad(job.victim) {
            self.logs.end_job(die);
            return self.clean_step(die);
        }
        if let Some(next) = self.logs.next_in_superblock(job) {
            self.logs.cleaning.jobs[die.0 as usize] = Some(next);
            return self.clean_step(die);
        }
        if self.logs.config.held_word_lines > 0 && self.logs.has_unread_copies(die, job.purpose) {
            // Its only source until then is the victim.
            self.logs.cleaning.jobs[die.0 as usize] = Some(job);
            return self.logs.pad_copies(die, job.purpose).map(Some);
        }
        self.placement.emptied(job.victim);
        Ok(Some(self.logs.erase_victim(die, job)))
    }

    /// Programs a page with the units that are being copied, all from one block of the die: what the books lose on the
    /// one side they gain on the other.
    #[allow(clippy::inline_always, reason = "hot, and of a constant stream in all places but one")]
    #[inline(always)]
    pub(super) fn program_copies(
        &mut self,
        die: DieIndex,
        stream: Stream,
        victim: BlockIndex,
    ) -> Result<Ppn, FtlError> {
        let units = self.copied.len() as u32;
        let (to, page) = self.logs.program(die, stream, false, &self.copied)?;
        for ((&lpn, &from), place) in self.copied.iter().zip(&self.copied_from).zip(to.0..) {
            self.map[lpn.0 as usize] = place + 1;
            self.memory.change(lpn, false);
            self.valid.clear(from);
            self.valid.set(Ppn(place));
        }
        self.logs.blocks.remove_valid(victim, units);
        debug_assert!(
            self.logs.flash.mode_at(to) == CellMode::Native || self.keeps_stamps() || self.logs.bad.is_some(),
            "copies to SLC, of a drive that neither cuts nor failures have taken room from"
        );
        self.logs.end_program(die, stream, page, units);
        Ok(to)
    }

    fn rewrite_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        let index = die.0 as usize;
        let mut job = match self.logs.cleaning.jobs[index] {
            Some(job) => job,
            None => match self.outdated_block(die) {
                Some(block) => self.logs.begin(block, Purpose::Cleaning),
                None => return Ok(None),
            },
        };
        let first = self.logs.layout.first_ppn(job.victim).0;
        let end = Ppn(first + self.logs.layout.units_per_block);
        if let Some(from) = self.valid.next(Ppn(first + job.cursor), end) {
            let lpn = self.lpn_at(job.victim, from)?;
            job.cursor = from.0 + 1 - first;
            self.logs.cleaning.jobs[index] = Some(job);
            return Ok(Some(CleaningStep::ReadIntoBuffer { lpn }));
        }
        Ok(Some(self.logs.erase_victim(die, job)))
    }

    /// Map entries of valid units lie anywhere in memory. The die's next copy comes after a step of every other die:
    /// time enough to bring in the entry that it will change, and the out-of-band words after it.
    #[inline]
    fn prefetch_next_copy(&self, cursor: Ppn, end: Ppn) {
        if let Some(next) = self.valid.next(cursor, end) {
            if let Some(lpn) = self.logs.flash.peek(next) {
                self.prefetch(u64::from(lpn.0));
            }
            self.logs.flash.prefetch(Ppn(next.0 + 8));
        }
    }

    #[inline]
    fn note_copy(&mut self, to: Ppn, job: Job) {
        let block = self.logs.layout.block_of(to);
        self.logs.count_copy(self.copied.len() as u64, job.purpose, job.victim, block);
        if let Some(stamps) = &mut self.stamps {
            for (offset, &from) in self.copied_from.iter().enumerate() {
                stamps.copy(from, Ppn(to.0 + offset as u32));
            }
        }
    }

    #[inline]
    fn lpn_at(&self, block: BlockIndex, ppn: Ppn) -> Result<Lpn, FtlError> {
        let lpn = self.logs.flash.read_in(block, ppn)?;
        debug_assert!(lpn.is_some_and(|lpn| self.lookup(lpn) == Some(ppn)), "valid place without its LPN");
        Ok(lpn.unwrap_or(Lpn(0)))
    }

    /// Rewrite-in-place: open or closed, any block of the die with outdated data. Padding is not: rewriting would
    /// bring it back.
    fn outdated_block(&self, die: DieIndex) -> Option<BlockIndex> {
        let per_die = self.logs.layout.geometry.blocks_per_die();
        (die.0 * per_die..(die.0 + 1) * per_die).map(BlockIndex).find(|&block| {
            let places = self.logs.layout.first_ppn(block).0;
            (places..places + self.logs.layout.units_per_block)
                .map(Ppn)
                .any(|ppn| self.logs.flash.peek(ppn).is_some() && !self.valid.get(ppn))
        })
    }

    /// Empties the whole block of a rewrite-in-place drive even though nothing of it is invalid yet: newer data in
    /// the write buffer supersedes it. `false` if the block is erased already.
    pub(crate) fn force_rewrite(&mut self, die: DieIndex) -> bool {
        let block = BlockIndex(die.0 * self.logs.layout.geometry.blocks_per_die());
        if self.logs.flash.write_pointer(block) == 0 {
            return false;
        }
        if self.logs.cleaning.jobs[die.0 as usize].is_none() {
            let job = self.logs.begin(block, Purpose::Cleaning);
            self.logs.cleaning.jobs[die.0 as usize] = Some(job);
        }
        true
    }
}
