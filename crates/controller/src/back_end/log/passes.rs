//! Word lines that are programmed in two passes: what the host waits for gets its fine pass, behind padding if nothing else
//! is to be programmed there.

use drivelab_ftl::LogMapping;
use drivelab_nand::op::PageKind;
use drivelab_nand::{BlockIndex, CellMode, DieIndex};
use drivelab_sim::Nanos;

use super::LogJobs;
use crate::buffer::NONE;
use crate::config::CleaningPace;
use crate::drive::{Scheduled, SolidStateDrive};

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// The next fine pass of the job of a die; when it is done. `None`: the job is, and so is what has had its own.
    #[cold]
    #[inline(never)]
    pub(super) fn next_pass(&mut self, die: DieIndex, now: Nanos) -> Option<Nanos> {
        let end = self.flash.program_second(die, now);
        if end.is_none() {
            self.settle_word_lines(die, now);
        }
        end
    }

    /// A die has done all of its job. What it programmed stays in the write buffer until its fine pass; what has had that
    /// now is done.
    fn settle_word_lines(&mut self, die: DieIndex, now: Nanos) {
        let first = die.0 as usize * self.jobs.entries_per_die;
        let job = &mut self.jobs.dies[die.0 as usize];
        let entries = &mut self.jobs.entries[first..first + self.jobs.entries_per_die];
        let count = job.entry_count;
        for &id in &entries[..count as usize] {
            self.buffer.mark_whole(id);
        }
        self.buffer.hold(&entries[..count as usize]);
        let done = self.flash.settle_lines(die, entries, count as usize) as u32;
        self.buffer.let_go(&entries[..done as usize]);
        job.entry_count = done;
        if done == 0 && count > 0 {
            // All that the buffer has may be between its passes.
            self.note_idle(now);
        }
    }

    /// Whether writes wait for space, and all that could become free is between its passes.
    fn is_stalled(&self) -> bool {
        !self.admission.is_empty() && self.jobs.dies.iter().all(|job| !job.has_job && !job.waits)
    }

    /// Whether anybody may wait for a word line between its passes: mostly nobody does, and none is looked at.
    fn waits_for_passes(&self) -> bool {
        !self.flushes.is_empty()
            || self.buffer.held().1 > 0
            || self.is_stalled()
            || self.durable.as_ref().is_some_and(|durable| durable.is_halted || durable.keeps_blocks())
            || self.idle_cleaning_wanted()
    }

    /// The block on a die of whose word lines between their passes one is waited for by the host, or any of the host's in a
    /// pause: what it wrote doesn't stay in the buffer for longer.
    fn awaited_block(&self, die: DieIndex) -> Option<BlockIndex> {
        if let Some(block) = self.durable.as_ref().and_then(|durable| durable.awaited_coarse(die)) {
            return Some(block);
        }
        if self.is_stalled() || self.idle_cleaning_wanted() {
            return self.flash.awaited_line(die, |_| true);
        }
        let flushed =
            self.flushes.iter().map(|&slot| self.slots[slot as usize].flush_order).max().unwrap_or(0);
        self.flash.awaited_line(die, |id| {
            let entry = self.buffer.entry(id);
            entry.waiter != NONE || entry.order < flushed
        })
    }

    /// Dies that have nothing else to do program padding behind word lines that the host waits for.
    #[cold]
    #[inline(never)]
    pub(super) fn pad_word_lines(&mut self, now: Nanos) {
        if !self.waits_for_passes() {
            return;
        }
        for die in 0..self.layout.geometry.die_count() {
            let job = &self.jobs.dies[die as usize];
            if !job.has_job && !job.waits {
                self.try_padding(die, now);
            }
        }
    }

    /// Programs padding on a die behind a word line that the host waits for, if there is one. `true`: the die is taken.
    #[cold]
    #[inline(never)]
    pub(super) fn try_padding(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        if !self.waits_for_passes() {
            return false;
        }
        let Some(block) = self.awaited_block(index) else { return false };
        if !self.take_token(die) {
            return true;
        }
        let place = match self.mapping.pad(index, block) {
            Ok(place) => place,
            Err(error) => unreachable!("padding on die {die}: {error}"),
        };
        let job = &mut self.jobs.dies[die as usize];
        (job.entry_count, job.place, job.mode) = (0, place, CellMode::Native);
        if self.config.scheduling.cleaning_pace != CleaningPace::Block {
            self.owe_copies(index);
        }
        if let Some(durable) = &mut self.durable {
            durable.program_coarse(index, &self.mapping, place, PageKind::Metadata, false);
        }
        if self.faults.is_some() {
            self.note_age(place, now);
        }
        self.begin_page(die, now);
        true
    }

    /// In durable mode: whether a die is given no work of another kind now, as the drive goes to rest, as it programs
    /// padding that others wait for, or as an erase that its books have waits for word lines between their passes.
    #[inline]
    pub(super) fn is_held_back(&mut self, die: u32, now: Nanos) -> bool {
        match &self.durable {
            None => false,
            Some(durable) if !durable.has_passes => durable.is_halted,
            Some(_) => self.is_held_back_by_passes(die, now),
        }
    }

    #[cold]
    #[inline(never)]
    fn is_held_back_by_passes(&mut self, die: u32, now: Nanos) -> bool {
        let Some(durable) = &self.durable else { return false };
        let wants_padding = durable.is_halted || durable.keeps_blocks();
        if wants_padding && self.try_padding(die, now) {
            return true;
        }
        let Some(durable) = &self.durable else { return false };
        let Some(block) = durable.kept_block(die) else { return durable.is_halted };
        if !durable.is_needed(block) && self.take_token(die) {
            self.erase_kept(die, block, now);
        }
        true
    }

    /// The erase of a block begins that has waited for word lines between their passes.
    fn erase_kept(&mut self, die: u32, block: BlockIndex, now: Nanos) {
        if let Some(durable) = &mut self.durable {
            let fails = durable.forget_kept_block(die);
            if let Some(bad) = self.mapping.bad_blocks_mut().filter(|_| fails) {
                bad.failed_erase = Some(block);
            }
        }
        let end = self.time_erase(die, block, now);
        if self.jobs.dies[die as usize].late_erase.is_some() {
            self.jobs.dies[die as usize].has_job = true;
            self.begin_later(end, die);
        } else {
            self.start_job(die, end);
        }
        self.call_map_readers(now);
    }

    /// Whether the erase of a block of a die must wait for word lines between their passes. All dies see to them then.
    #[cold]
    #[inline(never)]
    pub(super) fn keeps_block(&mut self, die: u32, block: BlockIndex) -> bool {
        let Some(durable) = self.durable.as_mut().filter(|durable| durable.is_needed(block)) else {
            return false;
        };
        let fails = self.mapping.bad_blocks_mut().and_then(|bad| bad.failed_erase.take()).is_some();
        durable.keep_block(die, block, fails);
        true
    }

    /// In durable mode: word lines of a die have had their fine pass with the job that is done. Dies that wait for them
    /// look again.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_fine_lines(&mut self, die: u32, now: Nanos) {
        let mut fine = self.flash.take_fine_lines();
        if let Some(durable) = &mut self.durable {
            fine.drain(..).for_each(|place| durable.fine_done(die, place));
        }
        self.flash.give_back_fine_lines(fine);
        self.call_held_back(now);
    }

    /// Dies whose erases wait for word lines between their passes, and those that these lie on, look for work.
    #[cold]
    #[inline(never)]
    pub(super) fn call_held_back(&mut self, now: Nanos) {
        let is_any = self
            .durable
            .as_ref()
            .is_some_and(|durable| durable.has_passes && (durable.keeps_blocks() || durable.is_halted));
        if is_any {
            (0..self.layout.geometry.die_count()).for_each(|die| self.pick_job(die, now));
        }
    }
}
