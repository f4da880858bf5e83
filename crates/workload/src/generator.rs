//! The next request of a job.

use drivelab_controller::{Op, SECTOR_BYTES};
use drivelab_sim::{Nanos, Stream};

use crate::distribution::{Distribution, DistributionSpec};
use crate::job::{BlockSize, Job, Rw};
use crate::permutation::Passes;
use crate::random_map::RandomMap;

/// Streams of one job are numbered from here, so that they never meet those inside a drive of the same seed.
const PURPOSE_FIRST: u64 = 0x574C_0000_0000;

/// What each stream of a job is for.
#[derive(Clone, Copy)]
enum Purpose {
    Offset,
    Choice,
    Scatter,
    Order,
}

const PURPOSE_COUNT: u64 = 4;

/// So often a size is drawn that fits, then it is the smallest: sizes that fit may hardly ever come.
const DRAWS_MAX: usize = 1000;

/// A request before it is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind.
    pub op: Op,
    /// Forced unit access.
    pub fua: bool,
    /// First sector.
    pub lba: u64,
    /// Sectors; 0 for flushes.
    pub sector_count: u32,
    /// In open loop: when it arrives, after the start of the job. With pacing `think`: processor time before it.
    pub delay_ns: Nanos,
    /// With pacing `think`: the program goes on without waiting for it.
    pub background: bool,
}

impl Request {
    pub(crate) fn flush() -> Self {
        Self { op: Op::Flush, fua: false, lba: 0, sector_count: 0, delay_ns: 0, background: false }
    }
}

/// Makes up the requests of one job, endlessly.
#[derive(Clone, Debug)]
pub struct Generator {
    base: u64,
    span: u64,
    order: Order,
    mix: Mix,
    reads: Direction,
    writes: Direction,
    /// Passes over all blocks with `random_map`; reads and writes share the first if their blocks agree.
    passes: Vec<Pass>,
    offsets: Stream,
    choices: Stream,
    fua: bool,
    flush_every: u64,
    writes_since_flush: u64,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Sequential,
    Random,
    /// Random with this share, of 2^64.
    Partly(u64),
}

#[derive(Clone, Copy, Debug)]
enum Mix {
    Only(Op),
    /// Reads with this share, of 2^64.
    Reads(u64),
}

/// Sizes and places of the requests in one direction (trims take that of writes).
#[derive(Clone, Debug)]
struct Direction {
    sizes: Sizes,
    pattern: Pattern,
    /// Sectors that random offsets are multiples of.
    align: u64,
    /// The same for sequential offsets; 1: no gaps.
    sequential_align: u64,
    /// Where the last request ended, from the start of the region.
    next: u64,
}

#[derive(Clone, Debug)]
enum Sizes {
    One(Size),
    /// With the cumulative share of each, of 2^64.
    Several(Vec<(u64, Size)>),
}

#[derive(Clone, Copy, Debug)]
struct Size {
    sectors: u32,
    /// Aligned places where a request of this size fits.
    places: u64,
}

#[derive(Clone, Debug)]
enum Pattern {
    Uniform,
    Skewed(Distribution),
    Passes(usize),
}

/// Each block once before any repeats.
#[derive(Clone, Debug)]
enum Pass {
    /// Of one size: an order of all of them.
    Ordered(Passes),
    /// Of several: a request begins where a block is left, and ends before one that isn't.
    Mapped(RandomMap),
}

