//! Images as their users meet them: made, used, killed, erased.
//!
//! `refusals.rs` has those that are damaged or no images, `disk_space.rs` what they take of the disk.

mod disk_space;
mod refusals;

use std::path::{Path, PathBuf};

use crate::small::{Host, SECTOR, SECTORS, commands, read_all, run, sectors, texts};
use drivelab_controller::{Command, Op};
use drivelab_image::upkeep::{check, secure_erase, smart, trim};
use drivelab_image::{Image, ImageDrive};

/// A folder, and the place of an image in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.drive");
    (folder, path)
}

fn image(overrides: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = place();
    Image::create(&path, &texts(overrides), 7).unwrap();
    (folder, path)
}

/// An image that has been used, and its content.
fn used(path: &Path) -> Vec<u8> {
    let mut drive = ImageDrive::power_on(path).unwrap();
    let host = &mut Host::default();
    for command in commands(3, 300) {
        run(&mut drive, host, command);
    }
    let content = read_all(&mut drive);
    drive.power_off(host).unwrap();
    content
}

#[test]
fn what_is_written_is_there_when_the_power_comes_back() {
    let (_folder, path) = image(&[]);
    let content = used(&path);
    for cycle in 2..5 {
        let mut drive = ImageDrive::power_on(&path).unwrap();
        assert!(drive.report().had_checkpoint);
        assert_eq!(read_all(&mut drive), content);
        assert_eq!(drive.facts()["power_cycles"], cycle);
        drive.power_off(&mut Host::default()).unwrap();
        assert_eq!(check(&path).unwrap().problems, [""; 0]);
    }
    let facts = smart(&path).unwrap();
    assert_eq!(facts["clean"], true);
    assert_eq!(facts["unsafe_shutdowns"], 0);
    assert_eq!(facts["host_read_bytes"].as_u64().unwrap() % 512, 0);
    assert!(facts["host_read_bytes"].as_u64().unwrap() >= 3 * SECTORS * 512);
    assert!(facts["program_bytes_cleaning"].as_u64().unwrap() > 0, "the drive was full enough to clean");
}

#[test]
fn the_same_seed_and_commands_make_the_same_file() {
    let bytes = |seed: u64| {
        let (_folder, path) = place();
        Image::create(&path, &texts(&[]), seed).unwrap();
        used(&path);
        std::fs::read(&path).unwrap()
    };
    let first = bytes(1);
    assert!(first == bytes(1));
    assert!(first != bytes(2));
}

#[test]
fn dropping_a_drive_is_a_power_cut_and_flushed_data_is_there() {
    let (_folder, path) = image(&[]);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let host = &mut Host::default();
    run(&mut drive, host, Command::new(5, Op::Write, 3, 20));
    run(&mut drive, host, Command::new(0, Op::Flush, 0, 0));
    run(&mut drive, host, Command::new(6, Op::Write, 100, 1));
    drop(drive);
    let report = check(&path).unwrap();
    assert_eq!((report.problems, report.is_clean), (vec![], false));
    assert!(!check(&path).unwrap().is_clean, "looking changes nothing");
    let mut drive = ImageDrive::power_on(&path).unwrap();
    assert_eq!(run(&mut drive, host, Command::new(1, Op::Read, 3, 20)), sectors(3, 20, 5));
    assert_eq!(drive.facts()["unsafe_shutdowns"], 1);
}

#[test]
fn a_capacitor_loses_nothing_acknowledged() {
    let (_folder, path) = image(&[("write_buffer.capacitor", "true")]);
    let host = &mut Host::default();
    let mut content = vec![0; SECTORS as usize * SECTOR];
    for round in 0..40u32 {
        let mut drive = ImageDrive::power_on(&path).unwrap();
        assert!(read_all(&mut drive) == content, "round {round}");
        for mut command in commands(u64::from(round), 12) {
            command.tag += 100 * round;
            run(&mut drive, host, command);
        }
        content = read_all(&mut drive);
        drive.cut();
        drop(drive);
        assert_eq!(check(&path).unwrap().problems, [""; 0]);
    }
}

