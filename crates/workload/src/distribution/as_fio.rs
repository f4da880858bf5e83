//! Zipf and pareto as fio draws them: the same offsets from the same seed [FIO].
//!
//! Ranks come from a 32-bit combined Tausworthe generator (L'Ecuyer 1996, "taus88") by the approximation of Gray et al.,
//! "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994, and are scattered by a multiplicative hash modulo
//! the number of blocks. What follows from it and not from the power law: above theta 1 the first ranks get more than
//! their share; beyond ten million blocks the sum of the weights is cut off; the hash lets ranks fall together unless the
//! number of blocks is a power of two, so that some blocks are never drawn.

/// How many weights are summed up.
const MOST_WEIGHTS: u64 = 10_000_000;

/// Odd, 2^64 times the square of the golden section: multiplying by it scatters neighbours.
const SCATTER: u64 = 0x61C8_8646_80B5_83EB;

/// The multiplier of the congruential generator that seeds the three words.
const SEEDING: u32 = 69_069;

/// 53: what fio begins with.
const SEEDING_START: u32 = 53;

/// Draws thrown away after seeding.
const WARM_UP: usize = 6;

/// Three shift registers, combined: a period of 2^88.
#[derive(Clone, Debug)]
struct Taus88 {
    words: [u32; 3],
}

impl Taus88 {
    fn new(seed: u32) -> Self {
        // A register whose bits above the masked ones are all 0 would stay 0.
        let mut word = SEEDING_START;
        let words = [1, 7, 15].map(|least| {
            word = word.wrapping_mul(SEEDING) ^ seed;
            if word < least {
                word += least;
            }
            word
        });
        let mut generator = Self { words };
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    #[inline]
    fn draw(&mut self) -> u32 {
        let step = |word: u32, up: u32, down: u32, unused_bits: u32, shift: u32| {
            ((word & (u32::MAX << unused_bits)) << shift) ^ (((word << up) ^ word) >> down)
        };
        let [a, b, c] = self.words;
        self.words = [step(a, 13, 19, 1, 12), step(b, 2, 25, 3, 4), step(c, 3, 11, 4, 17)];
        self.words[0] ^ self.words[1] ^ self.words[2]
    }

    /// A real number in `[0, 1]`: both ends occur.
    #[inline]
    fn unit(&mut self) -> f64 {
        f64::from(self.draw()) / f64::from(u32::MAX)
    }
}

/// What both distributions share: the generator, and how ranks become places.
#[derive(Clone, Debug)]
struct Places {
    random: Taus88,
    len: u64,
    start: u64,
}

impl Places {
    fn new(len: u64, center: Option<f64>, seed: u32) -> Self {
        let mut random = Taus88::new(seed);
        let drawn = u64::from(random.draw());
        Self { random, len, start: center.map_or(drawn, |share| (len as f64 * share) as u64) }
    }

    #[inline]
    fn of(&self, rank: u64) -> u64 {
        rank.wrapping_mul(SCATTER).wrapping_add(self.start) % self.len
    }
}

/// fio's zipf.
#[derive(Clone, Debug)]
pub(super) struct FioZipf {
    places: Places,
    weights: f64,
    second: f64,
    alpha: f64,
    eta: f64,
}

impl FioZipf {
    /// Over `0..len`; `theta` is not 1. Sums up a weight for each block, up to ten million: a third of a second.
    pub(super) fn new(len: u64, theta: f64, center: Option<f64>, seed: u32) -> Self {
        let weights =
            (1..=len.min(MOST_WEIGHTS)).fold(0.0, |sum, rank| sum + (1.0 / rank as f64).powf(theta));
        let second = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / len as f64).powf(1.0 - theta)) / (1.0 - second / weights);
        Self { places: Places::new(len, center, seed), weights, second, alpha: 1.0 / (1.0 - theta), eta }
    }

    /// A place.
    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        let unit = self.places.random.unit();
        let weight = unit * self.weights;
        let rank = if weight < 1.0 {
            0
        } else if weight < self.second {
            1
        } else {
            // Not a number only for two blocks and a draw of exactly 1, and then 0.
            (self.places.len as f64 * (self.eta * unit - self.eta + 1.0).powf(self.alpha)) as u64
        };
        self.places.of(rank)
    }
}

