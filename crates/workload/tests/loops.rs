//! The host against a drive whose answers are known: timing, completeness, Little's law (REFERENCES.md, \[10\]).

use crate::server::Server;
use drivelab_controller::{Command, Content, Device, Op};
use drivelab_workload::job::{BlockSize, ReplayPacing, Rw, Source};
use drivelab_workload::report::{DirectionReport, Report};
use drivelab_workload::{DataPattern, Job, Program, Progress, Requests, Task, WorkloadError, run};
use proptest::prelude::*;

pub const SECTORS: u64 = 1 << 21;

pub fn go(drive: &mut Server, jobs: Vec<Job>) -> Report {
    let tasks: Vec<_> = jobs.into_iter().map(Task::from).collect();
    run(drive, &tasks, &Progress::new()).unwrap()
}

pub fn job(rw: Rw, queue_depth: u32, ios: u64) -> Job {
    let mut job = Job::new("test", rw, 4096, queue_depth);
    job.io_bytes = Some(ios * 4096);
    job
}

fn mean_ns(direction: &DirectionReport) -> f64 {
    direction.latency_ns.as_ref().unwrap().mean
}

#[test]
fn a_closed_loop_keeps_its_queue_depth_outstanding() {
    // 4 servers, 8 outstanding: throughput 4 per service time, latency two service times.
    let mut drive = Server::new(SECTORS, 32, 4, 1000);
    let report = go(&mut drive, vec![job(Rw::RandRead, 8, 100_000)]);
    let read = &report.jobs[0].read;
    assert_eq!((read.ios, read.bytes), (100_000, 409_600_000));
    assert_eq!(read.runtime_ns, 25_000_000);
    assert_eq!(read.iops, Some(4e6));
    assert!((mean_ns(read) - 2000.0).abs() < 1.0);
    let split = read.split_mean_ns.unwrap();
    assert!((split.flash_ns - 1000.0).abs() < 1e-9);
    assert!((split.flash_ns + split.queueing_ns - mean_ns(read)).abs() < 1e-6);
    assert_eq!(report.jobs[0].write.latency_ns.as_ref().map(|latency| latency.count), None);
    assert_eq!(report.jobs[0].write.iops, None);
}

#[test]
fn requests_beyond_the_drives_queue_wait_in_the_host() {
    // The drive takes 2 of 10; the other 8 wait, and their waiting counts.
    let mut drive = Server::new(SECTORS, 2, 1, 100);
    let report = go(&mut drive, vec![job(Rw::RandWrite, 10, 10_000)]);
    let write = &report.jobs[0].write;
    assert!((mean_ns(write) - 1000.0).abs() < 1.0, "{}", mean_ns(write));
    assert!((write.split_mean_ns.unwrap().queueing_ns - 900.0).abs() < 1.0);
    assert_eq!(report.end_ns, 1_000_000);
}

#[test]
fn the_ramp_is_not_measured() {
    let mut drive = Server::new(SECTORS, 32, 1, 1000);
    let mut job = job(Rw::RandWrite, 1, 1);
    (job.ramp_ns, job.runtime_ns, job.time_based) = (10_000_000, Some(50_000_000), true);
    let report = go(&mut drive, vec![job.clone()]);
    assert_eq!((report.measure_start_ns, report.end_ns), (10_000_000, 60_000_000));
    // What completes as the ramp ends belongs to the ramp.
    assert_eq!(report.jobs[0].write.ios, 50_000);
    assert_eq!(report.jobs[0].write.iops, Some(1e6));
    assert_eq!(report.counters_before["commands"], 10_000);
    assert_eq!(report.counters_after["commands"], 60_000);
    // The limit of bytes counts from the end of the ramp, too.
    (job.time_based, job.runtime_ns, job.io_bytes) = (false, None, Some(4096 * 100));
    let report = go(&mut drive, vec![job]);
    assert_eq!(report.counters_after["commands"], 60_000 + 10_000 + 100);
}

