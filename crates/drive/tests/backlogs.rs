//! What drives put off: trims, metadata, cleaning. It is bounded after every command, it delays no write for longer than
//! an operation of flash that the model's parameters name, and it is gone when the drive has been left alone.

use crate::shipped;
use drivelab_controller::{Backlog, Command, Completion, Device, Op};
use drivelab_drive::{Drive, Engine};
use drivelab_ftl::{Books, Mapping};
use drivelab_sim::Stream;

const SECTORS_PER_MIB: u64 = 2048;
/// Sectors of the longest trim that a host hands over as one range.
const TRIM_SECTORS: u64 = 32 * SECTORS_PER_MIB;
const REST_NS: u64 = 10_000_000_000;

/// One drive of every controller with a page map that takes trims, and of every map unit.
const MODELS: [&str; 7] = [
    "crucial-c300-256gb",
    "crucial-m4-256gb",
    "samsung-ssd-830-256gb",
    "intel-x25-m-g2-80gb",
    "intel-x25-v-40gb",
    "corsair-nova-128gb",
    "corsair-force-f100-100gb",
];

/// A model with all its dies, and few blocks of each.
fn small(name: &str, overrides: &[(&str, &str)]) -> Drive {
    let mut all = vec![("flash.blocks_per_plane", "24"), ("spare_ratio", "0.5")];
    all.extend_from_slice(overrides);
    shipped::drive(name, &all)
}

fn backlog(drive: &Drive) -> Backlog {
    drive.engine().backlog()
}

/// Pages of map journal and checkpoints programmed so far.
fn map_pages(drive: &Drive) -> u64 {
    let Engine::PageMap(drive) = drive.engine() else { panic!("no page map") };
    drive.mapping().counters().programs_map
}

fn rest(drive: &mut Drive) {
    drive.idle(REST_NS);
    assert!(backlog(drive).is_empty(), "{:?} after rest", backlog(drive));
}

