//! Parameters of random drives with an SLC cache.

use drivelab_sim::Stream;

use super::page_map_values::word_lines;
use super::values::{Random, Values, fit_codewords, put};

/// The values of a seed with word lines, and with a cache of them. The draws are of a stream of their own.
pub fn values(seed: u64) -> Values {
    let random = &mut Random(Stream::new(seed, 7));
    let mut values = word_lines(seed);
    let of = |key: &str| {
        let value = values.iter().find(|(known, _)| known == key);
        value.map_or(1, |(_, value)| value.parse::<u64>().unwrap_or(u64::from(value == "true")))
    };
    let planes = if of("flash.two_plane") > 0 { of("flash.planes_per_die") } else { 1 };
    let page = of("flash.page_bytes") * planes;
    let parts: Vec<u64> = (1..=page / 512).filter(|&parts| page.is_multiple_of(512 * parts)).collect();
    let unit = page / random.one(&parts);
    let blocks = of("flash.blocks_per_plane") + random.between(3, 12);
    let buffer = of("write_buffer.size_bytes") + 4 * page;
    let block = page * of("flash.pages_per_block");
    let dies = of("flash.channel_count") * of("flash.dies_per_channel");
    let raw = blocks * block * dies;
    let cell = values.iter().find(|(key, _)| key == "flash.cell");
    let bits = cell.and_then(|(_, word)| ["slc", "mlc", "tlc", "qlc"].iter().position(|known| known == word));
    let bits = bits.map_or(1, |place| place as u64 + 1);
    let replaced = [
        "ftl.map_unit_bytes",
        "ftl.placement",
        "ftl.cleaning_mode",
        "flash.blocks_per_plane",
        "write_buffer.size_bytes",
        "user_capacity_bytes",
    ];
    values.retain(|(key, _)| !replaced.contains(&key.as_str()));
    put(&mut values, "ftl.map_unit_bytes", unit);
    fit_codewords(&mut values, unit);
    put(&mut values, "flash.blocks_per_plane", blocks);
    put(&mut values, "write_buffer.size_bytes", buffer);
    put(&mut values, "flash.slc_read_ns", random.between(0, 40_000));
    put(&mut values, "flash.slc_program_ns", random.between(1, 200_000));
    if random.chance(0.5) {
        put(&mut values, "flash.slc_erase_ns", random.between(0, 2_000_000));
    }
    // With one bit a cell; a part that is there is a block at least, a static one of each die.
    let cached_block = block / bits;
    let max = random.between(1, raw).max(cached_block);
    put(&mut values, "slc_cache.max_bytes", max);
    if random.chance(0.5) {
        let own = random.between(0, max.min(raw / 12));
        put(&mut values, "slc_cache.static_bytes", if own < cached_block * dies { 0 } else { own });
    }
    if random.chance(0.4) {
        let whole = random.0.unit();
        put(&mut values, "slc_cache.whole_until_fill", whole);
        put(&mut values, "slc_cache.gone_from_fill", whole + (1.0 - whole) * random.0.unit());
    }
    for key in ["slc_cache.reserve_bytes", "slc_cache.refill_bytes", "slc_cache.kept_bytes"] {
        if random.chance(0.3) {
            put(&mut values, key, random.between(0, raw / 8));
        }
    }
    put(&mut values, "slc_cache.when_full", random.one(&["native", "wait", "refill"]));
    put(&mut values, "slc_cache.fold_dies", random.between(0, 3));
    let user = if random.chance(0.4) { raw } else { random.between(unit, raw) };
    put(&mut values, "user_capacity_bytes", user);
    values
}
