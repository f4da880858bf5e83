//! How late a drive may be, and that it never stands still: every shipped model in every state, after every kind of
//! command, looked at after every event.
//!
//! `bounds.rs` has the formulas, `times.rs` what a model says that single things take, `host.rs` the promises that are
//! kept at every step, `probes.rs` what a host does, `states.rs` a drive's life. Drives are small versions of themselves
//! (`scale_divisor`); `DRIVELAB_FULL_SIZE=1` takes them at full size.

mod bounds;
mod host;
mod probes;
mod sabotage;
mod states;
mod times;

use std::sync::Arc;

use drivelab_drive::{Drive, Family, Model};

use crate::shipped;
use host::Contents;
use states::Life;

/// Blocks that a die of a small version has beside those held back.
const BLOCKS: u64 = 14;

/// Pages of a block of a small version whose word lines are programmed whole.
const SHORT_PAGES: u64 = 24;

/// Write buffer of a small version with a compressed map, at most: all of it is looked through after every event.
const BUFFER_BYTES: u64 = 1 << 20;

/// Sizes of an SLC cache, the whole of it first.
const SLC_SIZES: [&str; 5] = [
    "slc_cache.max_bytes",
    "slc_cache.static_bytes",
    "slc_cache.reserve_bytes",
    "slc_cache.refill_bytes",
    "slc_cache.kept_bytes",
];

/// Random writes that age a drive.
const SCATTERED: u32 = 6_000;

fn at_full_size() -> bool {
    std::env::var_os("DRIVELAB_FULL_SIZE").is_some()
}

/// A model at full size, if that is asked for, or a version that is as small as it may be.
fn version(name: &str, changes: &[(&str, &str)]) -> Model {
    if at_full_size() { shipped::varied(name, changes).unwrap() } else { small(name, changes) }
}

fn small(name: &str, changes: &[(&str, &str)]) -> Model {
    let full = shipped::varied(name, changes).unwrap();
    let single = full.members().first().map_or(&full, |member| member.as_ref());
    if single.family() == Family::HardDisk {
        return full;
    }
    if times::is_one_shot(single) {
        return small_word_lines(name, single, changes);
    }
    let blocks = Drive::describe(single)["derived"]["blocks_per_die"].as_u64().unwrap_or(BLOCKS);
    let divisor = (blocks / BLOCKS).max(1).to_string();
    let buffer = match single.family() {
        Family::CompressedMap => single.optional_integer("write_buffer.size_bytes"),
        _ => None,
    };
    let buffer = buffer.map(|bytes| bytes.min(BUFFER_BYTES).to_string());
    let mut own = vec![("scale_divisor", divisor.as_str())];
    if let Some(bytes) = &buffer {
        own.push(("write_buffer.size_bytes", bytes));
    }
    shipped::varied(name, &[&own, changes].concat()).unwrap()
}

/// Blocks of word lines are so large that fewer of them are not enough: they have fewer pages, too, and the buffer and the
/// queue, which are looked through after every event, are smaller.
fn small_word_lines(name: &str, full: &Model, changes: &[(&str, &str)]) -> Model {
    let derived = &Drive::describe(full)["derived"];
    let fact = |key: &str| derived[key].as_u64().unwrap_or(0);
    let pages = full.optional_integer("flash.pages_per_block").unwrap_or(0);
    let kept = fact("blocks_per_die") - fact("held_back_bytes") / fact("block_bytes") / fact("die_count");
    let (short, divisor) = (pages / SHORT_PAGES, (kept / BLOCKS).max(1));
    // Short blocks can't be emptied of less than a word line, which is much of them: client drives, with little spare area,
    // are left some more.
    let has_cache = full.optional_integer(SLC_SIZES[0]).is_some_and(|bytes| bytes > 0);
    let has_little_spare = 100 * fact("raw_capacity_bytes") < 112 * fact("user_capacity_bytes");
    let room = if has_cache || has_little_spare { 80 } else { 100 };
    let user = (fact("user_capacity_bytes") * room / 100 / short / 32_768 * 32_768).to_string();
    let sizes =
        SLC_SIZES.map(|key| full.optional_integer(key).unwrap_or(0) / short).map(|bytes| bytes.to_string());
    let sizes: Vec<_> =
        SLC_SIZES.into_iter().zip(sizes.iter().map(String::as_str)).filter(|_| has_cache).collect();
    let own = [
        ("flash.pages_per_block", &*SHORT_PAGES.to_string()),
        ("user_capacity_bytes", &*user),
        ("write_buffer.size_bytes", "4194304"),
        ("controller.queue_depth", "64"),
        ("scale_divisor", &*divisor.to_string()),
    ];
    shipped::varied(name, &[&own, &*sizes, changes].concat()).unwrap()
}

