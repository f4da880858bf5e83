//! Faults of drives in images: power cuts at an operation, and what stays of failures when the power comes back.

use std::path::{Path, PathBuf};

use crate::small::{Host, SECTOR, commands, read_all, run, sectors, texts};
use drivelab_controller::faults::{CutPhase, FaultKind};
use drivelab_controller::{Command, Completion, Effects, FaultPlan, Op, Outcome, PowerCut};
use drivelab_drive::Drive;
use drivelab_drive::faults::plan_from_json;
use drivelab_image::upkeep::{check, smart, trim};
use drivelab_image::{Image, ImageDrive, NoCommands, Store};
use serde_json::{Value, json};

fn image(overrides: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.drive");
    Image::create(&path, &texts(overrides), 7).unwrap();
    (folder, path)
}

#[allow(clippy::needless_pass_by_value, reason = "json! makes values")]
fn plan(fault: Value) -> FaultPlan {
    plan_from_json(&json!({ "seed": 3, "faults": [fault] })).unwrap()
}

/// Carries out a command; `None`: the power failed before it was answered.
fn attempt(drive: &mut ImageDrive, host: &mut Host, command: Command) -> Option<Completion> {
    let data = match command.op {
        Op::Write => sectors(command.lba, command.sector_count, u64::from(command.tag)),
        _ => vec![0; command.sector_count as usize * SECTOR],
    };
    host.submitted(&command, data);
    drive.submit(drive.drive_now_ns(), command, &[]).unwrap();
    let mut done = Vec::new();
    while done.is_empty() {
        let event_ns = drive.next_event()?;
        drive.advance(event_ns, host, &mut done).unwrap();
    }
    host.completed(command.tag);
    assert_eq!(done.len(), 1);
    done.pop()
}

/// Answers to commands, up to a power cut.
fn attempt_all(drive: &mut ImageDrive, seed: u64, count: u32) -> Vec<Completion> {
    let host = &mut Host::default();
    commands(seed, count).into_iter().map_while(|command| attempt(drive, host, command)).collect()
}

/// The file after a cut at an operation, the commands answered, and what the next drive reads.
fn cut_at(operation: u64, phase: &str) -> (Vec<u8>, Vec<Completion>, Vec<u8>) {
    let (_folder, path) = image(&[]);
    let faults = plan(json!({ "kind": "power-cut", "at_operation": operation, "phase": phase }));
    let mut drive = ImageDrive::power_on_with(&path, &faults).unwrap();
    let done = attempt_all(&mut drive, 3, 300);
    assert!(drive.was_cut() && drive.is_dead() && drive.next_event().is_none());
    assert!(!drive.power_off(&mut Host::default()).unwrap(), "nothing goes to rest without power");
    let file = std::fs::read(&path).unwrap();
    assert_eq!(check(&path).unwrap().problems, [""; 0]);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    assert_eq!(drive.facts()["unsafe_shutdowns"], 1);
    let content = read_all(&mut drive);
    (file, done, content)
}

#[test]
fn a_plan_cuts_the_power_at_its_operation_the_same_way_twice() {
    let mut files = Vec::new();
    for operation in [1, 2, 40, 77] {
        for phase in ["before", "middle", "after"] {
            let once = cut_at(operation, phase);
            assert!(once == cut_at(operation, phase), "{phase} {operation}");
            files.push(once.0);
        }
    }
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 12, "each cut leaves another file");
}

