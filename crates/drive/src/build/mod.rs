//! From a model's parameters to a working drive: one file for each family.

mod flash;
mod page_map;

use crate::engine::Engine;
use crate::error::ModelError;
use crate::model::Model;
use crate::parameters::Family;

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<Engine, ModelError> {
    Ok(match model.family() {
        Family::PageMap => Engine::PageMap(Box::new(page_map::build(model, seed)?)),
    })
}

/// Whether a model makes a working drive.
///
/// # Errors
/// As [`build`].
pub fn check(model: &Model) -> Result<(), ModelError> {
    build(model, 0).map(drop)
}
