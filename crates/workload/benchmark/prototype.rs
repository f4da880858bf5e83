//! A bare prototype of a drive, to compare the engine with in the same run: what this machine allows.
//!
//! Flat maps, a busy-until time for each die, a heap of what is outstanding, greedy cleaning of whole blocks. No buffer,
//! no channels, no queues, no counters, no latency record: what remains is random memory traffic, which nobody can avoid.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drivelab_sim::{Nanos, Stream};

/// Geometry and times; a map unit is a page.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub dies: u32,
    pub blocks_per_die: u32,
    pub pages_per_block: u32,
    /// Pages that the host may write.
    pub user_pages: u32,
    pub read_ns: Nanos,
    pub program_ns: Nanos,
    pub erase_ns: Nanos,
}

/// Set in a block's count while it is free or open: never the smallest.
const NOT_CLOSED: u16 = 0x8000;
const NOWHERE: u32 = u32::MAX;
/// Cleaning begins with fewer free blocks on a die.
const LEAST_FREE: usize = 3;

pub struct Prototype {
    shape: Shape,
    place: Vec<u32>,
    page: Vec<u32>,
    valid: Vec<u64>,
    counts: Vec<u16>,
    free: Vec<Vec<u32>>,
    /// Next page and end of the open block of a die: the host's, then cleaning's.
    open: Vec<[(u32, u32); 2]>,
    busy_until: Vec<Nanos>,
    next_die: u32,
    pub programs: u64,
}

impl Prototype {
    /// Written in sequence from page 0 to `filled`.
    pub fn new(shape: Shape, filled: u32) -> Self {
        let blocks = shape.dies * shape.blocks_per_die;
        let pages = blocks * shape.pages_per_block;
        let mut drive = Self {
            shape,
            place: vec![NOWHERE; shape.user_pages as usize],
            page: vec![NOWHERE; pages as usize],
            valid: vec![0; (pages as usize).div_ceil(64)],
            counts: vec![NOT_CLOSED; blocks as usize],
            free: (0..shape.dies)
                .map(|die| (die * shape.blocks_per_die..(die + 1) * shape.blocks_per_die).collect())
                .collect(),
            open: vec![[(0, 0); 2]; shape.dies as usize],
            busy_until: vec![0; shape.dies as usize],
            next_die: 0,
            programs: 0,
        };
        for page in 0..filled {
            drive.write(page, 0);
        }
        drive
    }

    /// Requests that arrive whenever one of `depth` is done; reads or writes, of the first `span` pages.
    pub fn run(&mut self, requests: u64, depth: usize, span: u32, reads: bool, seed: u64) {
        let mut random = Stream::new(seed, 0);
        let mut outstanding: BinaryHeap<_> = std::iter::repeat_n(Reverse(0), depth).collect();
        for _ in 0..requests {
            let Some(mut first) = outstanding.peek_mut() else { return };
            let page = random.below(u64::from(span)) as u32;
            first.0 = if reads { self.read(page, first.0) } else { self.write(page, first.0) };
        }
    }

    fn die_of(&self, place: u32) -> usize {
        (place / (self.shape.blocks_per_die * self.shape.pages_per_block)) as usize
    }

    fn read(&mut self, page: u32, now: Nanos) -> Nanos {
        let place = self.place[page as usize];
        if place == NOWHERE {
            return now;
        }
        let die = self.die_of(place);
        self.occupy(die, now, self.shape.read_ns)
    }

    fn occupy(&mut self, die: usize, now: Nanos, duration: Nanos) -> Nanos {
        self.busy_until[die] = self.busy_until[die].max(now) + duration;
        self.busy_until[die]
    }

    fn write(&mut self, page: u32, now: Nanos) -> Nanos {
        let die = self.next_die as usize;
        self.next_die = (self.next_die + 1) % self.shape.dies;
        while self.open[die][0].0 == self.open[die][0].1 && self.free[die].len() < LEAST_FREE {
            self.clean(die, now);
        }
        self.program(die, 0, page);
        self.occupy(die, now, self.shape.program_ns)
    }

    fn program(&mut self, die: usize, stream: usize, page: u32) {
        let old = std::mem::replace(&mut self.place[page as usize], NOWHERE);
        if old != NOWHERE {
            self.valid[old as usize / 64] &= !(1 << (old % 64));
            self.counts[(old / self.shape.pages_per_block) as usize] -= 1;
        }
        let (mut next, mut end) = self.open[die][stream];
        if next == end {
            if end > 0 {
                self.counts[(end / self.shape.pages_per_block) as usize - 1] &= !NOT_CLOSED;
            }
            next = self.free[die].pop().expect("cleaned before") * self.shape.pages_per_block;
            end = next + self.shape.pages_per_block;
        }
        self.open[die][stream] = (next + 1, end);
        self.place[page as usize] = next;
        self.page[next as usize] = page;
        self.valid[next as usize / 64] |= 1 << (next % 64);
        self.counts[(next / self.shape.pages_per_block) as usize] += 1;
        self.programs += 1;
    }

    fn clean(&mut self, die: usize, now: Nanos) {
        let blocks = die * self.shape.blocks_per_die as usize..(die + 1) * self.shape.blocks_per_die as usize;
        let least = self.counts[blocks.clone()].iter().copied().min().expect("a die has blocks");
        let victim =
            blocks.start + self.counts[blocks].iter().position(|&count| count == least).expect("found");
        let first = victim as u32 * self.shape.pages_per_block;
        for place in first..first + self.shape.pages_per_block {
            if self.valid[place as usize / 64] >> (place % 64) & 1 == 1 {
                self.program(die, 1, self.page[place as usize]);
                self.occupy(die, now, self.shape.read_ns + self.shape.program_ns);
            }
        }
        self.counts[victim] = NOT_CLOSED;
        self.free[die].push(victim as u32);
        self.occupy(die, now, self.shape.erase_ns);
    }
}