#[test]
fn throughput_over_time_adds_up() {
    let mut drive = Server::new(SECTORS, 32, 1, 1000);
    let mut job = job(Rw::RandWrite, 2, 10_000);
    job.series_interval_ns = 1_000_000;
    let report = go(&mut drive, vec![job]);
    let series = &report.jobs[0].write.series;
    assert_eq!(series.ios.iter().sum::<u64>(), 10_000);
    assert_eq!(series.bytes.iter().sum::<u64>(), 40_960_000);
    assert!(series.ios[1..10].iter().all(|&ios| ios == 1000));
    assert_eq!(series.latency_mean_ns[5], Some(2000.0));
}

#[test]
fn jobs_start_when_they_should_and_share_the_drive() {
    let mut drive = Server::new(SECTORS, 32, 1, 1000).remembering();
    let first = job(Rw::RandRead, 1, 100);
    let mut second = job(Rw::RandWrite, 1, 100);
    second.start_ns = 50_500;
    let report = go(&mut drive, vec![first, second]);
    let (reads, writes) = (&report.jobs[0].read, &report.jobs[1].write);
    assert_eq!((reads.ios, writes.ios), (100, 100));
    let first_write = drive.commands().iter().find(|(_, command)| command.op == Op::Write).unwrap();
    assert_eq!(first_write.0, 50_500);
    assert_eq!(report.end_ns, 200_000);
}

fn replay(pacing: ReplayPacing, idle_cap_ns: Option<u64>) -> Job {
    let mut job = Job::new("replay", Rw::Read, 4096, 1);
    job.source = Source::Requests { pacing, idle_cap_ns };
    job
}

/// Runs four reads of one sector; returns their submission times and the report.
fn replayed(job: Job, queue_depth: u32) -> (Vec<u64>, Report) {
    let arrival_ns = [0, 100, 150, 1_000_000];
    let requests = Requests {
        op: &[0, 0, 0, 0],
        lba: &[10, 20, 30, 40],
        sector_count: &[1, 1, 1, 1],
        arrival_ns: Some(&arrival_ns),
        program: None,
    };
    let mut drive = Server::new(SECTORS, queue_depth, 1, 200).remembering();
    drive.advance(5000, &mut Vec::new());
    let task = Task { job, requests: Some(requests) };
    let report = run(&mut drive, &[task], &Progress::new()).unwrap();
    (drive.commands().iter().map(|(time_ns, _)| time_ns - 5000).collect(), report)
}

#[test]
fn an_open_loop_issues_at_the_recorded_times() {
    let (times, report) = replayed(replay(ReplayPacing::Arrival, None), 32);
    assert_eq!(times, [0, 100, 150, 1_000_000]);
    let read = &report.jobs[0].read;
    // 200, 300, 450, 200
    assert!((mean_ns(read) - 287.5).abs() < 1e-9);
    assert_eq!(read.lateness_ns.as_ref().unwrap().max, 0);
}

#[test]
fn an_open_loop_counts_from_the_arrival_when_the_drive_is_full() {
    let (times, report) = replayed(replay(ReplayPacing::Arrival, None), 1);
    assert_eq!(times, [0, 200, 400, 1_000_000]);
    let read = &report.jobs[0].read;
    assert!((mean_ns(read) - 287.5).abs() < 1e-9);
    assert!((read.split_mean_ns.unwrap().queueing_ns - 87.5).abs() < 1e-9);
    assert_eq!(read.lateness_ns.as_ref().unwrap().max, 250);
}

#[test]
fn idle_time_can_be_capped_or_left_out() {
    let (times, _) = replayed(replay(ReplayPacing::Capped, Some(1000)), 32);
    assert_eq!(times, [0, 100, 150, 1150]);
    let (times, report) = replayed(replay(ReplayPacing::Closed, None), 32);
    assert_eq!(times, [0, 200, 400, 600]);
    assert!(report.jobs[0].read.lateness_ns.is_none());
}

