//! Which block to clean next. One file per policy; all see the same view of one die.
//!
//! To add one: a file with a function `pick(&View, ...) -> Option<u32>`, a variant below, a line in `pick`.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;

use drivelab_sim::Stream as RandomStream;
use serde::{Deserialize, Serialize};

/// Set in a block's word while it is free or open, so that it never looks like a good victim.
pub const NOT_CLOSED: u16 = 0x8000;

/// The policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimSelection {
    /// Fewest valid units.
    Greedy,
    /// The block that was opened longest ago.
    Fifo,
    /// Highest (1 - u) / 2u * age of the newest data.
    CostBenefit,
    /// Any closed block.
    Random,
    /// Greedy among a few random blocks.
    DChoices,
}

/// What a policy may look at: the blocks of one die.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Valid units per block; [`NOT_CLOSED`] is set for blocks that are not candidates.
    pub valid: &'a [u16],
    /// Sequence number of each block's first program: when it was opened.
    pub first_sequence: &'a [u64],
    /// Sequence number with which the newest data of each closed block came from the host.
    pub newest_sequence: &'a [u64],
    /// Sequence number of the next program.
    pub next_sequence: u64,
    /// Units of a block.
    pub units_per_block: u32,
    /// A block with more valid units than this is no candidate: emptying it would not free a whole page.
    pub most_valid: u16,
    /// How many blocks d-choices draws.
    pub choices: u32,
    /// Where a scan begins, so that ties do not always wear the same blocks.
    pub start: usize,
}

impl View<'_> {
    /// Whether a block is closed and holds something invalid: cleaning it frees space.
    fn is_candidate(&self, block: usize) -> bool {
        self.valid[block] <= self.most_valid
    }
}

/// Picks a block of the die: one that is closed and has invalid units, or `None` if there is none.
pub(crate) fn pick(policy: VictimSelection, view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
    let block = match policy {
        VictimSelection::Greedy => greedy::pick(view),
        VictimSelection::Fifo => fifo::pick(view),
        VictimSelection::CostBenefit => cost_benefit::pick(view),
        VictimSelection::Random => random::pick(view, random),
        VictimSelection::DChoices => d_choices::pick(view, random),
    }?;
    debug_assert!(view.is_candidate(block as usize));
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_picks_only_closed_blocks_with_something_to_free() {
        let valid = [NOT_CLOSED, 4, 3, 1, NOT_CLOSED | 1, 2];
        let first_sequence = [0, 5, 2, 30, 1, 20];
        let view = View {
            valid: &valid,
            first_sequence: &first_sequence,
            newest_sequence: &first_sequence,
            next_sequence: 40,
            units_per_block: 4,
            most_valid: 3,
            choices: 2,
            start: 3,
        };
        let mut random = RandomStream::new(1, 0);
        assert_eq!(pick(VictimSelection::Greedy, &view, &mut random), Some(3));
        assert_eq!(pick(VictimSelection::Fifo, &view, &mut random), Some(2));
        for policy in [VictimSelection::CostBenefit, VictimSelection::Random, VictimSelection::DChoices] {
            for _ in 0..50 {
                assert!([2, 3, 5].contains(&pick(policy, &view, &mut random).unwrap()));
            }
        }
        let full = [4u16, NOT_CLOSED, 4];
        let view =
            View { valid: &full, first_sequence: &[1, 2, 3], newest_sequence: &[1, 2, 3], start: 0, ..view };
        for policy in [
            VictimSelection::Greedy,
            VictimSelection::Fifo,
            VictimSelection::CostBenefit,
            VictimSelection::Random,
            VictimSelection::DChoices,
        ] {
            assert_eq!(pick(policy, &view, &mut random), None, "{policy:?}");
        }
    }
}
