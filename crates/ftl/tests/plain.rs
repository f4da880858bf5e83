//! Parameters that tests and examples/validate.rs vary: of a page map that cleans as soon as it must, and does nothing
//! else.

use drivelab_ftl::{CleaningMode, FtlConfig, Placement, VictimSelection};

pub fn config(user_units: u32) -> FtlConfig {
    FtlConfig {
        user_units,
        victim_selection: VictimSelection::Greedy,
        choices: 3,
        window_blocks: 4,
        placement: Placement::HostAndCleaning,
        hot_writes: 4,
        hint_streams: 4,
        cleaning_mode: CleaningMode::Relocate,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 2,
        trim_supported: true,
        idle_cleaning_blocks: 0,
        wear_spread_limit: 0,
        journal_updates_per_page: 0,
        checkpoint_updates: 0,
        checkpoint_pages: 0,
        slc_cache: None,
        seed: 5,
    }
}
