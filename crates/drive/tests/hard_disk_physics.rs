//! The hard disk against arithmetic on its own parameters: not one nanosecond early, and moving as physics says when
//! a parameter changes.

use drivelab_controller::{Command, Completion, Device, FirmwareConfig, GovernorConfig, LinkConfig, Op};
use drivelab_drive::hard_disk::{
    ArmConfig, DiskPowerConfig, HardDisk, HardDiskConfig, PlatterConfig, ReadCacheConfig, Scheduling,
    WriteCacheConfig,
};
use drivelab_sim::Stream;

const MS: u64 = 1_000_000;

/// 6000 rpm, 100 sectors on every track: 10 ms a revolution, 0.1 ms a sector. Link and firmware take round times.
fn plain() -> HardDiskConfig {
    HardDiskConfig {
        capacity_sectors: 1_000_000,
        queue_depth: 32,
        link: LinkConfig {
            bytes_per_s: 512_000_000,
            frame_bytes: 8192,
            frame_overhead_ns: 0,
            command_overhead_ns: 1000,
            full_duplex: false,
        },
        firmware: FirmwareConfig {
            cores: 1,
            read_ns: 50_000,
            write_ns: 50_000,
            trim_ns: 50_000,
            flush_ns: 50_000,
            pipeline_ns: 0,
            write_governor: GovernorConfig::default(),
        },
        platters: PlatterConfig {
            rpm: 6000,
            head_count: 1,
            outer_track_bytes: 51_200,
            zone_count: 1,
            zone_ratio_permille: 1000,
            track_skew_ns: None,
            cylinder_skew_ns: None,
        },
        arm: ArmConfig {
            track_to_track_ns: MS,
            average_seek_ns: 5 * MS,
            full_stroke_ns: 10 * MS,
            head_switch_ns: MS,
            write_settle_ns: 0,
        },
        read_cache: ReadCacheConfig { size_bytes: 4 << 20, segments: 16 },
        write_cache: WriteCacheConfig { size_bytes: 4 << 20, entries: 8, write_back: true },
        scheduling: Scheduling::ShortestPositioning,
        deadline_ns: 0,
        power: DiskPowerConfig::default(),
    }
}

fn disk(change: impl FnOnce(&mut HardDiskConfig)) -> HardDisk {
    let mut config = plain();
    change(&mut config);
    HardDisk::new(config).unwrap()
}

/// A closed loop of so many commands outstanding.
fn closed_loop(
    disk: &mut HardDisk,
    depth: u32,
    count: u32,
    mut next: impl FnMut() -> (Op, u64, u32),
) -> Vec<Completion> {
    let mut done = Vec::new();
    let mut finished = Vec::new();
    let mut submitted = 0;
    while finished.len() < count as usize {
        while submitted < count && disk.outstanding() < depth {
            let (op, lba, sectors) = next();
            let now = disk.now_ns();
            disk.submit(now, Command::new(submitted, op, lba, sectors)).unwrap();
            submitted += 1;
        }
        disk.advance_to_completion(u64::MAX, &mut done);
        finished.append(&mut done);
    }
    finished
}

fn once(disk: &mut HardDisk, op: Op, lba: u64, sectors: u32) -> Completion {
    closed_loop(disk, 1, 1, || (op, lba, sectors))[0]
}

fn latency(done: &Completion) -> u64 {
    done.completed_ns - done.submitted_ns
}

/// Bytes a second of consecutive 2 MiB from `lba` on.
fn sequential(disk: &mut HardDisk, op: Op, mut lba: u64) -> f64 {
    let start = disk.now_ns();
    closed_loop(disk, 1, 30, || {
        lba += 4096;
        (op, lba - 4096, 4096)
    });
    once(disk, Op::Flush, 0, 0);
    f64::from(30 << 21) / ((disk.now_ns() - start) as f64 / 1e9)
}

/// Accesses a second of 4 KiB at random places of the first `span` sectors.
fn random(disk: &mut HardDisk, op: Op, depth: u32, span: u64) -> f64 {
    let start = disk.now_ns();
    let mut places = Stream::new(1, 1);
    closed_loop(disk, depth, 4000, || (op, places.below(span - 8), 8));
    4000.0 / ((disk.now_ns() - start) as f64 / 1e9)
}

#[track_caller]
fn assert_near(value: f64, formula: f64, tolerance: f64) {
    assert!((value / formula - 1.0).abs() < tolerance, "{value} is not near {formula}");
}

