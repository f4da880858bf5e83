//! Latencies and rates against arithmetic on the model's own parameters: not one nanosecond early, and moving as
//! physics says when a parameter changes.

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::Drive;

/// The X25-M with few blocks: the same times, a moment to fill.
fn drive(overrides: &[(&str, &str)]) -> Drive {
    let mut pairs = vec![
        ("flash.blocks_per_plane", "16"),
        ("spare_ratio", "0.6"),
        ("ftl.checkpoint_updates", "0"),
        ("ftl.checkpoint_bytes", "0"),
    ];
    pairs.extend_from_slice(overrides);
    shipped::drive("intel-x25-m-g1-80gb", &pairs)
}

fn finish(drive: &mut Drive) -> Vec<Completion> {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    done
}

fn once(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> Completion {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, lba, sectors)).unwrap();
    finish(drive)[0]
}

/// MiB/s of sequential writes of the first 2 MiB x `count`.
fn sequential_write(drive: &mut Drive, count: u64) -> f64 {
    let start = drive.now_ns();
    for index in 0..count {
        once(drive, Op::Write, index * 4096, 4096);
    }
    once(drive, Op::Flush, 0, 0);
    (2 * count) as f64 / ((drive.now_ns() - start) as f64 / 1e9)
}

#[test]
fn one_small_read_takes_exactly_its_parts() {
    let mut drive = drive(&[]);
    once(&mut drive, Op::Write, 80, 8);
    once(&mut drive, Op::Flush, 0, 0);
    let read = once(&mut drive, Op::Read, 80, 8);
    // Bus: 4314 bytes at 25 ns and 1 us of command cycles; link: 4096 bytes at 300 MB/s, one frame, one command.
    let flash = 50_000 + 107_850 + 1_000;
    let link = 13_654 + 2_200 + 1_000;
    assert_eq!(read.split.firmware_ns, 28_500);
    assert_eq!(read.split.flash_ns, flash);
    assert_eq!(read.split.link_ns, link);
    assert_eq!(read.completed_ns - read.submitted_ns, 28_500 + flash + link);
    // One sector: an eighth of the page with its share of the out-of-band bytes (27 of 218).
    let sector = once(&mut drive, Op::Read, 80, 1);
    assert_eq!(sector.split.flash_ns, 50_000 + 1_000 + (512 + 27) * 25);
    // Never written: no flash.
    let zeros = once(&mut drive, Op::Read, 4096, 8);
    assert_eq!(zeros.split.flash_ns, 0);
    assert_eq!(zeros.completed_ns - zeros.submitted_ns, 28_500 + link);
}

#[test]
fn a_flush_waits_for_program_and_an_acknowledged_write_does_not() {
    let mut drive = drive(&[]);
    let program = 900_000 + 107_850 + 1_000;
    let start = drive.now_ns();
    drive.submit(start, Command::new(0, Op::Write, 0, 8)).unwrap();
    let mut done = Vec::new();
    drive.advance_to_completion(u64::MAX, &mut done);
    let write = done[0];
    assert_eq!(write.split.flash_ns, 0, "acknowledged from the buffer");
    assert!(write.completed_ns - start < program);
    // While the page is being programmed.
    drive.submit(write.completed_ns, Command::new(1, Op::Flush, 0, 0)).unwrap();
    let flush = finish(&mut drive)[0];
    assert_eq!(flush.op, Op::Flush);
    assert!(flush.completed_ns - write.completed_ns >= program, "not before the page is in flash: {flush:?}");
    assert!(flush.split.flash_ns > program / 2, "{flush:?}");
    let again = once(&mut drive, Op::Flush, 0, 0);
    assert_eq!(again.split.flash_ns, 0, "nothing is left to wait for");
    assert!(again.completed_ns - again.submitted_ns < program);
    let now = drive.now_ns();
    drive.submit(now, Command { fua: true, ..Command::new(0, Op::Write, 8, 8) }).unwrap();
    let fua = finish(&mut drive)[0];
    assert!(fua.completed_ns - fua.submitted_ns >= program, "FUA waits for the program");
}

#[test]
fn sequential_writes_follow_programs_in_flight() {
    // 10 channels x 2 programs of 4096 bytes in tPROG + bus time.
    let rate = |overrides: &[(&str, &str)]| sequential_write(&mut drive(overrides), 64);
    let formula =
        |programs: f64, program_ns: f64| programs * 4096.0 / (program_ns + 108_850.0) * 1e9 / 1_048_576.0;
    let plain = rate(&[]);
    assert!((plain / formula(20.0, 900_000.0) - 1.0).abs() < 0.06, "{plain}");
    let fast = rate(&[("flash.program_ns", "450000")]);
    assert!((fast / formula(20.0, 450_000.0) - 1.0).abs() < 0.08, "{fast}");
    let wide = rate(&[("controller.programs_per_channel", "4")]);
    assert!((wide / formula(40.0, 900_000.0) - 1.0).abs() < 0.08, "{wide}");
    let half = rate(&[("flash.channel_count", "5")]);
    assert!((half / formula(10.0, 900_000.0) - 1.0).abs() < 0.06, "{half}");
    let planes = rate(&[("flash.two_plane", "true")]);
    // Two pages in one tPROG, but twice the bus time.
    assert!((planes / (20.0 * 8192.0 / 1_116_700.0 * 1e9 / 1_048_576.0) - 1.0).abs() < 0.08, "{planes}");
}

