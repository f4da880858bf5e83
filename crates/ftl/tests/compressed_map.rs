//! The compressed map against a plain map and against arithmetic, with every book recounted.

use drivelab_ftl::theory::fifo_write_amplification;
use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    Books, CleaningMode, CompressedMap, CompressionConfig, Content, Contents, FtlConfig, LogMapping, Mapping,
    Stored, VictimSelection,
};
use drivelab_nand::{Geometry, Lpn};
use drivelab_sim::Stream;
use proptest::prelude::*;

const UNIT: u32 = 4096;

fn geometry(dies: u32, blocks: u32, pages: u32, page_bytes: u32) -> Geometry {
    Geometry {
        channel_count: dies,
        dies_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        page_bytes,
        oob_bytes: 0,
        two_plane: false,
    }
}

fn ftl(user_units: u32, policy: VictimSelection) -> FtlConfig {
    FtlConfig {
        user_units,
        victim_selection: policy,
        choices: 3,
        window_blocks: 4,
        placement: drivelab_ftl::Placement::HostAndCleaning,
        hot_writes: 4,
        hint_streams: 5,
        cleaning_mode: CleaningMode::Relocate,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 2,
        trim_supported: true,
        idle_cleaning_blocks: 0,
        wear_spread_limit: 0,
        journal_updates_per_page: 0,
        checkpoint_updates: 0,
        checkpoint_pages: 0,
        slc_cache: None,
        seed: 5,
    }
}

fn compression(parity: bool) -> CompressionConfig {
    CompressionConfig {
        unit_bytes: UNIT,
        granule_bytes: 512,
        parity,
        trims_deferred: false,
        trim_loss_percent: 0,
        map_cache_bytes: 0,
        map_fetch_bytes: 512,
    }
}

/// Packs units into pages as a write buffer does: in order, as many as fit.
struct Packed {
    drive: Untimed<CompressedMap>,
    lpns: Vec<Lpn>,
    stored: Vec<Stored>,
    used: u32,
}

impl Packed {
    fn new(map: CompressedMap) -> Self {
        Self { drive: Untimed::new(map), lpns: Vec::new(), stored: Vec::new(), used: 0 }
    }

    fn write(&mut self, lpn: u32, content: &Content) {
        let stored = self.drive.ftl.stored(content, 0);
        let room = self.drive.ftl.room_of(stored);
        if self.used + room > self.drive.ftl.page_granules() {
            self.flush();
        }
        // What is stored once may be gone by the time a page is written, so room is taken for the whole unit.
        self.used += u32::from(stored.granules);
        if self.used > self.drive.ftl.page_granules() {
            self.flush();
            self.used = u32::from(stored.granules);
        }
        self.lpns.push(Lpn(lpn));
        self.stored.push(stored);
    }

    fn flush(&mut self) {
        if !self.lpns.is_empty() {
            self.drive.write_stored(&self.lpns, &self.stored).unwrap();
        }
        self.lpns.clear();
        self.stored.clear();
        self.used = 0;
    }
}

