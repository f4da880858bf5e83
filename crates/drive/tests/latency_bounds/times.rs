//! What a model's own parameters say that single things take, as plain arithmetic beside the engine's.

use drivelab_drive::{Drive, Model};
use serde_json::Value;

/// Nanoseconds.
pub type Nanos = u64;

/// Elementary times of a flash drive and the counts that bounds are made of.
#[derive(Clone, Debug)]
pub struct Times {
    /// Firmware of a read, a write, a trim, a flush, pipeline included.
    pub firmware: [Nanos; 4],
    /// Processor time of a page that is programmed, and of a unit that is completed.
    pub page_firmware: Nanos,
    pub partial_firmware: Nanos,
    link_bytes_per_s: u64,
    frame_bytes: u64,
    frame_ns: Nanos,
    command_ns: Nanos,
    read_path_bytes_per_s: u64,
    /// A page over its bus.
    pub bus: Nanos,
    /// Sensing a page and moving it.
    pub read: Nanos,
    /// Moving and programming a page or a unit of several pages, slow pages counted.
    pub program: Nanos,
    pub erase: Nanos,
    /// Map units of a page, pages of a unit, units or pages of a block.
    pub units_per_page: u64,
    pub pages_per_block: u64,
    pub dies: u64,
    pub dies_per_channel: u64,
    /// Dies of a channel that may program at once.
    pub tokens: u64,
    /// Sectors of a map unit.
    pub unit_sectors: u64,
    /// Pages (or units of several pages) that the write buffer holds.
    pub buffer_pages: u64,
    pub buffer_units: u64,
    pub copies_at_once: u64,
    pub partial_at_once: u64,
    pub queue_depth: u64,
    /// Dies that fold at once.
    pub fold_dies: u64,
    pub hold: Nanos,
    pub idle_delay: Nanos,
    pub checkpoint_pages: u64,
    /// Map updates of a page of the journal; 0: there is none.
    pub updates_per_page: u64,
    /// Lines that memory holds of a map that lies in flash; 0: it doesn't.
    pub map_lines: u64,
    /// Map updates that one program makes at most: units of a page, compressed as far as they may be.
    pub updates_per_program: u64,
    pub governor_interval: Nanos,
    /// Units that flash holds beside what is held back.
    pub usable_units: u64,
    pub user_units: u64,
    pub rotation: u64,
    pub superblocks: u64,
    /// Units that hold space though they were trimmed: all, of firmware that defers trims or loses some.
    pub unfreed_units: u64,
    /// Reads wait behind writes.
    pub in_order: bool,
}

fn per_second(bytes: u64, rate: u64) -> Nanos {
    if rate == 0 { 0 } else { (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate)) as u64 }
}

fn is_true(model: &Model, key: &str) -> bool {
    model.parameters().any(|(parameter, sourced)| parameter.key == key && sourced.value == Value::Bool(true))
}

/// Whether word lines are programmed whole.
pub fn is_one_shot(model: &Model) -> bool {
    is_true(model, "flash.one_shot")
}

/// Pages of a word line that one program writes on a plane.
fn page_types(model: &Model) -> u64 {
    let cell = model.parameters().find(|(parameter, _)| parameter.key == "flash.cell");
    match cell.and_then(|(_, sourced)| sourced.value.as_str()) {
        _ if !is_one_shot(model) => 1,
        Some("slc") => 1,
        Some("mlc") => 2,
        Some("tlc") => 3,
        _ => 4,
    }
}

fn slowest_read(model: &Model) -> Nanos {
    let keys = ["flash.read_ns", "flash.read_middle_ns", "flash.read_upper_ns", "flash.read_top_ns"];
    keys.iter().filter_map(|key| model.optional_integer(key)).max().unwrap_or(0)
}

