//! Parameters of every mapping scheme that writes logs.

use serde::{Deserialize, Serialize};

use super::slc_cache::SlcCacheConfig;
use crate::placement::{Placement, PlacementSettings, Placements, StreamCounts};
use crate::victim::{VictimSelection, VictimSettings, Victims};

/// Blocks of a die that the map journal keeps.
pub const JOURNAL_BLOCKS: u32 = 2;

/// Free blocks of a die that cleaning needs to copy into.
pub(super) const RESERVE_BLOCKS: u32 = 1;

/// How cleaning makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CleaningMode {
    /// Valid pages of the victim are copied to an open block, then the victim is erased. Needs a free block.
    Relocate,
    /// The victim's valid pages are read into the write buffer, the block is erased and everything written back:
    /// the only way for a drive whose die has a single block. A power cut in between would lose data.
    RewriteInPlace,
}

/// Parameters of every mapping scheme that writes logs. Block counts are per die.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FtlConfig {
    /// Map units that the host can address.
    pub user_units: u32,
    /// Which block is cleaned next.
    pub victim_selection: VictimSelection,
    /// Blocks that d-choices draws.
    pub choices: u32,
    /// Blocks that windowed-greedy looks at.
    pub window_blocks: u32,
    /// Which write stream a page goes to.
    pub placement: Placement,
    /// Writes after which hot-cold takes a unit for hot.
    pub hot_writes: u32,
    /// Hints of the host that have a stream of their own.
    pub hint_streams: u32,
    /// How cleaning makes room.
    pub cleaning_mode: CleaningMode,
    /// Blocks that are opened, filled, picked as victims and erased together. Other counts of blocks that are free or
    /// open are of so many.
    pub superblock_blocks: u32,
    /// Pages of a stripe over dies, one of which is parity; 0: none is.
    pub parity_stripe_pages: u32,
    /// Native word lines that are programmed behind one, in its block, before it can be read; 0: it can be at once.
    pub held_word_lines: u32,
    /// Cleaning starts when a die has fewer free blocks than this, those that are kept for power cuts and further
    /// streams not counted, as in the next two.
    pub cleaning_start_blocks: u32,
    /// Cleaning stops when a die has this many free blocks.
    pub cleaning_stop_blocks: u32,
    /// Idle-time cleaning goes on to this many free blocks; 0: none.
    pub idle_cleaning_blocks: u32,
    /// Static wear levelling moves the least worn block when erase counts of a die differ by more than this;
    /// 0: never.
    pub wear_spread_limit: u32,
    /// Map updates that one page of the map journal holds; 0: no journal is written.
    pub journal_updates_per_page: u32,
    /// Map updates after which a checkpoint of the map is written; 0: never.
    pub checkpoint_updates: u32,
    /// Pages of a checkpoint.
    pub checkpoint_pages: u32,
    /// Blocks that are programmed with one bit a cell; `None`: there are none.
    pub slc_cache: Option<SlcCacheConfig>,
    /// The firmware knows TRIM; otherwise trims are accepted and ignored.
    pub trim_supported: bool,
    /// Seed of random victim selection.
    pub seed: u64,
}

/// Free blocks of a die by which it is cleaned, all of them counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Thresholds {
    /// With fewer cleaning starts.
    pub start: u32,
    /// With as many it stops.
    pub stop: u32,
    /// To as many it goes on when nobody waits; 0: it doesn't.
    pub idle: u32,
}

impl FtlConfig {
    /// Blocks of a die that the map journal keeps for itself.
    #[must_use]
    pub fn reserved_blocks(&self) -> u32 {
        if self.journal_updates_per_page > 0 { JOURNAL_BLOCKS } else { 0 }
    }

    /// A free block of a die beside those that thresholds count, where a power cut takes all word lines that are held in
    /// the one that cleaning copies into: for the copies that no longer fit.
    pub(super) fn cut_reserve(&self) -> u32 {
        u32::from(self.held_word_lines > 0)
    }

    /// Free blocks of a die that host writes may not take.
    pub(super) fn reserve_blocks(&self) -> u32 {
        RESERVE_BLOCKS + self.cut_reserve()
    }

