//! Power cuts at every flash operation of tiny drives of every family under random commands: before it, in the middle of
//! it, after it, and again while the drive comes up and goes on. What is read afterwards must be what the drive promised.
//!
//! A failure prints the seed, and a line that repeats it. `DRIVELAB_SEEDS=100000` tries more than the default.

mod after;
mod cells;
mod medium;
mod models;
mod oracle;
mod sabotage;
mod sequences;
mod session;
mod subject;
#[path = "../random_models/values.rs"]
mod values;
mod workload;

use std::panic::{AssertUnwindSafe, catch_unwind};

use drivelab_drive::Family;
use drivelab_sim::Stream;

use oracle::{Class, Failure, Oracle};
use sabotage::Sabotage;
use session::{Session, Trial};
use subject::Subject;
use values::Random;
use workload::Host;

/// Steps of a workload, at most.
const STEPS: u64 = 40;

/// What came of a seed.
enum Outcome {
    /// No drive that could be tried.
    NoDrive,
    /// So many power cuts, all survived.
    Survived(u64),
    /// The drive broke a promise at this cut.
    Failed(u64, Failure),
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Tries a seed: a drive, a past without cuts, then a workload with a cut at every operation.
fn try_seed(seed: u64, family: Family, sabotage: Option<Sabotage>) -> Outcome {
    let Some(model) = models::model(seed, family) else { return Outcome::NoDrive };
    let Some(subject) = Subject::new(model, seed) else { return Outcome::NoDrive };
    let mut trial = Trial {
        subject: &subject,
        sabotage,
        cuts: 0,
        is_traced: number("DRIVELAB_TRACE").is_some(),
        spare: Vec::new(),
    };
    let result = catch_unwind(AssertUnwindSafe(|| run(seed, &mut trial)));
    match result {
        Ok(Ok(())) => Outcome::Survived(trial.cuts),
        Ok(Err(failure)) => Outcome::Failed(trial.cuts, failure),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Outcome::Failed(trial.cuts, Failure::new(Class::Panic, text.unwrap_or_default()))
        }
    }
}

fn run(seed: u64, trial: &mut Trial<'_>) -> Result<(), Failure> {
    let subject = trial.subject;
    let mut random = Random(Stream::new(seed, 8));
    let Some(drive) = subject.new_drive() else { return Ok(()) };
    let mut media = subject.new_media();
    if let Some(sabotage) = trial.sabotage {
        for medium in &mut media {
            sabotage.prepare(medium);
        }
    }
    let queue_depth = drivelab_controller::Device::queue_depth(&drive);
    let host = Host::new(&mut random, subject.sectors, subject.unit(), queue_depth, subject.compresses());
    let past = host.past(&mut random, subject.sectors);
    let steps = random.between(1, STEPS);
    let oracle = Oracle::new(subject.sectors, subject.promises);
    let mut session = Session::new(trial, drive, media, oracle, random);
    for step in past {
        session.perform(step, host.depth)?;
    }
    session.cut_chance = 1.0;
    session.depth = 3;
    session.work(&host, steps)?;
    session.finish()
}

fn try_all(family: Family, name: &str, count: u64) {
    let first = number("DRIVELAB_FIRST_SEED").unwrap_or(0);
    let count = number("DRIVELAB_SEEDS").unwrap_or(count);
    let (mut tried, mut cuts, mut failed) = (0u64, 0, Vec::new());
    for seed in first..first + count {
        match try_seed(seed, family, None) {
            Outcome::NoDrive => {}
            Outcome::Survived(survived) => {
                tried += 1;
                cuts += survived;
            }
            Outcome::Failed(cut, Failure { class, text }) => {
                tried += 1;
                println!("{class:?}: seed {seed}, cut {cut}: {text}");
                println!(
                    "  DRIVELAB_FIRST_SEED={seed} DRIVELAB_SEEDS=1 cargo test -p drivelab-drive --test power_cuts {name}"
                );
                failed.push(seed);
                assert!(failed.len() < 8, "seeds {failed:?} fail");
            }
        }
    }
    println!("{name}: {tried} drives, {cuts} power cuts");
    assert!(failed.is_empty(), "seeds {failed:?} fail");
    assert!(count < 100 || tried > count / 4, "only {tried} of {count} seeds make a drive");
}

#[test]
fn a_page_map_keeps_its_promises() {
    try_all(Family::PageMap, "a_page_map_keeps_its_promises", 1500);
}

#[test]
fn a_superblock_map_keeps_its_promises() {
    try_all(Family::SuperblockMap, "a_superblock_map_keeps_its_promises", 500);
}

#[test]
fn a_compressed_map_keeps_its_promises() {
    try_all(Family::CompressedMap, "a_compressed_map_keeps_its_promises", 500);
}

#[test]
fn a_log_block_map_keeps_its_promises() {
    try_all(Family::LogBlockMap, "a_log_block_map_keeps_its_promises", 500);
}

#[test]
fn what_is_broken_on_purpose_is_caught() {
    for (sabotage, classes) in Sabotage::ALL {
        let caught = (0..400).find_map(|seed| match try_seed(seed, Family::PageMap, Some(sabotage)) {
            Outcome::Failed(cut, failure) => Some((seed, cut, failure)),
            _ => None,
        });
        let Some((seed, cut, Failure { class, text })) = caught else {
            panic!("{sabotage:?} is not caught");
        };
        println!("{sabotage:?}: seed {seed}, cut {cut}: {class:?}: {text}");
        assert!(classes.contains(&class), "{sabotage:?} shows itself as {class:?}: {text}");
    }
}

/// Values of a model.
type Numbers<'a> = &'a [(&'a str, u64)];
/// Values of a model that are no numbers.
type Words<'a> = &'a [(&'a str, &'a str)];

/// All short sequences on some drives of a family.
fn try_sequences(family: Family, drives: &[(Numbers<'_>, Words<'_>)]) {
    for (numbers, words) in drives {
        let (sequences, cuts) = sequences::try_all(family, numbers, words);
        println!("{sequences} sequences, {cuts} power cuts: {numbers:?} {words:?}");
    }
}

#[test]
fn short_sequences_on_a_page_map() {
    try_sequences(
        Family::PageMap,
        &[
            (&[], &[]),
            (
                &[("ftl.map_unit_bytes", 512), ("write_buffer.hold_ns", 1_000_000)],
                &[("write_buffer.coalesce", "false")],
            ),
            (&[("ftl.map_unit_bytes", 2048)], &[("write_buffer.capacitor", "true")]),
        ],
    );
}
