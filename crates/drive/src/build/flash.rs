//! What all flash families read from a model: the array, the user capacity, the controller.

use drivelab_controller::{BufferConfig, ControllerConfig, PowerConfig, SchedulingConfig};
use drivelab_nand::{FlashTiming, Geometry, GeometryError, UnitLayout};

use super::{host, word_lines};
use crate::error::ModelError;
use crate::model::Model;

/// The array as the mapping scheme sees it: chips in lockstep count as planes of one die.
pub fn geometry(model: &Model) -> Result<Geometry, ModelError> {
    let channels = model.small("flash.channel_count");
    let lockstep = model.small("flash.lockstep_channels").max(1);
    let planes = model.small("flash.planes_per_die");
    let two_plane = model.flag("flash.two_plane");
    let page_types = word_lines::page_types(model)?;
    if !channels.is_multiple_of(lockstep) {
        let allowed = format!("must divide flash.channel_count = {channels}");
        return Err(model.bad("flash.lockstep_channels", &lockstep.to_string(), &allowed));
    }
    // Chips in lockstep always work together, planes only with two-plane operations.
    let (fused, apart) = if two_plane { (planes * lockstep, 1) } else { (lockstep, planes) };
    let whole = lockstep > 1;
    Ok(Geometry {
        channel_count: channels / lockstep,
        dies_per_channel: model.small("flash.dies_per_channel"),
        planes_per_die: if whole { fused } else { planes },
        blocks_per_plane: model.small("flash.blocks_per_plane") * if whole { apart } else { 1 },
        pages_per_block: model.small("flash.pages_per_block") / page_types,
        page_bytes: model.small("flash.page_bytes") * page_types,
        oob_bytes: model.small("flash.oob_bytes") * page_types,
        two_plane: two_plane || whole,
    })
}

/// Of these [`geometry`] tells the layers below what works together, not what the model says.
const FUSED: [&str; 3] = ["flash.page_bytes", "flash.oob_bytes", "flash.planes_per_die"];

/// An error of the layers below, with the model's origin. Where the user wrote a ratio, it is the ratio that is wrong.
pub fn wrong(model: &Model, error: GeometryError) -> ModelError {
    match model.real("spare_ratio") {
        Some(ratio) if error.key == "user_capacity_bytes" => {
            let allowed = format!("gives {} = {}, which {}", error.key, error.value, error.allowed);
            model.bad("spare_ratio", &ratio.to_string(), &allowed)
        }
        // Pages and planes that work together are one to the layers below.
        _ => match model.optional_integer(error.key).filter(|&given| given != error.value) {
            Some(given) if FUSED.contains(&error.key) => {
                let allowed =
                    format!("makes {} of what works together, which {}", error.value, error.allowed);
                model.bad(error.key, &given.to_string(), &allowed)
            }
            _ => ModelError::Geometry { origin: model.origin().to_owned(), error },
        },
    }
}

/// Map units of `unit_bytes` that the host can address.
pub fn user_units(model: &Model, geometry: &Geometry, unit_bytes: u32) -> Result<u32, ModelError> {
    let raw_bytes = geometry.raw_bytes();
    let user_bytes = match (model.optional_integer("user_capacity_bytes"), model.real("spare_ratio")) {
        (Some(bytes), None) => bytes,
        (None, Some(ratio)) => (raw_bytes as f64 / (1.0 + ratio)) as u64,
        (Some(bytes), Some(_)) => {
            let both = "must be left out where spare_ratio is given";
            return Err(model.bad("user_capacity_bytes", &bytes.to_string(), both));
        }
        (None, None) => {
            return Err(ModelError::Missing {
                origin: model.origin().to_owned(),
                key: "user_capacity_bytes",
                help: "what the host can address (or give spare_ratio)",
            });
        }
    };
    let user_units = user_bytes / u64::from(unit_bytes);
    if user_bytes > raw_bytes {
        return Err(ModelError::TooLittleFlash { origin: model.origin().to_owned(), user_bytes, raw_bytes });
    }
    if user_units == 0 {
        let allowed = format!("must be at least one map unit, {unit_bytes} bytes");
        return Err(wrong(model, GeometryError::new("user_capacity_bytes", user_bytes, allowed)));
    }
    Ok(u32::try_from(user_units).unwrap_or(u32::MAX))
}

