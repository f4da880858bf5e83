//! Bits that go wrong, against arithmetic that knows nothing of how a drive draws them: shares of codewords from sums over
//! the binomial distribution, read retries from the times of one sensing.

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
fn the_share_of_lost_codewords_is_the_tail_of_the_binomial_distribution() {
    for (rate, correctable, bytes) in [(2e-3, 8, 512), (1e-3, 8, 512), (4e-3, 24, 1024), (8e-3, 72, 1024)] {
        let (rate_text, most) = (rate.to_string(), correctable.to_string());
        let bytes_text = bytes.to_string();
        let mut drive = drive(
            3,
            &[
                ("flash.new_bit_error_rate", &rate_text),
                ("flash.worn_bit_error_rate", "0.5"),
                ("flash.read_disturb_reads", "1000000000000"),
                ("controller.read_retries", "0"),
                ("controller.correctable_bits", &most),
                ("controller.codeword_bytes", &bytes_text),
            ],
        );
        fill(&mut drive, UNITS);
        let (lost, failed) = read(&mut drive, UNITS);
        let chance = more_than(correctable, bytes * 8, rate);
        let codewords = 4096 / u64::from(bytes);
        assert!(agrees(lost, UNITS * codewords, chance), "{rate}: {lost} of {}, {chance}", UNITS * codewords);
        let of_unit = 1.0 - (1.0 - chance).powi(codewords as i32);
        assert!(agrees(failed, UNITS, of_unit), "{rate}: {failed} reads of {UNITS}, {of_unit}");
        assert_eq!(read(&mut drive, UNITS), (lost, failed), "what is lost stays lost, and nothing else is");
    }
}

#[test]
fn retries_are_as_many_as_the_tails_say_and_each_takes_a_sensing() {
    // A mean of 10 wrong bits; 8 are corrected, and each retry leaves four fifths.
    let rate = (10.0 / 4096.0).to_string();
    let mut drive = drive(
        5,
        &[
            ("flash.new_bit_error_rate", &rate),
            ("flash.worn_bit_error_rate", "0.5"),
            ("flash.read_disturb_reads", "1000000000000"),
            ("controller.read_retries", "20"),
            ("controller.retry_factor", "0.8"),
        ],
    );
    fill(&mut drive, UNITS);
    let mut expected = 0.0;
    for retry in 0..20 {
        let left = 10.0 / 4096.0 * 0.8f64.powi(retry);
        expected += 1.0 - (1.0 - more_than(8, 4096, left)).powi(8);
    }
    // Bus: 4314 bytes at 25 ns and 1 us of command cycles.
    let sensing = 50_000 + 107_850 + 1_000;
    let (mut retries, mut sum) = (0, 0);
    for unit in 0..UNITS {
        let done = once(&mut drive, Op::Read, unit * 8, 8);
        let found = count(&drive, "read_retries") - retries;
        assert_eq!(done.split.flash_ns, (1 + found) * sensing, "unit {unit}: {found} retries");
        assert_eq!(done.split.total_ns(), done.completed_ns - done.submitted_ns);
        retries += found;
        sum += found;
    }
    let mean = sum as f64 / UNITS as f64;
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} {expected}");
    assert_eq!(count(&drive, "uncorrectable_codewords"), 0);
}

/// Four units on each page; how long it takes to sense one of them, and how much longer each more takes on the bus.
const FOUR_UNITS: (&str, &str) = ("ftl.map_unit_bytes", "1024");

