//! The hard disk against a plain map of sectors: what is read is what was written, what was flushed is on the
//! media, every command completes exactly once, and the books balance after every step.

use drivelab_controller::{Command, Completion, Device, FirmwareConfig, GovernorConfig, LinkConfig, Op};
use drivelab_drive::hard_disk::{
    ArmConfig, DiskPowerConfig, HardDisk, HardDiskConfig, PlatterConfig, ReadCacheConfig, Scheduling,
    WriteCacheConfig,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Shape {
    heads: u32,
    zones: u32,
    segments: u32,
    read_bytes: u64,
    entries: u32,
    write_back: bool,
    scheduling: Scheduling,
    deadline_ns: u64,
    skew_ns: Option<u64>,
    rpm: u32,
    link_bytes_per_s: u64,
    firmware_ns: u64,
}

fn shape() -> impl Strategy<Value = Shape> {
    let first = (1u32..4, 1u32..5, 1u32..4, prop_oneof![Just(0u64), Just(20 * 512), Just(400 * 512)]);
    let second = (
        prop_oneof![Just(1u32), 2u32..12],
        any::<bool>(),
        prop_oneof![Just(Scheduling::ShortestPositioning), Just(Scheduling::FirstCome)],
        prop_oneof![Just(0u64), Just(20_000_000)],
        prop_oneof![Just(None), (0u64..20_000_000).prop_map(Some)],
    );
    let third = (
        prop_oneof![Just(7200u32), 60u32..100_000],
        prop_oneof![Just(0u64), 500_000u64..2_000_000, Just(300_000_000)],
        prop_oneof![Just(0u64), Just(50_000)],
    );
    (first, second, third).prop_map(
        |(
            (heads, zones, segments, read_bytes),
            (entries, write_back, scheduling, deadline_ns, skew_ns),
            (rpm, link_bytes_per_s, firmware_ns),
        )| Shape {
            heads,
            zones,
            segments,
            read_bytes,
            entries,
            write_back,
            scheduling,
            deadline_ns,
            skew_ns,
            rpm,
            link_bytes_per_s,
            firmware_ns,
        },
    )
}

fn disk(shape: Shape) -> HardDisk {
    let config = HardDiskConfig {
        capacity_sectors: 5000,
        queue_depth: 8,
        link: LinkConfig {
            bytes_per_s: shape.link_bytes_per_s,
            frame_bytes: 8192,
            frame_overhead_ns: 2000,
            command_overhead_ns: 900,
            full_duplex: false,
        },
        firmware: FirmwareConfig {
            cores: 1,
            read_ns: shape.firmware_ns,
            write_ns: shape.firmware_ns,
            trim_ns: 5_000,
            flush_ns: 1_000,
            pipeline_ns: 0,
            write_governor: GovernorConfig::default(),
        },
        platters: PlatterConfig {
            rpm: shape.rpm,
            head_count: shape.heads,
            outer_track_bytes: 41 * 512,
            zone_count: shape.zones,
            zone_ratio_permille: 2100,
            track_skew_ns: shape.skew_ns,
            cylinder_skew_ns: None,
        },
        arm: ArmConfig {
            track_to_track_ns: 1_000_000,
            average_seek_ns: 5_000_000,
            full_stroke_ns: 10_500_000,
            head_switch_ns: 800_000,
            write_settle_ns: 200_000,
        },
        read_cache: ReadCacheConfig { size_bytes: shape.read_bytes, segments: shape.segments },
        write_cache: WriteCacheConfig {
            size_bytes: 300 * 512,
            entries: shape.entries,
            write_back: shape.write_back,
        },
        scheduling: shape.scheduling,
        deadline_ns: shape.deadline_ns,
        power: DiskPowerConfig { idle_mw: 1000, spin_mw: 3000, seek_mw: 2000, ..DiskPowerConfig::default() },
    };
    let mut disk = HardDisk::new(config).unwrap();
    disk.keep_stamps();
    disk
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write { at: u32, sectors: u32, fua: bool },
    Read { at: u32, sectors: u32 },
    Trim { at: u32, sectors: u32 },
    Flush,
    Wait { micros: u32 },
    Erase,
}

/// Half of the places lie close together, so that accesses meet in the caches.
fn place() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), 1000u32..1100]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (place(), 1u32..40, prop::bool::weighted(0.1)).prop_map(|(at, sectors, fua)| Step::Write { at, sectors, fua }),
        1 => (place(), 300u32..700).prop_map(|(at, sectors)| Step::Write { at, sectors, fua: false }),
        9 => (place(), 1u32..60).prop_map(|(at, sectors)| Step::Read { at, sectors }),
        1 => (place(), 1u32..60).prop_map(|(at, sectors)| Step::Trim { at, sectors }),
        1 => Just(Step::Flush),
        3 => (0u32..30_000).prop_map(|micros| Step::Wait { micros }),
        1 => (0u32..40).prop_map(|pick| if pick == 0 { Step::Erase } else { Step::Flush }),
    ]
}