#[test]
fn a_cut_stops_exactly_where_it_should() {
    let model = texts(&[]).parse().unwrap();
    let mut drive = Drive::new(model, 7).unwrap();
    let shape = drive.engine().flash_shapes()[0];
    drive.record_effects().unwrap();
    let host = &mut Host::default();
    for command in commands(3, 20) {
        host.submitted(&command, sectors(command.lba, command.sector_count, u64::from(command.tag)));
        drivelab_controller::Device::submit(&mut drive, 0, command).ok();
    }
    drive.standby();
    let mut effects = Effects::default();
    drive.take_effects(0, &mut effects);
    let text = |phase: CutPhase, operation: u64| {
        let mut store = Store::in_memory(&shape).unwrap();
        let cut = PowerCut { operation, phase };
        let found = store.carry_out_until(cut, &effects, &mut Host::clone(host)).unwrap();
        (found, store.medium().bytes().to_vec())
    };
    // The same by hand: everything before, the operation itself or not, and what had begun is torn.
    let by_hand = |phase: CutPhase, operation: u64| {
        let mut store = Store::in_memory(&shape).unwrap();
        let host = &mut Host::clone(host);
        for &effect in &effects.list {
            use drivelab_controller::Effect::{Begin, End};
            match effect {
                Begin { number, .. } if number == operation && phase == CutPhase::Before => break,
                End { number, .. } if number == operation && phase == CutPhase::Middle => break,
                _ => store.carry_out_one(effect, &effects, host).unwrap(),
            }
            if matches!(effect, End { number, .. } if number == operation) {
                break;
            }
        }
        store.cut();
        store.medium().bytes().to_vec()
    };
    for operation in 1..=12 {
        for phase in [CutPhase::Before, CutPhase::Middle, CutPhase::After] {
            assert_eq!(text(phase, operation), (true, by_hand(phase, operation)), "{phase:?} {operation}");
        }
    }
    assert!(!text(CutPhase::Middle, 1_000_000).0, "an operation that never comes cuts nothing");
}

#[test]
fn a_cut_without_a_number_is_now_and_one_of_the_past_is_refused() {
    let (_folder, path) = image(&[]);
    let drive = ImageDrive::power_on_with(&path, &plan(json!({ "kind": "power-cut" }))).unwrap();
    assert!(drive.was_cut());
    drop(drive);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    assert_eq!(drive.facts()["unsafe_shutdowns"], 1);
    let host = &mut Host::default();
    run(&mut drive, host, Command::new(5, Op::Write, 0, 8));
    run(&mut drive, host, Command::new(6, Op::Flush, 0, 0));
    let begun = drive.drive().flash_operations();
    let message = drive.add_faults(&plan(json!({ "kind": "power-cut", "at_operation": begun }))).unwrap_err();
    assert_eq!(
        message,
        format!(
            "faults[0].at_operation = {begun}: must be greater than {begun}, the flash operations since power-on"
        )
    );
    assert!(!drive.was_cut());
    drive.add_faults(&plan(json!({ "kind": "power-cut", "at_operation": begun + 1 }))).unwrap();
    drive.clear_faults();
    run(&mut drive, host, Command::new(7, Op::Write, 0, 8));
    run(&mut drive, host, Command::new(8, Op::Flush, 0, 0));
    assert!(!drive.was_cut(), "cleared faults don't happen");
    drive.add_faults(&plan(json!({ "kind": "power-cut" }))).unwrap();
    assert!(drive.was_cut());
}

#[test]
fn of_several_cuts_the_first_counts() {
    let (_folder, path) = image(&[]);
    let faults = json!([
        { "kind": "power-cut", "at_operation": 30 },
        { "kind": "power-cut", "at_operation": 10, "phase": "after" },
        { "kind": "power-cut", "at_operation": 10, "phase": "before" },
    ]);
    let mut drive =
        ImageDrive::power_on_with(&path, &plan_from_json(&json!({ "faults": faults })).unwrap()).unwrap();
    let cut = drive.drive().power_cut().unwrap();
    assert_eq!((cut.operation, cut.phase), (10, CutPhase::Before));
    attempt_all(&mut drive, 3, 300);
    assert!(drive.was_cut());
}

#[test]
fn a_cut_on_the_way_to_rest_is_an_unsafe_shutdown() {
    let (_folder, path) = image(&[]);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let host = &mut Host::default();
    run(&mut drive, host, Command::new(5, Op::Write, 0, 8));
    let next = drive.drive().flash_operations() + 1;
    drive.add_faults(&plan(json!({ "kind": "power-cut", "at_operation": next }))).unwrap();
    assert!(!drive.power_off(host).unwrap());
    assert_eq!(smart(&path).unwrap()["clean"], false);
    assert_eq!(ImageDrive::power_on(&path).unwrap().facts()["unsafe_shutdowns"], 1);
}

