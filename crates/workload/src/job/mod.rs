//! A job: what one stream of requests is made of. The words are fio's, with units in the names.

mod validation;

use drivelab_controller::QueueClass;
use drivelab_sim::Nanos;
use drivelab_sim::time::SECOND;
use serde::{Deserialize, Serialize};

use crate::data::DataPattern;
use crate::distribution::DistributionSpec;
use crate::error::WorkloadError;

/// One job. Jobs of one run start together and share the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name in messages and in the report.
    pub name: String,
    /// Where the requests come from.
    #[serde(default)]
    pub source: Source,
    /// Direction and order of generated requests.
    #[serde(default)]
    pub rw: Rw,
    /// Share of reads in `rw` and `randrw`, percent.
    #[serde(default = "default_read_percent")]
    pub read_percent: f64,
    /// Sizes of reads, and of writes and trims that have no list of their own.
    #[serde(default = "default_block_sizes")]
    pub block_sizes: Vec<BlockSize>,
    /// Sizes of writes.
    #[serde(default)]
    pub write_block_sizes: Option<Vec<BlockSize>>,
    /// Sizes of trims.
    #[serde(default)]
    pub trim_block_sizes: Option<Vec<BlockSize>>,
    /// Offsets (from the region's start) are multiples of this; null: random offsets are multiples of the
    /// direction's smallest block size, sequential ones follow each other without gaps.
    #[serde(default)]
    pub align_bytes: Option<u64>,
    /// Start of the region.
    #[serde(default)]
    pub offset_bytes: u64,
    /// Size of the region; null: to the end of the drive.
    #[serde(default)]
    pub span_bytes: Option<u64>,
    /// The job ends once this much was issued (after the ramp); null: region times `loops`.
    #[serde(default)]
    pub io_bytes: Option<u64>,
    /// The job ends once so many requests were issued (after the ramp), flushes not counted; null: by bytes alone.
    #[serde(default)]
    pub io_requests: Option<u64>,
    /// The job ends after this time (not counting the ramp).
    #[serde(default)]
    pub runtime_ns: Option<Nanos>,
    /// Only `runtime_ns` ends the job.
    #[serde(default)]
    pub time_based: bool,
    /// How often the region is passed over.
    #[serde(default = "default_loops")]
    pub loops: u64,
    /// Time at the start that is not measured.
    #[serde(default)]
    pub ramp_ns: Nanos,
    /// Delay of the job's start.
    #[serde(default)]
    pub start_ns: Nanos,
    /// Requests that the job keeps outstanding. Those that the drive's own queue can't take wait in the host.
    #[serde(default = "default_queue_depth")]
    pub queue_depth: u32,
    /// How random offsets are spread over the region.
    #[serde(default)]
    pub distribution: DistributionSpec,
    /// Each random block once before any repeats (uniform distribution only).
    #[serde(default)]
    pub random_map: bool,
    /// Share of random offsets in a random job, percent; the rest continue where the last request ended.
    #[serde(default = "default_random_percent")]
    pub random_percent: f64,
    /// Most requests per second. A job that fell behind catches up.
    #[serde(default)]
    pub rate_iops: Option<u64>,
    /// Most bytes per second. A job that fell behind catches up.
    #[serde(default)]
    pub rate_bytes_per_s: Option<u64>,
    /// How requests under a rate follow each other.
    #[serde(default)]
    pub rate_process: RateProcess,
    /// Pause after every `thinktime_blocks` requests, counted from when they are all done.
    #[serde(default)]
    pub thinktime_ns: Nanos,
    /// Requests between pauses.
    #[serde(default = "default_thinktime_blocks")]
    pub thinktime_blocks: u64,
    /// A flush after so many writes; 0: none.
    #[serde(default)]
    pub flush_every_writes: u64,
    /// A flush at the end, once everything else is done: the job ends with it.
    #[serde(default)]
    pub flush_at_end: bool,
    /// Writes are done only when they are in flash.
    #[serde(default)]
    pub fua: bool,
    /// The hint that comes with every write: the write stream that it should go to; 0: none.
    #[serde(default)]
    pub write_hint: u8,
    /// The submission queue that its requests come by; null: one of its own, in the order of the jobs, in turn where
    /// the drive has fewer.
    #[serde(default)]
    pub queue: Option<u16>,
    /// The class of that queue, for drives that fetch by weight.
    #[serde(default)]
    pub queue_class: QueueClass,
    /// What the writes contain.
    #[serde(default)]
    pub data: DataPattern,
    /// Seed of everything random in this job.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Bucket width of throughput over time.
    #[serde(default = "default_series_interval_ns")]
    pub series_interval_ns: Nanos,
    /// Latency percentiles to report.
    #[serde(default = "default_percentiles")]
    pub percentiles: Vec<f64>,
}

/// Where a job's requests come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Made up from the job's description. (A variant with braces: serde ignores unknown keys beside others.)
    Generated {},
    /// Handed over beside the job, as arrays: a trace.
    Requests {
        /// When each request is issued.
        #[serde(default)]
        pacing: ReplayPacing,
        /// With `capped`: longest time between two arrivals; longer gaps are shortened to it.
        #[serde(default)]
        idle_cap_ns: Option<Nanos>,
    },
}

impl Default for Source {
    fn default() -> Self {
        Self::Generated {}
    }
}

/// When the requests of a trace are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayPacing {
    /// At their recorded times, however many are outstanding (open loop).
    Arrival,
    /// `queue_depth` outstanding, as fast as possible.
    #[default]
    Closed,
    /// At their recorded times with long gaps shortened to `idle_cap_ns`.
    Capped,
    /// As a program does that waits and computes: [`crate::Program`].
    Think,
}

