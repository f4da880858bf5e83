//! Hints of the host, from the command to the write stream of a drive with time, buffer and cleaning.

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::Drive;
use drivelab_sim::Stream;

/// Counters and time at the end, and the longest write behind the fill.
#[derive(Debug, PartialEq)]
struct Written {
    counters: serde_json::Value,
    now_ns: u64,
    longest_ns: u64,
}

/// A tenth of the data takes nine tenths of the writes, and the host may say which.
fn written(placement: &str, hint_streams: &str, says: bool) -> Written {
    let mut drive = shipped::drive(
        "intel-x25-m-g1-80gb",
        &[
            ("flash.channel_count", "2"),
            ("flash.blocks_per_plane", "64"),
            ("spare_ratio", "0.3"),
            ("ftl.checkpoint_updates", "0"),
            ("ftl.checkpoint_bytes", "0"),
            ("ftl.victim_selection", "cost-benefit"),
            ("ftl.placement", placement),
            ("ftl.hint_streams", hint_streams),
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
    done.append(&mut rest);
    let longest_ns = done[units as usize..].iter().map(Completion::latency_ns).max().unwrap();
    Written { counters: drive.counters(), now_ns: drive.now_ns(), longest_ns }
}

#[test]
fn a_host_that_says_what_is_hot_has_less_of_it_copied() {
    let copied = |says| written("hint", "2", says).counters["program_bytes_cleaning"].as_u64().unwrap();
    let (silent, told) = (copied(false), copied(true));
    assert!(told * 10 < silent * 7, "{told} bytes copied, {silent} without hints");
}

#[test]
fn a_drive_that_places_otherwise_does_not_look_at_hints() {
    assert_eq!(written("host-and-cleaning", "2", true), written("host-and-cleaning", "2", false));
    assert_eq!(written("sepbit", "2", true), written("sepbit", "2", false));
}

#[test]
fn no_write_waits_longer_because_a_drive_has_more_streams() {
    // Blocks that several streams open one right behind the other are free before: nobody waits for a whole victim.
    let plain_ns = written("host-and-cleaning", "2", false).longest_ns;
    for (placement, hint_streams, says) in [
        ("hint", "2", true),
        ("hint", "6", true),
        ("hint", "6", false),
        ("hot-cold", "2", false),
        ("sepbit", "2", false),
    ] {
        let longest_ns = written(placement, hint_streams, says).longest_ns;
        assert!(
            longest_ns < 2 * plain_ns,
            "{placement} of {hint_streams}: {longest_ns} ns, {plain_ns} of one stream"
        );
    }
}
