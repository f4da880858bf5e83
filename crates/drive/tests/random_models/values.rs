//! Parameters of random models, family by family. Whatever is left out has its default.

use drivelab_drive::Family;
use drivelab_sim::Stream;

/// Random draws in the words of this test.
pub struct Random(pub Stream);

impl Random {
    /// A whole number from the first to the second.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    /// One of several.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }
}

/// Overrides of a model.
pub type Values = Vec<(String, String)>;

/// What the other parameters must fit.
struct Flash {
    values: Values,
    /// Bytes that one program writes.
    program: u64,
    pages: u64,
    dies: u64,
    raw: u64,
}

#[expect(clippy::needless_pass_by_value, reason = "numbers and words, which calls give as they are")]
pub fn put(values: &mut Values, key: &str, value: impl ToString) {
    values.push((key.to_owned(), value.to_string()));
}

/// What a family asks of an array.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// Nothing.
    Any,
    /// One block in all.
    OneBlock,
    /// All channels work in lockstep.
    Ganged,
    /// Blocks of many pages, and several of them.
    Deep,
}

/// Geometry and times.
fn flash(random: &mut Random, cut: Cut) -> Flash {
    let (in_place, ganged) = (cut == Cut::OneBlock, cut == Cut::Ganged);
    let many = |random: &mut Random, most| if in_place { 1 } else { random.between(1, most) };
    let (groups, dies, planes) = (if ganged { 1 } else { many(random, 3) }, many(random, 3), many(random, 2));
    let lockstep = if ganged || random.chance(0.2) { random.between(1, 3) } else { 1 };
    let blocks = match cut {
        Cut::OneBlock => 1,
        Cut::Deep => random.between(4, 10),
        Cut::Any | Cut::Ganged => random.between(2, 14),
    };
    let page = random.one(&[512u64, 1024, 1536, 4096, 4096, 4096]);
    let pages = if cut == Cut::Deep { random.between(3, 24) } else { random.between(1, 9) };
    let two_plane = random.chance(0.3) || (in_place && lockstep > 1);
    let instant = random.chance(0.1);
    let mut time = |least, most| if instant { 0 } else { random.between(least, most) };
    let mut values = Values::new();
    put(&mut values, "flash.read_ns", time(0, 60_000));
    put(&mut values, "flash.program_ns", time(200_000, 900_000));
    put(&mut values, "flash.erase_ns", time(0, 3_000_000));
    put(&mut values, "flash.command_ns", time(0, 6_000));
    put(&mut values, "controller.decode_ns", time(0, 6_000));
    put(&mut values, "flash.bus_bytes_per_s", time(1_000_000, 400_000_000));
    put(&mut values, "link.bytes_per_s", time(0, 300_000_000));
    put(&mut values, "flash.channel_count", groups * lockstep);
    put(&mut values, "flash.lockstep_channels", lockstep);
    put(&mut values, "flash.dies_per_channel", dies);
    put(&mut values, "flash.planes_per_die", planes);
    put(&mut values, "flash.blocks_per_plane", blocks);
    put(&mut values, "flash.pages_per_block", pages);
    put(&mut values, "flash.page_bytes", page);
    put(&mut values, "flash.oob_bytes", random.between(0, 100));
    put(&mut values, "flash.two_plane", two_plane);
    put(&mut values, "flash.hold_bus_while_reading", random.chance(0.4));
    if random.chance(0.5) && !instant {
        put(&mut values, "flash.program_fast_ns", random.between(0, 300_000));
    }
    Flash {
        values,
        program: page * lockstep * if two_plane { planes } else { 1 },
        pages,
        dies: groups * dies,
        raw: groups * lockstep * dies * planes * blocks * pages * page,
    }
}

/// What all flash drives have beside flash. The buffer holds at least `least_bytes`; the capacity is the last value.
fn controller(random: &mut Random, values: &mut Values, unit: u64, least_bytes: u64, raw: u64) {
    let mut set = |key: &str, value: String| values.push((key.to_owned(), value));
    set("controller.queue_depth", random.between(1, 16).to_string());
    set("controller.read_firmware_ns", (random.between(0, 2) * 5000).to_string());
    set("controller.write_firmware_ns", (random.between(0, 2) * 5000).to_string());
    set("controller.trim_firmware_ns", (random.between(0, 1) * 5000).to_string());
    set("controller.flush_firmware_ns", (random.between(0, 1) * 5000).to_string());
    set("controller.pipeline_ns", (random.between(0, 2) * 9000).to_string());
    set("controller.read_ahead_bytes", (random.between(0, 2) * 50_000).to_string());
    set("controller.read_path_bytes_per_s", (random.between(0, 2) * 60_000_000).to_string());
    if random.chance(0.2) {
        set("controller.write_governor_iops", random.between(200, 20_000).to_string());
        set("controller.write_governor_burst", random.between(0, 50).to_string());
    }
    set("link.frame_overhead_ns", random.between(0, 2000).to_string());
    set("link.command_overhead_ns", random.between(0, 2000).to_string());
    set("power.active_mw", random.between(0, 1000).to_string());
    let spare_bytes = if random.chance(0.4) { 0 } else { random.between(0, 12 * unit) };
    set("write_buffer.size_bytes", (least_bytes + spare_bytes).to_string());
    set("write_buffer.write_back", random.chance(0.6).to_string());
    set("write_buffer.coalesce", random.chance(0.6).to_string());
    set("write_buffer.hold_ns", random.between(0, 3_000_000).to_string());
    set("write_buffer.capacitor", random.chance(0.2).to_string());
    let user = if random.chance(0.4) { raw } else { unit * random.between(1, (raw / unit).max(1)) };
    set("user_capacity_bytes", user.to_string());
}

