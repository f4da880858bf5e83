//! A drive that becomes read-only while a write waits for buffer space: what it has taken of the write stays a write of the
//! host, and the rest never was one.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Device, Op, Outcome};
use drivelab_drive::{Drive, faults};
use serde_json::json;

const UNITS: u64 = 64;
const BUFFER_UNITS: u64 = 16;

fn finish(drive: &mut Drive) -> Vec<Outcome> {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
        drive.engine().check_step().unwrap();
    }
    done.iter().map(|completion| completion.outcome).collect()
}

#[test]
fn of_a_write_that_waits_when_the_drive_stops_writing_only_the_rest_is_taken_back() {
    for (write_back, fua) in [("true", false), ("true", true), ("false", false)] {
        let pairs = [
            ("flash.blocks_per_plane", "16"),
            ("spare_ratio", "0.6"),
            ("write_buffer.size_bytes", "65536"),
            ("write_buffer.write_back", write_back),
        ];
        let model = shipped::varied("intel-x25-m-g1-80gb", &pairs).unwrap();
        let mut drive = Drive::new(Arc::new(model), 1).unwrap();
        let plan = json!({ "faults": [{ "kind": "read-only", "at_command": 2 }] });
        drive.set_faults(&faults::plan_from_json(&plan).unwrap()).unwrap();
        // The second makes the drive read-only while the first waits: its buffer has room for a quarter of it.
        for tag in 0..2 {
            let lba = 8 * UNITS * u64::from(tag);
            let command = Command { fua, ..Command::new(tag, Op::Write, lba, 8 * UNITS as u32) };
            drive.submit(0, command).unwrap();
        }
        let case = format!("write-back {write_back}, FUA {fua}");
        assert_eq!(finish(&mut drive), [Outcome::Refused; 2], "{case}");
        drive.submit(drive.now_ns(), Command::new(0, Op::Read, 0, 16 * UNITS as u32)).unwrap();
        assert_eq!(finish(&mut drive), [Outcome::Done], "{case}");
        let counters = drive.counters();
        let count = |key: &str| counters[key].as_u64().unwrap();
        let written = 2 * UNITS * 4096 - count("zero_read_bytes");
        assert!((BUFFER_UNITS..UNITS).contains(&(written / 4096)), "{case}: {written} bytes are there");
        assert_eq!((count("host_write_commands"), count("host_write_bytes")), (1, written), "{case}");
        assert_eq!(drive.fault_counters().refused_commands, 2, "{case}");
    }
}

/// Whoever has a plan of many faults finds the one that is meant by its value.
#[test]
fn a_key_that_does_not_apply_to_a_fault_is_told_with_its_value() {
    let told = |fault| faults::plan_from_json(&json!({ "faults": [fault] })).unwrap_err();
    let phase = told(json!({ "kind": "read-only", "phase": "before" }));
    assert!(phase.contains("phase = before: does not apply to read-only, only: at_command"), "{phase}");
    let trigger = told(json!({ "kind": "lost-write", "at_command": 7, "probability": 0.5 }));
    assert!(trigger.contains("at_command = 7: must be the only one of"), "{trigger}");
}
