//! A page map with an SLC cache against a plain map, with every book recounted; and how much it takes before and after
//! it is full, against arithmetic.

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    Books, FtlConfig, KeptWords, LogMapping, Mapping, PageMap, SlcCacheConfig, Urgency, WhenFull,
};
use drivelab_nand::{CellMode, DieIndex, Geometry, Lpn, UnitLayout};
use proptest::prelude::*;

use crate::plain;

pub const BITS: u32 = 3;
const DIES: u32 = 2;
const PAGES: u32 = 24;

fn geometry(blocks: u32) -> Geometry {
    Geometry {
        channel_count: DIES,
        dies_per_channel: 1,
        planes_per_die: 2,
        blocks_per_plane: blocks,
        pages_per_block: PAGES,
        page_bytes: 4096 * BITS,
        oob_bytes: 0,
        two_plane: true,
    }
}

pub fn cache(when_full: WhenFull) -> SlcCacheConfig {
    SlcCacheConfig {
        bits: BITS,
        static_blocks: 0,
        dynamic_blocks: u32::MAX / 2,
        whole_until: 1.0,
        gone_from: 1.0,
        reserve_blocks: 0,
        when_full,
        refill_blocks: 0,
        kept_blocks: 0,
        fold_dies: 0,
    }
}

fn drive(blocks: u32, share: f64, cache: SlcCacheConfig) -> Untimed<PageMap> {
    levelled(blocks, share, cache, 0)
}

fn levelled(blocks: u32, share: f64, cache: SlcCacheConfig, wear_spread_limit: u32) -> Untimed<PageMap> {
    let layout = UnitLayout::new(geometry(blocks), 4096).unwrap();
    let config = FtlConfig {
        cleaning_stop_blocks: 3,
        slc_cache: Some(cache),
        wear_spread_limit,
        ..plain::config((f64::from(layout.unit_count()) * share) as u32)
    };
    let mut ftl = PageMap::new(layout, config).unwrap();
    ftl.keep_stamps();
    Untimed::new(ftl)
}

/// Cleans as a pause does until nothing is left to do; how many steps that took.
fn pause(drive: &mut Untimed<PageMap>) -> u32 {
    drive.ftl.rest();
    let mut steps = 0;
    loop {
        let before = steps;
        for die in (0..DIES).map(DieIndex) {
            while drive.ftl.cleaning_urgency(die) >= Urgency::Idle {
                if drive.ftl.next_cleaning_step(die).unwrap().is_none() {
                    break;
                }
                steps += 1;
                while drive.ftl.take_waiting_die().is_some() {}
            }
        }
        if steps == before {
            return steps;
        }
    }
}

/// Writes units in order, a page at a time, each page of the size that its die takes.
fn fill(drive: &mut Untimed<PageMap>, units: std::ops::Range<u32>, mut note: impl FnMut(&PageMap, u32)) {
    let mut next = units.start;
    while next < units.end {
        let most = drive.page_units().unwrap();
        let page: Vec<_> = (next..(next + most).min(units.end)).map(Lpn).collect();
        drive.write(&page).unwrap();
        next += page.len() as u32;
        note(&drive.ftl, next);
    }
}

/// Units written when the first block is opened as a native one, and when the first is folded; units of raw flash, of a
/// block, blocks that cleaning keeps free on all dies. The drive is filled once.
struct Fill {
    native_from: Option<u32>,
    folds_from: Option<u32>,
    programs_folding: u64,
    raw: u32,
    block: u32,
}

fn filled(blocks: u32, share: f64, config: SlcCacheConfig) -> Fill {
    let mut drive = drive(blocks, share, config);
    let units = drive.ftl.config().user_units;
    let layout = *drive.ftl.layout();
    let mut found = Fill {
        native_from: None,
        folds_from: None,
        programs_folding: 0,
        raw: layout.unit_count(),
        block: layout.units_per_block,
    };
    fill(&mut drive, 0..units, |ftl, written| {
        let counters = ftl.counters();
        if counters.programs_host > counters.programs_slc {
            found.native_from.get_or_insert(written);
        }
        if counters.programs_folding > 0 {
            found.folds_from.get_or_insert(written);
        }
    });
    drive.ftl.check().unwrap();
    found.programs_folding = drive.ftl.counters().programs_folding;
    found
}

fn is_near(found: Option<u32>, expected: f64, blocks: f64) {
    let found = f64::from(found.unwrap());
    assert!((found - expected).abs() <= blocks, "{found} units, by formula {expected}, within {blocks}");
}

#[test]
fn the_cache_ends_where_it_fills_all_flash_but_the_reserve() {
    for reserve_blocks in [0, 9] {
        let found = filled(120, 0.9, SlcCacheConfig { reserve_blocks, ..cache(WhenFull::Native) });
        // Three free blocks of a die are cleaning's, and one more is open.
        let reserve = f64::from(DIES * (3 + reserve_blocks) * found.block);
        let (raw, block) = (f64::from(found.raw), f64::from(DIES * found.block));
        is_near(found.native_from, (raw - reserve) / f64::from(BITS), block);
        // Of native blocks there is what lies between the two thresholds of cleaning.
        let native = block;
        is_near(found.folds_from, (raw - reserve) / f64::from(BITS) + native, block);
    }
}

