//! A log on every die: open blocks and the free pool, write streams, the map journal, the log of a map that lies in
//! flash, cleaning of one die, blocks that fail. What schemes share that append to an open block of every die and clean
//! die by die; and the words for what such a log does.

pub mod bad_blocks;
pub mod blocks;
mod check;
mod cleaning;
pub mod config;
mod dead_blocks;
pub mod die_logs;
mod failures;
mod folding;
mod found_cache;
mod found_superblocks;
pub mod free_pool;
pub mod jobs;
pub mod journal;
pub(crate) mod map_log;
mod map_upkeep;
mod open_superblocks;
mod owed_parity;
mod padding;
pub(crate) mod parity;
mod restore;
pub mod slc_cache;
pub mod steps;
mod superblocks;
pub mod valid_bits;
mod view;

pub use bad_blocks::{BadBlocks, FailedProgram, FailureRule, FailureRules, FailureTrigger, Wear};
pub use blocks::Blocks;
pub(crate) use check::{check_cache, check_placement, check_superblocks, check_thresholds};
pub(crate) use cleaning::Measure;
pub use config::{CleaningMode, FtlConfig};
pub use die_logs::DieLogs;
pub use free_pool::FreePool;
pub(crate) use jobs::Job;
pub(crate) use map_log::{LogPage, MapLog};
pub(crate) use map_upkeep::MapStep;
pub(crate) use parity::Parity;
pub use slc_cache::{SlcCacheConfig, WhenFull};
pub use steps::{CleaningStep, MetadataStep, Purpose, Urgency};
pub use valid_bits::ValidBits;
