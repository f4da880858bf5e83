//! Durable mode: what a drive must keep in order so that a power cut at any moment loses nothing it has promised.
//!
//! Three rules. A cell is given back only when what supersedes it has reached flash. An erase begins only after the
//! programs that superseded data of its block, on whatever die, have ended, and after every trim so far is in the log of
//! the map: otherwise an older version could come back. A flush waits for the log too. A drive with a capacitor waits
//! for none of this: it finishes what it has begun.

mod coarse_line;
mod data;
mod log;
mod log_page;
mod passes;

use std::collections::{BTreeMap, VecDeque};

use drivelab_ftl::{FailedProgram, Recoverable, Superseded, UnitContent};
use drivelab_nand::op::{FlashOp, PageKind, Record};
use drivelab_nand::{BlockIndex, DieIndex, Ppn};
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use self::coarse_line::CoarseLine;
use self::log_page::LogPage;
pub(crate) use self::log_page::TRIMMED_CELLS;
use crate::kept::cells::Cells;
use crate::kept::effects::{Effect, Effects};

/// An operation of a die's job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    number: u64,
    op: FlashOp,
    words: (u32, u32),
    /// Its beginning has not been told: it waits for something else, if only for the operation before it.
    waits: bool,
}

/// What a die's job is doing to flash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct DieWork {
    pending: Vec<Pending>,
    words: Vec<u64>,
    /// Cells that are free when the job is done.
    freed: Vec<u32>,
    /// When the last page of host data ends, or ended. While it can't begin: when it may.
    host_end_ns: Nanos,
    /// Blocks of which a page of host data supersedes data, until it begins; `Superseded::ANYWHERE`: it may need data of
    /// any.
    fenced: Vec<BlockIndex>,
    /// Pages of host data that must have ended before the job may begin: die and number of each.
    waits_for: Vec<(u32, u64)>,
    /// What its word lines hold that have had the first of two passes, in their order; the last may be having it.
    coarse: VecDeque<CoarseLine>,
    /// A block that is erased when word lines that supersede its data have had their second pass, and whether that fails.
    kept_block: Option<(BlockIndex, bool)>,
}