/// A plan that the drive can't have is refused, and the file is as it was.
fn refused(path: &Path, faults: &FaultPlan) -> String {
    let before = std::fs::read(path).unwrap();
    let message = ImageDrive::power_on_with(path, faults).unwrap_err().to_string();
    assert!(std::fs::read(path).unwrap() == before);
    assert_eq!(message.lines().count(), 1);
    message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
}

#[test]
fn a_plan_that_the_drive_cannot_have_changes_nothing() {
    let (_folder, path) = image(&[]);
    let read_error = plan(json!({ "kind": "read-error", "offset_bytes": 262_144 }));
    assert_eq!(
        refused(&path, &read_error),
        "faults[0].offset_bytes = 262144: must be less than the drive's capacity, 262144 bytes"
    );
    let long = plan(json!({ "kind": "lost-write", "offset_bytes": 4096, "length_bytes": 262_144 }));
    assert_eq!(
        refused(&path, &long),
        "faults[0].length_bytes = 262144: must be at most 258048, what the drive's capacity of 262144 bytes has from \
         offset_bytes = 4096 on"
    );
    for distance in [262_144, -262_144, 1_i64 << 40] {
        let far = plan(json!({ "kind": "misdirected-write", "distance_bytes": distance }));
        assert_eq!(
            refused(&path, &far),
            format!(
                "faults[0].distance_bytes = {distance}: must be less than the drive's capacity, 262144 bytes, whatever \
                 its sign"
            )
        );
    }
    let whole = json!([
        { "kind": "lost-write", "offset_bytes": 4096, "length_bytes": 258_048, "at_command": 9 },
        { "kind": "misdirected-write", "distance_bytes": -261_632, "at_command": 9 },
    ]);
    ImageDrive::power_on_with(&path, &plan_from_json(&json!({ "faults": whole })).unwrap())
        .unwrap()
        .power_off(&mut NoCommands)
        .unwrap();
    let message = refused(&path, &plan(json!({ "kind": "program-failure", "block": 24 })));
    assert!(message.starts_with("faults[0].block = 24: must be one of the drive's 24 blocks"), "{message}");
    let spare = plan_from_json(&json!({ "spare_blocks": 1000, "faults": [] })).unwrap();
    let message = refused(&path, &spare);
    assert!(message.starts_with("spare_blocks = 1000: must be at most "), "{message}");
    let (_folder, path) = image(&[("write_buffer.capacitor", "true")]);
    let message = refused(&path, &plan(json!({ "kind": "torn-write" })));
    assert!(message.contains("its capacitor keeps every write whole"), "{message}");
}

#[test]
fn failed_blocks_stay_retired_and_the_data_stays() {
    let (_folder, path) = image(&[]);
    let faults = plan(json!({ "kind": "program-failure", "at_operation": 20 }));
    let mut drive = ImageDrive::power_on_with(&path, &faults).unwrap();
    let done = attempt_all(&mut drive, 3, 300);
    assert!(done.len() == 300 && done.iter().all(|done| done.outcome == Outcome::Done));
    let content = read_all(&mut drive);
    assert_eq!(
        (&drive.facts()["program_failures"], &drive.facts()["retired_blocks"]),
        (&json!(1), &json!(1))
    );
    drive.power_off(&mut NoCommands).unwrap();
    assert_eq!(check(&path).unwrap().problems, [""; 0]);
    let facts = smart(&path).unwrap();
    assert_eq!((&facts["program_failures"], &facts["retired_blocks"]), (&json!(1), &json!(1)));
    for cut in [false, true] {
        let mut drive = ImageDrive::power_on(&path).unwrap();
        assert!(read_all(&mut drive) == content);
        let facts = drive.facts();
        assert_eq!((&facts["program_failures"], &facts["retired_blocks"]), (&json!(1), &json!(1)));
        if cut {
            drop(drive);
            assert_eq!(smart(&path).unwrap()["spare_blocks"], facts["spare_blocks"]);
        } else {
            drive.power_off(&mut NoCommands).unwrap();
        }
    }
}