#[test]
fn native_writes_go_on_until_free_blocks_run_out() {
    for dynamic_blocks in [40, 80, 120] {
        let found = filled(120, 0.9, SlcCacheConfig { dynamic_blocks, ..cache(WhenFull::Native) });
        let slc = f64::from(dynamic_blocks * found.block / BITS);
        let (raw, block) = (f64::from(found.raw), f64::from(DIES * found.block));
        is_near(found.native_from, slc, block / 2.0);
        // Raw - (b - 1) S - R: folding begins below two free blocks of a die, with one open.
        is_near(found.folds_from, raw - f64::from(BITS - 1) * slc - 2.0 * block, 1.5 * block);
    }
}

#[test]
fn folding_makes_room_for_as_much_as_each_bit_more_holds() {
    // To place x natively, x / (b - 1) is folded.
    let share = 0.9;
    let found = filled(120, share, SlcCacheConfig { dynamic_blocks: 100, ..cache(WhenFull::Native) });
    let rest = f64::from(found.raw) * share - f64::from(found.folds_from.unwrap());
    let folded = found.programs_folding as f64 * f64::from(found.block) / f64::from(PAGES);
    let expected = rest / f64::from(BITS - 1);
    assert!((folded / expected - 1.0).abs() < 0.06, "{folded} units folded, by formula {expected}");
}

#[test]
fn a_drive_that_waits_folds_all_that_the_cache_does_not_hold() {
    let config = SlcCacheConfig { static_blocks: 2, dynamic_blocks: 20, ..cache(WhenFull::Wait) };
    let found = filled(120, 0.8, config);
    assert_eq!(found.native_from, None, "no page of the host is native");
    let held = f64::from((DIES * 2 + 20) * found.block / BITS);
    let folded = found.programs_folding as f64 * f64::from(found.block) / f64::from(PAGES);
    let expected = f64::from(found.raw) * 0.8 - held;
    assert!((folded / expected - 1.0).abs() < 0.03, "{folded} units folded, expected {expected}");
}

#[test]
fn a_static_cache_is_left_alone_until_the_host_pauses() {
    let mut drive =
        drive(60, 0.7, SlcCacheConfig { static_blocks: 4, dynamic_blocks: 0, ..cache(WhenFull::Native) });
    let units = drive.ftl.config().user_units;
    fill(&mut drive, 0..units, |_, _| ());
    assert_eq!(drive.ftl.counters().programs_folding, 0);
    assert_eq!(drive.ftl.counters().programs_slc, u64::from(4 * DIES * PAGES));
    pause(&mut drive);
    assert_eq!(drive.ftl.counters().erases_folding, u64::from(4 * DIES));
    // Then it takes as much again.
    fill(&mut drive, 0..units / 2, |_, _| ());
    assert_eq!(drive.ftl.counters().programs_slc, u64::from(2 * 4 * DIES * PAGES));
    drive.ftl.check().unwrap();
}

#[test]
fn a_cache_is_filled_again_when_it_was_emptied_beside_native_writes() {
    let config = SlcCacheConfig { dynamic_blocks: 20, fold_dies: 1, ..cache(WhenFull::Refill) };
    let mut drive = drive(120, 0.8, config);
    let units = drive.ftl.config().user_units;
    let mut turns = Vec::new();
    fill(&mut drive, 0..units, |ftl, _| {
        let is_slc = ftl.host_page_granules(DieIndex(0)) < ftl.page_granules();
        if turns.last() != Some(&is_slc) {
            turns.push(is_slc);
        }
    });
    assert!(turns.len() >= 4 && turns[0], "to the cache and beside it in turn: {turns:?}");
}

#[test]
fn trims_and_overwrites_make_room_in_the_cache_without_copies() {
    for is_trimmed in [true, false] {
        let mut drive = drive(60, 0.5, SlcCacheConfig { dynamic_blocks: 20, ..cache(WhenFull::Native) });
        let held = 20 * drive.ftl.layout().units_per_block / BITS;
        for _ in 0..6 {
            fill(&mut drive, 0..held, |_, _| ());
            if is_trimmed {
                (0..held).for_each(|lpn| drive.ftl.trim(Lpn(lpn)));
            }
        }
        let counters = drive.ftl.counters();
        assert_eq!(counters.programs_folding, 0, "trimmed: {is_trimmed}");
        let slc = counters.programs_slc as f64 / counters.programs_host as f64;
        assert!(slc > 0.6, "trimmed: {is_trimmed}: {slc} of the pages went to the cache");
        drive.ftl.check().unwrap();
    }
}

