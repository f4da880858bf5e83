//! Work on commands of the host: reads, writes into the buffer, trims, flushes.

use std::cmp::Reverse;

use drivelab_nand::{Lpn, Ppn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::share;

use crate::buffer::{EntryState, NONE, sector_bits};
use crate::command::{Command, Op, SECTOR_BYTES};
use crate::dies::BusyTime;
use crate::scheduled::Scheduled;
use crate::ssd::{EVENT_READ_READY, NONE_NS, Slot, SolidStateDrive};

/// A flash read for the host: when its data is there, and what it waited for.
#[derive(Clone, Copy, Default)]
pub(crate) struct FlashRead {
    pub ready_ns: Nanos,
    queueing_ns: Nanos,
    cleaning_ns: Nanos,
}

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
                    self.begin_stall(slot, now);
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
        let mut critical = FlashRead { ready_ns: now, ..FlashRead::default() };
        let mut start = now;
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
                FlashRead { ready_ns: ready_ns.max(now), ..FlashRead::default() }
            } else if let Some(ppn) = self.mapping.sensed(Lpn(unit)) {
                let known = self.fetch_map(Lpn(unit), now);
                // Units that follow on the same page come with the same sensing.
                let (together, bytes) =
                    self.extend_on_page(lba, end, ppn, unit, sectors, (stamps.as_mut(), &command));
                sectors = together;
                self.meters.read_bytes_host += bytes;
                self.read_flash(ppn, sector, sectors, bytes, (now, known))
            } else {
                self.meters.zero_read_bytes += sectors * SECTOR_BYTES;
                // Where the map isn't in memory, it must be read to know that there is nothing.
                FlashRead { ready_ns: self.fetch_map(Lpn(unit), now), ..FlashRead::default() }
            };
            if self.faults.is_some() {
                read.ready_ns = self.read_with_faults(slot, (lba, sectors), read.ready_ns, now);
            }
            // The link must not run dry: it starts so late that every piece is there when its turn comes.
            let before = if total == sectors { 0 } else { share(link_ns, lba - command.lba, total) };
            let latest = read.ready_ns.saturating_sub(before);
            if latest > start {
                start = latest;
                critical = read;
            }
            lba += sectors;
        }
        if let Some(out) = stamps {
            self.read_stamps.push((command.tag, out));
        }
        if self.read_ahead.is_on() {
            self.read_on(command.lba, end, now);
        }
        let split = &mut self.slots[slot as usize].split;
        let waited = start - now;
        split.cleaning_ns = critical.cleaning_ns.min(waited);
        split.flash_ns = waited - split.cleaning_ns - critical.queueing_ns.min(waited - split.cleaning_ns);
        if start == now {
            self.read_ready(slot, now);
        } else {
            self.events.push(Reverse((start, EVENT_READ_READY | slot)));
        }
    }

    /// Reads from the write buffer, and from flash what a buffered unit does not have yet.
    #[inline]
    fn read_buffer(&mut self, id: u32, lpn: Lpn, sector: u32, sectors: u64, now: Nanos) -> FlashRead {
        let entry = *self.buffer.entry(id);
        let wanted = sector_bits(sector, sectors as u32);
        let mut read = FlashRead { ready_ns: now, ..FlashRead::default() };
        if M::COMPLETES_LATE
            && entry.sectors & wanted != wanted
            && let Some(ppn) = self.mapping.lookup(lpn)
        {
            let bytes = u64::from(self.mapping.read_bytes(lpn, sectors as u32));
            self.meters.read_bytes_host += bytes;
            read = self.read_flash(ppn, sector, sectors, bytes, (now, now));
        } else {
            self.meters.buffer_hit_bytes += sectors * SECTOR_BYTES;
        }
        read.ready_ns = read.ready_ns.max(entry.ready_ns);
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

    /// Reads the map entry of a unit if it is not in memory; when it is there.
    #[inline]
    pub(crate) fn fetch_map(&mut self, lpn: Lpn, now: Nanos) -> Nanos {
        let fetch = self.mapping.fetch_map(lpn);
        // What made room for it may have to be written back.
        M::write_metadata(self, now);
        match fetch {
            Some(fetch) => {
                self.meters.read_bytes_map += u64::from(fetch.bytes);
                self.sense_and_transfer(fetch.die, u64::from(fetch.bytes), 1, now, false)
            }
            None => now,
        }
    }

    /// Reads `sectors` of a page from flash, `bytes` as stored, from `ready` on: reserves the die, then the bus.
    #[inline]
    pub(crate) fn read_flash(
        &mut self,
        ppn: Ppn,
        sector: u32,
        sectors: u64,
        bytes: u64,
        (now, ready): (Nanos, Nanos),
    ) -> FlashRead {
        let die = self.layout.die_of(self.layout.block_of(ppn));
        let (waited, cleaning) = self.dies.wait(die, ready);
        let pages = if self.layout.pages_per_unit == 1 {
            1
        } else {
            let program_sectors = u64::from(self.layout.geometry.program_bytes()) / SECTOR_BYTES;
            let first = u64::from(sector);
            (first + sectors - 1) / program_sectors - first / program_sectors + 1
        };
        let ready_ns = self.sense_from(die, bytes, pages, (now, ready), false);
        let ready_ns = self.pass_read_path(ready_ns, bytes, now);
        FlashRead { ready_ns, queueing_ns: waited - cleaning, cleaning_ns: cleaning }
    }

    /// All channels share the way of data from flash to the link, which it goes while it comes over its bus; when it
    /// has passed.
    #[inline]
    fn pass_read_path(&mut self, ready_ns: Nanos, bytes: u64, now: Nanos) -> Nanos {
        let rate = self.config.scheduling.read_path_bytes_per_s;
        if rate == 0 {
            return ready_ns;
        }
        let duration = drivelab_sim::time::transfer_ns(bytes, rate);
        let begin = ready_ns.saturating_sub(duration).max(now);
        self.read_path.reserve(now, begin, duration) + duration
    }

    /// The data of a read is there: it goes over the link.
    #[inline]
    pub(crate) fn read_ready(&mut self, slot: u32, now: Nanos) {
        let link_ns = self.slots[slot as usize].link_ns;
        self.link_free_ns = self.link_free_ns.max(now) + link_ns;
        self.meters.link_busy_ns += link_ns;
        self.complete(slot, self.link_free_ns);
    }

    /// Lets waiting writes into the buffer, in order, as far as there is space.
    #[inline]
    pub(crate) fn admit(&mut self, now: Nanos) {
        if self.faults.is_some() {
            while self.refuse_waiting(now) {}
        }
        while let Some(&slot) = self.admission.front() {
            if !self.admit_units(slot, now) {
                self.begin_stall(slot, now);
                return;
            }
            self.admission.pop_front();
            self.end_stall(slot, now);
            self.forget_contents(self.slots[slot as usize].command.tag);
            let waits = self.waits_for_flash(slot);
            let state = &mut self.slots[slot as usize];
            state.admitted = true;
            state.waiting_for_flash_ns = now;
            state.stall_base = self.dies.busy;
            if !waits || state.pending == 0 {
                let at = self.link_free_ns.max(now);
                self.complete(slot, at);
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
                self.slots[slot as usize].sectors_done = done;
                return false;
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
                } else {
                    self.stamp_entry(id, None, sector, sectors, command.stamp + u64::from(done));
                }
            } else {
                let (rest, from_flash) = match existing {
                    _ if !partial => (now, false),
                    Some(id) => (self.buffer.entry(id).ready_ns, false),
                    None if M::COMPLETES_LATE => (now, false),
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
                } else {
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
        self.slots[slot as usize].sectors_done = done;
        true
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
        let mut known = self.fetch_map(lpn, now);
        let Some(ppn) = self.mapping.lookup(lpn) else { return (known, false) };
        let work = self.config.scheduling.partial_unit_firmware_ns;
        if work > 0 {
            known = known.max(self.occupy_firmware(work, now));
        }
        let missing = u64::from(self.mapping.read_bytes(lpn, self.sectors_per_unit - sectors));
        self.meters.units_rmw += 1;
        self.meters.read_bytes_rmw += missing;
        let die = self.layout.die_of(self.layout.block_of(ppn));
        // Pages that the write covers whole need not be read.
        let program_sectors = self.layout.geometry.program_bytes() / SECTOR_BYTES as u32;
        let covered = ((sector + sectors) / program_sectors).saturating_sub(sector.div_ceil(program_sectors));
        let pages = u64::from(self.layout.pages_per_unit - covered.min(self.layout.pages_per_unit - 1));
        let mut ready = self.sense_from(die, missing, pages, (now, known), false);
        if self.faults.is_some() {
            ready = self.complete_with_faults(ppn, (sector, sectors), ready, now);
        }
        (ready, true)
    }

    #[inline]
    fn begin_stall(&mut self, slot: u32, now: Nanos) {
        let state = &mut self.slots[slot as usize];
        if state.stalled_since_ns == NONE_NS {
            state.stalled_since_ns = now;
            state.stall_base = self.dies.busy;
        }
    }

    /// The part of a wait since `base` that is cleaning's: in the share that the dies spent on it meanwhile.
    #[inline]
    fn cleaning_share(&self, waited: Nanos, base: BusyTime) -> Nanos {
        let busy = self.dies.busy;
        let (host, cleaning) = (busy.host_ns - base.host_ns, busy.cleaning_ns - base.cleaning_ns);
        if cleaning == 0 { 0 } else { share(waited, cleaning, host + cleaning) }
    }

    /// A command that waited for flash until now: one program is flash's own time, the rest is waiting.
    fn end_flash_wait(&mut self, slot: u32, now: Nanos) {
        let state = &self.slots[slot as usize];
        let waited = now - state.waiting_for_flash_ns.min(now);
        let flash = waited.min(self.dies.page_program_ns);
        let cleaning = self.cleaning_share(waited - flash, state.stall_base);
        let split = &mut self.slots[slot as usize].split;
        split.flash_ns += flash;
        split.cleaning_ns += cleaning;
    }

    /// A write need not wait for buffer space any more.
    #[inline]
    pub(crate) fn end_stall(&mut self, slot: u32, now: Nanos) {
        let state = &self.slots[slot as usize];
        if state.stalled_since_ns != NONE_NS {
            let share = self.cleaning_share(now - state.stalled_since_ns, state.stall_base);
            self.slots[slot as usize].split.cleaning_ns += share;
        }
    }

    /// An entry of the buffer is in flash (or needs no flash any more).
    #[inline]
    pub(crate) fn entry_done(&mut self, waiter: u32, order: u64, now: Nanos) {
        if waiter != NONE {
            let state = &mut self.slots[waiter as usize];
            state.pending -= 1;
            if state.pending == 0 && state.admitted {
                self.end_flash_wait(waiter, now);
                let at = self.link_free_ns.max(now);
                self.complete(waiter, at);
            }
        }
        if !self.flushes.is_empty() {
            self.advance_flushes(now, |slot| order < slot.flush_order);
        }
    }

    /// One thing has reached flash: flushes for which it `counts` have one less to wait for.
    pub(crate) fn advance_flushes(&mut self, now: Nanos, counts: impl Fn(&Slot) -> bool) {
        let mut index = 0;
        while index < self.flushes.len() {
            let slot = self.flushes[index];
            let state = &mut self.slots[slot as usize];
            if counts(state) && !sabotage::is(Sabotage::FlushForgets) {
                state.pending -= 1;
            }
            if state.pending == 0 {
                self.end_flash_wait(slot, now);
                self.flushes.remove(index);
                self.finish_without_data(slot, now);
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
            self.finish_without_data(slot, now);
            return;
        }
        let state = &mut self.slots[slot as usize];
        state.pending = pending;
        state.flush_order = self.buffer.next_order();
        state.log_pages = begun;
        state.waiting_for_flash_ns = now;
        state.stall_base = self.dies.busy;
        self.flushes.push(slot);
        M::drain(self, now);
    }

    /// Status of a flush or trim goes over the link.
    pub(crate) fn finish_without_data(&mut self, slot: u32, now: Nanos) {
        let link_ns = self.slots[slot as usize].link_ns;
        self.link_free_ns = self.link_free_ns.max(now) + link_ns;
        self.meters.link_busy_ns += link_ns;
        self.complete(slot, self.link_free_ns);
    }

    /// Frees the whole units inside the range, if the firmware knows trims; sectors of units that are only partly
    /// inside keep their data.
    fn trim(&mut self, slot: u32, now: Nanos) {
        if !self.mapping.takes_trims() {
            self.finish_without_data(slot, now);
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
                    None => self.entry_done(dropped.waiter, dropped.order, now),
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
        self.finish_without_data(slot, now);
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
        if !self.mapping.keeps_stamps() {
            return;
        }
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
