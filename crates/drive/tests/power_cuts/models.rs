//! Tiny drives of every family: the random models of the other tests, with flash so small that every operation can be
//! cut and every sector read in microseconds.

use std::sync::Arc;

use drivelab_drive::{Family, Layer, Model, build};
use drivelab_sim::Stream;

use crate::random_models::cached_values;
use crate::random_models::page_map_values;
use crate::random_models::two_passes_values;
use crate::random_models::values::{self, Random, Values};

/// Erase blocks of a tiny drive, about.
const BLOCKS: u64 = 24;
/// Sectors of a tiny disk, at most.
const DISK_SECTORS: u64 = 240;
/// Families that arrays are made of.
const SINGLE: [Family; 5] =
    [Family::PageMap, Family::CompressedMap, Family::SuperblockMap, Family::LogBlockMap, Family::HardDisk];

fn number(values: &Values, key: &str) -> Option<u64> {
    values.iter().find(|(name, _)| name == key)?.1.parse().ok()
}

fn set(values: &mut Values, key: &str, value: u64) {
    match values.iter_mut().find(|(name, _)| name == key) {
        Some(known) => known.1 = value.to_string(),
        None => values.push((key.to_owned(), value.to_string())),
    }
}

/// At most a handful of dies, and some twenty blocks in all; or a few sectors on the platters.
fn shrink(values: &mut Values, random: &mut Random, family: Family) {
    if family == Family::HardDisk {
        set(values, "user_capacity_bytes", 512 * random.between(1, DISK_SECTORS));
        return;
    }
    let planes = number(values, "flash.planes_per_die").unwrap_or(1);
    let lockstep = number(values, "flash.lockstep_channels").unwrap_or(1);
    let channels = number(values, "flash.channel_count").unwrap_or(1) / lockstep;
    let dies = number(values, "flash.dies_per_channel").unwrap_or(1);
    let (channels, dies) = if channels * dies > 4 { (2, 2) } else { (channels, dies) };
    set(values, "flash.channel_count", channels * lockstep);
    set(values, "flash.dies_per_channel", dies);
    let most = (BLOCKS / (channels * dies * planes)).max(4);
    let blocks = number(values, "flash.blocks_per_plane").unwrap_or(1);
    if blocks > 1 {
        set(values, "flash.blocks_per_plane", random.between(4.min(most), most));
    }
}

fn parse(values: &Values) -> Result<Model, drivelab_drive::ModelError> {
    // A sector whose bits are wrong is lost without any cut.
    let of_errors =
        ["bit_errors", "worn_bit_error_rate", "initial_cycles", "endurance_cycles", "read_retries"];
    let is_kept = |key: &str| key.rsplit('.').next().is_none_or(|name| !of_errors.contains(&name));
    let values: Values = values.iter().filter(|(key, _)| is_kept(key)).cloned().collect();
    Model::parse("name = 'tiny'\ntitle = 'Tiny'", "tiny", &values)
}

/// A drive of two dies, with these values beside or in place of its own.
pub fn fixed(family: Family, numbers: &[(&str, u64)], words: &[(&str, &str)]) -> Model {
    let mut values = vec![("family".to_owned(), family.word().to_owned())];
    values.extend(words.iter().map(|&(key, word)| (key.to_owned(), word.to_owned())));
    let own = [
        ("flash.channel_count", 2),
        ("flash.dies_per_channel", 1),
        ("flash.planes_per_die", 1),
        ("flash.blocks_per_plane", 7),
        ("flash.pages_per_block", 4),
        ("flash.page_bytes", 1024),
        ("flash.read_ns", 50_000),
        ("flash.program_ns", 200_000),
        ("flash.erase_ns", 700_000),
        ("flash.bus_bytes_per_s", 40_000_000),
        ("link.bytes_per_s", 200_000_000),
        ("ftl.map_unit_bytes", 1024),
        ("write_buffer.size_bytes", 4096),
        ("user_capacity_bytes", 16 * 1024),
    ];
    for &(key, value) in own.iter().chain(numbers) {
        set(&mut values, key, value);
    }
    match parse(&values) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}

