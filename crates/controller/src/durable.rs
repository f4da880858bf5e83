//! Durable mode: what a drive must keep in order so that a power cut at any moment loses nothing it has promised.
//!
//! Three rules. A cell is given back only when what supersedes it has reached flash. An erase begins only after the
//! programs that superseded data of its block, on whatever die, have ended, and after every trim so far is in the log of
//! the map: otherwise an older version could come back. A flush waits for the log too. A drive with a capacitor waits
//! for none of this: it finishes what it has begun.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use drivelab_ftl::recovery::{LOG_TRIM, log_info};
use drivelab_ftl::{FailedProgram, Mapping, Stored, Superseded, UnitContent};
use drivelab_nand::op::{FlashOp, NO_CELL, PageKind, Record};
use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};
use drivelab_sim::Nanos;

use crate::buffer::{Dropped, NONE};
use crate::cells::Cells;
use crate::command::Command;
use crate::effects::{Effect, Effects};
use crate::faults::marks_of;
use crate::scheduled::Scheduled;
use crate::ssd::{EVENT_LOGGED, SolidStateDrive};

/// Cells of trimmed units that may wait for the log: beyond that they would take room that none has reckoned with.
pub(crate) const TRIMMED_CELLS: usize = 256;

/// An operation of a die's job.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: u64,
    op: FlashOp,
    words: (u32, u32),
    /// Its beginning has not been told: it waits for something else, if only for the operation before it.
    waits: bool,
}

/// What a die's job is doing to flash.
#[derive(Clone, Debug, Default)]
struct DieWork {
    pending: Vec<Pending>,
    words: Vec<u64>,
    /// Cells that are free when the job is done.
    freed: Vec<u32>,
    /// When the last page of host data ends, or ended.
    host_end_ns: Nanos,
}

/// Records on their way to the log: as many pages as they fill, which count together.
#[derive(Clone, Debug, Default)]
struct LogPage {
    number: u64,
    words: Vec<u64>,
    freed: Vec<u32>,
    /// Units that the capacitor need not keep once the page is in flash.
    unheld: Vec<(u32, u32)>,
    /// Commands whose data was trimmed in the buffer: it is either in flash or trimmed in flash when they are done.
    waiters: Vec<u32>,
}

/// State of durable mode.
#[derive(Clone, Debug)]
pub(crate) struct Durable {
    pub effects: Effects,
    pub cells: Cells,
    /// Times of the programs that superseded data of each block.
    fence_ns: Vec<Nanos>,
    /// Time of the programs that superseded what may need data of any block.
    fence_all_ns: Nanos,
    dies: Vec<DieWork>,
    number: u64,
    /// Records that wait for a page of the log, and cells that are free when they are there.
    waiting: LogPage,
    on_their_way: VecDeque<LogPage>,
    log_end_ns: Nanos,
    pub log_pages_begun: u64,
    pub log_pages_ended: u64,
    next_log_die: u32,
    pub has_capacitor: bool,
    superseded: Vec<Superseded>,
    needed: Vec<Ppn>,
    /// What the data of writes is like, by tag, unit by unit, until they are in the buffer.
    contents: BTreeMap<u32, Vec<UnitContent>>,
    /// Orders of arrival of buffered units that a trim has dropped.
    dropped_orders: Vec<u64>,
    /// No new work for dies: a checkpoint is due.
    pub is_halted: bool,
    /// Records in the log since the last checkpoint.
    pub logged: u64,
    /// Pages programmed for the log and for checkpoints.
    pub log_pages: u64,
    /// Records that the log has room for.
    log_records: u32,
}

impl Durable {
    pub fn new(dies: u32, blocks: u32, has_capacitor: bool, log_records: u32) -> Self {
        Self {
            effects: Effects::default(),
            cells: Cells::default(),
            fence_ns: vec![0; blocks as usize],
            fence_all_ns: 0,
            dies: vec![DieWork::default(); dies as usize],
            number: 0,
            waiting: LogPage::default(),
            on_their_way: VecDeque::new(),
            log_end_ns: 0,
            log_pages_begun: 0,
            log_pages_ended: 0,
            next_log_die: 0,
            has_capacitor,
            superseded: Vec::new(),
            needed: Vec::new(),
            contents: BTreeMap::new(),
            dropped_orders: Vec::new(),
            is_halted: false,
            logged: 0,
            log_pages: 0,
            log_records,
        }
    }

