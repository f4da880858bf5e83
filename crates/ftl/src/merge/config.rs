//! Parameters of the merging schemes.

use serde::{Deserialize, Serialize};

/// Parameters of the merging schemes. Block counts are per bank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeConfig {
    /// Map units that the host can address.
    pub user_units: u32,
    /// Banks that consecutive rows go round.
    pub interleaved_banks: u32,
    /// Whether a trim frees units; otherwise it is accepted and ignored.
    pub trim_supported: bool,
    /// Static wear levelling: after so many merges of a bank ...
    pub rotation_merges: u32,
    /// ... so many of its superblocks move to other blocks, each bank's in turn; 0: none.
    pub rotation_superblocks: u32,
    /// Erased blocks that log blocks leave to merges and to replacement of bad blocks.
    pub reserve_blocks: u32,
    /// Most log blocks; 0: as many as there are erased blocks.
    pub log_blocks: u32,
    /// Seed of the order in which buffered groups leave, where that is random.
    pub seed: u64,
}
