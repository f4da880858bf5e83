//! Drives that are worn and old: what they lose, of whichever cells, and how they end.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Device, Op, Outcome};
use drivelab_drive::Drive;

use super::{HOUR_NS, UNITS, count, drive, fill, once, read};

#[test]
fn losses_only_grow_with_wear_age_and_reads_and_shrink_with_more_correction() {
    let rates = [("flash.new_bit_error_rate", "1e-4"), ("flash.worn_bit_error_rate", "1e-3")];
    let lost = |more: &[(&str, &str)], age_hours: u64| {
        let mut drive = drive(7, &[&rates[..], &[("controller.read_retries", "0")], more].concat());
        fill(&mut drive, UNITS);
        drive.age(age_hours * HOUR_NS);
        read(&mut drive, UNITS).0
    };
    let rising = |found: &[u64], what: &str| {
        assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{what}: {found:?}");
        assert!(found[0] < found[found.len() - 1], "{what}: {found:?}");
    };
    let cycles = ["0", "50", "100", "150", "300"];
    rising(&cycles.map(|cycles| lost(&[("flash.initial_cycles", cycles)], 0)), "wear");
    let worn = ("flash.initial_cycles", "100");
    rising(&[0, 24, 2190, 8760].map(|hours| lost(&[worn], hours)), "age");
    let disturbed = ["1000000", "10000", "100"];
    rising(&disturbed.map(|reads| lost(&[worn, ("flash.read_disturb_reads", reads)], 0)), "reads");
    let correction = ["40", "16", "12", "8", "4"];
    rising(&correction.map(|bits| lost(&[worn, ("controller.correctable_bits", bits)], 1000)), "less ECC");
    let retries = ["8", "4", "2", "1", "0"];
    rising(&retries.map(|count| lost(&[worn, ("controller.read_retries", count)], 8760)), "fewer retries");
}

#[test]
fn what_cleaning_could_not_read_stays_lost_until_it_is_written_trimmed_or_erased() {
    // Aged for long, everything is unreadable; what is written afterwards is not.
    let rates = [("flash.new_bit_error_rate", "1e-5"), ("flash.worn_bit_error_rate", "1e-5")];
    let mut drive = drive(2, &[&rates[..], &[("flash.retention_hours", "1")]].concat());
    let units = drive.capacity_sectors() / 8;
    fill(&mut drive, units);
    drive.age(1_000_000 * HOUR_NS);
    for turn in 0..6 * units {
        // All but each fourth unit, at random: the others must be moved.
        let unit = turn * 7919 % units;
        if !unit.is_multiple_of(4) {
            once(&mut drive, Op::Write, unit * 8, 8);
        }
    }
    once(&mut drive, Op::Flush, 0, 0);
    let fate = |drive: &mut Drive, unit: u64| once(drive, Op::Read, unit * 8, 8).outcome;
    let lost: Vec<_> = (0..units).filter(|&unit| fate(&mut drive, unit) != Outcome::Done).collect();
    assert_eq!(lost.len() as u64, units.div_ceil(4), "those that nobody wrote again, wherever they lie now");
    assert!(lost.iter().all(|unit| unit % 4 == 0));
    assert!(count(&drive, "uncorrectable_codewords") > 0);
    // A part of a unit that is lost: the rest stays lost.
    once(&mut drive, Op::Write, 0, 3);
    once(&mut drive, Op::Flush, 0, 0);
    assert_eq!(once(&mut drive, Op::Read, 0, 3).outcome, Outcome::Done);
    assert_eq!(once(&mut drive, Op::Read, 3, 1).outcome, Outcome::Uncorrectable);
    once(&mut drive, Op::Write, 3, 5);
    assert_eq!(fate(&mut drive, 0), Outcome::Done);
    drive.secure_erase();
    fill(&mut drive, 8);
    assert!((0..8).all(|unit| fate(&mut drive, unit) == Outcome::Done));
    assert!(drive.take_unreadable().is_empty(), "nobody asks in the laboratory");
}

#[test]
fn what_is_written_after_years_is_new_in_whatever_block_it_lies() {
    // A mean of 0.04 wrong bits in what is new; after 1,000 hours 41, of which 8 are corrected.
    let rates = [("flash.new_bit_error_rate", "1e-5"), ("flash.worn_bit_error_rate", "1e-5")];
    let mut drive = drive(2, &[&rates[..], &[("flash.retention_hours", "1")]].concat());
    let retries = |drive: &mut Drive, units: std::ops::Range<u64>| {
        let before = count(drive, "read_retries");
        for unit in units {
            once(drive, Op::Read, unit * 8, 8);
        }
        count(drive, "read_retries") - before
    };
    // Blocks of all dies are left partly programmed, three times.
    for part in 0..3 {
        for unit in part * 30..(part + 1) * 30 {
            once(&mut drive, Op::Write, unit * 8, 8);
        }
        once(&mut drive, Op::Flush, 0, 0);
        assert_eq!(retries(&mut drive, part * 30..(part + 1) * 30), 0, "part {part} is new");
        assert!(part == 0 || retries(&mut drive, 0..part * 30) >= part * 30, "what is older is not");
        drive.age(1_000 * HOUR_NS);
    }
}

