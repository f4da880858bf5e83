//! Blocks that fail: which programs and erases do, what becomes of the block, and how many more may.
//!
//! A page that can't be programmed is lost, what should have gone there goes to another block. Its block is never
//! written again; the valid data on it stays readable, and is moved away by cleaning before anything else is. A block
//! that can't be erased is retired at once. Retired blocks come out of the spare area; when none is left to spare, the
//! drive is worn out.
//!
//! Everything random is drawn from the number of the program or erase, so that it doesn't depend on what else happens.

use std::collections::VecDeque;

use drivelab_nand::view::{BlockState, MediumView};
use drivelab_nand::{BlockIndex, DieIndex};
use drivelab_sim::rng::draw;

use crate::blocks::Stream;
use crate::die_logs::DieLogs;
use crate::error::FtlError;

/// Free blocks of a die that are kept back beside the reserve, as long as there are blocks to spare: one that cleaning
/// writes may fail, and the next one too.
const FAILURE_RESERVE_BLOCKS: u32 = 2;

/// How wear works on a chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// Erase count at which it has its full effect.
    pub endurance_erases: u32,
    /// Power of (erase count / endurance).
    pub exponent: f64,
}

impl Wear {
    /// What a chance is multiplied by.
    #[must_use]
    pub fn factor(self, erase_count: u32) -> f64 {
        (f64::from(erase_count) / f64::from(self.endurance_erases)).powf(self.exponent)
    }
}

/// When a program or an erase fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailureTrigger {
    /// Whenever it can.
    Always,
    /// The program or erase of this number since power-on, from 1.
    Number(u64),
    /// With this chance each time.
    Probability(f64),
}

/// A rule by which programs or erases fail.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Debug, Default, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedProgram {
    /// Its block.
    pub block: BlockIndex,
    /// Its number in the block.
    pub page: u32,
    /// Number of the program operation.
    pub sequence: u64,
}

/// Blocks of a drive that has faults.
#[derive(Clone, Debug)]
pub struct BadBlocks {
    rules: FailureRules,
    is_bad: Vec<bool>,
    /// Bad blocks of each die.
    bad_of_die: Vec<u32>,
    /// Blocks of each die that are emptied before any other.
    to_empty: Vec<VecDeque<BlockIndex>>,
    /// Blocks that the drive could lose when it was new.
    spare_blocks_new: u32,
    programs: u64,
    erases: u64,
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
    fn failure_reserve(&self) -> u32 {
        let dies = self.bad_of_die.len() as u32;
        (self.spare_blocks_new.saturating_sub(self.retired()) / dies).min(FAILURE_RESERVE_BLOCKS)
    }

    /// Blocks of a die that can't hold valid data, beside those of a drive without faults.
    #[must_use]
    pub fn withheld(&self, die: DieIndex) -> u32 {
        self.bad_of_die[die.0 as usize] + self.failure_reserve()
    }

    fn program_fails(&mut self, block: BlockIndex, sequence: u64, erase_count: u32) -> bool {
        self.programs += 1;
        let (seed, number) = (self.rules.seed, self.programs);
        self.rules.programs.iter_mut().any(|rule| rule.fires(seed, block, (number, sequence), erase_count))
    }

    fn erase_fails(&mut self, block: BlockIndex, erase_count: u32) -> bool {
        self.erases += 1;
        let (seed, number) = (self.rules.seed, self.erases);
        let own = u64::from(block.0) << 32 | u64::from(erase_count);
        self.rules.erases.iter_mut().any(|rule| rule.fires(seed, block, (number, own), erase_count))
    }

