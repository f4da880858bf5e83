//! The FTL against a plain map, with every book recounted after every step.

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    Books, Contents, FailingBlocks, FailureRule, FailureRules, FailureTrigger, FtlConfig, KeptWords,
    LogMapping, Mapping, PageMap, Placement, VictimSelection,
};
use drivelab_nand::{DieIndex, Geometry, Lpn, UnitLayout};
use drivelab_sim::Stream;
use proptest::prelude::*;

use crate::{one_plane, plain};

fn drive(
    policy: VictimSelection,
    placement: Placement,
    unit_bytes: u32,
    wear: u32,
    journal: u32,
) -> Untimed<PageMap> {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: 1,
        planes_per_die: 2,
        blocks_per_plane: 7,
        pages_per_block: 6,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    let layout = UnitLayout::new(geometry, unit_bytes).unwrap();
    // A die has 14 blocks, of which each stream has one open.
    let part = if placement == Placement::HostAndCleaning { 2 } else { 4 };
    let config = FtlConfig {
        user_units: layout.unit_count() / part,
        victim_selection: policy,
        wear_spread_limit: wear,
        journal_updates_per_page: journal,
        ..config(placement)
    };
    let mut ftl = PageMap::new(layout, config).unwrap();
    ftl.keep_stamps();
    Untimed::new(ftl)
}

fn config(placement: Placement) -> FtlConfig {
    FtlConfig {
        placement,
        cleaning_stop_blocks: 3,
        checkpoint_updates: 50,
        checkpoint_pages: 3,
        ..plain::config(1)
    }
}

fn policy() -> impl Strategy<Value = VictimSelection> {
    prop::sample::select(VictimSelection::ALL)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_loses_or_invents_a_unit(
        policy in policy(),
        placement in prop::sample::select(Placement::ALL),
        unit_bytes in prop_oneof![Just(2048u32), Just(4096), Just(1536), Just(8192)],
        wear in prop_oneof![Just(0u32), Just(2)],
        journal in prop_oneof![Just(0u32), Just(7)],
        steps in prop::collection::vec((0u8..20, any::<u32>()), 1..1500),
        skew in 1u32..8,
    ) {
        let mut drive = drive(policy, placement, unit_bytes, wear, journal);
        let units = drive.ftl.config().user_units;
        let mut oracle = vec![false; units as usize];
        for (step, (kind, pick)) in steps.into_iter().enumerate() {
            // Skewed: the lowest units are hot.
            let lpn = (pick % units) / (1 + pick / units % skew);
            match kind {
                0 => {
                    drive.ftl.trim(Lpn(lpn));
                    oracle[lpn as usize] = false;
                }
                1 if step % 97 == 0 => {
                    drive.ftl.secure_erase();
                    oracle.fill(false);
                }
                _ => {
                    drive.ftl.note_hint(lpn..lpn + 1, kind % 6);
                    drive.write(&[Lpn(lpn)]).unwrap();
                    oracle[lpn as usize] = true;
                }
            }
            if step % 16 == 0 {
                drive.ftl.check().map_err(TestCaseError::fail)?;
            }
        }
        drive.ftl.check().map_err(TestCaseError::fail)?;
        for (lpn, &written) in oracle.iter().enumerate() {
            prop_assert_eq!(drive.ftl.lookup(Lpn(lpn as u32)).is_some(), written);
        }
    }
}

#[test]
fn a_drive_written_full_of_one_hot_die_never_deadlocks() {
    // Overwriting only what lies on die 0 would move all valid data to die 1 if nothing held it back.
    let mut drive = drive(VictimSelection::Greedy, Placement::HostAndCleaning, 4096, 0, 0);
    let units = drive.ftl.config().user_units;
    for lpn in 0..units {
        drive.write(&[Lpn(lpn)]).unwrap();
    }
    let mut held_back = 0;
    for round in 0..2000u32 {
        let layout = *drive.ftl.layout();
        let on_die_0 = (0..units).find(|&lpn| {
            let lpn = (lpn + round) % units;
            drive.ftl.lookup(Lpn(lpn)).is_some_and(|ppn| layout.die_of(layout.block_of(ppn)) == DieIndex(0))
        });
        let lpn = on_die_0.map_or(round % units, |lpn| (lpn + round) % units);
        let is_held_back = drive.ftl.is_full(DieIndex(1));
        drive.write(&[Lpn(lpn)]).unwrap();
        if is_held_back {
            let place = drive.ftl.lookup(Lpn(lpn)).unwrap();
            assert_eq!(layout.die_of(layout.block_of(place)), DieIndex(0), "die 1 was full");
            held_back += 1;
        }
    }
    assert!(held_back > 0, "no die was ever held back");
    drive.ftl.check().unwrap();
}

