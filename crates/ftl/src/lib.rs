//! Flash translation layer: what flash operations a command causes. Logic without time.
//!
//! The controller asks for one step at a time ([`PageMap::program_host`], [`PageMap::next_cleaning_step`], ...)
//! and decides when it happens; `untimed` turns the same crank at once, for write amplification without clocks.

#[macro_use]
mod named;

pub mod backlog;
pub mod compressed_map;
pub mod content;
pub mod counters;
pub mod error;
pub mod log;
pub mod log_block_map;
pub mod mapping;
pub mod merge;
pub mod page_map;
pub mod placement;
pub mod recovery;
pub mod stamps;
pub mod superblock_map;
pub mod theory;
pub mod untimed;
pub mod victim;

pub use backlog::Backlog;
pub use compressed_map::{CompressedMap, CompressionConfig};
pub use content::{Content, Identity, UnitContent};
pub use counters::FtlCounters;
pub use error::FtlError;
pub use log::bad_blocks;
pub use log::{BadBlocks, FailedProgram, FailureRule, FailureRules, FailureTrigger, Wear};
pub use log::{CleaningMode, CleaningStep, FtlConfig, MetadataStep, Purpose, Urgency};
pub use log::{SlcCacheConfig, WhenFull};
pub use log_block_map::LogBlockMap;
pub use mapping::{
    BlockRole, BlockUse, Books, Contents, FailingBlocks, KeptWords, Mapping, Recoverable, Scheme,
    SettledUses, SlcUse, UnitPiece,
};
pub use mapping::{LogMapping, MAP_ENTRY_BYTES, MapFetch, Stored, Superseded};
pub use merge::{GroupPlan, GroupUnit, MergeConfig, MergeMap, MergeScheme, MergeStep, RowRead, Superblocks};
pub use page_map::{DemandLoaded, MapCacheConfig, MapMemory, MapUses, PageMap, WholeMap};
pub use placement::{Placement, Stream};
pub use recovery::Recovered;
pub use stamps::Stamps;
pub use superblock_map::SuperblockMap;
pub use victim::VictimSelection;