/// The model of a seed: the first of some random ones that makes a drive.
pub fn model(seed: u64, family: Family) -> Option<Model> {
    if family == Family::Raid0 {
        return (0..5).find_map(|attempt| array(seed + (attempt << 32), true));
    }
    (0..20).find_map(|attempt| attempted(seed + (attempt << 32), family))
}

/// An array of one to three random drives, some of which may be arrays.
fn array(seed: u64, nests: bool) -> Option<Model> {
    let random = &mut Random(Stream::new(seed, 3));
    let same = random.chance(0.5).then(|| random.one(&SINGLE));
    let mut members = Vec::new();
    for index in 0..random.between(1, 3) {
        let seed = seed + 7919 * index;
        let is_array = nests && random.chance(0.1);
        let family = same.unwrap_or_else(|| random.one(&SINGLE));
        let member = if is_array { array(seed, false) } else { model(seed, family) };
        members.push(Arc::new(member?));
    }
    let units: Vec<u64> = members.iter().map(|member| trim_unit(member)).collect();
    let unit = units[0];
    // The oracle knows which units a trim frees only where no unit lies on two members.
    let trims = unit > 0 && units.iter().all(|&other| other == unit) && random.chance(0.5);
    let strip = if trims { unit * 512 * random.between(1, 3) } else { 512 * random.between(1, 24) };
    let numbers = [
        ("array.strip_bytes", strip),
        ("array.max_transfer_bytes", 512 * random.between(1, 60)),
        ("array.queue_depth", random.between(1, 20)),
    ];
    let mut values: Vec<_> = numbers.map(|(key, value)| (key.to_owned(), value.to_string())).into();
    values.push(("array.pass_trim".to_owned(), trims.to_string()));
    let names = vec!["\"tiny\""; members.len()].join(", ");
    let text = format!("name = 'array'\ntitle = 'Array'\nfamily = 'raid-0'\nmembers = [{names}]");
    Model::parse_array(&[Layer { text: &text, origin: "array" }], &values, &members).ok()
}

/// Sectors that a trim frees only together; 0: trims have no effect.
fn trim_unit(model: &Model) -> u64 {
    build::build(model, 0).ok().and_then(|drive| drive.trim_unit_sectors()).map_or(0, u64::from)
}

/// The model of a seed whose page map lies in flash.
pub fn demand_loaded(seed: u64, _: Family) -> Option<Model> {
    (0..20).find_map(|attempt| {
        let seed = seed + (attempt << 32);
        let mut values = page_map_values::demand_loaded(seed);
        shrink(&mut values, &mut Random(Stream::new(seed, 7)), Family::PageMap);
        // The map has a few of each die.
        let blocks = number(&values, "flash.blocks_per_plane")?;
        set(&mut values, "flash.blocks_per_plane", blocks + 3);
        parse_with_room(values)
    })
}

/// The model of a seed whose word lines are programmed whole.
pub fn word_lines(seed: u64, _: Family) -> Option<Model> {
    (0..20).find_map(|attempt| {
        let seed = seed + (attempt << 32);
        let mut values = page_map_values::word_lines(seed);
        if values.iter().any(|(_, value)| value == "rewrite-in-place") {
            return None;
        }
        shrink(&mut values, &mut Random(Stream::new(seed, 7)), Family::PageMap);
        parse_with_room(values)
    })
}

/// The model of a seed that cleans in superblocks of two or three blocks, and has parity over dies as often as not.
pub fn superblocks(seed: u64, _: Family) -> Option<Model> {
    (0..20).find_map(|attempt| {
        let seed = seed + (attempt << 32);
        let random = &mut Random(Stream::new(seed, 9));
        let mut values = if random.chance(0.3) {
            page_map_values::word_lines(seed)
        } else {
            values::of_seed(seed, Family::PageMap)
        };
        if values.iter().any(|(_, value)| value == "rewrite-in-place") {
            return None;
        }
        shrink(&mut values, random, Family::PageMap);
        set(&mut values, "flash.blocks_per_plane", random.between(9, 30));
        set(&mut values, "ftl.superblock_blocks", random.between(2, 3));
        set(&mut values, "ftl.parity_stripe_pages", random.one(&[0, 0, 2, 3, 5]));
        parse_with_room(values)
    })
}

