//! The map in flash: lines of it are written to a log that has blocks of its own on every die. They are a ring: when the
//! last erased one is opened, the current lines of the oldest are copied into it and the oldest is erased. So every line
//! is looked at in turn, cold ones too. What the map is cut into, and which of it is in memory, is the scheme's own.
//!
//! Blocks of a die: `data` hold all the lines that may lie there, one is erased or being emptied, and `spare` make sure
//! that a round of the ring gains pages: a page for each block when spare x pages >= data + spare.

mod check;

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Geometry};
use serde::{Deserialize, Serialize};

/// A page of the map's log, counted over the logs of all dies.
pub(crate) type LogPage = u32;

/// The line is in no page.
const NOWHERE: u32 = 0;
/// The line was changed and waits to be written.
const WAITS: u32 = u32::MAX;

/// A block that is being emptied.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Victim {
    block: u32,
    /// The next page to look at.
    page: u32,
}

/// Where every line lies, and the blocks of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MapLog {
    line_bytes: u32,
    lines_per_page: u32,
    pages_per_block: u32,
    blocks_per_die: u32,
    /// The first so many of each die are the log's.
    reserved: u32,
    /// Per line: [`NOWHERE`], [`WAITS`], or its place in the log + 1.
    at: Vec<u32>,
    /// Line + 1 of every place in the log, current or not.
    places: Vec<u32>,
    /// Current lines of every block of the log.
    current: Vec<u32>,
    /// Current lines of every die, and how many it may have.
    current_of_die: Vec<u32>,
    limit: u32,
    spare: u32,
    /// Lines to be written, in order; those that wait no more are passed over.
    queue: VecDeque<u32>,
    /// One bit per line: it is in the queue.
    is_queued: Vec<u64>,
    waiting: u32,
    /// Per die: the block that is being filled, counted within the die.
    open: Vec<u32>,
    victims: Vec<Option<Victim>>,
    /// How many of them there are, and the die whose was the first.
    dies_cleaning: u32,
    first_cleaning: Option<DieIndex>,
    /// Lines of the page that is put together, and of one that is looked at.
    pub(super) page: Vec<u32>,
    pub(super) found: Vec<u32>,
}

