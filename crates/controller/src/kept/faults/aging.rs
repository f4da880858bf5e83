//! Wrong bits: how many there are, and which codewords can be corrected.

use std::collections::BTreeMap;
use std::ops::Range;

use drivelab_nand::{BlockIndex, CellMode, Lpn, Ppn, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::rng::draw;
use serde::{Deserialize, Serialize};

use super::plan::BitErrors;

/// Purpose number of the draws of wrong bits.
const BITS_STREAM: u64 = 0x4249_5453;

/// Pages of a block are of one age as long as they were programmed within this part of the time in which wrong bits double.
const SAME_AGE_PART: f64 = 64.0;

/// What has happened to a block since it was erased.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct BlockAge {
    /// When its first page was programmed.
    programmed_ns: Nanos,
    /// From which page on the rest was programmed so much later that it counts, and when; the last is the latest.
    later: Vec<(u32, Nanos)>,
}

impl BlockAge {
    fn since(programmed_ns: Nanos) -> Self {
        Self { programmed_ns, later: Vec::new() }
    }

    /// When a page was programmed.
    fn programmed_ns(&self, page: u32) -> Nanos {
        let later = self.later.iter().rev().find(|&&(first, _)| first <= page);
        later.map_or(self.programmed_ns, |&(_, programmed_ns)| programmed_ns)
    }
}

/// State of all blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Aging {
    model: BitErrors,
    blocks: Vec<BlockAge>,
    /// How often pages were sensed since the first of their block was programmed, retries too: of each block on each of
    /// `planes` planes that are sensed by themselves. What disturbs cells is what their own strings carry.
    sensings: Vec<u64>,
    planes: u32,
    /// Time that has passed while nothing else happened.
    skipped_ns: Nanos,
    /// The next block that is looked at in passing.
    pub patrol: u32,
    /// Marks of sectors that are lost, of drives that keep no bytes to go with them.
    lost: BTreeMap<u32, u32>,
}

/// Where something lies, and since when.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    pub block: BlockIndex,
    /// The page of its block.
    pub page: u32,
    /// The planes of it that are sensed, a bit each.
    pub planes: u64,
    pub ppn: Ppn,
    pub mode: CellMode,
    /// Number of the first program of its block.
    pub sequence: u64,
    pub erase_count: u32,
}

/// What reading some sectors of a unit gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// How often the page was read again.
    pub retries: u32,
    /// Sectors of the unit that can't be given back: the first, and how many.
    pub lost: Vec<(u32, u32)>,
    /// Codewords that were corrected.
    pub corrected: u64,
    /// Codewords that were not.
    pub uncorrectable: u64,
    /// The block should be moved.
    pub wants_refresh: bool,
}

impl Aging {
    /// The state of `blocks` blocks on each of `planes` planes that are sensed by themselves.
    pub fn new(model: BitErrors, (blocks, planes): (u32, u32), now: Nanos) -> Self {
        let sensings = vec![0; (blocks * planes) as usize];
        let blocks = vec![BlockAge::since(now); blocks as usize];
        Self { model, blocks, sensings, planes, skipped_ns: 0, patrol: 0, lost: BTreeMap::new() }
    }

    fn sensings_of(&self, block: BlockIndex) -> Range<usize> {
        let first = (block.0 * self.planes) as usize;
        first..first + self.planes as usize
    }

    pub fn set_model(&mut self, model: BitErrors) {
        self.model = model;
    }

    pub fn model(&self) -> &BitErrors {
        &self.model
    }

    /// Time passes without anything else happening.
    pub fn pass(&mut self, duration_ns: Nanos) {
        self.skipped_ns = self.skipped_ns.saturating_add(duration_ns);
    }

    /// A page of a block was programmed.
    pub fn note_programmed(&mut self, (block, page): (BlockIndex, u32), now: Nanos) {
        let programmed_ns = now.saturating_add(self.skipped_ns);
        let age = &mut self.blocks[block.0 as usize];
        if page == 0 {
            *age = BlockAge::since(programmed_ns);
            let planes = self.sensings_of(block);
            self.sensings[planes].fill(0);
        } else if programmed_ns.saturating_sub(age.programmed_ns(page)) as f64
            > self.model.retention_ns / SAME_AGE_PART
        {
            age.later.push((page, programmed_ns));
        }
    }

    /// Pages of a block were sensed so often, on each of these planes.
    pub fn note_sensings(&mut self, (block, planes): (BlockIndex, u64), count: u32) {
        let all = self.sensings_of(block);
        for (plane, sensings) in self.sensings[all].iter_mut().enumerate() {
            *sensings += u64::from(count) * (planes >> plane & 1);
        }
    }

    /// How often the one of these planes was sensed that was sensed most often.
    fn most_sensings(&self, (block, planes): (BlockIndex, u64)) -> u64 {
        let all = self.sensings[self.sensings_of(block)].iter().enumerate();
        all.filter(|&(plane, _)| planes >> plane & 1 != 0).map(|(_, &sensings)| sensings).max().unwrap_or(0)
    }

