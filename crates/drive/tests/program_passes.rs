//! Word lines that are programmed in two passes, against arithmetic on the model's own parameters: how long one takes, what
//! stays in the write buffer between the passes, and where it is read meanwhile.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::faults::plan_from_json;
use drivelab_drive::{Drive, ModelError};
use serde_json::json;

const COARSE_NS: u64 = 3_000_000;
const FINE_NS: u64 = 5_000_000;
const PROGRAM_NS: u64 = COARSE_NS + FINE_NS;
const ERASE_NS: u64 = 10_000_000;
const READ_NS: u64 = 40_000;
const IDLE_NS: u64 = 1_000_000_000;
/// Word lines of a block: four pages of each of four planes, four units a page.
const LINES: u64 = 8;
const LINE_UNITS: u64 = 4 * 4 * 4;
/// A unit and its share of the out-of-band bytes at 1 GB/s.
const UNIT_BUS_NS: u64 = 4096 + 512;
const BUS_NS: u64 = LINE_UNITS * UNIT_BUS_NS;

fn varied(overrides: &[(&str, &str)]) -> Result<Drive, ModelError> {
    let (coarse, program, erase) = (COARSE_NS.to_string(), PROGRAM_NS.to_string(), ERASE_NS.to_string());
    let idle = IDLE_NS.to_string();
    let mut pairs = vec![
        ("flash.cell", "qlc"),
        ("flash.one_shot", "true"),
        ("flash.program_passes", "2"),
        ("flash.coarse_program_ns", &*coarse),
        ("flash.two_plane", "true"),
        ("flash.channel_count", "1"),
        ("flash.dies_per_channel", "1"),
        ("flash.planes_per_die", "4"),
        ("flash.blocks_per_plane", "24"),
        ("flash.pages_per_block", "32"),
        ("flash.page_bytes", "16384"),
        ("flash.oob_bytes", "2048"),
        ("flash.read_ns", "40000"),
        ("flash.program_ns", &*program),
        ("flash.erase_ns", &*erase),
        ("flash.command_ns", "0"),
        ("flash.bus_bytes_per_s", "1000000000"),
        ("spare_ratio", "3"),
        ("ftl.map_unit_bytes", "4096"),
        ("ftl.trim_supported", "true"),
        ("ftl.journal_updates_per_page", "0"),
        ("ftl.checkpoint_updates", "0"),
        ("ftl.checkpoint_bytes", "0"),
        ("ftl.wear_spread_limit", "0"),
        ("ftl.idle_cleaning_blocks", "0"),
        ("controller.queue_depth", "256"),
        ("controller.idle_delay_ns", &*idle),
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
        ("write_buffer.size_bytes", "16777216"),
        ("write_buffer.write_back", "true"),
        ("write_buffer.hold_ns", "1000"),
    ];
    for &(key, value) in overrides {
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some(pair) => pair.1 = value,
            None => pairs.push((key, value)),
        }
    }
    pairs.retain(|(_, value)| !value.is_empty());
    shipped::varied("intel-x25-m-g1-80gb", &pairs).and_then(|model| Drive::new(Arc::new(model), 1))
}

fn drive(overrides: &[(&str, &str)]) -> Drive {
    varied(overrides).unwrap()
}

fn submit(drive: &mut Drive, op: Op, unit: u64, units: u64) {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, 8 * unit, 8 * units as u32)).unwrap();
}

/// Until nothing happens any more, for shorter than a pause.
fn finish(drive: &mut Drive) -> Vec<Completion> {
    let mut done = Vec::new();
    drive.advance(drive.now_ns() + IDLE_NS / 2, &mut done);
    drive.engine().check_step().unwrap();
    done
}

/// A flush, and when it is done.
fn flush(drive: &mut Drive) -> u64 {
    submit(drive, Op::Flush, 0, 0);
    loop {
        let mut done = Vec::new();
        drive.advance_to_completion(u64::MAX, &mut done);
        if let Some(flush) = done.iter().find(|completion| completion.op == Op::Flush) {
            return flush.completed_ns;
        }
    }
}

