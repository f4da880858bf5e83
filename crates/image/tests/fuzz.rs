//! Mutations of images: whatever a file holds, it is refused in one line and left as it was, or it is a drive.
//! `make fuzz` runs them for longer.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use crate::small::{Host, SECTORS, SLC_CACHE, commands, run, texts};
use drivelab_controller::{Command, Op};
use drivelab_fuzz::{Target, Trait, fuzz};
use drivelab_image::fuzz::Subject;
use drivelab_image::upkeep::{check, smart};
use drivelab_image::{Image, ImageDrive, ImageError};

/// What opening may take of the address space, mapped file and all.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Drives that images are of.
const DRIVES: [&[(&str, &str)]; 2] = [&[("ftl.trim_supported", "true")], SLC_CACHE];

/// An image with data, at rest, or as a power cut leaves it.
fn subject(path: &Path, overrides: &[(&str, &str)], at_rest: bool) -> Subject {
    Image::create(path, &texts(overrides), 7).unwrap();
    let mut drive = ImageDrive::power_on(path).unwrap();
    let host = &mut Host::default();
    for command in commands(5, 200) {
        run(&mut drive, host, command);
    }
    if at_rest {
        drive.power_off(host).unwrap();
    } else {
        drop(drive);
    }
    let file = std::fs::read(path).unwrap();
    std::fs::remove_file(path).unwrap();
    Subject::new(&file)
}

/// Changes as [`Subject`] reads them: aim, place, width, value.
fn change(aim: u8, place: u32, value: &[u8]) -> Vec<u8> {
    [&[aim][..], &place.to_le_bytes()[..3], &[value.len() as u8 - 1], value].concat()
}

fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = vec![vec![0], vec![1]];
    for subject in 0..2 * DRIVES.len() as u8 {
        let of = |changes: &[Vec<u8>]| [&[subject][..], &changes.concat()].concat();
        for aim in 0..10 {
            corpus.push(of(&[change(aim, 77, &[255; 8])]));
            corpus.push(of(&[change(aim, 1234, &[1]), change(aim, 5, &[200, 0, 1])]));
        }
        corpus.push(of(&[vec![9, 0, 0, 0, 200, 99, 9, 9, 9, 9, 9, 9, 9]]));
    }
    corpus
}

/// Uses an image as everybody does.
fn used(path: &Path) -> Result<usize, ImageError> {
    let file = std::fs::read(path).unwrap();
    let looked = smart(path).and_then(|_| check(path));
    let opened = looked.and_then(|report| Ok((report.problems.len(), ImageDrive::power_on(path)?)));
    let (problems, mut drive) = opened
        .inspect_err(|_| assert!(std::fs::read(path).unwrap() == file, "a refused image has changed"))?;
    let host = &mut Host::default();
    let lba = |lba: u64| lba.min(SECTORS - 64);
    run(&mut drive, host, Command::new(1, Op::Read, lba(9), 64));
    run(&mut drive, host, Command::new(2, Op::Write, lba(100), 20));
    run(&mut drive, host, Command::new(3, Op::Flush, 0, 0));
    drive.power_off(host)?;
    if problems == 0 {
        assert_eq!(check(path)?.problems, [""; 0], "after a use of an image that was sound");
    }
    Ok(problems)
}

/// Words without numbers and names.
fn trait_of(result: &Result<usize, ImageError>, path: &Path) -> Trait {
    let said = match result {
        Ok(problems) => format!("{}", problems.checked_ilog2().is_some()),
        Err(error) => error.to_string(),
    };
    assert!(!said.contains('\n'), "{said:?} is more than a line");
    let mut hasher = DefaultHasher::new();
    let said = said.replace(&path.display().to_string(), "");
    said.chars().filter(|letter| !letter.is_ascii_digit()).for_each(|letter| letter.hash(&mut hasher));
    hasher.finish()
}

/// The address space that this process has taken at its peak.
fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Opens and uses what inputs make of images; `media`: flash is changed too.
fn images(name: &'static str, media: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.drive");
    let subjects = DRIVES.map(|overrides| [true, false].map(|at_rest| subject(&path, overrides, at_rest)));
    let subjects = subjects.as_flattened();
    let before_bytes = memory_bytes();
    let report = fuzz(&Target {
        name,
        corpus: corpus(),
        seconds: 2.0,
        run: &|input| {
            let Some((&which, changes)) = input.split_first() else { return 0 };
            let file = subjects[usize::from(which) % subjects.len()].changed(changes, media);
            std::fs::write(&path, &file).unwrap();
            let result = used(&path);
            let bytes = memory_bytes() - before_bytes;
            assert!(bytes < MEMORY_BYTES_MAX, "{bytes} bytes of memory");
            if let Err(ImageError::Defect { .. }) = &result {
                panic!("{result:?}");
            }
            trait_of(&result, &path)
        },
    });
    assert!(report.inputs > 0 && report.traits > 0);
}

#[test]
fn images_survive_mutations() {
    images("image", false);
}

/// Flash has no checksums of its own in an image: a drive may be mounted on what no drive would have written.
#[test]
#[ignore = "a search, not a promise: `cargo test -p drivelab-image --test all fuzz:: -- --ignored`"]
fn media_survive_mutations() {
    images("media", true);
}

#[test]
fn an_input_without_changes_is_the_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.drive");
    for (overrides, at_rest) in DRIVES.iter().flat_map(|overrides| [(overrides, true), (overrides, false)]) {
        let subject = subject(&path, overrides, at_rest);
        std::fs::write(&path, subject.changed(&[], false)).unwrap();
        assert_eq!(used(&path).unwrap(), 0);
        std::fs::remove_file(&path).unwrap();
    }
}
