//! A drive beside one that is told to keep stamps: units that nothing is kept of go into the buffer at once, those with
//! stamps one by one. The host must not notice.

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::{Engine, Model, Partition, build};
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

/// Long writes, mostly: over each other, in line, from the middle of units; and what else changes the buffer.
pub fn agree(seed: u64, model: &Model) {
    let random = &mut Random(Stream::new(seed, 5));
    let mut plain = build::partitioned(model, seed).unwrap();
    let mut stamped = plain.clone();
    stamped.device_mut().keep_stamps();
    let (capacity, most) = (plain.capacity_sectors(), plain.queue_depth());
    let depth = random.between(1, u64::from(most.min(40))) as u32;
    let (mut done, mut done_stamped) = (Vec::new(), Vec::new());
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
        take(&mut plain, command, depth, &mut done);
        take(&mut stamped, command, depth, &mut done_stamped);
    }
    for (drive, done) in [(&mut plain, &mut done), (&mut stamped, &mut done_stamped)] {
        while let Some(next) = drive.next_event() {
            drive.advance(next, done);
        }
        drive.device().check().unwrap();
    }
    assert_eq!(done.len(), done_stamped.len());
    for (one, other) in done.iter().zip(&done_stamped) {
        assert_eq!(one, other, "beside the drive with stamps");
    }
    assert_eq!(plain.device().counters(), stamped.device().counters());
}
