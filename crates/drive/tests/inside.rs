//! What one sees inside of a drive agrees with its counters, and with what every page is.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Device, Op};
use drivelab_drive::{Drive, Inside};
use drivelab_ftl::BlockRole;
use drivelab_sim::Stream;

/// A drive of each kind of map, and an array.
const MODELS: &[(&str, &[(&str, &str)])] = &[
    ("intel-x25-m-g1-80gb", &[("scale_divisor", "128")]),
    ("intel-x25-m-g1-80gb", &[("scale_divisor", "64"), ("ftl.placement", "sepbit")]),
    ("corsair-force-f100-100gb", &[("scale_divisor", "128")]),
    ("ocz-summit-128gb", &[("scale_divisor", "200")]),
    ("ocz-vertex-120gb@pre-release", &[("scale_divisor", "128")]),
    ("intel-x25-v-40gb-raid0-x2", &[("scale_divisor", "64")]),
    ("adata-atom-50-1tb", SHORT_BLOCKS),
];

/// A drive with an SLC cache whose blocks have a sixteenth of their pages: each page is looked at.
const SHORT_BLOCKS: &[(&str, &str)] = &[
    ("flash.pages_per_block", "132"),
    ("user_capacity_bytes", "62512791552"),
    ("slc_cache.max_bytes", "17500000000"),
    ("slc_cache.reserve_bytes", "2500000000"),
    ("write_buffer.size_bytes", "4194304"),
    ("scale_divisor", "42"),
];
const SHORT_PAGES: u32 = 132;

fn unit_bytes(name: &str) -> u64 {
    if name.starts_with("intel-x25-v") { 2048 } else { 4096 }
}

fn used(name: &str, changes: &[(&str, &str)]) -> Drive {
    let mut drive = Drive::new(Arc::new(shipped::varied(name, changes).unwrap()), 1).unwrap();
    let mut done = Vec::new();
    let mut go = |drive: &mut Drive, lba, sectors| {
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Write, lba, sectors)).unwrap();
        drive.advance_to_completion(u64::MAX, &mut done);
        done.clear();
    };
    let capacity = drive.capacity_sectors();
    (0..capacity / 256).for_each(|number| go(&mut drive, number * 256, 256));
    let mut places = Stream::new(1, 1);
    (0..20_000).for_each(|_| go(&mut drive, places.next_u64() % (capacity / 8) * 8, 8));
    drive.submit(drive.now_ns(), Command::new(0, Op::Flush, 0, 0)).unwrap();
    drive.advance_to_completion(u64::MAX, &mut Vec::new());
    drive
}

fn sum(values: impl IntoIterator<Item = impl Into<u64>>) -> u64 {
    values.into_iter().map(Into::into).sum()
}

#[test]
fn erased_blocks_of_a_static_cache_are_free() {
    for name in ["samsung-980-pro-1tb", "samsung-870-qvo-1tb", "samsung-980-1tb"] {
        let drive = shipped::drive(name, &[("scale_divisor", "64")]);
        let inside = Inside::of(drive.engine());
        let free = sum(inside.blocks.role.iter().map(|&role| role == BlockRole::Free as u8));
        assert_eq!(drive.counters()["free_blocks"], free, "{name}");
        assert_eq!(sum(inside.dies.free_blocks.iter().copied()), free, "{name}");
    }
}

