//! Latency histogram with a stated error bound (REFERENCES.md, \[7\]).

use hdrhistogram::Histogram;

use crate::time::Nanos;

/// Highest latency kept apart: one hour. Longer ones are counted there, and `max_ns` stays exact.
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Latencies in ns; percentiles are at most 0.1 % above the true sample (three significant figures).
/// Minimum, maximum, mean and standard deviation are computed apart and exact (to f64).
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    counts: Histogram<u64>,
    sum_ns: u128,
    sum_squares: f64,
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
    ///
    /// # Panics
    /// Never: the bounds are constants that the library accepts.
    #[must_use]
    pub fn new() -> Self {
        let counts = Histogram::new_with_bounds(1, HIGHEST_NS, 3).expect("constant bounds are valid");
        Self { counts, sum_ns: 0, sum_squares: 0.0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: Nanos) {
        self.counts.saturating_record(latency_ns);
        self.sum_ns += u128::from(latency_ns);
        self.sum_squares += (latency_ns as f64) * (latency_ns as f64);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// How many latencies were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.len()
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

    /// Mean latency, or `None` if nothing was counted.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// Standard deviation of the sample, or `None` if nothing was counted.
    #[must_use]
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        Some((self.sum_squares / self.count() as f64 - mean * mean).max(0.0).sqrt())
    }

    /// The latency that `percent` of all samples do not exceed, or `None` if nothing was counted.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<Nanos> {
        (self.count() > 0).then(|| self.counts.value_at_percentile(percent).min(self.max_ns).max(self.min_ns))
    }

    /// Non-empty bins as (highest latency of the bin in ns, count), ascending.
    pub fn bins(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.counts.iter_recorded().map(|bin| (bin.value_iterated_to(), bin.count_at_value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn empty_has_no_values_rather_than_zeros() {
        let histogram = LatencyHistogram::new();
        assert_eq!(histogram.percentile_ns(50.0), None);
        assert_eq!(histogram.mean_ns(), None);
    }
}