/// Waits until no more than so many commands are inside.
fn collect(disk: &mut HardDisk, done: &mut Vec<Completion>, until_outstanding: u32) {
    while disk.outstanding() > until_outstanding {
        let next = disk.next_event().expect("a command inside must lead to an event");
        disk.advance(next, done);
        disk.check_step().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_what_was_written(shape in shape(), steps in prop::collection::vec(step(), 1..500), depth in 1u32..8) {
        let mut disk = disk(shape);
        let capacity = disk.capacity_sectors();
        let mut oracle = vec![0u64; capacity as usize];
        let mut done = Vec::new();
        let (mut submitted, mut stamp, mut written) = (0u64, 1u64, 0u64);
        let mut expected: Vec<(u32, Vec<u64>)> = Vec::new();
        for (tag, step) in (0u32..).zip(&steps) {
            let place = |at: u32, sectors: u32| {
                let lba = u64::from(at) % capacity;
                (lba, sectors.min((capacity - lba) as u32))
            };
            let command = match *step {
                Step::Write { at, sectors, fua } => {
                    let (lba, sectors) = place(at, sectors);
                    // Queued commands have no order among each other but that of writes: reads must be through.
                    if expected.last().is_some_and(|(last, _)| last + 1 == tag) {
                        collect(&mut disk, &mut done, 0);
                    }
                    for index in 0..u64::from(sectors) {
                        oracle[(lba + index) as usize] = stamp + index;
                    }
                    let command = Command { fua, stamp, ..Command::new(tag, Op::Write, lba, sectors) };
                    stamp += u64::from(sectors);
                    written += u64::from(sectors) * 512;
                    command
                }
                Step::Read { at, sectors } => {
                    let (lba, sectors) = place(at, sectors);
                    // Several reads may be inside at once, but no write.
                    if expected.last().is_none_or(|(last, _)| last + 1 != tag) {
                        collect(&mut disk, &mut done, 0);
                    }
                    expected.push((tag, oracle[lba as usize..(lba + u64::from(sectors)) as usize].to_vec()));
                    Command::new(tag, Op::Read, lba, sectors)
                }
                // A trim changes nothing.
                Step::Trim { at, sectors } => {
                    let (lba, sectors) = place(at, sectors);
                    collect(&mut disk, &mut done, 0);
                    Command::new(tag, Op::Trim, lba, sectors)
                }
                Step::Flush => {
                    collect(&mut disk, &mut done, 0);
                    let now = disk.now_ns();
                    disk.submit(now, Command::new(tag, Op::Flush, 0, 0)).unwrap();
                    submitted += 1;
                    collect(&mut disk, &mut done, 0);
                    prop_assert_eq!(disk.media_stamps().unwrap(), &oracle[..], "after a flush all is on the media");
                    continue;
                }
                Step::Wait { micros } => {
                    collect(&mut disk, &mut done, 0);
                    let until = disk.now_ns() + u64::from(micros) * 1000;
                    disk.advance(until, &mut done);
                    continue;
                }
                Step::Erase => {
                    collect(&mut disk, &mut done, 0);
                    disk.secure_erase();
                    oracle.fill(0);
                    disk.check().map_err(TestCaseError::fail)?;
                    continue;
                }
            };
            collect(&mut disk, &mut done, depth - 1);
            let now = disk.now_ns();
            disk.submit(now, command).unwrap();
            submitted += 1;
            disk.check().map_err(TestCaseError::fail)?;
            if command.fua {
                collect(&mut disk, &mut done, 0);
                let range = command.lba as usize..(command.lba + u64::from(command.sector_count)) as usize;
                prop_assert_eq!(&disk.media_stamps().unwrap()[range.clone()], &oracle[range], "forced");
            }
        }
        collect(&mut disk, &mut done, 0);
        prop_assert_eq!(done.len() as u64, submitted, "every command completes exactly once");
        let mut tags: Vec<u32> = done.iter().map(|completion| completion.tag).collect();
        tags.sort_unstable();
        tags.dedup();
        prop_assert_eq!(tags.len() as u64, submitted);
        for completion in &done {
            prop_assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
            prop_assert_eq!(completion.split.cleaning_ns, 0);
        }
        prop_assert!(done.is_sorted_by_key(|completion| completion.completed_ns));
        prop_assert_eq!(disk.meters().host.host_write_bytes, written);
        let read = disk.take_read_stamps();
        prop_assert_eq!(read.len(), expected.len());
        for (tag, stamps) in read {
            let (_, wanted) = expected.iter().find(|(wanted, _)| *wanted == tag).unwrap();
            prop_assert_eq!(&stamps, wanted, "read {}", tag);
        }
        let busy = disk.meters().seek_busy_ns + disk.meters().rotation_wait_ns + disk.meters().read_busy_ns + disk.meters().write_busy_ns;
        disk.advance(disk.now_ns() + 1_000_000_000_000, &mut done);
        prop_assert!(busy <= disk.now_ns(), "one arm does one thing at a time");
        prop_assert_eq!(disk.media_stamps().unwrap(), &oracle[..], "an idle disk empties its cache");
        prop_assert_eq!(disk.next_event(), None);
    }

    #[test]
    fn one_history_one_result_to_the_bit(shape in shape(), steps in prop::collection::vec((any::<u32>(), 1u32..30), 50..200)) {
        let run = || {
            let mut disk = disk(shape);
            let mut done = Vec::new();
            for (tag, &(at, sectors)) in (0u32..).zip(&steps) {
                collect(&mut disk, &mut done, 3);
                let lba = u64::from(at) % (disk.capacity_sectors() - 30);
                let now = disk.now_ns();
                disk.submit(now, Command::new(tag, if at % 3 == 0 { Op::Read } else { Op::Write }, lba, sectors)).unwrap();
            }
            collect(&mut disk, &mut done, 0);
            (done, disk.meters(), disk.energy_nj())
        };
        prop_assert_eq!(run(), run());
    }
}
