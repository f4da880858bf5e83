//! What the controller does about programs and erases that have failed: the time they took, what becomes of the medium,
//! and a die that has no block left to write.

use drivelab_ftl::{FtlError, LogMapping};
use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;

use crate::back_end::log::LogJobs;
use crate::drive::{Scheduled, SolidStateDrive};

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// Whether a die has no block left to write.
    #[inline]
    pub(crate) fn is_frozen(&self, die: u32) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.frozen[die as usize])
    }

    /// Pages that could not be programmed: they have taken their time all the same, and their blocks are retired. When
    /// the last of them is done; `None`: there was none.
    pub(crate) fn spend_failed_programs(&mut self, die: u32, now: Nanos, cleaning: bool) -> Option<Nanos> {
        let index = DieIndex(die);
        let failed = match self.mapping.bad_blocks_mut() {
            Some(bad) if !bad.failed_programs.is_empty() => std::mem::take(&mut bad.failed_programs),
            _ => return None,
        };
        let mut end = None;
        for failure in failed {
            end = Some(self.flash.program(index, failure.page, now, now, cleaning));
            if let Some(durable) = &mut self.durable {
                durable.fail_program(index, failure);
            }
            if let Some(faults) = &mut self.faults {
                faults.counters.program_failures += 1;
            }
        }
        self.note_wear();
        end
    }

    /// The erase that has just begun will fail: its block is retired.
    pub(crate) fn note_failed_erase(&mut self, die: DieIndex) {
        let Some(block) = self.mapping.bad_blocks_mut().and_then(|bad| bad.failed_erase.take()) else {
            return;
        };
        if let Some(durable) = &mut self.durable {
            durable.retire(die, block);
        }
        if let Some(faults) = &mut self.faults {
            faults.counters.erase_failures += 1;
        }
        self.note_wear();
    }

    /// Sees to it that the next host page of a die will be programmed. `Some`: it can't be now; whether the die has a
    /// job all the same.
    pub(crate) fn ready_host_page(&mut self, die: u32, now: Nanos) -> Option<bool> {
        let index = DieIndex(die);
        let ready = self.mapping.ready_host_page(index);
        let spent = self.spend_failed_programs(die, now, false);
        match ready {
            Ok(()) if self.mapping.has_room(index) => None,
            Ok(()) => Some(self.do_what_was_spent(die, spent)),
            Err(error) => Some(self.freeze(die, error, spent)),
        }
    }

    /// A die has no room for what must be written to it. What lies there can still be read; nothing new is written to
    /// the drive. Whether the die has a job all the same.
    pub(crate) fn cannot_clean(&mut self, die: u32, error: FtlError, now: Nanos) -> bool {
        let spent = self.spend_failed_programs(die, now, true);
        self.freeze(die, error, spent)
    }

    /// The same, in a job that has done something before; when what it spent on top of that is done.
    pub(crate) fn cannot_copy_more(&mut self, die: u32, error: FtlError, now: Nanos) -> Option<Nanos> {
        let spent = self.spend_failed_programs(die, now, true);
        self.note_frozen(die, error);
        spent
    }

    fn freeze(&mut self, die: u32, error: FtlError, spent: Option<Nanos>) -> bool {
        self.note_frozen(die, error);
        self.do_what_was_spent(die, spent)
    }

    fn note_frozen(&mut self, die: u32, error: FtlError) {
        // Thresholds and capacity were checked when the drive was made: without failed blocks, and blocks that a power
        // cut has left half written, this can't be.
        assert!(self.durable.is_some() || self.faults.is_some(), "die {die}: {error}");
        let faults = self.have_faults();
        faults.frozen[die as usize] = true;
        faults.is_read_only = true;
    }

    fn do_what_was_spent(&mut self, die: u32, spent: Option<Nanos>) -> bool {
        match spent {
            Some(end) => self.start_job(die, end),
            None => self.return_token(die),
        }
        spent.is_some()
    }
}
