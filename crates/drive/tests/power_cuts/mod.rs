//! Power cuts at every flash operation of tiny drives of every family under random commands: before it, in the middle of
//! it, after it, and again while the drive comes up and goes on. What is read afterwards must be what the drive promised.
//!
//! A failure prints the seed, and a line that repeats it. `DRIVELAB_SEEDS=100000` tries more than the default.

mod after;
mod carrying;
mod cells;
mod faults;
mod found_by_long_runs;
mod full_log;
mod medium;
mod models;
mod oracle;
mod sabotage;
mod sequences;
mod session;
mod short_sequences;
mod standby;
mod subject;
mod workload;

use std::panic::{AssertUnwindSafe, catch_unwind};

use drivelab_controller::Device;
use drivelab_drive::{Family, Model};
use drivelab_sim::Stream;

use crate::random_models::values::Random;

use oracle::{Class, Failure, Oracle};
use sabotage::Sabotage;
use session::{Session, Trial};
use subject::Subject;
use workload::Host;

/// Steps of a workload, at most.
const STEPS: u64 = 40;

/// Power cuts one after another, of a seed that is tried that way.
const ROUNDS: u64 = 40;

/// Of so many drives one may be left without room, and only read, after cut upon cut.
const ROOM_LOST_ONE_IN: u64 = 1000;

/// Seeds among which one must show what is broken on purpose.
const CANARY_SEEDS: u64 = 400;

/// What is tried.
#[derive(Clone, Copy)]
struct Plan<'a> {
    family: Family,
    /// The model of a seed.
    model: fn(u64, Family) -> Option<Model>,
    manner: Manner,
    sabotage: Option<Sabotage>,
    faults: Faults<'a>,
}

impl<'a> Plan<'a> {
    fn with(self, faults: Faults<'a>) -> Self {
        Self { faults, ..self }
    }

    fn of(family: Family) -> Self {
        Self { family, model: models::model, manner: Manner::EveryCut, sabotage: None, faults: Faults::None }
    }

    fn of_map_in_flash() -> Self {
        Self { model: models::demand_loaded, ..Self::of(Family::PageMap) }
    }

    /// Word lines are programmed whole.
    fn of_word_lines() -> Self {
        Self { model: models::word_lines, ..Self::of(Family::PageMap) }
    }

    /// Blocks of a die are opened and erased by twos and threes.
    fn of_superblocks() -> Self {
        Self { model: models::superblocks, ..Self::of(Family::PageMap) }
    }

    /// Some blocks have one bit a cell, and are folded.
    fn of_slc_cache() -> Self {
        Self { model: models::slc_cache, ..Self::of(Family::PageMap) }
    }

    /// Word lines are programmed in two passes, behind an SLC cache as often as not.
    fn of_two_passes() -> Self {
        Self { model: models::two_passes, ..Self::of(Family::PageMap) }
    }

    fn again_and_again(self) -> Self {
        Self { manner: Manner::CutAfterCut, ..self }
    }
}

/// How the power fails.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// At every operation of one history, each time on a copy.
    EveryCut,
    /// Again and again, for good.
    CutAfterCut,
}

/// Faults of the drive itself.
#[derive(Clone, Copy)]
enum Faults<'a> {
    None,
    /// Blocks fail.
    Blocks,
    /// Blocks fail when they are erased.
    Erases,
    /// Promises are broken, in this way.
    Misbehaves(&'a str),
}

