//! Greedy among the `window_blocks` blocks of a die that were closed longest ago (REFERENCES.md, \[2\]): 1 is fifo, as many
//! as there are is greedy. Ties go to the older one. If none of them has anything to free, the next older one that has.

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, DieIndex};
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::View;

/// Closed blocks of every die in the order in which they were closed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WindowedGreedy {
    order: Vec<VecDeque<BlockIndex>>,
    window_blocks: usize,
}

impl VictimPolicy for WindowedGreedy {
    fn new(settings: &VictimSettings) -> Self {
        Self {
            order: vec![VecDeque::new(); settings.dies as usize],
            window_blocks: settings.window_blocks as usize,
        }
    }

    fn closed(&mut self, die: DieIndex, block: BlockIndex) {
        self.order[die.0 as usize].push_back(block);
    }

    fn withdrawn(&mut self, die: DieIndex, block: BlockIndex) {
        let order = &mut self.order[die.0 as usize];
        if let Some(place) = order.iter().position(|&other| other == block) {
            order.remove(place);
        }
    }

    fn replaced(&mut self, die: DieIndex, block: BlockIndex, by: BlockIndex) {
        let order = &mut self.order[die.0 as usize];
        if let Some(place) = order.iter().position(|&other| other == block) {
            order[place] = by;
        }
    }

    fn check(&self, die: DieIndex, candidates: &[BlockIndex]) -> Result<(), String> {
        let sorted = |blocks: &mut dyn Iterator<Item = BlockIndex>| {
            let mut blocks: Vec<_> = blocks.map(|block| block.0).collect();
            blocks.sort_unstable();
            blocks
        };
        let known = sorted(&mut self.order[die.0 as usize].iter().copied());
        let closed = sorted(&mut candidates.iter().copied());
        if known != closed {
            return Err(format!("die {} has the candidates {closed:?}, its policy knows {known:?}", die.0));
        }
        Ok(())
    }

    fn pick(&mut self, die: DieIndex, view: &View<'_>) -> Option<u32> {
        let mut blocks = self.order[die.0 as usize].iter().map(|block| block.0 - view.first);
        let window = blocks.by_ref().take(self.window_blocks);
        let best = window
            .filter(|&block| view.is_candidate(block as usize))
            .min_by_key(|&block| view.valid[block as usize]);
        best.or_else(|| blocks.find(|&block| view.is_candidate(block as usize)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::victim::NOT_CLOSED;

    const BLOCKS: u32 = 12;

    /// What the policy should have: when each block was closed, if it is.
    fn search(closed_at: &[Option<usize>], valid: &[u32], window: usize) -> Option<u32> {
        let mut closed: Vec<_> = (0..BLOCKS).filter(|&block| closed_at[block as usize].is_some()).collect();
        closed.sort_by_key(|&block| closed_at[block as usize]);
        let frees = |block: &&u32| valid[**block as usize] <= 7;
        let (inside, outside) = closed.split_at(window.min(closed.len()));
        let mut inside: Vec<u32> = inside.iter().filter(frees).copied().collect();
        // A stable sort: the older first among equals.
        inside.sort_by_key(|&block| valid[block as usize]);
        inside.first().copied().or_else(|| outside.iter().find(frees).copied())
    }

    proptest! {
        #[test]
        fn as_a_search_through_all_blocks_by_the_time_of_closing(
            window in 1..BLOCKS + 2,
            events in prop::collection::vec((0..BLOCKS, 0u32..9), 1..200),
        ) {
            let settings = VictimSettings { dies: 2, choices: 1, window_blocks: window, seed: 0 };
            let mut policy = WindowedGreedy::new(&settings);
            let mut closed_at = vec![None; BLOCKS as usize];
            let mut valid = vec![NOT_CLOSED; BLOCKS as usize];
            for (time, (block, units)) in events.into_iter().enumerate() {
                let index = block as usize;
                let number = BlockIndex(BLOCKS + block);
                if closed_at[index].is_none() {
                    (closed_at[index], valid[index]) = (Some(time), units);
                    policy.closed(DieIndex(1), number);
                } else if units < valid[index] {
                    valid[index] = units;
                } else {
                    (closed_at[index], valid[index]) = (None, NOT_CLOSED);
                    policy.withdrawn(DieIndex(1), number);
                }
                let view = View {
                    first: BLOCKS,
                    valid: &valid,
                    first_sequence: &[],
                    newest_sequence: &[],
                    erase_counts: &[],
                    next_sequence: 1,
                    units_per_block: 8,
                    most_valid: 7,
                    start: 0,
                };
                prop_assert_eq!(policy.pick(DieIndex(1), &view), search(&closed_at, &valid, window as usize));
            }
        }
    }
}
