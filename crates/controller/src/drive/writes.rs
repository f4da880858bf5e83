//! Writes: into the buffer, in order, as far as there is space.

use drivelab_nand::Lpn;
use drivelab_sim::Nanos;
use drivelab_sim::time::{Shares, share};

use super::{Scheduled, Slot, SolidStateDrive};
use crate::buffer::{EntryState, NONE, sector_bits};
use crate::command::{Op, SECTOR_BYTES};
use crate::flash::Sensing;
use crate::host::link::Link;

impl<M: Scheduled> SolidStateDrive<M> {
    /// Lets waiting writes into the buffer, in order, as far as there is space.
    #[inline]
    pub(crate) fn admit(&mut self, now: Nanos) {
        if self.faults.is_some() {
            while self.refuse_waiting(now) {}
        }
        while let Some(&slot) = self.admission.front() {
            if self.begin_waiting_read(now) {
                continue;
            }
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
            let told_ns = state.account.told_ns;
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
    pub(super) fn waits_for_flash(&self, slot: u32) -> bool {
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
        let at_once = self.admits_at_once(total - self.slots[slot as usize].sectors_done);
        let mut done = self.slots[slot as usize].sectors_done;
        let mut link_done = share(link_ns, u64::from(done), u64::from(total));
        let (first, link_before, link_from) = (done, link_done, self.way_in().free_ns(now));
        while done < total {
            if at_once {
                (done, link_done) = self.admit_new_units(slot, (done, link_done), waiter, now);
                if done == total {
                    break;
                }
            }
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
            self.mapping.prefetch_change(Lpn(unit));
            let stored = self.stored_of(&command, unit - first_unit, !partial);
            let link_after = share(link_ns, u64::from(done + sectors), u64::from(total));
            let on_link = link_after - link_done;
            link_done = link_after;
            let arrival = self.way_in().carry(on_link, now);
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
            state.account.queued_until(link_from);
            state.account.on_link(link_done - link_before);
            state.sectors_done = done;
            if self.faults.is_some() {
                self.replace_lost((command.lba + u64::from(first), done - first));
            }
        }
        done == total
    }

    /// Whether units of so many sectors may enter together: of one there is nothing to gain, and what is kept beside units
    /// is kept unit by unit.
    #[inline]
    fn admits_at_once(&self, sectors: u32) -> bool {
        sectors >= 2 * self.sectors_per_unit
            && self.buffer.has_room_for(2)
            && self.buffer.clusters().is_none()
            && self.durable.is_none()
            && !self.mapping.keeps_stamps()
            && self.read_ahead.is_empty()
    }

    /// Of a long write, of which `done` sectors are in the buffer after `link_done` on the link: puts units there that it
    /// covers whole and that are new there, as long as they follow one another and there is space. The same two after it.
    #[inline]
    fn admit_new_units(
        &mut self,
        slot: u32,
        (done, link_done): (u32, Nanos),
        waiter: u32,
        now: Nanos,
    ) -> (u32, Nanos) {
        let Slot { command, link_ns, .. } = &self.slots[slot as usize];
        let (link_ns, each) = (*link_ns, self.sectors_per_unit);
        let whole = (command.sector_count - done) / each;
        if whole < 2 {
            return (done, link_done);
        }
        let (unit, sector) = self.unit_of(command.lba + u64::from(done));
        let (first_unit, _) = self.unit_of(command.lba);
        let shares = Shares::after(done.into(), each.into(), link_ns, command.sector_count.into());
        let Some(mut shares) = shares.filter(|_| sector == 0) else { return (done, link_done) };
        debug_assert!(
            M::takes_host_data(self, Lpn(unit)),
            "only groups of units are refused, and there are none"
        );
        let link = if self.config.link.full_duplex { &mut self.link_in } else { &mut self.link };
        let (mapping, content) = (&self.mapping, &command.content);
        let mut link_done = link_done;
        let count = self.buffer.insert_new(Lpn(unit), whole, (now, waiter), |lpn| {
            mapping.prefetch_change(lpn);
            let link_after = shares.add_step();
            let on_link = link_after - std::mem::replace(&mut link_done, link_after);
            (link.carry(on_link, now), mapping.stored(content, lpn.0 - first_unit))
        });
        if waiter != NONE {
            self.slots[slot as usize].pending += count;
        }
        (done + count * each, link_done)
    }

    /// Begins the read that is the first to wait behind writes, if it is one.
    #[inline]
    pub(crate) fn begin_waiting_read(&mut self, now: Nanos) -> bool {
        if !self.config.scheduling.in_order {
            return false;
        }
        let first = self.admission.front().copied();
        let Some(slot) = first.filter(|&slot| self.slots[slot as usize].command.op == Op::Read) else {
            return false;
        };
        self.admission.pop_front();
        self.end_stall(slot, now);
        self.begin_read(slot, now);
        true
    }

    /// The link as data of the host uses it.
    #[inline]
    fn way_in(&mut self) -> &mut Link {
        if self.config.link.full_duplex { &mut self.link_in } else { &mut self.link }
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
        let wait = self.fetch_map(lpn, now);
        let mut known = wait.ready_ns;
        let Some(ppn) = self.mapping.lookup(lpn) else { return (known, false) };
        known = known.max(self.work_on_partial(now));
        let missing = u64::from(self.mapping.read_bytes(lpn, self.sectors_per_unit - sectors));
        self.meters.units_rmw += 1;
        self.meters.read_bytes_rmw += missing;
        let die = self.layout.die_at(ppn);
        // Pages that the write covers whole need not be read.
        let program_sectors = self.layout.geometry.program_bytes() / SECTOR_BYTES as u32;
        let covered = ((sector + sectors) / program_sectors).saturating_sub(sector.div_ceil(program_sectors));
        let pages = u64::from(self.layout.pages_per_unit - covered.min(self.layout.pages_per_unit - 1));
        let sensing = Sensing { die, pages, bytes: missing, mask: 0, is_cleaning: false };
        let mut ready = self.flash.sense_from(sensing, known, now);
        if self.faults.is_some() {
            ready = self.complete_with_faults(ppn, (sector, sectors), ready, now);
        }
        (ready, true)
    }

    /// Stores the stamps of a write; of a new entry (`fresh`: its predecessor in the buffer, and whether the write
    /// covers only part) the rest comes from where the data was.
    pub(super) fn stamp_entry(
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
