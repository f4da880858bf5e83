//! The engine's speed: requests simulated per second of wall-clock time, measurement included.
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

/// Rates of a bare prototype (flat maps, busy-until times, no features), M/s: what the machine allows.
const PROTOTYPE_READS: f64 = 16.0;
const PROTOTYPE_WRITES: f64 = 11.0;
const PROTOTYPE_PROGRAMS: f64 = 11.5;

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

fn print(name: &str, rate: &Rate, prototype: Option<f64>) {
    let beside = prototype.map_or(String::new(), |rate_m| {
        let own = if rate.write_amplification > 1.5 { rate.programs_per_s } else { rate.requests_per_s };
        format!("{:>8.2}", rate_m * 1e6 / own)
    });
    println!(
        "{name:<52} {:>8.2} {:>8.2} {:>6.2} {beside}",
        rate.requests_per_s / 1e6,
        rate.programs_per_s / 1e6,
        rate.write_amplification
    );
}

/// Runs everything; `scale` divides the number of requests.
///
/// # Errors
/// A model or a job that the engine refuses: a defect of this file.
pub fn measure(scale: u64) -> Result<Vec<Rate>, Box<dyn Error>> {
    let device = &[include_str!("bench-device.toml")];
    let x25m = &[
        include_str!("../../../models/flash/imft-50nm-mlc.toml"),
        include_str!("../../../models/intel-x25-m-g1-80gb.toml"),
    ];
    let small: &[(&str, &str)] = if scale > 1 { &[("flash.blocks_per_plane", "64")] } else { &[] };
    let mut rates = Vec::new();
    println!("{:<52} {:>8} {:>8} {:>6} {:>8}", "", "Mreq/s", "Mprog/s", "WA", "prototype/this");

    let mut filled = drive(device, small)?;
    let span = filled.capacity_sectors() * 512 / 10 * 7 / 8192 * 8192;
    let sized = |rw, requests: u64, seed: u64| {
        let mut job = Job::new("bench", rw, 8192, 32);
        job.seed = seed;
        job.span_bytes = Some(span);
        job.io_bytes = Some((requests / scale).max(1000) * 8192);
        job
    };
    let mut fill = Job::new("fill", Rw::Write, 131_072, 32);
    fill.span_bytes = Some(span);
    timed(&mut filled, fill, 8192.0)?;
    rates.push(timed(&mut filled, sized(Rw::RandRead, 20_000_000, 1), 8192.0)?);
    print("device 70 % filled: random 8 KB reads, QD 32", &rates[0], Some(PROTOTYPE_READS));
    rates.push(timed(&mut filled, sized(Rw::RandWrite, 2_000_000, 2), 8192.0)?);
    print("device 70 % filled: random 8 KB writes, QD 32", &rates[1], Some(PROTOTYPE_WRITES));
    rates.push(timed(&mut filled, sized(Rw::RandWrite, 4_000_000, 3), 8192.0)?);
    print("  the same, going on into cleaning", &rates[2], None);
    drop(filled);

    let small_x25m: &[(&str, &str)] =
        if scale > 1 { &[("flash.blocks_per_plane", "64"), ("spare_ratio", "0.0734")] } else { &[] };
    let mut full = drive(x25m, small_x25m)?;
    let mut fill = Job::new("fill", Rw::Write, 131_072, 32);
    fill.span_bytes = Some(full.capacity_sectors() * 512);
    timed(&mut full, fill, 4096.0)?;
    // Each pass draws its own addresses: repeating the warm-up's would find them sorted by it.
    let random = |requests: u64, seed: u64| {
        let mut job = Job::new("bench", Rw::RandWrite, 4096, 32);
        job.seed = seed;
        job.io_bytes = Some((requests / scale).max(1000) * 4096);
        job
    };
    timed(&mut full, random(10_000_000, 1), 4096.0)?;
    rates.push(timed(&mut full, random(4_000_000, 2), 4096.0)?);
    print("X25-M full, random 4 KB writes in steady state", &rates[3], Some(PROTOTYPE_PROGRAMS));
    Ok(rates)
}

#[allow(dead_code, reason = "the test that includes this file calls `measure` itself")]
fn main() -> Result<(), Box<dyn Error>> {
    let tiny = std::env::args().any(|argument| argument == "--tiny");
    measure(if tiny { 1000 } else { 1 })?;
    println!(
        "prototype/this: rate of a bare prototype without features over this engine's (programs where it cleans)"
    );
    Ok(())
}
