//! Small versions of drives (`scale_divisor`) against larger ones: the same effective spare area, write amplification,
//! latencies and rates.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::{Drive, Family, Model};
use drivelab_sim::Stream;

fn scaled(name: &str, divisor: u32) -> Model {
    shipped::varied(name, &[("scale_divisor", &divisor.to_string())]).unwrap()
}

/// A drive or two of each family that has blocks.
const FAMILIES: &[&str] = &[
    "intel-x25-m-g1-80gb",
    "crucial-m4-256gb",
    "ocz-vertex-120gb",
    "corsair-force-f100-100gb",
    "corsair-force-gs-240gb@5.0.2",
    "jmicron-jmf602b-64gb",
    "ocz-summit-128gb",
    "ocz-vertex-120gb@pre-release",
    "intel-x25-v-40gb-raid0-x2",
];

/// Whether drives are compared with full size: minutes.
fn at_full_size() -> bool {
    std::env::var_os("DRIVELAB_FULL_SIZE").is_some()
}

fn derived(model: &Model, key: &str) -> f64 {
    Drive::describe(model)["derived"][key].as_f64().unwrap()
}

/// Hands a drive commands, so many at once, until `count` are done.
fn run(
    drive: &mut Drive,
    depth: u32,
    count: u64,
    mut next: impl FnMut(u64) -> (Op, u64, u32),
) -> Vec<Completion> {
    let depth = depth.min(drive.queue_depth());
    let mut done = Vec::new();
    for number in 0..count {
        while done.len() as u64 + u64::from(depth) <= number {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        let (op, lba, sectors) = next(number);
        let now = drive.now_ns();
        drive.submit(now, Command::new(number as u32, op, lba, sectors)).unwrap();
    }
    while (done.len() as u64) < count {
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    done
}

fn fill(drive: &mut Drive) {
    let sectors = drive.capacity_sectors();
    let pieces = sectors / 256;
    run(drive, 8, pieces, |number| (Op::Write, number * 256, 256));
    let rest = (sectors % 256) as u32;
    if rest > 0 {
        run(drive, 1, 1, |_| (Op::Write, sectors - u64::from(rest), rest));
    }
}

struct Steady {
    write_amplification: f64,
    iops: f64,
}

/// 4 KiB writes all over a full drive, measured when they have written it `before` times.
fn steady(drive: &mut Drive, before: f64, measured: f64) -> Steady {
    let unit = 8;
    let units = drive.capacity_sectors() / unit;
    let mut random = Stream::new(7, 1);
    let mut writes = |drive: &mut Drive, rounds: f64| {
        let count = (units as f64 * rounds) as u64;
        // What is not kept needs no memory.
        let mut left = count;
        while left > 0 {
            let part = left.min(1 << 16);
            run(drive, 32, part, |_| (Op::Write, random.below(units) * unit, unit as u32));
            left -= part;
        }
        count
    };
    writes(drive, before);
    let programmed = |drive: &Drive| {
        let counters = drive.counters();
        ["host", "cleaning", "wear", "map", "parity"]
            .iter()
            .map(|purpose| counters[format!("program_bytes_{purpose}")].as_u64().unwrap())
            .sum::<u64>()
    };
    let (bytes, start) = (programmed(drive), drive.now_ns());
    let count = writes(drive, measured);
    Steady {
        write_amplification: (programmed(drive) - bytes) as f64 / (count * unit * 512) as f64,
        iops: count as f64 / ((drive.now_ns() - start) as f64 / 1e9),
    }
}

/// By how many per cent write amplification and rate may differ.
type Limits = (f64, f64);

/// A drive full of data, small and large: 4 KiB writes all over it cost as many programs and run as fast, within limits for a
/// larger version and for full size. What is more than 5 % of full size off the small version says itself.
fn compare(name: &str, small: u32, (large, of_large): (u32, Limits), of_full: Limits) {
    let (large, (amplification, rate)) = if at_full_size() { (1, of_full) } else { (large, of_large) };
    let [found, expected] = [small, large].map(|divisor| {
        let mut drive = Drive::new(Arc::new(scaled(name, divisor)), 1).unwrap();
        fill(&mut drive);
        steady(&mut drive, 1.5, 0.5)
    });
    let percent = |found: f64, expected: f64| 100.0 * (found / expected - 1.0);
    let deviation = percent(found.write_amplification, expected.write_amplification);
    let slower = percent(found.iops, expected.iops);
    println!(
        "{name}: 1/{large}: write amplification {:.3}, {:.0} IOPS; 1/{small}: {deviation:+.1} %, {slower:+.1} %",
        expected.write_amplification, expected.iops
    );
    assert!(deviation.abs() <= amplification, "{name}: write amplification differs by {deviation:.1} %");
    assert!(slower.abs() <= rate, "{name}: IOPS differ by {slower:.1} %");
    let is_near = deviation.abs().max(slower.abs()) <= 5.0;
    assert!(is_near || !scaled(name, small).scale_remarks().is_empty(), "{name} doesn't say so");
}

#[test]
fn a_small_page_map_costs_what_a_large_one_costs() {
    // Rates of small versions go by chance, of seed and size.
    compare("intel-x25-e-32gb", 128, (32, (5.0, 5.0)), (5.0, 11.0));
    // Spare area of 7 %: chance makes dies differ, and they take turns.
    compare("intel-x25-v-40gb", 64, (32, (5.0, 11.0)), (5.0, 11.0));
}

/// Cleaning that stops as soon as it may holds back half a block a die less than one that goes on for one more.
#[test]
fn a_small_drive_whose_cleaning_stops_where_it_starts_costs_what_a_large_one_costs() {
    compare("skhynix-pe8110-960gb", 96, (48, (6.0, 6.0)), (6.0, 6.0));
}

#[test]
fn a_small_coarse_map_costs_what_a_large_one_costs() {
    compare("ocz-agility-120gb", 64, (48, (5.0, 11.0)), (7.0, 11.0));
}

#[test]
fn a_small_compressed_map_costs_what_a_large_one_costs() {
    // At full size the map nearly fills its own blocks, and is copied often.
    compare("corsair-force-f100-100gb", 256, (128, (5.0, 5.0)), (11.0, 18.0));
}

/// Groups of a few superblocks are no sample of those of a thousand.
#[test]
fn a_small_log_block_map_says_that_it_differs() {
    let small = scaled("samsung-slc-64gb", 64);
    assert!(small.scale_remarks().iter().any(|remark| remark.contains("may differ by a third")));
}

/// The blocks that a die holds back are a fifth of a version of 1/64, and none of them are needed while it is filled.
#[test]
fn a_small_slc_cache_says_that_more_flash_lies_beside_it() {
    let told = |divisor| {
        let small = scaled("crucial-t500-2tb", divisor);
        small
            .scale_remarks()
            .iter()
            .any(|remark| remark.contains("writes behind a full SLC cache are faster"))
    };
    assert!(told(64));
    assert!(!told(4));
}

/// What is left out of the arithmetic is what `--set flash.blocks_per_plane` gets wrong.
#[test]
fn fewer_blocks_alone_are_another_drive() {
    let name = "intel-x25-v-40gb";
    let cut = shipped::varied(name, &[("flash.blocks_per_plane", "32"), ("spare_ratio", "0.12")]).unwrap();
    let full = shipped::varied(name, &[("spare_ratio", "0.12")]).unwrap();
    let ratio = |model: &Model| derived(model, "effective_spare_ratio");
    assert!(ratio(&cut) < 0.5 * ratio(&full), "{} of {}", ratio(&cut), ratio(&full));
    let small = shipped::varied(name, &[("spare_ratio", "0.12"), ("scale_divisor", "64")]).unwrap();
    assert!((ratio(&small) / ratio(&full) - 1.0).abs() < 0.01);
}

#[test]
fn every_family_keeps_its_effective_spare_area_or_says_so() {
    for name in FAMILIES {
        let full = shipped::shipped(name);
        let small = scaled(name, 64);
        let share = derived(&small, "user_capacity_bytes") / derived(&full, "user_capacity_bytes");
        assert!((0.9 / 64.0..1.1 / 64.0).contains(&share), "{name}: {share}");
        let [before, after] = [&full, &small].map(|model| derived(model, "effective_spare_ratio"));
        let differs = (after - before).abs() > 0.05 * before && (after - before).abs() > 0.001;
        let uses_spare_area = full.family() != Family::SuperblockMap;
        let told = small.scale_remarks().iter().any(|remark| remark.contains("effective spare area"));
        assert_eq!(told, differs && uses_spare_area, "{name}: {before} -> {after}");
        assert_ne!(full.hash(), small.hash());
    }
}

/// Tests within 8 GiB hit the memory of the SN770 for its map, and miss that of its small version.
#[test]
fn memory_for_the_map_that_covers_less_says_so() {
    for (name, told) in [("wd-black-sn770-1tb", true), ("samsung-980-pro-1tb", false)] {
        let remarks = scaled(name, 64).scale_remarks().to_vec();
        let found = remarks.iter().find(|remark| remark.contains("memory for the map covers"));
        assert_eq!(found.is_some(), told, "{name}: {remarks:?}");
    }
    assert!(!scaled("wd-black-sn770-1tb", 1).scale_remarks().iter().any(|remark| remark.contains("memory")));
}

/// A map of hundreds of thousands of lines nearly fills the whole blocks that are kept for it, and is copied often; the few
/// lines of a small version fill a corner of one block.
#[test]
fn a_map_in_flash_that_is_cleaned_for_less_says_so() {
    for (name, is_partial) in [("corsair-force-f100-100gb", true), ("crucial-c300-256gb", false)] {
        let [full, small] = [1, 256].map(|divisor| scaled(name, divisor));
        let told = small.scale_remarks().iter().any(|remark| remark.contains("the map's own blocks"));
        assert_eq!(told, is_partial, "{name}: {:?}", small.scale_remarks());
        let ratio = |model: &Model| Drive::describe(model)["derived"]["map_log_fill_ratio"].as_f64();
        assert_eq!(ratio(&full).is_some(), is_partial);
        // Lines of 512 bytes, 128 entries each, 8 to a page of 4 KiB; 32 dies keep 5 blocks of 256 pages, one of them erased.
        let expected = 100_030_242_816_f64 / 4096.0 / 128.0 / f64::from(32 * 4 * 256 * 8);
        assert!(!is_partial || (ratio(&full).unwrap() - expected).abs() < 1e-5, "{:?}", ratio(&full));
    }
}

#[test]
fn what_cannot_be_cut_down_is_refused_in_one_line() {
    let refused = |name: &str, divisor: &str| {
        let error = shipped::varied(name, &[("scale_divisor", divisor)]).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    };
    assert!(refused("wd-velociraptor-300gb", "2").contains("does not apply to hard disks"));
    // The drive itself, as any other of 1/1; laboratories ask an array for its.
    shipped::varied("wd-velociraptor-300gb", &[("scale_divisor", "1")]).unwrap();
    assert!(refused("hypothetical", "2").contains("must be at most 1"));
    let error = refused("intel-x25-m-g1-80gb", "4096");
    assert!(error.contains("scale_divisor = 4096 (--scale 1/4096): must be at most 584"), "{error}");
    shipped::varied("intel-x25-m-g1-80gb", &[("scale_divisor", "584")]).unwrap();
}

#[test]
fn an_array_is_cut_down_member_by_member() {
    let array = scaled("intel-x25-v-40gb-raid0-x2", 64);
    let single = scaled("intel-x25-v-40gb", 64);
    assert_eq!(array.members()[0].hash(), single.hash());
    // What is laid on the members meanwhile is laid on the full size.
    let pairs = [("scale_divisor", "64"), ("member.spare_ratio", "0.28")];
    let array = shipped::varied("intel-x25-v-40gb-raid0-x2", &pairs).unwrap();
    let single = shipped::varied("intel-x25-v-40gb", &[("scale_divisor", "64"), ("spare_ratio", "0.28")]);
    assert_eq!(array.members()[0].hash(), single.unwrap().hash());
}

#[test]
fn a_partition_remains_the_same_share_of_a_drive_and_of_an_array() {
    for name in ["intel-x25-v-40gb", "intel-x25-v-40gb-raid0-x2"] {
        let partitioned = |share: f64, divisor: &str| {
            let bytes = share * derived(&shipped::shipped(name), "user_capacity_bytes");
            let bytes = (bytes as u64 / 32768 * 32768).to_string();
            shipped::varied(name, &[("scale_divisor", divisor), ("partition_bytes", &bytes)])
        };
        let small = partitioned(0.8, "16").unwrap();
        let share = derived(&small, "user_capacity_bytes") / derived(&small, "drive_capacity_bytes");
        assert!((share - 0.8).abs() < 0.001, "{name}: {share}");
        let error = partitioned(1.1, "16").unwrap_err().to_string();
        assert!(error.contains("partition_bytes") && error.contains("the drive's capacity"), "{error}");
    }
}

#[test]
fn a_small_version_without_a_block_to_spare_says_so() {
    let told = |divisor| {
        let remarks = scaled("intel-660p-1tb", divisor).scale_remarks().to_vec();
        remarks.iter().any(|remark| remark.starts_with("no block may fail"))
    };
    // It has 159, and 8 at 1/16.
    assert_eq!([told(1), told(16), told(64)], [false, false, true]);
}

#[test]
fn thresholds_of_cleaning_that_nobody_has_measured_are_told() {
    let told = |start: &str, stop: &str| {
        let keys = [
            ("ftl.cleaning_start_blocks", start),
            ("ftl.cleaning_stop_blocks", stop),
            ("scale_divisor", "32"),
        ];
        let model = shipped::varied("micron-7450-pro-960gb", &keys).unwrap();
        model.scale_remarks().iter().any(|remark| remark.contains("what dies keep free was measured"))
    };
    assert_eq!([told("2", "3"), told("3", "4")], [false, false]);
    assert_eq!([told("3", "5"), told("4", "4"), told("60", "61")], [true, true, true]);
}
