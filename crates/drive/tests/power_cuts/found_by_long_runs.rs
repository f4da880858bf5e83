//! Drives of two passes that only long runs found, by their seeds.

use super::oracle::Failure;
use super::{Outcome, Plan, try_seed};

fn survives(seed: u64, plan: Plan<'_>) {
    if let Outcome::Failed(cut, Failure { text, .. }) = try_seed(seed, plan) {
        panic!("seed {seed}, cut {cut}: {text}");
    }
}

fn still_takes_writes(seed: u64, plan: Plan<'_>) {
    match try_seed(seed, plan) {
        Outcome::Survived(_, only_reads) => assert!(!only_reads, "seed {seed}: it only reads any more"),
        Outcome::Failed(cut, Failure { text, .. }) => panic!("seed {seed}, cut {cut}: {text}"),
        Outcome::NoDrive => panic!("seed {seed}: no drive"),
    }
}

/// The block that cleaning copied into when the power failed, where that took all that is held in it: the copies must
/// still find room.
#[test]
fn drives_of_two_passes_that_only_a_long_run_found_without_room() {
    for seed in [543, 1178, 2379, 2446] {
        survives(seed, Plan::of_two_passes());
    }
}

/// Cut after cut, a die had no free block, and a victim whose copies fitted into what was left of its open blocks: it was
/// refused for padding that isn't programmed where a block ends, or the host took the room. The owner of such a drive
/// could only read it any more.
#[test]
fn drives_of_two_passes_that_were_only_read_though_copies_fitted() {
    for seed in [2017, 5345, 5535] {
        still_takes_writes(seed, Plan::of_two_passes().again_and_again());
    }
}

/// A drive went to rest twice while a die emptied a block. The padding of each rest filled the block that was copied
/// into, there was no free one for the copies that were left, and all of the drive became read-only: its owner lost the
/// use of it for writing, though other dies had room and that one could still be cleaned.
#[test]
fn drives_of_two_passes_that_rest_while_they_clean_still_take_writes() {
    still_takes_writes(8771, Plan::of_two_passes());
}

/// A page in the buffer for a die that was full, and that nobody called when it no longer was: another one had run out of
/// room, so that the limits for valid data fell.
#[test]
fn pages_that_only_a_long_run_found_waiting_for_ever() {
    for seed in [10_642, 76_260] {
        survives(seed, Plan::of_two_passes().again_and_again());
    }
}
