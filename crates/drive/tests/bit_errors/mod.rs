//! Bits that go wrong, against arithmetic that knows nothing of how a drive draws them: shares of codewords from sums over
//! the binomial distribution, read retries from the times of one sensing.
//!
//! `sensing.rs` has shares, retries and what they disturb, `wear.rs` drives that are worn and old.

mod sensing;
mod wear;

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op, Outcome};
use drivelab_drive::Drive;

const HOUR_NS: u64 = 3_600_000_000_000;
const UNITS: u64 = 6_000;

/// An X25-M of few blocks with these errors; 4 KiB pages, 100 P/E cycles.
fn drive(seed: u64, overrides: &[(&str, &str)]) -> Drive {
    let mut pairs = vec![
        ("flash.blocks_per_plane", "16"),
        ("spare_ratio", "0.6"),
        ("ftl.checkpoint_updates", "0"),
        ("ftl.checkpoint_bytes", "0"),
        ("flash.bit_errors", "true"),
        ("flash.endurance_cycles", "100"),
        ("flash.retention_hours", "1000"),
    ];
    pairs.extend_from_slice(overrides);
    Drive::new(Arc::new(shipped::varied("intel-x25-m-g1-80gb", &pairs).unwrap()), seed).unwrap()
}

fn once(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> Completion {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, lba, sectors)).unwrap();
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    done[0]
}

fn fill(drive: &mut Drive, units: u64) {
    for unit in (0..units).step_by(100) {
        once(drive, Op::Write, unit * 8, 8 * (units - unit).min(100) as u32);
    }
    once(drive, Op::Flush, 0, 0);
}

fn count(drive: &Drive, key: &str) -> u64 {
    drive.counters()[key].as_u64().unwrap()
}

/// Reads every unit by itself; how many codewords could not be corrected, and how many reads failed.
fn read(drive: &mut Drive, units: u64) -> (u64, u64) {
    let before = count(drive, "uncorrectable_codewords");
    let mut failed = 0;
    for unit in 0..units {
        let done = once(drive, Op::Read, unit * 8, 8);
        failed += u64::from(done.outcome == Outcome::Uncorrectable);
        assert_eq!(done.split.total_ns(), done.completed_ns - done.submitted_ns);
    }
    (count(drive, "uncorrectable_codewords") - before, failed)
}

/// Chance that of so many bits more than `most` are wrong, each with this chance: a sum over the binomial distribution.
fn more_than(most: u32, bits: u32, rate: f64) -> f64 {
    let mut term = f64::from(bits) * (1.0 - rate).ln();
    let mut sum = term.exp();
    for number in 1..=most {
        term += (f64::from(bits - number + 1) / f64::from(number) * rate / (1.0 - rate)).ln();
        sum += term.exp();
    }
    1.0 - sum
}

/// Whether a count of so many draws is within 4.5 standard deviations of this chance, and 2 % for the difference between
/// the binomial distribution and Poisson's.
fn agrees(count: u64, draws: u64, chance: f64) -> bool {
    let draws = draws as f64;
    let sigma = (draws * chance * (1.0 - chance)).sqrt();
    (count as f64 - draws * chance).abs() <= 4.5 * sigma + 0.02 * draws * chance
}

#[test]
fn one_seed_one_result_and_another_seed_another() {
    let run = |seed| {
        let mut drive =
            drive(seed, &[("flash.new_bit_error_rate", "1e-3"), ("flash.worn_bit_error_rate", "0.1")]);
        fill(&mut drive, UNITS);
        (read(&mut drive, UNITS), drive.counters().to_string())
    };
    assert_eq!(run(11), run(11));
    assert_ne!(run(11).1, run(12).1);
}

#[test]
fn rates_of_nothing_change_no_time() {
    let run = |overrides: &[(&str, &str)]| {
        let mut drive = drive(1, overrides);
        fill(&mut drive, UNITS);
        let mut times = Vec::new();
        for turn in 0..3_000u64 {
            let op = if turn % 3 == 0 { Op::Read } else { Op::Write };
            times.push(once(&mut drive, op, turn * 977 % UNITS * 8, 8));
        }
        times
    };
    let none = [("flash.new_bit_error_rate", "0"), ("flash.worn_bit_error_rate", "0")];
    assert_eq!(run(&none), run(&[("flash.bit_errors", "false")]));
}

#[test]
fn what_makes_no_drive_is_refused_by_key_value_and_limit() {
    let refused = |model: &str, pairs: &[(&str, &str)], message: &str| {
        let error = shipped::varied(model, pairs).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    let on = ("flash.bit_errors", "true");
    let intel = "intel-x25-m-g1-80gb";
    refused(
        intel,
        &[on, ("flash.worn_bit_error_rate", "1e-9")],
        "flash.worn_bit_error_rate = 0.000000001: must be at least flash.new_bit_error_rate",
    );
    refused(
        intel,
        &[on, ("controller.refresh_bits", "9")],
        "controller.refresh_bits = 9: must be at most controller.correctable_bits = 8",
    );
    refused(
        intel,
        &[on, ("controller.codeword_bytes", "700")],
        "controller.codeword_bytes = 700: must be a multiple of 512 bytes",
    );
    refused(
        intel,
        &[on, ("controller.codeword_bytes", "4096"), ("ftl.map_unit_bytes", "2048")],
        "controller.codeword_bytes = 4096: must be at most ftl.map_unit_bytes = 2048",
    );
    shipped::varied(intel, &[on, ("controller.codeword_bytes", "4096")]).expect("as large as the unit");
    for one in [("flash.erase_failure_rate", "0.1"), ("controller.refresh_bits", "9")] {
        shipped::varied("crucial-t500-2tb", &[on, one])
            .expect("blocks of an SLC cache fail and are moved, too");
    }
    refused("intel-ssd-520-240gb", &[on], "flash.bit_errors = true: does not apply to family compressed-map");
}
