//! The policies, by name.

use drivelab_sim::Stream as RandomStream;
use serde::{Deserialize, Serialize};

use super::view::View;
use super::{cost_benefit, d_choices, fifo, greedy, random};

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
    use crate::victim::NOT_CLOSED;

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