#[test]
fn an_unaligned_write_touches_two_units() {
    let mut drive = drive(&[]);
    for index in 0..64 {
        once(&mut drive, Op::Write, index * 64 + 3, 8);
    }
    once(&mut drive, Op::Flush, 0, 0);
    let counters = drive.counters();
    assert_eq!(counters["units_written_host"], 128);
    assert_eq!(counters["units_rmw"], 0, "nothing was there to be read");
    once(&mut drive, Op::Write, 5, 8);
    assert_eq!(drive.counters()["units_rmw"], 2);
}

#[test]
fn completed_one_at_a_time_partial_units_take_a_read_and_a_program_each() {
    let serial = &[("controller.partial_units_at_once", "1"), ("ftl.map_unit_bytes", "4096")];
    let mut drive = drive(serial);
    for index in 0..64 {
        once(&mut drive, Op::Write, index * 8, 8);
    }
    once(&mut drive, Op::Flush, 0, 0);
    let start = drive.now_ns();
    for index in 0..32 {
        once(&mut drive, Op::Write, index * 16 + 2, 4);
    }
    once(&mut drive, Op::Flush, 0, 0);
    // One after the other, as the host waits, too: four sectors come from flash, eight go back.
    let read = 50_000 + 1_000 + (2048 + 109) * 25;
    let program = 107_850 + 1_000 + 900_000;
    let firmware = 72_500 + 27_500;
    let each = (drive.now_ns() - start) as f64 / 32.0 / f64::from(firmware + read + program);
    assert!((each - 1.0).abs() < 0.01, "{each}");
}

#[test]
fn all_channels_share_the_read_path() {
    let rate = |path: &str| {
        let mut drive = drive(&[("controller.read_path_bytes_per_s", path)]);
        for index in 0..16 {
            once(&mut drive, Op::Write, index * 4096, 4096);
        }
        once(&mut drive, Op::Flush, 0, 0);
        let start = drive.now_ns();
        for index in 0..16 {
            once(&mut drive, Op::Read, index * 4096, 4096);
        }
        16.0 * 2_097_152.0 / ((drive.now_ns() - start) as f64 / 1e9) / 1e6
    };
    // A command costs firmware and the first page's way before the path is busy.
    assert!((rate("100000000") / 100.0 - 1.0).abs() < 0.03, "{}", rate("100000000"));
    assert!((rate("200000000") / 200.0 - 1.0).abs() < 0.05, "{}", rate("200000000"));
    assert!(rate("0") > 260.0, "the link's rate: {}", rate("0"));
}

#[test]
fn all_channels_share_the_write_path() {
    let rate = |path: &str| {
        let mut drive = drive(&[("controller.write_path_bytes_per_s", path)]);
        sequential_write(&mut drive, 32) * 1_048_576.0 / 1e6
    };
    let alone = rate("0");
    // The last page is programmed behind the path, and commands have firmware before it.
    for slow in [20_u32, 40] {
        let measured = rate(&(slow * 1_000_000).to_string());
        assert!((measured / f64::from(slow) - 1.0).abs() < 0.05, "{measured} of {slow} MB/s");
    }
    // One that passes more than its dies program is not noticed.
    let wide = rate("2000000000");
    assert!((wide / alone - 1.0).abs() < 0.02, "{wide}, without {alone}");
}

#[test]
fn two_drives_in_one_process_do_not_touch_each_other() {
    let place = |step: u64| (step * 2_654_435_761) % 40_000 * 8;
    let step = |drive: &mut Drive, step: u64| {
        once(drive, if step.is_multiple_of(5) { Op::Read } else { Op::Write }, place(step), 8)
    };
    let mut alone = drive(&[]);
    let expected: Vec<_> = (0..3000).map(|index| step(&mut alone, index)).collect();
    let (mut first, mut second) = (drive(&[]), drive(&[("ftl.victim_selection", "random")]));
    let interleaved: Vec<_> = (0..3000)
        .map(|index| {
            step(&mut second, index * 7 + 1);
            step(&mut first, index)
        })
        .collect();
    assert_eq!(expected, interleaved);
    assert_eq!(alone.counters(), first.counters());
}

