//! What a trim does to shipped drives: it frees flash, or some of it, or nothing.

use crate::shipped;
use drivelab_controller::{Command, Content, Device, Op};
use drivelab_drive::Drive;

const SECTORS: u64 = 32 << 11;

fn once(drive: &mut Drive, command: Command) -> u64 {
    let now = drive.now_ns();
    drive.submit(now, command).unwrap();
    let mut done = Vec::new();
    drive.advance_to_completion(u64::MAX, &mut done);
    done[0].split.flash_ns
}

/// The first 32 MiB in order.
fn write(drive: &mut Drive, content: Content) {
    for lba in (0..SECTORS).step_by(256) {
        once(drive, Command { content, ..Command::new(0, Op::Write, lba, 256) });
    }
    once(drive, Command::new(0, Op::Flush, 0, 0));
}

/// Valid units of flash, of all members together.
fn valid(drive: &Drive) -> u64 {
    let of = |engine: &drivelab_drive::Engine| match engine {
        drivelab_drive::Engine::Raid0(array) => {
            array.members().map(|member| member.device().counters()["valid_units"].as_u64().unwrap()).sum()
        }
        engine => engine.counters()["valid_units"].as_u64().unwrap(),
    };
    of(drive.engine())
}

/// Share of the units that still take space after all of them were trimmed, and the flash time of a read then.
fn after_trim(name: &str) -> (f64, u64) {
    let mut drive = shipped::drive(name, &[]);
    write(&mut drive, Content::RANDOM);
    let before = valid(&drive);
    assert!(before >= SECTORS / 64, "{name}: {before}");
    once(&mut drive, Command::new(0, Op::Trim, 0, SECTORS as u32));
    let kept = valid(&drive) as f64 / before as f64;
    drive.engine().check().unwrap();
    (kept, once(&mut drive, Command::new(0, Op::Read, 4096, 8)))
}

#[test]
fn a_trim_frees_what_the_firmware_lets_it() {
    let frees = [
        "corsair-nova-128gb",
        "crucial-c300-256gb",
        "corsair-force-gs-240gb@5.0.2",
        "corsair-force-gs-240gb@3.x",
        "corsair-force-f100-100gb",
    ];
    for name in frees {
        assert_eq!(after_trim(name), (0.0, 0), "{name}: nothing is left, and reads need no flash");
    }
    let (kept, flash_ns) = after_trim("corsair-force-gs-240gb");
    assert!((kept - 1.0).abs() < 1e-9, "5.0.3 frees nothing until it cleans the map: {kept} kept");
    assert_eq!(flash_ns, 0, "but no data are read");
    let ignores = [
        "intel-x25-m-g1-80gb",
        "ocz-vertex-120gb",
        "jmicron-jmf602b-64gb",
        "ocz-summit-128gb",
        "ocz-vertex-120gb@pre-release",
        "samsung-slc-64gb",
    ];
    let drops = ["gskill-titan-128gb", "intel-x25-v-40gb-raid0-x2"];
    for name in ignores.into_iter().chain(drops) {
        let (kept, flash_ns) = after_trim(name);
        assert!((kept - 1.0).abs() < 1e-9 && flash_ns > 0, "{name}: {kept} kept, {flash_ns} ns of flash");
    }
}

#[test]
fn copies_stay_until_the_last_of_them_is_trimmed() {
    let mut drive = shipped::drive("corsair-force-gs-240gb@3.x", &[]);
    write(&mut drive, Content::ZEROS);
    assert_eq!(valid(&drive), 1, "zeros are stored once");
    once(&mut drive, Command::new(0, Op::Trim, 8, SECTORS as u32 - 8));
    assert_eq!(valid(&drive), 1);
    assert!(once(&mut drive, Command::new(0, Op::Read, 0, 8)) > 0, "the first of them still refers to it");
    assert_eq!(once(&mut drive, Command::new(0, Op::Read, 8, 8)), 0);
    once(&mut drive, Command::new(0, Op::Trim, 0, 8));
    assert_eq!(valid(&drive), 0);
    drive.engine().check().unwrap();
}
