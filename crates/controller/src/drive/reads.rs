//! Reads: where data is, what of it comes together, and what is read ahead of a sequence.

use drivelab_ftl::MapFetch;
use drivelab_nand::{Lpn, Ppn};
use drivelab_sim::Nanos;
use drivelab_sim::time::share;

use super::events::Event;
use super::{Scheduled, Slot, SolidStateDrive};
use crate::buffer::sector_bits;
use crate::command::{Command, SECTOR_BYTES};
use crate::flash::{FlashWait, Sensing};

impl<M: Scheduled> SolidStateDrive<M> {
    pub(crate) fn begin_read(&mut self, slot: u32, now: Nanos) {
        let Slot { command: Command { lba, sector_count, .. }, .. } = self.slots[slot as usize];
        let (unit, sector) = self.unit_of(lba);
        // Most reads of most drives: a unit, or a part of one, that is in flash and nowhere else.
        if u64::from(sector) + u64::from(sector_count) <= u64::from(self.sectors_per_unit)
            && self.times_alone_matter()
            && self.buffer.find(Lpn(unit)).is_none()
            && let Some(ppn) = self.mapping.sensed(Lpn(unit))
            && self.read_ahead.is_elsewhere(lba, lba + u64::from(sector_count))
        {
            let mut wait = self.fetch_map(Lpn(unit), now);
            let bytes = u64::from(self.mapping.read_bytes(Lpn(unit), sector_count));
            self.meters.read_bytes_host += bytes;
            let place = (self.mapping.flash(), ppn);
            self.flash.read(place, (sector, u64::from(sector_count)), bytes, &mut wait, now);
            self.finish_after(slot, &wait, now);
        } else {
            self.begin_any_read(slot, now);
        }
    }

    /// Whether nobody wants to know what was read.
    #[inline]
    fn times_alone_matter(&self) -> bool {
        self.durable.is_none() && self.faults.is_none() && !self.mapping.keeps_stamps()
    }

    /// A read of whatever there is.
    #[inline(never)]
    fn begin_any_read(&mut self, slot: u32, now: Nanos) {
        let Slot { command: Command { tag, lba: first, sector_count, .. }, link_ns, .. } =
            self.slots[slot as usize];
        let total = u64::from(sector_count);
        let end = first + total;
        let mut critical = FlashWait::none(now);
        let is_durable = self.durable.is_some();
        let mut stamps = (self.mapping.keeps_stamps() && !is_durable).then(Vec::new);
        // They wait for each other; what is alone waits for others only.
        let has_pieces = self.unit_of(first).0 != self.unit_of(end - 1).0;
        if has_pieces {
            self.flash.begin_pieces();
        }
        let mut of_line = FlashWait::none(now);
        let mut lba = first;
        while lba < end {
            let (unit, sector) = self.unit_of(lba);
            let mut sectors = u64::from(self.sectors_per_unit - sector).min(end - lba);
            if let Some(out) = &mut stamps {
                self.collect_stamps(Lpn(unit), sector, sectors, out);
            } else if is_durable {
                self.send(Lpn(unit), sector, sectors, slot, lba);
            }
            let mut read = if let Some(id) = self.buffer.find(Lpn(unit)) {
                self.read_buffer(id, Lpn(unit), sector, sectors, now)
            } else {
                let sensed = self.mapping.sensed(Lpn(unit));
                if sensed.is_none() {
                    self.meters.zero_read_bytes += sectors * SECTOR_BYTES;
                }
                if let Some(ready_ns) = self.read_ahead.ready(unit) {
                    // Those of one page came with one sensing: its retries are of all of them.
                    if self.faults.is_some()
                        && let Some(ppn) = sensed
                    {
                        (sectors, _) =
                            self.extend_on_page(lba, end, ppn, unit, sectors, (stamps.as_mut(), slot));
                    }
                    FlashWait::under_way(now, ready_ns)
                } else {
                    // Where the map isn't in memory, it must be read even to know that there is nothing.
                    let mut wait = self.fetch_map_of_piece(Lpn(unit), &mut of_line, now);
                    if let Some(ppn) = sensed {
                        // Units that follow on the same page come with the same sensing.
                        let (together, bytes) =
                            self.extend_on_page(lba, end, ppn, unit, sectors, (stamps.as_mut(), slot));
                        sectors = together;
                        self.meters.read_bytes_host += bytes;
                        let place = (self.mapping.flash(), ppn);
                        if has_pieces {
                            self.flash.read_piece(place, (sector, sectors), bytes, &mut wait, now);
                        } else {
                            self.flash.read(place, (sector, sectors), bytes, &mut wait, now);
                        }
                    }
                    wait
                }
            };
            if self.faults.is_some() {
                self.read_with_faults(slot, (lba, sectors), &mut read, now);
            }
            // The link must not run dry: it starts so late that every piece is there when its turn comes.
            let before = if total == sectors { 0 } else { share(link_ns, lba - first, total) };
            if read.ready_ns.saturating_sub(before) > critical.ready_ns {
                critical = read.without_last(before);
            }
            lba += sectors;
        }
        if let Some(out) = stamps {
            self.read_stamps.push((tag, out));
        }
        if self.read_ahead.is_on() {
            self.read_on(first, end, now);
        }
        self.finish_after(slot, &critical, now);
    }