#[test]
fn blocks_and_dies_agree_with_the_counters() {
    for (name, changes) in MODELS {
        let drive = used(name, changes);
        let inside = Inside::of(drive.engine());
        let counters = drive.counters();
        let counted = |key: &str| counters[key].as_u64().unwrap();
        let blocks = &inside.blocks;
        let role = |role: BlockRole| -> usize {
            blocks.role.iter().map(|&found| usize::from(found == role as u8)).sum()
        };
        // What is written here does not compress.
        let valid_bytes = counted("valid_units") * unit_bytes(name);
        assert_eq!(sum(blocks.valid_bytes.iter().copied()), valid_bytes, "{name}");
        assert_eq!(sum(inside.dies.valid_bytes.iter().copied()), valid_bytes, "{name}");
        assert_eq!(role(BlockRole::Free) as u64, counted("free_blocks"), "{name}");
        assert_eq!(sum(inside.dies.free_blocks.iter().copied()), counted("free_blocks"), "{name}");
        let (least, most) = (blocks.erase_count.iter().min(), blocks.erase_count.iter().max());
        assert_eq!(least.map(|&count| u64::from(count)), Some(counted("erase_count_min")), "{name}");
        assert_eq!(most.map(|&count| u64::from(count)), Some(counted("erase_count_max")), "{name}");
        assert!(role(BlockRole::Closed) > role(BlockRole::Free), "{name}");
        assert!(inside.dies.worked_ns.iter().all(|&worked_ns| worked_ns > 0), "{name}");
        for row in 0..blocks.role.len() {
            let is_erased = blocks.written_pages[row] == 0;
            assert_eq!(is_erased, blocks.age_programs[row] == 0, "{name}: block {row}");
            assert!(!is_erased || blocks.valid_bytes[row] == 0, "{name}: block {row}");
        }
    }
}

#[test]
fn what_is_valid_on_a_block_is_so_on_its_pages() {
    for (name, changes) in MODELS.iter().filter(|(name, _)| !name.contains("f100") && !name.contains("x2")) {
        let drive = used(name, changes);
        let blocks = Inside::of(drive.engine()).blocks;
        let pages = drive.page_states();
        for (row, block) in pages.as_array().unwrap().iter().enumerate() {
            let states = block["pages"].as_array().unwrap().iter();
            let valid = states.filter(|page| page["state"] == "valid").count();
            assert_eq!(blocks.valid_bytes[row], valid as u64 * unit_bytes(name), "{name}: block {row}");
            assert_eq!(u64::from(blocks.die[row]), block["die"].as_u64().unwrap(), "{name}: block {row}");
        }
    }
}

#[test]
fn a_block_with_one_bit_a_cell_has_room_for_less() {
    let model = shipped::varied("adata-atom-50-1tb", SHORT_BLOCKS).unwrap();
    let mut drive = Drive::new(Arc::new(model), 1).unwrap();
    let capacity = drive.capacity_sectors();
    for number in 0..capacity / 256 {
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Write, number * 256, 256)).unwrap();
        drive.advance_to_completion(u64::MAX, &mut Vec::new());
        if number == capacity / 256 / 20 {
            break;
        }
    }
    let written = drive.counters()["host_write_bytes"].as_u64().unwrap();
    let blocks = Inside::of(drive.engine()).blocks;
    let pages = drive.page_states();
    let (all, modes) = (blocks.mode.len(), &blocks.mode);
    let of_mode = |mode: i8| (0..all).filter(move |&row| modes[row] == mode);
    // A twentieth of the drive fits its cache: full blocks of it are as good as full, and hold a third.
    let full = of_mode(1).map(|row| blocks.written_pages[row]).max().unwrap();
    assert_eq!(full, SHORT_PAGES / 3, "of {SHORT_PAGES} pages");
    assert!(of_mode(1).all(|row| blocks.written_pages[row] < full || blocks.valid_share[row] > 0.99));
    assert_eq!(of_mode(0).count(), 0, "nothing is native yet");
    let held: u64 = of_mode(1).map(|row| blocks.valid_bytes[row]).sum();
    assert!(held > written * 9 / 10 && held <= written, "{held} of {written} bytes");
    for row in of_mode(1) {
        let states = pages[row]["pages"].as_array().unwrap();
        assert_eq!(pages[row]["mode"], "slc");
        assert_eq!(states.len() as u32, SHORT_PAGES / 3 * 4 * 4, "units of four planes");
    }
}

#[test]
fn a_full_block_that_is_always_of_the_cache_is_not_free() {
    let mut drive = shipped::drive("samsung-980-pro-1tb", &[("scale_divisor", "128")]);
    let mut done = Vec::new();
    for number in 0..2400 {
        drive.submit(drive.now_ns(), Command::new(0, Op::Write, number * 256, 256)).unwrap();
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    let inside = Inside::of(drive.engine());
    let blocks = &inside.blocks;
    let free = |row: &usize| blocks.role[*row] == BlockRole::Free as u8;
    assert_eq!((0..blocks.role.len()).filter(free).filter(|&row| blocks.valid_bytes[row] > 0).count(), 0);
}