fn write_lines(drive: &mut Drive, lines: std::ops::Range<u64>) {
    for line in lines {
        submit(drive, Op::Write, line * LINE_UNITS, LINE_UNITS);
        finish(drive);
    }
}

/// How long an operation on so many units takes that nothing else goes beside.
fn alone(drive: &mut Drive, op: Op, unit: u64, units: u64) -> u64 {
    submit(drive, op, unit, units);
    finish(drive)[0].latency_ns()
}

fn buffered_units(drive: &Drive) -> u64 {
    drive.engine().backlog().buffered_sectors / 8
}

fn count(drive: &Drive, key: &str) -> u64 {
    drive.counters()[key].as_u64().unwrap()
}

#[test]
fn a_flush_pads_behind_the_word_line_and_waits_for_both_passes() {
    for (held, twice) in [(1u64, "true"), (1, "false"), (3, "true")] {
        let mut drive =
            drive(&[("flash.held_word_lines", &held.to_string()), ("flash.sends_data_twice", twice)]);
        submit(&mut drive, Op::Write, 0, LINE_UNITS);
        submit(&mut drive, Op::Flush, 0, 0);
        let flush = finish(&mut drive).pop().unwrap();
        let again = if twice == "true" { BUS_NS } else { 0 };
        let expected = (1 + held) * (BUS_NS + COARSE_NS) + again + FINE_NS;
        assert_eq!(flush.latency_ns(), expected, "{held} held, sent twice: {twice}");
        assert_eq!(buffered_units(&drive), 0);
        assert_eq!(
            count(&drive, "program_bytes_host"),
            (1 + held) * LINE_UNITS * 4096,
            "padding is programmed, too"
        );
        // All of it is there already.
        assert_eq!(alone(&mut drive, Op::Flush, 0, 0), 0);
    }
}

#[test]
fn a_flush_behind_padding_waits_for_its_second_pass_too() {
    for held in [1u64, 2] {
        let mut drive = drive(&[("flash.held_word_lines", &held.to_string())]);
        let mut latencies = (0..2).map(|line| {
            submit(&mut drive, Op::Write, line * LINE_UNITS, LINE_UNITS);
            submit(&mut drive, Op::Flush, 0, 0);
            finish(&mut drive).pop().unwrap().latency_ns()
        });
        let behind = latencies.nth(1).unwrap();
        assert_eq!(behind, (1 + held) * (2 * BUS_NS + COARSE_NS + FINE_NS), "{held} held");
    }
}

#[test]
fn a_write_with_fua_waits_for_its_own_second_pass_behind_padding() {
    let mut drive = drive(&[]);
    write_lines(&mut drive, 0..1);
    let now = drive.now_ns();
    let write = Command::new(0, Op::Write, 8 * LINE_UNITS, 8 * LINE_UNITS as u32);
    drive.submit(now, Command { fua: true, ..write }).unwrap();
    let write = finish(&mut drive)[0];
    // Its coarse pass and the fine one in front of it, and the same of the padding.
    assert_eq!(write.latency_ns(), 2 * (2 * BUS_NS + PROGRAM_NS));
    assert_eq!(buffered_units(&drive), 0);
    assert_eq!(count(&drive, "program_bytes_host"), 3 * LINE_UNITS * 4096);
    // Nobody waits for what is held now.
    assert_eq!(alone(&mut drive, Op::Write, 2 * LINE_UNITS, LINE_UNITS), 0);
    assert_eq!(buffered_units(&drive), LINE_UNITS);
}

