//! Greedy among `choices` random closed blocks (power of d choices; REFERENCES.md, \[6\]). Blocks with nothing to free are
//! drawn like others, as in the mean field that `make validate` compares with; if all that were drawn are such, one
//! candidate is.

use drivelab_sim::Stream as RandomStream;

use super::view::View;

pub(super) fn pick(view: &View<'_>, random: &mut RandomStream) -> Option<u32> {
    let one = super::random::pick(view, random)?;
    let best = (0..view.choices)
        .filter_map(|_| super::random::closed(view, random))
        .min_by_key(|&block| view.valid[block as usize])
        .filter(|&block| view.is_candidate(block as usize));
    Some(best.unwrap_or(one))
}
