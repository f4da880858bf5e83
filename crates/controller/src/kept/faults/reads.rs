//! Reads from flash with wrong bits: retries, sectors that are lost, blocks that are moved in time.
//!
//! What can't be read when a unit is moved or completed is lost for good: the new place is marked, so that nobody takes
//! what it holds for data. A mark stands for a 32nd of a unit, or for a sector if that is more. Where bytes are kept, marks
//! go with the unit's cell; in the laboratory they are kept by unit.

use drivelab_ftl::LogMapping;
use drivelab_nand::{BlockIndex, Lpn, Ppn};
use drivelab_sim::Nanos;

use super::aging::{Found, Place};
use super::marks_of;
use crate::buffer::EntryState;
use crate::command::Outcome;
use crate::drive::{Scheduled, SolidStateDrive};
use crate::flash::FlashWait;

/// Marks that a unit's word has room for.
const MARKS: u32 = 32;

/// Units of one page, which are sensed together; of a unit of several pages all of them.
#[derive(Clone, Copy)]
struct SensedPage {
    page: u64,
    ppn: Ppn,
    /// The planes on which it lies, a bit each.
    planes: u64,
    /// What is moved each time that it is sensed again: from the first sector of the unit at `ppn` on, so many.
    range: (u32, u64),
    bytes: u64,
    /// Sensings of each of them that it took at once; 0: it had been read ahead.
    sensings: u32,
    /// How often it is sensed again, because of the unit that needs it most often.
    retries: u32,
}

impl SensedPage {
    /// Another unit, which lies behind it; `false`: on another page.
    fn join(&mut self, other: &Self) -> bool {
        let is_same = self.page == other.page;
        if is_same && self.retries == 0 {
            *self = Self { sensings: self.sensings, ..*other };
        } else if is_same && other.retries > 0 {
            self.range.1 += other.range.1;
            self.bytes += other.bytes;
            self.retries = self.retries.max(other.retries);
        }
        is_same
    }
}

/// What reading sectors of a unit gives.
#[derive(Default)]
struct UnitRead {
    /// Sectors of the unit that are lost: the first, and how many.
    lost: Vec<(u32, u32)>,
    /// If it lies in flash: where, and how often its page must be sensed again.
    sensed: Option<(Ppn, u32)>,
}

impl<M: Scheduled> SolidStateDrive<M> {
    /// Sectors that a mark stands for.
    fn sectors_per_mark(&self) -> u32 {
        self.sectors_per_unit.div_ceil(MARKS)
    }

    /// The marks of sectors that are lost.
    fn marks(&self, ranges: &[(u32, u32)]) -> u32 {
        let size = self.sectors_per_mark();
        let bits = |&(first, count): &(u32, u32)| {
            (first / size..(first + count).div_ceil(size)).fold(0, |marks, bit| marks | 1 << bit)
        };
        ranges.iter().map(bits).fold(0, |all, marks| all | marks)
    }

    /// Marks that are gone when sectors are written: those of which all sectors are.
    pub(crate) fn marks_written(&self, (first, count): (u32, u32)) -> u32 {
        let size = self.sectors_per_mark();
        let end = if first + count == self.sectors_per_unit { MARKS } else { (first + count) / size };
        (first.div_ceil(size)..end).fold(0, |marks, bit| marks | 1 << bit)
    }

    /// What the rest of a unit has lost on its way into the buffer.
    pub(crate) fn take_lost_rest(&mut self) -> u32 {
        self.faults.as_mut().map_or(0, |faults| std::mem::take(&mut faults.lost_rest))
    }

    /// A page was programmed.
    pub(crate) fn note_age(&mut self, first: Ppn, now: Nanos) {
        let page = (self.layout.block_of(first), self.layout.page_of(first));
        if let Some(aging) = self.faults.as_mut().and_then(|faults| faults.aging.as_mut()) {
            aging.note_programmed(page, now);
        }
    }

