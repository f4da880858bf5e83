//! What all schemes with a log on each die read from a model: cleaning and the map journal.

use drivelab_ftl::{CleaningMode, FtlConfig, Placement};
use drivelab_nand::UnitLayout;

use crate::error::ModelError;
use crate::model::Model;

/// Everything but the number of map units.
pub fn config(model: &Model, layout: &UnitLayout, seed: u64) -> Result<FtlConfig, ModelError> {
    Ok(FtlConfig {
        user_units: 0,
        victim_selection: model.word("ftl.victim_selection")?,
        choices: model.small("ftl.choices"),
        window_blocks: model.small("ftl.window_blocks"),
        placement: Placement::HostAndCleaning,
        hot_writes: 1,
        hint_streams: 1,
        cleaning_mode: CleaningMode::Relocate,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: model.small("ftl.cleaning_start_blocks"),
        cleaning_stop_blocks: model.small("ftl.cleaning_stop_blocks"),
        // Families whose firmwares all know TRIM have no such parameter.
        trim_supported: model.family().find("ftl.trim_supported").is_none()
            || model.flag("ftl.trim_supported"),
        idle_cleaning_blocks: model.small("ftl.idle_cleaning_blocks"),
        wear_spread_limit: model.small("ftl.wear_spread_limit"),
        journal_updates_per_page: model.small("ftl.journal_updates_per_page"),
        checkpoint_updates: model.small("ftl.checkpoint_updates"),
        checkpoint_pages: checkpoint_pages(model, layout)?,
        slc_cache: None,
        seed,
    })
}

fn checkpoint_pages(model: &Model, layout: &UnitLayout) -> Result<u32, ModelError> {
    let key = "ftl.checkpoint_bytes";
    let bytes = model.integer(key);
    let geometry = &layout.geometry;
    // Journal blocks take turns on every die; a checkpoint must leave the older one readable.
    let page = u64::from(geometry.program_bytes()) * u64::from(layout.pages_per_unit);
    let most =
        u64::from(geometry.die_count()) * u64::from(layout.units_per_block / layout.units_per_page) * page;
    if bytes > most {
        return Err(model.bad(
            key,
            &bytes.to_string(),
            &format!("must be at most one block of every die, {most} bytes"),
        ));
    }
    if (bytes > 0) != (model.integer("ftl.checkpoint_updates") > 0) {
        let allowed = "must be above 0 together with ftl.checkpoint_updates, or both 0";
        return Err(model.bad(key, &bytes.to_string(), allowed));
    }
    if bytes > 0 && model.integer("ftl.journal_updates_per_page") == 0 {
        return Err(model.bad(key, &bytes.to_string(), "needs ftl.journal_updates_per_page above 0"));
    }
    Ok(u32::try_from(bytes.div_ceil(page)).unwrap_or(u32::MAX))
}
