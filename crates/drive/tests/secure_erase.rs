//! A secure erase makes every flash drive of the shipped models new again, except for wear: the same job gives the same
//! completions to the nanosecond as on a drive that was never used; where wear decides between blocks, the same rates.

use crate::shipped;
use drivelab_controller::{Command, Completion, Content, Device, Op};
use drivelab_drive::{Drive, Family};
use drivelab_sim::Stream;

/// Random and sequential commands of every kind, up to three of them outstanding. Times count from the beginning.
fn run(drive: &mut Drive, commands: u32, seed: u64) -> Vec<Completion> {
    let start = drive.now_ns();
    let random = &mut Stream::new(seed, 1);
    let blocks = drive.capacity_sectors() / 8;
    let depth = drive.queue_depth().min(3);
    let mut next = 0;
    let mut done = Vec::new();
    for tag in 0..commands {
        while drive.engine().outstanding() >= depth {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        let lba = random.below(blocks) * 8;
        let permille = [0, 460, 1000][random.below(3) as usize];
        let content = Content { compressed_permille: permille, seed: tag, ..Content::RANDOM };
        let mut command = match random.below(20) {
            0..=9 => Command::new(tag, Op::Write, lba, 8),
            10 => Command { fua: true, ..Command::new(tag, Op::Write, lba, 3) },
            11..=13 => {
                next = (next + 256) % (blocks * 8 - 256);
                Command::new(tag, Op::Write, next, 256)
            }
            14 => Command::new(tag, Op::Trim, lba / 2048 * 2048, 8),
            15 if tag % 8 == 0 => Command::new(tag, Op::Flush, 0, 0),
            _ => Command::new(tag, Op::Read, lba, 8),
        };
        command.content = if tag % 9 == 0 { Content::ZEROS } else { content };
        let now = drive.now_ns();
        drive.submit(now, command).unwrap();
    }
    while drive.engine().outstanding() > 0 {
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    for completion in &mut done {
        completion.submitted_ns -= start;
        completion.completed_ns -= start;
    }
    done
}

#[test]
fn a_secure_erase_makes_every_shipped_flash_drive_new() {
    let names = shipped::models().into_iter().map(|(name, _)| name);
    let flash: Vec<_> = names.filter(|name| shipped::shipped(name).family() != Family::HardDisk).collect();
    assert!(flash.len() > 30);
    for name in &flash {
        let mut used = shipped::drive(name, &[]);
        if used.capacity_sectors() < 4096 {
            // The worked example is one block.
            continue;
        }
        // A copy would take all the memory that a new drive never touches.
        let new = run(&mut shipped::drive(name, &[]), 600, 1);
        run(&mut used, 900, 2);
        used.secure_erase();
        assert_eq!(used.counters()["valid_units"].as_u64().unwrap_or(0), 0, "{name}");
        let again = run(&mut used, 600, 1);
        assert_eq!(new.len(), again.len(), "{name}");
        let differs = new.iter().zip(&again).find(|(new, again)| new != again);
        assert!(differs.is_none(), "{name}: {differs:?}");
    }
}

/// Virtual time of filling a small drive and overwriting it twice at random.
fn wear_in(drive: &mut Drive) -> f64 {
    let (start, capacity) = (drive.now_ns(), drive.capacity_sectors());
    let random = &mut Stream::new(3, 1);
    let mut done = Vec::new();
    let mut write = |drive: &mut Drive, lba, sectors| {
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Write, lba, sectors)).unwrap();
        drive.advance_to_completion(u64::MAX, &mut done);
        done.clear();
    };
    (0..capacity / 256).for_each(|index| write(drive, index * 256, 256));
    (0..capacity / 4).for_each(|_| write(drive, random.below(capacity / 8) * 8, 8));
    (drive.now_ns() - start) as f64
}

#[test]
fn an_erased_drive_wears_in_again_as_a_new_one_does() {
    let small =
        [("flash.dies_per_channel", "2"), ("flash.blocks_per_plane", "20"), ("ftl.wear_spread_limit", "0")];
    let drives = [
        ("intel-x25-m-g1-80gb", vec![("spare_ratio", "0.35"), ("ftl.victim_selection", "d-choices")]),
        ("corsair-force-f100-100gb", vec![("spare_ratio", "0.5")]),
    ];
    for (name, mut overrides) in drives {
        overrides.extend(small);
        let mut drive = shipped::drive(name, &overrides);
        let new = wear_in(&mut drive);
        assert!(drive.counters()["erases_cleaning"].as_u64().unwrap() > 500, "{name}: nothing was cleaned");
        // Blocks come in another order, least worn first, which breaks ties between victims otherwise: as another seed
        // does, by up to 3 % in so small a drive, in no direction.
        let rounds = (0..6).map(|_| {
            drive.secure_erase();
            wear_in(&mut drive)
        });
        let again = rounds.sum::<f64>() / 6.0;
        assert!((again / new - 1.0).abs() < 0.02, "{name}: {again} ns after {new} ns");
    }
}
