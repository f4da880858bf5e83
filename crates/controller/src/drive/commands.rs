//! Commands begin, wait and leave.

use drivelab_nand::Lpn;
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::share;

use super::{Scheduled, Slot, SolidStateDrive};
use crate::buffer::{EntryState, NONE};
use crate::command::{Op, SECTOR_BYTES};
use crate::flash::BusyTime;

impl<M: Scheduled> SolidStateDrive<M> {
    /// The firmware is done with a command.
    #[inline]
    pub(crate) fn begin_command(&mut self, slot: u32, now: Nanos) {
        let command = self.slots[slot as usize].command;
        if self.faults.is_some() && self.begin_with_faults(slot, now) {
            return;
        }
        match command.op {
            Op::Read if self.config.scheduling.in_order && !self.admission.is_empty() => {
                self.admission.push_back(slot);
                self.begin_stall(slot);
            }
            Op::Read => self.begin_read(slot, now),
            Op::Write => {
                if self.mapping.takes_hints() {
                    self.note_hint(slot);
                }
                self.admission.push_back(slot);
                if self.admission.len() == 1 {
                    self.admit(now);
                    self.drain_due = true;
                } else {
                    if sabotage::is(Sabotage::AdmissionSwapped) {
                        let last = self.admission.len() - 1;
                        self.admission.swap(1, last);
                    }
                    self.begin_stall(slot);
                }
            }
            Op::Trim => self.trim(slot, now),
            Op::Flush => self.begin_flush(slot, now),
        }
    }

    /// The mapping hears of the hint that came with a write, before any of its data.
    #[cold]
    fn note_hint(&mut self, slot: u32) {
        let command = self.slots[slot as usize].command;
        let (first, _) = self.unit_of(command.lba);
        let (last, _) = self.unit_of(command.lba + u64::from(command.sector_count) - 1);
        self.mapping.note_hint(first..last + 1, command.hint);
    }

    /// What is left of a command, the data of a read or a status, goes over the link, and it is done.
    #[inline]
    pub(crate) fn finish_over_link(&mut self, slot: u32, now: Nanos) {
        let state = &mut self.slots[slot as usize];
        let end = self.link.finish(&mut state.account, state.link_ns, now);
        self.complete(slot, end);
    }

    /// A write is done now, all of whose data has been on the link; the status waits for others' data there.
    #[inline]
    pub(crate) fn complete_write(&mut self, slot: u32, now: Nanos) {
        let account = &mut self.slots[slot as usize].account;
        self.link.wait_for(account, now);
        // Its own data may have come the other way, and later.
        let at = account.told_ns;
        self.complete(slot, at);
    }

    #[inline]
    pub(super) fn begin_stall(&mut self, slot: u32) {
        let state = &mut self.slots[slot as usize];
        if !state.is_stalled {
            state.is_stalled = true;
            state.wait_base = self.flash.busy();
        }
    }

    /// The part of a wait since `base` that is cleaning's: in the share that the dies spent on it meanwhile.
    #[inline]
    fn cleaning_share(&self, waited: Nanos, base: BusyTime) -> Nanos {
        let busy = self.flash.busy();
        let (host, cleaning) = (busy.host_ns - base.host_ns, busy.cleaning_ns - base.cleaning_ns);
        if cleaning == 0 { 0 } else { share(waited, cleaning, host + cleaning) }
    }

    /// A command has waited for dies until then, if that lies ahead of what is told.
    #[inline]
    pub(crate) fn waited_for_dies(&mut self, slot: u32, until: Nanos) {
        let state = &self.slots[slot as usize];
        let waited = until.saturating_sub(state.account.told_ns);
        let cleaning = self.cleaning_share(waited, state.wait_base);
        let account = &mut self.slots[slot as usize].account;
        account.split.cleaning_ns += cleaning;
        account.split.queueing_ns += waited - cleaning;
        account.told_ns += waited;
    }

    /// A command that waited for flash until now, where the last thing took `work_ns` in the end: that is flash's own
    /// time, the rest is waiting.
    fn end_flash_wait(&mut self, slot: u32, work_ns: Nanos, now: Nanos) {
        self.waited_for_dies(slot, now - work_ns);
        self.slots[slot as usize].account.worked_until(now);
    }