    /// Free blocks of a die beside those that thresholds count: each further stream of the host may need another before a
    /// victim is emptied, and further ones of what is moved together one, as its copies fill less than a block.
    pub(super) fn stream_reserve(&self) -> u32 {
        let StreamCounts { host, all } = self.policy_streams();
        u32::from(host - 1) + u32::from(all - host > 1)
    }

    /// Free blocks of a die by which it is cleaned, all of them counted.
    pub(super) fn thresholds(&self) -> Thresholds {
        let more = self.more_blocks();
        Thresholds {
            start: self.cleaning_start_blocks + more,
            stop: self.cleaning_stop_blocks + more,
            idle: if self.idle_cleaning_blocks > 0 { self.idle_cleaning_blocks + more } else { 0 },
        }
    }

    /// Free blocks of a die beside those that thresholds count.
    pub(super) fn more_blocks(&self) -> u32 {
        self.cut_reserve() + self.stream_reserve()
    }

    /// Units that cleaning must gain from a block to get anywhere: those of a page, and of those that padding takes.
    pub(crate) fn least_gain(&self, units_per_page: u32) -> u32 {
        (1 + self.held_word_lines) * units_per_page
    }

    /// Blocks of a die that are always of the SLC cache.
    pub(super) fn static_blocks(&self) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.static_blocks)
    }

    /// Blocks of a die that may be open: one of each stream, and a native one that waits while the cache takes data.
    pub(super) fn open_blocks(&self) -> u32 {
        u32::from(self.policy_streams().all) + u32::from(self.slc_cache.is_some())
    }

    /// Write streams. That of wear levelling is no policy's, and no block is kept in reserve for it: it has one only when
    /// something is levelled, whose room cleaning takes when it finds no other.
    pub(crate) fn streams(&self) -> StreamCounts {
        if self.levels_apart() { StreamCounts::WITH_LEVELLING } else { self.policy_streams() }
    }

    /// Write streams of the placement policy.
    pub(crate) fn policy_streams(&self) -> StreamCounts {
        self.placement.streams(&self.placement_settings(0))
    }

    /// Whether what static wear levelling moves lies by itself: data that isn't overwritten, which would be moved with
    /// what is, again and again, if it came to lie between.
    fn levels_apart(&self) -> bool {
        self.wear_spread_limit > 0
            && self.cleaning_mode == CleaningMode::Relocate
            && self.policy_streams() == StreamCounts::HOST_AND_CLEANING
    }

    /// The policy that places pages, of an erased drive of so many blocks.
    pub(crate) fn placements(&self, blocks: u32) -> Placements {
        Placements::new(self.placement, &self.placement_settings(blocks))
    }

    fn placement_settings(&self, blocks: u32) -> PlacementSettings {
        let (hot_writes, hint_streams) = (self.hot_writes as u8, self.hint_streams as u8);
        PlacementSettings { user_units: self.user_units, blocks, hot_writes, hint_streams }
    }

    /// The policy that picks victims, of an erased drive.
    pub(crate) fn victims(&self, dies: u32) -> Victims {
        let (choices, window_blocks, seed) = (self.choices, self.window_blocks, self.seed);
        Victims::new(self.victim_selection, &VictimSettings { dies, choices, window_blocks, seed })
    }

    /// A die with so many free blocks has room for the host and need not be cleaned, not even in a pause. There is no such
    /// number for one that rewrites its blocks in place.
    #[must_use]
    pub(crate) fn calm_blocks(&self) -> u32 {
        match self.cleaning_mode {
            // What is in the cache may be folded however many there are.
            CleaningMode::Relocate if self.slc_cache.is_some() => u32::MAX,
            // What waits to be programmed as parity is asked for with cleaning.
            CleaningMode::Relocate if self.parity_stripe_pages > 0 => u32::MAX,
            CleaningMode::Relocate => {
                let host = self.reserve_blocks() + u32::from(self.streams().host);
                let Thresholds { stop, idle, .. } = self.thresholds();
                stop.max(idle).max(host)
            }
            CleaningMode::RewriteInPlace => u32::MAX,
        }
    }
}
