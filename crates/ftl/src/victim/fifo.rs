//! The block that was opened longest ago. Its write amplification under uniform random writes has a closed form
//! (REFERENCES.md, \[1\], \[3\]), which `make validate` checks.

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::View;

/// It remembers nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fifo;

impl VictimPolicy for Fifo {
    fn new(_settings: &VictimSettings) -> Self {
        Self
    }

    fn pick(&mut self, _die: DieIndex, view: &View<'_>) -> Option<u32> {
        let mut oldest: Option<(u64, u32)> = None;
        for (block, (&valid, &sequence)) in view.valid.iter().zip(view.first_sequence).enumerate() {
            if valid <= view.most_valid && oldest.is_none_or(|(least, _)| sequence < least) {
                oldest = Some((sequence, block as u32));
            }
        }
        oldest.map(|(_, block)| block)
    }
}
