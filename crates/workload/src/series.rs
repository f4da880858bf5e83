//! Throughput and latency over time, in buckets of equal width.

use drivelab_sim::Nanos;

use crate::bins;
use crate::heat::{Field, Heat};

/// Most buckets kept; beyond, neighbours are merged and the width doubles. 32 MiB per job at most.
const BUCKETS_MAX: u64 = 1 << 18;

/// What was completed within one interval, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Requests.
    pub ios: u64,
    /// Sectors.
    pub sectors: u64,
    /// Sum of latencies.
    pub latency_sum_ns: u64,
    /// Largest latency; 0 if there was no request.
    pub latency_max_ns: Nanos,
    /// What 99 % of the latencies don't exceed, at most 1/32 too high. Of buckets that were merged: the larger of theirs.
    /// Of the last bucket only when it has been [`Series::closed`].
    pub latency_p99_ns: Nanos,
}

impl Bucket {
    fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.sectors += other.sectors;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        self.latency_p99_ns = self.latency_p99_ns.max(other.latency_p99_ns);
    }
}

/// Latencies of one kind within the last bucket, by [`bins`].
#[derive(Clone, Debug)]
struct Latencies(Box<[u32; bins::COUNT]>);

impl Default for Latencies {
    fn default() -> Self {
        Self(bins::empty())
    }
}

impl Latencies {
    /// What 99 % of so many latencies don't exceed.
    fn p99_ns(&self, count: u64, max_ns: Nanos) -> Nanos {
        let mut slower = 0;
        let found = self.0.iter().rposition(|&latencies| {
            slower += u64::from(latencies);
            slower * 100 > count
        });
        found.map_or(0, |bin| bins::greatest(bin).min(max_ns))
    }
}

/// Buckets for each kind of command (in the order of their codes), from `start_ns` on.
#[derive(Clone, Debug)]
pub struct Series {
    start_ns: Nanos,
    interval_ns: Nanos,
    /// End of the last bucket: nothing is divided until a completion lies beyond it.
    end_ns: Nanos,
    buckets: Vec<[Bucket; 4]>,
    /// Of the last bucket.
    latencies: [Latencies; 4],
    /// Of those before it.
    heat: [Heat; 4],
}

impl Series {
    /// Empty buckets.
    #[must_use]
    pub fn new(start_ns: Nanos, interval_ns: Nanos) -> Self {
        Self {
            start_ns,
            interval_ns,
            end_ns: start_ns,
            buckets: Vec::new(),
            latencies: Default::default(),
            heat: Default::default(),
        }
    }

    /// Bucket width: what was asked for, or that times a power of two.
    #[must_use]
    pub fn interval_ns(&self) -> Nanos {
        self.interval_ns
    }

    /// All buckets so far.
    #[must_use]
    pub fn buckets(&self) -> &[[Bucket; 4]] {
        &self.buckets
    }

    /// All buckets so far, with the percentile of the last one.
    #[must_use]
    pub fn closed(&self) -> Vec<[Bucket; 4]> {
        let mut buckets = self.buckets.clone();
        if let Some(last) = buckets.last_mut() {
            Self::close(last, &self.latencies);
        }
        buckets
    }

    /// How long requests of a kind took over time; `None` if there was none.
    #[must_use]
    pub fn field(&self, kind: usize) -> Option<Field> {
        let mut heat = self.heat[kind].clone();
        if self.buckets.last().is_some_and(|bucket| bucket[kind].ios > 0) {
            heat.add(self.buckets.len() - 1, &self.latencies[kind].0);
        }
        heat.field()
    }

    fn close(bucket: &mut [Bucket; 4], latencies: &[Latencies; 4]) {
        for (bucket, latencies) in bucket.iter_mut().zip(latencies).filter(|(bucket, _)| bucket.ios > 0) {
            let p99_ns = latencies.p99_ns(bucket.ios, bucket.latency_max_ns);
            bucket.latency_p99_ns = bucket.latency_p99_ns.max(p99_ns);
        }
    }