#[test]
fn writes_wait_for_both_passes_in_the_smallest_buffer() {
    for (channels, held) in [(1u64, 1u64), (1, 3), (2, 1)] {
        let buffer_units = (channels * held + 1) * LINE_UNITS;
        let mut drive = drive(&[
            ("flash.channel_count", &channels.to_string()),
            ("flash.held_word_lines", &held.to_string()),
            ("write_buffer.size_bytes", &(buffer_units * 4096).to_string()),
        ]);
        // Ends in the middle of blocks.
        let lines = 3 * LINES * channels - 2;
        for line in 0..lines {
            submit(&mut drive, Op::Write, line * LINE_UNITS, LINE_UNITS);
        }
        let mut done = Vec::new();
        while drive.engine().outstanding() > 0 {
            let next = drive.next_event().expect("a write that waits for space gets it");
            drive.advance(next, &mut done);
            drive.engine().check_step().unwrap();
            assert!(buffered_units(&drive) <= buffer_units, "{channels} dies, {held} held");
        }
        assert_eq!(done.len() as u64, lines);
        let stalled = done.iter().filter(|write| write.latency_ns() > 0).count() as u64;
        assert_eq!(stalled, lines - buffer_units / LINE_UNITS, "{channels} dies, {held} held");
        flush(&mut drive);
        assert_eq!(buffered_units(&drive), 0);
        drive.engine().check().unwrap();
    }
}

#[test]
fn a_secure_erase_between_the_passes_leaves_a_new_drive() {
    let mut drive = drive(&[]);
    write_lines(&mut drive, 0..2);
    assert_eq!(buffered_units(&drive), LINE_UNITS);
    drive.secure_erase();
    assert_eq!(buffered_units(&drive), 0);
    assert_eq!(alone(&mut drive, Op::Read, LINE_UNITS, 1), 0, "nothing");
    assert_eq!(alone(&mut drive, Op::Flush, 0, 0), 0);
    drive.engine().check().unwrap();
    let start = drive.now_ns();
    submit(&mut drive, Op::Write, 0, LINE_UNITS);
    assert_eq!(flush(&mut drive) - start, 3 * BUS_NS + 2 * COARSE_NS + FINE_NS);
    drive.engine().check().unwrap();
}

#[test]
fn a_block_takes_both_passes_of_each_of_its_word_lines() {
    for held in [1, 2, 3] {
        let power =
            [("idle_mw", "0"), ("active_mw", "0"), ("firmware_mw", "0"), ("link_mw", "0"), ("bus_mw", "0")];
        let power: Vec<_> = power.map(|(part, mw)| (format!("power.{part}"), mw)).to_vec();
        let mut pairs: Vec<_> = power.iter().map(|(key, mw)| (key.as_str(), *mw)).collect();
        let held_lines = held.to_string();
        pairs.extend([("power.program_mw", "50"), ("flash.held_word_lines", &held_lines)]);
        let mut drive = drive(&pairs);
        let idle = drive.clone();
        let start = drive.now_ns();
        submit(&mut drive, Op::Write, 0, LINES * LINE_UNITS);
        let done = flush(&mut drive);
        // Behind the last word lines of a block there are none to wait for: nothing is padded.
        assert_eq!(done - start, LINES * (2 * BUS_NS + PROGRAM_NS), "{held} held");
        assert_eq!(count(&drive, "program_bytes_host"), LINES * LINE_UNITS * 4096);
        // 50 mW for the programs alone.
        let (before, after) = (idle.counters(), drive.counters());
        let energy_nj = after["energy_nj"].as_u64().unwrap() - before["energy_nj"].as_u64().unwrap();
        assert_eq!(energy_nj, LINES * PROGRAM_NS / 20);
    }
}

