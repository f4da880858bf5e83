//! Where the time of requests went: of all of them, and of the slowest.

use drivelab_controller::LatencySplit;
use drivelab_sim::Nanos;

use crate::bins;

/// Sums of latency parts; wide, because they are sums over hours of hundreds of outstanding requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitSums {
    /// See [`LatencySplit::queueing_ns`].
    pub queueing_ns: u128,
    /// See [`LatencySplit::link_ns`].
    pub link_ns: u128,
    /// See [`LatencySplit::firmware_ns`].
    pub firmware_ns: u128,
    /// See [`LatencySplit::flash_ns`].
    pub flash_ns: u128,
    /// See [`LatencySplit::cleaning_ns`].
    pub cleaning_ns: u128,
}

impl SplitSums {
    #[inline]
    fn add(&mut self, split: &LatencySplit, host_wait_ns: Nanos) {
        self.queueing_ns += u128::from(split.queueing_ns) + u128::from(host_wait_ns);
        self.link_ns += u128::from(split.link_ns);
        self.firmware_ns += u128::from(split.firmware_ns);
        self.flash_ns += u128::from(split.flash_ns);
        self.cleaning_ns += u128::from(split.cleaning_ns);
    }

    fn with(self, other: &Self) -> Self {
        Self {
            queueing_ns: self.queueing_ns + other.queueing_ns,
            link_ns: self.link_ns + other.link_ns,
            firmware_ns: self.firmware_ns + other.firmware_ns,
            flash_ns: self.flash_ns + other.flash_ns,
            cleaning_ns: self.cleaning_ns + other.cleaning_ns,
        }
    }

    /// The sum of all latencies.
    #[must_use]
    pub fn total_ns(&self) -> u128 {
        self.queueing_ns + self.link_ns + self.firmware_ns + self.flash_ns + self.cleaning_ns
    }
}

/// Latencies of a bin differ by an eighth at most: the tail that is asked for and the one that is found by less than
/// what lies in one bin. So many of the [`bins`] are one here.
const JOINED_LOG2: u32 = 2;
const COUNT: usize = bins::COUNT >> JOINED_LOG2;

/// Requests whose latencies are about equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bin {
    count: u64,
    least_ns: Nanos,
    sums: SplitSums,
}

impl Default for Bin {
    fn default() -> Self {
        Self { count: 0, least_ns: Nanos::MAX, sums: SplitSums::default() }
    }
}

/// A tail holds at most so many times what was asked for: where latencies are all about equal there are no slowest ones.
const MORE: u64 = 4;

/// The slowest requests of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// How many they are.
    pub count: u64,
    /// What the shortest of them took.
    pub least_ns: Nanos,
    /// Their parts.
    pub sums: SplitSums,
}

/// Requests whose latencies lie in one bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AboutEqual {
    /// Least and greatest latency that the bin takes.
    pub from_ns: Nanos,
    /// See `from_ns`.
    pub to_ns: Nanos,
    /// How many they are.
    pub count: u64,
    /// Their parts.
    pub sums: SplitSums,
}

/// Latency parts of requests by how long they took.
#[derive(Clone, Debug)]
pub struct LatencyParts {
    bins: Box<[Bin; COUNT]>,
}

impl Default for LatencyParts {
    fn default() -> Self {
        Self { bins: bins::empty() }
    }
}

impl LatencyParts {
    /// Counts a request of this latency, which is in this one of the [`bins`]; it waited in the host for so long before the
    /// drive took it.
    #[inline]
    pub fn record(&mut self, latency_ns: Nanos, bin: usize, split: &LatencySplit, host_wait_ns: Nanos) {
        let bin = &mut self.bins[(bin >> JOINED_LOG2) & (COUNT - 1)];
        bin.count += 1;
        bin.least_ns = bin.least_ns.min(latency_ns);
        bin.sums.add(split, host_wait_ns);
    }

    /// Parts of all requests.
    #[must_use]
    pub fn sums(&self) -> SplitSums {
        self.bins.iter().fold(SplitSums::default(), |sums, bin| sums.with(&bin.sums))
    }

    /// All requests, by bin; the fastest first.
    pub fn by_latency(&self) -> impl Iterator<Item = AboutEqual> + '_ {
        let bins = self.bins.iter().enumerate().filter(|(_, bin)| bin.count > 0);
        bins.map(|(index, bin)| AboutEqual {
            from_ns: bins::least(index << JOINED_LOG2),
            to_ns: bins::greatest((index << JOINED_LOG2) + (1 << JOINED_LOG2) - 1),
            count: bin.count,
            sums: bin.sums,
        })
    }

    /// The slowest requests, at least so many: those of whole bins. `None` if there are not as many, or if far more than
    /// were asked for are about as slow.
    #[must_use]
    pub fn tail(&self, least: u64) -> Option<Tail> {
        let least = least.max(1);
        let mut tail = Tail { count: 0, least_ns: Nanos::MAX, sums: SplitSums::default() };
        for bin in self.bins.iter().rev() {
            tail.count += bin.count;
            tail.least_ns = tail.least_ns.min(bin.least_ns);
            tail.sums = tail.sums.with(&bin.sums);
            if tail.count >= least {
                return (tail.count <= MORE.saturating_mul(least)).then_some(tail);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(flash_ns: Nanos, cleaning_ns: Nanos) -> LatencySplit {
        LatencySplit { flash_ns, cleaning_ns, ..LatencySplit::default() }
    }

    #[test]
    fn the_tail_says_what_the_slowest_waited_for() {
        let mut parts = LatencyParts::default();
        for _ in 0..990 {
            parts.record(100_000, bins::of(100_000), &split(60_000, 0), 40_000);
        }
        for _ in 0..10 {
            parts.record(9_000_000, bins::of(9_000_000), &split(60_000, 8_900_000), 40_000);
        }
        let tail = parts.tail(10).unwrap();
        assert_eq!((tail.count, tail.sums.cleaning_ns, tail.sums.queueing_ns), (10, 89_000_000, 400_000));
        assert_eq!(tail.least_ns, 9_000_000);
        assert_eq!(parts.tail(11), None, "the next bin has all others: they are no tail");
        let all = parts.tail(250).unwrap();
        assert_eq!((all.count, all.sums), (1000, parts.sums()), "whole bins, and each request once");
        assert_eq!(parts.sums().total_ns(), 990 * 100_000 + 10 * 9_000_000);
        assert_eq!(parts.tail(249), None, "a little more than four times as many");
        assert_eq!(parts.tail(1001), None);
        let bins: Vec<AboutEqual> = parts.by_latency().collect();
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [990, 10]);
        assert!(bins.iter().zip([100_000, 9_000_000]).all(|(bin, ns)| bin.from_ns <= ns && ns <= bin.to_ns));
    }
}
