//! Seeded random streams.
//!
//! Every consumer of randomness (victim selection, each workload job, ...) draws from a stream of its own,
//! named by a purpose number, so that adding a draw in one place never shifts another's sequence.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// A reproducible random stream: PCG XSL 128/64 (MCG; REFERENCES.md, \[8\]), pinned so that results survive library
/// updates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream {
    generator: Pcg64Mcg,
}

impl Stream {
    /// The stream of `seed` for one purpose. Different purposes of one seed are independent.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        let low = mix(seed ^ 0x9E37_79B9_7F4A_7C15);
        let high = mix(low ^ mix(purpose.wrapping_add(0xD1B5_4A32_D192_ED03)));
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes());
        Self { generator: Pcg64Mcg::from_seed(bytes) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A uniform integer in `0..bound` (Lemire's multiplication; bias below 2^-32 for bounds below 2^32).
    ///
    /// # Panics
    /// Never; a bound of 0 gives 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform real number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

/// The finaliser of `SplitMix64`: every bit of the input reaches every bit of the output.
#[inline]
#[must_use]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A uniform real number in `[0, 1)` that belongs to these numbers and no others: for draws that must not depend on
/// the order in which they are made.
#[must_use]
pub fn draw(seed: u64, purpose: u64, number: u64) -> f64 {
    let bits = mix(mix(seed ^ mix(purpose)) ^ number);
    (bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_one_sequence_and_purposes_differ() {
        let draw = |seed, purpose| {
            let mut stream = Stream::new(seed, purpose);
            [stream.next_u64(), stream.next_u64(), stream.next_u64()]
        };
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
        assert_ne!(draw(1, 1), draw(2, 1));
    }

    #[test]
    fn below_stays_below_and_covers() {
        let mut stream = Stream::new(7, 0);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[stream.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
    }
}