/// Runs a read, two reads at once, a write in the background, a read; each takes 200 ns. Returns when each was
/// submitted, and the report.
fn programmed(queue_depth: u32, think_ns: &[u64; 5]) -> (Vec<u64>, Report) {
    let program = Program { think_ns, background: &[0, 0, 0, 1, 0] };
    let requests = Requests {
        op: &[0, 0, 0, 1, 0],
        lba: &[10, 20, 30, 40, 50],
        sector_count: &[1; 5],
        arrival_ns: None,
        program: Some(program),
    };
    let mut drive = Server::new(SECTORS, 32, 32, 200).remembering();
    drive.advance(5000, &mut Vec::new());
    let mut job = replay(ReplayPacing::Think, None);
    job.queue_depth = queue_depth;
    let report = run(&mut drive, &[Task { job, requests: Some(requests) }], &Progress::new()).unwrap();
    (drive.commands().iter().map(|(time_ns, _)| time_ns - 5000).collect(), report)
}

#[test]
fn a_program_waits_for_its_reads_then_computes_and_not_for_its_writes() {
    // 1000 | read to 1200 | + 50: two reads to 1450 | + 30: a write to 1680 | 10 after it was handed over: a read
    let (times, report) = programmed(8, &[1000, 50, 0, 30, 10]);
    assert_eq!(times, [1000, 1250, 1250, 1480, 1490]);
    assert_eq!(report.jobs[0].waited_ns, Some(1690));
    // The last read goes out with the write: the program has what it waits for before the write is done.
    let (times, report) = programmed(8, &[1000, 50, 0, 30, 0]);
    assert_eq!(times, [1000, 1250, 1250, 1480, 1480]);
    assert_eq!(report.jobs[0].runtime_ns, 1680);
}

#[test]
fn a_program_with_one_place_in_the_queue_does_one_thing_after_another() {
    let (times, report) = programmed(1, &[1000, 50, 0, 30, 10]);
    // The write holds the only place until 1880.
    assert_eq!(times, [1000, 1250, 1450, 1680, 1880]);
    assert_eq!(report.jobs[0].waited_ns, Some(2080));
}

#[test]
fn what_nobody_waits_for_is_not_in_the_time_that_the_program_waited() {
    let program = Program { think_ns: &[0, 1], background: &[0, 1] };
    let requests = Requests {
        op: &[0, 1],
        lba: &[0, 8],
        sector_count: &[8, 8],
        arrival_ns: None,
        program: Some(program),
    };
    let mut drive = Server::new(SECTORS, 1, 1, 200);
    let task = Task { job: replay(ReplayPacing::Think, None), requests: Some(requests) };
    let report = run(&mut drive, &[task], &Progress::new()).unwrap();
    assert_eq!((report.jobs[0].waited_ns, report.jobs[0].runtime_ns), (Some(200), 401));
}

#[test]
fn wrong_requests_are_refused_before_anything_happens() {
    let requests =
        Requests { op: &[0, 7], lba: &[0, SECTORS], sector_count: &[1, 1], arrival_ns: None, program: None };
    let refused = |requests: Requests<'_>, pacing| {
        let task = Task { job: replay(pacing, None), requests: Some(requests) };
        let mut drive = Server::new(SECTORS, 1, 1, 1).remembering();
        let error = run(&mut drive, &[task], &Progress::new()).unwrap_err();
        assert!(drive.commands().is_empty());
        error.to_string()
    };
    assert!(refused(requests, ReplayPacing::Arrival).contains("arrival_ns = none"));
    assert!(refused(requests, ReplayPacing::Closed).contains("op[1] = 7: must be 0 (read)"));
    let beyond = Requests { op: &[0, 1], ..requests };
    let message = refused(beyond, ReplayPacing::Closed);
    assert!(message.contains("lba[1] = 2097152") && message.contains("modulo"), "{message}");
    let empty = Requests { sector_count: &[1, 0], ..beyond };
    assert!(refused(empty, ReplayPacing::Closed).contains("sector_count[1] = 0"));
    let backwards = Requests { lba: &[0, 0], arrival_ns: Some(&[5, 4]), ..beyond };
    assert!(refused(backwards, ReplayPacing::Arrival).contains("arrival_ns[1] = 4"));
    let legal = Requests { lba: &[0, 0], ..beyond };
    assert!(refused(legal, ReplayPacing::Think).contains("think_ns = none: must be given with pacing think"));
    let short = Requests { program: Some(Program { think_ns: &[1, 2], background: &[0] }), ..legal };
    assert!(refused(short, ReplayPacing::Think).contains("length of background = 1"));
    let short = Requests { lba: &[0], ..beyond };
    assert!(refused(short, ReplayPacing::Closed).contains("length of lba = 1"));
}