/// fio's pareto.
#[derive(Clone, Debug)]
pub(super) struct FioPareto {
    places: Places,
    exponent: f64,
}

impl FioPareto {
    /// Over `0..len`.
    pub(super) fn new(len: u64, h: f64, center: Option<f64>, seed: u32) -> Self {
        Self { places: Places::new(len, center, seed), exponent: h.ln() / (1.0 - h).ln() }
    }

    /// A place.
    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        let unit = self.places.random.unit();
        let rank = (self.places.len - 1) as f64 * unit.powf(self.exponent);
        self.places.of(rank as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Offsets that fio's own library (lib/zipf.c of 3.39) draws first: kind, blocks, parameter, center, seed.
    #[test]
    fn offsets_are_those_of_fio_bit_for_bit() {
        let zipf = |len, theta, center, seed| {
            let mut zipf = FioZipf::new(len, theta, center, seed);
            [(); 8].map(|()| zipf.draw())
        };
        assert_eq!(
            zipf(262_144, 1.2, None, 1),
            [52_217, 255_479, 38_591, 237_205, 9_383, 219_702, 175_901, 239_431]
        );
        assert_eq!(
            zipf(19_660_800, 0.9, None, 7),
            [11_134_793, 11_419_035, 9_434_609, 13_513_498, 11_915_338, 18_885_517, 16_932_362, 14_064_315]
        );
        assert_eq!(zipf(1000, 0.5, None, 3), [248, 524, 687, 14, 508, 476, 478, 246]);
        assert_eq!(zipf(1000, 2.5, Some(0.25), 3), [250, 250, 250, 27, 250, 512, 250, 381]);
        let pareto = |len, h, seed| {
            let mut pareto = FioPareto::new(len, h, None, seed);
            [(); 8].map(|()| pareto.draw())
        };
        assert_eq!(
            pareto(262_144, 0.2, 1),
            [220_529, 247_426, 76_495, 80_838, 138_291, 167_928, 164_858, 239_431]
        );
        assert_eq!(pareto(1000, 0.4, 9), [385, 539, 840, 493, 555, 477, 452, 1]);
    }

    /// The counts of all blocks as `fio-genzipf` prints them, most drawn first: as many draws as blocks.
    #[test]
    fn counts_are_those_of_fio_genzipf() {
        for (kind, parameter, block_kib) in [("zipf", 1.2, 16), ("zipf", 0.8, 12), ("pareto", 0.3, 12)] {
            let block_bytes = block_kib * 1024;
            let output = Command::new("fio-genzipf")
                .args(["-t", kind, "-i", &parameter.to_string(), "-g", "1", "-c"])
                .args(["-b", &block_bytes.to_string()])
                .output();
            let Ok(output) = output else {
                assert!(std::env::var_os("CI").is_none(), "fio-genzipf is not installed");
                return;
            };
            let text = String::from_utf8(output.stdout).unwrap();
            let theirs: Vec<u64> =
                text.lines().skip(1).map(|line| line.rsplit(", ").next().unwrap().parse().unwrap()).collect();
            let len = (1 << 30) / block_bytes;
            let mut counts = vec![0u64; len as usize];
            if kind == "zipf" {
                let mut zipf = FioZipf::new(len, parameter, None, 1);
                (0..len).for_each(|_| counts[zipf.draw() as usize] += 1);
            } else {
                let mut pareto = FioPareto::new(len, parameter, None, 1);
                (0..len).for_each(|_| counts[pareto.draw() as usize] += 1);
            }
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts.truncate(counts.partition_point(|&count| count > 0));
            assert_eq!(counts, theirs, "{kind} {parameter}, blocks of {block_kib} KiB");
        }
    }
}
