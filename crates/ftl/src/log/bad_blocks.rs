//! Blocks that fail: which programs and erases do, what becomes of the block, and how many more may.
//!
//! A page that can't be programmed is lost, what should have gone there goes to another block. Its block is never
//! written again; the valid data on it stays readable, and is moved away by cleaning before anything else is. A block
//! that can't be erased is retired at once. Retired blocks come out of the spare area; when none is left to spare, the
//! drive is worn out.
//!
//! Everything random is drawn from the number of the program or erase, so that it doesn't depend on what else happens.

use std::collections::VecDeque;

use drivelab_nand::{BlockIndex, CellMode, DieIndex};
use drivelab_sim::rng::draw;
use serde::{Deserialize, Serialize};

/// Free blocks of a die that are kept back beside the reserve, as long as there are blocks to spare: one that cleaning
/// writes may fail, and the next one too.
const FAILURE_RESERVE_BLOCKS: u32 = 2;

/// How wear works on a chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// Erase count at which it has its full effect.
    pub endurance_erases: u32,
    /// Power of (erase count / endurance).
    pub exponent: f64,
    /// Erases that every block had behind it before the first that is counted.
    pub erases_before: u32,
}

impl Wear {
    /// What a chance is multiplied by.
    #[must_use]
    pub fn factor(self, erase_count: u32) -> f64 {
        let erases = f64::from(self.erases_before) + f64::from(erase_count);
        (erases / f64::from(self.endurance_erases)).powf(self.exponent)
    }
}

/// When a program or an erase fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FailureTrigger {
    /// Whenever it can.
    Always,
    /// The program or erase of this number since power-on, from 1.
    Number(u64),
    /// With this chance each time.
    Probability(f64),
}

/// A rule by which programs or erases fail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureRule {
    /// When.
    pub trigger: FailureTrigger,
    /// Only this block.
    pub block: Option<u32>,
    /// The chance grows with wear.
    pub wear: Option<Wear>,
    /// How often it may still happen.
    pub left: u64,
    /// Its draws are its own.
    pub purpose: u64,
}

/// All rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailureRules {
    /// From which everything random is drawn.
    pub seed: u64,
    /// Of programs.
    pub programs: Vec<FailureRule>,
    /// Of erases.
    pub erases: Vec<FailureRule>,
    /// Blocks that may fail before the drive is worn out, if it is fewer than there are to spare.
    pub spare_blocks: Option<u32>,
}

/// A page that could not be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedProgram {
    /// Its block.
    pub block: BlockIndex,
    /// Its number in the block.
    pub page: u32,
    /// With how many bits a cell it was programmed.
    pub mode: CellMode,
    /// Number of the program operation.
    pub sequence: u64,
}

/// Blocks of a drive that has faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BadBlocks {
    rules: FailureRules,
    pub(super) is_bad: Vec<bool>,
    /// Bad blocks of each die.
    bad_of_die: Vec<u32>,
    /// Blocks of each die that are emptied before any other.
    pub(super) to_empty: Vec<VecDeque<BlockIndex>>,
    /// Blocks that the drive could lose when it was new.
    spare_blocks_new: u32,
    programs: u64,
    erases: u64,
    /// The page of each block that won't fail, and the block's erase count then.
    ready: Vec<Option<(u32, u32)>>,
    /// Programs that have failed since they were last taken.
    pub failed_programs: Vec<FailedProgram>,
    /// An erase that has failed since it was last taken.
    pub failed_erase: Option<BlockIndex>,
}

impl BadBlocks {
    pub(crate) fn new(dies: u32, blocks: u32, spare_blocks_new: u32) -> Self {
        Self {
            rules: FailureRules::default(),
            is_bad: vec![false; blocks as usize],
            bad_of_die: vec![0; dies as usize],
            to_empty: vec![VecDeque::new(); dies as usize],
            spare_blocks_new,
            programs: 0,
            erases: 0,
            ready: vec![None; blocks as usize],
            failed_programs: Vec::new(),
            failed_erase: None,
        }
    }

    /// These rules count from now on.
    pub fn set_rules(&mut self, rules: FailureRules) {
        self.rules = rules;
    }

