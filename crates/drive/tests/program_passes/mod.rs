//! Word lines that are programmed in two passes, against arithmetic on the model's own parameters; and what can't be with
//! them.
//!
//! `times.rs` has how long writes and flushes take, `held_word_lines.rs` what stays in the write buffer between the passes,
//! and where it is read meanwhile.

mod held_word_lines;
mod times;

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
