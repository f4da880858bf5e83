//! Images as their users meet them: made, used, killed, damaged, full.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::small;
use crate::small::{Host, SECTOR, SECTORS, commands, read_all, run, sectors, texts};
use drivelab_controller::{Command, FlashShape, Op};
use drivelab_image::upkeep::{check, secure_erase, smart, trim};
use drivelab_image::{Access, Image, ImageDrive, ImageError};
use proptest::prelude::*;

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

/// The message of an image that can't be opened; it begins with the file's name, which is left out here.
fn refusal(path: &Path) -> String {
    let before = std::fs::read(path).ok();
    let refused = ImageDrive::power_on(path).err().map(|error| error.to_string()).unwrap_or_default();
    let looked = check(path).map(|report| report.problems.join("\n")).map_err(|error| error.to_string());
    let looked = looked.unwrap_or_else(|message| message);
    let short = |message: &str| message.strip_prefix(&format!("{}: ", path.display())).map(str::to_owned);
    assert!(std::fs::read(path).ok() == before, "a refused image stays as it is");
    assert!(refused.lines().count() == 1 && short(&looked).or(Some(looked)).is_some());
    short(&refused).unwrap_or_else(|| panic!("{refused:?} begins with the file's name"))
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

#[test]
fn a_second_user_is_told_who_the_first_is() {
    let (_folder, path) = image(&[]);
    let drive = ImageDrive::power_on(&path).unwrap();
    let in_use = format!("in use by process {}", std::process::id());
    assert_eq!(refusal(&path), in_use);
    assert!(check(&path).unwrap_err().to_string().ends_with(&in_use));
    drop(drive);
    let look = Image::open(&path, Access::Look).unwrap();
    check(&path).unwrap();
    assert_eq!(refusal(&path), in_use);
    drop(look);
    ImageDrive::power_on(&path).unwrap();
}

#[test]
fn files_that_are_no_images_are_refused_by_name() {
    let (folder, path) = place();
    assert!(refusal(folder.path()).contains("a folder, not a drive image"));
    assert!(refusal(&path).contains("can't be opened: No such file"));
    std::fs::write(&path, "").unwrap();
    assert_eq!(refusal(&path), "an empty file, not a drive image");
    std::fs::write(&path, vec![7; 10_000]).unwrap();
    assert_eq!(refusal(&path), "some other file, not a drive image");
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 10_000]);
}

#[test]
fn a_truncated_image_is_refused_wherever_it_ends() {
    let (_folder, path) = image(&[]);
    used(&path);
    let whole = std::fs::read(&path).unwrap();
    let bytes = whole.len() as u64;
    // Every page of the header and the state, then fewer.
    let pages = (0..1 << 18).step_by(4096).chain((1 << 18..bytes).step_by(1 << 16));
    let ends = pages.flat_map(|end| [end, end + 1, end + 4095]).chain([15, 16, 17]);
    for end in ends.filter(|&end| end < bytes) {
        std::fs::write(&path, &whole[..end as usize]).unwrap();
        let message = refusal(&path);
        let expected = match end {
            0 => "an empty file, not a drive image".to_owned(),
            1..16 => "some other file, not a drive image".to_owned(),
            16..4096 => format!("{end} bytes long, but its header says 4096: truncated"),
            _ => format!("{end} bytes long, but its header says {bytes}: truncated"),
        };
        assert_eq!(message, expected);
        assert_eq!(path.metadata().unwrap().len(), end, "nothing is destroyed");
    }
    std::fs::write(&path, [whole.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(refusal(&path), format!("{} bytes long, but its header says {bytes}", bytes + 1));
}

/// The header again with another version and the right checksum.
fn set_version(path: &Path, version: u32) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut page = [0; 4096];
    file.read_exact_at(&mut page, 0).unwrap();
    page[16..20].copy_from_slice(&version.to_le_bytes());
    let check = xxhash_rust::xxh3::xxh3_64(&page[..4088]);
    page[4088..].copy_from_slice(&check.to_le_bytes());
    file.write_all_at(&page, 0).unwrap();
}

#[test]
fn a_newer_format_and_a_damaged_header_are_told_apart() {
    let (_folder, path) = image(&[]);
    set_version(&path, 9);
    assert_eq!(refusal(&path), "image format 9, but this drivelab knows formats up to 1");
    set_version(&path, 1);
    ImageDrive::power_on(&path).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[9], 17).unwrap();
    assert_eq!(refusal(&path), "damaged: the checksum of its header doesn't fit");
    set_version(&path, 1);
    file.write_all_at(b"#", 4096 + 50).unwrap();
    assert_eq!(refusal(&path), "damaged: the checksum of its manifest doesn't fit");
}

