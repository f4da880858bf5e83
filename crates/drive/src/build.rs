//! From a model's parameters to a working drive.

use drivelab_controller::{
    BufferConfig, CleaningPace, ControllerConfig, DieAllocation, FirmwareConfig, LinkConfig, PowerConfig,
    SchedulingConfig, SolidStateDrive,
};
use drivelab_ftl::{CleaningMode, FtlConfig, VictimSelection};
use drivelab_nand::{FlashTiming, Geometry, UnitLayout};

use crate::error::ModelError;
use crate::model::Model;

/// Everything that a flash drive is built from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Units over pages.
    pub layout: UnitLayout,
    /// FTL.
    pub ftl: FtlConfig,
    /// Controller.
    pub controller: ControllerConfig,
}

/// Reads a whole plan from a model.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn plan(model: &Model, seed: u64) -> Result<Plan, ModelError> {
    let small = |key: &str| u32::try_from(model.integer(key)).unwrap_or(u32::MAX);
    let geometry = Geometry {
        channel_count: small("flash.channel_count"),
        dies_per_channel: small("flash.dies_per_channel"),
        planes_per_die: small("flash.planes_per_die"),
        blocks_per_plane: small("flash.blocks_per_plane"),
        pages_per_block: small("flash.pages_per_block"),
        page_bytes: small("flash.page_bytes"),
        oob_bytes: small("flash.oob_bytes"),
        two_plane: model.flag("flash.two_plane"),
    };
    let wrong = |error| ModelError::Geometry { origin: model.origin().to_owned(), error };
    let layout = UnitLayout::new(geometry, small("ftl.map_unit_bytes")).map_err(wrong)?;
    let user_bytes = user_capacity_bytes(model, &layout);
    let user_units = user_bytes / u64::from(layout.unit_bytes);
    if user_bytes > geometry.raw_bytes() {
        let allowed = format!("must be at most the raw capacity, {} bytes", geometry.raw_bytes());
        return Err(model.bad("user_capacity_bytes", &user_bytes.to_string(), &allowed));
    }
    if user_units == 0 {
        let allowed = format!("must be at least one map unit, {} bytes", layout.unit_bytes);
        return Err(model.bad("user_capacity_bytes", &user_bytes.to_string(), &allowed));
    }
    let ftl = FtlConfig {
        user_units: u32::try_from(user_units).unwrap_or(u32::MAX),
        victim_selection: victim_selection(model.text("ftl.victim_selection")),
        choices: small("ftl.choices"),
        cleaning_mode: match model.text("ftl.cleaning_mode") {
            "rewrite-in-place" => CleaningMode::RewriteInPlace,
            _ => CleaningMode::Relocate,
        },
        cleaning_start_blocks: small("ftl.cleaning_start_blocks"),
        cleaning_stop_blocks: small("ftl.cleaning_stop_blocks"),
        idle_cleaning_blocks: small("ftl.idle_cleaning_blocks"),
        wear_spread_limit: small("ftl.wear_spread_limit"),
        journal_updates_per_page: small("ftl.journal_updates_per_page"),
        checkpoint_updates: small("ftl.checkpoint_updates"),
        checkpoint_pages: checkpoint_pages(model, &layout)?,
        seed,
    };
    Ok(Plan { layout, ftl, controller: controller(model, &layout)? })
}

/// Builds the drive.
///
/// # Errors
/// [`ModelError`] for values that make no drive together.
pub fn build(model: &Model, seed: u64) -> Result<SolidStateDrive, ModelError> {
    let plan = plan(model, seed)?;
    SolidStateDrive::new(plan.layout, plan.ftl, plan.controller).map_err(|error| {
        match model.real("spare_ratio") {
            // The user wrote a ratio; the capacity that it gives is what does not fit.
            Some(ratio) if error.key == "user_capacity_bytes" => {
                let allowed = format!("gives {} = {}, which {}", error.key, error.value, error.allowed);
                model.bad("spare_ratio", &ratio.to_string(), &allowed)
            }
            _ => ModelError::Geometry { origin: model.origin().to_owned(), error },
        }
    })
}

fn user_capacity_bytes(model: &Model, layout: &UnitLayout) -> u64 {
    model.optional_integer("user_capacity_bytes").unwrap_or_else(|| {
        let ratio = model.real("spare_ratio").unwrap_or(0.0);
        (layout.geometry.raw_bytes() as f64 / (1.0 + ratio)) as u64
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

fn victim_selection(word: &str) -> VictimSelection {
    match word {
        "fifo" => VictimSelection::Fifo,
        "cost-benefit" => VictimSelection::CostBenefit,
        "random" => VictimSelection::Random,
        "d-choices" => VictimSelection::DChoices,
        _ => VictimSelection::Greedy,
    }
}

fn controller(model: &Model, layout: &UnitLayout) -> Result<ControllerConfig, ModelError> {
    let small = |key: &str| u32::try_from(model.integer(key)).unwrap_or(u32::MAX);
    let average = model.integer("flash.program_ns");
    let fast = model.optional_integer("flash.program_fast_ns").unwrap_or(average);
    let page_bytes = u64::from(layout.units_per_page) * u64::from(layout.unit_bytes);
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
        queue_depth: small("controller.queue_depth"),
        link: LinkConfig {
            bytes_per_s: model.integer("link.bytes_per_s"),
            frame_bytes: small("link.frame_bytes"),
            frame_overhead_ns: model.integer("link.frame_overhead_ns"),
            command_overhead_ns: model.integer("link.command_overhead_ns"),
        },
        firmware: FirmwareConfig {
            read_ns: model.integer("controller.read_firmware_ns"),
            write_ns: model.integer("controller.write_firmware_ns"),
            trim_ns: model.integer("controller.trim_firmware_ns"),
            flush_ns: model.integer("controller.flush_firmware_ns"),
        },
        buffer: BufferConfig {
            units: u32::try_from(model.integer("write_buffer.size_bytes") / u64::from(layout.unit_bytes))
                .unwrap_or(u32::MAX),
            write_back: model.flag("write_buffer.write_back"),
            coalesce: model.flag("write_buffer.coalesce"),
            hold_ns: model.integer("write_buffer.hold_ns"),
            capacitor: model.flag("write_buffer.capacitor"),
        },
        scheduling: SchedulingConfig {
            die_allocation: match model.text("controller.die_allocation") {
                "round-robin" => DieAllocation::RoundRobin,
                "channel-round-robin" => DieAllocation::ChannelRoundRobin,
                _ => DieAllocation::EarliestFree,
            },
            programs_per_channel: small("controller.programs_per_channel"),
            cleaning_pace: match model.text("controller.cleaning_pace") {
                "block" => CleaningPace::Block,
                _ => CleaningPace::Paced,
            },
            idle_delay_ns: model.integer("controller.idle_delay_ns"),
        },
        timing: FlashTiming {
            read_ns: model.integer("flash.read_ns"),
            program_fast_ns: fast,
            program_slow_ns: slow,
            erase_ns: model.integer("flash.erase_ns"),
            command_ns: model.integer("flash.command_ns"),
            bus_bytes_per_s: model.integer("flash.bus_bytes_per_s"),
            hold_bus_while_reading: model.flag("flash.hold_bus_while_reading"),
        },
        power: PowerConfig {
            idle_mw: small("power.idle_mw"),
            firmware_mw: small("power.firmware_mw"),
            link_mw: small("power.link_mw"),
            bus_mw: small("power.bus_mw"),
            read_mw: small("power.read_mw"),
            program_mw: small("power.program_mw"),
            erase_mw: small("power.erase_mw"),
        },
    })
}
