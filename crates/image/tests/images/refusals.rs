//! Images that are in use, truncated, damaged, of another format, or no images: each is refused in one line and stays as
//! it is, or is a drive.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{image, place, used};
use crate::small::{Host, SECTOR};
use drivelab_controller::{Command, FlashShape, Op};
use drivelab_image::upkeep::check;
use drivelab_image::{Access, Image, ImageDrive};
use proptest::prelude::*;

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
