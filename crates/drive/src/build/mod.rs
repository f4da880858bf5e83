//! From a model's parameters to a working drive: one file for each family.

mod compressed_map;
mod errors;
mod flash;
mod hard_disk;
mod host;
mod log;
mod merging;
mod page_map;
mod raid0;
mod slc_cache;
mod word_lines;

use crate::engine::Engine;
use crate::error::ModelError;
use crate::model::Model;
use crate::parameters::Family;
use crate::partition::Partition;

pub(crate) use word_lines::{map_line_bytes, page_types};

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<Engine, ModelError> {
    Ok(match model.family() {
        Family::PageMap => page_map::build(model, seed)?,
        Family::CompressedMap => Engine::CompressedMap(Box::new(compressed_map::build(model, seed)?)),
        Family::SuperblockMap => Engine::SuperblockMap(Box::new(merging::build(model, seed)?)),
        Family::LogBlockMap => Engine::LogBlockMap(Box::new(merging::build(model, seed)?)),
        Family::HardDisk => Engine::HardDisk(Box::new(hard_disk::build(model)?)),
        Family::Raid0 => Engine::Raid0(Box::new(raid0::build(model, seed, partitioned)?)),
    })
}

/// Builds the drive, and cuts off what the host does not use.
///
/// # Errors
/// As [`build`].
pub fn partitioned(model: &Model, seed: u64) -> Result<Partition<Engine>, ModelError> {
    let engine = build(model, seed)?;
    match model.optional_integer("partition_bytes") {
        None => Ok(Partition::whole(engine)),
        Some(bytes) => Partition::new(engine, bytes)
            .map_err(|error| ModelError::Geometry { origin: model.origin().to_owned(), error }),
    }
}

/// Whether a model makes a working drive.
///
/// # Errors
/// As [`build`].
pub fn check(model: &Model) -> Result<(), ModelError> {
    partitioned(model, 0).map(drop)
}

/// Whether a model is what it says where building it would round: as it is stated, before a scale makes it small.
///
/// # Errors
/// [`ModelError`] for a size that the drive wouldn't have.
pub fn check_stated(model: &Model) -> Result<(), ModelError> {
    if model.family() == Family::PageMap { slc_cache::check_stated(model) } else { Ok(()) }
}