#[test]
fn a_cancelled_run_stops_and_leaves_the_drive_usable() {
    let mut drive = Server::new(SECTORS, 32, 1, 1000);
    let progress = Progress::new();
    progress.cancel();
    let tasks = [Task::from(job(Rw::RandRead, 8, u64::MAX / 4096))];
    assert_eq!(run(&mut drive, &tasks, &progress).unwrap_err(), WorkloadError::Cancelled);
    let watched = Progress::new();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| run(&mut drive, &tasks, &watched));
        while watched.fraction() == 0.0 {
            std::thread::yield_now();
        }
        watched.cancel();
        assert_eq!(worker.join().unwrap().unwrap_err(), WorkloadError::Cancelled);
    });
    assert_eq!(go(&mut drive, vec![job(Rw::RandRead, 8, 100)]).jobs[0].read.ios, 100);
}

#[test]
fn reports_are_strict_json_with_all_keys() {
    let mut drive = Server::new(SECTORS, 32, 1, 1000);
    let mut job = job(Rw::RandWrite, 1, 10);
    job.flush_every_writes = 5;
    let text = serde_json::to_string(&go(&mut drive, vec![job])).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let write = &value["jobs"][0]["write"];
    assert_eq!(write["latency_ns"]["percentiles"]["99.990000"], 1000);
    assert_eq!(value["jobs"][0]["flush"]["count"], 1);
    assert_eq!(value["jobs"][0]["read"]["ios"], 0);
    assert!(value["jobs"][0]["read"]["iops"].is_null());
    assert!(write["lateness_ns"].is_null());
}

proptest! {
    #[test]
    fn every_request_completes_once_and_littles_law_holds(
        depths in proptest::collection::vec((1u32..20, 100u64..2000, 0u64..3), 1..4),
        device_depth in 1u32..40,
        servers in 1usize..8,
        seed: u64,
    ) {
        let mut drive = Server::new(SECTORS, device_depth, servers, 777).remembering();
        let jobs: Vec<Job> = depths.iter().map(|&(depth, ios, flush_every_writes)| {
            let mut job = job(Rw::RandRw, depth, ios);
            job.block_sizes.push(BlockSize { bytes: 512, weight: 2.0 });
            (job.seed, job.flush_every_writes) = (seed, flush_every_writes);
            job
        }).collect();
        let report = go(&mut drive, jobs.clone());
        let sum = |part: fn(&DirectionReport) -> u64| -> u64 {
            report.jobs.iter().map(|job| part(&job.read) + part(&job.write)).sum()
        };
        let submitted = drive.commands();
        let flushes: u64 = report.jobs.iter().map(|job| job.flush.count).sum();
        prop_assert_eq!(submitted.len() as u64, sum(|direction| direction.ios) + flushes);
        let bytes: u64 = submitted.iter().map(|(_, command)| u64::from(command.sector_count) * 512).sum();
        prop_assert_eq!(bytes, sum(|direction| direction.bytes));
        for (job, found) in jobs.iter().zip(&report.jobs) {
            // Mean number outstanding = sum of latencies / time; less only while the last ones drain.
            let total: f64 = [&found.read.latency_ns, &found.write.latency_ns, &found.flush.latency_ns]
                .into_iter().flatten().map(|latency| latency.mean * latency.count as f64).sum();
            let outstanding = total / found.runtime_ns as f64;
            let depth = f64::from(job.queue_depth);
            let count = (found.read.ios + found.write.ios + found.flush.count) as f64;
            prop_assert!(outstanding <= depth + 1e-6, "{} > {}", outstanding, depth);
            prop_assert!(outstanding >= depth * (1.0 - 2.0 * depth / count) - 1e-6, "{} < {}", outstanding, depth);
        }
        let again = go(&mut Server::new(SECTORS, device_depth, servers, 777), jobs);
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&report).unwrap());
    }
}