#[test]
fn one_read_takes_exactly_its_parts() {
    let mut disk = disk(|_| {});
    // Sector 50 of the third track, whose beginning is turned by two seeks of a cylinder: 2 + 5 ms.
    let read = once(&mut disk, Op::Read, 250, 2);
    let sectors_ns = 200_000;
    let link = 1000 + 2000;
    assert_eq!(read.split.firmware_ns, 50_000);
    assert_eq!(read.split.link_ns, link);
    assert_eq!(read.split.flash_ns, 7 * MS - 50_000 + sectors_ns, "the arm is there long before");
    assert_eq!(read.split.queueing_ns, 0);
    assert_eq!(latency(&read), 7 * MS + sectors_ns + link);
    // The beginning of the same track has just passed: it comes round at 2 ms of the next revolution.
    let again = once(&mut disk, Op::Read, 200, 1);
    assert_eq!(again.completed_ns, 12 * MS + 100_000 + 1000 + 1000);
}

#[test]
fn a_seek_that_arrives_too_late_costs_a_revolution() {
    // Sector 0 of the next track passes after 1 ms; firmware and a seek of 1 ms come 50 us late.
    let mut late = disk(|_| {});
    assert_eq!(once(&mut late, Op::Read, 100, 1).completed_ns, 11 * MS + 100_000 + 2000);
    let mut early = disk(|config| config.platters.cylinder_skew_ns = Some(MS + 50_000));
    assert_eq!(once(&mut early, Op::Read, 100, 1).completed_ns, MS + 50_000 + 100_000 + 2000);
}

#[test]
fn random_reads_cost_mean_seek_and_half_a_revolution() {
    for (rpm, average_ms) in [(6000, 5), (12_000, 5), (3000, 5), (6000, 3)] {
        let mut disk = disk(|config| {
            config.platters.rpm = rpm;
            config.arm.average_seek_ns = average_ms * MS;
            config.arm.full_stroke_ns = 2 * average_ms * MS;
            config.read_cache.size_bytes = 0;
        });
        let mut places = Stream::new(7, 7);
        closed_loop(&mut disk, 1, 20_000, || (Op::Read, places.below(1_000_000), 1));
        let meters = disk.meters();
        let revolution = 60e9 / f64::from(rpm);
        assert_near(meters.seek_busy_ns as f64 / 20_000.0, (average_ms * MS) as f64, 0.01);
        assert_near(meters.rotation_wait_ns as f64 / 20_000.0, revolution / 2.0, 0.015);
        assert_near(meters.read_busy_ns as f64 / 20_000.0, revolution / 100.0, 0.01);
        assert_eq!(meters.media_read_bytes, 20_000 * 512);
    }
}

#[test]
fn sequential_streams_run_at_media_rate() {
    // One turn of the cylinder: a revolution per head, and the skew between tracks.
    let rate = |heads: u64, sectors: u64, revolution: u64, skew: u64| {
        (heads * sectors * 512) as f64 / ((heads * (revolution + skew)) as f64 / 1e9)
    };
    for op in [Op::Read, Op::Write] {
        assert_near(sequential(&mut disk(|_| {}), op, 0), rate(1, 100, 10 * MS, MS), 0.01);
        let mut heads = disk(|config| config.platters.head_count = 4);
        assert_near(sequential(&mut heads, op, 0), rate(4, 100, 10 * MS, MS), 0.01);
        let mut settled = disk(|config| config.arm.write_settle_ns = MS / 2);
        assert_near(sequential(&mut settled, op, 0), rate(1, 100, 10 * MS, MS * 3 / 2), 0.01);
        let mut half = disk(|config| config.platters.rpm = 3000);
        assert_near(sequential(&mut half, op, 0), rate(1, 100, 20 * MS, MS), 0.01);
        let mut wide = disk(|config| config.platters.outer_track_bytes = 102_400);
        assert_near(sequential(&mut wide, op, 0), rate(1, 200, 10 * MS, MS), 0.01);
        // A skew that is too small for the head switch loses a revolution on every track.
        let mut missed = disk(|config| config.platters.cylinder_skew_ns = Some(MS - 1));
        assert_near(sequential(&mut missed, op, 0), rate(1, 100, 20 * MS, MS), 0.01);
    }
}