#[test]
fn units_of_one_page_that_are_read_together_are_read_again_together() {
    let rate = (8.0 / 4096.0).to_string();
    let rates = [
        ("flash.new_bit_error_rate", rate.as_str()),
        ("flash.worn_bit_error_rate", "0.5"),
        ("flash.read_disturb_reads", "1000000000000"),
        ("controller.read_retries", "20"),
        ("controller.retry_factor", "0.8"),
        FOUR_UNITS,
    ];
    let mut good =
        drive(5, &[("flash.new_bit_error_rate", "0"), ("flash.worn_bit_error_rate", "0"), FOUR_UNITS]);
    let mut bad = drive(5, &rates);
    fill(&mut good, 400);
    fill(&mut bad, 400);
    let one_ns = once(&mut good, Op::Read, 0, 2).split.flash_ns;
    let unit_ns = (once(&mut good, Op::Read, 0, 8).split.flash_ns - one_ns) / 3;
    let retries = |drive: &mut Drive, lba, sectors| {
        let before = count(drive, "read_retries");
        let flash_ns = once(drive, Op::Read, lba, sectors).split.flash_ns;
        (count(drive, "read_retries") - before, flash_ns)
    };
    let mut joined = 0;
    for page in 0..400 {
        let alone: Vec<u64> = (0..4).map(|unit| retries(&mut bad, page * 8 + unit * 2, 2).0).collect();
        let (together, flash_ns) = retries(&mut bad, page * 8, 8);
        let most = *alone.iter().max().unwrap();
        assert_eq!(together, most, "page {page}: its units by themselves take {alone:?}");
        let again = alone.iter().filter(|&&retries| retries > 0).count() as u64;
        let each_ns = one_ns + unit_ns * again.saturating_sub(1);
        let expected = one_ns + 3 * unit_ns + most * each_ns;
        assert!(flash_ns.abs_diff(expected) <= expected / 1_000, "page {page}: {flash_ns} ns, {expected}");
        joined += u64::from(again > 1);
    }
    assert!(joined > 100, "{joined} pages of 400 have several units that are read again");
}

#[test]
fn what_disturbs_a_block_is_a_sensing_however_much_of_the_page_it_gives() {
    // More wrong bits than any codeword has are corrected: no retries. In the end every second codeword has one.
    let rates = [
        ("flash.new_bit_error_rate", "2e-6"),
        ("flash.worn_bit_error_rate", "2e-6"),
        ("flash.read_disturb_reads", "10"),
        ("controller.correctable_bits", "200"),
        FOUR_UNITS,
    ];
    let wrong = |reads: &[(u64, u32)]| {
        let mut drive = drive(9, &rates);
        fill(&mut drive, 400);
        for _ in 0..1_000 {
            for &(lba, sectors) in reads {
                once(&mut drive, Op::Read, lba, sectors);
            }
        }
        let before = count(&drive, "corrected_codewords");
        read(&mut drive, 400);
        count(&drive, "corrected_codewords") - before
    };
    let (one, page, units) = (wrong(&[(0, 2)]), wrong(&[(0, 8)]), wrong(&[(0, 2), (2, 2), (4, 2), (6, 2)]));
    assert_eq!(one, page, "a page is sensed once for one unit or for four");
    assert!(wrong(&[]) < one && one < units, "four sensings are more than one: {one} {units}");
}

#[test]
fn a_page_that_is_sensed_again_disturbs_its_block_again() {
    // A mean of 10 wrong bits of which 8 are corrected, and retries that change nothing: every read of the first page takes
    // four sensings. 20,000 of them make it 16.
    let rate = (10.0 / 4096.0).to_string();
    let mut drive = drive(
        6,
        &[
            ("flash.new_bit_error_rate", &rate),
            ("flash.worn_bit_error_rate", "0.5"),
            ("flash.read_disturb_reads", "33333"),
            ("controller.read_retries", "3"),
            ("controller.retry_factor", "1"),
            ("flash.channel_count", "1"),
            ("flash.dies_per_channel", "1"),
        ],
    );
    fill(&mut drive, 400);
    for turn in 1..=5_000 {
        once(&mut drive, Op::Read, 0, 8);
        assert_eq!(count(&drive, "read_retries"), 3 * turn);
    }
    let lost = |drive: &mut Drive, units: std::ops::Range<u64>| {
        let before = count(drive, "uncorrectable_codewords");
        for unit in units {
            once(drive, Op::Read, unit * 8, 8);
        }
        count(drive, "uncorrectable_codewords") - before
    };
    // The first block has 128 pages; another is as it was.
    let (same, other) = (lost(&mut drive, 20..120), lost(&mut drive, 280..380));
    assert!(agrees(same, 800, more_than(8, 4096, 16.0 / 4096.0)), "{same} of 800");
    assert!(agrees(other, 800, more_than(8, 4096, 10.0 / 4096.0)), "{other} of 800");
}

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
    let mut pairs =
        vec![("scale_divisor", "64"), ("flash.bit_errors", "true"), ("flash.initial_cycles", "1500")];
    pairs.extend_from_slice(overrides);
    Drive::new(Arc::new(shipped::varied("adata-atom-50-1tb", &pairs).unwrap()), 1).unwrap()
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
        shipped::varied("adata-atom-50-1tb", &[on, one])
            .expect("blocks of an SLC cache fail and are moved, too");
    }
    refused("intel-ssd-520-240gb", &[on], "flash.bit_errors = true: does not apply to family compressed-map");
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