const COPIES: DataPattern =
    DataPattern::Compressible { compressed_percent: 50.0, duplicate_percent: 40.0, duplicate_pool: 16 };

/// The contents of a drive's writes, in order.
fn contents(drive: &Server) -> Vec<Content> {
    let writes = drive.commands().iter().filter(|(_, command)| command.op == Op::Write);
    writes.map(|(_, command)| command.content).collect()
}

#[test]
fn what_is_written_depends_on_the_job_and_not_on_the_drives_speed() {
    let mut job = job(Rw::RandRw, 8, 1000);
    job.data = COPIES;
    let [mut quick, mut slow] = [(32, 1), (2, 50_000)]
        .map(|(depth, service_ns)| Server::new(SECTORS, depth, 4, service_ns).remembering());
    go(&mut quick, vec![job.clone()]);
    go(&mut slow, vec![job]);
    let found = contents(&quick);
    assert_eq!(found, contents(&slow));
    assert!(found.iter().all(|content| content.compressed_permille == 500));
    let reads = quick.commands().iter().filter(|(_, command)| command.op == Op::Read);
    assert!(reads.into_iter().all(|(_, command)| command.content == Content::RANDOM));
    let copies = found.iter().filter(|content| content.identity(0).is_some()).count();
    assert!((copies as f64 / found.len() as f64 - 0.4).abs() < 0.07, "{copies} of {}", found.len());
}

#[test]
fn a_pattern_changes_nothing_but_the_content_of_writes() {
    let patterns = [DataPattern::Random {}, DataPattern::Zeros {}, DataPattern::Repeating {}, COPIES];
    let runs = patterns.map(|data| {
        let mut drive = Server::new(SECTORS, 8, 2, 700).remembering();
        let mut job = job(Rw::RandRw, 4, 500);
        (job.data, job.random_percent) = (data, 60.0);
        job.block_sizes.push(BlockSize { bytes: 8192, weight: 0.5 });
        let report = go(&mut drive, vec![job]);
        assert_eq!(report.jobs[0].data, data);
        let commands: Vec<_> = drive
            .commands()
            .iter()
            .map(|&(time_ns, command)| (time_ns, Command { content: Content::RANDOM, ..command }))
            .collect();
        (commands, contents(&drive))
    });
    for (commands, contents) in &runs[1..] {
        assert_eq!(*commands, runs[0].0);
        assert_ne!(*contents, runs[0].1);
    }
}

#[test]
fn recorded_writes_are_given_a_content_too() {
    let requests =
        Requests { op: &[1, 0, 1], lba: &[0, 8, 16], sector_count: &[8; 3], arrival_ns: None, program: None };
    let mut job = Job::new("trace", Rw::Read, 4096, 1);
    job.source = Source::Requests { pacing: ReplayPacing::Closed, idle_cap_ns: None };
    job.data = DataPattern::Zeros {};
    let mut drive = Server::new(SECTORS, 8, 1, 100).remembering();
    run(&mut drive, &[Task { job, requests: Some(requests) }], &Progress::new()).unwrap();
    assert_eq!(contents(&drive), [Content::ZEROS; 2]);
}