    /// Reads sectors of a unit in flash: what can't be given back, and how often they were read. `None`: there is no
    /// model of wrong bits, nothing was ever lost.
    fn read_bits(&mut self, ppn: Ppn, range: (u32, u32), now: Nanos) -> Option<Found> {
        let faults = self.faults.as_mut()?;
        let seed = faults.bits_seed();
        let aging = faults.aging.as_mut()?;
        let block = self.layout.block_of(ppn);
        let flash = self.mapping.flash();
        let sequence = flash.first_sequence(block);
        let (mode, erase_count) = (flash.mode(block), flash.erase_count(block));
        let (page, planes) = (self.layout.page_of(ppn), self.flash.planes_of_unit(ppn, range));
        let place = Place { block, page, planes, ppn, mode, sequence, erase_count };
        let found = aging.read(seed, place, range, now);
        faults.counters.corrected_codewords += found.corrected;
        faults.counters.uncorrectable_codewords += found.uncorrectable;
        if found.wants_refresh {
            self.refresh(block);
        }
        Some(found)
    }

    fn refresh(&mut self, block: BlockIndex) {
        // Moving blocks needs the bookkeeping of blocks that are emptied first.
        let _ = self.mapping.expect_failures();
        if self.mapping.refresh(block)
            && let Some(faults) = &mut self.faults
        {
            faults.counters.blocks_refreshed += 1;
            faults.is_refresh_due = true;
        }
    }

    /// Sectors of a unit that are known to be lost.
    fn marked(&self, marks: u32, (first, count): (u32, u32)) -> Vec<(u32, u32)> {
        let size = self.sectors_per_mark();
        let lost = |&sector: &u32| marks >> (sector / size) & 1 != 0;
        (first..first + count).filter(lost).map(|sector| (sector, 1)).collect()
    }

    /// A read of sectors that lie together, in flash (`bytes` from one page) or in the buffer, which has waited for them
    /// as `wait` says: notes what is lost of them, and waits for all retries.
    #[inline(never)]
    pub(crate) fn read_with_faults(
        &mut self,
        slot: u32,
        (lba, sectors): (u64, u64),
        wait: &mut FlashWait,
        now: Nanos,
    ) {
        if self.faults.as_ref().is_none_or(|faults| faults.aging.is_none())
            && !self.mapping.keeps_lost_sectors()
        {
            return;
        }
        let command_lba = self.slots[slot as usize].command.lba;
        let (mut at, end) = (lba, lba + sectors);
        let was_read_ahead = self.read_ahead.ready(self.unit_of(lba).0).is_some();
        let mut page: Option<SensedPage> = None;
        while at < end {
            let (unit, first) = self.unit_of(at);
            let count = u64::from(self.sectors_per_unit - first).min(end - at) as u32;
            let UnitRead { lost, sensed } = self.lost_of(Lpn(unit), (first, count), now);
            // A read that has failed already, by whatever fault, isn't counted again.
            if !lost.is_empty()
                && self.slots[slot as usize].outcome != Outcome::Uncorrectable
                && let Some(faults) = &mut self.faults
            {
                faults.note_lost_read();
            }
            for (sector, count) in lost {
                self.fail_sectors(slot, ((at - command_lba) as u32 + sector - first, count));
            }
            if let Some((ppn, retries)) = sensed {
                let mut next = self.sensed_page(ppn, (first, count), retries);
                if was_read_ahead {
                    next.sensings = 0;
                }
                if !page.as_mut().is_some_and(|page| page.join(&next)) {
                    self.end_sensing(page.replace(next), wait, now, false);
                }
            }
            at += u64::from(count);
        }
        self.end_sensing(page, wait, now, false);
    }

    /// The page of a unit of which some sectors are read.
    fn sensed_page(&self, ppn: Ppn, (first, count): (u32, u32), retries: u32) -> SensedPage {
        let bytes = u64::from(self.layout.unit_bytes.min(self.layout.geometry.program_bytes()));
        let (page, sensings) = (self.flash.page_number(ppn), self.flash.pages_of_unit(first, count));
        let planes = self.flash.planes_of_unit(ppn, (first, count));
        let sensings = sensings.div_ceil(planes.count_ones());
        SensedPage { page, ppn, planes, range: (first, count.into()), bytes, sensings, retries }
    }