    /// After a secure erase: nothing is on its way, every cell is free.
    pub fn restart(&mut self) {
        let (dies, blocks) = (self.dies.len() as u32, self.fence_ns.len() as u32);
        let mut fresh = Self::new(dies, blocks, self.has_capacitor, self.log_records);
        fresh.effects = std::mem::take(&mut self.effects);
        fresh.effects.list.push(Effect::SecureErase);
        fresh.number = self.number;
        fresh.log_pages = self.log_pages;
        *self = fresh;
    }

    /// An operation of a die's job. `waits`: it begins later than now.
    #[inline]
    fn begin(&mut self, die: DieIndex, op: FlashOp, waits: bool, words: impl FnOnce(&mut Vec<u64>)) {
        self.number += 1;
        let work = &mut self.dies[die.0 as usize];
        let waits = waits || !work.pending.is_empty();
        if !waits {
            self.effects.list.push(Effect::Begin { number: self.number, op });
        }
        let first = work.words.len() as u32;
        words(&mut work.words);
        let words = (first, work.words.len() as u32 - first);
        work.pending.push(Pending { number: self.number, op, words, waits });
    }

    /// A block is to be erased, at `from` at the earliest.
    #[inline]
    pub fn erase(&mut self, die: DieIndex, block: BlockIndex, from: Nanos, now: Nanos) {
        self.begin(die, FlashOp::Erase { block }, from > now, |_| ());
    }

    /// A cell that the job of a die has made superfluous is free when the job is done.
    pub fn free_after(&mut self, die: DieIndex, cell: u32) {
        self.dies[die.0 as usize].freed.push(cell);
    }

    /// A page is programmed, which fails: nothing can be read of it, and its block is retired.
    pub fn fail_program(&mut self, die: DieIndex, failed: FailedProgram) {
        let FailedProgram { block, page, sequence } = failed;
        let op = FlashOp::Program { block, page, kind: PageKind::Metadata, sequence };
        self.begin(die, op, false, |_| ());
        self.retire(die, block);
    }

    /// A block has failed.
    pub fn retire(&mut self, die: DieIndex, block: BlockIndex) {
        self.begin(die, FlashOp::Retire { block }, false, |_| ());
    }

    /// A page of host data begins, which ends at `end`: what it supersedes is free then.
    #[inline]
    pub fn supersede<M: Mapping>(&mut self, die: DieIndex, mapping: &mut M, end: Nanos) {
        self.superseded.clear();
        mapping.take_superseded(&mut self.superseded);
        self.dies[die.0 as usize].host_end_ns = end;
        for &Superseded { block, cell } in &self.superseded {
            let fence = self.fence_ns.get_mut(block.0 as usize).unwrap_or(&mut self.fence_all_ns);
            *fence = end.max(*fence);
            self.dies[die.0 as usize].freed.push(cell);
        }
    }

    /// When the page of host data that the mapping scheme has just programmed may begin: only after what it needs on
    /// other dies is there.
    #[inline]
    pub fn ready_after_needed<M: Mapping>(&mut self, mapping: &mut M, ready: Nanos) -> Nanos {
        self.needed.clear();
        mapping.take_needed(&mut self.needed);
        let layout = mapping.layout();
        let mut ready = ready;
        for &place in &self.needed {
            let (in_block, on_page) = (layout.block_of(place), layout.page_of(place));
            let work = &self.dies[layout.die_of(in_block).0 as usize];
            let is_pending = work.pending.iter().any(|pending| {
                matches!(pending.op, FlashOp::Program { block, page, kind: PageKind::Host, .. }
                    if block == in_block && page == on_page)
            });
            if is_pending {
                ready = ready.max(work.host_end_ns + 1);
            }
        }
        ready
    }

    /// A page begins to be programmed.
    #[inline]
    pub fn program<M: Mapping>(&mut self, die: DieIndex, mapping: &M, first: Ppn, kind: PageKind) {
        let layout = mapping.layout();
        let op = FlashOp::Program {
            block: layout.block_of(first),
            page: layout.page_of(first),
            kind,
            sequence: mapping.flash().next_sequence() - 1,
        };
        self.begin(die, op, false, |words| {
            if kind != PageKind::Metadata {
                mapping.page_records(first, words);
            }
        });
        if !self.cells.torn.is_empty() {
            self.name_torn_cells(die, kind);
        }
        if self.has_capacitor && kind == PageKind::Host {
            // The end of the program says that its cells need not be kept any more: they must be the same ones then.
            let work = &self.dies[die.0 as usize];
            let words = work.pending.last().map_or((0, 0), |pending| pending.words);
            for words in work.words[words.0 as usize..].chunks_exact(Record::WORDS) {
                self.cells.pin(Record::from_words([words[0], words[1]]).cell);
            }
        }
    }