impl Generator {
    /// Prepares the requests of a validated job. `index` is its number in the run: jobs of the same seed differ.
    #[must_use]
    pub fn new(job: &Job, index: u32, capacity_bytes: u64) -> Self {
        let stream = |purpose: Purpose| {
            let number = u64::from(index) * PURPOSE_COUNT + purpose as u64;
            Stream::new(job.seed, PURPOSE_FIRST + number)
        };
        let span = job.span_bytes_on(capacity_bytes) / SECTOR_BYTES;
        let mut passes: Vec<(u64, u64, Pass)> = Vec::new();
        let mut direction = |sizes: &[BlockSize]| {
            let mut direction = Direction::new(job, sizes, span, stream(Purpose::Scatter));
            if job.random_map {
                let key = (direction.align, direction.sizes.smallest().places);
                let found = passes.iter().position(|&(align, places, _)| (align, places) == key);
                let pass = found.unwrap_or_else(|| {
                    let pass = if job.has_several_sizes() {
                        Pass::Mapped(RandomMap::new(key.1))
                    } else {
                        let seed = stream(Purpose::Order).next_u64().wrapping_add(passes.len() as u64);
                        Pass::Ordered(Passes::new(key.1, Stream::new(seed, PURPOSE_FIRST)))
                    };
                    passes.push((key.0, key.1, pass));
                    passes.len() - 1
                });
                direction.pattern = Pattern::Passes(pass);
            }
            direction
        };
        let trims = matches!(job.rw, Rw::Trim | Rw::RandTrim);
        let reads = direction(&job.block_sizes);
        let writes = direction(if trims { job.trim_sizes() } else { job.write_sizes() });
        Self {
            base: job.offset_bytes / SECTOR_BYTES,
            span,
            order: match (job.rw.is_random(), share(job.random_percent / 100.0)) {
                (false, _) => Order::Sequential,
                (true, u64::MAX) => Order::Random,
                (true, share) => Order::Partly(share),
            },
            mix: match job.rw {
                Rw::Read | Rw::RandRead => Mix::Only(Op::Read),
                Rw::Write | Rw::RandWrite => Mix::Only(Op::Write),
                Rw::Trim | Rw::RandTrim => Mix::Only(Op::Trim),
                Rw::Rw | Rw::RandRw => match share(job.read_percent / 100.0) {
                    0 => Mix::Only(Op::Write),
                    u64::MAX => Mix::Only(Op::Read),
                    share => Mix::Reads(share),
                },
            },
            reads,
            writes,
            passes: passes.into_iter().map(|(_, _, passes)| passes).collect(),
            offsets: stream(Purpose::Offset),
            choices: stream(Purpose::Choice),
            fua: job.fua,
            flush_every: job.flush_every_writes,
            writes_since_flush: 0,
        }
    }

    /// The next request.
    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    pub fn draw(&mut self) -> Request {
        let op = match self.mix {
            Mix::Only(op) => op,
            Mix::Reads(share) if self.choices.next_u64() < share => Op::Read,
            Mix::Reads(_) => Op::Write,
        };
        if op == Op::Write && self.flush_every != 0 {
            if self.writes_since_flush == self.flush_every {
                self.writes_since_flush = 0;
                return Request::flush();
            }
            self.writes_since_flush += 1;
        }
        let direction = if op == Op::Read { &mut self.reads } else { &mut self.writes };
        let size = direction.sizes.draw(&mut self.choices);
        let random = match self.order {
            Order::Random => true,
            Order::Sequential => false,
            Order::Partly(share) => self.choices.next_u64() < share,
        };
        let mut sectors = u64::from(size.sectors);
        let start = if random {
            let place = match &mut direction.pattern {
                Pattern::Uniform => self.offsets.below(size.places),
                Pattern::Skewed(distribution) => fit(distribution.draw(&mut self.offsets), size.places),
                Pattern::Passes(pass) => match &mut self.passes[*pass] {
                    Pass::Ordered(passes) => fit(passes.draw(), size.places),
                    Pass::Mapped(map) => {
                        let from = self.offsets.below(map.blocks());
                        let place = map.next_left(from);
                        sectors = direction.take_left(map, place, size, &mut self.choices);
                        place
                    }
                },
            };
            place * direction.align
        } else {
            direction.sequential(self.span, &mut sectors)
        };
        direction.next = start + sectors;
        Request {
            op,
            fua: self.fua && op == Op::Write,
            lba: self.base + start,
            sector_count: sectors as u32,
            delay_ns: 0,
            background: false,
        }
    }
}

