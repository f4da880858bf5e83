//! Any candidate, each as likely (REFERENCES.md, \[6\]): a few blind draws, then a choice among all that are there.

use drivelab_sim::Stream as RandomStream;

use super::view::{NOT_CLOSED, View};

/// Draws before all blocks are gone through.
const BLIND_DRAWS: usize = 8;

pub(super) fn pick(view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
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
