//! One sensing and those after it: shares of codewords that are lost and read retries against sums over the binomial
//! distribution, their time, and what they disturb.

use drivelab_controller::Op;
use drivelab_drive::Drive;

use super::{UNITS, agrees, count, drive, fill, more_than, once, read};

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

/// A mean of 8 wrong bits in a codeword of 4096, which reads don't add to: about half of all codewords need retries.
const NEED_RETRIES: [(&str, &str); 6] = [
    ("flash.new_bit_error_rate", "0.001953125"),
    ("flash.worn_bit_error_rate", "0.5"),
    ("flash.read_disturb_reads", "1000000000000"),
    ("controller.read_retries", "20"),
    ("controller.retry_factor", "0.8"),
    FOUR_UNITS,
];

#[test]
fn units_of_one_page_that_are_read_together_are_read_again_together() {
    let mut good =
        drive(5, &[("flash.new_bit_error_rate", "0"), ("flash.worn_bit_error_rate", "0"), FOUR_UNITS]);
    let mut bad = drive(5, &NEED_RETRIES);
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
fn what_was_read_ahead_is_read_again_by_page_whatever_the_host_takes_at_once() {
    let retries = |read_ahead_bytes: &str, sectors: u32| {
        let ahead = [("controller.read_ahead_bytes", read_ahead_bytes)];
        let mut drive = drive(5, &[&NEED_RETRIES[..], &ahead].concat());
        fill(&mut drive, 400);
        // The second one goes on where the first ended, so that all behind it is read ahead.
        once(&mut drive, Op::Read, 0, 8);
        once(&mut drive, Op::Read, 8, 8);
        for lba in (16..3200).step_by(sectors as usize) {
            once(&mut drive, Op::Read, lba, sectors.min(3200 - lba as u32));
        }
        count(&drive, "read_retries")
    };
    let by_page = retries("0", 8);
    assert!(by_page > 400, "{by_page}");
    for sectors in [2, 4, 8, 64, 400] {
        assert_eq!(retries("65536", sectors), by_page, "{sectors} sectors at once");
    }
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
fn a_sensing_of_one_plane_disturbs_no_other() {
    // Lines of four planes by three pages of 16 KiB, read plane by plane. A mean of 8 wrong bits of which 8 are corrected;
    // 5,000 sensings make it 12.
    let rate = (8.0 / 4096.0).to_string();
    let mut drive = drive(
        6,
        &[
            ("flash.cell", "tlc"),
            ("flash.one_shot", "true"),
            ("flash.two_plane", "true"),
            ("flash.channel_count", "1"),
            ("flash.dies_per_channel", "1"),
            ("flash.planes_per_die", "4"),
            ("flash.pages_per_block", "24"),
            ("flash.page_bytes", "16384"),
            ("flash.oob_bytes", "2048"),
            ("flash.read_middle_ns", "50000"),
            ("flash.read_upper_ns", "50000"),
            ("ftl.map_unit_bytes", "4096"),
            ("ftl.journal_updates_per_page", "0"),
            ("write_buffer.size_bytes", "1572864"),
            ("controller.read_ahead_bytes", "0"),
            ("controller.codeword_bytes", "512"),
            ("controller.correctable_bits", "8"),
            ("controller.read_retries", "0"),
            ("flash.new_bit_error_rate", &rate),
            ("flash.worn_bit_error_rate", "0.5"),
            ("flash.read_disturb_reads", "10000"),
        ],
    );
    let (line, block) = (48, 384);
    for first in (0..2 * block).step_by(line as usize) {
        once(&mut drive, Op::Write, first * 8, 8 * line as u32);
        once(&mut drive, Op::Flush, 0, 0);
    }
    for _ in 0..5_000 {
        once(&mut drive, Op::Read, 0, 8);
    }
    let mut lost = |units: Vec<u64>| {
        let before = count(&drive, "uncorrectable_codewords");
        let draws = units.len() as u64 * 8;
        for unit in units {
            once(&mut drive, Op::Read, unit * 8, 8);
        }
        (count(&drive, "uncorrectable_codewords") - before, draws)
    };
    let of_plane = |plane, unit: &u64| unit % line / 4 % 4 == plane;
    for (plane, mean) in [(0, 12.0), (1, 8.0), (2, 8.0), (3, 8.0)] {
        let (found, draws) = lost((0..block).filter(|unit| of_plane(plane, unit)).collect());
        let chance = more_than(8, 4096, mean / 4096.0);
        assert!(agrees(found, draws, chance), "plane {plane}: {found} of {draws}, {chance}");
    }
    let (found, draws) = lost((block..2 * block).collect());
    assert!(agrees(found, draws, more_than(8, 4096, 8.0 / 4096.0)), "another block: {found} of {draws}");
}
