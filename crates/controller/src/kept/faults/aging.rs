//! Wrong bits: how many there are, and which codewords can be corrected.

use drivelab_nand::{BlockIndex, Ppn, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::rng::draw;

use super::plan::BitErrors;

/// Purpose number of the draws of wrong bits.
const BITS_STREAM: u64 = 0x4249_5453;

/// What has happened to a block since it was erased.
#[derive(Clone, Copy, Debug)]
struct BlockAge {
    programmed_ns: Nanos,
    reads: u64,
}

/// State of all blocks.
#[derive(Clone, Debug)]
pub(crate) struct Aging {
    model: BitErrors,
    blocks: Vec<BlockAge>,
    /// Time that has passed while nothing else happened.
    skipped_ns: Nanos,
    /// The next block that is looked at in passing.
    pub patrol: u32,
}

/// Where something lies, and since when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub block: BlockIndex,
    pub ppn: Ppn,
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
    pub fn new(model: BitErrors, blocks: u32, now: Nanos) -> Self {
        let new = BlockAge { programmed_ns: now, reads: 0 };
        Self { model, blocks: vec![new; blocks as usize], skipped_ns: 0, patrol: 0 }
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

    /// The first page of a block was programmed.
    pub fn note_programmed(&mut self, block: BlockIndex, now: Nanos) {
        let programmed_ns = now.saturating_add(self.skipped_ns);
        self.blocks[block.0 as usize] = BlockAge { programmed_ns, reads: 0 };
    }

    /// Wrong bits to be expected in a codeword.
    pub fn expected_bits(&self, block: BlockIndex, erase_count: u32, now: Nanos) -> f64 {
        let BitErrors { wear, new_rate, worn_rate, retention_ns, read_disturb_reads, .. } = self.model;
        let BlockAge { programmed_ns, reads } = self.blocks[block.0 as usize];
        let age_ns = now.saturating_add(self.skipped_ns).saturating_sub(programmed_ns);
        let rate = new_rate + (worn_rate - new_rate) * wear.factor(erase_count);
        let growth = (1.0 + age_ns as f64 / retention_ns) * (1.0 + reads as f64 / read_disturb_reads as f64);
        f64::from(self.model.codeword_bytes) * 8.0 * (rate * growth).clamp(0.0, 0.5)
    }

    /// Reads `count` sectors of a unit from `first` on.
    pub fn read(&mut self, seed: u64, place: Place, (first, count): (u32, u32), now: Nanos) -> Found {
        let expected = self.expected_bits(place.block, place.erase_count, now);
        self.blocks[place.block.0 as usize].reads += 1;
        let mut found = Found::default();
        let limits: Vec<f64> = (0..=self.model.retries)
            .map(|retry| {
                let left = expected * self.model.retry_factor.powi(retry.cast_signed());
                at_most(self.model.correctable_bits, left)
            })
            .collect();
        let none = at_most(0, expected);
        let refresh = at_most(self.model.refresh_bits, expected);
        let sectors = self.model.codeword_bytes / SECTOR_BYTES;
        for codeword in first / sectors..(first + count).div_ceil(sectors) {
            let quantile =
                draw(seed ^ BITS_STREAM, place.sequence, u64::from(place.ppn.0) << 32 | u64::from(codeword));
            match limits.iter().position(|&limit| quantile <= limit) {
                Some(retries) => {
                    found.retries = found.retries.max(retries as u32);
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

    /// Whether one codeword of a block of so many is expected to have too many wrong bits to be left where it is.
    pub fn wants_refresh(&self, block: BlockIndex, erase_count: u32, codewords: u64, now: Nanos) -> bool {
        let expected = self.expected_bits(block, erase_count, now);
        (1.0 - at_most(self.model.refresh_bits, expected)) * codewords as f64 >= 1.0
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
    fn wrong_bits_grow_with_wear_age_and_reads() {
        let model = BitErrors::default();
        let mut aging = Aging::new(model, 1, 0);
        let block = BlockIndex(0);
        let place = Place { block, ppn: Ppn(0), sequence: 1, erase_count: 0 };
        let new = aging.expected_bits(block, 0, 0);
        assert!((new - 4096.0 * model.new_rate).abs() < 1e-12);
        let worn = aging.expected_bits(block, model.wear.endurance_erases, 0);
        assert!((worn - 4096.0 * model.worn_rate).abs() < 1e-9);
        aging.pass(model.retention_ns as u64);
        assert!((aging.expected_bits(block, 0, 0) / new - 2.0).abs() < 1e-9);
        for _ in 0..model.read_disturb_reads {
            aging.blocks[0].reads += 1;
        }
        assert!((aging.expected_bits(block, 0, 0) / new - 4.0).abs() < 1e-9);
        aging.note_programmed(block, 5);
        assert!((aging.expected_bits(block, 0, 5) / new - 1.0).abs() < 1e-9);
        aging.read(1, place, (0, 8), 5);
        assert_eq!(aging.blocks[0].reads, 1);
    }

    #[test]
    fn what_is_lost_stays_lost_and_the_share_is_the_tail() {
        let model = BitErrors {
            new_rate: 8.0 / 4096.0,
            retries: 0,
            read_disturb_reads: u64::MAX,
            ..BitErrors::default()
        };
        let mut aging = Aging::new(model, 1, 0);
        let mut lost = 0;
        for page in 0..5_000 {
            let place =
                Place { block: BlockIndex(0), ppn: Ppn(page), sequence: u64::from(page), erase_count: 0 };
            let first = aging.read(7, place, (0, 8), 0).lost;
            lost += first.iter().map(|&(_, count)| count).sum::<u32>();
            assert_eq!(first, aging.clone().read(7, place, (0, 8), 0).lost);
        }
        let share = f64::from(lost) / 40_000.0;
        assert!((share - (1.0 - 0.592_547)).abs() < 0.03, "{share}");
    }
}
