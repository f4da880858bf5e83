//! Which block to clean next. One file per policy, with its state; all see the same view of one die.
//!
//! To add one: its file, with a type that is a `VictimPolicy` (`policy.rs`), and here its `mod` and its line.
//! Everything else - parameters of models, tests over all policies - goes by this list.

mod cost_age_times;
mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod policy;
mod random;
#[macro_use]
mod registry;
mod view;
mod windowed_greedy;

pub use policy::VictimSettings;
pub use view::{NOT_CLOSED, View};

victim_policies! {
    Greedy(greedy::Greedy) = "greedy": "fewest valid units",
    Fifo(fifo::Fifo) = "fifo": "the block that was opened longest ago",
    CostBenefit(cost_benefit::CostBenefit) = "cost-benefit": "highest (1 - u) / 2u * age of the newest data",
    Random(random::Random) = "random": "any closed block",
    DChoices(d_choices::DChoices) = "d-choices": "greedy among a few random blocks",
    WindowedGreedy(windowed_greedy::WindowedGreedy) = "windowed-greedy":
        "greedy among the blocks that were closed longest ago",
    CostAgeTimes(cost_age_times::CostAgeTimes) = "cost-age-times":
        "lowest u / (1 - u) / age of the block * erase count",
}

#[cfg(test)]
mod tests {
    use drivelab_nand::{BlockIndex, DieIndex};

    use super::*;

    const SETTINGS: VictimSettings = VictimSettings { dies: 1, choices: 2, window_blocks: 2, seed: 1 };

    #[test]
    fn every_policy_picks_only_closed_blocks_with_something_to_free() {
        picks_only_what_frees(1);
    }

    /// A block of 232 layers has more units than 16 bits count.
    #[test]
    fn blocks_may_be_large() {
        picks_only_what_frees(20_000);
    }

    /// Blocks of four times so many units, of which that frees a page.
    fn picks_only_what_frees(page: u32) {
        let valid = [NOT_CLOSED, 4 * page, 3 * page, page, NOT_CLOSED | 1, 2 * page];
        let full = [4 * page, NOT_CLOSED, 4 * page, NOT_CLOSED, NOT_CLOSED, 4 * page];
        let first_sequence = [0, 5, 2, 30, 1, 20];
        let erase_counts = [0, 3, 1, 0, 2, 7];
        let view = View {
            first: 6,
            valid: &valid,
            first_sequence: &first_sequence,
            newest_sequence: &first_sequence,
            erase_counts: &erase_counts,
            next_sequence: 40,
            units_per_block: 4 * page,
            most_valid: 3 * page,
            start: 3,
        };
        for &selection in VictimSelection::ALL {
            let mut victims = Victims::new(selection, &SETTINGS);
            for block in [7, 8, 11, 9].map(BlockIndex) {
                victims.closed(DieIndex(0), block);
            }
            for _ in 0..50 {
                let picked = victims.pick(DieIndex(0), &view).unwrap();
                assert!([2, 3, 5].contains(&picked), "{selection:?}: {picked}");
            }
            assert_eq!(victims.pick(DieIndex(0), &View { valid: &full, ..view }), None, "{selection:?}");
        }
        let pick = |selection| Victims::new(selection, &SETTINGS).pick(DieIndex(0), &view);
        assert_eq!(pick(VictimSelection::Greedy), Some(3));
        assert_eq!(pick(VictimSelection::Fifo), Some(2));
    }

    #[test]
    fn names_and_titles_are_told_once_and_in_order() {
        for (&selection, &name) in VictimSelection::ALL.iter().zip(VictimSelection::NAMES) {
            assert_eq!(selection.name(), name);
            assert!(VictimSelection::HELP.contains(&format!("; {name}: {}", selection.title())));
        }
    }
}
