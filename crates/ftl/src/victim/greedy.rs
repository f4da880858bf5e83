//! Fewest valid units; ties go to the first block after the scan's start.

use super::View;

pub(super) fn pick(view: &View<'_>) -> Option<u32> {
    // Two passes over 16-bit words: the minimum vectorises, and the search stops at the first hit.
    let least = view.valid.iter().copied().min()?;
    if least > view.most_valid {
        return None;
    }
    let (before, after) = view.valid.split_at(view.start);
    let position = |part: &[u16]| part.iter().position(|&valid| valid == least);
    let block = position(after).map(|block| block + view.start).or_else(|| position(before))?;
    Some(block as u32)
}
