//! What the merging schemes share: superblocks at fixed rows, rewritten row by row in replacement blocks.
//!
//! A superblock of the host lies on one physical superblock, its rows at fixed offsets. Flash pages are programmed in
//! order, so to change a row the superblock is written anew: a *replacement* takes the rows one after another, each
//! from the host or copied from where it was, and when nothing is left in the old block the replacement takes its
//! place and the old block is erased. That is a merge (REFERENCES.md, \[BAST\]): *switch* if the host had written
//! every row in order, *partial* if only what follows the host's rows was copied, *full* otherwise.
//!
//! A bank works on one group of units at a time: `begin` queues tasks, [`MergeMap::next_step`] does one flash operation
//! and says what it was. The old block is erased only after its replacement is complete.

mod bank;
mod check;
mod config;
mod core;
mod log_places;
mod map;
mod mapping;
mod mount;
mod plan;
mod role;
mod steps;
mod superblocks;
mod view;

pub(crate) use self::bank::OPEN;
pub use self::config::MergeConfig;
pub use self::core::MergeCore;
pub use self::map::{MergeMap, MergeScheme};
pub(crate) use self::plan::Route;
pub use self::plan::{GroupPlan, GroupUnit, MergeStep, RowRead};
pub use self::superblocks::{RowPlace, Superblocks};