    /// Marks of a unit's sectors that are lost.
    pub fn lost_sectors(&self, lpn: Lpn) -> u32 {
        self.lost.get(&lpn.0).copied().unwrap_or(0)
    }

    /// More sectors of a unit are lost.
    pub fn lose_sectors(&mut self, lpn: Lpn, marks: u32) {
        if marks != 0 {
            *self.lost.entry(lpn.0).or_default() |= marks;
        }
    }

    /// Sectors of a unit are written, or trimmed: what they held is of no interest any more.
    pub fn replace_sectors(&mut self, lpn: Lpn, marks: u32) {
        if let Some(lost) = self.lost.get_mut(&lpn.0) {
            *lost &= !marks;
            if *lost == 0 {
                self.lost.remove(&lpn.0);
            }
        }
    }

    /// Whether sectors of any unit are lost.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Everything was erased.
    pub fn forget_lost(&mut self) {
        self.lost.clear();
    }

    /// Wrong bits to be expected in a codeword of a page, on the one of these planes that was sensed most often.
    pub fn expected_bits(
        &self,
        (block, page, planes): (BlockIndex, u32, u64),
        (mode, erase_count): (CellMode, u32),
        now: Nanos,
    ) -> f64 {
        let BitErrors { retention_ns, read_disturb_reads, .. } = self.model;
        let age = &self.blocks[block.0 as usize];
        let sensings = self.most_sensings((block, planes));
        let age_ns = now.saturating_add(self.skipped_ns).saturating_sub(age.programmed_ns(page));
        let cells = match mode {
            CellMode::Native => self.model.native,
            CellMode::Slc => self.model.slc,
        };
        let growth =
            (1.0 + age_ns as f64 / retention_ns) * (1.0 + sensings as f64 / read_disturb_reads as f64);
        f64::from(self.model.codeword_bytes) * 8.0 * (cells.rate(erase_count) * growth).clamp(0.0, 0.5)
    }

    /// Reads `count` sectors of a unit from `first` on.
    pub fn read(&mut self, seed: u64, place: Place, (first, count): (u32, u32), now: Nanos) -> Found {
        let expected =
            self.expected_bits((place.block, place.page, place.planes), (place.mode, place.erase_count), now);
        let mut found = Found::default();
        let none = at_most(0, expected);
        let at_once = surely_at_most(self.model.correctable_bits, expected);
        let refresh = match self.model.refresh_bits {
            0 => 1.0,
            bits => at_most(bits, expected),
        };
        let sectors = self.model.codeword_bytes / SECTOR_BYTES;
        for codeword in first / sectors..(first + count).div_ceil(sectors) {
            let quantile =
                draw(seed ^ BITS_STREAM, place.sequence, u64::from(place.ppn.0) << 32 | u64::from(codeword));
            let retries = if quantile <= at_once {
                Some(0)
            } else {
                (0..=self.model.retries).find(|&retry| self.is_corrected(quantile, expected, retry))
            };
            match retries {
                Some(retries) => {
                    found.retries = found.retries.max(retries);
                    found.corrected += u64::from(quantile > none);
                }
                None => {
                    found.retries = self.model.retries;
                    found.uncorrectable += 1;
                    let begin = (codeword * sectors).max(first);
                    found.lost.push((begin, ((codeword + 1) * sectors).min(first + count) - begin));
                }
            }
            found.wants_refresh |= self.model.refresh_bits > 0 && quantile > refresh;
        }
        found
    }

    /// Whether a codeword of this quantile of wrong bits can be corrected after so many retries. The bound mostly says so
    /// without the sum.
    fn is_corrected(&self, quantile: f64, expected: f64, retry: u32) -> bool {
        let left = expected * self.model.retry_factor.powi(retry.cast_signed());
        let most = self.model.correctable_bits;
        quantile <= surely_at_most(most, left) || quantile <= at_most(most, left)
    }

    /// Whether one codeword of a block of so many is expected to have too many wrong bits to be left where it is.
    pub fn wants_refresh(
        &self,
        block: BlockIndex,
        state: (CellMode, u32),
        codewords: u64,
        now: Nanos,
    ) -> bool {
        let too_many = |plane| {
            let expected = self.expected_bits((block, 0, 1u64 << plane), state, now);
            1.0 - at_most(self.model.refresh_bits, expected)
        };
        let of_planes: f64 = (0..self.planes).map(too_many).sum();
        of_planes * codewords as f64 / f64::from(self.planes) >= 1.0
    }
}

/// Chance that a Poisson-distributed number of this mean is at most `most`.
fn at_most(most: u32, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut sum = term;
    for number in 1..=most {
        term *= mean / f64::from(number);
        sum += term;
    }
    sum.min(1.0)
}