    /// A write need not wait for buffer space any more.
    #[inline]
    pub(crate) fn end_stall(&mut self, slot: u32, now: Nanos) {
        if std::mem::take(&mut self.slots[slot as usize].is_stalled) {
            self.waited_for_dies(slot, now);
        }
    }

    /// An entry of the buffer is in flash, where the last thing took `work_ns` (or needs no flash any more).
    #[inline]
    pub(crate) fn entry_done(&mut self, waiter: u32, order: u64, work_ns: Nanos, now: Nanos) {
        if waiter != NONE {
            let state = &mut self.slots[waiter as usize];
            state.pending -= 1;
            if state.pending == 0 && state.admitted {
                self.end_flash_wait(waiter, work_ns, now);
                self.complete_write(waiter, now);
            }
        }
        if !self.flushes.is_empty() {
            self.advance_flushes(work_ns, now, |slot| order < slot.flush_order);
        }
    }

    /// One thing has reached flash, in `work_ns`: flushes for which it `counts` have one less to wait for.
    pub(crate) fn advance_flushes(&mut self, work_ns: Nanos, now: Nanos, counts: impl Fn(&Slot) -> bool) {
        let mut index = 0;
        while index < self.flushes.len() {
            let slot = self.flushes[index];
            let state = &mut self.slots[slot as usize];
            if counts(state) && !sabotage::is(Sabotage::FlushForgets) {
                state.pending -= 1;
            }
            if state.pending == 0 {
                self.end_flash_wait(slot, work_ns, now);
                self.flushes.remove(index);
                self.finish_over_link(slot, now);
            } else {
                index += 1;
            }
        }
    }

    pub(super) fn begin_flush(&mut self, slot: u32, now: Nanos) {
        self.log_waiting(now);
        let (begun, ended) = self
            .durable
            .as_ref()
            .map_or((0, 0), |durable| (durable.log_pages_begun, durable.log_pages_ended));
        let units = if self.config.buffer.capacitor { 0 } else { self.buffer.live() };
        let pending = units + (begun - ended) as u32;
        if pending == 0 {
            self.finish_over_link(slot, now);
            return;
        }
        let state = &mut self.slots[slot as usize];
        state.pending = pending;
        state.flush_order = self.buffer.next_order();
        state.log_pages = begun;
        state.wait_base = self.flash.busy();
        self.flushes.push(slot);
        M::drain(self, now);
    }

    /// Frees the whole units inside the range, if the firmware knows trims; sectors of units that are only partly
    /// inside keep their data.
    pub(super) fn trim(&mut self, slot: u32, now: Nanos) {
        if !self.mapping.takes_trims() {
            self.finish_over_link(slot, now);
            return;
        }
        let command = self.slots[slot as usize].command;
        let sectors = u64::from(self.sectors_per_unit);
        let end = (command.lba + u64::from(command.sector_count)) / sectors;
        let first = command.lba.div_ceil(sectors);
        let trimmed_before = self.mapping.counters().units_trimmed;
        self.mapping.begin_trim();
        for unit in first..end {
            let lpn = Lpn(unit as u32);
            if let Some(durable) = &mut self.durable
                && let Some(id) = self.buffer.find(lpn)
                && self.buffer.entry(id).state != EntryState::Queued
                && let Some(words) = self.buffer.stamps(id)
            {
                durable.drop_programming(lpn, words[0] as u32);
            }
            for dropped in self.buffer.trim(lpn) {
                self.meters.buffer_trimmed_bytes += u64::from(dropped.sectors) * SECTOR_BYTES;
                match &mut self.durable {
                    Some(durable) => durable.drop_buffered(lpn, &dropped),
                    None => self.entry_done(dropped.waiter, dropped.order, 0, now),
                }
            }
            self.read_ahead.forget(lpn.0);
            self.mapping.trim(lpn);
        }
        if self.mapping.counters().units_trimmed > trimmed_before {
            self.mapping.note_trimmed_extent();
        }
        if first < end && self.durable.is_some() {
            self.log_trim(Lpn(first as u32), (end - first) as u32, now);
        }
        let wait = self.load_map(false, now);
        if wait.ready_ns > now {
            self.finish_after(slot, &wait, now);
        } else {
            self.finish_over_link(slot, now);
        }
        self.admit(now);
        M::write_metadata(self, now);
        M::drain(self, now);
    }
}
