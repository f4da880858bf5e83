//! More trims than the log of the map has room for, of a drive that holds nothing: the owner hears in time that a
//! checkpoint is due.

use drivelab_controller::{Command, Device, Effect, Effects, Op};
use drivelab_drive::{Engine, Family, Partition};

use super::medium::Medium;
use super::models;
use super::subject::Subject;

fn carry_out(drive: &mut Partition<Engine>, medium: &mut Medium, effects: &mut Effects) {
    drive.device_mut().take_effects(0, effects);
    for effect in &effects.list {
        if let Effect::End { op, words, .. } = *effect {
            medium.apply(op, effects.words_of(words)).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn trims_of_nothing_fill_no_log() {
    let subject = Subject::new(models::fixed(Family::PageMap, &[], &[]), 1).unwrap();
    let mut drive = subject.new_drive().unwrap();
    let (mut medium, mut effects, mut done) =
        (Medium::new(subject.shapes[0]), Effects::default(), Vec::new());
    let mut checkpoints = 0;
    for tag in 0..subject.shapes[0].log_records + 5000 {
        let command = Command::new(tag, Op::Trim, 0, subject.unit() as u32);
        drive.submit(drive.now_ns(), command).unwrap();
        while drive.device().outstanding() > 0
            && let Some(next) = drive.next_event()
        {
            drive.advance(next, &mut done);
            carry_out(&mut drive, &mut medium, &mut effects);
        }
        if drive.device().wants_checkpoint() {
            drive.device_mut().standby();
            carry_out(&mut drive, &mut medium, &mut effects);
            checkpoints += 1;
        }
    }
    drive.device_mut().standby();
    carry_out(&mut drive, &mut medium, &mut effects);
    assert!(checkpoints > 0, "a checkpoint was never due");
    subject.mount(&[medium]).unwrap_or_else(|failure| panic!("{failure:?}"));
}