/// State of durable mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Native word lines are programmed in two passes.
    pub has_passes: bool,
    superseded: Vec<Superseded>,
    needed: Vec<Ppn>,
    /// What the data of writes is like, by tag, unit by unit, until they are in the buffer.
    contents: BTreeMap<u32, Vec<UnitContent>>,
    /// Orders of arrival of buffered units that a trim has dropped.
    dropped_orders: Vec<u64>,
    /// No new work for dies: a checkpoint is due.
    pub is_halted: bool,
    /// Records in the log since the last checkpoint, and on their way there.
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
            has_passes: false,
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
        fresh.has_passes = self.has_passes;
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
        if from <= now {
            self.dies[die.0 as usize].waits_for.clear();
        }
        self.begin(die, FlashOp::Erase { block }, from > now, |_| ());
    }

    /// A cell that the job of a die has made superfluous is free when the job is done.
    pub fn free_after(&mut self, die: DieIndex, cell: u32) {
        self.dies[die.0 as usize].freed.push(cell);
    }

    /// A page is programmed, which fails: nothing can be read of it, and its block is retired.
    pub fn fail_program(&mut self, die: DieIndex, failed: FailedProgram) {
        let FailedProgram { block, page, mode, sequence } = failed;
        let op = FlashOp::Program { block, page, kind: PageKind::Metadata, mode, sequence };
        self.begin(die, op, false, |_| ());
        self.retire(die, block);
    }

    /// A block has failed.
    pub fn retire(&mut self, die: DieIndex, block: BlockIndex) {
        self.begin(die, FlashOp::Retire { block }, false, |_| ());
    }

    /// A die is given a page of host data: what it supersedes is free when it ends.
    #[inline]
    pub fn supersede<M: Recoverable>(&mut self, die: DieIndex, mapping: &mut M) {
        self.superseded.clear();
        mapping.take_superseded(&mut self.superseded);
        let work = &mut self.dies[die.0 as usize];
        for &Superseded { block, cell } in &self.superseded {
            work.fenced.push(block);
            work.freed.push(cell);
        }
    }

    /// What a die's job waits for, if it does, is there. A page of host data begins: it ends at `end`.
    #[inline]
    pub fn begun(&mut self, die: DieIndex, end: Nanos) {
        let work = &mut self.dies[die.0 as usize];
        work.waits_for.clear();
        if let Some(first) = work.pending.first_mut()
            && std::mem::take(&mut first.waits)
        {
            self.effects.list.push(Effect::Begin { number: first.number, op: first.op });
        }
        work.host_end_ns = end;
        for block in work.fenced.drain(..) {
            let fence = self.fence_ns.get_mut(block.0 as usize).unwrap_or(&mut self.fence_all_ns);
            *fence = end.max(*fence);
        }
    }

    /// A die's job can't begin before this time.
    #[inline]
    pub fn begins_later(&mut self, die: DieIndex, from: Nanos) {
        self.dies[die.0 as usize].host_end_ns = from;
    }

    /// When a die's job may begin, as far as is known: it waits for pages on other dies that may not have begun.
    #[inline]
    pub fn may_begin_ns(&self, die: DieIndex) -> Nanos {
        let waits = self.dies[die.0 as usize].waits_for.iter();
        let ends = waits.filter_map(|&(other, number)| {
            let work = &self.dies[other as usize];
            work.pending.iter().any(|pending| pending.number == number).then_some(work.host_end_ns + 1)
        });
        ends.max().unwrap_or(0)
    }

    /// When the page of host data that the mapping scheme has just given to a die may begin: only after what it needs on
    /// other dies is there.
    #[inline]
    pub fn ready_after_needed<M: Recoverable>(
        &mut self,
        die: DieIndex,
        mapping: &mut M,
        ready: Nanos,
    ) -> Nanos {
        self.needed.clear();
        mapping.take_needed(&mut self.needed);
        let layout = mapping.layout();
        for &place in &self.needed {
            let (in_block, on_page) = (layout.block_of(place), layout.page_of(place));
            let other = layout.die_of(in_block).0;
            let pending = self.dies[other as usize].pending.iter().find(|pending| {
                matches!(pending.op, FlashOp::Program { block, page, kind: PageKind::Host, .. }
                    if block == in_block && page == on_page)
            });
            if let Some(number) = pending.map(|pending| pending.number) {
                self.dies[die.0 as usize].waits_for.push((other, number));
            }
        }
        ready.max(self.may_begin_ns(die))
    }

    /// A page is programmed, from `from` on at the earliest.
    #[inline]
    pub fn program<M: Recoverable>(
        &mut self,
        die: DieIndex,
        mapping: &M,
        first: Ppn,
        kind: PageKind,
        (from, now): (Nanos, Nanos),
    ) {
        let layout = mapping.layout();
        let op = FlashOp::Program {
            block: layout.block_of(first),
            page: layout.page_of(first),
            kind,
            mode: mapping.flash().mode_at(first),
            sequence: mapping.flash().next_sequence() - 1,
        };
        self.begin(die, op, from > now, |words| {
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
            if let FlashOp::Coarse { .. } = pending.op {
                work.coarse.back_mut().into_iter().for_each(|line| line.is_under_way = false);
            }
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
        debug_assert!(
            work.fenced.is_empty() && work.waits_for.is_empty(),
            "a job has ended that never began"
        );
        for cell in work.freed.drain(..) {
            self.cells.give(cell);
        }
    }

    /// Whether no operation is due that has not ended.
    pub fn is_quiet(&self) -> bool {
        self.dies.iter().all(|die| die.pending.is_empty())
            && self.on_their_way.is_empty()
            && !(self.has_passes && self.has_coarse_data())
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
