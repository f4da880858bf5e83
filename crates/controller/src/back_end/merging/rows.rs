//! The steps of a bank's job: what each reads, moves and programs, and when it is done.

use drivelab_ftl::{Mapping, MergeMap, MergeScheme, MergeStep};
use drivelab_nand::op::PageKind;
use drivelab_nand::{BlockIndex, DieIndex, Ppn};
use drivelab_sim::Nanos;

use super::{LateStep, Timed};
use crate::drive::SolidStateDrive;
use crate::drive::events::Event;
use crate::flash::Sensing;

impl<S: MergeScheme> SolidStateDrive<MergeMap<S>> {
    /// Does the next flash operation of a bank's job. `None`: the job is done.
    pub(super) fn time_step(&mut self, bank: DieIndex, now: Nanos) -> Option<Timed> {
        let step = match self.mapping.next_step(bank) {
            Ok(step) => step?,
            // The scheme's own promises make this unreachable; a drive that goes on would lose data.
            Err(error) => unreachable!("job of bank {}: {error}", bank.0),
        };
        Some(match step {
            MergeStep::Row { to, is_copy, rotates } => {
                self.note_reads(rotates);
                self.time_row(bank, to, is_copy, now)
            }
            MergeStep::Erase { block } => self.time_erase(bank, block, now),
        })
    }

    /// Merges that a power cut had broken off are done again; when they are done.
    pub(super) fn recover_bank(&mut self, bank: DieIndex, mut now: Nanos) -> Nanos {
        let job = &mut self.jobs.banks[bank.0 as usize];
        job.entries.clear();
        job.merges = true;
        while self.mapping.begin_recovery(bank) {
            while let Some(timed) = self.time_step(bank, now) {
                let end = match timed {
                    Timed::Until(end) => end,
                    Timed::NotBefore(from) => self.time_late_step(bank, from).unwrap_or(from),
                };
                if let Some(durable) = &mut self.durable {
                    durable.job_done(bank.0);
                }
                now = end;
            }
        }
        now
    }

    /// The same; when it is done, if there was one.
    pub(super) fn time_late_step(&mut self, bank: DieIndex, now: Nanos) -> Option<Nanos> {
        match self.jobs.banks[bank.0 as usize].late.take()? {
            LateStep::Row { is_copy } => Some(self.program_row(bank, is_copy, now, now)),
            LateStep::Erase => {
                let end = self.flash.erase(bank, now, true);
                if let Some(durable) = &mut self.durable {
                    durable.begun(bank, end);
                }
                Some(end)
            }
        }
    }

    fn time_erase(&mut self, bank: DieIndex, block: BlockIndex, now: Nanos) -> Timed {
        let from = self.erase_from(bank, block, now);
        if let Some(durable) = &mut self.durable {
            durable.erase(bank, block, from, now);
        }
        if from > now {
            self.jobs.banks[bank.0 as usize].late = Some(LateStep::Erase);
            return Timed::NotBefore(from);
        }
        Timed::Until(self.flash.erase(bank, now, true))
    }

    /// Counts what a row reads by its purpose: to complete what the host wrote in part, or to move what it did not.
    fn note_reads(&mut self, rotates: bool) {
        let unit_bytes = u64::from(self.layout.unit_bytes);
        for read in self.mapping.reads() {
            let moved = u64::from(read.units - read.completing) * unit_bytes;
            self.meters.units_rmw += u64::from(read.completing);
            self.meters.read_bytes_rmw += u64::from(read.completing) * unit_bytes;
            if rotates {
                self.meters.read_bytes_wear += moved;
            } else {
                self.meters.read_bytes_cleaning += moved;
            }
        }
    }

    /// Reads what a row needs, moves the row to the bank and programs it.
    fn time_row(&mut self, bank: DieIndex, to: Ppn, is_copy: bool, now: Nanos) -> Timed {
        let index = bank.0 as usize;
        let merges = self.jobs.banks[index].merges;
        let mut ready = now;
        for at in 0..self.mapping.reads().len() {
            let units = self.mapping.reads()[at].units;
            let bytes = u64::from(units) * u64::from(self.layout.unit_bytes);
            ready = ready.max(
                self.flash.sense(Sensing { die: bank, pages: 1, bytes, mask: 0, is_cleaning: merges }, now),
            );
        }
        // What comes from flash keeps the bank busy until it is there; what comes from the host does not.
        let in_order = ready;
        let mut row = std::mem::take(&mut self.jobs.banks[index].row);
        row.clear();
        for at in 0..self.mapping.taken().len() {
            let (unit, ppn) = self.mapping.taken()[at];
            let id = self.jobs.banks[index].entries[unit as usize];
            ready = ready.max(self.buffer.entry(id).ready_ns);
            row.push(id);
            if let Some(stamps) = self.buffer.stamps(id) {
                self.mapping.store_stamps(ppn, stamps);
                if let Some(durable) = &mut self.durable
                    && self.mapping.flash().peek(ppn).is_none()
                {
                    durable.free_after(bank, stamps[0] as u32);
                    self.jobs.banks[index].overtaken.push(id);
                }
            }
        }
        let job = &mut self.jobs.banks[index];
        job.row = row;
        job.page = self.layout.page_of(to);
        let is_late = ready > in_order;
        if let Some(durable) = &mut self.durable {
            let kind = if is_copy { PageKind::Moved } else { PageKind::Host };
            durable.begins_later(bank, ready);
            durable.program(bank, &self.mapping, to, kind, (if is_late { ready } else { now }, now));
            durable.supersede(bank, &mut self.mapping);
        }
        if is_late {
            job.late = Some(LateStep::Row { is_copy });
            return Timed::NotBefore(ready);
        }
        Timed::Until(self.program_row(bank, is_copy, in_order, now))
    }

    /// Moves a row to the bank, from `ready` on, and programs it; when that is done.
    fn program_row(&mut self, bank: DieIndex, is_copy: bool, ready: Nanos, now: Nanos) -> Nanos {
        let job = &self.jobs.banks[bank.0 as usize];
        let (page, holds_data, merges) = (job.page, !job.row.is_empty(), job.merges);
        let end = self.flash.program(bank, page, ready, now, is_copy);
        if merges {
            // The firmware copies row by row and looks for commands between two rows.
            self.hold_firmware(end);
        }
        if let Some(durable) = &mut self.durable {
            durable.begun(bank, end);
        }
        let program_ns = self.config.timing.program_ns(page);
        if holds_data && program_ns > 0 {
            let in_register = end - program_ns;
            self.events.push(in_register, Event::RowInRegister(bank));
        }
        end
    }
}
