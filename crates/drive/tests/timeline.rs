//! What is noted of dies and buses is what they did, and noting it changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Device, Op};
use drivelab_drive::{Drive, Inside, TimelineColumns};
use drivelab_sim::Stream;

/// A drive of each kind of map, one whose bus is held while it senses, an array, and a hard disk.
const MODELS: &[(&str, &[(&str, &str)])] = &[
    ("intel-x25-m-g1-80gb", &[("scale_divisor", "128")]),
    ("intel-x25-m-g1-80gb", &[("scale_divisor", "128"), ("flash.hold_bus_while_reading", "true")]),
    ("corsair-force-f100-100gb", &[("scale_divisor", "128")]),
    ("ocz-summit-128gb", &[("scale_divisor", "200")]),
    ("ocz-vertex-120gb", &[("scale_divisor", "128")]),
    ("intel-x25-v-40gb-raid0-x2", &[("scale_divisor", "64")]),
    ("wd-velociraptor-300gb", &[]),
];

fn filled(name: &str, changes: &[(&str, &str)]) -> Drive {
    let mut drive = Drive::new(Arc::new(shipped::varied(name, changes).unwrap()), 1).unwrap();
    let sectors = 2048;
    for number in 0..(drive.capacity_sectors() / sectors).min(2000) {
        go(&mut drive, Op::Write, number * sectors, sectors as u32);
    }
    drive
}

fn go(drive: &mut Drive, op: Op, lba: u64, sectors: u32) {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, lba, sectors)).unwrap();
    drive.advance_to_completion(u64::MAX, &mut Vec::new());
}

/// Reads and writes of 4 KiB here and there, and time for what they leave behind.
fn work(drive: &mut Drive) {
    let mut places = Stream::new(1, 1);
    let blocks = drive.capacity_sectors().min(2000 * 2048) / 8;
    for _ in 0..6000 {
        let place = places.next_u64();
        let op = if place.is_multiple_of(3) { Op::Read } else { Op::Write };
        go(drive, op, place % blocks * 8, 8);
    }
    go(drive, Op::Flush, 0, 0);
    drive.idle(60_000_000_000);
}

/// Busy time of every die, what is reserved of the future included.
fn busy(drive: &Drive) -> BTreeMap<(u32, u32), u64> {
    let dies = Inside::of(drive.engine()).dies;
    let times = dies.worked_ns.iter().zip(&dies.reserved_ns).map(|(worked, reserved)| worked + reserved);
    dies.member.into_iter().zip(dies.die).zip(times).collect()
}

/// Stretches by what they take, in order of time.
fn by<'a>(
    keys: impl Iterator<Item = (u32, u32)>,
    begins: &'a [u64],
    ends: &'a [u64],
) -> BTreeMap<(u32, u32), Vec<(u64, u64)>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for ((key, &begin), &end) in keys.zip(begins).zip(ends) {
        if begin < end {
            found.entry(key).or_default().push((begin, end));
        }
    }
    for stretches in found.values_mut() {
        stretches.sort_unstable();
    }
    found
}

fn keys<'a>(timeline: &'a TimelineColumns, column: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    timeline.member.iter().copied().zip(column.iter().copied())
}

#[test]
fn dies_and_buses_do_one_thing_at_a_time_and_are_busy_for_as_long() {
    for (name, changes) in MODELS {
        let mut drive = filled(name, changes);
        let before = busy(&drive);
        drive.record_timeline(0, u64::MAX, usize::MAX);
        work(&mut drive);
        let timeline = drive.take_timeline();
        let dies = by(keys(&timeline, &timeline.die), &timeline.begin_ns, &timeline.end_ns);
        let buses = by(keys(&timeline, &timeline.channel), &timeline.bus_begin_ns, &timeline.bus_end_ns);
        for (key, stretches) in dies.iter().chain(&buses) {
            let apart = stretches.windows(2).all(|pair| pair[0].1 <= pair[1].0);
            assert!(apart, "{name}: {key:?} does two things at once");
        }
        let took = |key: (u32, u32)| {
            dies.get(&key).map_or(0, |all| all.iter().map(|(begin, end)| end - begin).sum::<u64>())
        };
        for (key, after) in busy(&drive) {
            assert_eq!(took(key), after - before[&key], "{name}: die {key:?}");
        }
        assert_eq!(dies.is_empty(), *name == "wd-velociraptor-300gb", "{name}");
        assert_eq!(timeline.left_out, 0);
    }
}

#[test]
fn a_drive_that_is_watched_does_what_it_does_otherwise() {
    for (name, changes) in MODELS {
        let (mut plain, mut watched) = (filled(name, changes), filled(name, changes));
        watched.record_timeline(0, u64::MAX, 1000);
        work(&mut plain);
        work(&mut watched);
        let noted = watched.take_timeline();
        work(&mut plain);
        work(&mut watched);
        assert_eq!(plain.counters(), watched.counters(), "{name}");
        assert_eq!(plain.now_ns(), watched.now_ns(), "{name}");
        assert_eq!(busy(&plain), busy(&watched), "{name}");
        assert!(watched.take_timeline().die.is_empty(), "{name}: nobody asked any more");
        assert!(noted.die.len() <= 2000, "{name}: more than there is room for");
    }
}

#[test]
fn a_window_holds_what_begins_in_it() {
    let (name, changes) = MODELS[0];
    let mut drive = filled(name, changes);
    let mut other = drive.clone();
    drive.record_timeline(0, u64::MAX, usize::MAX);
    work(&mut drive);
    let whole = drive.take_timeline();
    let (from, until) = (whole.begin_ns[1000], whole.begin_ns[5000]);
    other.record_timeline(from, until, 500);
    work(&mut other);
    let window = other.take_timeline();
    let inside: Vec<u64> =
        whole.begin_ns.iter().copied().filter(|begin| (from..until).contains(begin)).collect();
    assert_eq!(window.begin_ns, inside[..500]);
    assert_eq!(window.left_out, inside.len() as u64 - 500);
}
