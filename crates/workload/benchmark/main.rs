//! The engine's speed: requests simulated per second of wall-clock time, measurement included, and beside it that of a
//! bare prototype in the same run: machines differ, and one machine from hour to hour; the ratio counts. What the
//! prototype has no equivalent of has the engine's rate alone.
//!
//! `make bench` runs it. `--tiny` runs the same in a moment, so that it cannot rot (`tests/bench_runs.rs`). `--counted`
//! runs every row twice for `make instructions`, which counts what the processor does in [`counted`]. `--only WORDS`
//! runs the rows with these words in their name, for a profile of one.
#![allow(clippy::disallowed_methods, reason = "measures speed")]

use std::error::Error;
use std::time::Instant;

use drivelab_controller::Device;
use drivelab_workload::{Job, Meters, Progress, Task, run};

#[path = "laboratory.rs"]
mod laboratory;
#[path = "page_maps.rs"]
mod page_maps;
#[path = "prototype.rs"]
mod prototype;
#[path = "subjects.rs"]
mod subjects;
#[path = "terabyte.rs"]
mod terabyte;

/// Times that engine and prototype run in turn.
const ROUNDS: usize = 3;

/// What one run did.
pub struct Rate {
    /// Requests per second of wall-clock time.
    pub requests_per_s: f64,
    /// Flash programs per second of wall-clock time.
    pub programs_per_s: f64,
    /// Programmed over host bytes, or 0 without writes.
    pub write_amplification: f64,
}

/// A row of the table: what the engine did, and how much faster the prototype did the same.
pub struct Row {
    /// The engine's median round.
    pub rate: Rate,
    /// Prototype over engine, median of the rounds: programs where there is cleaning, requests elsewhere.
    pub ratio: Option<f64>,
}

/// How much is run.
#[derive(Clone, Copy)]
pub enum Extent {
    /// Drives of full size.
    Full,
    /// Small drives, and a thousandth of the requests.
    Tiny,
    /// Small drives, each row with so many requests and with twice as many, the prototype not at all.
    Counted,
}

impl Extent {
    /// How many of a full run's requests.
    pub fn requests(self, full: u64) -> u64 {
        match self {
            Self::Full => full,
            Self::Tiny => (full / 1000).max(1000),
            Self::Counted => (full / 100).clamp(1000, 20_000),
        }
    }

    /// Whether drives are small.
    pub fn is_small(self) -> bool {
        !matches!(self, Self::Full)
    }
}

/// The rate of a prototype in a round: programs, or requests if it only reads, per second.
type OfPrototype<'a> = &'a mut dyn FnMut(u64) -> f64;

/// What has been run so far.
pub struct Table {
    extent: Extent,
    /// Rows without these words in their name are left out.
    only: String,
    rows: Vec<Row>,
}

impl Table {
    /// Whether a row is to be run.
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Runs a job of each round on the drive, in turn with the prototype.
    fn row(
        &mut self,
        name: &'static str,
        drive: &mut (impl Device + Meters),
        page_bytes: f64,
        mut job: impl FnMut(u64) -> Job,
        mut prototype: Option<OfPrototype<'_>>,
    ) -> Result<(), Box<dyn Error>> {
        if !self.wants(name) {
            return Ok(());
        }
        if matches!(self.extent, Extent::Counted) {
            let once = job(0);
            let requests = once.io_bytes.unwrap_or(0) / once.block_sizes[0].bytes;
            let twice = Job { io_bytes: Some(2 * once.io_bytes.unwrap_or(0)), ..job(1) };
            counted(drive, once)?;
            counted(drive, twice)?;
            println!("{requests}\t{name}");
            return Ok(());
        }
        let mut rounds = Vec::new();
        for round in 0..ROUNDS as u64 {
            let other = prototype.as_mut().map(|prototype| prototype(round));
            let rate = timed(drive, job(round), page_bytes)?;
            let cleans = rate.write_amplification > 1.05;
            let own = if cleans { rate.programs_per_s } else { rate.requests_per_s };
            rounds.push((own, other.map(|other| other / own), rate));
        }
        // By ratio where there is one: its median is what counts.
        rounds.sort_by(|a, b| a.1.unwrap_or(-a.0).total_cmp(&b.1.unwrap_or(-b.0)));
        let (_, ratio, rate) = rounds.swap_remove(ROUNDS / 2);
        println!(
            "{name:<52} {:>8.3} {:>8.2} {:>6.2} {:>8}",
            rate.requests_per_s / 1e6,
            rate.programs_per_s / 1e6,
            rate.write_amplification,
            ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        );
        self.rows.push(Row { rate, ratio });
        Ok(())
    }
}

/// What `make instructions` counts: a function of its own, so that it is found by name.
#[inline(never)]
fn counted(drive: &mut (impl Device + Meters), job: Job) -> Result<(), Box<dyn Error>> {
    run(drive, &[Task::from(job)], &Progress::new())?;
    Ok(())
}

fn timed(drive: &mut (impl Device + Meters), job: Job, page_bytes: f64) -> Result<Rate, Box<dyn Error>> {
    let started = Instant::now();
    let report = run(drive, &[Task::from(job)], &Progress::new())?;
    let seconds = started.elapsed().as_secs_f64();
    let delta = |key: &str| {
        report.counters_after[key].as_f64().unwrap_or(0.0)
            - report.counters_before[key].as_f64().unwrap_or(0.0)
    };
    let programmed: f64 =
        ["host", "cleaning", "wear", "map"].iter().map(|kind| delta(&format!("program_bytes_{kind}"))).sum();
    let written = delta("host_write_bytes");
    let requests = (report.jobs[0].read.ios + report.jobs[0].write.ios) as f64;
    Ok(Rate {
        requests_per_s: requests / seconds,
        programs_per_s: programmed / page_bytes / seconds,
        write_amplification: if written > 0.0 { programmed / written } else { 0.0 },
    })
}

/// Runs the rows with these words in their name.
///
/// # Errors
/// A model or a job that the engine refuses: a defect of this example.
pub fn measure(extent: Extent, only: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut table = Table { extent, only: only.to_owned(), rows: Vec::new() };
    if !matches!(extent, Extent::Counted) {
        println!("{:<52} {:>8} {:>8} {:>6} {:>8}", "", "Mreq/s", "Mprog/s", "WA", "prototype/this");
    }
    page_maps::device(&mut table)?;
    page_maps::steady(&mut table)?;
    subjects::families(&mut table)?;
    terabyte::terabyte(&mut table)?;
    Ok(table.rows)
}

#[allow(dead_code, reason = "the test that includes this file calls `measure` itself")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (extent, rest) = match arguments[..] {
        ["--tiny", ref rest @ ..] => (Extent::Tiny, rest),
        ["--counted", ref rest @ ..] => (Extent::Counted, rest),
        ref rest => (Extent::Full, rest),
    };
    let only = match *rest {
        [] => "",
        ["--only", words] => words,
        _ => return Err(format!("{arguments:?}: must be [--tiny | --counted] [--only WORDS]").into()),
    };
    measure(extent, only)?;
    if matches!(extent, Extent::Counted) {
        return Ok(());
    }
    println!(
        "prototype/this: rate of a bare prototype without features over this engine's (programs where it cleans), \
         run in turn, median of {ROUNDS}; -: it has no equivalent"
    );
    Ok(())
}
