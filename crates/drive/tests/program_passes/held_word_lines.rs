//! Word lines between their passes: how many the buffer holds, where they are read, and what becomes of them.

use drivelab_controller::{Device, Op};

use super::{
    BUS_NS, COARSE_NS, FINE_NS, IDLE_NS, LINE_UNITS, LINES, READ_NS, UNIT_BUS_NS, alone, buffered_units,
    count, drive, finish, flush, submit, write_lines,
};

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