    /// The page that has just begun holds torn cells, or holds them no more.
    fn name_torn_cells(&mut self, die: DieIndex, kind: PageKind) {
        let work = &mut self.dies[die.0 as usize];
        let Some(&Pending { words: (first, count), .. }) = work.pending.last() else { return };
        let words = &mut work.words[first as usize..(first + count) as usize];
        self.cells.torn.rename(kind, words, &mut work.freed);
    }

    /// Cells with half a write become whole.
    pub fn mend_torn(&mut self) {
        self.effects.list.extend(self.cells.torn.mending());
    }

    /// Operations begun.
    pub fn operations(&self) -> u64 {
        self.number
    }

    /// The job of a die is done: flash has changed.
    #[inline]
    pub fn job_done(&mut self, die: u32) {
        let work = &mut self.dies[die as usize];
        for pending in work.pending.drain(..) {
            let first = self.effects.words.len() as u32;
            let (from, count) = pending.words;
            self.effects.words.extend_from_slice(&work.words[from as usize..(from + count) as usize]);
            let words = (first, count);
            if pending.waits {
                self.effects.list.push(Effect::Begin { number: pending.number, op: pending.op });
            }
            self.effects.list.push(Effect::End { number: pending.number, op: pending.op, words });
            if self.has_capacitor && matches!(pending.op, FlashOp::Program { kind: PageKind::Host, .. }) {
                let records = self.effects.words[first as usize..].chunks_exact(Record::WORDS);
                for record in records.map(|words| Record::from_words([words[0], words[1]])) {
                    self.effects.list.push(Effect::Unhold { lpn: record.lpn.0, cell: record.cell });
                    self.cells.unpin(record.cell);
                }
            }
        }
        work.words.clear();
        for cell in work.freed.drain(..) {
            self.cells.give(cell);
        }
    }

    /// Whether no operation has begun that has not ended.
    pub fn is_quiet(&self) -> bool {
        self.dies.iter().all(|die| die.pending.is_empty()) && self.on_their_way.is_empty()
    }

    /// The host has dropped units; `freed`: cells that no one will read once that is in the log.
    pub fn note_trim<M: Mapping>(&mut self, mapping: &mut M, first: Lpn, count: u32) {
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
    pub fn collect_log<M: Mapping>(&mut self, mapping: &mut M) {
        mapping.take_log_records(&mut self.waiting.words);
    }

    /// Whether so much waits for the log that it should be written without being asked for.
    #[inline]
    pub fn wants_log_page(&self) -> bool {
        self.has_capacitor || self.waiting.freed.len() >= TRIMMED_CELLS
    }

    /// Whether records wait for the log.
    #[inline]
    pub fn has_records(&self) -> bool {
        !self.waiting.words.is_empty()
    }

    /// The first instant at which everything in the log so far, and what superseded data of this block, is in flash:
    /// at the very time at which these end, nothing says which end is told first.
    #[inline]
    pub fn erase_from_ns(&self, block: BlockIndex) -> Nanos {
        self.log_end_ns.max(self.fence_ns[block.0 as usize]).max(self.fence_all_ns) + 1
    }

    /// What waits for the log goes to it.
    fn begin_log_page(&mut self, end: Nanos) {
        let mut page = std::mem::take(&mut self.waiting);
        self.number += 1;
        page.number = self.number;
        self.effects.list.push(Effect::Begin { number: page.number, op: FlashOp::Log });
        self.on_their_way.push_back(page);
        self.log_pages_begun += 1;
        self.log_end_ns = self.log_end_ns.max(end);
    }

    /// The oldest page of the log has reached flash. Gives commands that waited for it.
    fn end_log_page(&mut self) -> Vec<u32> {
        let Some(page) = self.on_their_way.pop_front() else { return Vec::new() };
        self.log_pages_ended += 1;
        self.logged += (page.words.len() / Record::WORDS) as u64;
        let words = (self.effects.words.len() as u32, page.words.len() as u32);
        self.effects.words.extend_from_slice(&page.words);
        self.effects.list.push(Effect::End { number: page.number, op: FlashOp::Log, words });
        let unheld = page.unheld.into_iter().map(|(lpn, cell)| Effect::Unhold { lpn, cell });
        self.effects.list.extend(unheld);
        self.free(page.freed);
        page.waiters
    }

    /// Trimmed cells are free.
    fn free(&mut self, mut cells: Vec<u32>) {
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

    /// An operation that nothing else happens beside, begun and ended.
    pub fn whole(&mut self, op: FlashOp, words: &[u64]) {
        self.number += 1;
        self.effects.list.push(Effect::Begin { number: self.number, op });
        let range = (self.effects.words.len() as u32, words.len() as u32);
        self.effects.words.extend_from_slice(words);
        self.effects.list.push(Effect::End { number: self.number, op, words: range });
    }

    /// Whether the log is half full: what commands inside may add has room still.
    pub fn wants_checkpoint(&self) -> bool {
        self.logged >= u64::from(self.log_records / 2)
    }

    /// A checkpoint is complete: what waited for the log is in it.
    pub fn checkpointed(&mut self, records: u64) {
        let waiting = std::mem::take(&mut self.waiting);
        self.free(waiting.freed);
        self.logged = records;
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
                self.entry_done(waiter, u64::MAX, now);
            }
            return;
        }
        let mut end = durable.log_end_ns;
        for _ in 0..pages {
            let Some(durable) = &mut self.durable else { return };
            let die = DieIndex(durable.next_log_die);
            durable.next_log_die = (die.0 + 1) % self.layout.geometry.die_count();
            end = end.max(self.transfer_and_program(die, 0, now, now, false));
        }
        if let Some(durable) = &mut self.durable {
            durable.log_pages += pages as u64;
            durable.begin_log_page(end);
        }
        self.events.push(Reverse((end, EVENT_LOGGED)));
    }

