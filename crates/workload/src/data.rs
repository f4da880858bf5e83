//! Data patterns: what a workload writes, as far as a drive can tell.
//!
//! - zeros: every block is the same and compresses to nothing.
//! - repeating: Iometer 2008's default. Each write is one byte value over and over, drawn anew for each write
//!   \[IOM\]: 256 contents in all, and an archiver leaves a thousandth (522 MB became 524 KB in \[A2\]).
//! - random: nothing compresses, nothing occurs twice.
//! - compressible: every block compresses to the same share, and a share of the blocks are copies of one of a
//!   pool of contents.
//!
//! Only drives that compress look at it. Seeds come from a stream of their own, so a job asks for the same
//! places at the same times whatever it writes.

use drivelab_controller::Content;
use drivelab_sim::Stream;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;

/// Seeds of the content of job `n` come from this purpose plus `n`: apart from those of offsets, and of drives.
const PURPOSE_FIRST: u64 = 0x4441_5441_0000;
/// What an archiver leaves of the repeating pattern, percent: 524 KB of 522 MB [A2].
const REPEATING_PERCENT: f64 = 0.1;
/// Values of a byte.
const REPEATING_POOL: u32 = 256;
/// Contents are counted in 16 bits.
const POOL_MAX: u32 = 65_535;

/// What a job's writes contain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DataPattern {
    /// Zeros only. (Variants with braces: serde ignores unknown keys beside others.)
    Zeros {},
    /// One byte value over and over, another in each write.
    Repeating {},
    /// Neither compresses nor repeats.
    Random {},
    /// Compresses and repeats as far as said here.
    Compressible {
        /// Size after compression over size before, percent, in steps of 0.1.
        #[serde(default = "default_compressed_percent")]
        compressed_percent: f64,
        /// Share of the blocks that are copies, percent, in steps of 0.1.
        #[serde(default)]
        duplicate_percent: f64,
        /// Different contents among the copies.
        #[serde(default = "default_duplicate_pool")]
        duplicate_pool: u32,
    },
}

impl Default for DataPattern {
    fn default() -> Self {
        Self::Random {}
    }
}

impl DataPattern {
    /// Checks the parameters; `refuse` makes the error from key, value and what is allowed.
    ///
    /// # Errors
    /// What `refuse` made of the first parameter that is not allowed.
    pub fn validate(&self, refuse: impl Fn(&str, f64, &str) -> WorkloadError) -> Result<(), WorkloadError> {
        let &Self::Compressible { compressed_percent, duplicate_percent, duplicate_pool } = self else {
            return Ok(());
        };
        for (key, value) in
            [("data.compressed_percent", compressed_percent), ("data.duplicate_percent", duplicate_percent)]
        {
            if !(0.0..=100.0).contains(&value) {
                return Err(refuse(key, value, "must be 0 to 100"));
            }
        }
        if !(1..=POOL_MAX).contains(&duplicate_pool) {
            let allowed = format!("must be 1 to {POOL_MAX}");
            return Err(refuse("data.duplicate_pool", duplicate_pool.into(), &allowed));
        }
        Ok(())
    }

    /// The content of every write, but for the seed. The pattern was validated.
    fn content(&self) -> Content {
        let of = |compressed_percent: f64, duplicate_percent: f64, pool: u32| Content {
            compressed_permille: permille(compressed_percent),
            duplicate_permille: permille(duplicate_percent),
            pool: pool.min(POOL_MAX) as u16,
            seed: 0,
        };
        match *self {
            Self::Zeros {} => Content::ZEROS,
            Self::Repeating {} => of(REPEATING_PERCENT, 100.0, REPEATING_POOL),
            Self::Random {} => Content::RANDOM,
            Self::Compressible { compressed_percent, duplicate_percent, duplicate_pool } => {
                of(compressed_percent, duplicate_percent, duplicate_pool)
            }
        }
    }
}

/// The content of a job's writes, one after another.
#[derive(Clone, Debug)]
pub struct Contents {
    content: Content,
    /// `None` if all writes are alike to a drive: then nothing need be drawn.
    seeds: Option<Stream>,
}

impl Contents {
    /// Contents of a job with this pattern and seed. `index` is its number in the run.
    #[must_use]
    pub fn new(pattern: &DataPattern, seed: u64, index: u32) -> Self {
        let content = pattern.content();
        let alike =
            content.duplicate_permille == 0 || (content.duplicate_permille == 1000 && content.pool <= 1);
        let seeds = (!alike).then(|| Stream::new(seed, PURPOSE_FIRST + u64::from(index)));
        Self { content, seeds }
    }

    /// The content of the next write.
    #[inline]
    pub fn draw(&mut self) -> Content {
        match &mut self.seeds {
            None => self.content,
            Some(stream) => Content { seed: stream.next_u64() as u32, ..self.content },
        }
    }
}

/// Thousandths of a percentage.
fn permille(percent: f64) -> u16 {
    (percent * 10.0).round() as u16
}

fn default_compressed_percent() -> f64 {
    100.0
}

/// Assumed: enough that none is special, few enough that nearly every copy has been there before.
fn default_duplicate_pool() -> u32 {
    1024
}

#[cfg(test)]
#[path = "data_test.rs"]
mod tests;