fn live_as(name: &str, model: Model, contents: Contents) -> Result<(), String> {
    let mut life = Life::new(Drive::new(Arc::new(model), 1).unwrap(), at_full_size());
    life.contents = contents;
    let scattered = if at_full_size() { life.user_units() / 8 } else { u64::from(SCATTERED) };
    let outcome = life.live(scattered as u32);
    if std::env::var_os("DRIVELAB_TRACE").is_some() {
        for worst in &life.worst {
            let (seen, limits) = (worst.seen, &worst.limits);
            println!(
                "{name:30} {:22} {:14} read {:9} of {:9} us, other {:9} of {:9} us, metadata {:4} of {:4}, owed {:5}",
                worst.state,
                worst.probe,
                seen.longest_read_ns / 1000,
                limits.read_ns / 1000,
                seen.longest_other_ns / 1000,
                limits.other_ns / 1000,
                seen.metadata_pages,
                limits.metadata_pages,
                seen.owed_copies,
            );
        }
    }
    outcome
}

/// Runs models of a family, those that are chosen.
fn family(family: Family, chosen: impl Fn(&str) -> bool) {
    family_writing(Contents::Random, family, chosen);
}

/// The same, whose host writes this.
fn family_writing(contents: Contents, family: Family, chosen: impl Fn(&str) -> bool) {
    let only = std::env::var("MODEL").ok();
    let mut broken = Vec::new();
    for (name, _) in shipped::models() {
        let is_meant = only.as_ref().map_or_else(|| chosen(&name), |only| *only == name);
        if name == "hypothetical" || shipped::shipped(&name).family() != family || !is_meant {
            continue;
        }
        if let Err(error) = live_as(&name, version(&name, &[]), contents) {
            broken.push(format!("{name}: {error}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn page_maps() {
    family(Family::PageMap, |name| !name.starts_with("ocz-") && !name.starts_with("corsair-nova"));
}

#[test]
fn coarse_page_maps() {
    family(Family::PageMap, |name| name.starts_with("ocz-") || name.starts_with("corsair-nova"));
}

/// Drives that keep their map in flash: a tenth of it in memory, next to nothing, and lines shorter than a page.
#[test]
fn maps_in_flash() {
    let no_journal = ["ftl.journal_updates_per_page", "ftl.checkpoint_updates", "ftl.checkpoint_bytes"]
        .map(|key| (key, "0"));
    let drives: [(&str, &[(&str, &str)]); 3] = [
        ("intel-x25-v-40gb", &[("ftl.map_cache_bytes", "8388608")]),
        ("intel-x25-e-32gb", &[("ftl.map_cache_bytes", "4096")]),
        ("crucial-m4-256gb", &[("ftl.map_cache_bytes", "1048576"), ("ftl.map_fetch_bytes", "512")]),
    ];
    for (name, changes) in drives {
        let model = version(name, &[&no_journal, changes].concat());
        live_as(name, model, Contents::Random).unwrap();
    }
}

/// The Force GS, with its firmwares a third of them: apart, so that both tests run side by side.
#[test]
fn compressed_maps_of_the_force_gs() {
    family(Family::CompressedMap, |name| name.starts_with("corsair-force-gs"));
}

#[test]
fn compressed_maps() {
    family(Family::CompressedMap, |name| !name.starts_with("corsair-force-gs"));
}

/// What compresses and what is there already: the SF-1200 and three firmwares of the SF-2281 at least.
#[test]
fn compressed_maps_of_mixed_data() {
    let few = ["corsair-force-f100-100gb", "corsair-force-gs-240gb"];
    family_writing(Contents::Mixed, Family::CompressedMap, |name| {
        at_full_size() || few.iter().any(|of| name.starts_with(of))
    });
}

#[test]
fn superblock_maps() {
    family(Family::SuperblockMap, |_| true);
}

#[test]
fn log_block_maps() {
    family(Family::LogBlockMap, |_| true);
}

#[test]
fn hard_disks() {
    family(Family::HardDisk, |_| true);
}

#[test]
fn arrays() {
    family(Family::Raid0, |_| true);
}