#[test]
fn the_buffer_holds_the_word_lines_between_their_passes_of_every_die() {
    for (channels, held) in [(1u64, 1u64), (1, 3), (4, 1), (4, 2)] {
        let mut drive = drive(&[
            ("flash.channel_count", &channels.to_string()),
            ("flash.held_word_lines", &held.to_string()),
        ]);
        for written in 1..LINES {
            let first = (written - 1) * channels;
            write_lines(&mut drive, first..first + channels);
            let expected = written.min(held) * channels * LINE_UNITS;
            assert_eq!(buffered_units(&drive), expected, "{channels} dies, {held} held, {written} written");
        }
        let last = (LINES - 1) * channels;
        write_lines(&mut drive, last..last + channels);
        assert_eq!(buffered_units(&drive), 0, "the blocks are full");
    }
}

#[test]
fn a_pause_pads_behind_what_the_host_wrote() {
    let mut drive = drive(&[("flash.channel_count", "2")]);
    write_lines(&mut drive, 0..2);
    assert_eq!(buffered_units(&drive), 2 * LINE_UNITS);
    finish(&mut drive);
    drive.advance(drive.now_ns() + IDLE_NS, &mut Vec::new());
    assert_eq!(buffered_units(&drive), 0);
    assert_eq!(count(&drive, "program_bytes_host"), 4 * LINE_UNITS * 4096);
    drive.engine().check().unwrap();
}

#[test]
fn sequential_writes_follow_both_passes_and_dies() {
    for (channels, twice) in [(1u64, "true"), (2, "true"), (4, "true"), (2, "false")] {
        let mut drive =
            drive(&[("flash.channel_count", &channels.to_string()), ("flash.sends_data_twice", twice)]);
        for line in 0..5 * LINES * channels {
            submit(&mut drive, Op::Write, line * LINE_UNITS, LINE_UNITS);
            drive.advance_to_completion(u64::MAX, &mut Vec::new());
        }
        let took = flush(&mut drive);
        let transfers = if twice == "true" { 2 } else { 1 };
        let expected = 5 * LINES * (transfers * BUS_NS + PROGRAM_NS);
        let within = 2 * PROGRAM_NS;
        assert!(took.abs_diff(expected) < within, "{channels} dies: {took} ns, by formula {expected}");
    }
}

#[test]
fn a_word_line_is_read_from_the_buffer_until_its_second_pass() {
    let mut drive = drive(&[]);
    write_lines(&mut drive, 0..3);
    for line in 0..3 {
        let (hits, took) =
            (count(&drive, "buffer_hit_bytes"), alone(&mut drive, Op::Read, line * LINE_UNITS, 1));
        let hits = count(&drive, "buffer_hit_bytes") - hits;
        let expected = if line == 2 { (4096, 0) } else { (0, READ_NS + UNIT_BUS_NS) };
        assert_eq!((hits, took), expected, "word line {line}");
    }
    // A trim and a new write are seen at once, whatever becomes of the old version.
    submit(&mut drive, Op::Trim, 2 * LINE_UNITS, 1);
    submit(&mut drive, Op::Write, 2 * LINE_UNITS + 1, 1);
    finish(&mut drive);
    assert_eq!(alone(&mut drive, Op::Read, 2 * LINE_UNITS, 1), 0, "nothing");
    submit(&mut drive, Op::Flush, 0, 0);
    finish(&mut drive);
    assert_eq!(alone(&mut drive, Op::Read, 2 * LINE_UNITS + 1, 1), READ_NS + UNIT_BUS_NS);
    drive.engine().check().unwrap();
}

/// Word lines of copies, and victims, of a drive of which every other unit is written again twice.
fn cleaned(passes: &[(&str, &str)]) -> (f64, f64) {
    let mut drive = drive(&[&[("spare_ratio", "1.0")], passes].concat());
    let units = drive.capacity_sectors() / 8;
    write_lines(&mut drive, 0..units / LINE_UNITS);
    let halves = (0..units / LINE_UNITS * LINE_UNITS).step_by(2);
    for unit in halves.clone().chain(halves) {
        submit(&mut drive, Op::Write, unit, 1);
        drive.advance_to_completion(u64::MAX, &mut Vec::new());
        // Whatever state it is in: an assertion in the drive says that no word line is read between its passes.
        submit(&mut drive, Op::Read, (unit * 7 + 1) % (units - 2), 3);
        drive.advance_to_completion(u64::MAX, &mut Vec::new());
    }
    finish(&mut drive);
    drive.engine().check().unwrap();
    let programs = count(&drive, "program_bytes_cleaning") / (LINE_UNITS * 4096);
    (programs as f64, count(&drive, "erases_cleaning") as f64)
}