    /// Counts a completion, whose latency is in this one of the [`bins`]; `completed_ns` never lies before the one of the
    /// last call.
    #[inline]
    pub fn record(&mut self, completed_ns: Nanos, kind: usize, sectors: u32, latency_ns: Nanos, bin: usize) {
        if completed_ns >= self.end_ns {
            self.extend_to(completed_ns);
        }
        if let Some(bucket) = self.buckets.last_mut() {
            let bucket = &mut bucket[kind];
            bucket.ios += 1;
            bucket.sectors += u64::from(sectors);
            bucket.latency_sum_ns = bucket.latency_sum_ns.saturating_add(latency_ns);
            bucket.latency_max_ns = bucket.latency_max_ns.max(latency_ns);
            self.latencies[kind].0[bin & (bins::COUNT - 1)] += 1;
        }
    }

    #[cold]
    fn extend_to(&mut self, time_ns: Nanos) {
        let number = self.buckets.len().saturating_sub(1);
        if let Some(last) = self.buckets.last_mut() {
            Self::close(last, &self.latencies);
            let kinds = last.iter().zip(&mut self.latencies).zip(&mut self.heat);
            for ((bucket, latencies), heat) in kinds {
                if bucket.ios > 0 {
                    heat.add(number, &latencies.0);
                    latencies.0.fill(0);
                }
            }
        }
        let elapsed_ns = time_ns - self.start_ns;
        while elapsed_ns / self.interval_ns >= BUCKETS_MAX {
            self.halve();
        }
        let count = elapsed_ns / self.interval_ns + 1;
        self.buckets.resize(count as usize, [Bucket::default(); 4]);
        self.end_ns = self.start_ns.saturating_add(count.saturating_mul(self.interval_ns));
    }

    fn halve(&mut self) {
        self.heat.iter_mut().for_each(Heat::merge_buckets);
        self.interval_ns = self.interval_ns.saturating_mul(2);
        let count = self.buckets.len().div_ceil(2);
        for index in 0..count {
            let mut merged = self.buckets[2 * index];
            if let Some(second) = self.buckets.get(2 * index + 1) {
                merged.iter_mut().zip(second).for_each(|(bucket, other)| bucket.merge(other));
            }
            self.buckets[index] = merged;
        }
        self.buckets.truncate(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(series: &mut Series, completed_ns: Nanos, kind: usize, sectors: u32, latency_ns: Nanos) {
        series.record(completed_ns, kind, sectors, latency_ns, bins::of(latency_ns));
    }

    #[test]
    fn buckets_hold_what_completed_within_them() {
        let mut series = Series::new(1000, 10);
        for (time, latency) in [(1000, 5), (1009, 7), (1010, 1), (1035, 2)] {
            record(&mut series, time, 1, 8, latency);
        }
        let ios: Vec<_> = series.buckets().iter().map(|bucket| bucket[1].ios).collect();
        assert_eq!(ios, [2, 1, 0, 1]);
        assert_eq!(
            series.buckets()[0][1],
            Bucket { ios: 2, sectors: 16, latency_sum_ns: 12, latency_max_ns: 7, latency_p99_ns: 7 }
        );
    }

    #[test]
    fn one_in_a_hundred_of_a_bucket_is_slower_than_its_percentile() {
        let mut series = Series::new(0, 1_000_000);
        for time in 0..1000u64 {
            // Ten of a thousand are slow; in the second bucket eleven.
            record(&mut series, time, 0, 8, if time < 10 { 50_000 } else { 1000 });
            record(&mut series, time, 1, 8, 10 * (time + 1));
        }
        for time in 0..1000u64 {
            record(&mut series, 1_000_000 + time, 0, 8, if time < 11 { 50_000 } else { 1000 });
        }
        let buckets = series.closed();
        let p99_ns = |bucket: usize, kind: usize| buckets[bucket][kind].latency_p99_ns;
        assert!((1000..=1031).contains(&p99_ns(0, 0)), "{}", p99_ns(0, 0));
        assert_eq!(p99_ns(1, 0), 50_000);
        assert!((9900..=10_000).contains(&p99_ns(0, 1)), "{}", p99_ns(0, 1));
        assert_eq!(p99_ns(1, 1), 0, "nothing was done");
    }

    #[test]
    fn years_of_idle_time_do_not_fill_the_memory() {
        let mut series = Series::new(0, 1);
        (0..100).for_each(|time| record(&mut series, time, 0, 1, 1));
        record(&mut series, u64::MAX - 1, 0, 1, 1);
        assert!(series.buckets().len() as u64 <= BUCKETS_MAX);
        assert_eq!(series.buckets().iter().map(|bucket| bucket[0].ios).sum::<u64>(), 101);
        assert_eq!(series.buckets()[0][0].ios, 100);
    }
}
