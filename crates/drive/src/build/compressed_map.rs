//! The compressing, deduplicating map.

use drivelab_controller::SolidStateDrive;
use drivelab_ftl::{CompressedMap, CompressionConfig, FtlConfig, Mapping};
use drivelab_nand::UnitLayout;

use super::{flash, log};
use crate::error::ModelError;
use crate::model::Model;

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<SolidStateDrive<CompressedMap>, ModelError> {
    let geometry = flash::geometry(model)?;
    let pages =
        UnitLayout::new(geometry, geometry.program_bytes()).map_err(|error| flash::wrong(model, error))?;
    let compression = CompressionConfig {
        unit_bytes: model.small("ftl.map_unit_bytes"),
        granule_bytes: model.small("ftl.granule_bytes"),
        parity: model.flag("ftl.die_parity"),
        trims_deferred: model.flag("ftl.trims_deferred"),
        trim_loss_percent: model.small("ftl.trim_loss_percent"),
        map_cache_bytes: model.small("ftl.map_cache_bytes"),
        map_fetch_bytes: model.small("ftl.map_fetch_bytes"),
    };
    let ftl = FtlConfig {
        user_units: flash::user_units(model, &geometry, compression.unit_bytes)?,
        ..log::config(model, &pages, seed)?
    };
    let map = CompressedMap::new(geometry, ftl, compression).map_err(|error| flash::wrong(model, error))?;
    let controller = flash::controller(model, map.layout(), compression.unit_bytes)?;
    SolidStateDrive::new(map, controller).map_err(|error| flash::wrong(model, error))
}
