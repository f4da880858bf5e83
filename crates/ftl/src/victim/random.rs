//! Any candidate, each as likely (REFERENCES.md, \[6\]): a few blind draws, then a choice among all that are there.

use drivelab_sim::Stream as RandomStream;

use super::View;

pub(super) fn pick(view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
    for _ in 0..8 {
        let block = random.below(view.valid.len() as u64) as usize;
        if view.is_candidate(block) {
            return Some(block as u32);
        }
    }
    let count = (0..view.valid.len()).filter(|&block| view.is_candidate(block)).count() as u64;
    let chosen = random.below(count) as usize;
    (0..view.valid.len()).filter(|&block| view.is_candidate(block)).nth(chosen).map(|block| block as u32)
}