#[test]
fn blocks_that_can_not_be_erased_any_more_end_in_a_drive_that_only_reads() {
    let mut drive = drive(
        4,
        &[
            ("flash.endurance_cycles", "10"),
            ("flash.erase_failure_rate", "0.3"),
            ("flash.worn_bit_error_rate", "1e-6"),
        ],
    );
    let units = drive.capacity_sectors() / 8;
    fill(&mut drive, units);
    let mut written = units;
    while count(&drive, "read_only") == 0 {
        assert!(written < 60 * units, "it wears out");
        once(&mut drive, Op::Write, written * 7919 % units * 8, 8);
        written += 1;
    }
    assert!(count(&drive, "blocks_retired") > 0);
    let host = |drive: &Drive| {
        ["host_write_commands", "host_write_bytes", "host_trim_commands", "host_trim_bytes"]
            .map(|key| count(drive, key))
    };
    let before = host(&drive);
    assert_eq!(once(&mut drive, Op::Write, 0, 8).outcome, Outcome::Refused);
    assert_eq!(once(&mut drive, Op::Trim, 0, 8).outcome, Outcome::Refused);
    assert_eq!(host(&drive), before, "what is refused was not written");
    let all = (0..units).all(|unit| once(&mut drive, Op::Read, unit * 8, 8).outcome == Outcome::Done);
    assert!(all, "everything can be read");
}

/// Client TLC with an SLC cache, small; bit errors as its cells have them.
fn with_cache(overrides: &[(&str, &str)]) -> Drive {
    let mut pairs = vec![
        ("scale_divisor", "64"),
        ("controller.read_ahead_bytes", "0"),
        ("flash.bit_errors", "true"),
        ("flash.initial_cycles", "1500"),
    ];
    pairs.extend_from_slice(overrides);
    Drive::new(Arc::new(shipped::varied("crucial-t500-2tb", &pairs).unwrap()), 1).unwrap()
}

#[test]
fn blocks_of_the_cache_have_errors_of_their_own_and_retries_the_time_of_their_page() {
    let fresh = |overrides: &[(&str, &str)]| {
        let mut drive = with_cache(overrides);
        fill(&mut drive, 400);
        assert!(count(&drive, "program_bytes_slc") > 0);
        read(&mut drive, 400)
    };
    let ruined = ("flash.slc_worn_bit_error_rate", "0.5");
    let soon = ("flash.slc_endurance_cycles", "1500");
    assert_eq!(fresh(&[]).0, 0);
    assert_eq!(fresh(&[("flash.worn_bit_error_rate", "0.5")]).0, 0, "nothing lies in native blocks");
    assert_eq!(fresh(&[ruined, soon]), (1600, 400));
    // One retry of every page: a mean of 80 wrong bits of which 72 are corrected, then a half.
    let some = [("flash.slc_worn_bit_error_rate", "0.0137"), soon, ("controller.retry_factor", "0.5")];
    let (mut plain, mut worn) = (with_cache(&[]), with_cache(&some));
    fill(&mut plain, 400);
    fill(&mut worn, 400);
    for unit in 0..400 {
        let before = count(&worn, "read_retries");
        let once_more = once(&mut worn, Op::Read, unit * 8, 8).split.flash_ns;
        let retries = count(&worn, "read_retries") - before;
        let plain = once(&mut plain, Op::Read, unit * 8, 8).split.flash_ns;
        assert_eq!(once_more, plain * (1 + retries), "unit {unit}");
    }
    assert!(count(&worn, "read_retries") >= 400);
}

#[test]
fn a_worn_drive_of_tlc_is_readable_after_a_year_and_not_after_ten() {
    let lost = |hours: u64| {
        let mut drive = with_cache(&[("slc_cache.max_bytes", "0")]);
        fill(&mut drive, UNITS);
        drive.age(hours * HOUR_NS);
        (read(&mut drive, UNITS).0, count(&drive, "read_retries"))
    };
    let (fresh, year, ten) = (lost(0), lost(8760), lost(87_600));
    assert_eq!((fresh, year.0), ((0, 0), 0));
    assert!(year.1 > 0, "a year on a shelf costs retries");
    assert!(ten.0 > 0);
}

#[test]
fn members_of_an_array_age_with_it() {
    let pairs = [
        ("member.flash.bit_errors", "true"),
        ("member.flash.endurance_cycles", "100"),
        ("member.flash.new_bit_error_rate", "1e-5"),
        ("member.flash.retention_hours", "1"),
        ("scale_divisor", "64"),
    ];
    let model = shipped::varied("intel-x25-v-40gb-raid0-x2", &pairs).unwrap();
    let mut array = Drive::new(Arc::new(model), 1).unwrap();
    fill(&mut array, 400);
    let fails = |array: &mut Drive| {
        (0..400).filter(|unit| once(array, Op::Read, unit * 8, 8).outcome == Outcome::Uncorrectable).count()
    };
    assert_eq!(fails(&mut array), 0);
    array.age(1_000_000 * HOUR_NS);
    assert_eq!(fails(&mut array), 400);
}
