//! Fewest valid units (REFERENCES.md, \[2\]); ties go to the first block after the scan's start.

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::View;

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

/// The smallest word. Order-preserving as signed 16-bit numbers, whose minimum every x86-64 has as a vector
/// instruction; this scan is half the cost of cleaning at high write amplification otherwise.
fn least_of(words: &[u16]) -> u16 {
    let least = words.iter().map(|&word| (word ^ 0x8000).cast_signed()).fold(i16::MAX, i16::min);
    least.cast_unsigned() ^ 0x8000
}

/// The first place of a word.
fn find(words: &[u16], wanted: u16) -> Option<usize> {
    for (index, chunk) in words.chunks(CHUNK).enumerate() {
        // Counting has no early exit and so becomes vector code; the exact place is looked for in one chunk only.
        let hits: u16 = chunk.iter().map(|&word| u16::from(word == wanted)).sum();
        if hits > 0 {
            return chunk.iter().position(|&word| word == wanted).map(|place| index * CHUNK + place);
        }
    }
    None
}