/// What all drives with a log on each die have.
fn log(random: &mut Random, values: &mut Values) {
    let mut set = |key: &str, value: String| values.push((key.to_owned(), value));
    set("ftl.victim_selection", random.one(drivelab_ftl::VictimSelection::NAMES).to_owned());
    // Of d-choices and windowed-greedy only one is there.
    let count = random.between(1, 5).to_string();
    set("ftl.choices", count.clone());
    set("ftl.window_blocks", count);
    let start = random.between(2, 4);
    set("ftl.cleaning_start_blocks", start.to_string());
    set("ftl.cleaning_stop_blocks", (start + random.between(0, 3)).to_string());
    if random.chance(0.4) {
        set("ftl.idle_cleaning_blocks", random.between(0, 8).to_string());
    }
    set("ftl.wear_spread_limit", random.between(0, 5).to_string());
    if random.chance(0.4) {
        set("ftl.journal_updates_per_page", random.between(1, 20).to_string());
        if random.chance(0.5) {
            set("ftl.checkpoint_updates", random.between(1, 60).to_string());
            set("ftl.checkpoint_bytes", (random.between(1, 3) * 512).to_string());
        }
    }
    let allocations = ["round-robin", "channel-round-robin", "earliest-free"];
    set("controller.program_firmware_ns", (random.between(0, 2) * 3000).to_string());
    set("controller.partial_unit_firmware_ns", (random.between(0, 2) * 4000).to_string());
    set("controller.partial_units_at_once", random.between(0, 2).to_string());
    set("controller.die_allocation", random.one(&allocations).to_owned());
    set("controller.programs_per_channel", random.between(0, 3).to_string());
    set("controller.cleaning_pace", random.one(&["block", "paced", "yielding"]).to_owned());
    set("controller.cleaning_copies_at_once", random.between(1, 5).to_string());
    set("controller.idle_delay_ns", (random.between(0, 3) * 300_000).to_string());
}

fn page_map(random: &mut Random) -> Values {
    let in_place = random.chance(0.12);
    let Flash { mut values, program, raw, .. } =
        flash(random, if in_place { Cut::OneBlock } else { Cut::Any });
    let unit = 512
        * match random.between(0, 4) {
            0 => 1,
            1 => program / 512,
            2 => program / 512 * random.between(1, 4),
            3 => random.between(1, 20),
            _ => 8,
        };
    put(&mut values, "ftl.map_unit_bytes", unit);
    if in_place {
        put(&mut values, "ftl.cleaning_mode", "rewrite-in-place");
    }
    log(random, &mut values);
    controller(random, &mut values, unit, unit * (program / unit).max(1), raw);
    if !in_place && random.chance(0.4) {
        put(&mut values, "ftl.placement", random.one(drivelab_ftl::Placement::NAMES));
        put(&mut values, "ftl.hot_writes", random.between(1, 6));
        put(&mut values, "ftl.hint_streams", random.between(1, 8));
    }
    if !in_place && random.chance(0.3) {
        put(&mut values, "ftl.superblock_blocks", random.between(2, 4));
    }
    if !in_place && random.chance(0.2) {
        put(&mut values, "ftl.parity_stripe_pages", random.between(2, 5));
    }
    if !in_place && random.chance(0.3) {
        put(&mut values, "flash.bit_errors", true);
        put(&mut values, "flash.endurance_cycles", random.between(1, 50));
        put(&mut values, "flash.worn_bit_error_rate", random.one(&["1e-5", "1e-3", "0.01"]));
        put(&mut values, "flash.initial_cycles", random.between(0, 40));
        put(&mut values, "controller.read_retries", random.between(0, 6));
        put(&mut values, "controller.codeword_bytes", 512 * random.between(1, (unit / 512).min(8)));
    }
    values
}

/// A codeword lies in one map unit.
pub fn fit_codewords(values: &mut Values, unit: u64) {
    for (key, value) in values {
        if key == "controller.codeword_bytes" {
            *value = value.parse::<u64>().unwrap_or(512).min(unit).to_string();
        }
    }
}

