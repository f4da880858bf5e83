//! Hints of the host, from the command to the write stream of a drive with time, buffer and cleaning.

use crate::shipped;
use drivelab_controller::{Command, Device, Op};
use drivelab_drive::Drive;
use drivelab_sim::Stream;

/// A tenth of the data takes nine tenths of the writes, and the host may say which. Counters and time at the end.
fn written(placement: &str, says: bool) -> (serde_json::Value, u64) {
    let mut drive = shipped::drive(
        "intel-x25-m-g1-80gb",
        &[
            ("flash.channel_count", "2"),
            ("flash.blocks_per_plane", "32"),
            ("spare_ratio", "0.3"),
            ("ftl.checkpoint_updates", "0"),
            ("ftl.checkpoint_bytes", "0"),
            ("ftl.victim_selection", "cost-benefit"),
            ("ftl.placement", placement),
            ("ftl.hint_streams", "2"),
        ],
    );
    let units = drive.capacity_sectors() / 8;
    let mut random = Stream::new(1, 1);
    let (mut submitted, mut done) = (0, Vec::new());
    let mut write = |drive: &mut Drive, unit: u64| {
        while submitted - done.len() == drive.queue_depth() as usize {
            let next = drive.next_event().unwrap();
            drive.advance(next, &mut done);
        }
        let hint = u8::from(says && unit.is_multiple_of(10));
        let command = Command { hint, ..Command::new(0, Op::Write, unit * 8, 8) };
        drive.submit(drive.now_ns(), command).unwrap();
        submitted += 1;
    };
    (0..units).for_each(|unit| write(&mut drive, unit));
    for _ in 0..5 * units {
        let tenth = random.below(units / 10) * 10;
        let unit = if random.unit() < 0.9 { tenth } else { tenth + 1 + random.below(9) };
        write(&mut drive, unit);
    }
    let mut rest = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut rest);
    }
    (drive.counters(), drive.now_ns())
}

#[test]
fn a_host_that_says_what_is_hot_has_less_of_it_copied() {
    let copied = |says| written("hint", says).0["program_bytes_cleaning"].as_u64().unwrap();
    let (silent, told) = (copied(false), copied(true));
    assert!(told * 10 < silent * 7, "{told} bytes copied, {silent} without hints");
}

#[test]
fn a_drive_that_places_otherwise_does_not_look_at_hints() {
    assert_eq!(written("host-and-cleaning", true), written("host-and-cleaning", false));
    assert_eq!(written("sepbit", true), written("sepbit", false));
}
