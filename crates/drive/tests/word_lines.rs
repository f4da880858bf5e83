//! Word lines that are programmed whole and read page by page, and reads in front of programs and erases, against
//! arithmetic on the model's own parameters.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::{Drive, ModelError};

const READ_NS: u64 = 40_000;
const PROGRAM_NS: u64 = 2_000_000;
const ERASE_NS: u64 = 8_000_000;
const LINE_UNITS: u64 = 4 * 3 * 4;
/// A unit and its share of the out-of-band bytes at 1 GB/s.
const UNIT_BUS_NS: u64 = 4096 + 512;
const LINE_BUS_NS: u64 = LINE_UNITS * UNIT_BUS_NS;

/// One die with four planes of TLC, whose other times are none.
fn drive(overrides: &[(&str, &str)]) -> Drive {
    varied(overrides).unwrap()
}

fn varied(overrides: &[(&str, &str)]) -> Result<Drive, ModelError> {
    let mut pairs = vec![
        ("flash.cell", "tlc"),
        ("flash.one_shot", "true"),
        ("flash.two_plane", "true"),
        ("flash.channel_count", "1"),
        ("flash.dies_per_channel", "1"),
        ("flash.planes_per_die", "4"),
        ("flash.blocks_per_plane", "24"),
        ("flash.pages_per_block", "24"),
        ("flash.page_bytes", "16384"),
        ("flash.oob_bytes", "2048"),
        ("flash.read_ns", "40000"),
        ("flash.read_middle_ns", "50000"),
        ("flash.read_upper_ns", "70000"),
        ("flash.program_ns", "2000000"),
        ("flash.erase_ns", "8000000"),
        ("flash.command_ns", "0"),
        ("flash.bus_bytes_per_s", "1000000000"),
        ("flash.suspended_max_percent", "500"),
        ("spare_ratio", "1"),
        ("ftl.map_unit_bytes", "4096"),
        ("ftl.journal_updates_per_page", "0"),
        ("ftl.checkpoint_updates", "0"),
        ("ftl.checkpoint_bytes", "0"),
        ("ftl.wear_spread_limit", "0"),
        ("ftl.idle_cleaning_blocks", "0"),
        ("controller.queue_depth", "256"),
        ("controller.read_firmware_ns", "0"),
        ("controller.write_firmware_ns", "0"),
        ("controller.flush_firmware_ns", "0"),
        ("controller.pipeline_ns", "0"),
        ("controller.program_firmware_ns", "0"),
        ("controller.read_path_bytes_per_s", "0"),
        ("controller.read_ahead_bytes", "0"),
        ("controller.decode_ns", "0"),
        ("controller.programs_per_channel", "0"),
        ("link.bytes_per_s", "0"),
        ("link.frame_overhead_ns", "0"),
        ("link.command_overhead_ns", "0"),
        ("write_buffer.size_bytes", "1572864"),
        ("write_buffer.hold_ns", "1000"),
    ];
    for &(key, value) in overrides {
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some(pair) => pair.1 = value,
            None => pairs.push((key, value)),
        }
    }
    // Cells of fewer bits have no more pages on a word line.
    let bits = ["slc", "mlc", "tlc", "qlc"].iter().position(|&cell| pairs.contains(&("flash.cell", cell)));
    let of_page = ["flash.read_middle_ns", "flash.read_upper_ns"];
    let extra = of_page.iter().skip(bits.unwrap_or(0));
    let extra: Vec<_> = extra.filter(|key| overrides.iter().all(|(given, _)| given != *key)).collect();
    pairs.retain(|(key, _)| !extra.contains(&key));
    shipped::varied("intel-x25-m-g1-80gb", &pairs).and_then(|model| Drive::new(Arc::new(model), 1))
}

fn submit(drive: &mut Drive, at: u64, op: Op, unit: u64, units: u64) {
    drive.submit(at, Command::new(0, op, 8 * unit, 8 * units as u32)).unwrap();
}

fn finish(drive: &mut Drive) -> Vec<Completion> {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    done
}

