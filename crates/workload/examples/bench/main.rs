//! The engine's speed: requests simulated per second of wall-clock time, measurement included, and beside it that of a
//! bare prototype in the same run: machines differ, and one machine from hour to hour; the ratio counts.
//!
//! `make bench` runs it. `--tiny` runs the same in a moment, so that it cannot rot (`tests/bench_runs.rs`).
#![allow(clippy::disallowed_methods, reason = "measures speed")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use drivelab_controller::Device;
use drivelab_drive::{Drive, Layer, Model};
use drivelab_workload::job::Rw;
use drivelab_workload::{Job, Progress, Task, run};

#[path = "prototype.rs"]
mod prototype;

use prototype::{Prototype, Shape};

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

fn drive(texts: &[&str], overrides: &[(&str, &str)]) -> Result<Drive, Box<dyn Error>> {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let layers: Vec<_> = texts.iter().map(|text| Layer { text, origin: "bench" }).collect();
    Ok(Drive::new(Arc::new(Model::parse_layers(&layers, &overrides)?), 1)?)
}

fn timed(drive: &mut Drive, job: Job, page_bytes: f64) -> Result<Rate, Box<dyn Error>> {
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

/// A row of the table: what the engine did, and how much faster the prototype did the same.
pub struct Row {
    /// The engine's median round.
    pub rate: Rate,
    /// Prototype over engine, median of the rounds: programs where there is cleaning, requests elsewhere.
    pub ratio: f64,
}

/// Runs engine and prototype in turn; the first gives its rate, the second its requests per second.
fn in_turn(
    name: &'static str,
    mut engine: impl FnMut(u64) -> Result<Rate, Box<dyn Error>>,
    mut prototype: impl FnMut(u64) -> f64,
) -> Result<Row, Box<dyn Error>> {
    let mut rounds = Vec::new();
    for round in 0..ROUNDS as u64 {
        let other = prototype(round);
        let rate = engine(round)?;
        let cleans = rate.write_amplification > 1.05;
        rounds.push((other / if cleans { rate.programs_per_s } else { rate.requests_per_s }, rate));
    }
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, rate) = rounds.swap_remove(ROUNDS / 2);
    println!(
        "{name:<52} {:>8.2} {:>8.2} {:>6.2} {ratio:>8.2}",
        rate.requests_per_s / 1e6,
        rate.programs_per_s / 1e6,
        rate.write_amplification,
    );
    Ok(Row { rate, ratio })
}

/// What a prototype does per second: programs, or requests if it only reads.
fn prototype_rate(prototype: &mut Prototype, requests: u64, span_pages: u32, reads: bool, seed: u64) -> f64 {
    let (started, programs) = (Instant::now(), prototype.programs);
    prototype.run(requests, 32, span_pages, reads, seed);
    let done = if reads { requests } else { prototype.programs - programs };
    done as f64 / started.elapsed().as_secs_f64()
}

/// Runs everything; `scale` divides the number of requests.
///
/// # Errors
/// A model or a job that the engine refuses: a defect of this file.
pub fn measure(scale: u64) -> Result<Vec<Row>, Box<dyn Error>> {
    println!("{:<52} {:>8} {:>8} {:>6} {:>8}", "", "Mreq/s", "Mprog/s", "WA", "prototype/this");
    let mut rows = device_rows(scale)?;
    rows.push(steady_row(scale)?);
    Ok(rows)
}