/// A bound below that chance, which costs one logarithm: Chernoff's of the tail beyond it, with room for what sums of
/// terms round; 0 where it says nothing.
fn surely_at_most(most: u32, mean: f64) -> f64 {
    let beyond = f64::from(most) + 1.0;
    if mean >= beyond {
        return 0.0;
    }
    if mean <= 0.0 {
        return 1.0;
    }
    let tail = (beyond - mean - beyond * (beyond / mean).ln()).exp();
    1.0 - 2.0 * tail - 1e-13
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_the_poisson_distribution() {
        for (most, mean, chance) in
            [(0, 1.0, 0.367_879), (2, 1.0, 0.919_699), (8, 8.0, 0.592_547), (3, 0.1, 0.999_996)]
        {
            assert!((at_most(most, mean) - chance).abs() < 1e-6, "{most} {mean}: {}", at_most(most, mean));
        }
        assert!(at_most(8, 2000.0) < 1e-9);
    }

    #[test]
    fn the_bound_never_says_more_than_the_sum_and_mostly_enough() {
        for most in [0, 1, 8, 72, 400] {
            for step in 0..200 {
                let mean = f64::from(most + 1) * f64::from(step) / 150.0;
                let (bound, chance) = (surely_at_most(most, mean), at_most(most, mean));
                assert!(mean == 0.0 || bound <= chance, "{most} {mean}: {bound} {chance}");
            }
        }
        assert!(surely_at_most(72, 20.0) > 0.999_999);
    }

    #[test]
    fn wrong_bits_grow_with_wear_age_and_reads() {
        let model = BitErrors::default();
        let mut aging = Aging::new(model, (1, 1), 0);
        let block = BlockIndex(0);
        let mode = CellMode::Native;
        let new = aging.expected_bits((block, 0, 1), (mode, 0), 0);
        assert!((new - 4096.0 * model.native.new_rate).abs() < 1e-12);
        let worn = aging.expected_bits((block, 0, 1), (mode, model.native.wear.endurance_erases), 0);
        assert!((worn - 4096.0 * model.native.worn_rate).abs() < 1e-9);
        aging.pass(model.retention_ns as u64);
        assert!((aging.expected_bits((block, 0, 1), (mode, 0), 0) / new - 2.0).abs() < 1e-9);
        for _ in 0..model.read_disturb_reads {
            aging.note_sensings((block, 1), 1);
        }
        assert!((aging.expected_bits((block, 0, 1), (mode, 0), 0) / new - 4.0).abs() < 1e-9);
        aging.note_programmed((block, 0), 5);
        assert!((aging.expected_bits((block, 0, 1), (mode, 0), 5) / new - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_plane_is_disturbed_by_what_it_senses_itself() {
        let model = BitErrors::default();
        let mut aging = Aging::new(model, (2, 4), 0);
        let (block, state) = (BlockIndex(1), (CellMode::Native, 0));
        let new = aging.expected_bits((block, 0, 1), state, 0);
        for _ in 0..model.read_disturb_reads {
            aging.note_sensings((block, 0b0110), 1);
            aging.note_sensings((block, 0b0100), 1);
        }
        let times = [0b0001, 0b0010, 0b0100, 0b1000, 0b0011, 0b1111]
            .map(|planes| aging.expected_bits((block, 0, planes), state, 0) / new);
        for (found, expected) in times.into_iter().zip([1.0, 2.0, 3.0, 1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-9, "{times:?}");
        }
        assert!((aging.expected_bits((BlockIndex(0), 0, 0b1111), state, 0) / new - 1.0).abs() < 1e-9);
        aging.note_programmed((block, 0), 0);
        assert!((aging.expected_bits((block, 0, 0b1111), state, 0) / new - 1.0).abs() < 1e-9);
    }

    #[test]
    fn blocks_of_one_bit_a_cell_and_erases_before_the_first_have_their_own() {
        let mut model = BitErrors::default();
        model.slc.worn_rate = 1e-5;
        model.slc.wear.endurance_erases = 20_000;
        model.native.wear.erases_before = 10_000;
        let aging = Aging::new(model, (1, 1), 0);
        let block = BlockIndex(0);
        let worn = aging.expected_bits((block, 0, 1), (CellMode::Native, 0), 0);
        assert!((worn - 4096.0 * model.native.worn_rate).abs() < 1e-9);
        let slc = aging.expected_bits((block, 0, 1), (CellMode::Slc, 20_000), 0);
        assert!((slc - 4096.0 * 1e-5).abs() < 1e-9);
    }

    #[test]
    fn what_is_lost_stays_lost_and_the_share_is_the_tail() {
        let mut model = BitErrors { retries: 0, read_disturb_reads: u64::MAX, ..BitErrors::default() };
        model.native.new_rate = 8.0 / 4096.0;
        let mut aging = Aging::new(model, (1, 1), 0);
        let mut lost = 0;
        for page in 0..5_000 {
            let (block, mode) = (BlockIndex(0), CellMode::Native);
            let place = Place {
                block,
                page,
                planes: 1,
                ppn: Ppn(page),
                mode,
                sequence: u64::from(page),
                erase_count: 0,
            };
            let first = aging.read(7, place, (0, 8), 0).lost;
            lost += first.iter().map(|&(_, count)| count).sum::<u32>();
            assert_eq!(first, aging.clone().read(7, place, (0, 8), 0).lost);
        }
        let share = f64::from(lost) / 40_000.0;
        assert!((share - (1.0 - 0.592_547)).abs() < 0.03, "{share}");
    }
}
