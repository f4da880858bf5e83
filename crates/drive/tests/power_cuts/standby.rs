//! A drive that goes to rest while it withholds space from writes.

use drivelab_controller::{Command, Device, Effect, Effects, Op};
use drivelab_drive::{Engine, Family, Partition};

use super::medium::Medium;
use super::models;
use super::subject::Subject;

/// What was to happen while the checkpoint was written doesn't lie in the past afterwards.
#[test]
fn space_that_is_withheld_goes_back_at_rest() {
    for credit_ns in [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000] {
        rests(credit_ns);
    }
}

fn rests(credit_ns: u64) {
    let credit = [("controller.write_credit_ns", credit_ns)];
    let subject = Subject::new(models::fixed(Family::PageMap, &credit, &[]), 1).unwrap();
    let mut drive = subject.new_drive().unwrap();
    let (mut medium, mut effects, mut done) =
        (Medium::new(subject.shapes[0]), Effects::default(), Vec::new());
    let unit = subject.unit() as u32;
    let units = drive.capacity_sectors() / u64::from(unit);
    let mut carry_out = |drive: &mut Partition<Engine>| {
        drive.device_mut().take_effects(0, &mut effects);
        for effect in &effects.list {
            if let Effect::End { op, words, .. } = *effect {
                medium.apply(op, effects.words_of(words)).unwrap();
            }
        }
    };
    let mut withheld_at_rest = 0;
    for round in 0..20 {
        for tag in 0..units.min(64) as u32 {
            let lba = u64::from(tag * 7 + round) % units * u64::from(unit);
            while drive.submit(drive.now_ns(), Command::new(tag, Op::Write, lba, unit)).is_err() {
                let next = drive.next_event().unwrap();
                drive.advance(next, &mut done);
                carry_out(&mut drive);
            }
        }
        while drive.device().outstanding() > 0 {
            let next = drive.next_event().unwrap();
            drive.advance(next, &mut done);
            carry_out(&mut drive);
        }
        withheld_at_rest += u32::from(drive.next_event().is_some());
        drive.device_mut().standby();
        carry_out(&mut drive);
        let now = drive.now_ns();
        assert!(
            drive.next_event().is_none_or(|next| next >= now),
            "{credit_ns} ns, round {round}: the clock would go back"
        );
    }
    assert!(withheld_at_rest > 0, "nothing was under way when the drive went to rest");
}
