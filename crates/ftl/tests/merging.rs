//! The merging schemes against a plain map and against closed formulas, with every book recounted on the way.

use drivelab_ftl::log_block_map::LogBlocks;
use drivelab_ftl::superblock_map::OneReplacement;
use drivelab_ftl::untimed::UntimedMerges;
use drivelab_ftl::{Books, GroupUnit, KeptWords, Mapping, MergeConfig, MergeMap, MergeScheme};
use drivelab_nand::{Geometry, Lpn, UnitLayout};
use proptest::prelude::*;

const ROWS: u32 = 6;
const UNITS_PER_ROW: u32 = 4;

fn layout() -> UnitLayout {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: 2,
        planes_per_die: 2,
        blocks_per_plane: 14,
        pages_per_block: ROWS,
        page_bytes: 8192,
        oob_bytes: 0,
        two_plane: true,
    };
    UnitLayout::new(geometry, 4096).unwrap()
}

fn config(user_units: u32) -> MergeConfig {
    MergeConfig {
        user_units,
        interleaved_banks: 2,
        trim_supported: false,
        rotation_merges: 0,
        rotation_superblocks: 0,
        reserve_blocks: 1,
        log_blocks: 0,
        seed: 1,
    }
}

/// Nine superblocks a bank (of 14 blocks), the last stripe only in part.
const USER_UNITS: u32 = 17 * ROWS * UNITS_PER_ROW + 3;

fn drive<S: MergeScheme>(config: MergeConfig) -> UntimedMerges<S> {
    let mut ftl = MergeMap::new(layout(), config).unwrap();
    ftl.keep_stamps();
    UntimedMerges::new(ftl)
}

/// A host's write of sectors `first..end`, cut into groups of one superblock.
fn write<S: MergeScheme>(drive: &mut UntimedMerges<S>, oracle: &mut [u64], first: u64, end: u64, stamp: u64) {
    let superblocks = *drive.ftl.superblocks();
    let units: Vec<u32> = ((first / 8) as u32..end.div_ceil(8) as u32).collect();
    let mut by_superblock = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for unit in units {
        by_superblock.entry(superblocks.locate(Lpn(unit)).superblock).or_default().push(unit);
    }
    for (sector, place) in oracle.iter_mut().enumerate().take(end as usize).skip(first as usize) {
        *place = stamp + sector as u64 - first;
    }
    for units in by_superblock.values() {
        let group: Vec<GroupUnit> = units
            .iter()
            .map(|&unit| {
                let sectors = u64::from(unit) * 8..u64::from(unit) * 8 + 8;
                GroupUnit { lpn: Lpn(unit), is_partial: sectors.start < first || sectors.end > end }
            })
            .collect();
        drive.stamps =
            units.iter().map(|&unit| oracle[unit as usize * 8..unit as usize * 8 + 8].to_vec()).collect();
        drive.write(&group).unwrap();
    }
}

fn compare<S: MergeScheme>(drive: &UntimedMerges<S>, oracle: &[u64]) -> Result<(), TestCaseError> {
    drive.ftl.check().map_err(TestCaseError::fail)?;
    for (unit, wanted) in oracle.chunks(8).enumerate() {
        let found = drive.ftl.stamps_of(Lpn(unit as u32)).unwrap_or(&[0; 8]);
        prop_assert_eq!(found, wanted, "unit {}", unit);
    }
    Ok(())
}

fn random_commands<S: MergeScheme>(
    config: MergeConfig,
    steps: Vec<(u8, u32, u16)>,
) -> Result<(), TestCaseError> {
    let mut drive = drive::<S>(config);
    let mut oracle = vec![0u64; config.user_units as usize * 8];
    let sectors = oracle.len() as u64;
    let mut stamp = 1u64;
    let mut next = 0u64;
    for (step, (kind, at, length)) in steps.into_iter().enumerate() {
        let first = u64::from(at) % sectors;
        let end = (first + 1 + u64::from(length) % 20).min(sectors);
        match kind {
            0 if step % 61 == 0 => {
                drive.ftl.secure_erase();
                oracle.fill(0);
                compare(&drive, &oracle)?;
            }
            1 => {
                for unit in first / 8..end.div_ceil(8) {
                    drive.ftl.trim(Lpn(unit as u32));
                    if config.trim_supported {
                        oracle[unit as usize * 8..unit as usize * 8 + 8].fill(0);
                    }
                }
            }
            // A sequential stream among the random writes.
            2..=8 => {
                let end = (next + 8 * (1 + u64::from(length) % 40)).min(sectors);
                write(&mut drive, &mut oracle, next, end, stamp);
                next = if end == sectors { first & !7 } else { end };
            }
            _ => write(&mut drive, &mut oracle, first, end, stamp),
        }
        stamp += 1000;
        if step % 8 == 0 {
            compare(&drive, &oracle)?;
        }
    }
    compare(&drive, &oracle)
}

