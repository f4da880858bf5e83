//! Values of drives whose word lines are programmed in two passes.

use super::values::{Random, Values, put};

/// Makes a drive with word lines one of two passes.
pub fn add(values: &mut Values, random: &mut Random) {
    let replaced = [
        "ftl.cleaning_mode",
        "ftl.superblock_blocks",
        "ftl.parity_stripe_pages",
        "ftl.placement",
        "write_buffer.write_back",
    ];
    values.retain(|(key, _)| !replaced.contains(&key.as_str()));
    let held = random.between(1, 3);
    let of = |key: &str| {
        let value = values.iter().find(|(known, _)| known == key);
        value.map_or(1, |(_, value)| value.parse::<u64>().unwrap_or(1))
    };
    let dies = of("flash.channel_count") * of("flash.dies_per_channel");
    let line = of("flash.page_bytes") * of("flash.planes_per_die") * 4;
    let unit = of("ftl.map_unit_bytes");
    // A part of a word line may be a unit that doesn't fill it.
    let program_ns = of("flash.program_ns");
    let least = (held * dies + 1) * line.max(unit) + random.between(0, 1) * random.between(0, 9) * unit;
    for (key, value) in values.iter_mut() {
        if key == "write_buffer.size_bytes" {
            *value = (value.parse::<u64>().unwrap_or(0).max(least)).to_string();
        }
    }
    put(values, "flash.program_passes", 2);
    put(values, "flash.held_word_lines", held);
    put(values, "flash.sends_data_twice", random.chance(0.5));
    if random.chance(0.7) {
        put(values, "flash.coarse_program_ns", random.between(0, 200_000).min(program_ns));
    }
}
