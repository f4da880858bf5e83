//! Mapping schemes that merge superblocks.

use drivelab_controller::SolidStateDrive;
use drivelab_ftl::{MergeConfig, MergeMap, MergeScheme};
use drivelab_nand::UnitLayout;

use super::flash;
use crate::error::ModelError;
use crate::model::Model;

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build<S: MergeScheme>(model: &Model, seed: u64) -> Result<SolidStateDrive<MergeMap<S>>, ModelError> {
    let geometry = flash::geometry(model)?;
    if geometry.channel_count != 1 {
        let allowed = format!(
            "must be flash.channel_count = {}: the channels of a superblock work in lockstep",
            model.integer("flash.channel_count")
        );
        let lockstep = model.integer("flash.lockstep_channels");
        return Err(model.bad("flash.lockstep_channels", &lockstep.to_string(), &allowed));
    }
    let layout = UnitLayout::new(geometry, model.small("ftl.map_unit_bytes"))
        .map_err(|error| flash::wrong(model, error))?;
    let logs = |key: &str| if model.family().find(key).is_some() { model.small(key) } else { 0 };
    let config = MergeConfig {
        user_units: flash::user_units(model, &geometry, layout.unit_bytes)?,
        interleaved_banks: model.small("ftl.interleaved_banks"),
        trim_supported: model.flag("ftl.trim_supported"),
        rotation_merges: model.small("ftl.rotation_merges"),
        rotation_superblocks: model.small("ftl.rotation_superblocks"),
        reserve_blocks: logs("ftl.reserve_blocks"),
        log_blocks: logs("ftl.log_blocks"),
        seed,
    };
    let controller = flash::controller(model, &layout, layout.unit_bytes)?;
    MergeMap::new(layout, config)
        .and_then(|map| SolidStateDrive::new(map, controller))
        .map_err(|error| flash::wrong(model, error))
}
