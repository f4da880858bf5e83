//! The models of hard disks: they parse, refuse what makes no disk, and move as physics says when a value changes.

use std::sync::Arc;

use drivelab_controller::{Command, Device, Op};
use drivelab_drive::{Drive, Model, ModelError};
use drivelab_sim::Stream;

const VELOCIRAPTOR: &str = include_str!("../../../models/wd-velociraptor-300gb.toml");
const CAVIAR: &str = include_str!("../../../models/wd-caviar-se16-640gb.toml");
const MOMENTUS: &str = include_str!("../../../models/seagate-momentus-5400-6-500gb.toml");

fn model(text: &str, overrides: &[(&str, &str)]) -> Result<Model, ModelError> {
    let pairs: Vec<_> = overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Model::parse(text, "disk.toml", &pairs)
}

fn drive(text: &str, overrides: &[(&str, &str)]) -> Drive {
    Drive::new(Arc::new(model(text, overrides).unwrap()), 1).unwrap()
}

/// Mean ms from one completion to the next, of blocks at random places of the first `span` sectors.
fn service_ms(drive: &mut Drive, op: Op, depth: u32, sectors: u32, span: u64) -> f64 {
    let start = drive.now_ns();
    let mut places = Stream::new(1, 1);
    let (mut done, mut submitted, mut completed) = (Vec::new(), 0u32, 0u32);
    while completed < 6000 {
        while submitted - completed < depth {
            let now = drive.now_ns();
            let lba = places.below(span - u64::from(sectors));
            drive.submit(now, Command::new(submitted, op, lba, sectors)).unwrap();
            submitted += 1;
        }
        drive.advance_to_completion(u64::MAX, &mut done);
        completed += done.len() as u32;
        done.clear();
    }
    (drive.now_ns() - start) as f64 / 1e6 / f64::from(completed)
}

fn access_ms(text: &str, overrides: &[(&str, &str)]) -> f64 {
    let mut drive = drive(text, overrides);
    let span = drive.capacity_sectors();
    service_ms(&mut drive, Op::Read, 1, 1, span)
}

/// The reviews' random writes: 8 GiB, three outstanding.
fn write_ms(text: &str, overrides: &[(&str, &str)]) -> f64 {
    service_ms(&mut drive(text, overrides), Op::Write, 3, 8, 1 << 24)
}

#[test]
fn access_is_mean_seek_and_half_a_revolution() {
    // Random sectors lie nearer to each other than random cylinders: outer tracks hold more. So a bit less than the
    // specified mean seek, and 50 us of firmware.
    for (text, seek, half_turn) in [(VELOCIRAPTOR, 4.2, 3.0), (CAVIAR, 8.9, 4.167), (MOMENTUS, 12.0, 5.556)] {
        let access = access_ms(text, &[]);
        let formula = seek + half_turn + 0.05;
        assert!((0.96..1.01).contains(&(access / formula)), "{access} {formula}");
    }
    // Half the speed: the other half revolution on top, and nothing else.
    let more = access_ms(VELOCIRAPTOR, &[("disk.rpm", "5000")]) - access_ms(VELOCIRAPTOR, &[]);
    assert!((more - 3.0).abs() < 0.1, "{more}");
    let half = [
        ("disk.average_seek_ns", "2100000"),
        ("disk.full_stroke_ns", "4500000"),
        ("disk.track_to_track_ns", "375000"),
    ];
    let less = access_ms(VELOCIRAPTOR, &[]) - access_ms(VELOCIRAPTOR, &half);
    assert!((less - 2.05).abs() < 0.15, "{less}");
}

#[test]
fn random_writes_are_a_fraction_of_a_revolution_and_reordering_is_why() {
    for (text, revolution) in [(VELOCIRAPTOR, 6.0), (CAVIAR, 8.333), (MOMENTUS, 11.111)] {
        let ten = write_ms(text, &[]);
        assert!((0.33..0.48).contains(&(ten / revolution)), "{}", ten / revolution);
        let one = write_ms(text, &[("write_buffer.entries", "1")]);
        let first_come = write_ms(text, &[("controller.scheduling", "first-come")]);
        // Without a choice: a short seek, settling, half a revolution.
        assert!(one > 0.5 * revolution + 1.2 && (one / first_come - 1.0).abs() < 0.05, "{one} {first_come}");
        let thirty = write_ms(text, &[("write_buffer.entries", "30")]);
        assert!(one > 1.5 * ten && ten > 1.2 * thirty, "{one} {ten} {thirty}");
        let settled = write_ms(text, &[("disk.write_settle_ns", "1000000")]);
        assert!((0.3..0.8).contains(&(settled - ten)), "half a millisecond more: {settled} {ten}");
    }
}

#[test]
fn what_makes_no_disk_is_refused_by_key_value_and_limit() {
    let message = |overrides: &[(&str, &str)]| model(VELOCIRAPTOR, overrides).unwrap_err().to_string();
    assert_eq!(
        message(&[("disk.rpm", "0")]),
        "disk.toml: disk.rpm = 0: must be a whole number from 60 to 100000"
    );
    let missed = message(&[("disk.full_stroke_ns", "5000000")]);
    assert!(missed.starts_with("disk.toml: disk.full_stroke_ns = 5000000: must be from "), "{missed}");
    let few = message(&[("user_capacity_bytes", "1000000")]);
    assert!(few.contains("user_capacity_bytes = ") && few.contains("cylinders"), "{few}");
    let flash = message(&[("flash.read_ns", "50000")]);
    assert!(
        flash.contains("flash.read_ns") && flash.contains("does not apply to family hard-disk"),
        "{flash}"
    );
    let near = message(&[("disk.zones", "3")]);
    assert!(near.contains("unknown key disk.zones"), "{near}");
}

#[test]
fn a_description_says_what_follows() {
    let described = Drive::describe(&model(VELOCIRAPTOR, &[]).unwrap());
    let derived = &described["derived"];
    assert_eq!(described["family"], "hard-disk");
    assert_eq!(derived["user_capacity_bytes"], 300_069_052_416u64);
    assert_eq!(derived["revolution_ns"], 6_000_000);
    // 1752 sectors in 6 ms and a skew of 1.25 ms.
    assert_eq!(derived["outer_sectors_per_track"], 1752);
    assert_eq!(derived["outer_media_bytes_per_s"], 123_727_448);
    let counters = drive(VELOCIRAPTOR, &[]).counters();
    for key in ["host_write_bytes", "media_write_bytes", "energy_nj", "seek_busy_ns"] {
        assert_eq!(counters[key], 0, "{key}");
    }
    for key in ["program_bytes_host", "erases_cleaning", "zero_read_bytes", "free_blocks", "erase_count_mean"]
    {
        assert!(counters[key].is_null(), "{key}: there is no flash to count");
    }
}
