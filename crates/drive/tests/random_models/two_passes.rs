//! Random drives whose word lines are programmed in two passes, with an SLC cache or without.

use drivelab_sim::Stream;

use super::page_map_values::word_lines;
use super::values::{Random, Values};
use super::{DEFAULT_SEEDS, cached_values, model_of, try_all, two_passes_values};

/// The values of a drive with word lines. The draws are of a stream of their own.
fn values(seed: u64) -> Values {
    let random = &mut Random(Stream::new(seed, 9));
    let mut values = if random.chance(0.5) { cached_values::values(seed) } else { word_lines(seed) };
    two_passes_values::add(&mut values, random);
    values
}

#[test]
fn whatever_parses_with_two_passes_works() {
    try_all(|seed| model_of(seed, values(seed)), DEFAULT_SEEDS);
}