/// How requests under a rate follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateProcess {
    /// At even distances.
    #[default]
    Linear,
    /// As if each came by chance, whenever the others do: at distances that are distributed exponentially.
    Poisson,
}

/// Direction and order of generated requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential reads and sequential writes, mixed.
    Rw,
    /// Random reads and writes, mixed.
    RandRw,
    /// Sequential trims.
    Trim,
    /// Random trims.
    RandTrim,
}

impl Rw {
    /// Whether offsets are random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim)
    }
}

/// A block size and how often it is drawn, relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockSize {
    /// Size.
    pub bytes: u64,
    /// Weight.
    #[serde(default = "default_weight")]
    pub weight: f64,
}

impl Job {
    /// A job of default values for one direction, block size and queue depth.
    #[must_use]
    pub fn new(name: &str, rw: Rw, block_bytes: u64, queue_depth: u32) -> Self {
        Self {
            name: name.to_owned(),
            source: Source::default(),
            rw,
            read_percent: default_read_percent(),
            block_sizes: vec![BlockSize { bytes: block_bytes, weight: 1.0 }],
            write_block_sizes: None,
            trim_block_sizes: None,
            align_bytes: None,
            offset_bytes: 0,
            span_bytes: None,
            io_bytes: None,
            io_requests: None,
            runtime_ns: None,
            time_based: false,
            loops: default_loops(),
            ramp_ns: 0,
            start_ns: 0,
            queue_depth,
            distribution: DistributionSpec::default(),
            random_map: false,
            random_percent: default_random_percent(),
            rate_iops: None,
            rate_bytes_per_s: None,
            rate_process: RateProcess::default(),
            thinktime_ns: 0,
            thinktime_blocks: default_thinktime_blocks(),
            flush_every_writes: 0,
            flush_at_end: false,
            fua: false,
            write_hint: 0,
            queue: None,
            queue_class: QueueClass::default(),
            data: DataPattern::default(),
            seed: default_seed(),
            series_interval_ns: default_series_interval_ns(),
            percentiles: default_percentiles(),
        }
    }

    /// Size of the region on a drive of this capacity; call after [`Self::validate`].
    #[must_use]
    pub fn span_bytes_on(&self, capacity_bytes: u64) -> u64 {
        self.span_bytes.unwrap_or_else(|| capacity_bytes.saturating_sub(self.offset_bytes))
    }

    /// Sizes of the requests of every direction that the job has, each by its key.
    pub(crate) fn sizes_by_key(&self) -> Vec<(&'static str, &[BlockSize])> {
        let (reads, writes) =
            (("block_sizes", self.block_sizes.as_slice()), ("write block size", self.write_sizes()));
        match self.rw {
            Rw::Read | Rw::RandRead => vec![reads],
            Rw::Write | Rw::RandWrite => vec![writes],
            Rw::Trim | Rw::RandTrim => vec![("trim block size", self.trim_sizes())],
            Rw::Rw | Rw::RandRw => vec![reads, writes],
        }
    }

    /// Whether a direction that the job has has several sizes: then what a pass has reached is kept in a map.
    pub(crate) fn has_several_sizes(&self) -> bool {
        self.sizes_by_key().iter().any(|(_, sizes)| sizes.len() > 1)
    }

    /// Sizes of writes.
    #[must_use]
    pub fn write_sizes(&self) -> &[BlockSize] {
        self.write_block_sizes.as_deref().unwrap_or(&self.block_sizes)
    }

    /// Sizes of trims.
    #[must_use]
    pub fn trim_sizes(&self) -> &[BlockSize] {
        self.trim_block_sizes.as_deref().unwrap_or(&self.block_sizes)
    }

    /// Whether requests come at recorded times, however many are outstanding.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        matches!(self.source, Source::Requests { pacing: ReplayPacing::Arrival | ReplayPacing::Capped, .. })
    }

    /// Whether processor time lies between requests.
    #[must_use]
    pub fn thinks(&self) -> bool {
        matches!(self.source, Source::Requests { pacing: ReplayPacing::Think, .. })
    }
}

/// Reads a JSON array of jobs.
///
/// # Errors
/// [`WorkloadError::Parse`] with the path of the offending key. Values are checked later, by [`Job::validate`].
pub fn parse_jobs(json: &str) -> Result<Vec<Job>, WorkloadError> {
    parse(json, "jobs")
}

/// Reads one JSON object, a job.
///
/// # Errors
/// As [`parse_jobs`].
pub fn parse_job(json: &str) -> Result<Job, WorkloadError> {
    parse(json, "job")
}

fn parse<T: for<'de> Deserialize<'de>>(json: &str, root: &str) -> Result<T, WorkloadError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let inner = error.path().to_string();
        let path = match inner.chars().next() {
            None | Some('.') => root.to_owned(),
            Some('[') => format!("{root}{inner}"),
            Some(_) => format!("{root}.{inner}"),
        };
        WorkloadError::Parse { path, message: error.inner().to_string() }
    })?;
    deserializer
        .end()
        .map_err(|error| WorkloadError::Parse { path: root.to_owned(), message: error.to_string() })?;
    Ok(value)
}

fn default_read_percent() -> f64 {
    50.0
}

fn default_block_sizes() -> Vec<BlockSize> {
    vec![BlockSize { bytes: 4096, weight: default_weight() }]
}

fn default_weight() -> f64 {
    1.0
}

fn default_loops() -> u64 {
    1
}

fn default_queue_depth() -> u32 {
    1
}

fn default_random_percent() -> f64 {
    100.0
}

fn default_thinktime_blocks() -> u64 {
    1
}

fn default_seed() -> u64 {
    1
}

fn default_series_interval_ns() -> Nanos {
    SECOND
}

/// fio's list.
fn default_percentiles() -> Vec<f64> {
    vec![1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99]
}
