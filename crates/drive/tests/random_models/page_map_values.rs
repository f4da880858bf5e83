//! Parameters of random page maps of other kinds: with the map in flash, and with word lines that are programmed whole.

use drivelab_drive::Family;
use drivelab_sim::Stream;

use super::values::{Random, Values, fit_codewords, of_seed, put};

/// The values of a page map's seed, with its map in flash. The draws are of a stream of their own.
pub fn demand_loaded(seed: u64) -> Values {
    let random = &mut Random(Stream::new(seed, 5));
    let mut values = of_seed(seed, Family::PageMap);
    let number = |key: &str| {
        let value = values.iter().find(|(known, _)| known == key);
        value.map_or(0, |(_, value)| value.parse::<u64>().unwrap_or(u64::from(value == "true")))
    };
    let planes = if number("flash.two_plane") > 0 { number("flash.planes_per_die") } else { 1 };
    let program = number("flash.page_bytes") * number("flash.lockstep_channels") * planes;
    let unit = number("ftl.map_unit_bytes").min(program);
    // The map takes blocks of its own.
    let blocks = number("flash.blocks_per_plane") + random.between(2, 8);
    let replaced =
        ["ftl.journal_updates_per_page", "ftl.cleaning_mode", "ftl.map_unit_bytes", "flash.blocks_per_plane"];
    values.retain(|(key, _)| !replaced.contains(&key.as_str()));
    put(&mut values, "ftl.map_unit_bytes", unit);
    fit_codewords(&mut values, unit);
    put(&mut values, "flash.blocks_per_plane", blocks);
    // Short lines make many of them on a small drive.
    let fetch = if random.chance(0.4) { program } else { random.between(4, program.min(100)) };
    if fetch < program || random.chance(0.5) {
        put(&mut values, "ftl.map_fetch_bytes", fetch);
    }
    put(&mut values, "ftl.map_cache_bytes", fetch * random.between(1, 6));
    values
}

/// The values of a page map's seed, with word lines that are programmed whole and reads in front of programs. The draws
/// are of a stream of their own.
pub fn word_lines(seed: u64) -> Values {
    let random = &mut Random(Stream::new(seed, 6));
    let mut values = if random.chance(0.2) { demand_loaded(seed) } else { of_seed(seed, Family::PageMap) };
    let (cell, bits) = random.one(&[("mlc", 2), ("tlc", 3), ("tlc", 3), ("qlc", 4)]);
    // As many word lines as there were pages.
    for (key, value) in &mut values {
        if ["flash.pages_per_block", "write_buffer.size_bytes"].contains(&key.as_str()) {
            *value = (value.parse::<u64>().unwrap_or(1) * bits).to_string();
        }
    }
    let replaced = [
        "controller.cleaning_copies_at_once",
        "flash.hold_bus_while_reading",
        "flash.program_fast_ns",
        "flash.lockstep_channels",
    ];
    values.retain(|(key, _)| !replaced.contains(&key.as_str()));
    put(&mut values, "flash.cell", cell);
    put(&mut values, "flash.one_shot", true);
    let of_page = ["flash.read_middle_ns", "flash.read_upper_ns", "flash.read_top_ns"];
    for key in &of_page[..bits as usize - 1] {
        if random.chance(0.7) {
            put(&mut values, key, random.between(0, 90_000));
        }
    }
    let of = |key: &str| values.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
    let is_fused = of("flash.two_plane") == Some("true");
    let planes = of("flash.planes_per_die").filter(|_| is_fused).map_or(1, |text| text.parse().unwrap_or(1));
    put(&mut values, "flash.planes_per_read", random.between(1, planes));
    put(&mut values, "flash.independent_planes", random.chance(0.5));
    for (key, most) in [("flash.program_suspend_ns", 100_000), ("flash.erase_suspend_ns", 300_000)] {
        if random.chance(0.7) {
            put(&mut values, key, random.between(0, most));
        }
    }
    put(&mut values, "flash.resume_ns", random.between(0, 1) * random.between(0, 30_000));
    put(&mut values, "flash.suspend_slice_ns", random.between(0, 1) * random.between(0, 200_000));
    put(&mut values, "flash.finish_within_ns", random.between(0, 1) * random.between(0, 400_000));
    put(&mut values, "flash.suspends_max", random.between(0, 4));
    put(&mut values, "flash.suspended_max_percent", random.between(1, 300));
    if random.chance(0.3) {
        values.retain(|(key, _)| key != "controller.cleaning_pace");
        put(&mut values, "controller.cleaning_pace", "level");
    }
    put(&mut values, "controller.in_order", random.chance(0.5));
    put(&mut values, "link.full_duplex", random.chance(0.5));
    put(&mut values, "controller.firmware_cores", random.between(1, 3));
    put(&mut values, "nvme.fetch_ns", random.between(0, 1) * 900);
    if !values.iter().any(|(key, _)| key == "controller.write_governor_iops") && random.chance(0.5) {
        put(&mut values, "controller.write_credit_ns", random.between(1, 10_000_000));
    }
    let room = values.iter().find(|(key, _)| key == "controller.queue_depth");
    if room.is_some_and(|(_, depth)| depth != "1") {
        put(&mut values, "nvme.queue_count", random.between(1, 4));
        put(&mut values, "nvme.queue_entries", random.between(2, 40));
        put(&mut values, "nvme.arbitration_burst", random.between(0, 3));
        let arbitration = if random.chance(0.5) { "round-robin" } else { "weighted-round-robin" };
        put(&mut values, "nvme.arbitration", arbitration);
    }
    values
}
