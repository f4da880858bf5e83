//! The block that was opened longest ago. Its write amplification under uniform random writes has a closed form
//! (REFERENCES.md, \[1\], \[3\]), which `make validate` checks.

use super::view::View;

pub(super) fn pick(view: &View<'_>) -> Option<u32> {
    let mut oldest: Option<(u64, u32)> = None;
    for (block, (&valid, &sequence)) in view.valid.iter().zip(view.first_sequence).enumerate() {
        if valid <= view.most_valid && oldest.is_none_or(|(least, _)| sequence < least) {
            oldest = Some((sequence, block as u32));
        }
    }
    oldest.map(|(_, block)| block)
}