impl MapLog {
    /// A log for so many lines on erased blocks, `spare_blocks` of a die beside those that its lines fill, or as many as
    /// it takes; without lines there is none.
    pub fn new(geometry: &Geometry, line_bytes: u32, lines: u32, spare_blocks: u32) -> Self {
        let dies = geometry.die_count();
        let lines_per_page = (geometry.program_bytes() / line_bytes).max(1);
        let pages_per_block = geometry.pages_per_block;
        // One page more than the die's share, so that a full page always finds a die with room for all of it.
        let data = (lines.div_ceil(lines_per_page).div_ceil(dies) + 1).div_ceil(pages_per_block);
        let spare = spare_blocks.max(data.div_ceil((pages_per_block - 1).max(1)));
        let reserved = if lines == 0 { 0 } else { data + spare + 1 };
        let blocks = (dies * reserved) as usize;
        Self {
            line_bytes,
            lines_per_page,
            pages_per_block,
            blocks_per_die: geometry.blocks_per_die(),
            reserved,
            at: vec![NOWHERE; lines as usize],
            places: vec![0; blocks * (pages_per_block * lines_per_page) as usize],
            current: vec![0; blocks],
            current_of_die: vec![0; dies as usize],
            spare,
            limit: data * pages_per_block * lines_per_page,
            queue: VecDeque::new(),
            is_queued: vec![0; lines.div_ceil(64) as usize],
            waiting: 0,
            open: vec![0; dies as usize],
            victims: vec![None; dies as usize],
            dies_cleaning: 0,
            first_cleaning: None,
            page: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Blocks of each die beside those that its lines fill and the one that is erased or being emptied.
    pub fn spare(&self) -> u32 {
        self.spare
    }

    /// Blocks of each die that the log keeps.
    pub fn reserved(&self) -> u32 {
        self.reserved
    }

    /// Share of the ring that all the lines fill, beside the block that is erased or being emptied.
    pub fn fill_ratio(&self) -> f64 {
        let ring_blocks = u64::from(self.reserved.saturating_sub(1)) * self.current_of_die.len() as u64;
        let places = ring_blocks * u64::from(self.pages_per_block * self.lines_per_page);
        self.at.len() as f64 / places.max(1) as f64
    }

    /// Brings the place of a line into the processor's cache.
    #[inline]
    pub fn prefetch(&self, line: u32) {
        drivelab_sim::prefetch(&self.at, line as usize);
    }

    /// The page that a line must be read from, counted over the logs of all dies; `None`: it is in none.
    #[inline]
    pub fn page_of(&self, line: u32) -> Option<LogPage> {
        let at = self.at[line as usize];
        (at != NOWHERE && at != WAITS).then(|| (at - 1) / self.lines_per_page)
    }

    /// The block of the log, counted over all dies, that a place belongs to.
    #[inline]
    fn log_block(&self, place: u32) -> u32 {
        place / (self.pages_per_block * self.lines_per_page)
    }

    /// What a line says in flash is outdated.
    #[inline]
    fn outdate(&mut self, line: u32) {
        let at = self.at[line as usize];
        if at == WAITS {
            self.waiting -= 1;
        } else if at != NOWHERE {
            let block = self.log_block(at - 1);
            self.current[block as usize] -= 1;
            self.current_of_die[(block / self.reserved) as usize] -= 1;
        }
    }

    /// A changed line leaves memory.
    #[inline]
    pub fn write_back(&mut self, line: u32) {
        if self.at[line as usize] != WAITS {
            self.outdate(line);
            self.at[line as usize] = WAITS;
            self.waiting += 1;
            if !self.is_queued(line) {
                self.is_queued[(line / 64) as usize] |= 1 << (line % 64);
                self.queue.push_back(line);
            }
        }
    }

    fn is_queued(&self, line: u32) -> bool {
        self.is_queued[(line / 64) as usize] >> (line % 64) & 1 != 0
    }

    /// Nothing of a line is mapped any more: there is nothing to keep of it.
    #[inline]
    pub fn drop_line(&mut self, line: u32) {
        self.outdate(line);
        self.at[line as usize] = NOWHERE;
    }

    /// Pages that wait to be programmed, copies of cleaning aside.
    pub fn due_pages(&self) -> u32 {
        self.waiting / self.lines_per_page
    }

    /// Whether any die has something to do for the log.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.waiting >= self.lines_per_page || self.dies_cleaning > 0
    }

    /// Whether this die has.
    #[inline]
    pub fn is_due_on(&self, die: DieIndex) -> bool {
        let index = die.0 as usize;
        self.victims[index].is_some()
            || (self.waiting >= self.lines_per_page
                && self.current_of_die[index] + self.lines_per_page <= self.limit)
    }

    fn block(&self, die: DieIndex, index: u32) -> BlockIndex {
        BlockIndex(die.0 * self.blocks_per_die + index)
    }

    /// The block that takes the next page of a die. When it is the last erased one, another is emptied.
    pub fn open(&mut self, die: DieIndex, flash: &FlashArray) -> BlockIndex {
        let index = die.0 as usize;
        let open = self.block(die, self.open[index]);
        if flash.write_pointer(open) < self.pages_per_block {
            return open;
        }
        let is_erased = |log: &Self, block: u32| flash.write_pointer(log.block(die, block)) == 0;
        let next = self.ring_after(self.open[index]).find(|&block| is_erased(self, block));
        let open = next.unwrap_or(self.open[index]);
        self.open[index] = open;
        if !self.ring_after(open).any(|block| is_erased(self, block)) {
            let oldest = self.ring_after(open).next();
            self.empty(die, oldest);
        }
        self.block(die, open)
    }

    /// The other blocks of a die, the oldest first.
    fn ring_after(&self, block: u32) -> impl Iterator<Item = u32> + use<> {
        let reserved = self.reserved;
        (1..reserved).map(move |step| (block + step) % reserved)
    }

    fn empty(&mut self, die: DieIndex, block: Option<u32>) {
        self.victims[die.0 as usize] = block.map(|block| Victim { block, page: 0 });
        if block.is_some() {
            self.dies_cleaning += 1;
            self.first_cleaning.get_or_insert(die);
        }
    }

    /// Whether no die began to empty a block before this one that is still at it. Only there is time for deferred trims:
    /// all dies at once would leave none to the host.
    pub fn is_first_victim(&self, die: DieIndex) -> bool {
        self.first_cleaning == Some(die)
    }

    /// The block that is being emptied on a die.
    pub fn victim(&self, die: DieIndex) -> Option<BlockIndex> {
        self.victims[die.0 as usize].map(|victim| self.block(die, victim.block))
    }

    /// Gives the current lines on the next page of the victim that has any; whether there is one.
    pub(super) fn next_page(&mut self, die: DieIndex, lines: &mut Vec<u32>) -> bool {
        lines.clear();
        let Some(mut victim) = self.victims[die.0 as usize] else { return false };
        let first = (die.0 * self.reserved + victim.block) * self.pages_per_block * self.lines_per_page;
        while lines.is_empty() && victim.page < self.pages_per_block {
            let from = first + victim.page * self.lines_per_page;
            lines.extend((from..from + self.lines_per_page).filter_map(|place| {
                let line = self.places[place as usize].checked_sub(1)?;
                (self.at[line as usize] == place + 1).then_some(line)
            }));
            victim.page += 1;
            // The page after it, whose turn comes.
            let next = (from + self.lines_per_page) as usize;
            for &line in self.places.iter().skip(next).take(self.lines_per_page as usize) {
                self.prefetch(line.saturating_sub(1));
            }
        }
        self.victims[die.0 as usize] = Some(victim);
        !lines.is_empty()
    }

    /// The page that was looked at last is looked at again: not all of its lines fitted.
    pub(super) fn step_back(&mut self, die: DieIndex) {
        if let Some(victim) = &mut self.victims[die.0 as usize] {
            victim.page -= 1;
        }
    }

    /// The victim was erased.
    pub(super) fn erased(&mut self, die: DieIndex) {
        self.victims[die.0 as usize] = None;
        self.dies_cleaning -= 1;
        self.first_cleaning = self.first_cleaning.filter(|&first| first != die);
    }

    /// Takes a page of the lines that have waited longest, instead of what `lines` held.
    pub(crate) fn take_waiting(&mut self, lines: &mut Vec<u32>) {
        lines.clear();
        while lines.len() < self.lines_per_page as usize
            && let Some(line) = self.queue.pop_front()
        {
            self.is_queued[(line / 64) as usize] &= !(1 << (line % 64));
            if self.at[line as usize] == WAITS {
                lines.push(line);
            }
        }
    }

    /// Whether as many lines wait to be written as memory holds, and at least a page of them.
    #[inline]
    pub fn fills(&self, lines_in_memory: u32) -> bool {
        self.waiting >= lines_in_memory.max(self.lines_per_page)
    }

    /// Lines that cleaning copied with the last step.
    pub fn copied(&self) -> &[u32] {
        &self.page
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u32 {
        self.line_bytes
    }

    /// The die of a page.
    #[inline]
    pub fn die_of(&self, page: LogPage) -> DieIndex {
        DieIndex(page / (self.reserved * self.pages_per_block).max(1))
    }

    /// Lines that a page has room for.
    pub fn lines_per_page(&self) -> u32 {
        self.lines_per_page
    }

    /// Lines were programmed on a page.
    pub fn programmed(&mut self, die: DieIndex, block: BlockIndex, page: u32, lines: &[u32]) {
        let log_block = die.0 * self.reserved + block.0 % self.blocks_per_die;
        let first = (log_block * self.pages_per_block + page) * self.lines_per_page;
        for place in first..first + self.lines_per_page {
            self.places[place as usize] = 0;
        }
        for (place, &line) in (first..).zip(lines) {
            self.outdate(line);
            self.at[line as usize] = place + 1;
            self.places[place as usize] = line + 1;
        }
        self.current[log_block as usize] += lines.len() as u32;
        self.current_of_die[die.0 as usize] += lines.len() as u32;
    }

    /// After power-on: which lines a page holds is not found again, so those that say something are dealt out anew to the
    /// pages that are programmed. (Content and times of the log are no matter of the medium.)
    pub fn restore(
        &mut self,
        flash: &FlashArray,
        last_sequence: impl Fn(BlockIndex) -> u64,
        mut lines: impl Iterator<Item = u32>,
    ) {
        for die in (0..self.open.len() as u32).map(DieIndex) {
            let pages = |block: u32| flash.write_pointer(self.block(die, block));
            let newest = |&block: &u32| (last_sequence(self.block(die, block)), u32::MAX - block);
            let open = (0..self.reserved).max_by_key(newest).unwrap_or(0);
            // Without an erased block the oldest was being emptied when the power failed.
            let has_erased = self.ring_after(open).any(|block| pages(block) == 0);
            let victim = if has_erased { None } else { self.ring_after(open).next() };
            let held: Vec<(u32, u32)> = self
                .ring_after(open)
                .filter(|&block| Some(block) != victim)
                .map(|block| (block, pages(block)))
                .collect();
            self.open[die.0 as usize] = open;
            self.empty(die, victim);
            for (block, pages) in held {
                for page in 0..pages {
                    let room = self.limit - self.current_of_die[die.0 as usize];
                    let page_lines: Vec<u32> =
                        lines.by_ref().take(room.min(self.lines_per_page) as usize).collect();
                    self.programmed(die, self.block(die, block), page, &page_lines);
                }
            }
        }
    }
}
