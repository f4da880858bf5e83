//! How long writes and flushes take by both passes of their word lines.

use drivelab_controller::{Command, Device, Op};

use super::{
    BUS_NS, COARSE_NS, FINE_NS, LINE_UNITS, LINES, PROGRAM_NS, alone, buffered_units, count, drive, finish,
    flush, submit, write_lines,
};

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