#[test]
fn a_full_disk_is_a_power_cut_with_a_message() {
    let (_folder, path) = image(&[]);
    let host = &mut Host::default();
    let mut drive = ImageDrive::power_on(&path).unwrap();
    run(&mut drive, host, Command::new(5, Op::Write, 8, 8));
    run(&mut drive, host, Command::new(0, Op::Flush, 0, 0));
    assert!(drive.has_room_for(1 << 20));
    drive.limit(drive.image().bytes_on_disk().unwrap());
    assert!(!drive.has_room_for(4096));
    let mut last = String::new();
    // Somebody who doesn't ask whether there is room.
    for tag in 10..500 {
        let command = Command::new(tag, Op::Write, u64::from(tag) * 8 % SECTORS, 8);
        host.submitted(&command, sectors(command.lba, 8, u64::from(tag)));
        let now_ns = drive.drive_now_ns();
        if drive.submit(now_ns, command, &[]).is_err() {
            break;
        }
        if let Err(error) = drive.advance(now_ns + 1_000_000_000, host, &mut Vec::new()) {
            assert!(matches!(error, ImageError::NoSpace { .. }), "{error}");
            last = error.to_string();
            break;
        }
    }
    assert!(last.contains("no space left for what the drive stores (it has "), "{last:?}");
    assert_eq!((drive.next_event(), drive.is_dead()), (None, true));
    drop(drive);
    assert_eq!(check(&path).unwrap().problems, [""; 0]);
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let found = run(&mut drive, host, Command::new(1, Op::Read, 8, 8));
    (8..16).zip(found.chunks(SECTOR)).for_each(|(lba, sector)| assert!(small::version(lba, sector) >= 5));
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

/// A copy that is damaged somewhere can be opened and used, or is refused in one line; nothing panics or hangs.
fn try_damaged(whole: &[u8], path: &Path, damage: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = whole.to_vec();
    damage(&mut bytes);
    std::fs::write(path, &bytes).unwrap();
    let found = check(path);
    assert!(std::fs::read(path).unwrap() == bytes, "a check changes nothing");
    if let Ok(report) = found {
        assert!(report.problems.iter().all(|line| !line.contains('\n')));
    }
    if let Ok(mut drive) = ImageDrive::power_on(path) {
        let host = &mut Host::default();
        let read = Command::new(0, Op::Read, 0, 64);
        host.submitted(&read, vec![0; 64 * SECTOR]);
        if drive.submit(drive.drive_now_ns(), read, &[]).is_ok() {
            let until_ns = drive.drive_now_ns() + 1_000_000_000;
            let _ = drive.advance(until_ns, host, &mut Vec::new());
        }
    }
}

#[test]
fn every_byte_before_the_payload_may_be_damaged() {
    let (_folder, path) = image(&[("write_buffer.capacitor", "true")]);
    used(&path);
    let whole = std::fs::read(&path).unwrap();
    let image = Image::open(&path, Access::Look).unwrap();
    let payload: u64 = image.manifest().media.iter().map(FlashShape::payload_bytes).sum();
    drop(image);
    let end = whole.len() - payload as usize;
    let written: Vec<usize> = (0..end).filter(|&at| whole[at] != 0).collect();
    for &at in written.iter().step_by(written.len() / 300) {
        try_damaged(&whole, &path, |bytes| bytes[at] = !bytes[at]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_damage_is_survived(damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..40)) {
        let (_folder, path) = image(&[]);
        used(&path);
        let whole = std::fs::read(&path).unwrap();
        let end = 1 << 18;
        try_damaged(&whole, &path, |bytes| {
            for (index, word) in damages {
                let at = index.index(end / 8) * 8;
                bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
        });
    }
}

#[test]
fn a_new_image_is_small_and_holes_come_back_with_trims() {
    let (_folder, path) = image(&[("user_capacity_bytes", "67108864"), ("flash.blocks_per_plane", "1500")]);
    let on_disk = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        path.metadata().unwrap().blocks() * 512
    };
    let new = on_disk(&path);
    assert!(new < 200_000 && path.metadata().unwrap().len() > 100 << 20, "{new} bytes");
    let mut drive = ImageDrive::power_on(&path).unwrap();
    let host = &mut Host::default();
    for tag in 0..256 {
        run(&mut drive, host, Command::new(tag, Op::Write, u64::from(tag) * 64, 64));
    }
    run(&mut drive, host, Command::new(0, Op::Flush, 0, 0));
    let full = on_disk(&path);
    assert!((8 << 20..12 << 20).contains(&(full - new)), "8 MiB take {} bytes", full - new);
    run(&mut drive, host, Command::new(0, Op::Trim, 0, 256 * 64));
    run(&mut drive, host, Command::new(0, Op::Flush, 0, 0));
    let trimmed = on_disk(&path);
    assert!(trimmed < full - (7 << 20), "{full} bytes, after the trim {trimmed}");
    drive.power_off(host).unwrap();
    assert_eq!(check(&path).unwrap().problems, [""; 0]);
    File::open(&path).unwrap();
}

/// Blocks that a file has, and its bytes.
fn extent(path: &Path) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().unwrap();
    (metadata.blocks(), metadata.len())
}

/// Whoever looks at an image writes nothing, neither on a disk nor on tmpfs, where a load from a hole takes a block.
#[test]
fn looking_takes_no_space() {
    let large = [("user_capacity_bytes", "67108864"), ("flash.blocks_per_plane", "1500")];
    for folder in [std::env::temp_dir(), PathBuf::from("/dev/shm")] {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let path = folder.path().join("a.drive");
        Image::create(&path, &texts(&large), 7).unwrap();
        let look = || {
            let before = extent(&path);
            assert_eq!(check(&path).unwrap().problems, [""; 0]);
            let told = smart(&path).unwrap();
            assert_eq!(extent(&path), before, "{}", path.display());
            told
        };
        assert_eq!(look()["erase_count_max"], 0);
        let mut drive = ImageDrive::power_on(&path).unwrap();
        let host = &mut Host::default();
        for tag in 0..256 {
            run(&mut drive, host, Command::new(tag, Op::Write, u64::from(tag) * 64, 64));
        }
        drive.power_off(host).unwrap();
        look();
    }
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