/// The model of a seed with an SLC cache, of blocks that are always its own, of others, or of both.
pub fn slc_cache(seed: u64, _: Family) -> Option<Model> {
    (0..20).find_map(|attempt| {
        let seed = seed + (attempt << 32);
        let random = &mut Random(Stream::new(seed, 10));
        let mut values = cached_values::values(seed);
        shrink(&mut values, random, Family::PageMap);
        set(&mut values, "flash.blocks_per_plane", random.between(7, 20));
        let planes = if values.iter().any(|(key, value)| key == "flash.two_plane" && value == "true") {
            number(&values, "flash.planes_per_die")?
        } else {
            1
        };
        let dies = number(&values, "flash.channel_count")? * number(&values, "flash.dies_per_channel")?;
        let block = planes * number(&values, "flash.page_bytes")? * number(&values, "flash.pages_per_block")?;
        // The sizes of a drive as small as it is now.
        let drawn = ["max_bytes", "static_bytes", "reserve_bytes", "refill_bytes", "kept_bytes"];
        values.retain(|(key, _)| !drawn.iter().any(|part| key.strip_prefix("slc_cache.") == Some(part)));
        let static_bytes = random.one(&[0, 0, 1, 2]) * block * dies / 4;
        set(&mut values, "slc_cache.static_bytes", static_bytes);
        let dynamic_bytes = random.one(&[0, block, 4 * block, 40 * block]);
        set(&mut values, "slc_cache.max_bytes", (static_bytes + dynamic_bytes).max(block));
        for key in ["slc_cache.reserve_bytes", "slc_cache.refill_bytes", "slc_cache.kept_bytes"] {
            set(&mut values, key, random.one(&[0, 0, block, 2 * block]));
        }
        parse_with_room(values)
    })
}

/// The model of a seed whose word lines are programmed in two passes, with an SLC cache or without.
pub fn two_passes(seed: u64, _: Family) -> Option<Model> {
    (0..20).find_map(|attempt| {
        let seed = seed + (attempt << 32);
        let random = &mut Random(Stream::new(seed, 12));
        let mut values =
            if random.chance(0.5) { cached_values::values(seed) } else { page_map_values::word_lines(seed) };
        shrink(&mut values, random, Family::PageMap);
        set(&mut values, "flash.blocks_per_plane", random.between(7, 20));
        values.retain(|(key, _)| !key.starts_with("slc_cache.") || key == "slc_cache.when_full");
        let is_cached = values.iter().any(|(key, _)| key == "slc_cache.when_full");
        if is_cached {
            let block = number(&values, "flash.page_bytes")? * number(&values, "flash.pages_per_block")?;
            let planes = number(&values, "flash.planes_per_die").unwrap_or(1);
            set(&mut values, "slc_cache.max_bytes", planes * block * random.one(&[1, 4, 40]));
        }
        // Every cut takes the word lines that are held in open blocks: of forty in a row there is room left.
        let pages = number(&values, "flash.pages_per_block").unwrap_or(1);
        set(&mut values, "flash.pages_per_block", pages.max(random.one(&[6, 8, 12])));
        two_passes_values::add(&mut values, random);
        parse_with_room(values)
    })
}

fn attempted(seed: u64, family: Family) -> Option<Model> {
    let mut values = values::of_seed(seed, family);
    if values.iter().any(|(_, value)| value == "rewrite-in-place") {
        return None;
    }
    shrink(&mut values, &mut Random(Stream::new(seed, 7)), family);
    parse_with_room(values)
}

/// A capacity that is too large is replaced by the largest that the message allows.
fn parse_with_room(mut values: Values) -> Option<Model> {
    match parse(&values) {
        Ok(model) => Some(model),
        Err(error) => {
            let message = error.to_string();
            let (_, limit) = message.split_once("bytes) to ")?;
            let most = limit.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()?;
            set(&mut values, "user_capacity_bytes", most);
            parse(&values).ok()
        }
    }
}