    /// Units from the one at `ppn` on are read ahead of the host: what that does to their block.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_read_ahead(&mut self, ppn: Ppn, units: u32) {
        let mut last = None;
        for index in 0..units {
            let page = self.sensed_page(Ppn(ppn.0 + index), (0, self.sectors_per_unit), 0);
            if last.replace(page.page) != Some(page.page) {
                self.note_sensings(&page, page.sensings);
                self.forget_sensed_ahead(page.page);
            }
        }
    }

    /// A page is read ahead anew.
    fn forget_sensed_ahead(&mut self, page: u64) {
        if let Some(faults) = &mut self.faults {
            faults.sensed_ahead = faults.sensed_ahead.filter(|&(other, _)| other != page);
        }
    }

    /// The planes of a page were sensed so often.
    fn note_sensings(&mut self, page: &SensedPage, sensings: u32) {
        let planes = (self.layout.block_of(page.ppn), page.planes);
        if let Some(aging) = self.faults.as_mut().and_then(|faults| faults.aging.as_mut()) {
            aging.note_sensings(planes, sensings);
        }
    }

    /// What of a unit's sectors is lost.
    fn lost_of(&mut self, lpn: Lpn, range: (u32, u32), now: Nanos) -> UnitRead {
        if let Some(id) = self.buffer.find(lpn) {
            let marks = self.buffer.stamps(id).map_or(0, |words| marks_of(words[0]));
            return UnitRead { lost: self.marked(marks | self.lost_by_unit(lpn), range), sensed: None };
        }
        let Some(ppn) = self.mapping.lookup(lpn) else { return UnitRead::default() };
        let marks = self.mapping.lost_sectors(ppn) | self.lost_by_unit(lpn);
        let found = self.read_bits(ppn, range, now).unwrap_or_default();
        let mut lost = self.marked(marks, range);
        lost.extend(
            found.lost.iter().filter(|&&(first, _)| marks >> (first / self.sectors_per_mark()) & 1 == 0),
        );
        lost.sort_unstable();
        UnitRead { lost, sensed: Some((ppn, found.retries)) }
    }

    /// Marks of a unit's lost sectors where they are kept by unit.
    fn lost_by_unit(&self, lpn: Lpn) -> u32 {
        let aging = self.faults.as_ref().and_then(|faults| faults.aging.as_ref());
        aging.map_or(0, |aging| aging.lost_sectors(lpn))
    }

    /// Sectors of the unit that lies, or lay, at a place are lost for good, where marks are kept by unit.
    fn lose_by_unit(&mut self, ppn: Ppn, marks: u32) {
        if let Some(lpn) = self.mapping.flash().peek(ppn)
            && let Some(aging) = self.faults.as_mut().and_then(|faults| faults.aging.as_mut())
        {
            aging.lose_sectors(lpn, marks);
        }
    }

    /// Whether the buffer has a version of a unit that is not in flash yet: what flash has is not what the host will read.
    fn is_replaced(&self, lpn: Lpn) -> bool {
        self.buffer.find(lpn).is_some_and(|id| self.buffer.entry(id).state == EntryState::Queued)
    }

    /// Sectors have come into the buffer, or were trimmed: what they held is of no interest any more. Only where marks are
    /// kept by unit.
    #[cold]
    #[inline(never)]
    pub(crate) fn replace_lost(&mut self, (lba, sectors): (u64, u32)) {
        if self.faults.as_ref().and_then(|faults| faults.aging.as_ref()).is_none_or(|aging| !aging.has_lost())
        {
            return;
        }
        let (mut at, end) = (lba, lba + u64::from(sectors));
        while at < end {
            let (unit, first) = self.unit_of(at);
            let count = u64::from(self.sectors_per_unit - first).min(end - at) as u32;
            let marks = self.marks_written((first, count));
            if let Some(aging) = self.faults.as_mut().and_then(|faults| faults.aging.as_mut()) {
                aging.replace_sectors(Lpn(unit), marks);
            }
            at += u64::from(count);
        }
    }

    /// A page was sensed, and is sensed again with other thresholds as often as it needs.
    fn end_sensing(&mut self, page: Option<SensedPage>, wait: &mut FlashWait, now: Nanos, is_cleaning: bool) {
        let Some(sensed) = page else { return };
        let SensedPage { page, ppn, range, bytes, sensings, mut retries, .. } = sensed;
        if sensings == 0
            && let Some(faults) = &mut self.faults
        {
            // It lies in memory as it was sensed last: for the read before this one, perhaps.
            let known = faults.sensed_ahead.filter(|&(other, _)| other == page).map_or(0, |(_, known)| known);
            faults.sensed_ahead = Some((page, known.max(retries)));
            retries = retries.saturating_sub(known);
        }
        self.note_sensings(&sensed, sensings + retries);
        if let Some(faults) = &mut self.faults {
            faults.counters.read_retries += u64::from(retries);
        }
        for _ in 0..retries {
            self.flash.sense_again((self.mapping.flash(), ppn), range, (bytes, is_cleaning), wait, now);
        }
    }

    /// The rest of a unit comes from flash, all but `written`: what of it is lost is remembered for the unit that comes
    /// into the buffer. When it is there with all retries.
    #[inline(never)]
    pub(crate) fn complete_with_faults(
        &mut self,
        ppn: Ppn,
        written: (u32, u32),
        ready: Nanos,
        now: Nanos,
    ) -> Nanos {
        let Some(found) = self.read_bits(ppn, (0, self.sectors_per_unit), now) else { return ready };
        let marks = self.marks(&found.lost) & !self.marks_written(written);
        if self.durable.is_none() {
            self.lose_by_unit(ppn, marks);
        } else if let Some(faults) = &mut self.faults {
            faults.lost_rest = marks;
        }
        let mut wait = FlashWait::none(ready);
        let page = self.sensed_page(ppn, (0, self.sectors_per_unit), found.retries);
        self.end_sensing(Some(page), &mut wait, now, false);
        wait.ready_ns
    }

    /// Looks at one block in passing: whether its data should be moved while it can still be corrected.
    pub(crate) fn patrol(&mut self, now: Nanos) {
        let Some(aging) = self.faults.as_mut().and_then(|faults| faults.aging.as_mut()) else { return };
        if aging.model().refresh_bits == 0 {
            return;
        }
        let block = BlockIndex(aging.patrol);
        aging.patrol = (aging.patrol + 1) % self.layout.block_count();
        let flash = self.mapping.flash();
        let bytes = u64::from(flash.write_pointer(block)) * u64::from(self.layout.geometry.program_bytes());
        let codewords = bytes / u64::from(aging.model().codeword_bytes);
        if codewords > 0
            && aging.wants_refresh(block, (flash.mode(block), flash.erase_count(block)), codewords, now)
        {
            self.refresh(block);
        }
    }
}

