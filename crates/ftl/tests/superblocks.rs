//! Superblocks and parity over dies, against formulas, against drives whose blocks are larger, and against a plain map.

use drivelab_ftl::theory::d_choices_write_amplification;
use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    BlockRole, Books, CleaningMode, FtlConfig, KeptWords, Mapping, PageMap, Placement, VictimSelection,
};
use drivelab_nand::{Geometry, GeometryError, Lpn, UnitLayout};
use drivelab_sim::Stream;
use proptest::prelude::*;

use crate::plain;

/// Greedy is the best of so many draws, as far as the formula knows.
const GREEDY_CHOICES: u32 = 100;

/// How a drive is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    dies: u32,
    blocks: u32,
    pages: u32,
    units_per_page: u32,
    superblock_blocks: u32,
    stripe_pages: u32,
}

const CUT: Cut =
    Cut { dies: 1, blocks: 256, pages: 32, units_per_page: 1, superblock_blocks: 1, stripe_pages: 0 };

fn layout(cut: Cut) -> UnitLayout {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: cut.dies,
        planes_per_die: 1,
        blocks_per_plane: cut.blocks,
        pages_per_block: cut.pages,
        page_bytes: 4096 * cut.units_per_page,
        oob_bytes: 0,
        two_plane: false,
    };
    UnitLayout::new(geometry, 4096).unwrap()
}

fn config(cut: Cut, user_units: u32) -> FtlConfig {
    FtlConfig {
        hint_streams: 3,
        superblock_blocks: cut.superblock_blocks,
        parity_stripe_pages: cut.stripe_pages,
        ..plain::config(user_units)
    }
}

fn drive(cut: Cut, user_units: u32) -> Untimed<PageMap> {
    Untimed::new(PageMap::new(layout(cut), config(cut, user_units)).unwrap())
}

/// User units at which the effective spare area is so much of them.
fn user_units(cut: Cut, spare_ratio: f64) -> u32 {
    let held_back = drive(cut, 1).ftl.held_back_bytes() / 4096;
    let units = u64::from(layout(cut).unit_count()) - held_back;
    (units as f64 / (1.0 + spare_ratio)) as u32
}

/// A drive filled in order, then written in extents of so many units that are drawn at random: programs over what the
/// host's data filled, of the last three capacities of nine.
fn amplification(cut: Cut, user_units: u32, extent: u32) -> f64 {
    let mut drive = drive(cut, user_units);
    let page = cut.units_per_page;
    let write = |drive: &mut Untimed<PageMap>, first: u32, count: u32| {
        for unit in (first..first + count).step_by(page as usize) {
            let lpns: Vec<_> = (unit..(unit + page).min(first + count)).map(Lpn).collect();
            drive.write(&lpns).unwrap();
        }
    };
    write(&mut drive, 0, user_units);
    let mut random = Stream::new(3, 1);
    let extents = user_units / extent;
    let mut round = |drive: &mut Untimed<PageMap>, capacities: u32| {
        for _ in 0..capacities * extents {
            write(drive, random.below(u64::from(extents)) as u32 * extent, extent);
        }
    };
    round(&mut drive, 6);
    let before = *drive.ftl.counters();
    round(&mut drive, 3);
    let after = *drive.ftl.counters();
    drive.ftl.check().unwrap();
    let host = f64::from(3 * extents * extent.div_ceil(page));
    (after.programs() - before.programs()) as f64 / host
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let off = found / expected - 1.0;
    assert!(off.abs() <= tolerance, "{what}: {found:.4}, expected {expected:.4} ({:+.2} %)", 100.0 * off);
}

#[test]
fn zones_of_whole_superblocks_are_never_copied_and_smaller_ones_cost_what_as_many_pages_of_a_block_would() {
    let cut = Cut { superblock_blocks: 4, blocks: 512, ..CUT };
    let superblock = 4 * cut.pages;
    let user = user_units(cut, 0.15) / (2 * superblock) * (2 * superblock);
    for superblocks in [1, 2] {
        let found = amplification(cut, user, superblocks * superblock);
        assert!((found - 1.0).abs() < 1e-9, "zones of {superblocks} superblocks: {found}");
    }
    let ratio = f64::from(user) / (f64::from(user_units(cut, 0.15)) * 1.15);
    // A superblock of k zones is a block of k pages: what is written in one go is overwritten in one go.
    for zones in [4, 8, 16] {
        let expected = d_choices_write_amplification(ratio, GREEDY_CHOICES, zones);
        let found = amplification(cut, user, superblock / zones);
        assert_near(found, expected, 0.06, &format!("{zones} zones a superblock"));
        assert!(found > 1.2, "{zones} zones a superblock: {found}");
    }
}