    /// A page of the log is in flash.
    pub(crate) fn log_page_done(&mut self, now: Nanos) {
        let Some(durable) = &mut self.durable else { return };
        let waiters = durable.end_log_page();
        let ended = durable.log_pages_ended;
        for waiter in waiters {
            self.entry_done(waiter, u64::MAX, now);
        }
        self.advance_flushes(now, |slot| ended <= slot.log_pages);
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
            self.entry_done(NONE, order, now);
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
    pub(crate) fn overtaken_done(&mut self, waiter: u32, order: u64, now: Nanos) {
        self.log_waiting(now);
        let page = self.durable.as_mut().and_then(|durable| durable.on_their_way.back_mut());
        let Some(page) = page else {
            self.entry_done(waiter, order, now);
            return;
        };
        if waiter != NONE {
            page.waiters.push(waiter);
        }
        self.flushes_wait_for_log();
        self.entry_done(NONE, order, now);
    }

    /// When an erase of a block may begin.
    #[inline]
    pub(crate) fn erase_from(&mut self, block: BlockIndex, now: Nanos) -> Nanos {
        if self.durable.is_none() {
            return now;
        }
        self.log_waiting(now);
        self.durable.as_ref().map_or(now, |durable| durable.erase_from_ns(block).max(now))
    }
}

impl<M: Scheduled> SolidStateDrive<M> {
    /// Bytes of a map unit, if the drive looks at content and so wants to be told of it.
    #[must_use]
    pub fn content_unit_bytes(&self) -> Option<u32> {
        self.mapping.looks_at_content().then(|| self.sectors_per_unit * drivelab_nand::SECTOR_BYTES)
    }

    /// What the data of the write is like that will be submitted next with this tag: unit by unit, from the first that
    /// it touches on. It takes precedence over [`Command::content`]. In durable mode.
    pub fn set_unit_contents(&mut self, tag: u32, units: Vec<UnitContent>) {
        if let Some(durable) = &mut self.durable {
            durable.contents.insert(tag, units);
        }
    }

    /// What the `index`-th unit of a write takes in flash; `is_whole`: the write covers all of it.
    #[inline]
    pub(crate) fn stored_of(&mut self, command: &Command, index: u32, is_whole: bool) -> Stored {
        if let Some(durable) = &self.durable
            && let Some(&content) =
                durable.contents.get(&command.tag).and_then(|units| units.get(index as usize))
        {
            return self.mapping.stored_bytes(content, is_whole);
        }
        let mut stored = self.mapping.stored(&command.content, index);
        if !is_whole {
            // Mixed with what was there before, it is a copy of nothing.
            stored.identity = None;
        }
        stored
    }

    /// A write is in the buffer.
    #[inline]
    pub(crate) fn forget_contents(&mut self, tag: u32) {
        if let Some(durable) = &mut self.durable {
            durable.contents.remove(&tag);
        }
    }

    /// The cell that holds a unit now.
    fn cell_of(&self, lpn: Lpn) -> u32 {
        let buffered = self.buffer.find(lpn).and_then(|id| self.buffer.stamps(id));
        let words = buffered.or_else(|| self.mapping.stamps_of(lpn));
        words.and_then(|words| words.first()).map_or(NO_CELL, |&word| word as u32)
    }

