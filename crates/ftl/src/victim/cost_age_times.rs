//! Cost-age-times: the lowest u / (1 - u) / age * erases, u the valid share, age the programs since the block was opened,
//! erases those that it will have had with this one (REFERENCES.md, \[CAT\]).
//!
//! Cleaning costs u for every 1 - u that it frees; a block that was opened long ago is unlikely to lose much more soon;
//! and a block that was erased often is left alone for longer, so that wear is levelled without moves of its own. Among
//! blocks with nothing valid the least worn comes first.

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::View;

/// It remembers nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CostAgeTimes;

impl VictimPolicy for CostAgeTimes {
    fn new(_settings: &VictimSettings) -> Self {
        Self
    }

    fn pick(&mut self, _die: DieIndex, view: &View<'_>) -> Option<u32> {
        let mut best: Option<((f64, u32), u32)> = None;
        for (block, ((&valid, &opened), &erases)) in
            view.valid.iter().zip(view.first_sequence).zip(view.erase_counts).enumerate()
        {
            if valid > view.most_valid {
                continue;
            }
            let age = (view.next_sequence - opened) as f64;
            let (valid, units) = (f64::from(valid), f64::from(view.units_per_block));
            let score = (valid / (units - valid) / age * (f64::from(erases) + 1.0), erases);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, block as u32));
            }
        }
        best.map(|(_, block)| block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::victim::NOT_CLOSED;

    const UNITS: u32 = 64;
    const NOW: u64 = 1000;

    proptest! {
        #[test]
        fn no_candidate_is_better_in_whole_numbers(
            blocks in prop::collection::vec((prop_oneof![Just(NOT_CLOSED), 0u32..65], 0..NOW, 0u32..20), 1..40),
        ) {
            let valid: Vec<u32> = blocks.iter().map(|block| block.0).collect();
            let first_sequence: Vec<u64> = blocks.iter().map(|block| block.1).collect();
            let erase_counts: Vec<u32> = blocks.iter().map(|block| block.2).collect();
            let view = View {
                first: 0,
                valid: &valid,
                first_sequence: &first_sequence,
                newest_sequence: &[],
                erase_counts: &erase_counts,
                next_sequence: NOW,
                units_per_block: UNITS,
                most_valid: 63,
                start: 0,
            };
            // As a fraction: valid * erases over invalid * age.
            let fraction = |&(valid, opened, erases): &(u32, u64, u32)| {
                let valid = u64::from(valid);
                (valid * u64::from(erases + 1), (u64::from(UNITS) - valid) * (NOW - opened))
            };
            let settings = VictimSettings { dies: 1, choices: 1, window_blocks: 1, seed: 0 };
            let picked = CostAgeTimes::new(&settings).pick(DieIndex(0), &view);
            let candidates: Vec<_> = blocks.iter().filter(|block| block.0 <= 63).collect();
            prop_assert_eq!(picked.is_none(), candidates.is_empty());
            if let Some(picked) = picked {
                let (above, below) = fraction(&blocks[picked as usize]);
                for other in candidates {
                    let (other_above, other_below) = fraction(other);
                    prop_assert!(above * other_below <= other_above * below);
                    prop_assert!(above > 0 || other_above > 0 || blocks[picked as usize].2 <= other.2);
                }
            }
        }
    }
}