#[test]
fn uniform_writes_cost_as_much_whatever_the_superblock() {
    for blocks in [1, 2, 4, 8] {
        let cut = Cut { superblock_blocks: blocks, blocks: 256 * blocks, ..CUT };
        let user = user_units(cut, 0.28);
        let found = amplification(cut, user, 1);
        let expected = d_choices_write_amplification(1.0 / 1.28, GREEDY_CHOICES, cut.pages * blocks);
        assert_near(found, expected, 0.025, &format!("superblocks of {blocks} blocks"));
        // The same drive with blocks as large as these superblocks.
        let large = Cut { pages: cut.pages * blocks, blocks: 256, superblock_blocks: 1, ..CUT };
        assert_near(found, amplification(large, user, 1), 0.015, "one large block");
    }
}

#[test]
fn superblocks_of_every_die_cost_what_one_over_all_dies_does() {
    let dies = 4;
    let cut = Cut { dies, superblock_blocks: 2, blocks: 256, ..CUT };
    // One die whose superblocks have as many pages as those of all dies together, in which they are striped.
    let striped = Cut { dies: 1, superblock_blocks: 2 * dies, blocks: 256 * dies, ..CUT };
    let user = user_units(cut, 0.2);
    let superblock = 2 * cut.pages * dies;
    for extent in [1, superblock / 4, superblock / 2, superblock * 3 / 4, 2 * superblock, 5 * superblock / 2]
    {
        let (apart, together) = (amplification(cut, user, extent), amplification(striped, user, extent));
        let what = format!("extents of {extent} of {superblock} units, beside {together:.3}");
        assert_near(apart, together, 0.03, &what);
    }
}

#[test]
fn parity_takes_its_share_of_programs_and_of_the_spare_area() {
    for (stripe, dies, page) in [(2, 1, 1), (4, 3, 1), (8, 2, 4), (16, 1, 1)] {
        let share = 1.0 / f64::from(stripe);
        let cut = Cut { dies, stripe_pages: stripe, superblock_blocks: 3, units_per_page: page, ..CUT };
        let user = user_units(cut, 0.25);
        let mut drive = drive(cut, user);
        for unit in (0..user / page * page).step_by(page as usize) {
            drive.write(&(unit..unit + page).map(Lpn).collect::<Vec<_>>()).unwrap();
        }
        let filled = *drive.ftl.counters();
        assert_eq!(filled.programs_cleaning, 0);
        let found = filled.programs_parity as f64 / filled.programs() as f64;
        assert_near(found, share, 0.01, &format!("parity of stripes of {stripe} on {dies} dies"));
        // Bytes of flash: what there would be with so much less flash and no parity, over 1 - p.
        let kept = cut.pages - cut.pages / stripe;
        let smaller = Cut { pages: kept, stripe_pages: 0, ..cut };
        let (with, without) = (amplification(cut, user, 1), amplification(smaller, user, 1));
        assert_near(with, without / (1.0 - share), 0.02, &format!("stripes of {stripe} on {dies} dies"));
    }
}