/// Writes until the drive refuses.
fn wear_out(path: &Path) -> Vec<u8> {
    let faults = plan(json!({ "kind": "erase-failure", "probability": 0.5 }));
    let mut drive = ImageDrive::power_on_with(path, &faults).unwrap();
    let host = &mut Host::default();
    let mut outcome = Outcome::Done;
    for tag in 1..10_000 {
        outcome = attempt(&mut drive, host, Command::new(tag, Op::Write, u64::from(tag) * 24 % 504, 8))
            .unwrap()
            .outcome;
        if outcome != Outcome::Done {
            break;
        }
    }
    assert_eq!(outcome, Outcome::Refused);
    let facts = drive.facts();
    assert_eq!((&facts["read_only"], &facts["spare_blocks"]), (&json!(true), &json!(0)));
    let content = read_all(&mut drive);
    drive.power_off(host).unwrap();
    content
}

#[test]
fn a_drive_at_its_end_is_read_only_for_ever_and_everything_can_be_read() {
    let (_folder, path) = image(&[]);
    let content = wear_out(&path);
    let facts = smart(&path).unwrap();
    assert_eq!((&facts["read_only"], &facts["spare_blocks"]), (&json!(true), &json!(0)));
    let mut drive = ImageDrive::power_on(&path).unwrap();
    assert!(read_all(&mut drive) == content);
    let host = &mut Host::default();
    let write = attempt(&mut drive, host, Command::new(1, Op::Write, 0, 8)).unwrap();
    assert_eq!(write.outcome, Outcome::Refused);
    drive.power_off(host).unwrap();
    assert_eq!(check(&path).unwrap().problems, [""; 0]);
    let message = trim(&path, 0, 64).unwrap_err().to_string();
    assert!(
        message.ends_with("the drive is read-only, at the end of its life: it refuses trims"),
        "{message}"
    );
}

#[test]
fn a_lost_sector_fails_its_own_read_only_also_after_a_power_cycle() {
    let (_folder, path) = image(&[]);
    // Wrong bits enough that nothing can be corrected: the few that are read now are lost for good.
    let faults = json!({ "kind": "bit-errors", "new_bit_error_rate": 0.01, "read_retries": 0 });
    let mut drive = ImageDrive::power_on_with(&path, &plan(faults)).unwrap();
    let host = &mut Host::default();
    run(&mut drive, host, Command::new(5, Op::Write, 0, 16));
    run(&mut drive, host, Command::new(6, Op::Flush, 0, 0));
    let read = attempt(&mut drive, host, Command::new(7, Op::Read, 0, 8)).unwrap();
    assert_eq!(read.outcome, Outcome::Uncorrectable);
    assert!(!drive.take_unreadable().is_empty());
    assert!(drive.take_unreadable().is_empty(), "drained");
    let never_written = attempt(&mut drive, host, Command::new(8, Op::Read, 64, 8)).unwrap();
    assert_eq!(never_written.outcome, Outcome::Done);
    // Completing a unit of which a part is lost keeps the loss in flash.
    run(&mut drive, host, Command::new(9, Op::Write, 1, 1));
    run(&mut drive, host, Command::new(10, Op::Flush, 0, 0));
    drive.power_off(host).unwrap();
    assert!(smart(&path).unwrap()["read_errors"].as_u64().unwrap() >= 1);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let lost = attempt(&mut drive, host, Command::new(11, Op::Read, 2, 1)).unwrap();
    assert_eq!(lost.outcome, Outcome::Uncorrectable, "lost sectors stay lost");
    assert_eq!(run(&mut drive, host, Command::new(12, Op::Read, 1, 1)), sectors(1, 1, 9));
    run(&mut drive, host, Command::new(13, Op::Write, 0, 8));
    assert_eq!(run(&mut drive, host, Command::new(14, Op::Read, 0, 8)), sectors(0, 8, 13));
}