impl Faults<'_> {
    fn are_given(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// What came of a seed.
enum Outcome {
    /// No drive that could be tried.
    NoDrive,
    /// So many power cuts, all survived; whether the drive only reads any more.
    Survived(u64, bool),
    /// The drive broke a promise at this cut.
    Failed(u64, Failure),
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Tries a seed: a drive, a past without cuts, then a workload with cuts.
fn try_seed(seed: u64, plan: Plan<'_>) -> Outcome {
    let Some(model) = (plan.model)(seed, plan.family) else { return Outcome::NoDrive };
    let Some(subject) = Subject::new(model, seed) else { return Outcome::NoDrive };
    let faults = match plan.faults {
        Faults::None => None,
        Faults::Blocks => Some(faults::failing_blocks(&mut Random(Stream::new(seed, 11)))),
        Faults::Erases => Some(faults::failing_erases(&mut Random(Stream::new(seed, 11)))),
        Faults::Misbehaves(kind) => Some(faults::misbehaviour(kind)),
    };
    let mut trial = Trial {
        subject: &subject,
        sabotage: plan.sabotage,
        faults,
        cuts: 0,
        may_give_up: plan.manner == Manner::CutAfterCut,
        gave_up: false,
        is_traced: number("DRIVELAB_TRACE").is_some(),
        spare: Vec::new(),
    };
    drivelab_sim::sabotage::set(plan.sabotage.and_then(Sabotage::switch));
    let result = catch_unwind(AssertUnwindSafe(|| run(seed, plan.manner, &mut trial)));
    drivelab_sim::sabotage::set(None);
    match result {
        Ok(Ok(())) => Outcome::Survived(trial.cuts, trial.gave_up),
        Ok(Err(failure)) => Outcome::Failed(trial.cuts, failure),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Outcome::Failed(trial.cuts, Failure::new(Class::Panic, text.unwrap_or_default()))
        }
    }
}

fn run(seed: u64, manner: Manner, trial: &mut Trial<'_>) -> Result<(), Failure> {
    let subject = trial.subject;
    let mut random = Random(Stream::new(seed, 8));
    let Some(mut drive) = subject.new_drive() else { return Ok(()) };
    if let Some(plan) = &trial.faults
        && faults::give(drive.device_mut(), plan).is_err()
    {
        // A drive that can't have these.
        return Ok(());
    }
    let mut media = subject.new_media();
    if let Some(sabotage) = trial.sabotage {
        for medium in &mut media {
            sabotage.prepare(medium);
        }
    }
    let host = Host::of(&mut random, subject, drive.queue_depth());
    let past = host.past(&mut random, subject.sectors);
    let steps = random.between(1, STEPS);
    let oracle = Oracle::new(subject.sectors, subject.promises);
    let mut session = Session::new(trial, drive, media, oracle, random);
    for step in past {
        session.perform(step, host.depth)?;
    }
    if manner == Manner::CutAfterCut {
        return after::flap(session, &host, ROUNDS);
    }
    session.cut_chance = 1.0;
    session.depth = 3;
    session.work(&host, steps)?;
    session.finish()
}

/// Tries so many seeds, or those that the environment asks for.
fn try_all(plan: Plan<'_>, name: &str, count: u64) {
    let first = number("DRIVELAB_FIRST_SEED").unwrap_or(0);
    let count = number("DRIVELAB_SEEDS").unwrap_or(count);
    let (mut tried, mut cuts, mut gave_up, mut failed) = (0u64, 0, 0, Vec::new());
    for seed in first..first + count {
        match try_seed(seed, plan) {
            Outcome::NoDrive => {}
            Outcome::Survived(survived, only_reads) => {
                tried += 1;
                cuts += survived;
                gave_up += u64::from(only_reads);
            }
            Outcome::Failed(cut, Failure { class, text }) => {
                tried += 1;
                println!("{class:?}: seed {seed}, cut {cut}: {text}");
                println!(
                    "  DRIVELAB_FIRST_SEED={seed} DRIVELAB_SEEDS=1 cargo test -p drivelab-drive --test all {name}"
                );
                failed.push(seed);
                assert!(failed.len() < 8, "seeds {failed:?} fail");
            }
        }
    }
    println!("{name}: {count} seeds, {tried} drives ({gave_up} only read any more), {cuts} power cuts");
    assert!(
        plan.faults.are_given() || gave_up <= 1 + tried / ROOM_LOST_ONE_IN,
        "{gave_up} of {tried} drives give up"
    );
    assert!(failed.is_empty(), "seeds {failed:?} fail");
    assert!(count < 100 || tried > count / 4, "only {tried} of {count} seeds make a drive");
}

macro_rules! promises {
    ($($name:ident: $plan:expr, $count:expr;)*) => {
        $(
        #[test]
        fn $name() {
            try_all($plan, stringify!($name), $count);
        }
        )*
    };
}

promises! {
    every_cut_of_a_page_map: Plan::of(Family::PageMap), 1000;
    every_cut_of_a_map_in_flash: Plan::of_map_in_flash(), 500;
    every_cut_of_a_map_in_flash_with_failing_blocks: Plan::of_map_in_flash().with(Faults::Blocks), 300;
    cut_after_cut_of_a_map_in_flash: Plan::of_map_in_flash().again_and_again(), 500;
    cut_after_cut_of_a_map_in_flash_with_failing_blocks:
        Plan::of_map_in_flash().with(Faults::Blocks).again_and_again(), 300;
    every_cut_of_word_lines: Plan::of_word_lines(), 500;
    every_cut_of_word_lines_with_failing_blocks: Plan::of_word_lines().with(Faults::Blocks), 300;
    cut_after_cut_of_word_lines: Plan::of_word_lines().again_and_again(), 500;
    every_cut_of_superblocks: Plan::of_superblocks(), 300;
    every_cut_of_superblocks_with_failing_blocks: Plan::of_superblocks().with(Faults::Blocks), 200;
    cut_after_cut_of_superblocks: Plan::of_superblocks().again_and_again(), 500;
    cut_after_cut_of_superblocks_with_failing_blocks:
        Plan::of_superblocks().with(Faults::Blocks).again_and_again(), 500;
    every_cut_of_an_slc_cache: Plan::of_slc_cache(), 500;
    every_cut_of_an_slc_cache_with_failing_blocks: Plan::of_slc_cache().with(Faults::Blocks), 300;
    cut_after_cut_of_an_slc_cache: Plan::of_slc_cache().again_and_again(), 500;
    cut_after_cut_of_an_slc_cache_with_failing_blocks:
        Plan::of_slc_cache().with(Faults::Blocks).again_and_again(), 300;
    every_cut_of_two_passes: Plan::of_two_passes(), 500;
    every_cut_of_two_passes_with_failing_erases: Plan::of_two_passes().with(Faults::Erases), 200;
    cut_after_cut_of_two_passes: Plan::of_two_passes().again_and_again(), 500;
    cut_after_cut_of_two_passes_with_failing_erases:
        Plan::of_two_passes().with(Faults::Erases).again_and_again(), 300;
    every_cut_of_a_superblock_map: Plan::of(Family::SuperblockMap), 500;
    every_cut_of_a_log_block_map: Plan::of(Family::LogBlockMap), 500;
    every_cut_of_a_compressed_map: Plan::of(Family::CompressedMap), 500;
    every_cut_of_a_hard_disk: Plan::of(Family::HardDisk), 300;
    every_cut_of_an_array: Plan::of(Family::Raid0), 300;
    every_cut_of_a_page_map_with_failing_blocks: Plan::of(Family::PageMap).with(Faults::Blocks), 500;
    cut_after_cut_of_a_page_map: Plan::of(Family::PageMap).again_and_again(), 1000;
    cut_after_cut_of_a_superblock_map: Plan::of(Family::SuperblockMap).again_and_again(), 500;
    cut_after_cut_of_a_log_block_map: Plan::of(Family::LogBlockMap).again_and_again(), 500;
    cut_after_cut_of_a_compressed_map: Plan::of(Family::CompressedMap).again_and_again(), 500;
    cut_after_cut_of_a_hard_disk: Plan::of(Family::HardDisk).again_and_again(), 500;
    cut_after_cut_of_an_array: Plan::of(Family::Raid0).again_and_again(), 500;
    cut_after_cut_of_a_page_map_with_failing_blocks:
        Plan::of(Family::PageMap).with(Faults::Blocks).again_and_again(), 500;
}

/// The first of some seeds that shows what is broken.
fn catch(plan: Plan<'_>) -> Option<(u64, u64, Failure)> {
    (0..CANARY_SEEDS).find_map(|seed| match try_seed(seed, plan) {
        Outcome::Failed(cut, failure) => Some((seed, cut, failure)),
        _ => None,
    })
}

/// Every drive of a family that is broken on purpose is caught, and as what it is.
fn catch_all(plan: Plan<'_>) {
    let known = Sabotage::ALL.iter().filter(|(_, families, _)| families.contains(&plan.family));
    known.for_each(|&known| catch_one(plan, known));
}

fn catch_one(plan: Plan<'_>, (sabotage, _, classes): sabotage::Known) {
    let Some((seed, cut, Failure { class, text })) = catch(Plan { sabotage: Some(sabotage), ..plan }) else {
        panic!("{sabotage:?} is not caught");
    };
    println!("{sabotage:?}: seed {seed}, cut {cut}: {class:?}: {text}");
    assert!(classes.contains(&class), "{sabotage:?} shows itself as {class:?}: {text}");
}

macro_rules! canaries {
    ($($name:ident: $plan:expr;)*) => {
        $(
        #[test]
        fn $name() {
            catch_all($plan);
        }
        )*
    };
}

canaries! {
    broken_page_maps_are_caught: Plan::of(Family::PageMap);
    broken_superblock_maps_are_caught: Plan::of(Family::SuperblockMap);
    broken_log_block_maps_are_caught: Plan::of(Family::LogBlockMap);
    broken_compressed_maps_are_caught: Plan::of(Family::CompressedMap);
    broken_slc_caches_are_caught: Plan::of_slc_cache();
    broken_drives_of_two_passes_are_caught: Plan::of_two_passes();
    broken_hard_disks_are_caught: Plan::of(Family::HardDisk);
    broken_arrays_are_caught: Plan::of(Family::Raid0);
}

#[test]
fn a_drive_that_forgets_which_blocks_have_one_bit_a_cell_is_caught() {
    catch_one(Plan::of_slc_cache(), Sabotage::OF_SLC_CACHE);
}

#[test]
fn drives_that_trust_the_first_of_two_passes_are_caught() {
    for known in Sabotage::OF_TWO_PASSES {
        catch_one(Plan::of_two_passes(), known);
    }
}

#[test]
fn drives_that_are_told_to_misbehave_are_caught() {
    for family in [Family::PageMap, Family::SuperblockMap, Family::LogBlockMap, Family::CompressedMap] {
        for kind in ["lying-flush", "ignored-fua", "torn-write", "lost-write", "misdirected-write"] {
            let Some((seed, cut, Failure { class, text })) =
                catch(Plan::of(family).with(Faults::Misbehaves(kind)))
            else {
                panic!("{kind} of a {} is not caught", family.word());
            };
            println!("{kind} of a {}: seed {seed}, cut {cut}: {class:?}: {text}", family.word());
            let is_wrong_data = [Class::Lost, Class::Stale, Class::Misplaced, Class::Resurrected];
            assert!(is_wrong_data.contains(&class), "{kind} shows itself as {class:?}: {text}");
        }
    }
}
