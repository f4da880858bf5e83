//! Random commands for a drive of any mapping scheme, and a plain map of sectors to compare it with.

use drivelab_controller::{Command, Completion, Content, Device, Op, Scheduled, SolidStateDrive};
use proptest::prelude::*;

/// Contents of every kind, decided by a write's number.
pub fn content(number: u32) -> Content {
    match number % 5 {
        0 => Content::ZEROS,
        1 => Content { compressed_permille: 300, duplicate_permille: 0, pool: 1, seed: number },
        2 => Content { compressed_permille: 700, duplicate_permille: 600, pool: 3, seed: number },
        3 => Content { compressed_permille: 1000, duplicate_permille: 900, pool: 2, seed: number },
        _ => Content::RANDOM,
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Write { at: u32, sectors: u32, fua: bool },
    Read { at: u32, sectors: u32 },
    Trim { at: u32, sectors: u32 },
    Flush,
    Wait { micros: u32 },
    Erase,
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (any::<u32>(), 1u32..40, prop::bool::weighted(0.1)).prop_map(|(at, sectors, fua)| Step::Write { at, sectors, fua }),
        6 => (any::<u32>(), 1u32..60).prop_map(|(at, sectors)| Step::Read { at, sectors }),
        2 => (any::<u32>(), 1u32..60).prop_map(|(at, sectors)| Step::Trim { at, sectors }),
        1 => Just(Step::Flush),
        2 => (0u32..5000).prop_map(|micros| Step::Wait { micros }),
        1 => (0u32..40).prop_map(|pick| if pick == 0 { Step::Erase } else { Step::Flush }),
    ]
}

/// Waits until a command slot is free; checks what completed.
pub fn collect<M: Scheduled>(
    drive: &mut SolidStateDrive<M>,
    done: &mut Vec<Completion>,
    until_outstanding: u32,
) {
    while drive.outstanding() > until_outstanding {
        let next = drive.next_event().expect("a command inside must lead to an event");
        let known = done.len();
        drive.advance(next, done);
        drive.check_step().unwrap();
        let order = done[known.saturating_sub(1)..].iter().map(|completion| completion.completed_ns);
        assert!(order.chain([next]).is_sorted(), "completions leave in order, and not before their time");
    }
}

/// The steps on a drive and on a plain map: what is read is what was written, every command completes exactly once, and
/// the books balance after every step.
pub fn compare_with_plain_map<M: Scheduled>(
    drive: &mut SolidStateDrive<M>,
    steps: &[Step],
    depth: u32,
) -> Result<(), TestCaseError> {
    let sectors_in_unit = u64::from(drive.mapping().sectors_per_unit());
    let takes_trims = drive.mapping().takes_trims();
    let capacity = drive.capacity_sectors();
    let mut oracle = vec![0u64; capacity as usize];
    let mut done = Vec::new();
    let mut submitted = 0u64;
    let mut stamp = 1u64;
    let mut written = 0u64;
    let mut expected: Vec<(u32, Vec<u64>)> = Vec::new();
    for (tag, step) in steps.iter().enumerate() {
        let tag = tag as u32;
        // Reads are compared when the firmware works on them, so earlier commands must be in by then: the
        // firmware takes commands in order, which is all that the oracle relies on.
        let place = |at: u32, sectors: u32| {
            let lba = u64::from(at) % capacity;
            (lba, sectors.min((capacity - lba) as u32))
        };
        let command = match *step {
            Step::Write { at, sectors, fua } => {
                let (lba, sectors) = place(at, sectors);
                // Writes may wait for buffer space while later reads overtake them: let them in first.
                for index in 0..u64::from(sectors) {
                    oracle[(lba + index) as usize] = stamp + index;
                }
                let command = Command {
                    fua,
                    stamp,
                    content: content(tag),
                    hint: (tag % 6) as u8,
                    ..Command::new(tag, Op::Write, lba, sectors)
                };
                stamp += u64::from(sectors);
                written += u64::from(sectors) * 512;
                command
            }
            Step::Read { at, sectors } => {
                let (lba, sectors) = place(at, sectors);
                collect(drive, &mut done, 0);
                expected.push((tag, oracle[lba as usize..(lba + u64::from(sectors)) as usize].to_vec()));
                Command::new(tag, Op::Read, lba, sectors)
            }
            Step::Trim { at, sectors } => {
                let (lba, sectors) = place(at, sectors);
                collect(drive, &mut done, 0);
                let units = lba.div_ceil(sectors_in_unit)..(lba + u64::from(sectors)) / sectors_in_unit;
                for unit in units.filter(|_| takes_trims) {
                    oracle[(unit * sectors_in_unit) as usize..((unit + 1) * sectors_in_unit) as usize]
                        .fill(0);
                }
                Command::new(tag, Op::Trim, lba, sectors)
            }
            Step::Flush => Command::new(tag, Op::Flush, 0, 0),
            Step::Wait { micros } => {
                let until = drive.now_ns() + u64::from(micros) * 1000;
                drive.advance(until, &mut done);
                continue;
            }
            Step::Erase => {
                collect(drive, &mut done, 0);
                drive.secure_erase();
                oracle.fill(0);
                drive.check().map_err(TestCaseError::fail)?;
                prop_assert_eq!(drive.mapping().valid_units(), 0);
                continue;
            }
        };
        collect(drive, &mut done, depth - 1);
        let now = drive.now_ns();
        drive.submit(now, command).unwrap();
        submitted += 1;
        if tag.is_multiple_of(8) {
            drive.check().map_err(TestCaseError::fail)?;
        }
    }
    collect(drive, &mut done, 0);
    prop_assert_eq!(done.len() as u64, submitted, "every command completes exactly once");
    let mut tags: Vec<u32> = done.iter().map(|completion| completion.tag).collect();
    tags.sort_unstable();
    tags.dedup();
    prop_assert_eq!(tags.len() as u64, submitted);
    for completion in &done {
        prop_assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
    }
    prop_assert!(done.is_sorted_by_key(|completion| completion.completed_ns));
    prop_assert_eq!(drive.meters().host.host_write_bytes, written);
    for (tag, stamps) in drive.take_read_stamps() {
        let (_, wanted) = expected.iter().find(|(wanted, _)| *wanted == tag).unwrap();
        prop_assert_eq!(&stamps, wanted, "read {}", tag);
    }
    // After a flush everything is in flash.
    let now = drive.now_ns();
    drive.submit(now, Command::new(u32::MAX, Op::Flush, 0, 0)).unwrap();
    collect(drive, &mut done, 0);
    drive.check().map_err(TestCaseError::fail)?;
    for (lba, &stamp) in oracle.iter().enumerate() {
        let unit = (lba as u64 / sectors_in_unit) as u32;
        let sector = lba % sectors_in_unit as usize;
        let found = drive.mapping().stamps_of(drivelab_nand::Lpn(unit)).map_or(0, |stamps| stamps[sector]);
        prop_assert_eq!(found, stamp, "sector {}", lba);
    }
    Ok(())
}
