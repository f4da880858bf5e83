//! Any candidate, each as likely (REFERENCES.md, \[6\]): a few blind draws, then a choice among all that are there.

use drivelab_nand::DieIndex;
use drivelab_sim::Stream as RandomStream;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::{NOT_CLOSED, View};

/// Purpose number of the random stream of policies that draw.
const VICTIM_STREAM: u64 = 0x0056_4943;

/// Draws before all blocks are gone through.
const BLIND_DRAWS: usize = 8;

/// What draws come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Random {
    random: RandomStream,
}

impl VictimPolicy for Random {
    fn new(settings: &VictimSettings) -> Self {
        Self { random: stream(settings) }
    }

    fn pick(&mut self, _die: DieIndex, view: &View<'_>) -> Option<u32> {
        candidate(view, &mut self.random)
    }
}

/// The random stream of a policy that draws.
pub(super) fn stream(settings: &VictimSettings) -> RandomStream {
    RandomStream::new(settings.seed, VICTIM_STREAM)
}

/// Any candidate.
pub(super) fn candidate(view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
    any(view, random, |block| view.is_candidate(block))
}

/// Any closed block, whatever it holds.
pub(super) fn closed(view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
    any(view, random, |block| view.valid[block] & NOT_CLOSED == 0)
}

fn any(view: &View<'_>, random: &mut RandomStream, is_one: impl Fn(usize) -> bool) -> Option<u32> {
    for _ in 0..BLIND_DRAWS {
        let block = random.below(view.valid.len() as u64) as usize;
        if is_one(block) {
            return Some(block as u32);
        }
    }
    let count = (0..view.valid.len()).filter(|&block| is_one(block)).count() as u64;
    let chosen = random.below(count) as usize;
    (0..view.valid.len()).filter(|&block| is_one(block)).nth(chosen).map(|block| block as u32)
}
