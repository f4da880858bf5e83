//! Work on commands of the host: reads from caches or media, writes into the cache, flushes, trims.

use drivelab_controller::{Op, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::time::share;

use super::config::PIECE_SECTORS;
use super::write_cache::{Extent, Fit, NOBODY};
use super::{Arrival, HardDisk, PendingRead, Work};

impl HardDisk {
    /// The firmware is done with a command.
    #[inline]
    pub(super) fn begin_command(&mut self, slot: u32, now: Nanos) {
        let command = self.slots[slot as usize].command;
        match command.op {
            Op::Read => self.begin_read(slot, now),
            Op::Write => {
                self.admission.push_back(slot);
                if self.admission.len() == 1 {
                    self.admit(now);
                }
                self.dispatch_due = true;
            }
            // A disk has no use for it: the sectors keep what they hold.
            Op::Trim => self.finish_without_data(slot, now),
            Op::Flush => self.begin_flush(slot, now),
        }
    }

    fn begin_read(&mut self, slot: u32, now: Nanos) {
        let command = self.slots[slot as usize].command;
        let (lba, end) = (command.lba, command.lba + u64::from(command.sector_count));
        if self.write_cache.holds(lba, end) {
            self.collect_waiting(slot, lba, command.sector_count);
            self.send_cached(slot, command.sector_count, now);
            return;
        }
        // What has been read ahead so far may be what is asked for. If it is not all, the heads go on from there.
        self.stop_reading_ahead(now);
        self.dispatch_due = true;
        let cached = self.read_cache.hit(lba, command.sector_count);
        self.ahead_of = Some(end);
        if cached > 0 {
            self.collect_cached(slot, lba, cached);
            self.send_cached(slot, cached, now);
        }
        if cached < command.sector_count {
            let lba = lba + u64::from(cached);
            let order = self.next_order();
            let place = self.geometry.place(lba);
            self.reads.push(PendingRead { slot, order, arrived_ns: now, lba, end, place });
        }
    }

    /// Sectors of a read that were in a cache go to the host.
    fn send_cached(&mut self, slot: u32, sectors: u32, now: Nanos) {
        self.meters.buffer_hit_bytes += u64::from(sectors) * SECTOR_BYTES;
        self.send(slot, sectors, (now, now), now);
    }

    /// Sectors of a read that have come together from `begin` until `now` go to the host while they come; the heads were
    /// sent for them at `sent`.
    pub(super) fn send(&mut self, slot: u32, sectors: u32, (sent, begin): (Nanos, Nanos), now: Nanos) {
        let state = &mut self.slots[slot as usize];
        let total = state.command.sector_count;
        let offset = state.sectors_done;
        let before = share(state.link_ns, u64::from(offset), u64::from(total));
        state.sectors_done += sectors;
        let done = state.sectors_done == total;
        let on_link = share(state.link_ns, u64::from(state.sectors_done), u64::from(total)) - before;
        let link = &self.config.link;
        let frame_ns = link.command_ns(u64::from(link.frame_bytes));
        // The last frame leaves when its last sector is there.
        let start = self.link.free_ns(begin);
        let end = self.link.carry_until((start + on_link).max(now + on_link.min(frame_ns)), on_link);
        // As long as the link waits for sectors the heads work; once they are done, sectors wait for the link.
        let without_link = end - on_link;
        state.media_worked(sent, without_link.min(now));
        state.account.queued_until(without_link);
        state.account.on_link(on_link);
        self.send_cells(slot, offset, sectors);
        if done {
            if self.media.is_some() {
                let stamps = std::mem::take(&mut self.partial_stamps[slot as usize]);
                self.read_stamps.push((self.slots[slot as usize].command.tag, stamps));
            }
            self.complete(slot, end);
        }
    }

    pub(super) fn next_order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    /// Takes data of waiting writes into the cache, in order, as long as there is room.
    pub(super) fn admit(&mut self, now: Nanos) {
        while let Some(&slot) = self.admission.front() {
            if !self.admit_pieces(slot, now) {
                return;
            }
            self.admission.pop_front();
            let state = &mut self.slots[slot as usize];
            state.admitted = true;
            if state.pending == 0 {
                self.complete_write(slot, now);
            }
        }
    }

    /// Whether all data of a write is in the cache or on its way.
    fn admit_pieces(&mut self, slot: u32, now: Nanos) -> bool {
        let state = self.slots[slot as usize];
        let (command, link_ns) = (state.command, state.link_ns);
        let alone = command.fua || !self.config.write_cache.write_back;
        let total = command.sector_count;
        let mut done = state.sectors_done;
        while done < total {
            let sectors = PIECE_SECTORS.min(total - done);
            let lba = command.lba + u64::from(done);
            let continues = self
                .arrivals
                .back()
                .is_some_and(|last| !last.alone && last.lba + u64::from(last.sectors) == lba);
            let needs_extent =
                alone || !continues && self.write_cache.fit(lba, lba + u64::from(sectors), alone) == Fit::New;
            if !self.write_cache.room(sectors, needs_extent) {
                break;
            }
            self.write_cache.claim(sectors, needs_extent);
            let on_link = share(link_ns, u64::from(done + sectors), u64::from(total))
                - share(link_ns, u64::from(done), u64::from(total));
            let state = &mut self.slots[slot as usize];
            let at_ns = self.link.carry_for(&mut state.account, on_link, now);
            if alone {
                state.pending += 1;
                self.awaited_extents += 1;
            }
            self.arrivals.push_back(Arrival {
                at_ns,
                slot,
                lba,
                sectors,
                stamp: command.stamp + u64::from(done),
                tag: command.tag,
                offset: done,
                alone,
                claimed: needs_extent,
            });
            done += sectors;
        }
        self.slots[slot as usize].sectors_done = done;
        done == total
    }

    /// Data of a write is in the cache.
    pub(super) fn data_arrived(&mut self, now: Nanos) {
        let Some(arrival) = self.arrivals.pop_front() else { return };
        let Arrival { lba, sectors, stamp, alone, .. } = arrival;
        let end = lba + u64::from(sectors);
        if self.job.work == Work::ReadAhead && self.job.lba < end {
            // It may be what is being read.
            self.stop_reading_ahead(now);
        }
        self.read_cache.invalidate(lba, end);
        self.write_cache.arrived(arrival.claimed);
        let stamps: Vec<u64> = match &mut self.durable {
            Some(durable) => durable.fill(sectors, arrival.tag, arrival.offset),
            None if self.media.is_some() => (stamp..stamp + u64::from(sectors)).collect(),
            None => Vec::new(),
        };
        match self.write_cache.fit(lba, end, alone) {
            Fit::Join(index) => {
                let extent = self.write_cache.extent_mut(index);
                extent.sectors += sectors;
                extent.stamps.extend(stamps);
            }
            Fit::Replace(index) => {
                self.write_cache.release(sectors);
                self.meters.coalesced_bytes += u64::from(sectors) * SECTOR_BYTES;
                let extent = self.write_cache.extent_mut(index);
                let first = (lba - extent.lba) as usize;
                let places = first..first + stamps.len();
                if !stamps.is_empty() {
                    let old = extent.stamps.splice(places, stamps);
                    match &mut self.durable {
                        Some(durable) => durable.give(old),
                        None => drop(old),
                    }
                }
                self.admit(now);
            }
            Fit::New => {
                let order = self.next_order();
                self.write_cache.push(Extent {
                    lba,
                    sectors,
                    order,
                    arrived_ns: now,
                    waiter: if alone { arrival.slot } else { NOBODY },
                    sealed: false,
                    active: false,
                    place: self.geometry.place(lba),
                    stamps,
                });
            }
        }
        self.dispatch_due = true;
    }

    /// An extent is on the media; it was busy there for `busy_ns` at the end.
    pub(super) fn extent_done(&mut self, extent: &Extent, busy_ns: Nanos, now: Nanos) {
        if extent.waiter != NOBODY {
            self.awaited_extents -= 1;
            let state = &mut self.slots[extent.waiter as usize];
            state.pending -= 1;
            if state.pending == 0 && state.admitted {
                self.complete_write(extent.waiter, now);
            }
        }
        let mut index = 0;
        while index < self.flushes.len() {
            let slot = self.flushes[index];
            let state = &mut self.slots[slot as usize];
            state.pending -= u32::from(extent.order < state.flush_order);
            if state.pending == 0 {
                state.media_worked(now - busy_ns, now);
                self.flushes.remove(index);
                self.finish_without_data(slot, now);
            } else {
                index += 1;
            }
        }
    }

    fn begin_flush(&mut self, slot: u32, now: Nanos) {
        let pending = self.write_cache.seal();
        if pending == 0 {
            self.finish_without_data(slot, now);
            return;
        }
        let flush_order = self.next_order();
        let state = &mut self.slots[slot as usize];
        state.pending = pending;
        state.flush_order = flush_order;
        self.flushes.push(slot);
        self.dispatch_due = true;
    }

    /// Status of a flush or trim goes over the link.
    fn finish_without_data(&mut self, slot: u32, now: Nanos) {
        let state = &mut self.slots[slot as usize];
        let end = self.link.finish(&mut state.account, state.link_ns, now);
        self.complete(slot, end);
    }

    /// A write is done now, all of whose data has been on the link; the status waits for others' data there.
    fn complete_write(&mut self, slot: u32, now: Nanos) {
        let at = self.link.wait_for(&mut self.slots[slot as usize].account, now);
        self.complete(slot, at);
    }

    /// A command is done: it leaves over the link at `completed_ns`, not before any other.
    #[inline]
    fn complete(&mut self, slot: u32, completed_ns: Nanos) {
        self.queue.complete(slot, self.slots[slot as usize].command.tag, completed_ns);
    }

    /// Stamps of sectors that wait in the write cache.
    fn collect_waiting(&mut self, slot: u32, lba: u64, sectors: u32) {
        if self.media.is_some() {
            let mut stamps = vec![0; sectors as usize];
            self.write_cache.overlay(lba, &mut stamps);
            self.partial_stamps[slot as usize].extend(stamps);
        }
    }

    fn collect_cached(&mut self, slot: u32, lba: u64, sectors: u32) {
        if self.media.is_some() {
            self.partial_stamps[slot as usize].extend_from_slice(self.read_cache.stamps(lba, sectors));
        }
    }
}
