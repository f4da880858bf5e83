//! Greedy among `choices` random candidates (power of d choices; REFERENCES.md, \[6\]).

use drivelab_sim::Stream as RandomStream;

use super::View;

pub(super) fn pick(view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
    let mut best = super::random::pick(view, random)?;
    for _ in 1..view.choices {
        let block = super::random::pick(view, random)?;
        if view.valid[block as usize] < view.valid[best as usize] {
            best = block;
        }
    }
    Some(best)
}
