//! Latency histogram with a stated error bound (REFERENCES.md, \[7\]).

use crate::time::Nanos;

/// Highest latency kept apart: a hundred days, longer than any trace that is replayed on a drive too slow for it. Longer
/// ones are counted there, and `max_ns` stays exact.
const HIGHEST_NS: u64 = 100 * 86_400 * 1_000_000_000;

/// Times below `2 << LOG2_BINS_OF_OCTAVE` have a bin each; above, an octave has `1 << LOG2_BINS_OF_OCTAVE`: they differ by one part in 1024.
const LOG2_BINS_OF_OCTAVE: u32 = 10;
/// Bins in all.
const BIN_COUNT: usize = bin_of(HIGHEST_NS) + 1;

/// Latencies in ns; percentiles are at most 0.1 % above the true sample (three significant figures).
/// Bins are those of HDR histograms (REFERENCES.md, \[7\]), whose library the tests compare with: every request is counted
/// here, and finding its bin is all that costs.
/// Minimum, maximum, mean and standard deviation are computed apart, from integer sums, and exact (to f64).
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    sum_squares: u128,
    min_ns: Nanos,
    max_ns: Nanos,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counts: vec![0; BIN_COUNT].into_boxed_slice(),
            count: 0,
            sum_ns: 0,
            sum_squares: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Counts one latency.
    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    pub fn record(&mut self, latency_ns: Nanos) {
        self.counts[bin_of(latency_ns.min(HIGHEST_NS))] += 1;
        self.count += 1;
        self.sum_ns += u128::from(latency_ns);
        // 2^44 latencies of an hour fit, 2^22 of a hundred days.
        self.sum_squares = self.sum_squares.saturating_add(u128::from(latency_ns) * u128::from(latency_ns));
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// How many latencies were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest latency, or `None` if nothing was counted.
    #[must_use]
    pub fn min_ns(&self) -> Option<Nanos> {
        (self.count() > 0).then_some(self.min_ns)
    }

    /// Largest latency, or `None` if nothing was counted.
    #[must_use]
    pub fn max_ns(&self) -> Option<Nanos> {
        (self.count() > 0).then_some(self.max_ns)
    }

    /// Sum of all latencies.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Mean latency, or `None` if nothing was counted.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// Standard deviation of the sample, or `None` if nothing was counted.
    #[must_use]
    pub fn stddev_ns(&self) -> Option<f64> {
        if self.count() == 0 {
            return None;
        }
        // Around the whole number below the mean everything is exact: with sum = n * whole + rest, the squares of the
        // differences to the mean add up to sum_squares - n * whole^2 - 2 * whole * rest - rest^2 / n.
        let count = u128::from(self.count());
        let (whole, rest) = (self.sum_ns / count, self.sum_ns % count);
        let around_whole = self.sum_squares.saturating_sub(whole.saturating_mul(self.sum_ns + rest));
        let rest_share = rest as f64 * (rest as f64 / count as f64);
        Some(((around_whole as f64 - rest_share).max(0.0) / count as f64).sqrt())
    }

    /// The latency that `percent` of all samples, more than 0, do not exceed, or `None` if nothing was counted.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<Nanos> {
        // What is whole but for rounding is whole: 99.9 % of 1000 are 999, not 1000.
        let exact = (percent / 100.0).min(1.0) * self.count as f64 * (1.0 - 4.0 * f64::EPSILON);
        let wanted = exact.ceil().max(1.0) as u64;
        let mut so_far = 0;
        let found = self.counts.iter().position(|count| {
            so_far += count;
            so_far >= wanted
        });
        found.map(|bin| greatest_of(bin).min(self.max_ns).max(self.min_ns))
    }

    /// Non-empty bins as (highest latency of the bin in ns, count), ascending.
    pub fn bins(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        let bins = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        bins.map(|(bin, &count)| (greatest_of(bin), count))
    }
}

/// The bin of a latency: its highest bit and the ten after it.
#[inline]
const fn bin_of(latency_ns: Nanos) -> usize {
    let octave =
        u64::BITS - 1 - LOG2_BINS_OF_OCTAVE - (latency_ns | ((2 << LOG2_BINS_OF_OCTAVE) - 1)).leading_zeros();
    ((octave as usize) << LOG2_BINS_OF_OCTAVE) + (latency_ns >> octave) as usize
}

