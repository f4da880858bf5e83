//! What the host costs per request: a closed loop over a drive that does almost nothing.

#![allow(clippy::disallowed_methods, reason = "it measures the host's own speed")]

use std::time::Instant;

use drivelab_workload::job::{BlockSize, Rw};
use drivelab_workload::{Job, Progress, Task, run};

#[path = "../tests/server/mod.rs"]
mod server;

/// Requests of each measurement.
const REQUESTS: u64 = 20_000_000;

fn main() -> Result<(), drivelab_workload::WorkloadError> {
    let mut jobs = vec![];
    for (name, rw) in
        [("random write", Rw::RandWrite), ("random mix", Rw::RandRw), ("sequential read", Rw::Read)]
    {
        jobs.push(Job::new(name, rw, 4096, 32));
    }
    let mut map = Job::new("random map", Rw::RandWrite, 4096, 32);
    map.random_map = true;
    let mut zipf = Job::new("zipf", Rw::RandRead, 4096, 32);
    zipf.distribution = drivelab_workload::distribution::DistributionSpec::Zipf { theta: 1.2, center: None };
    let mut sizes = Job::new("two sizes", Rw::RandWrite, 4096, 32);
    sizes.block_sizes.push(BlockSize { bytes: 8192, weight: 1.0 });
    let mut rate = Job::new("rate", Rw::RandWrite, 4096, 32);
    rate.rate_iops = Some(5_000_000);
    jobs.extend([map, zipf, sizes, rate]);
    for mut job in jobs {
        job.io_bytes = Some(REQUESTS * 4096);
        let mut drive = server::Server::new(160_000_000, 32, 32, 3000);
        let name = job.name.clone();
        let started = Instant::now();
        let report = run(&mut drive, &[Task::from(job)], &Progress::new())?;
        let done = report.jobs[0].read.ios + report.jobs[0].write.ios;
        println!("{name}: {:.1} ns per request", started.elapsed().as_nanos() as f64 / done as f64);
    }
    Ok(())
}
