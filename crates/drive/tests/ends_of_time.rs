//! Hosts that let all time pass: the clock stays where the last thing happened, on every kind of drive, and goes on
//! from there.

use crate::shipped;
use drivelab_controller::{Command, CommandError, Device, Op};
use drivelab_drive::Drive;
use drivelab_sim::Nanos;
use drivelab_sim::time::LATEST;

fn drives() -> Vec<(&'static str, Drive)> {
    let small = [("scale_divisor", "64")];
    [
        "intel-x25-m-g1-80gb",
        "samsung-980-pro-1tb",
        "ocz-vertex-2-100gb",
        "jmicron-jmf602b-64gb",
        "samsung-slc-64gb",
    ]
    .into_iter()
    .map(|name| (name, shipped::drive(name, &small)))
    .chain([("wd-velociraptor-300gb", shipped::drive("wd-velociraptor-300gb", &[]))])
    .chain([(
        "intel-x25-v-40gb-raid0-x2",
        shipped::drive("intel-x25-v-40gb-raid0-x2", &[("member.scale_divisor", "64")]),
    )])
    .collect()
}

/// Writes, and all that they set off.
fn write(drive: &mut Drive, wait: impl Fn(&mut Drive) -> usize) {
    let writes = drive.queue_depth().min(10);
    for tag in 0..writes {
        drive.submit(drive.now_ns(), Command::new(tag, Op::Write, u64::from(tag) * 4096, 64)).unwrap();
    }
    let mut heard = 0;
    while heard < writes as usize {
        let count = wait(drive);
        assert!(count > 0, "{heard} of {writes} writes done at {} ns", drive.now_ns());
        heard += count;
    }
    assert_eq!(wait(drive), 0);
}

/// An array's clock stood at 2^64 - 2 then, and the next command ended the program.
#[test]
fn time_until_never_ends_with_what_happened_last() {
    for (name, mut drive) in drives() {
        for _ in 0..2 {
            write(&mut drive, |drive| {
                let mut done = Vec::new();
                drive.advance_to_completion(Nanos::MAX, &mut done);
                done.len()
            });
            write(&mut drive, |drive| {
                let mut done = Vec::new();
                drive.advance(Nanos::MAX, &mut done);
                done.len()
            });
            drive.idle(Nanos::MAX);
            assert!(drive.now_ns() < 3_600_000_000_000, "{name}: {} ns", drive.now_ns());
        }
    }
}

#[test]
fn nothing_is_handed_over_after_the_end_of_all_clocks() {
    for (name, mut drive) in drives() {
        let command = Command::new(0, Op::Write, 0, 8);
        for now_ns in [LATEST + 1, Nanos::MAX] {
            assert_eq!(drive.submit(now_ns, command), Err(CommandError::TooLate { now_ns }), "{name}");
        }
        let mut last = drive.clone();
        last.submit(LATEST, command).unwrap();
        let mut done = Vec::new();
        last.advance_to_completion(Nanos::MAX, &mut done);
        assert_eq!(done.len(), 1, "{name}");
        drive.advance(LATEST + 1, &mut Vec::new());
        let late = drive.submit(drive.now_ns(), command);
        assert_eq!(late, Err(CommandError::TooLate { now_ns: LATEST + 1 }), "{name}");
    }
}

/// What a drive had done before was missing on its medium, and nothing said so.
#[test]
fn durable_mode_begins_with_a_new_drive() {
    for (name, mut drive) in drives() {
        let mut new = drive.clone();
        new.record_effects().unwrap_or_else(|reason| panic!("{name}: {reason}"));
        drive.submit(0, Command::new(0, Op::Write, 0, 8)).unwrap();
        assert!(drive.clone().record_effects().is_err(), "{name}");
        drive.advance_to_completion(Nanos::MAX, &mut Vec::new());
        assert!(drive.record_effects().unwrap_err().contains("new drive"), "{name}");
    }
}