    fn mark(&mut self, die: DieIndex, block: BlockIndex) {
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

impl DieLogs {
    /// The drive has bad blocks from now on; `spare_blocks_new`: so many it can lose.
    pub(crate) fn expect_failures(&mut self, spare_blocks_new: u32) -> &mut BadBlocks {
        let (dies, blocks) = (self.layout.geometry.die_count(), self.layout.block_count());
        self.bad.get_or_insert_with(|| Box::new(BadBlocks::new(dies, blocks, spare_blocks_new)))
    }

    /// Blocks of a die that can't hold valid data, beside those of a drive without faults.
    #[inline]
    pub(crate) fn withheld(&self, die: DieIndex) -> u32 {
        self.bad.as_ref().map_or(0, |bad| bad.withheld(die))
    }

    /// Free blocks of a die that are kept for the failure of others.
    #[inline]
    pub(crate) fn failure_reserve(&self) -> u32 {
        self.bad.as_ref().map_or(0, |bad| bad.failure_reserve())
    }

    /// Sees to it that the next program of a stream succeeds: pages that fail are lost, their block is retired, and the
    /// stream goes on in another one.
    ///
    /// # Errors
    /// [`FtlError::NoFreeBlock`]: there is no other one.
    pub(crate) fn ready_page(&mut self, die: DieIndex, stream: Stream) -> Result<(), FtlError> {
        if self.bad.is_none() {
            return Ok(());
        }
        loop {
            let block = self.open(die, stream)?;
            let (sequence, worn) = (self.flash.next_sequence(), self.flash.erase_count(block));
            let Some(bad) = &mut self.bad else { return Ok(()) };
            if !bad.program_fails(block, sequence, worn) {
                return Ok(());
            }
            let page = self.flash.write_pointer(block);
            bad.failed_programs.push(FailedProgram { block, page, sequence });
            bad.mark(die, block);
            bad.to_empty[die.0 as usize].push_back(block);
            self.flash.program_page(block, page)?;
            self.blocks.abandon(die, stream);
        }
    }

    /// Whether the erase that was just counted in flash has failed: the block is retired then, and holds nothing.
    pub(crate) fn has_erase_failed(&mut self, die: DieIndex, block: BlockIndex) -> bool {
        let worn = self.flash.erase_count(block);
        let Some(bad) = &mut self.bad else { return false };
        let failed = bad.erase_fails(block, worn);
        if failed {
            bad.mark(die, block);
            bad.failed_erase = Some(block);
        }
        failed
    }

    /// A block is to be emptied before others, and goes back to use if it has not failed.
    pub(crate) fn refresh(&mut self, block: BlockIndex) -> bool {
        let die = self.layout.die_of(block);
        let is_victim = self.victim_of(die) == Some(block);
        let is_closed = self.blocks.is_closed(block);
        let Some(bad) = &mut self.bad else { return false };
        let queue = &mut bad.to_empty[die.0 as usize];
        let wanted = is_closed && !is_victim && !queue.contains(&block);
        if wanted {
            queue.push_back(block);
        }
        wanted
    }

    /// Whether blocks of a die are to be emptied before others.
    #[inline]
    pub(crate) fn has_to_empty(&self, die: DieIndex) -> bool {
        self.bad.as_ref().is_some_and(|bad| !bad.to_empty[die.0 as usize].is_empty())
    }

    /// The next block of a die that is to be emptied before others.
    pub(crate) fn next_to_empty(&mut self, die: DieIndex) -> Option<BlockIndex> {
        loop {
            let bad = self.bad.as_mut()?;
            let block = bad.to_empty[die.0 as usize].pop_front()?;
            let is_bad = bad.is_bad(block);
            if (is_bad && self.blocks.valid_count(block) > 0) || (!is_bad && self.blocks.is_closed(block)) {
                return Some(block);
            }
        }
    }

    /// Whether a block has failed.
    #[inline]
    pub(crate) fn is_bad(&self, block: BlockIndex) -> bool {
        self.bad.as_ref().is_some_and(|bad| bad.is_bad(block))
    }

    /// Bad blocks leave the pools that have just been made anew; those that hold something are to be emptied.
    pub(crate) fn withhold_bad_blocks(&mut self) {
        let Some(bad) = &mut self.bad else { return };
        self.blocks.withhold(&self.layout, &bad.is_bad);
        for queue in &mut bad.to_empty {
            queue.clear();
        }
        for block in (0..self.layout.block_count()).map(BlockIndex) {
            if bad.is_bad(block) && self.flash.write_pointer(block) > 0 {
                bad.to_empty[self.layout.die_of(block).0 as usize].push_back(block);
            }
        }
    }

    /// Blocks that were found retired are bad.
    pub(crate) fn restore_bad_blocks(&mut self, medium: &dyn MediumView, spare_blocks_new: u32) {
        let layout = self.layout;
        let is_retired = |&block: &BlockIndex| medium.block(block).state == BlockState::Retired;
        let found: Vec<_> = (0..layout.block_count()).map(BlockIndex).filter(is_retired).collect();
        if found.is_empty() && self.bad.is_none() {
            return;
        }
        let bad = self.expect_failures(spare_blocks_new);
        for block in found {
            bad.mark(layout.die_of(block), block);
        }
        self.withhold_bad_blocks();
    }
}
