//! What a run returns, ready for JSON. Values that don't exist are null, never 0 or NaN.

use drivelab_controller::{Op, SECTOR_BYTES};
use drivelab_sim::time::SECOND;
use drivelab_sim::{LatencyHistogram, Nanos};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::data::DataPattern;
use crate::drive_series::DriveSeriesReport;
use crate::job::Job;
use crate::latency_parts::{LatencyParts, SplitSums};
use crate::measurement::{KindMeasurement, Measurement};
use crate::requests::op_code;
use crate::series::Series;

/// A run of one or more jobs. Times are those of the drive's clock.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// When the run started.
    pub start_ns: Nanos,
    /// When the first job began to measure; `counters_before` were read then.
    pub measure_start_ns: Nanos,
    /// When the last request was done; `counters_after` were read then.
    pub end_ns: Nanos,
    /// How long, since `measure_start_ns`, at least one request of any job was outstanding.
    pub busy_ns: Nanos,
    /// In the order in which they were given.
    pub jobs: Vec<JobReport>,
    /// The drive over time.
    pub drive_series: DriveSeriesReport,
    /// The drive's cumulative counters at `measure_start_ns`.
    pub counters_before: Value,
    /// The drive's cumulative counters at `end_ns`.
    pub counters_after: Value,
}

/// One job.
#[derive(Clone, Debug, Serialize)]
pub struct JobReport {
    /// The job's name.
    pub name: String,
    /// What its writes contained.
    pub data: DataPattern,
    /// Measured time: from the end of its ramp to its last completion.
    pub runtime_ns: Nanos,
    /// How long of it at least one of its requests was outstanding (open loop: had arrived and was not done).
    pub busy_ns: Nanos,
    /// With pacing `think` only: to the last completion that the program waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<Nanos>,
    /// Reads.
    pub read: DirectionReport,
    /// Writes.
    pub write: DirectionReport,
    /// Trims.
    pub trim: DirectionReport,
    /// Flushes.
    pub flush: FlushReport,
}

/// Requests of one direction.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionReport {
    /// Requests done.
    pub ios: u64,
    /// Bytes done.
    pub bytes: u64,
    /// Measured time of the job.
    pub runtime_ns: Nanos,
    /// How long of it at least one request of this direction was outstanding.
    pub busy_ns: Nanos,
    /// Requests per second; null if there was none.
    pub iops: Option<f64>,
    /// Bytes per second; null if there was no request.
    pub bytes_per_s: Option<f64>,
    /// Latency: completion less submission (open loop: less arrival); null if there was no request.
    pub latency_ns: Option<LatencyReport>,
    /// Where the time of a request went on average; sums to the mean latency.
    pub split_mean_ns: Option<SplitReport>,
    /// The same of the slowest requests: of each of [`TAILS`] that is at least one of them, and slower than others.
    pub tails: Vec<TailReport>,
    /// Over time.
    pub series: SeriesReport,
    /// Open loop only: submission less arrival; null if there was no request.
    pub lateness_ns: Option<LatencyReport>,
}

/// Flushes of a job.
#[derive(Clone, Debug, Serialize)]
pub struct FlushReport {
    /// Flushes done.
    pub count: u64,
    /// How long at least one flush was outstanding.
    pub busy_ns: Nanos,
    /// Their latency; null if there was none.
    pub latency_ns: Option<LatencyReport>,
}

/// A distribution of times in ns. Percentiles and bins are at most 0.1 % too high, the rest is exact.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyReport {
    /// Smallest.
    pub min: Nanos,
    /// Largest.
    pub max: Nanos,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// Number of samples.
    pub count: u64,
    /// By percent, with six decimals as in fio.
    pub percentiles: Percentiles,
    /// Non-empty bins: highest time in the bin, samples in it.
    pub bins: Vec<(Nanos, u64)>,
}

/// Times by percent; a JSON object in the order asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles(pub Vec<(f64, Nanos)>);

impl Serialize for Percentiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (percent, time) in &self.0 {
            map.serialize_entry(&format!("{percent:.6}"), time)?;
        }
        map.end()
    }
}

/// Means of the latency's parts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SplitReport {
    /// Waiting in the host or the drive for other host work.
    pub queueing_ns: f64,
    /// On the link.
    pub link_ns: f64,
    /// Firmware at work on the request.
    pub firmware_ns: f64,
    /// Flash at work for the request.
    pub flash_ns: f64,
    /// Waiting for cleaning.
    pub cleaning_ns: f64,
}

/// Of all requests, the slowest that are looked at.
/// One in so many.
pub const TAILS: [u64; 4] = [10, 100, 1000, 10_000];

/// The slowest requests: at least the share that was asked for, and those that took about as long as the shortest of them.
/// Where these are more than four times as many there is no such tail.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TailReport {
    /// What was asked for.
    pub share_of_requests: f64,
    /// How many there are.
    pub count: u64,
    /// What the shortest of them took.
    pub latency_ns_min: Nanos,
    /// Where their time went on average.
    pub split_mean_ns: SplitReport,
}

/// Buckets over time, from the start of the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesReport {
    /// Width of a bucket (what was asked for, doubled as often as needed to keep at most 262 144 buckets).
    pub interval_ns: Nanos,
    /// Bytes done within each bucket.
    pub bytes: Vec<u64>,
    /// Requests done within each bucket.
    pub ios: Vec<u64>,
    /// Mean latency; null where nothing was done.
    pub latency_mean_ns: Vec<Option<f64>>,
    /// Largest latency; 0 where nothing was done.
    pub latency_max_ns: Vec<Nanos>,
    /// What 99 % of the latencies don't exceed, at most 1/32 too high; null where nothing was done. Of buckets that were
    /// merged: the largest of theirs.
    pub latency_p99_ns: Vec<Option<Nanos>>,
    /// How long requests took over time; null if there was none.
    pub latencies: Option<LatenciesReport>,
}