#[test]
fn a_snapshot_goes_on_as_the_original_would() {
    let mut original = drive(&[]);
    sequential_write(&mut original, 40);
    let mut copy = original.clone();
    let run = |drive: &mut Drive| {
        (0..2000u64).map(|index| once(drive, Op::Write, index * 7919 % 60_000, 8)).collect::<Vec<_>>()
    };
    assert_eq!(run(&mut original), run(&mut copy));
    assert_eq!(original.counters(), copy.counters());
}

#[test]
fn secure_erase_restores_the_new_state() {
    let mut used = drive(&[]);
    sequential_write(&mut used, 100);
    used.secure_erase();
    assert_eq!(used.counters()["valid_units"], 0);
    let read = once(&mut used, Op::Read, 0, 8);
    assert_eq!(read.split.flash_ns, 0, "nothing is mapped");
    let again = sequential_write(&mut used, 64);
    let new = sequential_write(&mut drive(&[]), 64);
    assert!((again / new - 1.0).abs() < 0.01, "{again} {new}");
}

#[test]
fn commands_outside_the_drive_are_refused_and_change_nothing() {
    let mut drive = drive(&[]);
    let before = drive.counters();
    let capacity = drive.capacity_sectors();
    let refuse = |drive: &mut Drive, command| drive.submit(0, command).unwrap_err().to_string();
    assert!(refuse(&mut drive, Command::new(0, Op::Write, capacity, 1)).contains(&capacity.to_string()));
    assert!(refuse(&mut drive, Command::new(0, Op::Read, u64::MAX, u32::MAX)).contains("leave the drive"));
    assert!(refuse(&mut drive, Command::new(0, Op::Trim, 0, 0)).contains("at least one sector"));
    for tag in 0..32 {
        drive.submit(0, Command::new(tag, Op::Read, 0, 8)).unwrap();
    }
    assert!(refuse(&mut drive, Command::new(0, Op::Read, 0, 8)).contains("32 commands"));
    finish(&mut drive);
    assert_eq!(before["host_write_bytes"], drive.counters()["host_write_bytes"]);
}

#[test]
fn paced_cleaning_never_makes_a_write_wait_for_a_whole_block() {
    let mut drive = drive(&[("flash.blocks_per_plane", "64"), ("spare_ratio", "0.1")]);
    let units = drive.capacity_sectors() / 8;
    for index in 0..units / 512 {
        once(&mut drive, Op::Write, index * 4096, 4096);
    }
    let mut place = 1u64;
    let mut longest = 0;
    for _ in 0..300_000 {
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Write, (place >> 33) % units * 8, 8)).unwrap();
        let mut done = Vec::new();
        drive.advance_to_completion(u64::MAX, &mut done);
        longest = longest.max(done[0].completed_ns - done[0].submitted_ns);
    }
    let programmed = drive.counters()["program_bytes_cleaning"].as_u64().unwrap();
    assert!(programmed > 4 * 300_000 * 4096, "hard cleaning, or this shows nothing");
    // Emptying a block of 128 valid pages takes 128 copies of 1.2 ms, two dies at a time on four: 300 ms.
    assert!(longest < 150_000_000, "{longest} ns");
}

#[test]
fn a_read_waits_for_as_many_copies_as_are_made_at_once() {
    let longest_wait = |copies: &str| {
        let mut drive = drive(&[
            ("flash.blocks_per_plane", "64"),
            ("spare_ratio", "0.1"),
            ("ftl.cleaning_stop_blocks", "6"),
            ("controller.cleaning_copies_at_once", copies),
        ]);
        let units = drive.capacity_sectors() / 8;
        let mut place = 1u64;
        let mut random = || {
            place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (place >> 33) % units * 8
        };
        for index in 0..units / 512 {
            once(&mut drive, Op::Write, index * 4096, 4096);
        }
        for _ in 0..units / 8 {
            once(&mut drive, Op::Write, random(), 8);
        }
        let mut longest = 0;
        for _ in 0..40 {
            // Every write leaves some die below its threshold; with an empty buffer it is cleaned at full speed.
            let now = drive.now_ns();
            drive.submit(now, Command::new(0, Op::Write, random() / 4096 * 4096, 4096)).unwrap();
            let mut done = Vec::new();
            drive.advance_to_completion(u64::MAX, &mut done);
            for _ in 0..50 {
                let now = drive.now_ns();
                drive.submit(now, Command::new(0, Op::Read, random(), 8)).unwrap();
                drive.advance_to_completion(u64::MAX, &mut done);
            }
            let reads = done.iter().filter(|done| done.op == Op::Read);
            longest = longest.max(reads.map(|read| read.split.cleaning_ns).max().unwrap());
        }
        longest as f64
    };
    let copy = f64::from(50_000 + 2 * (107_850 + 1_000) + 900_000);
    let one = longest_wait("1");
    assert!(one < 2_000_000.0 + 1.5 * copy, "a copy or an erase: {one}");
    let eight = longest_wait("8") / copy;
    assert!((7.0..=9.5).contains(&eight), "{eight} copies");
}
