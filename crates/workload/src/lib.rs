//! What a host does to a drive, and what it measures while doing so.
//!
//! ```text
//! Job (JSON) -> Generator | Replay -> run(drive) -> Report (JSON)
//! Trace file -> Trace -> Requests  --^
//! ```
//!
//! The words are fio's. Everything happens in the drive's virtual time; one seed gives one result, to the bit.

pub mod bins;
pub mod busy;
pub mod data;
pub mod distribution;
pub mod drive_series;
pub mod error;
pub mod generator;
pub mod heat;
pub mod job;
pub mod latency_parts;
pub mod log;
pub mod measurement;
pub mod meter;
pub mod pacing;
pub mod permutation;
pub mod progress;
pub mod random_map;
pub mod report;
pub mod requests;
pub mod runner;
pub mod series;
pub mod session;
pub mod trace;

pub use data::DataPattern;
pub use error::WorkloadError;
pub use job::{Job, parse_job, parse_jobs};
pub use log::{LogReader, RequestLog};
pub use meter::Meters;
pub use progress::Progress;
pub use report::Report;
pub use requests::{Program, Requests, Task};
pub use runner::{Run, SoFar, run};
pub use session::Session;
pub use trace::{ArrivalEvent, Beyond, Format, ReadOptions, TimeUnit, Trace, read_trace};