/// Word lines 0 to `lines` are in flash, and nothing is under way.
fn filled(lines: u64, overrides: &[(&str, &str)]) -> Drive {
    let mut drive = drive(overrides);
    for line in 0..lines {
        let now = drive.now_ns();
        submit(&mut drive, now, Op::Write, line * LINE_UNITS, LINE_UNITS);
        finish(&mut drive);
    }
    drive
}

fn read_alone(drive: &mut Drive, unit: u64, units: u64) -> u64 {
    let now = drive.now_ns();
    submit(drive, now, Op::Read, unit, units);
    finish(drive)[0].latency_ns()
}

/// A word line is being programmed from `start` on; a read of another comes `after` its program began. Latency of the
/// read, and for how long the flush behind it all takes.
fn read_while_programming(drive: &mut Drive, after: u64) -> (u64, u64) {
    let start = drive.now_ns();
    submit(drive, start, Op::Write, LINE_UNITS, LINE_UNITS);
    submit(drive, start, Op::Flush, 0, 0);
    submit(drive, start + LINE_BUS_NS + after, Op::Read, 0, 1);
    let done = finish(drive);
    let of = |op| done.iter().find(|completion| completion.op == op).unwrap().latency_ns();
    (of(Op::Read), of(Op::Flush))
}

#[test]
fn a_word_line_of_all_planes_takes_one_program() {
    for (cell, pages) in [("mlc", 2u64), ("tlc", 3), ("qlc", 4)] {
        let mut drive = drive(&[("flash.cell", cell)]);
        let units = 4 * pages * 4;
        submit(&mut drive, 0, Op::Write, 0, units);
        submit(&mut drive, 0, Op::Flush, 0, 0);
        let flush = finish(&mut drive)[1];
        assert_eq!(flush.latency_ns(), units * UNIT_BUS_NS + PROGRAM_NS, "{cell}");
        assert_eq!(drive.counters()["program_bytes_host"], units * 4096);
    }
}

