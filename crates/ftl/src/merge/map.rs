//! A merging scheme as a mapping: the shared state, and the rule that says which way a group of units goes.

use std::fmt::Debug;

use drivelab_nand::{DieIndex, GeometryError, Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

use super::bank::{MERGING, OPEN, Task};
use super::config::MergeConfig;
use super::core::MergeCore;
use super::plan::{GroupPlan, GroupUnit, MergeStep, Route, RowRead};
use super::superblocks::Superblocks;
use crate::error::FtlError;

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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MergeMap<S: MergeScheme> {
    pub(super) core: MergeCore,
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