impl<M: LogMapping + Scheduled> SolidStateDrive<M> {
    /// The units of the last page of copies, which goes to `to`: what can't be read of them is lost. When they have
    /// been read with all retries.
    #[inline(never)]
    pub(crate) fn copy_with_faults(&mut self, to: Ppn, ready: Nanos, now: Nanos) -> Nanos {
        let mut wait = FlashWait::none(ready);
        let whole = (0, self.sectors_per_unit);
        let mut page: Option<SensedPage> = None;
        for index in 0..self.mapping.copied_places().len() {
            let from = self.mapping.copied_places()[index];
            let Some(found) = self.read_bits(from, whole, now) else { break };
            let next = self.sensed_page(from, whole, found.retries);
            if !page.as_mut().is_some_and(|page| page.join(&next)) {
                self.end_sensing(page.replace(next), &mut wait, now, true);
            }
            let (marks, place) = (self.marks(&found.lost), Ppn(to.0 + index as u32));
            if self.durable.is_some() {
                self.mapping.lose_sectors(place, marks);
            } else if self.mapping.flash().peek(place).is_none_or(|lpn| !self.is_replaced(lpn)) {
                self.lose_by_unit(place, marks);
            }
        }
        self.end_sensing(page, &mut wait, now, true);
        wait.ready_ns
    }
}
