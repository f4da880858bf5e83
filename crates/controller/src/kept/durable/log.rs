//! The log of the map: trims, and what mapping schemes want kept beside the pages themselves.

use drivelab_ftl::Recoverable;
use drivelab_ftl::recovery::{LOG_TRIM, log_info};
use drivelab_nand::op::{FlashOp, NO_CELL, Record};
use drivelab_nand::{BlockIndex, DieIndex, Lpn};
use drivelab_sim::Nanos;

use super::Durable;
use super::log_page::TRIMMED_CELLS;
use crate::buffer::{Dropped, NONE};
use crate::drive::events::Event;
use crate::drive::{Scheduled, SolidStateDrive};
use crate::kept::effects::Effect;

impl Durable {
    /// The host has dropped units; `freed`: cells that no one will read once that is in the log.
    pub fn note_trim<M: Recoverable>(&mut self, mapping: &mut M, first: Lpn, count: u32) {
        let sequence = mapping.flash().next_sequence();
        let record = Record { lpn: first, cell: count, info: log_info(sequence, LOG_TRIM) };
        self.waiting.words.extend(record.to_words());
        self.superseded.clear();
        mapping.take_superseded(&mut self.superseded);
        self.waiting.freed.extend(self.superseded.iter().map(|superseded| superseded.cell));
    }

    /// A unit that waited in the buffer was dropped.
    pub fn drop_buffered(&mut self, lpn: Lpn, dropped: &Dropped) {
        let cell = dropped.word as u32;
        if self.has_capacitor {
            self.waiting.freed.push(cell);
            self.waiting.unheld.push((lpn.0, cell));
        } else {
            self.cells.give(cell);
        }
        self.dropped_orders.push(dropped.order);
        if dropped.waiter != NONE {
            self.waiting.waiters.push(dropped.waiter);
        }
    }

    /// A unit that is being programmed was dropped: the capacitor keeps it no longer than until that is in the log.
    pub fn drop_programming(&mut self, lpn: Lpn, cell: u32) {
        if self.has_capacitor {
            self.waiting.unheld.push((lpn.0, cell));
        }
    }

    /// Takes what the mapping scheme wants in the log.
    #[inline]
    pub fn collect_log<M: Recoverable>(&mut self, mapping: &mut M) {
        mapping.take_log_records(&mut self.waiting.words);
    }

    /// Whether so much waits for the log that it should be written without being asked for.
    #[inline]
    pub fn wants_log_page(&self) -> bool {
        let records = self.waiting.words.len() / Record::WORDS;
        self.has_capacitor || self.waiting.freed.len().max(records) >= TRIMMED_CELLS
    }

    /// Records that wait for a page of the log.
    pub fn waiting_records(&self) -> u64 {
        (self.waiting.words.len() / Record::WORDS) as u64
    }

    /// Whether records wait for the log.
    #[inline]
    pub fn has_records(&self) -> bool {
        !self.waiting.words.is_empty()
    }

    /// The first instant at which everything in the log so far, and what superseded data of this block, is in flash:
    /// at the very time at which these end, nothing says which end is told first.
    #[inline]
    pub fn erase_from_ns(&mut self, die: DieIndex, block: BlockIndex) -> Nanos {
        // Of pages that have not begun the end is not known: it is asked for again when the erase could begin.
        let blocks = self.fence_ns.len() as u32;
        for other in 0..self.dies.len() as u32 {
            let work = &self.dies[other as usize];
            let is_fenced = work.fenced.iter().any(|&fenced| fenced == block || fenced.0 >= blocks);
            if let Some(number) = work.pending.last().filter(|_| is_fenced).map(|pending| pending.number) {
                self.dies[die.0 as usize].waits_for.push((other, number));
            }
        }
        let known = self.log_end_ns.max(self.fence_ns[block.0 as usize]).max(self.fence_all_ns) + 1;
        known.max(self.may_begin_ns(die))
    }

    /// What waits for the log goes to it.
    fn begin_log_page(&mut self, end: Nanos) {
        let mut page = std::mem::take(&mut self.waiting);
        self.number += 1;
        page.number = self.number;
        self.effects.list.push(Effect::Begin { number: page.number, op: FlashOp::Log });
        self.logged += (page.words.len() / Record::WORDS) as u64;
        self.on_their_way.push_back(page);
        self.log_pages_begun += 1;
        self.log_end_ns = self.log_end_ns.max(end);
    }

    /// The oldest page of the log has reached flash. Gives commands that waited for it.
    fn end_log_page(&mut self) -> Vec<u32> {
        let Some(page) = self.on_their_way.pop_front() else { return Vec::new() };
        self.log_pages_ended += 1;
        let words = (self.effects.words.len() as u32, page.words.len() as u32);
        self.effects.words.extend_from_slice(&page.words);
        self.effects.list.push(Effect::End { number: page.number, op: FlashOp::Log, words });
        let unheld = page.unheld.into_iter().map(|(lpn, cell)| Effect::Unhold { lpn, cell });
        self.effects.list.extend(unheld);
        self.free(page.freed);
        page.waiters
    }

