//! Two drives that the host must not tell apart: one that is told to keep stamps (units that nothing is kept of go into
//! the buffer at once, those with stamps one by one), and one that was written down in the middle of its work and read.

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::{Engine, Model, Partition, build, state};
use drivelab_sim::Stream;

use super::values::Random;

/// Hands the same command to a drive, after as many completions as make room for it, and looks at its books.
fn take(drive: &mut Partition<Engine>, command: Command, depth: u32, done: &mut Vec<Completion>) {
    while drive.device().outstanding() >= depth {
        let next = drive.next_event().expect("a command inside and no event");
        drive.advance(next, done);
        drive.device().check_step().unwrap();
    }
    drive.submit(drive.now_ns(), command).unwrap();
    drive.device().check_step().unwrap();
}

/// Beside a drive the same with stamps.
pub fn agree_with_stamps(seed: u64, model: &Model) {
    let random = &mut Random(Stream::new(seed, 5));
    let mut plain = build::partitioned(model, seed).unwrap();
    let mut stamped = plain.clone();
    stamped.device_mut().keep_stamps();
    agree(random, [&mut plain, &mut stamped], [&mut Vec::new(), &mut Vec::new()]);
}

/// Beside a drive what was read of its state, which was written with commands inside.
pub fn agree_when_read(seed: u64, model: &Model) {
    let random = &mut Random(Stream::new(seed, 6));
    let mut drive = build::partitioned(model, seed).unwrap();
    let mut other = drive.clone();
    agree(random, [&mut drive, &mut other], [&mut Vec::new(), &mut Vec::new()]);
    let depth = drive.queue_depth().min(9);
    let mut done = Vec::new();
    for tag in 0..random.between(0, u64::from(depth)) as u32 {
        let lba = random.between(0, drive.capacity_sectors() - 1);
        let sectors = random.between(1, 64.min(drive.capacity_sectors() - lba)) as u32;
        take(
            &mut drive,
            Command::new(1000 + tag, random.one(&[Op::Read, Op::Write]), lba, sectors),
            depth,
            &mut done,
        );
    }
    let mut bytes = Vec::new();
    state::write(&drive, &mut bytes).unwrap();
    let mut read = state::read(&bytes).unwrap();
    let mut again = Vec::new();
    state::write(&read, &mut again).unwrap();
    assert!(bytes == again, "what was read is written as it was");
    agree(random, [&mut drive, &mut read], [&mut done.clone(), &mut done]);
}

/// Long writes, mostly: over each other, in line, from the middle of units; and what else changes the buffer. Then all is
/// read, in small pieces.
fn agree(random: &mut Random, drives: [&mut Partition<Engine>; 2], done: [&mut Vec<Completion>; 2]) {
    let ([one, other], [done, done_other]) = (drives, done);
    let (capacity, most) = (one.capacity_sectors(), one.queue_depth());
    let depth = random.between(1, u64::from(most.min(40))) as u32;
    let mut next = 0;
    for tag in 0..random.between(20, 150) as u32 {
        let lba = if random.chance(0.5) { next % capacity } else { random.between(0, capacity - 1) };
        let longest = random.one(&[8, 64, 600]).min(capacity - lba);
        let sectors = random.between(1, longest) as u32;
        let (op, sectors) = match random.between(0, 9) {
            0..=6 => (Op::Write, sectors),
            7 => (Op::Read, sectors),
            8 => (Op::Trim, sectors),
            _ => (Op::Flush, 0),
        };
        next = lba + u64::from(sectors);
        let command = Command { fua: random.chance(0.1), ..Command::new(tag, op, lba, sectors) };
        take(one, command, depth, done);
        take(other, command, depth, done_other);
    }
    // Small reads, as most are, all over the drive: where nobody asks for stamps they take a shorter way.
    for tag in 200..200 + random.between(0, 100) as u32 {
        let lba = random.between(0, capacity - 1);
        let command = Command::new(tag, Op::Read, lba, random.between(1, 8.min(capacity - lba)) as u32);
        take(one, command, depth, done);
        take(other, command, depth, done_other);
    }
    for (drive, done) in [(&mut *one, &mut *done), (&mut *other, &mut *done_other)] {
        while let Some(next) = drive.next_event() {
            drive.advance(next, done);
        }
        drive.device().check().unwrap();
    }
    assert_eq!(done.len(), done_other.len());
    for (one, other) in done.iter().zip(&*done_other) {
        assert_eq!(one, other, "beside the other drive");
    }
    assert_eq!(one.device().counters(), other.device().counters());
}
