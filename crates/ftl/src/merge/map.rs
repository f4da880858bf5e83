//! A merging scheme as a mapping: the shared state, and the rule that says which way a group of units goes.

use std::fmt::Debug;

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, GeometryError, Lpn, Ppn, UnitLayout};

use super::bank::{MERGING, OPEN, Task};
use super::config::MergeConfig;
use super::core::MergeCore;
use super::plan::{GroupPlan, GroupUnit, MergeStep, Route, RowRead};
use super::superblocks::Superblocks;
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::error::FtlError;
use crate::mapping::{Mapping, Superseded};
use crate::recovery::Recovered;
use crate::stamps::Stamps;

/// What tells the schemes apart.
pub trait MergeScheme: Clone + Debug + Send + 'static {
    /// Every superblock has a block from the start, and every row counts as written.
    const FIXED: bool;

    /// Blocks of a bank that hold no superblock's data for good.
    const WORKING_BLOCKS: u32;

    /// Which way a group of units of one superblock goes, in ascending order of LPN.
    fn plan(core: &MergeCore, bank: DieIndex, units: &[GroupUnit]) -> GroupPlan;
}

/// A mapping scheme that merges superblocks.
#[derive(Clone, Debug)]
pub struct MergeMap<S: MergeScheme> {
    core: MergeCore,
    scheme: std::marker::PhantomData<S>,
}

impl<S: MergeScheme> MergeMap<S> {
    /// A scheme over an erased array.
    ///
    /// # Errors
    /// A parameter that makes no working drive.
    pub fn new(layout: UnitLayout, config: MergeConfig) -> Result<Self, GeometryError> {
        let core = MergeCore::new(layout, config, S::FIXED, S::WORKING_BLOCKS)?;
        Ok(Self { core, scheme: std::marker::PhantomData })
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &MergeConfig {
        &self.core.config
    }

    /// How the logical drive is cut.
    #[inline]
    #[must_use]
    pub fn superblocks(&self) -> &Superblocks {
        &self.core.superblocks
    }

    /// Whether a bank has a job under way.
    #[inline]
    #[must_use]
    pub fn is_busy(&self, bank: DieIndex) -> bool {
        let bank = &self.core.banks[bank.0 as usize];
        !bank.tasks.is_empty() || !bank.dead.is_empty()
    }

    /// What would be done with units of one superblock of a bank without a job, in ascending order of LPN.
    #[must_use]
    pub fn plan(&self, bank: DieIndex, units: &[GroupUnit]) -> GroupPlan {
        S::plan(&self.core, bank, units)
    }

    /// Begins a job: `units` are those that the plan accepts.
    pub fn begin(&mut self, bank: DieIndex, units: &[GroupUnit], plan: &GroupPlan) {
        let superblocks = self.core.superblocks;
        let state = &mut self.core.banks[bank.0 as usize];
        debug_assert!(state.tasks.is_empty());
        state.group.clear();
        state.group.extend_from_slice(units);
        state.cursor = 0;
        state.trimmed.clear();
        let open = state.slots[OPEN];
        let tasks = &mut state.tasks;
        let complete = |tasks: &mut std::collections::VecDeque<Task>, slot: usize| {
            tasks.push_back(Task::Rest { slot });
            tasks.push_back(Task::Close { slot });
        };
        let place = |index: usize| units.get(index).map(|unit| superblocks.locate(unit.lpn));
        match (plan.route, place(0), place(units.len().wrapping_sub(1))) {
            (Route::Append | Route::CopyUpTo, Some(first), Some(last)) => {
                let next = open.map(|open| (open.superblock, self.core.flash.write_pointer(open.block)));
                let goes_on =
                    next.is_some_and(|(superblock, row)| superblock == first.superblock && row <= first.row);
                if open.is_some() && !goes_on {
                    complete(tasks, OPEN);
                }
                if !goes_on {
                    tasks.push_back(Task::Open { slot: OPEN, superblock: first.superblock, rotates: false });
                }
                tasks.push_back(Task::Rows { slot: OPEN, until: last.row + 1 });
                if last.row + 1 == superblocks.row_count {
                    tasks.push_back(Task::Close { slot: OPEN });
                }
            }
            (Route::Merge, Some(first), _) => {
                tasks.push_back(Task::Open { slot: MERGING, superblock: first.superblock, rotates: false });
                complete(tasks, MERGING);
            }
            (Route::Complete, _, _) => complete(tasks, OPEN),
            (Route::Log, _, _) => tasks.push_back(Task::Log),
            (Route::Reclaim, _, _) => {
                if let Some(&block) = state.logs.front() {
                    tasks.push_back(Task::Reclaim { block, from: 0 });
                }
            }
            (Route::Append | Route::CopyUpTo | Route::Merge, _, _) => {}
        }
    }

    /// Does the next flash operation of a bank's job and says what it was; [`Self::reads`] and [`Self::taken`] tell
    /// more about a row. `None`: the job is done.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect of the scheme.
    pub fn next_step(&mut self, bank: DieIndex) -> Result<Option<MergeStep>, FtlError> {
        self.core.next_step(bank)
    }

    /// What the last row needed to be read.
    #[inline]
    #[must_use]
    pub fn reads(&self) -> &[RowRead] {
        &self.core.reads
    }

    /// Which units of the group the last row took, by index, and where they lie now.
    #[inline]
    #[must_use]
    pub fn taken(&self) -> &[(u32, Ppn)] {
        &self.core.taken
    }

    /// Queues what a mount left to be done on a bank before the host is served; [`Self::next_step`] does it. `false`:
    /// nothing is left.
    pub fn begin_recovery(&mut self, bank: DieIndex) -> bool {
        self.core.begin_recovery(bank)
    }

    /// Stores the stamps of a unit that was just programmed.
    pub fn store_stamps(&mut self, ppn: Ppn, stamps: &[u64]) {
        if let Some(kept) = &mut self.core.stamps {
            kept.store(ppn, stamps);
        }
    }
}

impl<S: MergeScheme> Mapping for MergeMap<S> {
    #[inline]
    fn layout(&self) -> &UnitLayout {
        &self.core.layout
    }

