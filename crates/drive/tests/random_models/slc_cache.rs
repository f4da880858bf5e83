//! Random drives with an SLC cache.

use super::cached_values::values;
use super::{DEFAULT_SEEDS, model_of, try_all};

#[test]
fn whatever_parses_with_an_slc_cache_works() {
    try_all(|seed| model_of(seed, values(seed)), DEFAULT_SEEDS);
}