/// The greatest latency of a bin.
fn greatest_of(bin: usize) -> Nanos {
    let octave = (bin >> LOG2_BINS_OF_OCTAVE).saturating_sub(1);
    (((bin - (octave << LOG2_BINS_OF_OCTAVE)) as u64 + 1) << octave) - 1
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bins_and_percentiles_are_those_of_hdr_histograms(
            latencies in prop::collection::vec((0u64..=u64::MAX, 0u32..64), 1..300),
            percents in prop::collection::vec(0.001f64..=100.0, 1..20),
        ) {
            let mut library = Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 3).unwrap();
            let mut histogram = LatencyHistogram::new();
            for (bits, shift) in latencies {
                // Of every magnitude, those that are too long among them.
                let latency_ns = bits >> shift;
                library.record(latency_ns.min(HIGHEST_NS)).unwrap();
                histogram.record(latency_ns);
            }
            let (least, most) = (histogram.min_ns().unwrap(), histogram.max_ns().unwrap());
            for percent in percents.into_iter().chain([0.001, 50.0, 99.0, 100.0]) {
                let found = library.value_at_percentile(percent);
                prop_assert_eq!(histogram.percentile_ns(percent), Some(found.min(most).max(least)));
            }
            let bins: Vec<_> =
                library.iter_recorded().map(|bin| (bin.value_iterated_to(), bin.count_at_value())).collect();
            prop_assert_eq!(histogram.bins().collect::<Vec<_>>(), bins);
        }
    }

    #[test]
    fn percentiles_stay_within_the_stated_error() {
        let mut histogram = LatencyHistogram::new();
        for latency in 1..=100_000u64 {
            histogram.record(latency * 37);
        }
        for percent in [1.0, 50.0, 90.0, 99.0, 99.9, 99.99] {
            let exact = percent / 100.0 * 100_000.0 * 37.0;
            let found = histogram.percentile_ns(percent).unwrap() as f64;
            assert!(
                (found - exact).abs() / exact < 0.001 + 1.0 / (percent * 1000.0),
                "{percent}: {found} {exact}"
            );
        }
        assert_eq!(histogram.min_ns(), Some(37));
        assert_eq!(histogram.max_ns(), Some(3_700_000));
        assert_eq!(histogram.mean_ns(), Some(37.0 * 50_000.5));
    }

    #[test]
    fn a_rank_that_is_whole_but_for_rounding_is_whole() {
        let mut histogram = LatencyHistogram::new();
        (1..=999).for_each(|_| histogram.record(100));
        histogram.record(5000);
        assert_eq!((histogram.percentile_ns(99.9), histogram.percentile_ns(99.91)), (Some(100), Some(5000)));
    }

    #[test]
    fn the_standard_deviation_of_almost_equal_latencies_is_not_lost() {
        let mut histogram = LatencyHistogram::new();
        // An hour each, and 1 ns more for every second one: squares of 1.3e25 that differ in the last place.
        for index in 0..1_000_000u64 {
            histogram.record(3_600_000_000_000 + index % 2);
        }
        assert_eq!(histogram.stddev_ns(), Some(0.5));
        let mut constant = LatencyHistogram::new();
        (0..1001).for_each(|_| constant.record(123_456_789_012));
        assert_eq!(constant.stddev_ns(), Some(0.0));
    }

    #[test]
    fn the_standard_deviation_follows_its_definition_in_any_order() {
        let latency = |index: u64| 5_000_000_000 + index.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 1_000_003;
        let (mut forth, mut back) = (LatencyHistogram::new(), LatencyHistogram::new());
        (0..4321).for_each(|index| forth.record(latency(index)));
        (0..4321).rev().for_each(|index| back.record(latency(index)));
        let mean = (0..4321).map(|index| latency(index) as f64).sum::<f64>() / 4321.0;
        let squares: f64 = (0..4321).map(|index| (latency(index) as f64 - mean).powi(2)).sum();
        let found = forth.stddev_ns().unwrap();
        assert!((found / (squares / 4321.0).sqrt() - 1.0).abs() < 1e-12, "{found}");
        assert_eq!(back.stddev_ns(), Some(found), "to the bit");
    }

    #[test]
    fn empty_has_no_values_rather_than_zeros() {
        let histogram = LatencyHistogram::new();
        assert_eq!(histogram.percentile_ns(50.0), None);
        assert_eq!(histogram.mean_ns(), None);
    }
}