fn some_config() -> impl Strategy<Value = MergeConfig> {
    (1u32..=2, any::<bool>(), 0u32..3, 1u32..8, 0u32..3, 0u32..4, 1u32..=USER_UNITS).prop_map(
        |(
            interleaved_banks,
            trim_supported,
            rotation_superblocks,
            rotation_merges,
            reserve_blocks,
            log_blocks,
            units,
        )| {
            MergeConfig {
                user_units: units,
                interleaved_banks,
                trim_supported,
                rotation_merges,
                rotation_superblocks,
                reserve_blocks,
                log_blocks,
                seed: 1,
            }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<(u8, u32, u16)>> {
    prop::collection::vec((0u8..20, any::<u32>(), any::<u16>()), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_superblock_map_never_loses_or_invents_a_sector(config in some_config(), steps in steps()) {
        random_commands::<OneReplacement>(config, steps)?;
    }

    #[test]
    fn the_log_block_map_never_loses_or_invents_a_sector(config in some_config(), steps in steps()) {
        random_commands::<LogBlocks>(config, steps)?;
    }
}

fn one(lpn: u32) -> [GroupUnit; 1] {
    [GroupUnit { lpn: Lpn(lpn), is_partial: false }]
}

fn fill<S: MergeScheme>(drive: &mut UntimedMerges<S>) {
    let sectors = u64::from(drive.ftl.config().user_units) * 8;
    let mut oracle = vec![0; sectors as usize];
    let row = u64::from(UNITS_PER_ROW) * 8;
    for first in (0..sectors).step_by(row as usize) {
        write(drive, &mut oracle, first, (first + row).min(sectors), 1);
    }
}

#[test]
fn sequential_writing_merges_by_switching_and_writes_nothing_twice() {
    let units = 16 * ROWS * UNITS_PER_ROW;
    for passes in 1..4 {
        let mut superblock = drive::<OneReplacement>(config(units));
        let mut log = drive::<LogBlocks>(config(units));
        for _ in 0..passes {
            fill(&mut superblock);
            fill(&mut log);
        }
        for counters in [superblock.ftl.counters(), log.ftl.counters()] {
            assert_eq!(counters.programs(), u64::from(passes * units / UNITS_PER_ROW), "WA 1");
            assert_eq!((counters.merges_full, counters.merges_partial), (0, 0));
            assert_eq!(counters.merges_switch, u64::from(16 * passes));
        }
    }
}

#[test]
fn a_small_random_write_to_a_superblock_map_costs_all_rows() {
    for is_used in [false, true] {
        let mut drive = drive::<OneReplacement>(config(16 * ROWS * UNITS_PER_ROW));
        if is_used {
            fill(&mut drive);
        }
        let before = *drive.ftl.counters();
        let writes = 50u32;
        for write in 0..writes {
            // Another superblock of the same bank every time.
            let superblock = write % 8 * 2;
            let row = 1 + write * 7 % (ROWS - 1);
            drive.write(&one(drive.ftl.superblocks().first_lpn(superblock, row).0)).unwrap();
        }
        let after = *drive.ftl.counters();
        let rows = after.programs() - before.programs();
        // The last merge is not complete yet.
        assert!(
            (writes - 1) * ROWS <= rows as u32 && rows as u32 <= writes * ROWS,
            "{rows} rows, used: {is_used}"
        );
        assert_eq!(after.merges_full - before.merges_full, u64::from(writes - 1));
        let amplification = (rows * u64::from(UNITS_PER_ROW)) as f64 / f64::from(writes);
        let formula = f64::from(ROWS * UNITS_PER_ROW);
        assert!((amplification / formula - 1.0).abs() < 0.03, "WA {amplification}, formula {formula}");
    }
}

#[test]
fn a_log_takes_writes_until_its_blocks_are_gone_then_each_group_is_a_merge() {
    let mut drive = drive::<LogBlocks>(config(16 * ROWS * UNITS_PER_ROW));
    fill(&mut drive);
    // 14 blocks a bank, 8 superblocks: 6 erased blocks, of which one serves merges and one is reserved.
    let groups_in_log = 2 * 4 * ROWS;
    for group in 0..groups_in_log {
        let lpn = drive.ftl.superblocks().first_lpn(group % 16, 3).0;
        drive.write(&one(lpn + group / 16)).unwrap();
    }
    assert_eq!(drive.ftl.counters().units_cleaning, 0, "log blocks absorb");
    let before = *drive.ftl.counters();
    for superblock in 0..16 {
        drive.write(&one(drive.ftl.superblocks().first_lpn(superblock, 2).0)).unwrap();
    }
    let merged = drive.ftl.counters().merges_full - before.merges_full;
    let rows = drive.ftl.counters().programs() - before.programs();
    assert!(merged >= 4, "{merged}: merges empty log blocks, which take groups again");
    assert!(rows >= merged * u64::from(ROWS), "{rows} rows for {merged} merges");
    drive.ftl.check().unwrap();
}

#[test]
fn a_group_costs_one_merge_however_many_units_it_has() {
    for count in [1, 3, 6] {
        let mut drive =
            drive::<LogBlocks>(MergeConfig { reserve_blocks: 5, ..config(16 * ROWS * UNITS_PER_ROW) });
        fill(&mut drive);
        let before = *drive.ftl.counters();
        for superblock in 0..16 {
            let group: Vec<GroupUnit> = (0..count)
                .map(|row| GroupUnit {
                    lpn: Lpn(drive.ftl.superblocks().first_lpn(superblock, row).0 + 1),
                    is_partial: false,
                })
                .collect();
            drive.write(&group).unwrap();
        }
        let rows = drive.ftl.counters().programs() - before.programs();
        assert_eq!(rows, u64::from(16 * ROWS), "{count} units a group");
    }
}

#[test]
fn an_interrupted_sequential_write_ends_in_a_partial_merge() {
    let mut drive = drive::<LogBlocks>(config(16 * ROWS * UNITS_PER_ROW));
    fill(&mut drive);
    let before = *drive.ftl.counters();
    for superblock in [0, 2, 4] {
        for row in 0..2 {
            let first = drive.ftl.superblocks().first_lpn(superblock, row).0;
            let group: Vec<GroupUnit> = (first..first + UNITS_PER_ROW)
                .map(|lpn| GroupUnit { lpn: Lpn(lpn), is_partial: false })
                .collect();
            drive.write(&group).unwrap();
        }
    }
    let after = *drive.ftl.counters();
    assert_eq!(after.merges_partial - before.merges_partial, 2, "the third is still open");
    assert_eq!(after.units_cleaning - before.units_cleaning, u64::from(2 * (ROWS - 2) * UNITS_PER_ROW));
}

#[test]
fn rotation_spreads_the_wear_of_superblocks_that_nobody_writes() {
    let mut drive = drive::<OneReplacement>(MergeConfig {
        rotation_merges: 10,
        rotation_superblocks: 1,
        ..config(16 * ROWS * UNITS_PER_ROW)
    });
    for write in 0..4000u32 {
        let superblock = write % 2 * 2;
        drive.write(&one(drive.ftl.superblocks().first_lpn(superblock, 3).0)).unwrap();
    }
    let counts = &drive.ftl.flash().erase_counts()[..14];
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least > 100 && most - least < 200, "{counts:?}");
    assert!(drive.ftl.counters().programs_wear > 0);
    drive.ftl.check().unwrap();
}

#[test]
fn secure_erase_restores_the_new_state() {
    let mut log = drive::<LogBlocks>(config(USER_UNITS));
    let mut superblock = drive::<OneReplacement>(config(USER_UNITS));
    fill(&mut log);
    fill(&mut superblock);
    log.ftl.secure_erase();
    superblock.ftl.secure_erase();
    assert_eq!((log.ftl.valid_units(), superblock.ftl.valid_units()), (0, 0));
    assert_eq!(log.ftl.free_blocks(), 28);
    assert!(log.ftl.lookup(Lpn(5)).is_none(), "unwritten units read as zeros without flash");
    assert!(superblock.ftl.lookup(Lpn(5)).is_some(), "the fixed map reads flash all the same");
    log.ftl.check().unwrap();
    superblock.ftl.check().unwrap();
}

#[test]
fn impossible_capacities_are_named() {
    let error =
        MergeMap::<LogBlocks>::new(layout(), config(26 * ROWS * UNITS_PER_ROW)).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("user_capacity_bytes = 2555904: must be 1 map unit"), "{error}");
}
