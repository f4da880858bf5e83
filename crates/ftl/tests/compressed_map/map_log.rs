//! A map of which a small part is in memory: its log, and trims that are lost or wait for it.

use drivelab_ftl::{Books, CompressedMap, CompressionConfig, Content, LogMapping, Mapping, VictimSelection};
use drivelab_nand::Lpn;
use drivelab_sim::Stream;

use super::{Packed, compression, ftl, geometry};

/// A drive full of random data, its map in memory for a small part.
fn full_drive(config: CompressionConfig) -> Packed {
    let config = CompressionConfig { map_cache_bytes: 2048, map_fetch_bytes: 512, ..config };
    let map = CompressedMap::new(geometry(2, 128, 64, 4096), ftl(10_000, VictimSelection::Greedy), config);
    let mut drive = Packed::new(map.unwrap());
    for lpn in 0..10_000 {
        drive.write(lpn, &Content::RANDOM);
    }
    drive.flush();
    drive
}

fn trim(drive: &mut Packed, units: std::ops::Range<u32>) {
    drive.drive.ftl.begin_trim();
    for lpn in units {
        drive.drive.ftl.trim(Lpn(lpn));
        assert_eq!(drive.drive.ftl.lookup(Lpn(lpn)), None, "reads as zeros");
    }
    drive.drive.ftl.check().unwrap();
}

#[test]
fn trims_beyond_the_queue_keep_their_space_and_are_lost_again_when_they_come_again() {
    let config = CompressionConfig { trim_loss_percent: 25, ..compression(false) };
    let mut drive = full_drive(config);
    for _ in 0..2 {
        for first in (0..10_000).step_by(2000) {
            trim(&mut drive, first..first + 2000);
        }
        assert_eq!(drive.drive.ftl.valid_units(), 2000, "the fourth of five ranges is not taken in");
        let ftl = &drive.drive.ftl;
        assert!(ftl.sensed(Lpn(5999)).is_none() && ftl.sensed(Lpn(6000)).is_some(), "and is read in vain");
        drive.drive.ftl.rest();
    }
    trim(&mut drive, 6000..8000);
    assert_eq!(drive.drive.ftl.valid_units(), 0, "by itself it is");
}

#[test]
fn a_deferred_trim_takes_effect_when_the_map_is_cleaned() {
    let mut drive = full_drive(CompressionConfig { trims_deferred: true, ..compression(false) });
    trim(&mut drive, 0..10_000);
    assert_eq!(drive.drive.ftl.valid_units(), 10_000, "nothing is free yet");
    assert!((0..10_000).all(|lpn| drive.drive.ftl.sensed(Lpn(lpn)).is_none()), "but no data are read");
    let mut freed = Vec::new();
    // Writes scattered over a tenth of the drive change lines of the map, so that its log turns over.
    for round in 0..40 {
        for lpn in 0..1000 {
            drive.write(lpn * 7 % 1000, &Content::RANDOM);
        }
        drive.flush();
        drive.drive.ftl.check().unwrap();
        freed.push(10_000 - drive.drive.ftl.valid_units());
        if round == 0 {
            assert!(freed[0] < 1000, "{freed:?}");
        }
    }
    assert!(freed.is_sorted(), "{freed:?}");
    // The last line that is written stays newer than any copy of it in flash, and so do its entries that are not written.
    assert_eq!(freed.last(), Some(&(10_000 - 1024)), "all but the lines written since: {freed:?}");
}

#[test]
fn the_log_of_the_map_is_cleaned_and_stays_within_its_blocks() {
    let mut drive = full_drive(compression(false));
    let mut random = Stream::new(1, 1);
    for _ in 0..100_000 {
        drive.write(random.below(10_000) as u32, &Content::RANDOM);
    }
    drive.flush();
    let ftl = &drive.drive.ftl;
    ftl.check().unwrap();
    let counters = ftl.counters();
    // Nearly every write changes a line of 512 bytes that is not in memory, eight of which fill a page.
    let pages = (counters.units_host / 8) as f64;
    let written = counters.programs_map as f64;
    assert!((0.9 * pages..2.0 * pages).contains(&written), "{written} pages of the map for {pages}");
    let blocks = |die: u32| (0..128).map(move |block| drivelab_nand::BlockIndex(die * 128 + block));
    let worn: Vec<u32> = blocks(0).map(|block| ftl.flash().erase_count(block)).collect();
    assert!(worn[..3].iter().all(|&count| count > 0), "every block of the log takes part: {worn:?}");
    assert!(counters.erases_map > 100, "{}", counters.erases_map);
}
