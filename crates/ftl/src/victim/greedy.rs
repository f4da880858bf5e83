//! Fewest valid units (REFERENCES.md, \[2\]); ties go to the first block after the scan's start.

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::{NOT_CLOSED, View};

/// Words that one step of the search compares at once.
const CHUNK: usize = 64;

/// It remembers nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Greedy;

impl VictimPolicy for Greedy {
    fn new(_settings: &VictimSettings) -> Self {
        Self
    }

    fn pick(&mut self, _die: DieIndex, view: &View<'_>) -> Option<u32> {
        let least = least_of(view.valid);
        if least > view.most_valid {
            return None;
        }
        let (before, after) = view.valid.split_at(view.start);
        let block = find(after, least).map(|block| block + view.start).or_else(|| find(before, least))?;
        Some(block as u32)
    }
}

/// The smallest word. Compared as signed numbers in the same order, as every x86-64 does with vectors; this scan is half
/// the cost of cleaning at high write amplification otherwise.
fn least_of(words: &[u32]) -> u32 {
    let least = words.iter().map(|&word| (word ^ NOT_CLOSED).cast_signed()).fold(i32::MAX, i32::min);
    least.cast_unsigned() ^ NOT_CLOSED
}

/// The first place of a word.
fn find(words: &[u32], wanted: u32) -> Option<usize> {
    for (index, chunk) in words.chunks(CHUNK).enumerate() {
        // Counting has no early exit and so becomes vector code; the exact place is looked for in one chunk only.
        let hits: u32 = chunk.iter().map(|&word| u32::from(word == wanted)).sum();
        if hits > 0 {
            return chunk.iter().position(|&word| word == wanted).map(|place| index * CHUNK + place);
        }
    }
    None
}