fn compressed_map(random: &mut Random) -> Values {
    let Flash { mut values, program, pages, dies, raw } = flash(random, Cut::Deep);
    let unit = if random.chance(0.5) { program.min(4096) } else { 512 * random.between(1, program / 512) };
    let finest = unit.div_ceil(127).max(program * pages / 0x7FFF + 1).max(16);
    let granule = (unit / random.between(1, 8)).max(finest);
    put(&mut values, "ftl.map_unit_bytes", unit);
    put(&mut values, "ftl.granule_bytes", granule);
    put(&mut values, "ftl.die_parity", dies > 1 && random.chance(0.4));
    put(&mut values, "ftl.trim_loss_percent", random.one(&[0, 0, 50, 20]));
    if random.chance(0.4) {
        let fetch = random.between(8, program);
        put(&mut values, "ftl.map_fetch_bytes", fetch);
        put(&mut values, "ftl.map_cache_bytes", fetch * random.between(1, 3));
        put(&mut values, "ftl.trims_deferred", random.chance(0.5));
    }
    log(random, &mut values);
    controller(random, &mut values, unit, program.max(unit), raw);
    values
}

fn merging(random: &mut Random, has_log: bool) -> Values {
    let Flash { mut values, program, dies, raw, .. } = flash(random, Cut::Ganged);
    let unit = if random.chance(0.6) {
        program.min(4096)
    } else {
        512 * random.between(1, program.min(32_768) / 512)
    };
    put(&mut values, "ftl.map_unit_bytes", unit);
    let divisors: Vec<u64> = (1..=dies).filter(|&banks| dies.is_multiple_of(banks)).collect();
    put(&mut values, "ftl.interleaved_banks", random.one(&divisors));
    put(&mut values, "ftl.trim_supported", random.chance(0.5));
    if random.chance(0.5) {
        put(&mut values, "ftl.rotation_merges", random.between(0, 20));
        put(&mut values, "ftl.rotation_superblocks", random.between(0, 3));
    }
    if has_log {
        put(&mut values, "ftl.reserve_blocks", random.between(0, 3));
        put(&mut values, "ftl.log_blocks", random.between(0, 3));
    }
    put(&mut values, "controller.partial_unit_firmware_ns", random.between(0, 2) * 4000);
    put(&mut values, "write_buffer.eviction", random.one(&["oldest", "fullest", "random"]));
    put(&mut values, "write_buffer.one_group", random.one(&["true", "false"]));
    controller(random, &mut values, unit, program.max(unit), raw);
    values
}

fn hard_disk(random: &mut Random) -> Values {
    let mut values = Values::new();
    let mut set = |key: &str, value: u64| put(&mut values, key, value);
    let one_track = random.between(0, 400_000);
    let average = one_track + random.between(0, 9_000_000);
    set("disk.rpm", random.between(1000, 60_000));
    set("disk.head_count", random.between(1, 4));
    set("disk.outer_track_bytes", 512 * random.between(1, 60));
    set("disk.zone_count", random.between(1, 5));
    set("disk.zone_ratio_permille", random.between(1000, 3000));
    set("disk.track_to_track_ns", one_track);
    set("disk.average_seek_ns", average);
    set("disk.full_stroke_ns", average * random.between(14, 22) / 10);
    set("disk.head_switch_ns", random.between(0, 800_000));
    set("disk.write_settle_ns", random.between(0, 300_000));
    let segments = random.between(1, 4);
    set("read_cache.segments", segments);
    set("read_cache.size_bytes", 512 * segments * random.between(0, 1) * random.between(2, 90));
    set("write_buffer.size_bytes", (1 << 17) + random.between(0, 200_000));
    set("write_buffer.entries", random.between(1, 12));
    set("controller.deadline_ns", random.between(0, 1) * 20_000_000);
    set("controller.queue_depth", random.between(1, 16));
    set("controller.read_firmware_ns", random.between(0, 1) * 50_000);
    set("controller.write_firmware_ns", random.between(0, 1) * 50_000);
    set("link.bytes_per_s", random.between(0, 3) * 90_000_000);
    set("link.frame_overhead_ns", random.between(0, 2000));
    if random.chance(0.3) {
        set("disk.track_skew_ns", random.between(0, 20_000_000));
        set("disk.cylinder_skew_ns", random.between(0, 20_000_000));
    }
    set("user_capacity_bytes", 512 * random.between(1, 3000));
    put(&mut values, "write_buffer.write_back", random.chance(0.7));
    put(&mut values, "controller.scheduling", random.one(&["shortest-positioning", "first-come"]));
    values
}

/// The values of a seed.
pub fn of_seed(seed: u64, family: Family) -> Values {
    let random = &mut Random(Stream::new(seed, 1));
    let mut values = match family {
        Family::PageMap => page_map(random),
        Family::CompressedMap => compressed_map(random),
        Family::SuperblockMap => merging(random, false),
        Family::LogBlockMap => merging(random, true),
        Family::HardDisk => hard_disk(random),
        Family::Raid0 => unreachable!("arrays are made of members"),
    };
    values.insert(0, ("family".to_owned(), family.word().to_owned()));
    if family != Family::HardDisk {
        // Drawn apart, so that everything else of a seed stays what it was; the capacity is the last value.
        let path = Random(Stream::new(seed, 12)).between(0, 2) * 50_000_000;
        values.insert(1, ("controller.write_path_bytes_per_s".to_owned(), path.to_string()));
    }
    values
}