impl Times {
    pub fn of(model: &Model) -> Self {
        let number = |key: &str| model.optional_integer(key).unwrap_or(0);
        // Reads keep an operation from running for so much of its time, and one of them more, with what that costs.
        let kept = |key: &str, own: Nanos| {
            let cost = model.optional_integer(key)? + number("flash.resume_ns") + slowest_read(model);
            Some(
                cost + own * number("flash.suspended_max_percent") / 100
                    + number("flash.suspend_slice_ns")
                    + number("flash.finish_within_ns"),
            )
        };
        let kept = |key: &str, own: Nanos| kept(key, own).unwrap_or(0);
        let derived = &Drive::describe(model)["derived"];
        let fact = |key: &str| derived.get(key).and_then(Value::as_u64).unwrap_or(0);
        let lockstep = number("flash.lockstep_channels").max(1);
        let fused =
            fact("block_bytes") / number("flash.pages_per_block").max(1) / number("flash.page_bytes").max(1);
        let page_types = page_types(model);
        let page = number("flash.page_bytes").max(1) * page_types;
        let program_bytes = page * fused;
        let bus_bytes = (page + number("flash.oob_bytes") * page_types) * fused;
        let bus = number("flash.command_ns")
            + number("controller.decode_ns")
            + per_second(bus_bytes.div_ceil(lockstep), number("flash.bus_bytes_per_s"));
        let average = number("flash.program_ns");
        let fast = model.optional_integer("flash.program_fast_ns").unwrap_or(average);
        let unit = number("ftl.map_unit_bytes").max(512);
        let pages_per_unit = unit.div_ceil(program_bytes.max(1));
        let raw = fact("raw_capacity_bytes");
        let dies = fact("die_count") / lockstep;
        let channels = number("flash.channel_count") / lockstep;
        let tokens = number("controller.programs_per_channel");
        let dies_per_channel = dies / channels.max(1);
        let stored = (program_bytes / unit).max(1) * unit;
        let pipeline = number("controller.pipeline_ns");
        let governor = number("controller.write_governor_iops");
        let rotation = number("ftl.rotation_superblocks");
        // At worst pages of all other dies pass before.
        let write_path = per_second(program_bytes, number("controller.write_path_bytes_per_s"));
        let line_bytes = model.optional_integer("ftl.map_fetch_bytes").unwrap_or(program_bytes).max(1);
        Self {
            firmware: ["read", "write", "trim", "flush"]
                .map(|op| number(&format!("controller.{op}_firmware_ns")) + pipeline),
            page_firmware: number("controller.program_firmware_ns"),
            partial_firmware: number("controller.partial_unit_firmware_ns"),
            link_bytes_per_s: number("link.bytes_per_s"),
            frame_bytes: number("link.frame_bytes"),
            frame_ns: number("link.frame_overhead_ns"),
            command_ns: number("link.command_overhead_ns"),
            read_path_bytes_per_s: number("controller.read_path_bytes_per_s"),
            bus,
            read: pages_per_unit * (slowest_read(model) + bus),
            program: pages_per_unit * (bus + dies * write_path + 2 * average - fast)
                + kept("flash.program_suspend_ns", 2 * average - fast),
            erase: number("flash.erase_ns") + kept("flash.erase_suspend_ns", number("flash.erase_ns")),
            units_per_page: (program_bytes / unit).max(1),
            pages_per_block: number("flash.pages_per_block") / page_types / pages_per_unit.max(1),
            dies,
            dies_per_channel,
            tokens: if tokens == 0 { dies_per_channel } else { tokens.min(dies_per_channel) }.max(1),
            unit_sectors: unit / 512,
            buffer_pages: number("write_buffer.size_bytes") / stored,
            buffer_units: number("write_buffer.size_bytes") / unit,
            copies_at_once: number("controller.cleaning_copies_at_once").max(1),
            partial_at_once: number("controller.partial_units_at_once"),
            queue_depth: fact("queue_depth"),
            fold_dies: match number("slc_cache.fold_dies") {
                0 => dies,
                some => some.min(dies),
            },
            hold: number("write_buffer.hold_ns"),
            idle_delay: number("controller.idle_delay_ns"),
            checkpoint_pages: number("ftl.checkpoint_bytes")
                .div_ceil((program_bytes * pages_per_unit).max(1)),
            updates_per_page: match number("ftl.map_cache_bytes") {
                0 => number("ftl.journal_updates_per_page"),
                _ => program_bytes / line_bytes,
            },
            map_lines: number("ftl.map_cache_bytes").max(number("ftl.host_memory_bytes")) / line_bytes,
            updates_per_program: match number("ftl.granule_bytes") {
                0 => (program_bytes / unit).max(1),
                granule => program_bytes / granule,
            },
            governor_interval: 1_000_000_000_u64.checked_div(governor).unwrap_or(0),
            usable_units: (raw - fact("held_back_bytes")) / unit,
            user_units: fact("map_units"),
            rotation,
            unfreed_units: if is_true(model, "ftl.trims_deferred") || number("ftl.trim_loss_percent") > 0 {
                fact("map_units")
            } else {
                0
            },
            in_order: is_true(model, "controller.in_order"),
            superblocks: fact("user_capacity_bytes").div_ceil(fact("block_bytes").max(1)),
        }
    }

    /// A command with so many bytes of data on the link.
    pub fn link(&self, bytes: u64) -> Nanos {
        per_second(bytes, self.link_bytes_per_s)
            + bytes.div_ceil(self.frame_bytes.max(1)) * self.frame_ns
            + self.command_ns
            + per_second(bytes, self.read_path_bytes_per_s)
    }

    /// A page of copies: each unit read from a page of its own, then one program.
    pub fn copy(&self) -> Nanos {
        self.units_per_page * self.read + self.program
    }
}
