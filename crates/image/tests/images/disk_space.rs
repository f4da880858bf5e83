//! What images take of the disk: holes, what looking at one takes, and a disk that is full.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::image;
use crate::small;
use crate::small::{Host, SECTOR, SECTORS, run, sectors, texts};
use drivelab_controller::{Command, Op};
use drivelab_image::upkeep::{check, smart};
use drivelab_image::{Image, ImageDrive, ImageError};

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
