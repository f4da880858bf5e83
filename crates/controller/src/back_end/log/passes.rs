//! Word lines that are programmed in two passes: what the host waits for gets its fine pass, behind padding if nothing else
//! is to be programmed there.

use drivelab_ftl::LogMapping;
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
            || self.idle_cleaning_wanted()
    }

    /// The block on a die of whose word lines between their passes one is waited for by the host, or any of the host's in a
    /// pause: what it wrote doesn't stay in the buffer for longer.
    fn awaited_block(&self, die: DieIndex) -> Option<BlockIndex> {
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
        if self.faults.is_some() {
            self.note_age(place, now);
        }
        self.begin_page(die, now);
        true
    }
}