#[test]
fn more_is_held_back_and_user_capacity_is_limited_by_it() {
    let quarters = |cut: Cut| drive(cut, 1).ftl.held_back_bytes() / 4096 * 4 / u64::from(cut.pages);
    // Cleaning stops where it starts, below 2 free blocks.
    let of_one = 2 * (2 + 2) + 1;
    assert_eq!(quarters(CUT), of_one);
    assert_eq!(quarters(Cut { superblock_blocks: 4, ..CUT }), 4 * of_one);
    // 256 blocks are 51 superblocks of 5, and one block.
    assert_eq!(quarters(Cut { superblock_blocks: 5, ..CUT }), 5 * of_one + 4);
    let error = |cut: Cut, user| PageMap::new(layout(cut), config(cut, user)).unwrap_err().to_string();
    let cut = Cut { superblock_blocks: 5, ..CUT };
    let most = (51 - 3) * 5 * 32 - 1;
    assert!(PageMap::new(layout(cut), config(cut, most)).is_ok());
    assert!(error(cut, most + 1).contains("less 16 working blocks per die"), "{}", error(cut, most + 1));
    // 42 superblocks of 6, and 4 blocks: 6 are open and one is in reserve.
    let six = Cut { superblock_blocks: 6, ..CUT };
    let streams = FtlConfig { placement: Placement::Sepbit, ..config(six, 42 * 6 * 32) };
    let said = PageMap::new(layout(six), streams).unwrap_err().to_string();
    let ending = "less 46 working blocks per die, 36 of them for the write streams of ftl.placement = sepbit, in superblocks \
                  of ftl.superblock_blocks = 6";
    assert!(said.ends_with(ending), "{said}");
    let parity = error(Cut { stripe_pages: 2, ..CUT }, 200 * 32);
    assert!(parity.ends_with(", and a page in 2 for parity (ftl.parity_stripe_pages)"), "{parity}");
    let none = error(Cut { superblock_blocks: 128, ..CUT }, 1);
    assert!(
        none.contains("= 4096: has no room at all") && none.ends_with("ftl.superblock_blocks = 128"),
        "{none}"
    );
    assert!(error(Cut { superblock_blocks: 257, ..CUT }, 1).starts_with("ftl.superblock_blocks = 257"));
    assert!(
        error(Cut { stripe_pages: 1, ..CUT }, 1).starts_with("ftl.parity_stripe_pages = 1: must be 0, or 2")
    );
    assert!(error(Cut { stripe_pages: 33, ..CUT }, 1).starts_with("ftl.parity_stripe_pages = 33"));
    let alone =
        FtlConfig { cleaning_mode: CleaningMode::RewriteInPlace, ..config(Cut { blocks: 1, ..CUT }, 8) };
    let one = layout(Cut { blocks: 1, ..CUT });
    let refused = |config| -> GeometryError { PageMap::new(one, config).unwrap_err() };
    assert_eq!(refused(FtlConfig { parity_stripe_pages: 4, ..alone.clone() }).key, "ftl.parity_stripe_pages");
}

#[test]
fn blocks_of_a_superblock_are_erased_equally_often_and_shown_as_what_they_are() {
    let cut = Cut { superblock_blocks: 4, blocks: 64, ..CUT };
    let user = user_units(cut, 0.3);
    let mut drive = drive(cut, user);
    let mut random = Stream::new(8, 1);
    for _ in 0..20 * user {
        drive.write(&[Lpn(random.below(u64::from(user)) as u32)]).unwrap();
    }
    let uses = drive.ftl.block_uses();
    let count = |role| uses.iter().filter(|block| block.role == role).count();
    // All blocks of two open superblocks are open, whether written or not.
    assert_eq!(count(BlockRole::Open), 8);
    assert_eq!(count(BlockRole::Closed) % 4, 0);
    assert_eq!((count(BlockRole::Free) + count(BlockRole::Emptied)) % 4, 0);
    let erases = drive.ftl.flash().erase_counts();
    let (least, most) = (erases.iter().min().unwrap(), erases.iter().max().unwrap());
    let all: u32 = erases.iter().sum();
    assert!(f64::from(most - least) < 0.3 * f64::from(all / 64), "erased {least} to {most} times");
}

fn cut() -> impl Strategy<Value = Cut> {
    let sizes = (1u32..4, 22u32..28, prop_oneof![Just(6u32), Just(7)]);
    (sizes, prop_oneof![Just(1u32), Just(3)], 1u32..4, prop_oneof![Just(0u32), Just(2), Just(3), Just(5)])
        .prop_map(|((dies, blocks, pages), units_per_page, superblock_blocks, stripe_pages)| Cut {
            dies,
            blocks,
            pages,
            units_per_page,
            superblock_blocks,
            stripe_pages,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_loses_or_invents_a_unit(
        cut in cut(),
        policy in prop::sample::select(VictimSelection::ALL),
        placement in prop::sample::select(
            &[Placement::HostAndCleaning, Placement::OneStream, Placement::HotCold][..]
        ),
        wear in prop_oneof![Just(0u32), Just(2)],
        part in 2u32..5,
        steps in prop::collection::vec((0u8..20, any::<u32>()), 1..1500),
        skew in 1u32..8,
    ) {
        let config = FtlConfig { victim_selection: policy, placement, wear_spread_limit: wear, ..config(cut, 1) };
        let most = layout(cut).unit_count() / part;
        // As much as fits, at most.
        let Some(mut ftl) = (0..8)
            .map(|tries| FtlConfig { user_units: most >> tries, ..config.clone() })
            .find_map(|config| PageMap::new(layout(cut), config).ok())
        else {
            return Ok(());
        };
        ftl.keep_stamps();
        let mut drive = Untimed::new(ftl);
        let units = drive.ftl.config().user_units;
        let mut oracle = vec![false; units as usize];
        for (step, (kind, pick)) in steps.into_iter().enumerate() {
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