    /// How often rules have failed programs or erases can be seen from what they have left.
    #[must_use]
    pub fn rules(&self) -> &FailureRules {
        &self.rules
    }

    /// Whether a block has failed.
    #[must_use]
    pub fn is_bad(&self, block: BlockIndex) -> bool {
        self.is_bad[block.0 as usize]
    }

    /// Blocks that have failed.
    #[must_use]
    pub fn retired(&self) -> u32 {
        self.bad_of_die.iter().sum()
    }

    /// Blocks that the drive could lose when it was new.
    #[must_use]
    pub fn spare_blocks_new(&self) -> u32 {
        self.rules.spare_blocks.map_or(self.spare_blocks_new, |most| most.min(self.spare_blocks_new))
    }

    /// The same, whatever the rules say.
    #[must_use]
    pub fn spare_blocks_new_of_model(&self) -> u32 {
        self.spare_blocks_new
    }

    /// Blocks that the drive can still lose.
    #[must_use]
    pub fn spare_blocks(&self) -> u32 {
        self.spare_blocks_new().saturating_sub(self.retired())
    }

    /// Whether the drive must not take anything new.
    #[must_use]
    pub fn is_worn_out(&self) -> bool {
        self.retired() > 0 && self.spare_blocks() == 0
    }

    /// Blocks that a die keeps back for failures beside its reserve.
    pub(super) fn failure_reserve(&self) -> u32 {
        let dies = self.bad_of_die.len() as u32;
        (self.spare_blocks_new.saturating_sub(self.retired()) / dies).min(FAILURE_RESERVE_BLOCKS)
    }

    /// Blocks of a die that can't hold valid data, beside those of a drive without faults.
    #[must_use]
    pub fn withheld(&self, die: DieIndex) -> u32 {
        self.bad_of_die[die.0 as usize] + self.failure_reserve()
    }

    /// Whether it has been drawn already that the program of this page won't fail: a die is ready for a page of any stream,
    /// and programs one.
    pub(super) fn is_ready(&self, block: BlockIndex, page: u32, erase_count: u32) -> bool {
        self.ready[block.0 as usize] == Some((erase_count, page))
    }

    pub(super) fn program_fails(
        &mut self,
        block: BlockIndex,
        (page, sequence): (u32, u64),
        erase_count: u32,
    ) -> bool {
        self.programs += 1;
        let (seed, number) = (self.rules.seed, self.programs);
        let fails = self
            .rules
            .programs
            .iter_mut()
            .any(|rule| rule.fires(seed, block, (number, sequence), erase_count));
        self.ready[block.0 as usize] = (!fails).then_some((erase_count, page));
        fails
    }

    pub(super) fn erase_fails(&mut self, block: BlockIndex, erase_count: u32) -> bool {
        self.erases += 1;
        let (seed, number) = (self.rules.seed, self.erases);
        let own = u64::from(block.0) << 32 | u64::from(erase_count);
        self.rules.erases.iter_mut().any(|rule| rule.fires(seed, block, (number, own), erase_count))
    }

    pub(super) fn mark(&mut self, die: DieIndex, block: BlockIndex) {
        if !std::mem::replace(&mut self.is_bad[block.0 as usize], true) {
            self.bad_of_die[die.0 as usize] += 1;
        }
    }
}

impl FailureRule {
    /// Whether it makes this operation fail; `own` belongs to the operation and no other.
    fn fires(&mut self, seed: u64, block: BlockIndex, (number, own): (u64, u64), erase_count: u32) -> bool {
        if self.left == 0 || self.block.is_some_and(|only| only != block.0) {
            return false;
        }
        let factor = self.wear.map_or(1.0, |wear| wear.factor(erase_count));
        let fires = match self.trigger {
            FailureTrigger::Number(at) => at == number,
            FailureTrigger::Always => factor >= 1.0 || draw(seed, self.purpose, own) < factor,
            FailureTrigger::Probability(chance) => draw(seed, self.purpose, own) < chance * factor,
        };
        self.left -= u64::from(fires);
        fires
    }
}
