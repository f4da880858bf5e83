//! Cost-benefit: the highest (1 - u) / 2u * age, u the valid share and age the programs since the newest data of the
//! block came from the host (the log-structured file system's rule, reads as dear as writes: REFERENCES.md, \[5\]).
//!
//! Copies keep the age of what they were copied from: data that survived one cleaning after the other looks as old as it
//! is, so that its block is worth emptying at a higher valid share than one whose data will soon be overwritten anyway.
//! What is known is one age a block, the youngest in it.

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

use super::policy::{VictimPolicy, VictimSettings};
use super::view::View;

/// It remembers nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CostBenefit;

impl VictimPolicy for CostBenefit {
    const ASKS_FOR_AGE: bool = true;

    fn new(_settings: &VictimSettings) -> Self {
        Self
    }

    fn pick(&mut self, _die: DieIndex, view: &View<'_>) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for (block, (&valid, &sequence)) in view.valid.iter().zip(view.newest_sequence).enumerate() {
            if valid > view.most_valid {
                continue;
            }
            let age = (view.next_sequence - sequence) as f64;
            let units = f64::from(view.units_per_block);
            let valid = f64::from(valid);
            let score = if valid == 0.0 { f64::INFINITY } else { (units - valid) / (2.0 * valid) * age };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, block as u32));
            }
        }
        best.map(|(_, block)| block)
    }
}
