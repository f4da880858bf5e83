//! From a model's parameters to a working drive: one file for each family.

mod compressed_map;
mod flash;
mod hard_disk;
mod log;
mod merging;
mod page_map;
mod raid0;

use drivelab_controller::{FirmwareConfig, GovernorConfig, LinkConfig};

use crate::engine::Engine;
use crate::error::ModelError;
use crate::model::Model;
use crate::parameters::Family;
use crate::partition::Partition;

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<Engine, ModelError> {
    Ok(match model.family() {
        Family::PageMap => Engine::PageMap(Box::new(page_map::build(model, seed)?)),
        Family::CompressedMap => Engine::CompressedMap(Box::new(compressed_map::build(model, seed)?)),
        Family::SuperblockMap => Engine::SuperblockMap(Box::new(merging::build(model, seed)?)),
        Family::LogBlockMap => Engine::LogBlockMap(Box::new(merging::build(model, seed)?)),
        Family::HardDisk => Engine::HardDisk(Box::new(hard_disk::build(model)?)),
        Family::Raid0 => Engine::Raid0(Box::new(raid0::build(model, seed)?)),
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

fn link(model: &Model) -> LinkConfig {
    LinkConfig {
        bytes_per_s: model.integer("link.bytes_per_s"),
        frame_bytes: model.small("link.frame_bytes"),
        frame_overhead_ns: model.integer("link.frame_overhead_ns"),
        command_overhead_ns: model.integer("link.command_overhead_ns"),
    }
}

/// Firmware times, and its limits where they apply.
fn firmware(model: &Model) -> FirmwareConfig {
    FirmwareConfig {
        read_ns: model.integer("controller.read_firmware_ns"),
        write_ns: model.integer("controller.write_firmware_ns"),
        trim_ns: model.integer("controller.trim_firmware_ns"),
        flush_ns: model.integer("controller.flush_firmware_ns"),
        pipeline_ns: model.integer("controller.pipeline_ns"),
        write_governor: GovernorConfig {
            commands_per_s: model.small("controller.write_governor_iops"),
            burst_commands: model.small("controller.write_governor_burst"),
        },
    }
}