#[test]
fn tracks_hold_what_their_radius_allows() {
    let zoned = |config: &mut HardDiskConfig| {
        config.platters.outer_track_bytes = 512_000;
        config.platters.zone_count = 11;
        config.platters.zone_ratio_permille = 2000;
        config.capacity_sectors = 20_000_000;
    };
    let sectors: Vec<u32> =
        disk(zoned).geometry().zones().iter().map(|zone| zone.sectors_per_track).collect();
    assert_eq!(sectors, [1000, 950, 900, 850, 800, 750, 700, 650, 600, 550, 500]);
    let outer = sequential(&mut disk(zoned), Op::Read, 0);
    let inner = sequential(&mut disk(zoned), Op::Read, 20_000_000 - 31 * 4096);
    assert_near(outer / inner, 2.0, 0.01);
    // Every zone has the same number of cylinders, and all sectors have a place of their own.
    let disk = disk(zoned);
    let geometry = disk.geometry();
    for pair in geometry.zones().windows(2) {
        assert!(pair[0].cylinder_count.abs_diff(pair[1].cylinder_count) <= 1);
        let before = geometry.place(pair[1].first_lba - 1);
        let after = geometry.place(pair[1].first_lba);
        assert_eq!((before.cylinder + 1, before.sector + 1), (after.cylinder, before.sectors_per_track));
        assert_eq!((after.cylinder, after.sector), (pair[1].first_cylinder, 0));
    }
    assert!(geometry.place(19_999_999).cylinder < geometry.cylinders());
}

#[test]
fn reordering_pays_like_the_least_of_several_angles() {
    // With seeks of one length the wait is the least of n angles: a revolution / (n + 1). A place is free again only
    // when its write is done, so n is one less than the entries. What was left over is not evenly spread: only
    // nearly the formula.
    let wait = |entries: u32| {
        let mut disk = disk(|config| {
            config.arm.average_seek_ns = 2 * MS;
            config.arm.track_to_track_ns = 2 * MS;
            config.arm.full_stroke_ns = 2 * MS;
            config.write_cache.entries = entries;
        });
        let mut places = Stream::new(5, 5);
        closed_loop(&mut disk, 3, 10_000, || (Op::Write, places.below(1_000_000), 1));
        disk.meters().rotation_wait_ns as f64 / (disk.meters().media_write_bytes / 512) as f64
    };
    assert_near(wait(1), 5e6, 0.02);
    for entries in [3, 5, 9, 17] {
        let formula = 10e6 / f64::from(entries);
        let wait = wait(entries);
        assert!((0.9 * formula..1.5 * formula).contains(&wait), "{entries}: {wait}, formula {formula}");
    }
    let first_come =
        random(&mut disk(|config| config.scheduling = Scheduling::FirstCome), Op::Write, 3, 1_000_000);
    let shortest = random(&mut disk(|_| {}), Op::Write, 3, 1_000_000);
    assert!(shortest > 1.5 * first_come, "{shortest} {first_come}");
}

#[test]
fn queued_reads_are_reordered_and_single_ones_can_not_be() {
    let rate = |depth, scheduling| {
        random(&mut disk(|config| config.scheduling = scheduling), Op::Read, depth, 1_000_000)
    };
    let single = rate(1, Scheduling::ShortestPositioning);
    assert_near(single, rate(1, Scheduling::FirstCome), 1e-9);
    let (three, deep) = (rate(3, Scheduling::ShortestPositioning), rate(32, Scheduling::ShortestPositioning));
    assert!(three > 1.15 * single && deep > 2.0 * single, "{single} {three} {deep}");
    assert_near(rate(32, Scheduling::FirstCome), single, 0.03);
}

#[test]
fn a_cached_write_takes_firmware_and_link_and_a_forced_one_the_media() {
    let mut disk = disk(|_| {});
    let write = once(&mut disk, Op::Write, 5000, 8);
    assert_eq!(latency(&write), 50_000 + 1000 + 8000);
    assert_eq!(write.split.flash_ns, 0);
    let now = disk.now_ns();
    disk.submit(now, Command { fua: true, ..Command::new(1, Op::Write, 9000, 8) }).unwrap();
    let mut done = Vec::new();
    disk.advance_to_completion(u64::MAX, &mut done);
    assert!(done[0].split.flash_ns > MS, "a seek at least: {:?}", done[0]);
    // Without write-back every write is like that.
    let mut through = self::disk(|config| config.write_cache.write_back = false);
    assert!(once(&mut through, Op::Write, 9000, 8).split.flash_ns > MS);
    // A flush with nothing to write is immediate, with something it is not.
    let mut disk = self::disk(|_| {});
    assert_eq!(latency(&once(&mut disk, Op::Flush, 0, 0)), 51_000);
    once(&mut disk, Op::Write, 5000, 8);
    assert!(latency(&once(&mut disk, Op::Flush, 0, 0)) > MS);
    assert_eq!(disk.meters().media_write_bytes, 4096);
}

