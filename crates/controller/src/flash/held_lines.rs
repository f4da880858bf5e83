//! Books of word lines that have had the first of two passes.

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, DieIndex, Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

use crate::config::PassConfig;

/// A word line from its coarse pass on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct HeldLine {
    pub block: BlockIndex,
    pub page: u32,
    pub first: Ppn,
    /// Where what was copied to it came from, in the order in which it lies on it.
    pub sources: Vec<Ppn>,
    /// Entries of the write buffer that hold what the host wrote to it.
    pub entries: Vec<u32>,
    pub is_cleaning: bool,
    pub is_fine: bool,
}

/// Those of a die, in the order of their coarse passes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DieLines {
    pub lines: VecDeque<HeldLine>,
    /// The last of them belongs to the job under way.
    pub has_new: bool,
}

/// Those of all dies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Passes {
    pub config: PassConfig,
    pub dies: Vec<DieLines>,
    /// Lines that are done, to be used again.
    pub spare: Vec<HeldLine>,
    /// Lines that have had their fine pass with the job of a die that is done, until somebody takes them.
    pub fine: Vec<(BlockIndex, u32)>,
    /// Sources of what is read just now.
    pub wanted: Vec<Ppn>,
}

impl Passes {
    pub fn new(config: PassConfig, dies: u32) -> Self {
        Self {
            config,
            dies: vec![DieLines::default(); dies as usize],
            spare: Vec::new(),
            fine: Vec::new(),
            wanted: Vec::new(),
        }
    }

    /// Whether a place lies on a word line of a die that has not had both passes.
    pub fn holds(&self, die: DieIndex, ppn: Ppn, units: u32) -> bool {
        let mut lines = self.dies[die.0 as usize].lines.iter();
        lines.any(|line| (line.first.0..line.first.0 + units).contains(&ppn.0))
    }

    /// The next word line of a die whose fine pass is due after the coarse one of its newest.
    pub fn due(&mut self, die: DieIndex, layout: &UnitLayout) -> Option<&mut HeldLine> {
        let of_die = &mut self.dies[die.0 as usize];
        let newest = of_die.lines.back().filter(|_| of_die.has_new)?;
        let (block, page, step) = (newest.block, newest.page, layout.pages_per_unit);
        let is_last = page + 2 * step > layout.geometry.pages_per_block;
        let behind = self.config.held_word_lines * step;
        let is_due = |line: &&mut HeldLine| {
            line.block == block && !line.is_fine && (is_last || line.page + behind <= page)
        };
        of_die.lines.iter_mut().find(is_due)
    }
}
