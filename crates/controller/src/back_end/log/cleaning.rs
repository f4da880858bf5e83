//! Cleaning of a die: when, how much at once, and what each step takes.

use drivelab_ftl::{CleaningStep, FtlError, LogMapping, Purpose, Urgency};
use drivelab_nand::op::PageKind;
use drivelab_nand::{BlockIndex, DieIndex};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;

use super::LogJobs;
use crate::config::CleaningPace;
use crate::drive::{Scheduled, SolidStateDrive};
use crate::flash::Sensing;

/// Parts of a copy that level cleaning counts in.
const PARTS: u32 = 1 << 16;

/// Level cleaning makes one copy in so many pages more than it owes (assumed): pages that are not full, and what is kept beside
/// data of the host, take erased blocks, too.
const LEVEL_MARGIN: u32 = 16;

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// Starts a step of cleaning if this die needs one now. `true`: the die is taken (or waits for a token).
    #[inline]
    pub(super) fn try_cleaning(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        let clean = match self.mapping.cleaning_urgency(index) {
            Urgency::None => false,
            Urgency::Urgent => true,
            // Erases that need no copies, of which there may be hundreds behind a trim, let a page of the host pass each.
            Urgency::Wanted if self.jobs.dies[die as usize].has_just_erased && self.buffer.queued() > 0 => {
                false
            }
            Urgency::Wanted => {
                self.config.scheduling.cleaning_pace == CleaningPace::Block
                    || self.jobs.dies[die as usize].owed_copies > 0
                    || !self.mapping.is_cleaning(index)
                    || match self.config.scheduling.cleaning_pace {
                        CleaningPace::Yielding => self.is_idle(),
                        _ => self.buffer.queued() == 0,
                    }
                    || self.jobs.has_slc_cache && self.mapping.cleans_at_once(index)
            }
            Urgency::Idle => {
                self.idle_cleaning_wanted() || self.mapping.begin_rewrite(index, self.buffer.queued())
            }
        };
        if !clean {
            return false;
        }
        if self.jobs.has_passes && self.try_padding(die, now) {
            return true;
        }
        if !self.take_token(die) {
            return true;
        }
        let may_only_erase = self.jobs.has_slc_cache && !self.mapping.is_cleaning(index);
        match self.mapping.next_cleaning_step(index) {
            Ok(Some(step)) => {
                self.jobs.has_cleaned = true;
                self.jobs.dies[die as usize].has_just_erased =
                    may_only_erase && matches!(step, CleaningStep::Erase { .. });
                let end = self.time_cleaning_steps(die, step, now);
                if self.durable.as_ref().is_some_and(|durable| durable.kept_block(die).is_some()) {
                    self.return_token(die);
                    self.call_held_back(now);
                } else if self.jobs.dies[die as usize].late_erase.is_some() {
                    self.jobs.dies[die as usize].has_job = true;
                    self.begin_later(end, die);
                } else {
                    self.start_job(die, end);
                }
                self.call_map_readers(now);
                if self.jobs.has_slc_cache {
                    self.call_waiting_dies(now);
                }
                true
            }
            Ok(None) if self.is_stuck() => self.cannot_clean(die, FtlError::NoFreeBlock { die }, now),
            Ok(None) => {
                self.return_token(die);
                if self.jobs.has_slc_cache {
                    self.call_waiting_dies(now);
                }
                false
            }
            Err(error) => self.cannot_clean(die, error, now),
        }
    }

    /// Dies that waited until others had folded go on, as many as may.
    #[cold]
    #[inline(never)]
    fn call_waiting_dies(&mut self, now: Nanos) {
        while let Some(die) = self.mapping.take_waiting_die() {
            self.pick_job(die.0, now);
        }
        // What was erased may have changed how large the next page of any die is.
        self.drain_due |= self.buffer.queued() > 0;
    }

    /// Whether no die has room or can make any.
    fn is_stuck(&self) -> bool {
        (0..self.layout.geometry.die_count()).all(|die| self.mapping.is_wedged(DieIndex(die)))
    }

    /// A step of cleaning, and as many copies after it as firmware asks a die for at once; when all are done.
    #[inline]
    fn time_cleaning_steps(&mut self, die: u32, first: CleaningStep, now: Nanos) -> Nanos {
        let index = DieIndex(die);
        let mut end = self.time_cleaning_step(die, first, now);
        let mut is_copy = matches!(first, CleaningStep::Copy { .. });
        let mut more = self.config.scheduling.cleaning_copies_at_once.saturating_sub(1);
        if self.buffer.queued() > 0 {
            // A write that waits gets the copies that are owed for it, and no more.
            more = more.min(self.jobs.dies[die as usize].owed_copies);
        }
        while more > 0 && is_copy {
            match self.mapping.next_cleaning_step(index) {
                Ok(Some(step)) => {
                    is_copy = matches!(step, CleaningStep::Copy { .. });
                    let step_end = self.time_cleaning_step(die, step, now);
                    end = if is_copy { end.max(step_end) } else { step_end };
                }
                Ok(None) => break,
                Err(error) => {
                    end = self.cannot_copy_more(die, error, now).unwrap_or(end);
                    break;
                }
            }
            more -= 1;
        }
        end
    }

    fn time_cleaning_step(&mut self, die: u32, step: CleaningStep, now: Nanos) -> Nanos {
        let index = DieIndex(die);
        if self.faults.is_some() {
            self.spend_failed_programs(die, now, true);
        }
        if !matches!(step, CleaningStep::Parity { .. }) {
            let owed = &mut self.jobs.dies[die as usize].owed_copies;
            *owed = owed.saturating_sub(u32::from(!sabotage::is(Sabotage::CopiesStayOwed)));
        }
        match step {
            CleaningStep::Copy { to, purpose } if self.flash.has_word_lines() => {
                self.begin_copy(index, to, purpose, now)
            }
            CleaningStep::Copy { to, purpose } => {
                let mut ready = now;
                let mut cursor = 0;
                while let Some(bytes) = self.mapping.copied_page_bytes(&mut cursor) {
                    match purpose {
                        Purpose::Cleaning => self.meters.read_bytes_cleaning += u64::from(bytes),
                        Purpose::WearLevelling => self.meters.read_bytes_wear += u64::from(bytes),
                        Purpose::Folding => self.meters.read_bytes_folding += u64::from(bytes),
                    }
                    let pages = u64::from(self.layout.pages_per_unit);
                    let sensing =
                        Sensing { die: index, pages, bytes: u64::from(bytes), mask: 0, is_cleaning: true };
                    ready = self.flash.sense(sensing, now);
                }
                if self.faults.is_some() {
                    ready = self.copy_with_faults(to, ready, now);
                    self.note_age(to, now);
                }
                if let Some(durable) = &mut self.durable {
                    durable.program(index, &self.mapping, to, PageKind::Moved, (now, now));
                }
                let end = self.flash.program(index, self.layout.page_of(to), ready, now, true);
                // The copy is made when the map says so.
                if M::LOADS_MAP_ON_DEMAND { end.max(self.load_map(true, now).ready_ns) } else { end }
            }
            CleaningStep::ReadIntoBuffer { lpn } => {
                let bytes = u64::from(self.layout.unit_bytes);
                self.meters.read_bytes_cleaning += bytes;
                let pages = u64::from(self.layout.pages_per_unit);
                let ready =
                    self.flash.sense(Sensing { die: index, pages, bytes, mask: 0, is_cleaning: true }, now);
                if self.buffer.find(lpn).is_none() {
                    let id = self.buffer.insert_from_flash(lpn, now, ready);
                    for &flush in &self.flushes {
                        self.slots[flush as usize].pending += 1;
                    }
                    if let (Some(stamps), Some(kept)) =
                        (self.buffer.stamps_mut(id), self.mapping.stamps_of(lpn))
                    {
                        stamps.copy_from_slice(kept);
                    }
                }
                self.mapping.release(lpn);
                ready
            }
            CleaningStep::Parity { at } => {
                if let Some(durable) = &mut self.durable {
                    durable.program(index, &self.mapping, at, PageKind::Metadata, (now, now));
                }
                self.flash.program(index, self.layout.page_of(at), now, now, false)
            }
            CleaningStep::Erase { block, .. } if self.jobs.has_passes && self.keeps_block(die, block) => now,
            CleaningStep::Erase { block, .. } => self.time_erase(die, block, now),
        }
    }

    /// A block is erased; when that is done, or when it may begin, if that is later than now.
    #[inline]
    pub(super) fn time_erase(&mut self, die: u32, block: BlockIndex, now: Nanos) -> Nanos {
        let index = DieIndex(die);
        let from = self.erase_from(index, block, now);
        if let Some(durable) = &mut self.durable {
            durable.erase(index, block, from, now);
        }
        if self.faults.is_some() {
            self.note_failed_erase(index);
        }
        if from > now {
            self.jobs.dies[die as usize].late_erase = Some(block);
            return from;
        }
        self.flash.erase_in(self.mapping.flash().mode(block), index, now, true)
    }

    #[inline]
    pub(super) fn idle_cleaning_wanted(&self) -> bool {
        self.is_idle() && self.idle_alarm_ns == NEVER
    }

    /// Whether some die has begun to clean and has not cleaned enough.
    pub(crate) fn has_cleaning_left(&mut self) -> bool {
        let dies = self.layout.geometry.die_count();
        let mapping = &mut self.mapping;
        self.jobs.has_cleaned = self.jobs.has_cleaned
            && (0..dies).any(|die| mapping.cleaning_urgency(DieIndex(die)) >= Urgency::Wanted);
        self.jobs.has_cleaned
    }

    /// Idle-time cleaning begins.
    pub(crate) fn clean_idle_dies(&mut self, now: Nanos) {
        if self.is_idle() {
            self.mapping.rest();
            for die in 0..self.layout.geometry.die_count() {
                self.pick_job(die, now);
            }
            if self.jobs.has_passes {
                self.pad_word_lines(now);
            }
        }
    }

    /// Level cleaning: v copies go with n - v pages, and the margin, so that the host never has much more than what is
    /// left to it, and never less.
    #[inline(never)]
    fn owe_parts(&mut self, die: DieIndex, (valid, units): (u32, u32)) {
        let job = &mut self.jobs.dies[die.0 as usize];
        let parts = u64::from(valid) * u64::from(PARTS) / u64::from((units - valid).max(1));
        let parts = parts + u64::from(job.owed_parts) + u64::from(PARTS / LEVEL_MARGIN);
        job.owed_copies += (parts / u64::from(PARTS)) as u32;
        job.owed_parts = (parts % u64::from(PARTS)) as u32;
    }

    /// Paced cleaning: a block with v valid units of n frees n - v; so many copies go with each host page.
    #[inline]
    pub(super) fn owe_copies(&mut self, die: DieIndex) {
        if let Some((valid, units)) = self.mapping.cleaning_debt(die) {
            if self.config.scheduling.cleaning_pace == CleaningPace::Level {
                return self.owe_parts(die, (valid, units));
            }
            self.jobs.dies[die.0 as usize].owed_copies += valid.div_ceil((units - valid).max(1)) + 1;
        }
    }
}
