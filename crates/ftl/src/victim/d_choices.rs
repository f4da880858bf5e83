//! Greedy among `choices` random closed blocks (power of d choices; REFERENCES.md, \[6\]). Blocks with nothing to free are
//! drawn like others, as in the mean field that `make validate` compares with; if all that were drawn are such, one
//! candidate is.

use drivelab_nand::DieIndex;
use drivelab_sim::Stream as RandomStream;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::random;
use super::view::View;

/// How many are drawn, and what from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DChoices {
    choices: u32,
    random: RandomStream,
}

impl VictimPolicy for DChoices {
    fn new(settings: &VictimSettings) -> Self {
        Self { choices: settings.choices, random: random::stream(settings) }
    }

    fn pick(&mut self, _die: DieIndex, view: &View<'_>) -> Option<u32> {
        let random = &mut self.random;
        let one = random::candidate(view, random)?;
        let best = (0..self.choices)
            .filter_map(|_| random::closed(view, random))
            .min_by_key(|&block| view.valid[block as usize])
            .filter(|&block| view.is_candidate(block as usize));
        Some(best.unwrap_or(one))
    }
}
