//! The page map, fine or coarse, in memory whole or loaded on demand.

use drivelab_controller::{ControllerConfig, SolidStateDrive};
use drivelab_ftl::{CleaningMode, FtlConfig, MapCacheConfig, PageMap, Placement};
use drivelab_nand::UnitLayout;

use super::{errors, flash, log, slc_cache, word_lines};
use crate::engine::Engine;
use crate::error::ModelError;
use crate::model::Model;

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<Engine, ModelError> {
    let geometry = flash::geometry(model)?;
    let layout = UnitLayout::new(geometry, model.small("ftl.map_unit_bytes"))
        .map_err(|error| flash::wrong(model, error))?;
    let ftl = FtlConfig {
        user_units: flash::user_units(model, &geometry, layout.unit_bytes)?,
        cleaning_mode: model.word("ftl.cleaning_mode")?,
        placement: model.word("ftl.placement")?,
        hot_writes: model.small("ftl.hot_writes"),
        hint_streams: model.small("ftl.hint_streams"),
        superblock_blocks: model.small("ftl.superblock_blocks"),
        held_word_lines: word_lines::held(model, &geometry)?,
        parity_stripe_pages: model.small("ftl.parity_stripe_pages"),
        slc_cache: slc_cache::config(model, &layout)?,
        ..log::config(model, &layout, seed)?
    };
    if ftl.cleaning_mode == CleaningMode::RewriteInPlace && ftl.placement != Placement::HostAndCleaning {
        let allowed = "must be host-and-cleaning with ftl.cleaning_mode = rewrite-in-place";
        return Err(model.bad("ftl.placement", ftl.placement.name(), allowed));
    }
    if ftl.slc_cache.is_some() && ftl.placement != Placement::HostAndCleaning {
        let allowed = "must be host-and-cleaning with slc_cache.max_bytes above 0";
        return Err(model.bad("ftl.placement", ftl.placement.name(), allowed));
    }
    let controller: ControllerConfig = flash::controller(model, &layout, layout.unit_bytes)?;
    let cache = MapCacheConfig {
        cache_bytes: model.small("ftl.map_cache_bytes"),
        fetch_bytes: word_lines::map_line_bytes(model, u64::from(geometry.program_bytes())) as u32,
        spare_blocks: model.optional_integer("ftl.map_spare_blocks").map(|blocks| blocks as u32),
        host_bytes: model.small("ftl.host_memory_bytes"),
        host_ns: model.integer("ftl.host_memory_ns"),
    };
    if cache.host_bytes > 0 && (cache.cache_bytes == 0 || cache.host_bytes <= cache.cache_bytes) {
        let allowed = format!(
            "must be 0, or more than ftl.map_cache_bytes = {}, which must be above 0",
            cache.cache_bytes
        );
        return Err(model.bad("ftl.host_memory_bytes", &cache.host_bytes.to_string(), &allowed));
    }
    let wrong = |error| flash::wrong(model, error);
    if cache.cache_bytes == 0 {
        let map = PageMap::new(layout, ftl).map_err(wrong)?;
        let mut drive = SolidStateDrive::new(map, controller).map_err(wrong)?;
        errors::apply(model, seed, &mut drive)?;
        return Ok(Engine::PageMap(Box::new(drive)));
    }
    let map = PageMap::demand_loaded(layout, ftl, cache).map_err(wrong)?;
    let mut drive = SolidStateDrive::new(map, controller).map_err(wrong)?;
    errors::apply(model, seed, &mut drive)?;
    Ok(Engine::DemandMap(Box::new(drive)))
}