    /// Sectors of a unit go to the host as those of the command's data that begin with `lba`.
    pub(crate) fn send(&mut self, lpn: Lpn, first: u32, sectors: u64, command: &Command, lba: u64) {
        let cell = self.cell_of(lpn);
        let (count, tag, offset) = (sectors as u32, command.tag, (lba - command.lba) as u32);
        if let Some(durable) = &mut self.durable {
            durable.effects.list.push(Effect::Send { cell, first, count, tag, offset });
        }
    }

    /// A new entry of the buffer takes sectors of the host, from the command's sector `offset` on; the rest of a partial
    /// one comes from an older entry, or from flash.
    pub(crate) fn fill(
        &mut self,
        id: u32,
        (older, is_partial): (Option<u32>, bool),
        range: (u32, u32),
        (slot, command): (u32, &Command),
        offset: u32,
    ) {
        let lpn = self.buffer.entry(id).lpn;
        let is_torn = self.faults.as_ref().is_some_and(|faults| faults.is_torn(slot));
        let before = if is_partial || is_torn {
            let words = older.and_then(|id| self.buffer.stamps(id)).or_else(|| self.mapping.stamps_of(lpn));
            words.and_then(|words| words.first()).map_or(0, |&word| word)
        } else {
            0
        };
        let base = if is_partial { before } else { 0 };
        self.fill_cell(id, base, range, command.tag, offset);
        if is_torn {
            self.tear(id, before as u32, range, command, offset);
        }
    }

    /// More sectors of the host for a unit that waits in the buffer. What a capacitor keeps is replaced as a whole: a
    /// power cut must not find half of it.
    pub(crate) fn fill_again(
        &mut self,
        id: u32,
        range: (u32, u32),
        (slot, command): (u32, &Command),
        offset: u32,
    ) {
        let word = self.buffer.stamps(id).map_or(0, |words| words[0]);
        let old = word as u32;
        let is_torn = self.faults.as_ref().is_some_and(|faults| faults.is_torn(slot));
        let Some(durable) = &mut self.durable else { return };
        if durable.has_capacitor {
            self.fill_cell(id, word, range, command.tag, offset);
            if let Some(durable) = &mut self.durable {
                durable.cells.give(old);
            }
            return;
        }
        if is_torn && durable.cells.torn.of(old).is_none() {
            self.tear(id, old, range, command, offset);
        } else if let Some(cell) = durable.cells.torn.of(old) {
            let ((first, count), tag) = (range, command.tag);
            durable.effects.list.push(Effect::Fill { cell, base: cell, first, count, tag, offset });
        }
        let ((first, count), tag) = (range, command.tag);
        if let Some(durable) = &mut self.durable {
            durable.effects.list.push(Effect::Fill { cell: old, base: old, first, count, tag, offset });
        }
        if marks_of(word) != 0 {
            let written = self.marks_written(range);
            if let Some(words) = self.buffer.stamps_mut(id) {
                words[0] &= !(u64::from(written) << 32);
            }
        }
    }

    /// A cell for the unit of an entry, over what the word of another one names.
    fn fill_cell(&mut self, id: u32, base: u64, (first, count): (u32, u32), tag: u32, offset: u32) {
        let lpn = self.buffer.entry(id).lpn.0;
        let mut marks = marks_of(base) | self.take_lost_rest();
        if marks != 0 {
            marks &= !self.marks_written((first, count));
        }
        let Some(durable) = &mut self.durable else { return };
        let cell = durable.cells.take();
        durable.effects.list.push(Effect::Fill { cell, base: base as u32, first, count, tag, offset });
        if durable.has_capacitor {
            durable.effects.list.push(Effect::Hold { lpn, cell });
        }
        if let Some(words) = self.buffer.stamps_mut(id) {
            words[0] = u64::from(marks) << 32 | u64::from(cell);
        }
    }

    /// What a power cut leaves of a torn write in this unit: sectors of its first half, the rest as `before`.
    fn tear(&mut self, id: u32, before: u32, (first, count): (u32, u32), command: &Command, offset: u32) {
        let whole = self.buffer.stamps(id).map_or(NO_CELL, |words| words[0] as u32);
        let kept = (command.sector_count / 2).saturating_sub(offset).min(count);
        let Some(durable) = &mut self.durable else { return };
        if kept == count || durable.cells.torn.is_full() {
            return;
        }
        let cell = durable.cells.take();
        let tag = command.tag;
        durable.effects.list.push(Effect::Fill { cell, base: before, first, count: kept, tag, offset });
        durable.cells.torn.add(whole, cell);
    }
}
