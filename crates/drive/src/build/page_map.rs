//! The page map, fine or coarse.

use drivelab_controller::{ControllerConfig, SolidStateDrive};
use drivelab_ftl::{FtlConfig, PageMap};
use drivelab_nand::UnitLayout;

use super::{flash, log};
use crate::error::ModelError;
use crate::model::Model;

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<SolidStateDrive<PageMap>, ModelError> {
    let geometry = flash::geometry(model)?;
    let layout = UnitLayout::new(geometry, model.small("ftl.map_unit_bytes"))
        .map_err(|error| flash::wrong(model, error))?;
    let ftl = FtlConfig {
        user_units: flash::user_units(model, &geometry, layout.unit_bytes)?,
        cleaning_mode: model.word("ftl.cleaning_mode")?,
        ..log::config(model, &layout, seed)?
    };
    let controller: ControllerConfig = flash::controller(model, &layout, layout.unit_bytes)?;
    PageMap::new(layout, ftl)
        .and_then(|map| SolidStateDrive::new(map, controller))
        .map_err(|error| flash::wrong(model, error))
}