/// Everything of the controller but the mapping scheme. `unit_bytes`: the host's map unit.
pub fn controller(
    model: &Model,
    layout: &UnitLayout,
    unit_bytes: u32,
) -> Result<ControllerConfig, ModelError> {
    let average = model.integer("flash.program_ns");
    let fast = model.optional_integer("flash.program_fast_ns").unwrap_or(average);
    let page_bytes = u64::from(layout.units_per_page) * u64::from(layout.unit_bytes);
    let lockstep = model.small("flash.lockstep_channels").max(1);
    let buffer_bytes = model.integer("write_buffer.size_bytes");
    if buffer_bytes < page_bytes {
        let allowed = format!("must hold at least one page, {page_bytes} bytes");
        return Err(model.bad("write_buffer.size_bytes", &buffer_bytes.to_string(), &allowed));
    }
    let Some(slow) = (2 * average).checked_sub(fast) else {
        let allowed = format!("must be at most twice flash.program_ns = {average}");
        return Err(model.bad("flash.program_fast_ns", &fast.to_string(), &allowed));
    };
    Ok(ControllerConfig {
        queue_depth: model.small("controller.queue_depth"),
        submission: host::submission(model)?,
        link: host::link(model),
        firmware: host::firmware(model),
        buffer: BufferConfig {
            units: u32::try_from(buffer_bytes / u64::from(unit_bytes)).unwrap_or(u32::MAX),
            write_back: model.flag("write_buffer.write_back"),
            coalesce: model.flag("write_buffer.coalesce"),
            hold_ns: model.integer("write_buffer.hold_ns"),
            capacitor: model.flag("write_buffer.capacitor"),
            eviction: word_if_any(model, "write_buffer.eviction")?,
            one_group: model.flag("write_buffer.one_group"),
        },
        scheduling: SchedulingConfig {
            die_allocation: word_if_any(model, "controller.die_allocation")?,
            programs_per_channel: model.small("controller.programs_per_channel"),
            cleaning_pace: word_if_any(model, "controller.cleaning_pace")?,
            cleaning_copies_at_once: model.small("controller.cleaning_copies_at_once"),
            in_order: model.flag("controller.in_order"),
            idle_delay_ns: model.integer("controller.idle_delay_ns"),
            program_firmware_ns: model.integer("controller.program_firmware_ns"),
            partial_unit_firmware_ns: model.integer("controller.partial_unit_firmware_ns"),
            partial_units_at_once: model.small("controller.partial_units_at_once"),
            read_path_bytes_per_s: model.integer("controller.read_path_bytes_per_s"),
            write_path_bytes_per_s: model.integer("controller.write_path_bytes_per_s"),
            read_ahead_bytes: model.integer("controller.read_ahead_bytes"),
        },
        timing: FlashTiming {
            read_ns: model.integer("flash.read_ns"),
            program_fast_ns: fast,
            program_slow_ns: slow,
            erase_ns: model.integer("flash.erase_ns"),
            command_ns: model.integer("flash.command_ns"),
            decode_ns: model.integer("controller.decode_ns"),
            bus_bytes_per_s: model.integer("flash.bus_bytes_per_s"),
            lockstep_channels: lockstep,
            hold_bus_while_reading: model.flag("flash.hold_bus_while_reading"),
        },
        word_lines: word_lines::config(model, &layout.geometry)?,
        power: PowerConfig {
            idle_mw: model.small("power.idle_mw"),
            active_mw: model.small("power.active_mw"),
            firmware_mw: model.small("power.firmware_mw"),
            link_mw: model.small("power.link_mw"),
            bus_mw: model.small("power.bus_mw").saturating_mul(lockstep),
            read_mw: model.small("power.read_mw").saturating_mul(lockstep),
            program_mw: model.small("power.program_mw").saturating_mul(lockstep),
            erase_mw: model.small("power.erase_mw").saturating_mul(lockstep),
        },
    })
}

/// A word that only some families have; others use the default.
fn word_if_any<T: serde::de::DeserializeOwned + Default>(model: &Model, key: &str) -> Result<T, ModelError> {
    if model.family().find(key).is_some() { model.word(key) } else { Ok(T::default()) }
}
