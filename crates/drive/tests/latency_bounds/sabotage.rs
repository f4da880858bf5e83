//! Small drives that are broken on purpose, each in one way: the oracle must notice all of them (`drivelab_sim::sabotage`).

use std::sync::Arc;

use drivelab_drive::Drive;
use drivelab_sim::sabotage::{self, Sabotage};

use super::small;
use super::states::Life;

/// Which drive shows it, and what is changed of it.
fn subject(what: Sabotage) -> (&'static str, &'static [(&'static str, &'static str)]) {
    match what {
        Sabotage::HoldIgnored | Sabotage::HoldAlarmLost => ("crucial-m4-256gb", &[]),
        Sabotage::ReadsGoverned => (
            "ocz-agility-2-100gb",
            &[("controller.write_governor_iops", "100"), ("controller.write_governor_burst", "1")],
        ),
        Sabotage::MergeNeverEnds | Sabotage::GroupForgotten => ("jmicron-jmf602b-64gb", &[]),
        Sabotage::DiskNeverWrites => ("wd-velociraptor-300gb", &[]),
        Sabotage::PieceLost => ("intel-x25-v-40gb-raid0-x2", &[]),
        Sabotage::SuperblockHalfClosed | Sabotage::ParityForgotten => (
            "intel-x25-v-40gb",
            &[
                // A small version has a few of them.
                ("scale_divisor", "64"),
                ("ftl.superblock_blocks", "128"),
                ("ftl.cleaning_start_blocks", "2"),
                ("ftl.cleaning_stop_blocks", "2"),
                ("ftl.parity_stripe_pages", "8"),
                ("user_capacity_bytes", "24000000000"),
            ],
        ),
        // All that the host wrote is in its cache, and at rest all dies fold it at once.
        Sabotage::JournalComesLast => (
            "crucial-t500-2tb",
            &[
                ("slc_cache.fold_dies", "0"),
                ("ftl.journal_updates_per_page", "64"),
                ("user_capacity_bytes", "4000000000"),
            ],
        ),
        // All that the host wrote is in its cache: what is copied to native blocks has two passes.
        Sabotage::CoarseTakenAsWhole => {
            ("crucial-p1-1tb", &[("flash.program_passes", "2"), ("user_capacity_bytes", "11000000000")])
        }
        _ => ("intel-x25-v-40gb", &[]),
    }
}

/// What the oracle says of a drive.
fn verdict(what: Option<Sabotage>, subject: (&str, &[(&str, &str)])) -> Result<(), String> {
    let mut life = Life::new(Drive::new(Arc::new(small(subject.0, subject.1)), 1).unwrap(), false);
    sabotage::set(what);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| life.live(4_000)));
    sabotage::set(None);
    // The engine's own assertions are part of what tests have.
    outcome.unwrap_or_else(|_| Err("an assertion of the engine".to_owned()))
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "some are caught by the engine's own assertions")]
fn every_broken_drive_is_caught() {
    let only = std::env::var("SABOTAGE").ok();
    let mut missed = Vec::new();
    for what in Sabotage::ALL {
        if only.as_ref().is_some_and(|only| *only != format!("{what:?}")) {
            continue;
        }
        match verdict(Some(what), subject(what)) {
            Ok(()) => missed.push(what),
            Err(error) => println!("{what:?}: {error}"),
        }
    }
    assert!(missed.is_empty(), "not noticed: {missed:?}");
}

/// Nothing of what is caught is the oracle's mistake: the same drives pass when they are whole.
#[test]
fn the_same_drives_pass_when_they_are_whole() {
    let mut subjects: Vec<_> = Sabotage::ALL.map(subject).to_vec();
    subjects.sort_unstable();
    subjects.dedup();
    for whole in subjects {
        let outcome = verdict(None, whole);
        assert!(outcome.is_ok(), "{}: {outcome:?}", whole.0);
    }
}

#[test]
fn the_document_says_in_how_many_ways() {
    let text = include_str!("../../../../ARCHITECTURE.md");
    let said = format!("broken on purpose in {} ways (`sim::sabotage`)", Sabotage::ALL.len());
    assert!(text.contains(&said), "ARCHITECTURE.md must say: {said}");
}
