//! Fragments: of copies, of one page, and how much memory they take.

use drivelab_ftl::{Books, CompressedMap, Content, Contents, Mapping, VictimSelection};
use drivelab_nand::Lpn;
use drivelab_sim::Stream;

use super::{Packed, compression, ftl, geometry};

#[test]
fn copies_are_stored_once_and_freed_with_their_last_reference() {
    let map =
        CompressedMap::new(geometry(2, 64, 64, 4096), ftl(4000, VictimSelection::Greedy), compression(false));
    let mut drive = Packed::new(map.unwrap());
    for lpn in 0..4000 {
        drive.write(lpn, &Content::ZEROS);
    }
    drive.flush();
    assert_eq!(drive.drive.ftl.valid_units(), 1, "4000 units share one fragment");
    assert_eq!(drive.drive.ftl.counters().units_duplicate, 3999);
    for lpn in 1..4000 {
        drive.drive.ftl.trim(Lpn(lpn));
    }
    assert_eq!(drive.drive.ftl.valid_units(), 1, "the last reference keeps it");
    drive.drive.ftl.check().unwrap();
    drive.write(0, &Content::RANDOM);
    drive.flush();
    assert_eq!(drive.drive.ftl.valid_units(), 1, "now it is a unit of random bytes");
    drive.drive.ftl.trim(Lpn(0));
    assert_eq!(drive.drive.ftl.valid_units(), 0);
    drive.drive.ftl.check().unwrap();
}

#[test]
fn fragments_of_a_page_are_read_together_and_whole() {
    let map = CompressedMap::new(
        geometry(2, 64, 64, 16384),
        ftl(4000, VictimSelection::Greedy),
        compression(false),
    );
    let mut drive = Packed::new(map.unwrap());
    let half = Content { compressed_permille: 500, ..Content::RANDOM };
    for lpn in 0..9 {
        drive.write(lpn, &half);
    }
    drive.flush();
    let ftl = &drive.drive.ftl;
    let first = ftl.lookup(Lpn(0)).unwrap();
    assert_eq!(ftl.read_bytes(Lpn(0), 1), 2048);
    assert!((1..8).all(|lpn| ftl.is_on_page_of(first, lpn, Lpn(lpn))), "eight half units fill a page");
    assert!(!ftl.is_on_page_of(first, 8, Lpn(8)));
    for lpn in 20..24 {
        drive.write(lpn, &Content::ZEROS);
    }
    drive.flush();
    assert_eq!(drive.drive.ftl.read_bytes(Lpn(20), 8), 512);
    assert_eq!(drive.drive.ftl.read_bytes_beside(Lpn(20), Lpn(21), 8), 0, "one fragment for all copies");
}

#[test]
fn memory_stays_small_on_a_drive_full_of_small_fragments() {
    // Uniform random overwrites of well compressible units leave mostly outdated keys behind.
    let units = 200_000;
    let map = CompressedMap::new(
        geometry(4, 320, 64, 16384),
        ftl(units, VictimSelection::Greedy),
        compression(true),
    );
    let mut drive = Packed::new(map.unwrap());
    let content = Content { compressed_permille: 1, ..Content::RANDOM };
    let mut random = Stream::new(1, 1);
    for _ in 0..8 * units {
        drive.write(random.below(u64::from(units)) as u32, &content);
    }
    drive.flush();
    drive.drive.ftl.check().unwrap();
    let per_unit = drive.drive.ftl.memory_bytes() as f64 / f64::from(units);
    assert!(per_unit < 18.0, "{per_unit} bytes a map unit: 64 million would take more than 1.2 GB");
}
