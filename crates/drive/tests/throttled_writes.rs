//! A firmware that limits writes limits nothing else.

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::Drive;

const SECOND: u64 = 1_000_000_000;
/// Sectors of the file that is read and written.
const FILE: u64 = 256 * 2048;
const READ: u32 = 0;
const WRITE: u32 = 1;

/// An Agility 2 whose credit is spent, with a written file; or the same without a limit.
fn drive(limit: &str) -> Drive {
    let overrides = [("controller.write_governor_iops", limit), ("controller.write_governor_burst", "0")];
    let mut drive = shipped::drive("ocz-agility-2-100gb", &overrides);
    for index in 0..FILE / 512 {
        once(&mut drive, Op::Write, index * 512, 512);
    }
    once(&mut drive, Op::Flush, 0, 0);
    drive.idle(SECOND);
    drive
}

fn once(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> Completion {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, lba, sectors)).unwrap();
    let mut done = Vec::new();
    drive.advance_to_completion(u64::MAX, &mut done);
    done[0]
}

fn place(number: u64) -> u64 {
    number.wrapping_mul(6_364_136_223_846_793_005) % (FILE / 8) * 8
}

/// Reads of 4 KiB a second, one at a time, over two seconds in which `writes_at_once` writes of 4 KiB are outstanding;
/// or, given an interval, in which one comes each. And the writes that were done.
fn reads_beside_writes(drive: &mut Drive, writes_at_once: u32, interval_ns: u64) -> (f64, u64) {
    let start = drive.now_ns();
    let (mut reads, mut writes, mut number) = (0, 0, 0);
    let mut submit = |drive: &mut Drive, at, tag| {
        number += 1;
        let op = if tag == READ { Op::Read } else { Op::Write };
        drive.submit(at, Command::new(tag, op, place(number), 8)).unwrap();
    };
    submit(drive, start, READ);
    (0..writes_at_once).for_each(|_| submit(drive, start, WRITE));
    let mut next_write = if interval_ns > 0 { start + interval_ns } else { u64::MAX };
    let mut done = Vec::new();
    while drive.now_ns() < start + 2 * SECOND {
        drive.advance_to_completion(next_write, &mut done);
        for completion in done.drain(..) {
            let at = drive.now_ns();
            if completion.tag == READ {
                reads += 1;
                submit(drive, at, READ);
            } else {
                writes += 1;
                if interval_ns == 0 {
                    submit(drive, at, WRITE);
                }
            }
        }
        if drive.now_ns() == next_write {
            submit(drive, next_write, WRITE);
            next_write += interval_ns;
        }
    }
    (f64::from(reads) / 2.0, writes)
}

#[test]
fn reads_beside_throttled_writes_are_as_fast_as_beside_the_same_writes_unthrottled() {
    let (throttled, written) = reads_beside_writes(&mut drive("4000"), 16, 0);
    assert!(written.abs_diff(8000) < 40, "the limit: {written} writes in two seconds");
    // As many writes, at the same times, of a host that limits them itself.
    let (unthrottled, same) = reads_beside_writes(&mut drive("0"), 0, SECOND / 4000);
    assert!(same.abs_diff(written) < 40, "{same} {written}");
    assert!((throttled / unthrottled - 1.0).abs() < 0.1, "{throttled} {unthrottled} reads a second");
}

#[test]
fn a_flush_and_a_trim_behind_throttled_writes_pass_them() {
    let mut drive = drive("100");
    let start = drive.now_ns();
    for tag in 0..8 {
        drive.submit(start, Command::new(tag, Op::Write, 8 * u64::from(tag), 8)).unwrap();
    }
    drive.submit(start, Command::new(8, Op::Trim, 4096, 8)).unwrap();
    drive.submit(start, Command::new(9, Op::Flush, 0, 0)).unwrap();
    let mut done = Vec::new();
    drive.advance(start + 10 * SECOND, &mut done);
    let order: Vec<_> = done.iter().map(|completion| completion.tag).collect();
    let position = |tag| order.iter().position(|&other| other == tag).unwrap();
    assert!(position(8) < position(1) && position(9) < position(1), "{order:?}");
    let writes: Vec<_> = done.iter().filter(|completion| completion.tag < 8).collect();
    assert!(writes.is_sorted_by_key(|write| write.tag), "writes keep their order: {order:?}");
    for (number, write) in writes.iter().enumerate() {
        let latency_ns = write.completed_ns - start;
        let token_ns = number as u64 * SECOND / 100;
        assert!((token_ns..token_ns + SECOND / 1000).contains(&latency_ns), "{number}: {latency_ns}");
    }
}

#[test]
fn a_throttled_write_waits_and_its_firmware_time_stays_its_own() {
    let mut drive = drive("100");
    let first = once(&mut drive, Op::Write, 0, 8);
    let second = once(&mut drive, Op::Write, 8, 8);
    assert_eq!(second.split.firmware_ns, first.split.firmware_ns);
    assert!(second.split.queueing_ns > SECOND / 100 - SECOND / 1000);
    assert_eq!(first.split.queueing_ns, 0);
}

#[test]
fn space_that_is_withheld_makes_no_page_due_that_is_not_full() {
    for depth in [1, 4, 32] {
        let mut drive = shipped::drive("micron-7450-max-800gb", &[("scale_divisor", "64")]);
        let mut done = Vec::new();
        for number in 0..4000 {
            while drive.engine().outstanding() >= depth {
                drive.advance_to_completion(u64::MAX, &mut done);
            }
            drive
                .submit(drive.now_ns(), Command::new(number, Op::Write, u64::from(number) * 256, 256))
                .unwrap();
        }
        while drive.engine().outstanding() > 0 {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        let padded = drive.counters()["units_padded"].as_u64().unwrap();
        assert!(padded < 200, "{padded} units of 128000 at queue depth {depth}");
    }
}

#[test]
fn a_fill_with_write_credits_is_as_fast_at_any_queue_depth() {
    for name in ["micron-7450-max-800gb", "micron-7450-pro-960gb"] {
        let time_ns = |depth| {
            let mut drive = shipped::drive(name, &[("scale_divisor", "32")]);
            let mut done = Vec::new();
            for number in 0..100_000 {
                while drive.engine().outstanding() >= depth {
                    drive.advance_to_completion(u64::MAX, &mut done);
                }
                let write = Command::new(number, Op::Write, u64::from(number) * 256, 256);
                drive.submit(drive.now_ns(), write).unwrap();
            }
            drive.now_ns() as f64
        };
        let alone = time_ns(1);
        for depth in [2, 32] {
            let ratio = time_ns(depth) / alone;
            assert!(
                ratio < 1.01,
                "{name}: at queue depth {depth} a fill takes {ratio:.3} times as long as at 1"
            );
        }
    }
}