#[test]
fn what_was_read_ahead_needs_no_media() {
    let mut disk = disk(|_| {});
    once(&mut disk, Op::Read, 10_000, 8);
    // A whole segment of 256 KiB is read ahead in the 60 ms that six tracks take.
    disk.advance(disk.now_ns() + 100 * MS, &mut Vec::new());
    let ahead = disk.meters().read_ahead_bytes;
    assert_eq!(ahead, (256 << 10) - 4096);
    let read = once(&mut disk, Op::Read, 10_008, 8);
    assert_eq!(latency(&read), 50_000 + 1000 + 8000);
    assert_eq!(once(&mut disk, Op::Read, 10_000, 400).split.flash_ns, 0, "all of it is there");
    assert_eq!(disk.meters().media_read_bytes, 4096);
    // A trim changes nothing, a write does.
    once(&mut disk, Op::Trim, 10_000, 100);
    assert_eq!(once(&mut disk, Op::Read, 10_000, 8).split.flash_ns, 0);
    once(&mut disk, Op::Write, 10_000, 1);
    assert!(once(&mut disk, Op::Read, 10_000, 8).split.flash_ns > 0);
}

#[test]
fn a_deadline_bounds_the_wait() {
    let slowest = |deadline_ns: u64| {
        let mut disk = disk(|config| config.deadline_ns = deadline_ns);
        let mut places = Stream::new(3, 3);
        let done = closed_loop(&mut disk, 32, 20_000, || (Op::Read, places.below(1_000_000), 1));
        done.iter().map(latency).max().unwrap()
    };
    let (free, bounded) = (slowest(0), slowest(300 * MS));
    assert!(bounded < 600 * MS && bounded < free, "{bounded} {free}");
}

#[test]
fn a_full_queue_of_overdue_accesses_is_not_served_as_it_came() {
    let ms_each = |depth: u32, scheduling: Scheduling| {
        let mut disk = disk(|config| (config.deadline_ns, config.scheduling) = (100 * MS, scheduling));
        let mut places = Stream::new(3, 3);
        closed_loop(&mut disk, depth, 5000, || (Op::Read, places.below(1_000_000), 1));
        disk.now_ns() as f64 / 5000.0 / MS as f64
    };
    let (half, full) =
        (ms_each(16, Scheduling::ShortestPositioning), ms_each(32, Scheduling::ShortestPositioning));
    let as_they_came = ms_each(32, Scheduling::FirstCome);
    assert!(full < half * 1.05 && full < as_they_came * 0.75, "{half} {full} {as_they_came}");
}

#[test]
fn energy_is_power_times_time() {
    let power = DiskPowerConfig { idle_mw: 1000, spin_mw: 3000, seek_mw: 2000, ..DiskPowerConfig::default() };
    let mut disk = disk(|config| config.power = power);
    disk.advance(10_000 * MS, &mut Vec::new());
    assert_eq!(disk.energy_nj(), 40_000_000_000, "4 W for 10 s");
    random(&mut disk, Op::Read, 1, 1_000_000);
    let seconds = disk.now_ns() as f64 / 1e9;
    let seeking = disk.meters().seek_busy_ns as f64 / 1e9;
    assert_near(disk.energy_nj() as f64 / 1e9, 4.0 * seconds + 2.0 * seeking, 1e-6);
}

#[test]
fn erasing_takes_a_pass_and_what_can_not_be_built_is_refused() {
    let mut erased = disk(|_| {});
    erased.secure_erase();
    assert_eq!(erased.now_ns(), 10_000 * 11 * MS);
    let refused = |change: fn(&mut HardDiskConfig)| {
        let mut config = plain();
        change(&mut config);
        let error = HardDisk::new(config).unwrap_err();
        (error.key, error.value)
    };
    assert_eq!(refused(|config| config.platters.rpm = 0), ("disk.rpm", 0));
    assert_eq!(refused(|config| config.platters.head_count = 0), ("disk.head_count", 0));
    assert_eq!(
        refused(|config| config.platters.zone_ratio_permille = 999),
        ("disk.zone_ratio_permille", 999)
    );
    assert_eq!(refused(|config| config.arm.average_seek_ns = 1), ("disk.average_seek_ns", 1));
    assert_eq!(refused(|config| config.arm.full_stroke_ns = 1), ("disk.full_stroke_ns", 1));
    assert_eq!(refused(|config| config.write_cache.entries = 0), ("write_buffer.entries", 0));
    assert_eq!(refused(|config| config.capacity_sectors = 300), ("user_capacity_bytes", 153_600));
    assert_eq!(refused(|config| config.capacity_sectors = 1 << 40), ("user_capacity_bytes", 1 << 49));
}