/// Hands over commands with up to `depth` of them inside; `look` sees the drive after each.
fn run(
    drive: &mut Drive,
    depth: u32,
    commands: impl IntoIterator<Item = (Op, u64, u32)>,
    mut look: impl FnMut(&Drive),
) -> Vec<Completion> {
    let mut done = Vec::new();
    let depth = depth.min(drive.queue_depth());
    for (tag, (op, lba, sectors)) in (0u32..).zip(commands) {
        while drive.engine().outstanding() >= depth {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        let now = drive.now_ns();
        drive.submit(now, Command::new(tag, op, lba, sectors)).unwrap();
        look(drive);
    }
    while drive.engine().outstanding() > 0 {
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    done
}

fn fill(drive: &mut Drive) {
    let capacity = drive.capacity_sectors();
    let starts = (0..capacity).step_by(256);
    run(drive, 1, starts.map(|lba| (Op::Write, lba, 256.min(capacity - lba) as u32)), |_| ());
    run(drive, 1, [(Op::Flush, 0, 0)], |_| ());
}

fn random_writes(drive: &mut Drive, count: u64, seed: u64) -> Vec<Completion> {
    let random = &mut Stream::new(seed, 1);
    let blocks = drive.capacity_sectors() / 8;
    let commands: Vec<_> = (0..count).map(|_| (Op::Write, random.below(blocks) * 8, 8)).collect();
    run(drive, 1, commands, |_| ())
}

fn longest_ns(done: &[Completion]) -> u64 {
    done.iter().map(|one| one.completed_ns - one.submitted_ns).max().unwrap()
}

fn trim_all(drive: &mut Drive, look: impl FnMut(&Drive)) -> Vec<Completion> {
    let capacity = drive.capacity_sectors();
    let starts = (0..capacity).step_by(TRIM_SECTORS as usize);
    run(drive, 1, starts.map(|lba| (Op::Trim, lba, TRIM_SECTORS.min(capacity - lba) as u32)), look)
}

/// The longest that a write may wait behind a drive that has nothing valid: a checkpoint written by all dies side by
/// side, an erase, and a few operations that were under way.
fn bound_ns(name: &str, drive: &Drive) -> u64 {
    let (timing, layout) = match drive.engine() {
        Engine::PageMap(drive) => (drive.config().timing, *drive.mapping().layout()),
        Engine::CompressedMap(drive) => (drive.config().timing, *drive.mapping().layout()),
        _ => panic!("{name} writes no log"),
    };
    let page_bytes = u64::from(layout.geometry.program_bytes());
    let bus_ns = page_bytes * 1_000_000_000 / timing.bus_bytes_per_s + timing.command_ns;
    let page_ns =
        timing.program_ns(1).max(timing.program_ns(0)) + bus_ns * u64::from(layout.geometry.dies_per_channel);
    let checkpoint_bytes = shipped::shipped(name).optional_integer("ftl.checkpoint_bytes").unwrap_or(0);
    let rounds = checkpoint_bytes.div_ceil(page_bytes).div_ceil(u64::from(layout.geometry.die_count()));
    2 * timing.erase_ns + (rounds + 4) * page_ns * u64::from(layout.pages_per_unit)
}

#[test]
fn a_trim_of_everything_delays_no_write() {
    for name in MODELS {
        let mut new = small(name, &[]);
        let units = 4000;
        let as_new = random_writes(&mut new, units, 1);
        for rests in [false, true] {
            let mut drive = small(name, &[]);
            fill(&mut drive);
            random_writes(&mut drive, units, 2);
            let dies = drive.engine().derived()["die_count"].as_u64().unwrap();
            let bound = bound_ns(name, &drive);
            trim_all(&mut drive, |drive| {
                let pages = backlog(drive).metadata_pages;
                assert!(pages <= 2 * dies, "{name}: {pages} pages of metadata are due after a trim");
            });
            if rests {
                rest(&mut drive);
            }
            let done = random_writes(&mut drive, units, 1);
            let longest = longest_ns(&done);
            assert!(longest < bound, "{name}, rests {rests}: a write took {longest} ns, more than {bound}");
            let mean = |done: &[Completion]| {
                done.iter().map(|one| one.completed_ns - one.submitted_ns).sum::<u64>() as f64
            };
            let ratio = mean(&done) / mean(&as_new);
            assert!(ratio < 1.1, "{name}, rests {rests}: {ratio} times the latency of a new drive");
            drive.engine().check().unwrap();
        }
    }
}

/// Every journal page takes so few updates that these can be counted.
fn counting(updates_per_page: &str) -> Drive {
    small("crucial-c300-256gb", &[("ftl.journal_updates_per_page", updates_per_page)])
}

#[test]
fn the_trim_of_an_extent_is_one_update_of_the_map() {
    let mut drive = counting("1");
    fill(&mut drive);
    rest(&mut drive);
    let mut updates = |lba: u64, sectors: u32| {
        let before = map_pages(&drive);
        run(&mut drive, 1, [(Op::Trim, lba, sectors)], |_| ());
        drive.idle(REST_NS);
        assert!(backlog(&drive).is_empty());
        map_pages(&drive) - before
    };
    assert_eq!(updates(0, 8), 1, "a unit");
    assert_eq!(updates(4096, TRIM_SECTORS as u32), 1, "an extent");
    assert_eq!(updates(4096, TRIM_SECTORS as u32), 0, "nothing is left to drop there");
    assert_eq!(updates(200_001, 14), 0, "no whole unit");
    assert_eq!(updates(200_001, 15), 1, "the second unit is whole");
}

#[test]
fn many_small_trims_at_once_are_done_with_by_all_dies() {
    let mut drive = counting("2");
    fill(&mut drive);
    rest(&mut drive);
    let before = map_pages(&drive);
    let random = &mut Stream::new(5, 1);
    let blocks = drive.capacity_sectors() / 8;
    // Two are a page of the journal here: the dies program those twice as fast as the firmware takes trims on.
    let trims: Vec<_> = (0..4000).map(|_| (Op::Trim, random.below(blocks) * 8, 8)).collect();
    let mut most = 0;
    let start = drive.now_ns();
    run(&mut drive, 32, trims, |drive| most = most.max(backlog(drive).metadata_pages));
    let took = drive.now_ns() - start;
    let busiest = 4000.0 * 16_700.0;
    assert!((took as f64) < 1.2 * busiest, "trims wait for nothing but the firmware: {took} ns");
    assert!(most < 100, "{most} pages were due at once");
    rest(&mut drive);
    let pages = map_pages(&drive) - before;
    assert!((1950..=2000).contains(&pages), "{pages} pages");
    let wear = |die: usize| {
        let Engine::PageMap(drive) = drive.engine() else { panic!("no page map") };
        let per_die = drive.mapping().layout().geometry.blocks_per_die() as usize;
        drive.mapping().flash().erase_counts()[die * per_die..][..2].iter().sum::<u32>()
            + drive.mapping().flash().write_pointer(drivelab_nand::BlockIndex((die * per_die) as u32))
    };
    let first = wear(0);
    assert!((1..64).all(|die| wear(die).abs_diff(first) < 64), "every die has its share");
}

#[test]
fn trims_between_writes_and_a_flush_after_them_delay_nothing() {
    for name in ["crucial-c300-256gb", "intel-x25-m-g2-80gb", "corsair-nova-128gb"] {
        let mut drive = small(name, &[]);
        fill(&mut drive);
        random_writes(&mut drive, 4000, 2);
        trim_all(&mut drive, |_| ());
        let flush = run(&mut drive, 1, [(Op::Flush, 0, 0)], |_| ());
        let bound = bound_ns(name, &drive);
        assert!(longest_ns(&flush) < bound, "{name}: {flush:?}");
        let random = &mut Stream::new(7, 1);
        let blocks = drive.capacity_sectors() / 2048;
        let mixed: Vec<_> = (0..6000)
            .map(|index| match index % 4 {
                0 => (Op::Trim, random.below(blocks) * 2048, 2048),
                _ => (Op::Write, random.below(blocks) * 2048, 8),
            })
            .collect();
        for depth in [1, 32] {
            let done = run(&mut drive, depth, mixed.clone(), |drive| {
                assert!(backlog(drive).metadata_pages < 4096, "{name}: {:?}", backlog(drive));
            });
            let longest = longest_ns(&done);
            // A block that is cleaned may hold something here, and what waits with a write takes its time.
            let most = bound * 2 * u64::from(depth).div_ceil(8);
            assert!(longest < most, "{name}, depth {depth}: {longest} ns, more than {most}");
        }
        rest(&mut drive);
        drive.engine().check().unwrap();
        trim_all(&mut drive, |_| ());
        drive.secure_erase();
        assert!(backlog(&drive).is_empty(), "{name}: {:?} after a secure erase", backlog(&drive));
    }
}

#[test]
fn cleaning_that_has_begun_goes_on_when_the_host_pauses() {
    for name in MODELS {
        let mut drive = small(name, &[("spare_ratio", "0.3")]);
        fill(&mut drive);
        let blocks = drive.capacity_sectors() / 8;
        random_writes(&mut drive, blocks / 2, 3);
        let left = backlog(&drive);
        assert!(left.cleaning_dies > 0, "{name}: nothing was being cleaned: {left:?}");
        rest(&mut drive);
        drive.engine().check().unwrap();
    }
}

#[test]
fn trims_reach_the_log_of_a_drive_that_is_kept_when_it_rests() {
    for name in ["crucial-c300-256gb", "jmicron-jmf602b-64gb"] {
        let mut drive = small(name, &[("ftl.trim_supported", "true")]);
        drive.record_effects().unwrap();
        run(&mut drive, 1, [(Op::Write, 0, 64)], |_| ());
        run(&mut drive, 1, [(Op::Trim, 0, 64)], |_| ());
        assert!(backlog(&drive).log_records > 0, "{name}");
        rest(&mut drive);
    }
}

#[test]
fn without_the_map_in_memory_it_is_read_to_know_that_there_is_nothing() {
    // 8 lines of 128 units in memory; the first unit of each of 64 lines is written, so that most are in flash only.
    let mut drive = small("corsair-force-f100-100gb", &[("ftl.map_cache_bytes", "4096")]);
    let line = 128 * 8;
    run(&mut drive, 1, (0..64).map(|index| (Op::Write, index * line, 8)), |_| ());
    run(&mut drive, 1, [(Op::Flush, 0, 0)], |_| ());
    rest(&mut drive);
    let flash_ns =
        |drive: &mut Drive, lba: u64| run(drive, 1, [(Op::Read, lba, 8)], |_| ())[0].split.flash_ns;
    let read_ns = 50_000;
    assert!(flash_ns(&mut drive, 3 * line + 8) > read_ns, "never written, but its neighbour was");
    assert_eq!(flash_ns(&mut drive, 3 * line + 16), 0, "the line is in memory now");
    assert_eq!(flash_ns(&mut drive, 100 * line), 0, "nothing of that line was ever written");
    let map_bytes = |drive: &Drive| drive.counters()["read_bytes_map"].as_u64().unwrap();
    let before = map_bytes(&drive);
    run(&mut drive, 1, [(Op::Write, 20 * line + 8, 1)], |_| ());
    assert_eq!(map_bytes(&drive) - before, 512, "the rest of the unit may be in flash");
}
