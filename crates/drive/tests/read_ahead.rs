//! Reading ahead: what a sequence at queue depth 1 takes, that no page is sensed twice for it, and that reads elsewhere
//! don't notice it.

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::Drive;
use drivelab_sim::Stream;

use crate::shipped;

/// Pages of four units, of three kinds with a time of sensing each.
const MODEL: &str = "samsung-970-evo-plus-1tb";
/// What is written and read.
const SECTORS: u64 = 16 * 2048;
const WINDOW_BYTES: u64 = 1 << 20;

/// A small version that reads so much ahead, with data in flash. Energy is the time in which dies sense, in ns.
fn drive(read_ahead_bytes: u64) -> Drive {
    let window = read_ahead_bytes.to_string();
    let mut changes = vec![("scale_divisor", "64"), ("controller.read_ahead_bytes", &window)];
    let others = ["idle", "active", "firmware", "link", "bus", "program", "erase"];
    let others = others.map(|part| format!("power.{part}_mw"));
    changes.extend(others.iter().map(|key| (key.as_str(), "0")));
    changes.push(("power.read_mw", "1000"));
    let mut drive = shipped::drive(MODEL, &changes);
    one_by_one(&mut drive, Op::Write, (0..SECTORS).step_by(256).map(|lba| (lba, 256)));
    drive.idle(60_000_000_000);
    drive
}

fn one_by_one(drive: &mut Drive, op: Op, places: impl Iterator<Item = (u64, u32)>) -> Vec<Completion> {
    let mut done = Vec::new();
    for (lba, sectors) in places {
        drive.submit(drive.now_ns(), Command::new(0, op, lba, sectors)).unwrap();
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    done
}

fn in_sequence(drive: &mut Drive, sectors: u32) -> Vec<Completion> {
    one_by_one(drive, Op::Read, (0..SECTORS).step_by(sectors as usize).map(|lba| (lba, sectors)))
}

/// Bytes that came from flash, and how long dies sensed.
fn flash_work(drive: &Drive) -> (u64, u64) {
    let counters = drive.counters();
    (counters["read_bytes_host"].as_u64().unwrap(), counters["energy_nj"].as_u64().unwrap())
}

/// The same of a sequence alone, in reads of so many sectors.
fn sequence_work(read_ahead_bytes: u64, sectors: u32) -> (u64, u64) {
    let mut drive = drive(read_ahead_bytes);
    let before = flash_work(&drive);
    in_sequence(&mut drive, sectors);
    let after = flash_work(&drive);
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn a_sequence_that_is_read_far_enough_ahead_waits_for_host_and_link_alone() {
    let done = in_sequence(&mut drive(WINDOW_BYTES), 256);
    let without = in_sequence(&mut drive(0), 256);
    for (ahead, plain) in done.iter().zip(&without).skip(8) {
        assert_eq!((ahead.split.flash_ns, ahead.split.queueing_ns), (0, 0), "{ahead:?}");
        assert!(plain.split.flash_ns > 50_000, "{plain:?}");
        assert_eq!(
            (ahead.split.firmware_ns, ahead.split.link_ns),
            (plain.split.firmware_ns, plain.split.link_ns)
        );
    }
}

#[test]
fn small_reads_in_sequence_sense_every_page_once() {
    let (once_bytes, once_ns) = sequence_work(0, 2048);
    assert_eq!(once_bytes, SECTORS * 512);
    for sectors in [8, 32, 256] {
        let (bytes, sensing_ns) = sequence_work(WINDOW_BYTES, sectors);
        assert!(bytes <= once_bytes + WINDOW_BYTES, "{sectors}: {bytes} bytes for {once_bytes}");
        // A page where reading ahead began may be sensed twice.
        assert!(
            sensing_ns as f64 <= once_ns as f64 * 1.01 && sensing_ns >= once_ns,
            "{sectors}: {sensing_ns} ns for {once_ns}"
        );
    }
}

#[test]
fn reads_at_random_are_those_of_a_drive_that_reads_nothing_ahead() {
    let (mut ahead, mut plain) = (drive(WINDOW_BYTES), drive(0));
    let mut random = Stream::new(3, 0);
    // None of them begins where the one before ended.
    let mut last = 0;
    let places: Vec<_> = (0..5000)
        .map(|_| {
            last = (last + 2 + random.below(SECTORS / 8 - 3)) % (SECTORS / 8);
            (8 * last, 8)
        })
        .collect();
    assert_eq!(
        one_by_one(&mut ahead, Op::Read, places.iter().copied()),
        one_by_one(&mut plain, Op::Read, places.iter().copied())
    );
    assert_eq!(flash_work(&ahead), flash_work(&plain));
}

#[test]
fn reads_of_nothing_are_counted_as_that_however_they_are_served() {
    let counted = |drive: &Drive| drive.counters()["zero_read_bytes"].as_u64().unwrap();
    for model in [MODEL, "ocz-vertex-120gb", "crucial-t500-2tb"] {
        let mut drive = shipped::drive(model, &[("scale_divisor", "64")]);
        in_sequence(&mut drive, 256);
        assert_eq!(counted(&drive), SECTORS * 512, "{model}, new");
        one_by_one(&mut drive, Op::Write, (0..SECTORS / 2).step_by(256).map(|lba| (lba, 256)));
        drive.idle(60_000_000_000);
        let before = counted(&drive);
        in_sequence(&mut drive, 256);
        assert_eq!(counted(&drive) - before, SECTORS / 2 * 512, "{model}, half written");
    }
}