    /// Trimmed cells are free.
    pub(super) fn free(&mut self, mut cells: Vec<u32>) {
        cells.sort_unstable();
        let mut cells = cells.into_iter().filter(|&cell| cell != NO_CELL).peekable();
        while let Some(first) = cells.next() {
            let mut count = 1;
            while cells.next_if_eq(&(first + count)).is_some() {
                count += 1;
            }
            self.effects.list.push(Effect::Free { first, count });
            (first..first + count).rev().for_each(|cell| self.cells.give(cell));
        }
    }
}

impl<M: Scheduled> SolidStateDrive<M> {
    /// Puts what waits for the log on its way, on the dies in turn.
    pub(crate) fn log_waiting(&mut self, now: Nanos) {
        let page_bytes = self.layout.geometry.program_bytes() as usize;
        let Some(durable) = &mut self.durable else { return };
        durable.collect_log(&mut self.mapping);
        if !durable.has_records() {
            return;
        }
        let pages = (durable.waiting.words.len() * size_of::<u64>()).div_ceil(page_bytes);
        if durable.has_capacitor {
            durable.begin_log_page(now);
            for waiter in durable.end_log_page() {
                self.entry_done(waiter, u64::MAX, 0, now);
            }
            return;
        }
        let mut end = durable.log_end_ns;
        for _ in 0..pages {
            let Some(durable) = &mut self.durable else { return };
            let die = DieIndex(durable.next_log_die);
            durable.next_log_die = (die.0 + 1) % self.layout.geometry.die_count();
            end = end.max(self.flash.program(die, 0, now, now, false));
        }
        if let Some(durable) = &mut self.durable {
            durable.log_pages += pages as u64;
            durable.begin_log_page(end);
        }
        self.events.push(end, Event::LogPageDone);
    }

    /// A page of the log is in flash.
    pub(crate) fn log_page_done(&mut self, now: Nanos) {
        let Some(durable) = &mut self.durable else { return };
        let waiters = durable.end_log_page();
        let ended = durable.log_pages_ended;
        let work_ns = self.flash.program_work_ns(0);
        for waiter in waiters {
            self.entry_done(waiter, u64::MAX, work_ns, now);
        }
        self.advance_flushes(work_ns, now, |slot| ended <= slot.log_pages);
    }

    /// The host has dropped units. Commands that waited for one of them in the buffer wait for the log instead: neither
    /// it nor the trim would be in flash otherwise.
    pub(crate) fn log_trim(&mut self, first: Lpn, count: u32, now: Nanos) {
        let Some(durable) = &mut self.durable else { return };
        durable.note_trim(&mut self.mapping, first, count);
        let orders = std::mem::take(&mut durable.dropped_orders);
        let is_awaited =
            !durable.waiting.waiters.is_empty() || !(orders.is_empty() || self.flushes.is_empty());
        if is_awaited || durable.wants_log_page() {
            self.log_waiting(now);
        }
        if !orders.is_empty() {
            self.flushes_wait_for_log();
        }
        for order in orders {
            self.entry_done(NONE, order, 0, now);
        }
    }

    /// Flushes under way wait for all pages of the log that are on their way now.
    fn flushes_wait_for_log(&mut self) {
        let Some(durable) = &self.durable else { return };
        let (begun, ended) = (durable.log_pages_begun, durable.log_pages_ended);
        for &flush in &self.flushes {
            let slot = &mut self.slots[flush as usize];
            slot.pending += (begun - slot.log_pages.max(ended)) as u32;
            slot.log_pages = begun;
        }
    }

    /// A unit that a trim had overtaken on its way to flash is done there, as padding: what waited for it waits for the
    /// log instead.
    pub(crate) fn overtaken_done(&mut self, waiter: u32, order: u64, work_ns: Nanos, now: Nanos) {
        self.log_waiting(now);
        let page = self.durable.as_mut().and_then(|durable| durable.on_their_way.back_mut());
        let Some(page) = page else {
            self.entry_done(waiter, order, work_ns, now);
            return;
        };
        if waiter != NONE {
            page.waiters.push(waiter);
        }
        self.flushes_wait_for_log();
        self.entry_done(NONE, order, work_ns, now);
    }

    /// When an erase of a block of this die may begin.
    #[inline]
    pub(crate) fn erase_from(&mut self, die: DieIndex, block: BlockIndex, now: Nanos) -> Nanos {
        if self.durable.is_none() {
            return now;
        }
        self.log_waiting(now);
        self.durable.as_mut().map_or(now, |durable| durable.erase_from_ns(die, block).max(now))
    }
}
