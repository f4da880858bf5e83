//! Shares, pools, determinism.

use std::collections::BTreeSet;

use super::*;

const BLOCKS: u32 = 8;

fn contents(pattern: DataPattern, count: usize) -> Vec<Content> {
    let mut contents = Contents::new(&pattern, 7, 0);
    (0..count).map(|_| contents.draw()).collect()
}

fn compressible(compressed_percent: f64, duplicate_percent: f64, duplicate_pool: u32) -> DataPattern {
    DataPattern::Compressible { compressed_percent, duplicate_percent, duplicate_pool }
}

/// Copies among the blocks of these writes, and how many contents they have.
fn copies(writes: &[Content]) -> (usize, usize) {
    let found: Vec<_> =
        writes.iter().flat_map(|write| (0..BLOCKS).filter_map(|index| write.identity(index))).collect();
    (found.len(), found.iter().collect::<BTreeSet<_>>().len())
}

#[test]
fn the_share_of_copies_is_the_one_asked_for_and_they_are_of_the_pool() {
    let writes = contents(compressible(46.0, 30.0, 50), 10_000);
    let (count, different) = copies(&writes);
    // Binomial: 24 000 of 80 000 blocks, standard deviation 130.
    assert!(count.abs_diff(24_000) < 600, "{count} copies");
    assert_eq!(different, 50);
    assert!(writes.iter().all(|write| write.compressed_permille == 460));
}

#[test]
fn zeros_and_random_bytes_need_no_seeds() {
    assert_eq!(contents(DataPattern::Zeros {}, 3), [Content::ZEROS; 3]);
    assert_eq!(contents(DataPattern::Random {}, 3), [Content::RANDOM; 3]);
    assert_eq!(contents(compressible(46.0, 0.0, 9), 2)[1].seed, 0);
    assert_eq!(contents(compressible(100.0, 0.0, 1), 1), [Content::RANDOM]);
    assert_eq!(contents(compressible(0.0, 100.0, 1), 1), [Content::ZEROS]);
}

#[test]
fn repeating_bytes_have_as_many_contents_as_a_byte_has_values() {
    let writes = contents(DataPattern::Repeating {}, 10_000);
    assert_eq!(copies(&writes), (80_000, 256));
    assert!(writes.iter().all(|write| write.identity(0) == write.identity(7)));
    assert!(writes.iter().all(|write| write.compressed_permille == 1));
}

#[test]
fn seed_and_number_of_the_job_decide_and_nothing_else() {
    let pattern = compressible(100.0, 50.0, 1024);
    let first = |seed, index| {
        let mut contents = Contents::new(&pattern, seed, index);
        [contents.draw().seed, contents.draw().seed]
    };
    assert_eq!(first(1, 0), first(1, 0));
    assert_ne!(first(1, 0), first(2, 0));
    assert_ne!(first(1, 0), first(1, 1));
    assert_ne!(first(1, 0)[0], first(1, 0)[1]);
}
