//! Rates against formulas: how much hits, what is read and written back for the map, and what that costs against a map
//! that is in memory whole.

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{Books, DemandLoaded, MapCacheConfig, MapUses, Mapping, PageMap};
use drivelab_nand::Lpn;
use drivelab_sim::Stream;

use super::{PAGE, config, layout};

/// 64 lines of 1024 units, filled in order; there is room for 40 000 writes before anything is cleaned.
fn filled(lines_in_memory: u32) -> Untimed<PageMap<DemandLoaded>> {
    let layout = layout(500, 64, PAGE);
    let cache = MapCacheConfig {
        cache_bytes: lines_in_memory * PAGE,
        fetch_bytes: PAGE,
        spare_blocks: None,
        host_bytes: 0,
        host_ns: 0,
    };
    let mut drive = Untimed::new(PageMap::demand_loaded(layout, config(64 * 1024), cache).unwrap());
    for lpn in 0..64 * 1024 {
        drive.write(&[Lpn(lpn)]).unwrap();
    }
    drive
}

fn since(before: MapUses, after: MapUses) -> MapUses {
    MapUses {
        hits: after.hits - before.hits,
        host_hits: after.host_hits - before.host_hits,
        misses: after.misses - before.misses,
        reads: after.reads - before.reads,
        write_backs: after.write_backs - before.write_backs,
    }
}

/// Whether a share of so many draws is what it should be, within four standard deviations.
fn is_share(found: u64, draws: u64, expected: f64) -> bool {
    let deviation = (expected * (1.0 - expected) / draws as f64).sqrt();
    (found as f64 / draws as f64 - expected).abs() <= 4.0 * deviation
}

#[test]
fn random_reads_hit_as_much_as_memory_holds_of_the_map() {
    const DRAWS: u64 = 40_000;
    for in_memory in [1, 6, 32, 63] {
        let mut ftl = filled(in_memory).ftl;
        let mut random = Stream::new(u64::from(in_memory), 1);
        let before = ftl.memory().uses();
        for _ in 0..DRAWS {
            let _ = ftl.fetch_map(Lpn(random.below(64 * 1024) as u32));
        }
        let uses = since(before, ftl.memory().uses());
        assert!(is_share(uses.hits, DRAWS, f64::from(in_memory) / 64.0), "{in_memory} of 64 lines: {uses:?}");
        assert_eq!(uses.hits + uses.misses, DRAWS);
    }
}

#[test]
fn reads_in_order_read_every_line_once() {
    let mut ftl = filled(6).ftl;
    let before = ftl.memory().uses();
    let fetched: Vec<u32> =
        (0..64 * 1024).filter_map(|lpn| ftl.fetch_map(Lpn(lpn))).map(|fetch| fetch.line).collect();
    let uses = since(before, ftl.memory().uses());
    assert_eq!((uses.misses, uses.reads), (64, fetched.len() as u64));
    // The last six have changed, made room for others, and wait to be written: until then they are in memory.
    assert!(fetched.into_iter().eq(0..58));
    assert_eq!(ftl.backlog().metadata_pages, 6);
}

#[test]
fn random_changes_write_back_as_much_as_they_read() {
    const WRITES: u64 = 40_000;
    let mut drive = filled(16);
    let mut random = Stream::new(9, 1);
    let before = (drive.ftl.memory().uses(), *drive.ftl.counters());
    for _ in 0..WRITES {
        drive.write(&[Lpn(random.below(64 * 1024) as u32)]).unwrap();
    }
    let (uses, counters) = (since(before.0, drive.ftl.memory().uses()), drive.ftl.counters());
    assert_eq!((uses.hits + uses.misses, counters.units_cleaning), (WRITES, 0));
    assert!(is_share(uses.misses, WRITES, 0.75), "{uses:?}");
    assert_eq!((uses.reads, uses.write_backs), (uses.misses, uses.misses), "all of memory is changed");
    let programs = counters.programs_map - before.1.programs_map;
    assert!(
        (uses.write_backs..uses.write_backs * 3 / 2).contains(&programs),
        "{programs} programs for {uses:?}: one each, and copies of what is current in the oldest block"
    );
    drive.ftl.check().unwrap();
}

#[test]
fn with_room_for_the_whole_map_nothing_is_read_or_written_for_it() {
    const UNITS: u64 = 9_000;
    let write = |drive: &mut dyn FnMut(Lpn)| {
        let mut random = Stream::new(4, 1);
        for lpn in 0..UNITS {
            drive(Lpn(lpn as u32));
        }
        for _ in 0..6 * UNITS {
            drive(Lpn(random.below(UNITS) as u32));
        }
    };
    let cache = MapCacheConfig {
        cache_bytes: 1 << 20,
        fetch_bytes: PAGE,
        spare_blocks: None,
        host_bytes: 0,
        host_ns: 0,
    };
    let reserved = 3;
    let mut whole = Untimed::new(PageMap::new(layout(180, 16, PAGE), config(UNITS as u32)).unwrap());
    write(&mut |lpn| whole.write(&[lpn]).unwrap());
    let demand = PageMap::demand_loaded(layout(180 + reserved, 16, PAGE), config(UNITS as u32), cache);
    let mut demand = Untimed::new(demand.unwrap());
    write(&mut |lpn| demand.write(&[lpn]).unwrap());
    let uses = demand.ftl.memory().uses();
    assert_eq!((demand.ftl.memory().lines().0, uses.misses, uses.reads, uses.write_backs), (9, 9, 0, 0));
    let (one, other) = (demand.ftl.counters(), whole.ftl.counters());
    assert_eq!((one.programs_map, one.programs_host), (0, other.programs_host));
    assert_eq!(demand.ftl.held_back_bytes() - whole.ftl.held_back_bytes(), 4 * 3 * 16 * u64::from(PAGE));
    let (one, other) = (one.programs() as f64, other.programs() as f64);
    assert!((one / other - 1.0).abs() < 0.01, "{one} programs, with the map in memory {other}");
}

#[test]
fn a_trim_of_everything_leaves_no_map() {
    let mut ftl = filled(6).ftl;
    let before = (ftl.memory().uses(), *ftl.counters());
    for lpn in 0..64 * 1024 {
        ftl.trim(Lpn(lpn));
    }
    ftl.note_trimmed_extent();
    assert_eq!(since(before.0, ftl.memory().uses()), MapUses::default(), "no line is read or written");
    assert_eq!((ftl.take_map_fetch(), ftl.fetch_map(Lpn(9)), ftl.backlog().metadata_pages), (None, None, 0));
    ftl.check().unwrap();
}