/// Reads and writes of a device that is filled to 70 %.
fn device_rows(scale: u64) -> Result<Vec<Row>, Box<dyn Error>> {
    let blocks_per_plane = if scale > 1 { 64 } else { 256 };
    let device = &[include_str!("device.toml")];
    let mut filled = drive(device, &[("flash.blocks_per_plane", &blocks_per_plane.to_string())])?;
    let span = filled.capacity_sectors() * 512 / 10 * 7 / 8192 * 8192;
    let span_pages = (span / 8192) as u32;
    let shape = Shape {
        dies: 64,
        blocks_per_die: 2 * blocks_per_plane,
        pages_per_block: 256,
        user_pages: (filled.capacity_sectors() * 512 / 8192) as u32,
        read_ns: 75_000,
        program_ns: 750_000,
        erase_ns: 3_800_000,
    };
    let mut prototype = Prototype::new(shape, span_pages);
    let sized = |rw, requests: u64, seed: u64| {
        let mut job = Job::new("bench", rw, 8192, 32);
        job.seed = seed;
        job.span_bytes = Some(span);
        job.io_bytes = Some(requests * 8192);
        job
    };
    let mut fill = Job::new("fill", Rw::Write, 131_072, 32);
    fill.span_bytes = Some(span);
    timed(&mut filled, fill, 8192.0)?;
    let mut rows = Vec::new();
    for (name, rw, requests) in [
        ("device 70 % filled: random 8 KB reads, QD 32", Rw::RandRead, 7_000_000),
        ("device 70 % filled: random 8 KB writes, QD 32", Rw::RandWrite, 600_000),
        ("  the same, going on into cleaning", Rw::RandWrite, 1_500_000),
    ] {
        let requests = (requests / scale).max(1000);
        let seed = |round| 10 * rows.len() as u64 + round;
        rows.push(in_turn(
            name,
            |round| timed(&mut filled, sized(rw, requests, seed(round)), 8192.0),
            |round| prototype_rate(&mut prototype, requests, span_pages, rw == Rw::RandRead, seed(round)),
        )?);
    }
    Ok(rows)
}

/// Random writes of a full X25-M.
fn steady_row(scale: u64) -> Result<Row, Box<dyn Error>> {
    let x25m = &[
        include_str!("../../../../models/flash/imft-50nm-mlc.toml"),
        include_str!("../../../../models/intel-x25-m-g1-80gb.toml"),
    ];
    let small: &[(&str, &str)] =
        if scale > 1 { &[("flash.blocks_per_plane", "64"), ("spare_ratio", "0.0734")] } else { &[] };
    let mut full = drive(x25m, small)?;
    let user_pages = (full.capacity_sectors() * 512 / 4096) as u32;
    let shape = Shape {
        dies: 40,
        blocks_per_die: if scale > 1 { 128 } else { 4096 },
        pages_per_block: 128,
        user_pages,
        read_ns: 50_000,
        program_ns: 900_000,
        erase_ns: 2_000_000,
    };
    let mut fill = Job::new("fill", Rw::Write, 131_072, 32);
    fill.span_bytes = Some(full.capacity_sectors() * 512);
    timed(&mut full, fill, 4096.0)?;
    // Each pass draws its own addresses: repeating the warm-up's would find them sorted by it.
    let random = |requests: u64, seed: u64| {
        let mut job = Job::new("bench", Rw::RandWrite, 4096, 32);
        job.seed = seed;
        job.io_bytes = Some(requests * 4096);
        job
    };
    let warm_up = (10_000_000 / scale).max(1000);
    timed(&mut full, random(warm_up, 1), 4096.0)?;
    let mut prototype = Prototype::new(shape, user_pages);
    prototype.run(warm_up, 32, user_pages, false, 1);
    let requests = (2_000_000 / scale).max(1000);
    in_turn(
        "X25-M full, random 4 KB writes in steady state",
        |round| timed(&mut full, random(requests, 2 + round), 4096.0),
        |round| prototype_rate(&mut prototype, requests, user_pages, false, 2 + round),
    )
}

#[allow(dead_code, reason = "the test that includes this file calls `measure` itself")]
fn main() -> Result<(), Box<dyn Error>> {
    let tiny = std::env::args().any(|argument| argument == "--tiny");
    measure(if tiny { 1000 } else { 1 })?;
    println!(
        "prototype/this: rate of a bare prototype without features over this engine's (programs where it cleans), \
         run in turn, median of {ROUNDS}"
    );
    Ok(())
}
