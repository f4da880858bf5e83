//! A pseudo-random order of all blocks without a table: each block once before any repeats.
//!
//! A Feistel network is a bijection whatever its round function [Luby and Rackoff 1988]; over a domain that is
//! not a power of two, values outside are sent through it again until they fall inside ("cycle-walking",
//! Black and Rogaway 2002). The domain is less than twice the number of blocks (or 4), so that this ends soon.

use drivelab_sim::Stream;

/// An even number, so that halves of unequal width are back in place at the end.
const ROUNDS: usize = 6;

/// A bijection of `0..len` onto itself.
#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    high_mask: u64,
    low_mask: u64,
    low_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of `0..len` with keys from `stream`.
    #[must_use]
    pub fn new(len: u64, stream: &mut Stream) -> Self {
        let bits = (64 - len.saturating_sub(1).leading_zeros()).max(2);
        let low_bits = bits.div_ceil(2);
        let high_bits = bits - low_bits;
        let mut keys = [0; ROUNDS];
        keys.fill_with(|| stream.next_u64());
        Self { len, high_mask: (1 << high_bits) - 1, low_mask: (1 << low_bits) - 1, low_bits, keys }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is nothing to permute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where `index` goes. `index` must be below `len`.
    #[inline]
    #[must_use]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.len);
        let mut value = index;
        loop {
            value = self.once(value);
            if value < self.len {
                return value;
            }
        }
    }

    #[inline]
    fn once(&self, value: u64) -> u64 {
        let mut high = value >> self.low_bits;
        let mut low = value & self.low_mask;
        let mut pair = 0;
        while pair < ROUNDS {
            // `high` is narrower than `low` or as wide; each is changed under its own mask.
            high ^= spread(low, self.keys[pair]) & self.high_mask;
            low ^= spread(high, self.keys[pair + 1]) & self.low_mask;
            pair += 2;
        }
        (high << self.low_bits) | low
    }
}

/// Any function will do for a bijection. Halves have at most 32 bits, so that every one of them reaches the
/// upper half of the product.
#[inline]
fn spread(half: u64, key: u64) -> u64 {
    (half ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

/// Passes over all blocks, each in an order of its own.
#[derive(Clone, Debug)]
pub struct Passes {
    order: Permutation,
    next: u64,
    stream: Stream,
}

impl Passes {
    /// Endless passes over `0..len`; `len` must not be 0.
    #[must_use]
    pub fn new(len: u64, mut stream: Stream) -> Self {
        Self { order: Permutation::new(len, &mut stream), next: 0, stream }
    }

    /// The next block.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        if self.next == self.order.len() {
            self.order = Permutation::new(self.order.len(), &mut self.stream);
            self.next = 0;
        }
        self.next += 1;
        self.order.at(self.next - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_element_exactly_once(len in 1u64..5000, seed: u64) {
            let order = Permutation::new(len, &mut Stream::new(seed, 0));
            let mut seen = vec![false; len as usize];
            for index in 0..len {
                let place = order.at(index) as usize;
                prop_assert!(!seen[place], "{place} twice");
                seen[place] = true;
            }
        }
    }

    #[test]
    fn passes_differ_and_each_is_complete() {
        let mut passes = Passes::new(1000, Stream::new(3, 0));
        let mut pass = || (0..1000).map(|_| passes.draw()).collect::<Vec<_>>();
        let (first, second) = (pass(), pass());
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..1000));
        }
    }

    #[test]
    fn neighbours_are_spread() {
        // Successive values of a uniform random order differ by a third of its length on average.
        let len = 1_000_003;
        let order = Permutation::new(len, &mut Stream::new(1, 0));
        let sum: u64 = (1..100_000).map(|index| order.at(index).abs_diff(order.at(index - 1))).sum();
        let mean = sum as f64 / 99_999.0 / len as f64;
        assert!((mean - 1.0 / 3.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn large_domains_stay_inside() {
        for len in [(1 << 32) - 1, 1 << 40, (1 << 55) + 12_345] {
            let order = Permutation::new(len, &mut Stream::new(9, 0));
            assert!((0..1000).all(|index| order.at(len - 1 - index * 977) < len));
        }
    }
}