#[test]
fn an_image_replaces_nothing_and_a_failed_one_leaves_nothing() {
    let (folder, path) = image(&[]);
    let before = std::fs::read(&path).unwrap();
    let message = Image::create(&path, &texts(&[]), 1).unwrap_err().to_string();
    assert_eq!(message, format!("{}: exists; an image replaces nothing", path.display()));
    assert!(std::fs::read(&path).unwrap() == before);
    let other = folder.path().join("b.drive");
    let message = Image::create(&other, &texts(&[("flash.page_bytes", "1000")]), 1).unwrap_err().to_string();
    assert!(message.contains("flash.page_bytes = 1000"), "{message}");
    let missing = folder.path().join("none/b.drive");
    let message = Image::create(&missing, &texts(&[]), 1).unwrap_err().to_string();
    assert!(message.contains("can't be made: No such file"), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // A partial image that a killed process left is written over.
    std::fs::write(folder.path().join("b.drive.partial"), "rest").unwrap();
    Image::create(&other, &texts(&[]), 7).unwrap();
    assert!(std::fs::read(&other).unwrap() == before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Whether some bytes are anywhere in a file.
fn holds(path: &Path, needle: &[u8]) -> bool {
    std::fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle)
}

#[test]
fn a_secure_erase_takes_the_bytes_out_of_the_file() {
    for capacitor in ["false", "true"] {
        let (_folder, path) = image(&[("write_buffer.capacitor", capacitor)]);
        let mut drive = ImageDrive::power_on(&path).unwrap();
        let host = &mut Host::default();
        for tag in 1..200 {
            run(&mut drive, host, Command::new(tag, Op::Write, u64::from(tag) % 60 * 8, 8));
        }
        let secret = sectors(8, 1, 181);
        drive.power_off(host).unwrap();
        assert!(holds(&path, &secret));
        let erases = smart(&path).unwrap()["erases_secure"].as_u64().unwrap();
        secure_erase(&path).unwrap();
        assert!(!holds(&path, &secret[16..200]));
        assert!(smart(&path).unwrap()["erases_secure"].as_u64().unwrap() > erases);
        let mut drive = ImageDrive::power_on(&path).unwrap();
        assert!(read_all(&mut drive).iter().all(|&byte| byte == 0));
        run(&mut drive, host, Command::new(9, Op::Write, 8, 8));
        drive.power_off(host).unwrap();
        assert_eq!(check(&path).unwrap().problems, [""; 0]);
    }
}

#[test]
fn trims_are_carried_out_beyond_a_power_cycle() {
    let (_folder, path) = image(&[]);
    used(&path);
    trim(&path, 64, 128).unwrap();
    let message = trim(&path, 500, 13).unwrap_err().to_string();
    assert!(message.ends_with("sectors 500 to 513 leave the drive, which has 512 sectors"), "{message}");
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let content = read_all(&mut drive);
    assert!(content[64 * SECTOR..192 * SECTOR].iter().all(|&byte| byte == 0));
    assert!(content[..64 * SECTOR].iter().any(|&byte| byte != 0));
}

/// Flash bytes programmed for the host by writing a whole drive four times with data of one kind.
fn programmed(data: impl Fn(u64) -> Vec<u8>) -> u64 {
    let compressing =
        [("family", "compressed-map"), ("ftl.granule_bytes", "512"), ("flash.blocks_per_plane", "48")];
    let (_folder, path) = image(&compressing);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let host = &mut Host::default();
    for number in 0..256u64 {
        let command = Command::new(number as u32, Op::Write, number % 64 * 8, 8);
        let bytes = data(number);
        host.submitted(&command, bytes.clone());
        let now_ns = drive.drive_now_ns();
        drive.submit(now_ns, command, &bytes).unwrap();
        let mut done = Vec::new();
        while done.is_empty() {
            let event_ns = drive.next_event().unwrap();
            drive.advance(event_ns, host, &mut done).unwrap();
        }
    }
    let read = run(&mut drive, host, Command::new(999, Op::Read, 0, 512));
    assert!((0..64).all(|place| read[place * 4096..][..4096] == data(192 + place as u64)));
    drive.standby(host).unwrap();
    drive.facts()["program_bytes_host"].as_u64().unwrap()
}

#[test]
fn a_compressing_drive_sees_the_hosts_bytes() {
    let noise = |number: u64| {
        let mut random = drivelab_sim::Stream::new(number, 5);
        std::iter::repeat_with(|| random.next_u64() as u8).take(4096).collect::<Vec<u8>>()
    };
    let text = |number: u64| {
        format!("line {number:8} of a log, like others\n").repeat(200).into_bytes()[..4096].to_vec()
    };
    let (noisy, textual, zero) = (programmed(noise), programmed(text), programmed(|_| vec![0; 4096]));
    // One write at a time: pages of little data are programmed with padding when the buffer has held them long enough.
    assert!(noisy > 2 * textual && noisy > 2 * zero, "{noisy}, {textual}, {zero} bytes");
}
