//! Blocks that are being emptied.

use drivelab_nand::BlockIndex;
use serde::{Deserialize, Serialize};

use super::steps::Purpose;

/// A block that is being emptied.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) victim: BlockIndex,
    /// What to look at next, counted from the start of the victim.
    pub(crate) cursor: u32,
    pub(crate) purpose: Purpose,
    /// Valid units that the victim had when it was picked.
    pub(crate) valid_at_start: u32,
}

/// State of cleaning on every die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CleaningState {
    pub(crate) jobs: Vec<Option<Job>>,
    /// Between the start and the stop threshold.
    pub(crate) active: Vec<bool>,
    /// The block being emptied needs the room of the host's open block.
    pub(crate) borrows: Vec<bool>,
    /// Dies that have neither room nor a block that could be emptied.
    pub(crate) wedged: Vec<bool>,
    /// How many.
    pub(crate) wedged_dies: u32,
    pub(crate) scan_start: Vec<u32>,
    pub(crate) erases_since_wear_check: Vec<u32>,
}

impl CleaningState {
    pub(crate) fn new(dies: u32) -> Self {
        let dies = dies as usize;
        Self {
            jobs: vec![None; dies],
            active: vec![false; dies],
            borrows: vec![false; dies],
            wedged: vec![false; dies],
            wedged_dies: 0,
            scan_start: vec![0; dies],
            erases_since_wear_check: vec![0; dies],
        }
    }
}