#[test]
fn a_victim_is_erased_when_its_copies_have_had_both_passes() {
    let one = cleaned(&[("flash.program_passes", "1"), ("flash.coarse_program_ns", "")]);
    for held in [1u32, 2] {
        let two = cleaned(&[("flash.held_word_lines", &held.to_string())]);
        assert!(two.1 > 10.0, "{two:?}");
        // A page of padding for each word line that is held, but where the copies end with their block; and victims have
        // more to copy where there is less room.
        let more = two.0 / two.1 - one.0 / one.1;
        assert!(more > 0.7 * f64::from(held), "{held} held: {two:?}, with one pass {one:?}");
    }
}

#[test]
fn with_two_passes_of_the_same_total_a_drive_writes_as_fast_and_answers_flushes_later() {
    let took = |passes: &[(&str, &str)], flushes: bool| {
        let mut pairs = vec![("flash.program_passes", "2"), ("flash.sends_data_twice", "false")];
        pairs.extend_from_slice(passes);
        let mut drive = drive(&pairs);
        for line in 0..5 * LINES {
            submit(&mut drive, Op::Write, line * LINE_UNITS, LINE_UNITS);
            if flushes {
                flush(&mut drive);
            } else {
                drive.advance_to_completion(u64::MAX, &mut Vec::new());
            }
        }
        flush(&mut drive)
    };
    let (one, two) = (5 * LINES * (BUS_NS + PROGRAM_NS), took(&[], false));
    assert_eq!(two, one, "the last block is full: nothing is padded");
    // Half of all that is programmed is padding.
    assert_eq!(took(&[], true), 2 * one);
}

#[test]
fn what_two_passes_cannot_be_with_is_refused_by_name() {
    for (key, value, others) in [
        ("flash.one_shot", "false", vec![]),
        ("flash.cell", "slc", vec![]),
        ("write_buffer.write_back", "false", vec![]),
        ("ftl.superblock_blocks", "2", vec![]),
        ("ftl.parity_stripe_pages", "4", vec![]),
        ("ftl.placement", "hot-cold", vec![]),
        ("ftl.cleaning_mode", "rewrite-in-place", vec![]),
        ("flash.coarse_program_ns", "8000001", vec![]),
        ("flash.held_word_lines", "4", vec![]),
        ("write_buffer.size_bytes", "524287", vec![]),
        ("flash.coarse_program_ns", "3000000", vec![("flash.program_passes", "1")]),
        ("flash.program_passes", "3", vec![]),
    ] {
        let mut pairs = vec![(key, value)];
        pairs.extend(others);
        let refused =
            varied(&pairs).err().unwrap_or_else(|| panic!("{key} = {value} makes a drive")).to_string();
        assert!(refused.contains(key), "{refused}");
    }
}

#[test]
fn programs_that_fail_are_refused_on_kept_drives_of_two_passes() {
    let mut kept = drive(&[]);
    kept.record_effects().unwrap();
    let plan = plan_from_json(&json!({"faults": [{"kind": "program-failure", "probability": 0.1}]})).unwrap();
    let reason = kept.set_faults(&plan).unwrap_err();
    assert!(reason.contains("program-failure") && reason.contains("flash.program_passes = 2"), "{reason}");
    let plan = plan_from_json(&json!({"faults": [{"kind": "erase-failure", "probability": 0.1}]})).unwrap();
    kept.set_faults(&plan).unwrap();
}