    fn user_units(&self) -> u32 {
        self.core.config.user_units
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.core.lookup(lpn)
    }

    #[inline]
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool {
        first.0 % self.core.layout.units_per_page + distance < self.core.layout.units_per_page
            && self.core.lookup(lpn) == Some(Ppn(first.0 + distance))
    }

    fn takes_trims(&self) -> bool {
        self.core.config.trim_supported
    }

    fn trim(&mut self, lpn: Lpn) {
        self.core.trim(lpn);
    }

    fn secure_erase(&mut self) -> (u32, u64) {
        self.core.secure_erase()
    }

    #[inline]
    fn prefetch(&self, lpn: u64) {
        self.core.log.prefetch(lpn as usize);
    }

    fn flash(&self) -> &FlashArray {
        &self.core.flash
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        self.core.flash.peek(ppn).is_some_and(|lpn| self.core.lookup(lpn) == Some(ppn))
    }

    fn held_back_bytes(&self) -> u64 {
        let layout = &self.core.layout;
        let logs = if S::FIXED { 0 } else { self.core.config.reserve_blocks.max(1) };
        let blocks = u64::from(layout.geometry.die_count()) * u64::from(S::WORKING_BLOCKS + logs);
        blocks * u64::from(layout.units_per_block) * u64::from(layout.unit_bytes)
    }

    fn counters(&self) -> &FtlCounters {
        &self.core.counters
    }

    fn valid_units(&self) -> u64 {
        self.core.written_count
    }

    fn free_blocks(&self) -> u64 {
        (0..self.core.banks.len() as u32).map(|bank| u64::from(self.core.free.count(DieIndex(bank)))).sum()
    }

    fn backlog(&self) -> Backlog {
        let banks = (0..self.core.banks.len() as u32).map(DieIndex);
        let cleaning_dies = banks.filter(|&bank| self.is_busy(bank)).count() as u64;
        Backlog { cleaning_dies, ..Backlog::default() }
    }

    fn check(&self) -> Result<(), String> {
        self.core.check()
    }

    fn keep_words(&mut self, words_per_unit: u32) {
        self.core.stamps = Some(Stamps::new(&self.core.layout, words_per_unit));
        if words_per_unit == 1 {
            self.core.superseded = Some(Vec::new());
            self.core.spared_blocks = u32::from(!S::FIXED);
        }
    }

    fn keeps_stamps(&self) -> bool {
        self.core.stamps.is_some()
    }

    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]> {
        let ppn = self.core.lookup(lpn).filter(|_| self.core.written.get(Ppn(lpn.0)))?;
        Some(self.core.stamps.as_ref()?.unit(ppn))
    }

    fn forgets(&self) -> Option<&'static str> {
        let spare = self.core.layout.geometry.blocks_per_die() - self.core.superblocks.most_per_bank();
        (spare <= S::WORKING_BLOCKS).then_some(
            "a bank has no erased block to spare in which a merge that a power cut broke off could be done again",
        )
    }

    fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        if let Some(superseded) = &mut self.core.superseded {
            out.append(superseded);
        }
    }

    fn page_records(&self, first: Ppn, out: &mut Vec<u64>) {
        self.core.page_records(first, out);
    }

    fn checkpoint_entry(&self, lpn: Lpn) -> u32 {
        let written = self.core.written.get(Ppn(lpn.0)).then(|| self.core.lookup(lpn)).flatten();
        written.map_or(0, |ppn| self.core.page_number(ppn) + 1)
    }

    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.core.mount(recovered)
    }

    fn erased_by_mount(&self) -> &[BlockIndex] {
        &self.core.erased_by_mount
    }
}