#[test]
fn blocks_may_hold_more_units_than_16_bits_count() {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: 1,
        planes_per_die: 4,
        blocks_per_plane: 16,
        pages_per_block: 4096,
        page_bytes: 16384,
        oob_bytes: 0,
        two_plane: true,
    };
    let layout = UnitLayout::new(geometry, 4096).unwrap();
    assert_eq!(layout.units_per_block, 65_536);
    let user_units = layout.unit_count() / 10 * 7;
    let ftl = PageMap::new(layout, FtlConfig { user_units, ..config(Placement::HostAndCleaning) }).unwrap();
    let mut drive = Untimed::new(ftl);
    let mut random = Stream::new(7, 0);
    let page = |_| Lpn(random.below(u64::from(user_units)) as u32);
    let mut lpns: Vec<Lpn> = (0..user_units).map(Lpn).collect();
    lpns.extend((0..user_units).map(page));
    for lpns in lpns.chunks(layout.units_per_page as usize) {
        drive.write(lpns).unwrap();
    }
    let counters = drive.ftl.counters();
    let copied = counters.units_cleaning / counters.erases_cleaning;
    assert!(copied > 1 << 15, "{copied} units were copied out of each block");
    drive.ftl.check().unwrap();
    assert!((0..user_units).all(|lpn| drive.ftl.lookup(Lpn(lpn)).is_some()));
}

#[test]
fn static_wear_levelling_bounds_the_spread() {
    let mut drive = drive(VictimSelection::Greedy, Placement::HostAndCleaning, 4096, 8, 0);
    let units = drive.ftl.config().user_units;
    for lpn in 0..units {
        drive.write(&[Lpn(lpn)]).unwrap();
    }
    for step in 0..200_000u32 {
        drive.write(&[Lpn(step % 4)]).unwrap();
    }
    let counts = drive.ftl.flash().erase_counts();
    let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
    assert!(spread <= 2 * 8, "{counts:?}");
    assert!(drive.ftl.counters().erases_wear > 0);
}

#[test]
fn pages_fail_as_often_with_many_streams_of_the_host_as_with_one() {
    let failed = |placement| {
        let geometry = one_plane::geometry(1, 4096, 16, 4096);
        let layout = UnitLayout::new(geometry, 4096).unwrap();
        let user_units = 1000;
        let mut ftl = PageMap::new(layout, FtlConfig { user_units, ..config(placement) }).unwrap();
        let rule = FailureRule {
            trigger: FailureTrigger::Probability(0.01),
            block: None,
            wear: None,
            left: u64::MAX,
            purpose: 1,
        };
        let rules = FailureRules { seed: 1, programs: vec![rule], ..FailureRules::default() };
        ftl.expect_failures().unwrap().set_rules(rules);
        for page in 0..30_000u32 {
            ftl.ready_host_page(DieIndex(0)).unwrap();
            let lpn = page % user_units;
            ftl.note_hint(lpn..lpn + 1, (page % 5) as u8);
            ftl.program_host(DieIndex(0), &[Lpn(lpn)], &[]).unwrap();
        }
        ftl.check().unwrap();
        ftl.bad_blocks().unwrap().retired()
    };
    for placement in [Placement::HostAndCleaning, Placement::Hint] {
        let failed = failed(placement);
        assert!((250..350).contains(&failed), "{placement:?}: {failed} of 30000 pages fail, 300 expected");
    }
}
