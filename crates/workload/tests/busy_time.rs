//! Disk-busy time against the union of the requests' times, computed the plain way.

use crate::server::Server;
use drivelab_controller::Op;
use drivelab_workload::job::{ReplayPacing, Rw, Source};
use drivelab_workload::report::Report;
use drivelab_workload::{Job, Progress, Requests, Task, run};
use proptest::prelude::*;

const SERVICE_NS: u64 = 200;

/// Replays reads and writes of one sector in open loop on one drive with so many servers.
fn replayed(rows: &[(u64, bool)], queue_depth: u32, servers: usize) -> (Server, Report) {
    let arrival_ns: Vec<u64> = rows.iter().map(|row| row.0).collect();
    let op: Vec<u8> = rows.iter().map(|row| u8::from(row.1)).collect();
    let (lba, sector_count) = (vec![8; rows.len()], vec![1; rows.len()]);
    let requests = Requests {
        op: &op,
        lba: &lba,
        sector_count: &sector_count,
        arrival_ns: Some(&arrival_ns),
        program: None,
    };
    let mut job = Job::new("replay", Rw::Read, 4096, 1);
    job.source = Source::Requests { pacing: ReplayPacing::Arrival, idle_cap_ns: None };
    let mut drive = Server::new(1 << 20, queue_depth, servers, SERVICE_NS).remembering();
    let report = run(&mut drive, &[Task { job, requests: Some(requests) }], &Progress::new()).unwrap();
    (drive, report)
}

/// From arrival to completion, by the drive's history; requests are submitted in order of arrival.
fn outstanding(drive: &Server, rows: &[(u64, bool)], servers: usize) -> Vec<(u64, u64, bool)> {
    let mut free_ns = vec![0; servers];
    let mut times = Vec::new();
    for (&(submitted_ns, command), &(arrival_ns, write)) in drive.commands().iter().zip(rows) {
        assert_eq!(command.op == Op::Write, write);
        free_ns.sort_unstable();
        free_ns[0] = submitted_ns.max(free_ns[0]) + SERVICE_NS;
        times.push((arrival_ns, free_ns[0], write));
    }
    times
}

fn union_ns(times: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    let (mut reached_ns, mut sum_ns) = (0, 0);
    for (start_ns, end_ns) in times {
        sum_ns += end_ns.saturating_sub(start_ns.max(reached_ns));
        reached_ns = reached_ns.max(end_ns);
    }
    sum_ns
}

#[test]
fn idle_gaps_do_not_count() {
    let (_, report) = replayed(&[(0, false), (100, true), (150, false), (1_000_000, true)], 32, 1);
    let job = &report.jobs[0];
    assert_eq!((report.busy_ns, job.busy_ns, job.runtime_ns), (800, 800, 1_000_200));
    // Reads 0 to 200 and 150 to 600, writes 100 to 400 and the last.
    assert_eq!((job.read.busy_ns, job.write.busy_ns, job.trim.busy_ns), (600, 500, 0));
}

#[test]
fn a_ramp_and_a_closed_loop() {
    let mut job = Job::new("ramp", Rw::RandRead, 4096, 2);
    (job.ramp_ns, job.runtime_ns, job.time_based) = (1050, Some(10_000), true);
    let mut drive = Server::new(1 << 20, 32, 1, 100);
    let report = run(&mut drive, &[Task::from(job)], &Progress::new()).unwrap();
    // Busy from the ramp's end to the last completion.
    assert_eq!(report.busy_ns, report.end_ns - 1050);
    assert_eq!(report.jobs[0].read.busy_ns, report.busy_ns);
}

proptest! {
    #[test]
    fn busy_time_is_the_union(
        gaps in proptest::collection::vec((0u64..400, any::<bool>()), 1..200),
        queue_depth in 1u32..6,
        servers in 1usize..4,
    ) {
        let mut now_ns = 0;
        let rows: Vec<_> = gaps.iter().map(|&(gap_ns, write)| { now_ns += gap_ns; (now_ns, write) }).collect();
        let (drive, report) = replayed(&rows, queue_depth, servers);
        let times = outstanding(&drive, &rows, servers);
        let of = |wanted: &dyn Fn(bool) -> bool| {
            union_ns(times.iter().filter(|time| wanted(time.2)).map(|time| (time.0, time.1)))
        };
        let job = &report.jobs[0];
        prop_assert_eq!(job.busy_ns, of(&|_| true));
        prop_assert_eq!(report.busy_ns, job.busy_ns);
        prop_assert_eq!(job.write.busy_ns, of(&|write| write));
        prop_assert_eq!(job.read.busy_ns, of(&|write| !write));
    }
}