#[test]
fn reads_that_failed_by_wrong_bits_are_what_bit_errors_have_done() {
    let (_folder, path) = image(&[]);
    let faults = plan_from_json(&json!({ "faults": [
        { "kind": "read-error", "at_command": 3 },
        { "kind": "bit-errors", "new_bit_error_rate": 0.01, "read_retries": 0 },
    ] }))
    .unwrap();
    let mut drive = ImageDrive::power_on_with(&path, &faults).unwrap();
    let host = &mut Host::default();
    run(&mut drive, host, Command::new(5, Op::Write, 0, 16));
    run(&mut drive, host, Command::new(6, Op::Flush, 0, 0));
    for (tag, lba) in [(7, 0), (8, 64), (9, 0), (10, 0)] {
        attempt(&mut drive, host, Command::new(tag, Op::Read, lba, 16)).unwrap();
    }
    let listed = drive.drive().faults();
    assert_eq!((&listed[0]["happened"], &listed[1]["happened"]), (&json!(1), &json!(2)));
    assert_eq!(drive.facts()["read_errors"], 3, "a read that two faults fail is one");
}

#[test]
fn bit_errors_are_given_once_and_grow_with_wear() {
    let refused = |faults: Value| plan_from_json(&json!({ "faults": faults })).unwrap_err();
    assert_eq!(
        refused(json!([{ "kind": "bit-errors" }, { "kind": "lying-flush" }, { "kind": "bit-errors" }])),
        "faults[2].kind = bit-errors: must be the only one, and faults[0] is another"
    );
    let shrinking = json!({ "kind": "bit-errors", "new_bit_error_rate": 0.1, "worn_bit_error_rate": 0.01 });
    assert_eq!(
        refused(json!([shrinking])),
        "faults[0].worn_bit_error_rate = 0.01: must be at least new_bit_error_rate = 0.1"
    );
    let (_folder, path) = image(&[]);
    // Of worn blocks nothing is said: what is usual of them would be fewer.
    let first = plan(json!({ "kind": "bit-errors", "new_bit_error_rate": 0.1 }));
    let FaultKind::BitErrors(bits) = first.faults[0].kind else { panic!() };
    assert_eq!((bits.native.new_rate, bits.native.worn_rate), (0.1, 0.1));
    let mut drive = ImageDrive::power_on_with(&path, &first).unwrap();
    let second = plan(json!({ "kind": "bit-errors" }));
    assert_eq!(
        drive.add_faults(&second).unwrap_err(),
        "faults[0].kind = bit-errors: must be the only one, and another is in force until faults are cleared"
    );
    assert_eq!(drive.drive().faults().as_array().map(Vec::len), Some(1));
    drive.clear_faults();
    drive.add_faults(&second).unwrap();
}

#[test]
fn counters_of_faults_add_up_over_power_cycles() {
    let (_folder, path) = image(&[]);
    for round in 1..4u64 {
        let faults = plan(json!({ "kind": "latency-spike", "duration_ns": 1000, "count": 2 }));
        let mut drive = ImageDrive::power_on_with(&path, &faults).unwrap();
        attempt_all(&mut drive, round, 20);
        assert_eq!(drive.facts()["latency_spikes"], 2 * round);
        let (facts, blocks) = (drive.facts(), 24);
        let histogram = facts["erase_count_histogram"]["blocks"].as_array().unwrap();
        assert_eq!(histogram.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), blocks);
        let host = facts["host_write_bytes"].as_f64().unwrap();
        let flash = facts["flash_write_bytes"].as_f64().unwrap();
        assert_eq!(facts["write_amplification"], json!(flash / host));
        drive.power_off(&mut NoCommands).unwrap();
    }
}
