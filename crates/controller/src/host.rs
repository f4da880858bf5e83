//! Work on commands of the host: reads, writes into the buffer, trims, flushes.

use drivelab_nand::{Lpn, Ppn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::share;

use crate::buffer::{EntryState, NONE, sector_bits};
use crate::command::{Command, Op, SECTOR_BYTES};
use crate::event_queue::Event;
use crate::flash::{BusyTime, FlashWait, Sensing};
use crate::scheduled::Scheduled;
use crate::ssd::{Slot, SolidStateDrive};

impl<M: Scheduled> SolidStateDrive<M> {
    /// The firmware is done with a command.
    #[inline]
    pub(crate) fn begin_command(&mut self, slot: u32, now: Nanos) {
        let command = self.slots[slot as usize].command;
        self.meters.host.count(&command);
        if self.faults.is_some() && self.begin_with_faults(slot, now) {
            return;
        }
        match command.op {
            Op::Read => self.begin_read(slot, now),
            Op::Write => {
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

    fn begin_read(&mut self, slot: u32, now: Nanos) {
        let command = self.slots[slot as usize].command;
        let link_ns = self.slots[slot as usize].link_ns;
        let total = u64::from(command.sector_count);
        let end = command.lba + total;
        let mut critical = FlashWait::none(now);
        let is_durable = self.durable.is_some();
        let mut stamps = (self.mapping.keeps_stamps() && !is_durable).then(Vec::new);
        let mut lba = command.lba;
        while lba < end {
            let (unit, sector) = self.unit_of(lba);
            let mut sectors = u64::from(self.sectors_per_unit - sector).min(end - lba);
            if let Some(out) = &mut stamps {
                self.collect_stamps(Lpn(unit), sector, sectors, out);
            } else if is_durable {
                self.send(Lpn(unit), sector, sectors, &command, lba);
            }
            let mut read = if let Some(id) = self.buffer.find(Lpn(unit)) {
                self.read_buffer(id, Lpn(unit), sector, sectors, now)
            } else if let Some(ready_ns) = self.read_ahead.ready(unit) {
                FlashWait::under_way(now, ready_ns)
            } else if let Some(ppn) = self.mapping.sensed(Lpn(unit)) {
                let mut wait = FlashWait::none(now);
                self.fetch_map(Lpn(unit), &mut wait, now);
                // Units that follow on the same page come with the same sensing.
                let (together, bytes) =
                    self.extend_on_page(lba, end, ppn, unit, sectors, (stamps.as_mut(), &command));
                sectors = together;
                self.meters.read_bytes_host += bytes;
                self.flash.read(ppn, (sector, sectors), bytes, &mut wait, now);
                wait
            } else {
                self.meters.zero_read_bytes += sectors * SECTOR_BYTES;
                // Where the map isn't in memory, it must be read to know that there is nothing.
                let mut wait = FlashWait::none(now);
                self.fetch_map(Lpn(unit), &mut wait, now);
                wait
            };
            if self.faults.is_some() {
                self.read_with_faults(slot, (lba, sectors), &mut read, now);
            }
            // The link must not run dry: it starts so late that every piece is there when its turn comes.
            let before = if total == sectors { 0 } else { share(link_ns, lba - command.lba, total) };
            if read.ready_ns.saturating_sub(before) > critical.ready_ns {
                critical = read.without_last(before);
            }
            lba += sectors;
        }
        if let Some(out) = stamps {
            self.read_stamps.push((command.tag, out));
        }
        if self.read_ahead.is_on() {
            self.read_on(command.lba, end, now);
        }
        let state = &mut self.slots[slot as usize];
        state.split.queueing_ns += critical.queueing_ns;
        state.split.cleaning_ns += critical.cleaning_ns;
        state.split.flash_ns += critical.flash_ns;
        state.told_ns = critical.ready_ns;
        let start = critical.ready_ns;
        if start == now {
            self.finish_over_link(slot, now);
        } else {
            self.events.push(start, Event::ReadReady(slot));
        }
    }

    /// Reads from the write buffer, and from flash what a buffered unit does not have yet.
    #[inline]
    fn read_buffer(&mut self, id: u32, lpn: Lpn, sector: u32, sectors: u64, now: Nanos) -> FlashWait {
        let entry = *self.buffer.entry(id);
        let wanted = sector_bits(sector, sectors as u32);
        let mut read = FlashWait::none(now);
        if M::COMPLETES_LATE
            && entry.sectors & wanted != wanted
            && let Some(ppn) = self.mapping.lookup(lpn)
        {
            let bytes = u64::from(self.mapping.read_bytes(lpn, sectors as u32));
            self.meters.read_bytes_host += bytes;
            self.flash.read(ppn, (sector, sectors), bytes, &mut read, now);
        } else {
            self.meters.buffer_hit_bytes += sectors * SECTOR_BYTES;
        }
        read.queued_until(entry.ready_ns);
        read
    }

    /// How many sectors from `lba` on lie on the page of `ppn`, and how many bytes the bus carries for them.
    #[inline]
    fn extend_on_page(
        &mut self,
        lba: u64,
        end: u64,
        ppn: Ppn,
        unit: u32,
        first_sectors: u64,
        (mut stamps, command): (Option<&mut Vec<u64>>, &Command),
    ) -> (u64, u64) {
        let mut sectors = first_sectors;
        let mut bytes = u64::from(self.mapping.read_bytes(Lpn(unit), sectors as u32));
        let mut distance = 1;
        while lba + sectors < end {
            let next = Lpn(unit + distance);
            if !self.mapping.is_on_page_of(ppn, distance, next) || self.buffer.find(next).is_some() {
                break;
            }
            let more = u64::from(self.sectors_per_unit).min(end - lba - sectors);
            if let Some(out) = &mut stamps {
                self.collect_stamps(next, 0, more, out);
            } else if self.durable.is_some() {
                self.send(next, 0, more, command, lba + sectors);
            }
            let previous = Lpn(next.0 - 1);
            bytes += u64::from(self.mapping.read_bytes_beside(previous, next, more as u32));
            sectors += more;
            distance += 1;
        }
        (sectors, bytes)
    }

    /// Reads the map entry of a unit if it is not in memory.
    #[inline]
    pub(crate) fn fetch_map(&mut self, lpn: Lpn, wait: &mut FlashWait, now: Nanos) {
        let fetch = self.mapping.fetch_map(lpn);
        // What made room for it may have to be written back.
        M::write_metadata(self, now);
        if let Some(fetch) = fetch {
            self.meters.read_bytes_map += u64::from(fetch.bytes);
            let bytes = u64::from(fetch.bytes);
            self.flash.sense_for(wait, Sensing { die: fetch.die, pages: 1, bytes, is_cleaning: false }, now);
        }
    }

    /// What is left of a command, the data of a read or a status, goes over the link, and it is done.
    #[inline]
    pub(crate) fn finish_over_link(&mut self, slot: u32, now: Nanos) {
        let state = &mut self.slots[slot as usize];
        let link_ns = state.link_ns;
        debug_assert!(state.told_ns >= now, "where the time of {state:?} went until {now}");
        state.queued_until(self.link_free_ns.max(now));
        state.split.link_ns += link_ns;
        state.told_ns += link_ns;
        self.link_free_ns = state.told_ns;
        self.meters.link_busy_ns += link_ns;
        self.complete(slot, self.link_free_ns);
    }

    /// A write is done now, all of whose data has been on the link; the status waits for others' data there.
    #[inline]
    pub(crate) fn complete_write(&mut self, slot: u32, now: Nanos) {
        let at = self.link_free_ns.max(now);
        let state = &mut self.slots[slot as usize];
        debug_assert!(state.told_ns >= now, "where the time of {state:?} went until {now}");
        state.queued_until(at);
        self.complete(slot, at);
    }

    /// Lets waiting writes into the buffer, in order, as far as there is space.
    #[inline]
    pub(crate) fn admit(&mut self, now: Nanos) {
        if self.faults.is_some() {
            while self.refuse_waiting(now) {}
        }
        while let Some(&slot) = self.admission.front() {
            if !self.admit_units(slot, now) {
                self.begin_stall(slot);
                return;
            }
            self.admission.pop_front();
            self.forget_contents(self.slots[slot as usize].command.tag);
            let waits = self.waits_for_flash(slot);
            let state = &mut self.slots[slot as usize];
            state.admitted = true;
            state.wait_base = self.flash.busy();
            if waits && state.pending > 0 {
                continue;
            }
            let told_ns = state.told_ns;
            if self.faults.is_some() {
                // A write that is lost has been on the link before.
                self.waited_for_dies(slot, now);
                self.complete_write(slot, now);
            } else {
                self.complete(slot, told_ns);
            }
        }
    }

    /// Whether a write is done only when it is in flash.
    #[inline]
    fn waits_for_flash(&self, slot: u32) -> bool {
        let buffer = &self.config.buffer;
        !buffer.capacitor && (self.slots[slot as usize].command.fua || !buffer.write_back)
    }

    /// Puts units of a write into the buffer until all are there (`true`) or space runs out.
    #[inline]
    fn admit_units(&mut self, slot: u32, now: Nanos) -> bool {
        let command = self.slots[slot as usize].command;
        let link_ns = self.slots[slot as usize].link_ns;
        let waiter = if self.waits_for_flash(slot) { slot } else { NONE };
        let total = command.sector_count;
        let (first_unit, _) = self.unit_of(command.lba);
        let mut done = self.slots[slot as usize].sectors_done;
        let mut link_done = share(link_ns, u64::from(done), u64::from(total));
        let (first, link_before, link_from) = (done, link_done, self.link_free_ns.max(now));
        while done < total {
            let lba = command.lba + u64::from(done);
            let (unit, sector) = self.unit_of(lba);
            let sectors = (self.sectors_per_unit - sector).min(total - done);
            let existing = self.buffer.find(Lpn(unit));
            let merge = existing.filter(|&id| waiter == NONE && self.may_join(id));
            let partial = sectors < self.sectors_per_unit;
            let bits = sector_bits(sector, sectors);
            let waits_for_turn = partial && existing.is_none() && !self.may_complete_partial(Lpn(unit));
            if waits_for_turn || !M::takes_host_data(self, Lpn(unit)) || !self.buffer.has_space(bits, merge) {
                break;
            }
            self.read_ahead.forget(unit);
            let stored = self.stored_of(&command, unit - first_unit, !partial);
            let link_after = share(link_ns, u64::from(done + sectors), u64::from(total));
            let on_link = link_after - link_done;
            link_done = link_after;
            self.link_free_ns = self.link_free_ns.max(now) + on_link;
            self.meters.link_busy_ns += on_link;
            let arrival = self.link_free_ns;
            if let Some(id) = merge {
                self.meters.coalesced_bytes += u64::from(sectors) * SECTOR_BYTES;
                self.buffer.join(id, bits, arrival);
                self.buffer.restore(id, stored);
                if self.durable.is_some() {
                    self.fill_again(id, (sector, sectors), (slot, &command), done);
                } else if self.mapping.keeps_stamps() {
                    self.stamp_entry(id, None, sector, sectors, command.stamp + u64::from(done));
                }
            } else {
                let (rest, from_flash) = match existing {
                    _ if !partial => (now, false),
                    Some(id) => (self.buffer.entry(id).ready_ns, false),
                    None if M::COMPLETES_LATE => (self.work_on_partial(now), false),
                    None => self.complete_partial(Lpn(unit), sector, sectors, now),
                };
                let ready = arrival.max(rest);
                let id = self.buffer.insert(Lpn(unit), now, ready, waiter, stored, bits);
                if from_flash {
                    self.buffer.mark_partial(id);
                }
                if waiter != NONE {
                    self.slots[slot as usize].pending += 1;
                }
                if self.durable.is_some() {
                    let base = existing.filter(|_| partial);
                    self.fill(id, (base, partial), (sector, sectors), (slot, &command), done);
                } else if self.mapping.keeps_stamps() {
                    self.stamp_entry(
                        id,
                        Some((existing, partial)),
                        sector,
                        sectors,
                        command.stamp + u64::from(done),
                    );
                }
            }
            done += sectors;
        }
        if done > first {
            self.end_stall(slot, now);
            let state = &mut self.slots[slot as usize];
            state.queued_until(link_from);
            state.split.link_ns += link_done - link_before;
            state.told_ns += link_done - link_before;
            state.sectors_done = done;
        }
        done == total
    }

    /// Whether more of a buffered unit may be written where it waits.
    #[inline]
    fn may_join(&self, id: u32) -> bool {
        let entry = self.buffer.entry(id);
        self.config.buffer.coalesce && entry.state == EntryState::Queued && entry.waiter == NONE
    }

    /// Whether a unit that is not in the buffer may be completed now, or needs no completing.
    #[inline]
    fn may_complete_partial(&self, lpn: Lpn) -> bool {
        let limit = self.config.scheduling.partial_units_at_once;
        limit == 0 || self.buffer.partial() < limit || self.mapping.lookup(lpn).is_none()
    }

    /// A write covers only part of a unit: the rest is read from flash, unless the map, which may have to be read first,
    /// says that there is none. When it is there, and whether flash had it.
    fn complete_partial(&mut self, lpn: Lpn, sector: u32, sectors: u32, now: Nanos) -> (Nanos, bool) {
        let mut wait = FlashWait::none(now);
        self.fetch_map(lpn, &mut wait, now);
        let mut known = wait.ready_ns;
        let Some(ppn) = self.mapping.lookup(lpn) else { return (known, false) };
        known = known.max(self.work_on_partial(now));
        let missing = u64::from(self.mapping.read_bytes(lpn, self.sectors_per_unit - sectors));
        self.meters.units_rmw += 1;
        self.meters.read_bytes_rmw += missing;
        let die = self.layout.die_of(self.layout.block_of(ppn));
        // Pages that the write covers whole need not be read.
        let program_sectors = self.layout.geometry.program_bytes() / SECTOR_BYTES as u32;
        let covered = ((sector + sectors) / program_sectors).saturating_sub(sector.div_ceil(program_sectors));
        let pages = u64::from(self.layout.pages_per_unit - covered.min(self.layout.pages_per_unit - 1));
        let sensing = Sensing { die, pages, bytes: missing, is_cleaning: false };
        let mut ready = self.flash.sense_from(sensing, known, now);
        if self.faults.is_some() {
            ready = self.complete_with_faults(ppn, (sector, sectors), ready, now);
        }
        (ready, true)
    }

    #[inline]
    fn begin_stall(&mut self, slot: u32) {
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
        let waited = until.saturating_sub(state.told_ns);
        let cleaning = self.cleaning_share(waited, state.wait_base);
        let state = &mut self.slots[slot as usize];
        state.split.cleaning_ns += cleaning;
        state.split.queueing_ns += waited - cleaning;
        state.told_ns += waited;
    }

    /// A command that waited for flash until now, where the last thing took `work_ns` in the end: that is flash's own
    /// time, the rest is waiting.
    fn end_flash_wait(&mut self, slot: u32, work_ns: Nanos, now: Nanos) {
        self.waited_for_dies(slot, now - work_ns);
        let state = &mut self.slots[slot as usize];
        state.split.flash_ns += now.saturating_sub(state.told_ns);
        state.told_ns = state.told_ns.max(now);
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

    fn begin_flush(&mut self, slot: u32, now: Nanos) {
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
    fn trim(&mut self, slot: u32, now: Nanos) {
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
        self.finish_over_link(slot, now);
        self.admit(now);
        M::write_metadata(self, now);
        M::drain(self, now);
    }

    fn collect_stamps(&self, lpn: Lpn, sector: u32, sectors: u64, out: &mut Vec<u64>) {
        let range = sector as usize..sector as usize + sectors as usize;
        if let Some(stamps) = self.buffer.find(lpn).and_then(|id| self.buffer.stamps(id)) {
            out.extend_from_slice(&stamps[range]);
        } else if let Some(stamps) = self.mapping.stamps_of(lpn) {
            out.extend_from_slice(&stamps[range]);
        } else {
            out.extend(range.map(|_| 0));
        }
    }

    /// Stores the stamps of a write; of a new entry (`fresh`: its predecessor in the buffer, and whether the write
    /// covers only part) the rest comes from where the data was.
    fn stamp_entry(
        &mut self,
        id: u32,
        fresh: Option<(Option<u32>, bool)>,
        sector: u32,
        sectors: u32,
        stamp: u64,
    ) {
        if let Some((existing, partial)) = fresh {
            let lpn = self.buffer.entry(id).lpn;
            let old = match existing.and_then(|from| self.buffer.stamps(from)) {
                Some(stamps) => Some(stamps.to_vec()),
                None => self.mapping.stamps_of(lpn).map(<[_]>::to_vec),
            };
            if let Some(stamps) = self.buffer.stamps_mut(id) {
                match old.filter(|_| partial) {
                    Some(old) => stamps.copy_from_slice(&old),
                    None => stamps.fill(0),
                }
            }
        }
        if let Some(stamps) = self.buffer.stamps_mut(id) {
            for (index, place) in stamps[sector as usize..(sector + sectors) as usize].iter_mut().enumerate()
            {
                *place = stamp + index as u64;
            }
        }
    }
}
