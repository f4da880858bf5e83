//! What matters of the content of a write: how far it compresses, and which blocks are copies of each other.
//! Bytes themselves are kept only where somebody reads them back.

use std::num::NonZeroU64;

use drivelab_sim::rng::mix;
use serde::{Deserialize, Serialize};

/// Content of the blocks of one write. A block is one map unit of the drive, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Content {
    /// Size after compression over size before, in thousandths: 0 leaves nothing, 1000 does not compress.
    pub compressed_permille: u16,
    /// How many blocks of a thousand are copies: each of them is one of `pool` contents. A write of nothing but
    /// copies is the same content throughout, as a buffer full of one byte is.
    pub duplicate_permille: u16,
    /// Different contents among the copies; 0 counts as 1.
    pub pool: u16,
    /// Decides which blocks are copies, and of what. Workloads draw one for every write.
    pub seed: u32,
}

/// Identity of a content that exists more than once: equal identities mean equal bytes. A number of 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity(NonZeroU64);

impl Identity {
    /// Of real bytes, by a good hash of them. Among 20 million contents two share an identity by chance in one drive of
    /// 40 000; that costs nothing but a wrong size, because the bytes of every map unit are kept apart.
    #[inline]
    #[must_use]
    pub fn of_hash(hash: u64) -> Self {
        Self(NonZeroU64::new(hash >> 1).unwrap_or(NonZeroU64::MIN))
    }

    /// The `member`-th content of a pool that compresses so far.
    #[inline]
    fn of_pool(compressed_permille: u16, member: u16) -> Self {
        Self(NonZeroU64::MIN.saturating_add(u64::from(compressed_permille) << 16 | u64::from(member)))
    }

    /// Its number, below 2^63.
    #[inline]
    #[must_use]
    pub fn number(self) -> u64 {
        self.0.get()
    }

    /// The identity of this number, if it is one.
    #[inline]
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).filter(|number| number.get() >> 63 == 0).map(Self)
    }
}

/// What matters of the real bytes of one map unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitContent {
    /// What a compressor makes of them; whatever it says, a drive stores at least a granule and at most a whole unit.
    pub compressed_bytes: u32,
    /// A good 64-bit hash of them.
    pub hash: u64,
}

impl UnitContent {
    /// A unit of zeros.
    pub const ZEROS: Self = Self { compressed_bytes: 0, hash: 0 };
}

impl Content {
    /// Bytes that neither compress nor repeat: what drives that look at no content are given.
    pub const RANDOM: Self = Self { compressed_permille: 1000, duplicate_permille: 0, pool: 1, seed: 0 };
    /// Zeros: every block is the same, and compresses to nothing.
    pub const ZEROS: Self = Self { compressed_permille: 0, duplicate_permille: 1000, pool: 1, seed: 0 };

    /// The identity of a write's `index`-th block if it is a copy, `None` if its bytes exist only once.
    ///
    /// Copies of different compressibility have different bytes, so they have different identities too.
    #[inline]
    #[must_use]
    pub fn identity(&self, index: u32) -> Option<Identity> {
        if self.duplicate_permille == 0 {
            return None;
        }
        let block = if self.duplicate_permille < 1000 { index } else { 0 };
        let hash = mix(u64::from(self.seed) << 32 | u64::from(block));
        if hash % 1000 >= u64::from(self.duplicate_permille) {
            return None;
        }
        let member = (hash >> 32) % u64::from(self.pool.max(1));
        Some(Identity::of_pool(self.compressed_permille, member as u16))
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::RANDOM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_copies_as_asked_for_and_never_more_contents_than_the_pool() {
        let mut contents = std::collections::BTreeSet::new();
        let mut copies = 0;
        for seed in 0..1000 {
            let content = Content { compressed_permille: 500, duplicate_permille: 300, pool: 7, seed };
            for index in 0..10 {
                if let Some(identity) = content.identity(index) {
                    copies += 1;
                    contents.insert(identity);
                }
            }
        }
        assert!((2800..3200).contains(&copies), "{copies} of 10000 blocks are copies");
        assert_eq!(contents.len(), 7);
    }

    #[test]
    fn a_write_of_copies_only_is_one_content_throughout() {
        let of = |seed| {
            let content = Content { compressed_permille: 1, duplicate_permille: 1000, pool: 256, seed };
            let blocks: std::collections::BTreeSet<_> =
                (0..32).map(|index| content.identity(index)).collect();
            blocks.into_iter().collect::<Vec<_>>()
        };
        assert!((0..100).all(|seed| of(seed).len() == 1));
        let different: std::collections::BTreeSet<_> = (0..10_000).map(of).collect();
        assert_eq!(different.len(), 256);
    }

    #[test]
    fn identities_are_numbers_of_63_bits_and_come_back_from_them() {
        for hash in [0, 1, 2, 77, 1 << 63, u64::MAX] {
            let identity = Identity::of_hash(hash);
            assert_eq!(Identity::from_number(identity.number()), Some(identity));
        }
        assert_ne!(Identity::of_hash(1 << 63), Identity::of_hash(1 << 62));
        assert_eq!(Identity::from_number(0), None);
        assert_eq!(Identity::from_number(1 << 63), None);
        assert_eq!(size_of::<Option<Identity>>(), 8);
    }

    #[test]
    fn random_bytes_have_no_copies_and_zeros_are_all_the_same() {
        assert_eq!(Content::RANDOM.identity(5), None);
        assert_eq!(Content::ZEROS.identity(5), Content { seed: 9, ..Content::ZEROS }.identity(6));
    }
}