    /// What is left of a command goes over the link when what it waits for is there.
    #[inline]
    pub(super) fn finish_after(&mut self, slot: u32, wait: &FlashWait, now: Nanos) {
        let state = &mut self.slots[slot as usize];
        state.account.split.queueing_ns += wait.queueing_ns;
        state.account.split.cleaning_ns += wait.cleaning_ns;
        state.account.split.flash_ns += wait.flash_ns;
        state.account.told_ns = wait.ready_ns;
        if wait.ready_ns == now {
            self.finish_over_link(slot, now);
        } else {
            self.events.push(wait.ready_ns, Event::ReadReady(slot));
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
            self.flash.read((self.mapping.flash(), ppn), (sector, sectors), bytes, &mut read, now);
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
        (mut stamps, slot): (Option<&mut Vec<u64>>, u32),
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
                self.send(next, 0, more, slot, lba + sectors);
            }
            let previous = Lpn(next.0 - 1);
            bytes += u64::from(self.mapping.read_bytes_beside(previous, next, more as u32));
            sectors += more;
            distance += 1;
        }
        (sectors, bytes)
    }

    /// Reads the map entry of a unit if it is not in memory; how long that takes.
    #[inline]
    pub(crate) fn fetch_map(&mut self, lpn: Lpn, now: Nanos) -> FlashWait {
        self.fetch_map_of_piece(lpn, &mut FlashWait::none(now), now)
    }

    /// The same for a piece of a command that has waited as `of_line` says for the last line that it has read itself.
    #[inline]
    fn fetch_map_of_piece(&mut self, lpn: Lpn, of_line: &mut FlashWait, now: Nanos) -> FlashWait {
        let mut wait = FlashWait::none(now);
        let fetch = self.mapping.fetch_map(lpn);
        // What made room for it may have to be written back.
        M::write_metadata(self, now);
        if let Some(fetch) = fetch {
            // Pages of the host may have waited for this line.
            self.drain_due |= self.buffer.queued() > 0;
            self.read_line(&fetch, false, &mut wait, now);
            *of_line = wait;
        } else if M::LOADS_MAP_ON_DEMAND {
            // It may be on its way: for another command, or for the piece before.
            let arrival_ns = self.mapping.map_arrival(lpn);
            if arrival_ns == of_line.ready_ns {
                wait = *of_line;
            } else {
                wait.queued_until(arrival_ns);
            }
            wait.work(self.mapping.map_trip_ns());
        }
        wait
    }

    /// Reads a piece of the map, for what has waited so far as `wait` says.
    #[inline]
    fn read_line(&mut self, fetch: &MapFetch, is_cleaning: bool, wait: &mut FlashWait, now: Nanos) {
        let bytes = u64::from(fetch.bytes);
        self.meters.read_bytes_map += bytes;
        self.flash.sense_for(wait, Sensing { die: fetch.die, pages: 1, bytes, mask: 0, is_cleaning }, now);
        self.mapping.note_map_arrival(fetch.line, wait.ready_ns);
    }

    /// Reads the pieces of the map that what was just programmed or trimmed has changed and that were not in memory, all
    /// at once; how long that takes.
    #[inline]
    pub(crate) fn load_map(&mut self, is_cleaning: bool, now: Nanos) -> FlashWait {
        let mut last = FlashWait::none(now);
        while let Some(fetch) = self.mapping.take_map_fetch() {
            let mut wait = FlashWait::none(now);
            self.read_line(&fetch, is_cleaning, &mut wait, now);
            if wait.ready_ns > last.ready_ns {
                last = wait;
            }
        }
        last
    }

    pub(super) fn collect_stamps(&self, lpn: Lpn, sector: u32, sectors: u64, out: &mut Vec<u64>) {
        let range = sector as usize..sector as usize + sectors as usize;
        if let Some(stamps) = self.buffer.find(lpn).and_then(|id| self.buffer.stamps(id)) {
            out.extend_from_slice(&stamps[range]);
        } else if let Some(stamps) = self.mapping.stamps_of(lpn) {
            out.extend_from_slice(&stamps[range]);
        } else {
            out.extend(range.map(|_| 0));
        }
    }

    /// Reads on behind a read of the host that went from `lba` to `end`, if it went on where the one before had ended. The
    /// last page is read whole: what is left of it would have to be sensed again.
    pub(crate) fn read_on(&mut self, lba: u64, end: u64, now: Nanos) {
        let (last_unit, _) = self.unit_of(end - 1);
        let wanted = self.read_ahead.follow(lba, end, last_unit);
        let (mut unit, until) = (wanted.start, wanted.end.min(self.mapping.user_units()));
        while unit < until {
            let together = self.units_on_page(unit);
            let ready_ns = if together == 0 { now } else { self.read_unit_ahead(unit, together, now) };
            for _ in 0..together.max(1) {
                self.read_ahead.push(ready_ns);
            }
            unit += together.max(1);
        }
    }

    /// How many units from this one on come with one sensing; 0: this one needs none.
    fn units_on_page(&self, unit: u32) -> u32 {
        let Some(ppn) = self.mapping.sensed(Lpn(unit)) else { return 0 };
        if self.buffer.find(Lpn(unit)).is_some() {
            return 0;
        }
        let goes_on = |&distance: &u32| {
            let next = Lpn(unit + distance);
            self.mapping.is_on_page_of(ppn, distance, next) && self.buffer.find(next).is_none()
        };
        1 + (1..self.mapping.user_units() - unit).take_while(goes_on).count() as u32
    }

    /// Reads units of one page; when they are there.
    fn read_unit_ahead(&mut self, unit: u32, together: u32, now: Nanos) -> Nanos {
        let Some(ppn) = self.mapping.sensed(Lpn(unit)) else { return now };
        let mut wait = self.fetch_map(Lpn(unit), now);
        let sectors = self.sectors_per_unit;
        let mut bytes = u64::from(self.mapping.read_bytes(Lpn(unit), sectors));
        for next in unit + 1..unit + together {
            bytes += u64::from(self.mapping.read_bytes_beside(Lpn(next - 1), Lpn(next), sectors));
        }
        self.meters.read_bytes_host += bytes;
        self.flash.read(
            (self.mapping.flash(), ppn),
            (0, u64::from(together * sectors)),
            bytes,
            &mut wait,
            now,
        );
        if self.faults.is_some() {
            self.note_read_ahead(ppn, together);
        }
        wait.ready_ns
    }
}