#[test]
fn a_drive_that_was_trimmed_has_all_of_its_cache_after_a_pause() {
    for (static_blocks, kept_blocks) in [(0, 0), (0, 1000), (4, 1000)] {
        let own = SlcCacheConfig { static_blocks, kept_blocks, ..cache(WhenFull::Native) };
        let mut drive = drive(60, 0.8, own);
        let units = drive.ftl.config().user_units;
        let cached = |drive: &mut Untimed<PageMap>| {
            let before = drive.ftl.counters().programs_slc;
            fill(drive, 0..units, |_, _| ());
            drive.ftl.counters().programs_slc - before
        };
        let new = cached(&mut drive);
        pause(&mut drive);
        (0..units).for_each(|lpn| drive.ftl.trim(Lpn(lpn)));
        let copied = drive.ftl.counters().programs_folding;
        pause(&mut drive);
        assert_eq!(drive.ftl.counters().programs_folding, copied, "nothing is left to copy");
        let again = cached(&mut drive);
        // Blocks that were open when the drive was trimmed stay so: one of the cache and one beside it on each die.
        let open = u64::from(2 * DIES * drive.ftl.layout().geometry.pages_per_block);
        assert!(again + open >= new, "{again} pages of the cache, {new} when it was new");
        drive.ftl.check().unwrap();
    }
}

#[test]
fn a_lazy_drive_keeps_its_cache_in_a_pause() {
    let mut drive = drive(60, 0.5, SlcCacheConfig { kept_blocks: 1000, ..cache(WhenFull::Native) });
    fill(&mut drive, 0..2400, |_, _| ());
    assert_eq!(pause(&mut drive), 0);
    let layout = *drive.ftl.layout();
    let place = drive.ftl.lookup(Lpn(0)).unwrap();
    assert_eq!(drive.ftl.flash().mode(layout.block_of(place)), CellMode::Slc);
}

#[test]
fn few_dies_fold_at_the_same_time_and_the_others_get_their_turn() {
    let mut drive = drive(60, 0.5, SlcCacheConfig { fold_dies: 1, ..cache(WhenFull::Native) });
    fill(&mut drive, 0..2400, |_, _| ());
    drive.ftl.rest();
    let steps = |drive: &mut Untimed<PageMap>, die| {
        let die = DieIndex(die);
        drive.ftl.cleaning_urgency(die) >= Urgency::Idle
            && drive.ftl.next_cleaning_step(die).unwrap().is_some()
    };
    assert!(steps(&mut drive, 0), "the first folds");
    assert!(!steps(&mut drive, 1), "and the other waits");
    assert_eq!(drive.ftl.take_waiting_die(), None);
    while drive.ftl.is_cleaning(DieIndex(0)) {
        assert!(steps(&mut drive, 0));
    }
    assert_eq!(drive.ftl.take_waiting_die(), Some(DieIndex(1)));
    assert!(steps(&mut drive, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_loses_or_invents_a_unit(
        when_full in prop::sample::select(vec![WhenFull::Native, WhenFull::Wait, WhenFull::Refill]),
        static_blocks in 0u32..3,
        dynamic_blocks in prop_oneof![Just(0u32), 1u32..12, Just(1000)],
        (whole_until, shrinks) in (0.0f64..1.0, 0.0f64..0.5),
        (reserve_blocks, refill_blocks, kept_blocks) in (0u32..3, 0u32..4, prop_oneof![Just(0u32), 1u32..9]),
        fold_dies in 0u32..3,
        share in 0.2f64..0.45,
        wear in prop_oneof![Just(0u32), 1u32..3],
        steps in prop::collection::vec((0u8..20, any::<u32>()), 1..1500),
        skew in 1u32..8,
    ) {
        prop_assume!(static_blocks + dynamic_blocks > 0);
        let config = SlcCacheConfig {
            static_blocks, dynamic_blocks, whole_until, gone_from: whole_until + shrinks, reserve_blocks,
            refill_blocks, kept_blocks, fold_dies, ..cache(when_full)
        };
        let mut drive = levelled(16, share, config, wear);
        let units = drive.ftl.config().user_units;
        let mut oracle = vec![false; units as usize];
        for (step, (kind, pick)) in steps.into_iter().enumerate() {
            let lpn = (pick % units) / (1 + pick / units % skew);
            match kind {
                0 | 1 => {
                    drive.ftl.trim(Lpn(lpn));
                    oracle[lpn as usize] = false;
                }
                2 if step % 5 == 0 => _ = pause(&mut drive),
                3 if step % 97 == 0 => {
                    drive.ftl.secure_erase();
                    oracle.fill(false);
                }
                _ => {
                    let most = drive.page_units().unwrap();
                    let count = (pick >> 24) % most + 1;
                    let page: Vec<_> = (lpn..(lpn + count).min(units)).map(Lpn).collect();
                    drive.write(&page).unwrap();
                    for lpn in page {
                        oracle[lpn.0 as usize] = true;
                    }
                }
            }
            if step % 8 == 0 {
                drive.ftl.check().map_err(TestCaseError::fail)?;
            }
        }
        drive.ftl.check().map_err(TestCaseError::fail)?;
        for (lpn, &written) in oracle.iter().enumerate() {
            prop_assert_eq!(drive.ftl.lookup(Lpn(lpn as u32)).is_some(), written);
        }
        pause(&mut drive);
        drive.ftl.check().map_err(TestCaseError::fail)?;
        prop_assert_eq!(drive.ftl.backlog().folding_blocks, 0, "a pause folds all that it should");
    }
}