impl Direction {
    fn new(job: &Job, sizes: &[BlockSize], span: u64, mut scatter: Stream) -> Self {
        let smallest = sizes.iter().map(|size| size.bytes).min().unwrap_or(SECTOR_BYTES);
        let align = job.align_bytes.unwrap_or(smallest) / SECTOR_BYTES;
        // The last aligned place may lie too close to the end; with less than one block there is place 0.
        let places = |sectors: u64| span.saturating_sub(sectors) / align + 1;
        let size = |size: &BlockSize| Size {
            sectors: (size.bytes / SECTOR_BYTES) as u32,
            places: places(size.bytes / SECTOR_BYTES),
        };
        let total: f64 = sizes.iter().map(|size| size.weight).sum();
        let mut sum = 0.0;
        let sizes = match sizes {
            [one] => Sizes::One(size(one)),
            several => Sizes::Several(
                several
                    .iter()
                    .map(|one| {
                        sum += one.weight;
                        (share(sum / total), size(one))
                    })
                    .collect(),
            ),
        };
        let pattern = match &job.distribution {
            DistributionSpec::Uniform {} => Pattern::Uniform,
            spec => Pattern::Skewed(Distribution::new(spec, places(smallest / SECTOR_BYTES), &mut scatter)),
        };
        let sequential_align = if job.align_bytes.is_some() { align } else { 1 };
        Self { sizes, pattern, align, sequential_align, next: 0 }
    }

    /// Sectors of a request of that size at a place that is left: it ends before the next that isn't. Of a size that
    /// doesn't fit before the end of the region another is drawn, as fio does.
    #[inline(never)]
    fn take_left(&self, map: &mut RandomMap, place: u64, size: Size, choices: &mut Stream) -> u64 {
        let again = std::iter::repeat_with(|| self.sizes.draw(choices)).take(DRAWS_MAX);
        let fitting = std::iter::once(size).chain(again).find(|size| place < size.places);
        let sectors = u64::from(fitting.unwrap_or(self.sizes.smallest()).sectors);
        sectors.min(map.take(place, sectors.div_ceil(self.align)) * self.align)
    }

    /// Continues where the last request ended; wraps at the end of the region, before which the last request is
    /// cut short so that the whole region is covered.
    #[inline]
    fn sequential(&self, span: u64, sectors: &mut u64) -> u64 {
        let mut start = self.next;
        if self.sequential_align > 1 {
            start = start.next_multiple_of(self.sequential_align);
        }
        if start >= span {
            start = 0;
        }
        *sectors = (*sectors).min(span - start);
        start
    }
}

impl Sizes {
    #[inline]
    fn draw(&self, choices: &mut Stream) -> Size {
        match self {
            Self::One(size) => *size,
            Self::Several(sizes) => {
                let point = choices.next_u64();
                sizes[sizes.partition_point(|&(share, _)| share <= point).min(sizes.len() - 1)].1
            }
        }
    }

    fn smallest(&self) -> Size {
        match self {
            Self::One(size) => *size,
            // Not empty: validated.
            Self::Several(sizes) => {
                sizes.iter().fold(
                    sizes[0].1,
                    |least, &(_, size)| if size.sectors < least.sectors { size } else { least },
                )
            }
        }
    }
}

/// A place drawn for the smallest size, moved if a larger request doesn't fit there.
#[inline]
fn fit(place: u64, places: u64) -> u64 {
    if place < places { place } else { place % places }
}

/// A probability as a share of 2^64; 1 is `u64::MAX`.
fn share(probability: f64) -> u64 {
    if probability >= 1.0 { u64::MAX } else { (probability * 18_446_744_073_709_551_616.0) as u64 }
}

#[cfg(test)]
#[path = "generator_test.rs"]
mod tests;