/// Requests by time and latency: 64 columns at most, and a row for each half octave of latency.
#[derive(Clone, Debug, Serialize)]
pub struct LatenciesReport {
    /// Width of a column.
    pub interval_ns: Nanos,
    /// Least latency of each row, ascending, and one past the greatest of the last.
    pub edges_ns: Vec<Nanos>,
    /// Requests of each row, column by column.
    pub counts: Vec<Vec<u32>>,
}

impl JobReport {
    pub(crate) fn new(
        job: &Job,
        runtime_ns: Nanos,
        waited_ns: Option<Nanos>,
        measurement: &Measurement,
    ) -> Self {
        let percentiles = &job.percentiles;
        let direction = |op| DirectionReport::new(op, runtime_ns, measurement, percentiles);
        let KindMeasurement { latency, busy, .. } = &measurement.kinds[usize::from(op_code(Op::Flush))];
        let flush = FlushReport {
            count: latency.count(),
            busy_ns: busy.sum_ns(),
            latency_ns: LatencyReport::new(latency, percentiles),
        };
        Self {
            name: job.name.clone(),
            data: job.data,
            runtime_ns,
            busy_ns: measurement.busy.sum_ns(),
            waited_ns,
            read: direction(Op::Read),
            write: direction(Op::Write),
            trim: direction(Op::Trim),
            flush,
        }
    }
}

impl DirectionReport {
    fn new(op: Op, runtime_ns: Nanos, measurement: &Measurement, percentiles: &[f64]) -> Self {
        let index = usize::from(op_code(op));
        let KindMeasurement { sectors, latency, parts, lateness, busy } = &measurement.kinds[index];
        let (ios, bytes) = (latency.count(), sectors * SECTOR_BYTES);
        let per_second = |amount: u64| {
            (ios > 0 && runtime_ns > 0).then(|| amount as f64 * SECOND as f64 / runtime_ns as f64)
        };
        Self {
            ios,
            bytes,
            runtime_ns,
            busy_ns: busy.sum_ns(),
            iops: per_second(ios),
            bytes_per_s: per_second(bytes),
            latency_ns: LatencyReport::new(latency, percentiles),
            split_mean_ns: (ios > 0).then(|| SplitReport::new(&parts.sums(), ios)),
            tails: TailReport::all(parts, ios),
            series: SeriesReport::new(&measurement.series, index),
            lateness_ns: lateness.as_ref().and_then(|lateness| LatencyReport::new(lateness, percentiles)),
        }
    }
}

impl LatencyReport {
    fn new(histogram: &LatencyHistogram, percentiles: &[f64]) -> Option<Self> {
        let at = |&percent: &f64| Some((percent, histogram.percentile_ns(percent)?));
        Some(Self {
            min: histogram.min_ns()?,
            max: histogram.max_ns()?,
            mean: histogram.mean_ns()?,
            stddev: histogram.stddev_ns()?,
            count: histogram.count(),
            percentiles: Percentiles(percentiles.iter().filter_map(at).collect()),
            bins: histogram.bins().collect(),
        })
    }
}

impl SplitReport {
    fn new(sums: &SplitSums, count: u64) -> Self {
        let mean = |sum: u128| sum as f64 / count as f64;
        Self {
            queueing_ns: mean(sums.queueing_ns),
            link_ns: mean(sums.link_ns),
            firmware_ns: mean(sums.firmware_ns),
            flash_ns: mean(sums.flash_ns),
            cleaning_ns: mean(sums.cleaning_ns),
        }
    }
}

impl TailReport {
    fn all(parts: &LatencyParts, ios: u64) -> Vec<Self> {
        let one_in = |number: u64| {
            let tail = (ios >= number).then(|| parts.tail(ios.div_ceil(number)))??;
            Some(Self {
                share_of_requests: 1.0 / number as f64,
                count: tail.count,
                latency_ns_min: tail.least_ns,
                split_mean_ns: SplitReport::new(&tail.sums, tail.count),
            })
        };
        TAILS.into_iter().filter_map(one_in).collect()
    }
}

impl SeriesReport {
    fn new(series: &Series, index: usize) -> Self {
        let all = series.closed();
        let buckets = || all.iter().map(|kinds| kinds[index]);
        Self {
            interval_ns: series.interval_ns(),
            bytes: buckets().map(|bucket| bucket.sectors * SECTOR_BYTES).collect(),
            ios: buckets().map(|bucket| bucket.ios).collect(),
            latency_mean_ns: buckets()
                .map(|bucket| (bucket.ios > 0).then(|| bucket.latency_sum_ns as f64 / bucket.ios as f64))
                .collect(),
            latency_max_ns: buckets().map(|bucket| bucket.latency_max_ns).collect(),
            latency_p99_ns: buckets()
                .map(|bucket| (bucket.ios > 0).then_some(bucket.latency_p99_ns))
                .collect(),
            latencies: series.field(index).map(|field| LatenciesReport {
                interval_ns: series.interval_ns().saturating_mul(field.buckets_per_column),
                edges_ns: field.edges_ns,
                counts: field.counts,
            }),
        }
    }
}