fn content(kind: u32) -> Content {
    match kind % 6 {
        0 => Content::RANDOM,
        1 => Content::ZEROS,
        2 => Content { compressed_permille: 460, duplicate_permille: 0, pool: 1, seed: kind },
        3 => Content { compressed_permille: 620, duplicate_permille: 500, pool: 3, seed: kind },
        4 => Content { compressed_permille: 1000, duplicate_permille: 900, pool: 2, seed: kind },
        _ => Content { compressed_permille: 10, duplicate_permille: 0, pool: 1, seed: kind },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_loses_or_invents_a_unit(
        page_bytes in prop_oneof![Just(4096u32), Just(8192), Just(16384)],
        dies in 2u32..4,
        parity in any::<bool>(),
        policy in prop::sample::select(VictimSelection::ALL),
        wear in prop_oneof![Just(0u32), Just(2)],
        journal in prop_oneof![Just(0u32), Just(7)],
        trims in 0u32..3,
        lines in prop_oneof![Just(0u32), Just(64), Just(100)],
        units in 50u32..300,
        steps in prop::collection::vec((0u8..20, any::<u32>(), any::<u32>()), 1..2500),
        skew in 1u32..8,
    ) {
        let config = FtlConfig {
            wear_spread_limit: wear,
            journal_updates_per_page: journal,
            checkpoint_updates: 50,
            checkpoint_pages: 3,
            ..ftl(units, policy)
        };
        // Just enough blocks for these units.
        let map = (6..400).find_map(|blocks| {
            let geometry = geometry(dies, blocks, 48 * 4096 / page_bytes + 8, page_bytes);
            let compression = CompressionConfig {
                trims_deferred: trims == 1 && lines > 0 && journal == 0,
                trim_loss_percent: if trims == 2 { 25 } else { 0 },
                map_cache_bytes: if journal == 0 { 2 * lines } else { 0 },
                map_fetch_bytes: lines.max(4),
                ..compression(parity)
            };
            CompressedMap::new(geometry, config.clone(), compression).ok()
        });
        let mut drive = Packed::new(map.unwrap());
        let mut oracle = vec![false; units as usize];
        for (step, (kind, pick, seed)) in steps.into_iter().enumerate() {
            let lpn = (pick % units) / (1 + pick / units % skew);
            match kind {
                0 | 1 => {
                    drive.flush();
                    drive.drive.ftl.begin_trim();
                    drive.drive.ftl.trim(Lpn(lpn));
                    oracle[lpn as usize] = false;
                }
                2 if step % 97 == 0 => {
                    drive.flush();
                    drive.drive.ftl.secure_erase();
                    oracle.fill(false);
                }
                3 => {
                    drive.flush();
                    if pick % 5 == 0 {
                        drive.drive.ftl.rest();
                    }
                }
                _ => {
                    drive.write(lpn, &content(seed));
                    oracle[lpn as usize] = true;
                }
            }
            if step % 32 == 0 {
                drive.drive.ftl.check().map_err(TestCaseError::fail)?;
            }
        }
        drive.flush();
        let ftl = &drive.drive.ftl;
        ftl.check().map_err(TestCaseError::fail)?;
        for (lpn, &written) in oracle.iter().enumerate() {
            prop_assert_eq!(ftl.lookup(Lpn(lpn as u32)).is_some(), written);
        }
        let counters = *ftl.counters();
        prop_assert_eq!(counters.programs(), ftl.flash().program_count());
        let erases = counters.erases_cleaning + counters.erases_wear + counters.erases_map + counters.erases_secure;
        prop_assert_eq!(erases, ftl.flash().erase_total());
    }
}

/// Uniform random writes over the whole drive until the state is steady: flash bytes programmed per host byte.
fn steady_write_amplification(
    permille: u16,
    user_ratio: f64,
    parity: bool,
    policy: VictimSelection,
) -> (f64, f64) {
    let geometry = geometry(4, 512, 64, 4096);
    let raw = 4 * 512 * 64;
    let user = (f64::from(raw) * user_ratio) as u32;
    let mut drive =
        Packed::new(CompressedMap::new(geometry, ftl(user, policy), compression(parity)).unwrap());
    let content = Content { compressed_permille: permille, duplicate_permille: 0, pool: 1, seed: 0 };
    let mut random = Stream::new(1, 1);
    for lpn in 0..user {
        drive.write(lpn, &content);
    }
    let mut write = |drive: &mut Packed, count: u32| {
        for _ in 0..count {
            drive.write(random.below(u64::from(user)) as u32, &content);
        }
    };
    write(&mut drive, 4 * user);
    let before = *drive.drive.ftl.counters();
    write(&mut drive, 2 * user);
    let after = *drive.drive.ftl.counters();
    drive.drive.ftl.check().unwrap();
    let host = f64::from(2 * user);
    ((after.programs() - before.programs()) as f64 / host, f64::from(user) / f64::from(raw))
}

#[test]
fn incompressible_data_follows_the_formula() {
    let (write_amplification, ratio) = steady_write_amplification(1000, 0.8, false, VictimSelection::Fifo);
    let formula = fifo_write_amplification(ratio);
    assert!((write_amplification / formula - 1.0).abs() < 0.03, "{write_amplification} against {formula}");
    let (greedy, _) = steady_write_amplification(1000, 0.8, false, VictimSelection::Greedy);
    assert!(greedy < write_amplification && greedy > 0.85 * formula, "{greedy} against {formula}");
}

#[test]
fn compressible_data_has_less_to_write_and_more_spare() {
    // A quarter of the size: a quarter of the space is valid, and every page takes four units.
    let (write_amplification, ratio) = steady_write_amplification(250, 0.8, false, VictimSelection::Fifo);
    let formula = 0.25 * fifo_write_amplification(0.25 * ratio);
    assert!(formula < 0.3);
    assert!((write_amplification / formula - 1.0).abs() < 0.03, "{write_amplification} against {formula}");
}

#[test]
fn parity_takes_its_share() {
    // A quarter of four dies: spare shrinks by it, and each data page brings a third of a parity page.
    let (write_amplification, ratio) = steady_write_amplification(1000, 0.6, true, VictimSelection::Fifo);
    let formula = fifo_write_amplification(ratio / 0.75) * 4.0 / 3.0;
    assert!((write_amplification / formula - 1.0).abs() < 0.04, "{write_amplification} against {formula}");
}

#[test]
fn one_page_in_as_many_as_there_are_dies_is_parity() {
    let map = CompressedMap::new(
        geometry(8, 64, 64, 16384),
        ftl(50_000, VictimSelection::Greedy),
        compression(true),
    );
    let mut drive = Packed::new(map.unwrap());
    for lpn in 0..50_000 {
        drive.write(lpn, &Content::RANDOM);
    }
    drive.flush();
    let counters = *drive.drive.ftl.counters();
    let share = counters.programs_parity as f64 / counters.programs() as f64;
    assert!((share - 1.0 / 8.0).abs() < 0.003, "{share}");
}

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

#[test]
fn impossible_drives_are_refused_by_name() {
    let refusal = |geometry, units, compression| {
        CompressedMap::new(geometry, ftl(units, VictimSelection::Greedy), compression)
            .unwrap_err()
            .to_string()
    };
    let usual = geometry(4, 64, 64, 4096);
    assert!(refusal(usual, 1 << 20, compression(true)).starts_with("user_capacity_bytes"));
    let wide = CompressionConfig { unit_bytes: 8192, ..compression(true) };
    assert!(refusal(usual, 1000, wide).starts_with("ftl.map_unit_bytes"));
    let fine = CompressionConfig { granule_bytes: 16, ..compression(true) };
    assert!(refusal(usual, 1000, fine).starts_with("ftl.granule_bytes"));
    assert!(refusal(geometry(1, 64, 64, 4096), 1000, compression(true)).contains("parity"));
    let whole = CompressionConfig { trims_deferred: true, ..compression(true) };
    assert!(refusal(usual, 1000, whole).starts_with("ftl.trims_deferred"));
}