#[test]
fn sequential_writes_follow_dies_and_tprog() {
    let rate = |channels: u64, program_ns: u64| {
        let mut drive = drive(&[
            ("flash.channel_count", &channels.to_string()),
            ("flash.program_ns", &program_ns.to_string()),
        ]);
        for line in 0..40 * channels {
            let now = drive.now_ns();
            submit(&mut drive, now, Op::Write, line * LINE_UNITS, LINE_UNITS);
            let mut done = Vec::new();
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        finish(&mut drive);
        40.0 * (channels * LINE_UNITS * 4096) as f64 / drive.now_ns() as f64
    };
    let formula = |channels: u64, program_ns: u64| {
        (channels * LINE_UNITS * 4096) as f64 / (LINE_BUS_NS + program_ns) as f64
    };
    for (channels, program_ns) in [(1, PROGRAM_NS), (2, PROGRAM_NS), (2, PROGRAM_NS / 2), (4, PROGRAM_NS)] {
        let (rate, formula) = (rate(channels, program_ns), formula(channels, program_ns));
        assert!((rate / formula - 1.0).abs() < 0.03, "{rate} GB/s, by formula {formula}");
    }
}

#[test]
fn reads_take_the_time_of_their_page() {
    let mut drive = filled(1, &[]);
    for unit in 0..LINE_UNITS {
        // Four units on a page, four planes, then the next page of the cell.
        let read_ns = [40_000, 50_000, 70_000][(unit / 16) as usize];
        assert_eq!(read_alone(&mut drive, unit, 1), read_ns + UNIT_BUS_NS, "unit {unit}");
    }
    // Units of one page come with one sensing, those of two pages with two, of other planes one after the other.
    assert_eq!(read_alone(&mut drive, 0, 4), READ_NS + 4 * UNIT_BUS_NS);
    assert_eq!(read_alone(&mut drive, 2, 4), 2 * (READ_NS + 2 * UNIT_BUS_NS));
    // A whole word line: every page of it, or the planes of each kind together.
    let sensed = 4 * (40_000 + 50_000 + 70_000);
    assert_eq!(read_alone(&mut drive, 0, LINE_UNITS), sensed + LINE_BUS_NS);
    let mut together = filled(1, &[("flash.planes_per_read", "4")]);
    assert_eq!(read_alone(&mut together, 0, LINE_UNITS), sensed / 4 + LINE_BUS_NS);
}

#[test]
fn planes_read_together_only_if_they_are_independent() {
    for (independent, planes, bus) in [("false", 4, 4), ("true", 1, 4)] {
        let mut drive = filled(1, &[("flash.independent_planes", independent)]);
        let start = drive.now_ns();
        for plane in 0..4 {
            submit(&mut drive, start, Op::Read, plane * 4, 1);
        }
        let last = finish(&mut drive).iter().map(Completion::latency_ns).max().unwrap();
        // They share the bus, which each takes while others sense.
        let expected = planes * READ_NS + if planes == 1 { bus } else { 4 } * UNIT_BUS_NS;
        assert_eq!(last, expected, "independent: {independent}");
    }
}

#[test]
fn without_suspends_a_read_waits_for_the_end_of_the_program() {
    let mut drive = filled(1, &[]);
    let (read, flush) = read_while_programming(&mut drive, 300_000);
    assert_eq!(read, PROGRAM_NS - 300_000 + READ_NS + UNIT_BUS_NS);
    assert_eq!(flush, LINE_BUS_NS + PROGRAM_NS);
}

#[test]
fn a_read_suspends_a_program_which_ends_later_by_what_that_took() {
    let suspends = [("flash.program_suspend_ns", "60000"), ("flash.resume_ns", "20000")];
    let gap = 60_000 + READ_NS + UNIT_BUS_NS + 20_000;
    let mut drive = filled(1, &suspends);
    let (read, flush) = read_while_programming(&mut drive, 300_000);
    assert_eq!((read, flush), (60_000 + READ_NS + UNIT_BUS_NS, LINE_BUS_NS + PROGRAM_NS + gap));
    // Nearly done: not worth stopping.
    let (read, flush) = read_while_programming(&mut drive, PROGRAM_NS - 60_000);
    assert_eq!((read, flush), (60_000 + READ_NS + UNIT_BUS_NS, LINE_BUS_NS + PROGRAM_NS));
    // Before the program begins, its data on the bus, a read goes first and nothing stops.
    let start = drive.now_ns();
    submit(&mut drive, start, Op::Write, LINE_UNITS, LINE_UNITS);
    submit(&mut drive, start, Op::Flush, 0, 0);
    submit(&mut drive, start + LINE_BUS_NS - 1000, Op::Read, 0, 1);
    let done = finish(&mut drive);
    let of = |op| done.iter().find(|completion| completion.op == op).unwrap().latency_ns();
    assert_eq!(of(Op::Read), 1000 + READ_NS + UNIT_BUS_NS);
    assert_eq!(of(Op::Flush), LINE_BUS_NS + PROGRAM_NS + READ_NS + UNIT_BUS_NS);
}

#[test]
fn an_operation_runs_for_its_slice_and_stops_so_often_at_most() {
    let latencies = |overrides: &[(&str, &str)]| {
        let mut pairs = vec![("flash.program_suspend_ns", "50000")];
        pairs.extend_from_slice(overrides);
        let mut drive = filled(1, &pairs);
        let start = drive.now_ns();
        submit(&mut drive, start, Op::Write, LINE_UNITS, LINE_UNITS);
        let begins = start + LINE_BUS_NS;
        for after in [100_000, 250_000, 1_000_000] {
            submit(&mut drive, begins + after, Op::Read, 0, 1);
        }
        let done = finish(&mut drive);
        let reads = done.iter().filter(|completion| completion.op == Op::Read);
        reads.map(|read| read.latency_ns() - READ_NS - UNIT_BUS_NS).collect::<Vec<_>>()
    };
    assert_eq!(latencies(&[]), [50_000; 3]);
    let gap = 50_000 + READ_NS + UNIT_BUS_NS;
    let slice = latencies(&[("flash.suspend_slice_ns", "120000")]);
    assert_eq!(slice, [70_000, 120_000 + gap + 120_000 + 50_000 - 250_000, 50_000]);
    let end = PROGRAM_NS + gap;
    let once = [50_000, end - 250_000, end + READ_NS + UNIT_BUS_NS - 1_000_000];
    assert_eq!(latencies(&[("flash.suspends_max", "1")]), once);
    // Two reads later it has less than this left.
    let finish = latencies(&[("flash.finish_within_ns", "1200000")]);
    assert_eq!(finish, [50_000, 50_000, PROGRAM_NS + 2 * gap - 1_000_000]);
    // What keeps a program for longer than this share of its time is enough.
    assert_eq!(latencies(&[("flash.suspended_max_percent", "4")]), once);
}

#[test]
fn erases_stop_as_programs_do() {
    // One word line written over and over: the die is cleaned by erases alone.
    let slowest = |overrides: &[(&str, &str)]| {
        let mut pairs = vec![("ftl.trim_supported", "true")];
        pairs.extend_from_slice(overrides);
        let mut drive = filled(1, &pairs);
        let mut slowest = 0;
        for _ in 0..400 {
            let now = drive.now_ns();
            submit(&mut drive, now, Op::Write, LINE_UNITS, LINE_UNITS);
            for later in 1..10 {
                submit(&mut drive, now + later * 900_000, Op::Read, 0, 1);
            }
            let done = finish(&mut drive);
            let reads = done.iter().filter(|completion| completion.op == Op::Read);
            slowest = reads.map(Completion::latency_ns).chain([slowest]).max().unwrap();
        }
        assert!(drive.counters()["erases_cleaning"].as_u64().unwrap() > 10);
        slowest
    };
    let program = ("flash.program_suspend_ns", "50000");
    let waits = slowest(&[program]);
    assert!((ERASE_NS - 900_000..ERASE_NS + 200_000).contains(&waits), "{waits}");
    let stops = slowest(&[program, ("flash.erase_suspend_ns", "90000")]);
    assert_eq!(stops, 90_000 + READ_NS + UNIT_BUS_NS);
}

#[test]
fn reads_keep_an_operation_for_its_own_time_at_most() {
    // Reads that follow each other closely: those that find no room in front of a program wait for its end.
    let flood = |percent: &str| {
        let pairs = [("flash.program_suspend_ns", "0"), ("flash.suspended_max_percent", percent)];
        let mut drive = filled(1, &pairs);
        let start = drive.now_ns();
        submit(&mut drive, start, Op::Write, LINE_UNITS, LINE_UNITS);
        submit(&mut drive, start, Op::Flush, 0, 0);
        for read in 0..200 {
            submit(&mut drive, start + LINE_BUS_NS + 1000 + read * READ_NS, Op::Read, 0, 1);
        }
        let done = finish(&mut drive);
        done.iter().find(|completion| completion.op == Op::Flush).unwrap().latency_ns() - LINE_BUS_NS
    };
    for (percent, longest) in [("25", PROGRAM_NS / 4), ("100", PROGRAM_NS), ("200", 2 * PROGRAM_NS)] {
        let kept = flood(percent) - PROGRAM_NS;
        assert!((longest..longest + 3 * (READ_NS + UNIT_BUS_NS)).contains(&kept), "{percent} %: {kept} ns");
    }
}

#[test]
fn a_copy_lets_reads_in_between_its_sensings() {
    // Every second word line of units is written again at random until the die is cleaned all the time.
    let mut drive =
        drive(&[("flash.program_suspend_ns", "0"), ("flash.erase_suspend_ns", "0"), ("spare_ratio", "0.5")]);
    let units = drive.capacity_sectors() / 8;
    let mut random = drivelab_sim::Stream::new(1, 1);
    let mut done = Vec::new();
    let (mut at, mut slowest, mut inside) = (0, 0, 0);
    for step in 0..20_000u64 {
        at = drive.now_ns().max(at) + 60_000;
        submit(&mut drive, at, Op::Write, random.below(units), 1);
        if step > 10_000 {
            submit(&mut drive, at + random.below(60_000), Op::Read, random.below(units), 1);
        }
        inside += 1 + usize::from(step > 10_000);
        while inside > 32 + done.len() {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
    }
    done.extend(finish(&mut drive));
    for read in done.iter().filter(|completion| completion.op == Op::Read) {
        slowest = slowest.max(read.latency_ns());
    }
    assert!(drive.counters()["program_bytes_cleaning"].as_u64().unwrap() > 200 * LINE_UNITS * 4096);
    // At most 32 reads before it, one sensing of a copy, and a word line on the bus.
    assert!(slowest < LINE_BUS_NS + 34 * (70_000 + 4 * UNIT_BUS_NS), "{slowest}");
}

#[test]
fn both_ways_of_a_full_duplex_link_are_used_at_once() {
    let took = |full_duplex: &str| {
        let mut drive = filled(8, &[("link.bytes_per_s", "100000000"), ("link.full_duplex", full_duplex)]);
        let start = drive.now_ns();
        for line in 0..4 {
            submit(&mut drive, start, Op::Write, (8 + line) * LINE_UNITS, LINE_UNITS);
            submit(&mut drive, start, Op::Read, line * LINE_UNITS, LINE_UNITS);
        }
        let done = finish(&mut drive);
        done.iter().map(|completion| completion.completed_ns).max().unwrap() - start
    };
    let line_ns = LINE_UNITS * 4096 * 10;
    let (half, full) = (took("false"), took("true"));
    assert!((8 * line_ns..9 * line_ns).contains(&half), "{half}");
    assert!((4 * line_ns..5 * line_ns).contains(&full), "{full}");
}

#[test]
fn both_ways_of_a_full_duplex_link_take_power() {
    let energy = |power_mw: &str| {
        let link = [("link.bytes_per_s", "100000000"), ("link.full_duplex", "true")];
        let mut drive = filled(8, &[link[0], link[1], ("power.link_mw", power_mw)]);
        let start = drive.now_ns();
        let before = drive.counters()["energy_nj"].as_u64().unwrap();
        submit(&mut drive, start, Op::Read, 0, LINE_UNITS);
        finish(&mut drive);
        drive.counters()["energy_nj"].as_u64().unwrap() - before
    };
    let line_ns = LINE_UNITS * 4096 * 10;
    let (without, with) = (energy("0"), energy("2000"));
    // 2 W for what one way takes, whatever the other one carried before.
    assert!((with - without).abs_diff(2 * line_ns) <= 2 * line_ns / 100, "{without} {with}");
}

#[test]
fn what_would_mean_nothing_is_refused_by_name() {
    for (key, value, others) in [
        ("flash.read_top_ns", "90000", vec![]),
        ("flash.read_upper_ns", "70000", vec![("flash.cell", "mlc")]),
        ("flash.planes_per_read", "5", vec![]),
        ("flash.planes_per_read", "2", vec![("flash.two_plane", "false")]),
        ("flash.program_fast_ns", "100000", vec![]),
        ("flash.suspended_max_percent", "0", vec![]),
        ("flash.page_bytes", "768", vec![("flash.cell", "qlc"), ("ftl.map_unit_bytes", "3072")]),
    ] {
        let pairs: Vec<_> = [(key, value)].into_iter().chain(others).collect();
        let error = varied(&pairs).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(value), "{key} = {value}: {error}");
    }
}

#[test]
fn reads_pass_writes_that_wait_for_space_unless_commands_go_in_order() {
    let latency = |in_order: &str| {
        let mut drive = filled(1, &[("controller.in_order", in_order), ("flash.program_suspend_ns", "0")]);
        let start = drive.now_ns();
        // Twice what the buffer holds, then a read.
        for line in 0..16 {
            submit(&mut drive, start, Op::Write, (1 + line) * LINE_UNITS, LINE_UNITS);
        }
        submit(&mut drive, start, Op::Read, 0, 1);
        let done = finish(&mut drive);
        done.iter().find(|completion| completion.op == Op::Read).unwrap().latency_ns()
    };
    assert!(latency("false") < LINE_BUS_NS + READ_NS + 2 * UNIT_BUS_NS);
    // Eight word lines have to leave before the last has space.
    let behind = latency("true");
    let lines = behind as f64 / (LINE_BUS_NS + PROGRAM_NS) as f64;
    assert!((7.5..9.0).contains(&lines), "{lines}");
}
