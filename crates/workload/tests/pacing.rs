//! Rates and pauses of a job against a drive whose answers are known.

use crate::loops::{SECTORS, go, job};
use crate::server::Server;
use drivelab_controller::Op;
use drivelab_workload::job::{RateProcess, Rw};
use drivelab_workload::{Job, Progress, run};

#[test]
fn rates_are_kept_exactly() {
    let mut drive = Server::new(SECTORS, 32, 32, 1000).remembering();
    let mut slow = job(Rw::RandRead, 4, 1_000_000);
    (slow.rate_iops, slow.runtime_ns) = (Some(3000), Some(1_000_000_000));
    let report = go(&mut drive, vec![slow.clone()]);
    assert_eq!(report.jobs[0].read.ios, 3000);
    assert_eq!(report.end_ns, 1_000_000_000);
    assert_eq!(report.jobs[0].runtime_ns, 1_000_000_000);
    for (index, (time_ns, _)) in drive.commands().iter().enumerate() {
        assert_eq!(*time_ns, index as u64 * 1_000_000 / 3);
    }
    (slow.rate_iops, slow.rate_bytes_per_s) = (None, Some(40_960_000));
    let report = go(&mut Server::new(SECTORS, 32, 32, 1000), vec![slow]);
    assert_eq!(report.jobs[0].read.ios, 10_000);
}

#[test]
fn thinking_pauses_between_groups() {
    let mut drive = Server::new(SECTORS, 32, 1, 100).remembering();
    let mut job = job(Rw::Read, 4, 9);
    (job.thinktime_ns, job.thinktime_blocks) = (1000, 3);
    go(&mut drive, vec![job]);
    let times: Vec<_> = drive.commands().iter().map(|(time_ns, _)| *time_ns).collect();
    assert_eq!(times, [0, 0, 0, 1300, 1300, 1300, 2600, 2600, 2600]);
}

#[test]
fn flushes_count_in_no_limit() {
    let at = |drive: Server| -> Vec<(u64, Op)> {
        drive.commands().iter().map(|(time_ns, command)| (*time_ns, command.op)).collect()
    };
    // fio: 1000 writes a second are 1000 writes, however many flushes come between.
    let mut job = job(Rw::Write, 1, 3);
    (job.rate_iops, job.flush_every_writes) = (Some(1000), 1);
    let mut drive = Server::new(SECTORS, 32, 1, 100).remembering();
    go(&mut drive, vec![job.clone()]);
    let expected = [0, 1_000_000, 2_000_000].map(|due| [(due, Op::Write), (due + 100, Op::Flush)]);
    // The job ends with its last write, as fio's.
    assert_eq!(at(drive), expected.concat()[..5]);
    // With places left a flush doesn't wait for its write: it comes when the write was issued.
    let mut deep = Server::new(SECTORS, 32, 4, 100).remembering();
    go(&mut deep, vec![Job { queue_depth: 4, ..job.clone() }]);
    let expected = [0, 1_000_000, 2_000_000].map(|due| [(due, Op::Write), (due, Op::Flush)]);
    assert_eq!(at(deep), expected.concat()[..5]);

    (job.rate_iops, job.thinktime_ns, job.thinktime_blocks) = (None, 1000, 2);
    let mut drive = Server::new(SECTORS, 32, 1, 100).remembering();
    go(&mut drive, vec![job]);
    // The pause begins with the second write's end; the flush behind it waits, too.
    let pause = [(0, Op::Write), (100, Op::Flush), (200, Op::Write), (1300, Op::Flush), (1400, Op::Write)];
    assert_eq!(at(drive), pause);
}

#[test]
fn a_time_that_never_comes_is_told_and_many_requests_at_one_instant_are_none() {
    let ideal = || Server::new(SECTORS, 32, 32, 0);
    let mut job = job(Rw::Read, 32, 1 << 26);
    let report = go(&mut ideal(), vec![job.clone()]);
    assert_eq!((report.jobs[0].read.ios, report.end_ns), (1 << 26, 0), "ended by its bytes");
    for (ramp_ns, time_based) in [(1_000_000_000, false), (0, true)] {
        (job.ramp_ns, job.time_based, job.runtime_ns) =
            (ramp_ns, time_based, time_based.then_some(1_000_000_000));
        let error = run(&mut ideal(), &[job.clone().into()], &Progress::new()).unwrap_err();
        assert!(error.to_string().starts_with("job 'test': lasts for a time"), "{error}");
    }
}

#[test]
fn requests_by_chance_wait_as_long_as_the_formula_of_one_server_says() {
    // Pollaczek and Khinchine: with a load r of one server that takes the time s, waiting takes r s / (2 (1 - r)).
    for (load, seed) in [(0.3, 1), (0.7, 2), (0.9, 3)] {
        let mut job = job(Rw::RandRead, 30_000, 1_000_000);
        (job.rate_iops, job.rate_process) = (Some((load * 1e6) as u64), RateProcess::Poisson);
        job.seed = seed;
        let report = go(&mut Server::new(SECTORS, 30_000, 1, 1000), vec![job.clone()]);
        let latency = report.jobs[0].read.latency_ns.as_ref().unwrap();
        let expected_ns = 1000.0 + load * 1000.0 / (2.0 * (1.0 - load));
        assert!((latency.mean / expected_ns - 1.0).abs() < 0.03, "{load}: {} ns", latency.mean);
        let iops = report.jobs[0].read.iops.unwrap();
        assert!((iops / (load * 1e6) - 1.0).abs() < 0.005, "{load}: {iops}");
        let again = go(&mut Server::new(SECTORS, 30_000, 1, 1000), vec![job]);
        assert_eq!(again.jobs[0].read.latency_ns.as_ref().unwrap().mean.to_bits(), latency.mean.to_bits());
    }
    let mut alone = job(Rw::RandRead, 1, 1);
    alone.rate_process = RateProcess::Poisson;
    let error = run(&mut Server::new(SECTORS, 32, 1, 1000), &[alone.into()], &Progress::new()).unwrap_err();
    assert!(error.to_string().contains("rate_process"), "{error}");
}

#[test]
fn a_number_of_requests_ends_a_job_and_flushes_are_none() {
    // Two writes, their flush, and the write whose end is the ramp's come before what is measured.
    for (ramp_ns, expected) in [(0, 5), (250, 5 + 2)] {
        let mut job = job(Rw::Write, 1, 1_000_000);
        (job.io_requests, job.flush_every_writes, job.ramp_ns) = (Some(5), 2, ramp_ns);
        let mut drive = Server::new(SECTORS, 32, 1, 100).remembering();
        let report = go(&mut drive, vec![job]);
        let writes = drive.commands().iter().filter(|(_, command)| command.op == Op::Write).count();
        assert_eq!(writes, expected, "ramp of {ramp_ns} ns");
        assert_eq!(report.jobs[0].write.ios, 5, "ramp of {ramp_ns} ns");
    }
}

#[test]
fn a_flush_at_the_end_comes_when_all_else_is_done_and_counts_as_time() {
    let mut job = job(Rw::Write, 4, 10);
    job.flush_at_end = true;
    let mut drive = Server::new(SECTORS, 32, 2, 100).remembering();
    let report = go(&mut drive, vec![job.clone()]);
    let (at_ns, last) = *drive.commands().last().unwrap();
    assert_eq!((at_ns, last.op, drive.commands().len()), (500, Op::Flush, 11));
    assert_eq!((report.end_ns, report.jobs[0].runtime_ns), (600, 600));
    assert_eq!(report.jobs[0].flush.count, 1);
    // However a job ends: with its time, between two requests of a rate, or as a number.
    (job.time_based, job.runtime_ns, job.rate_iops) = (true, Some(1_000_000), Some(3000));
    let mut paced = Server::new(SECTORS, 32, 2, 100).remembering();
    go(&mut paced, vec![job.clone()]);
    let ops: Vec<_> = paced.commands().iter().map(|(_, command)| command.op).collect();
    assert_eq!(ops, [Op::Write, Op::Write, Op::Write, Op::Flush]);
    assert_eq!(paced.commands().last().unwrap().0, 1_000_000, "when its time is over, not before");
    // The last of several writes and flushes is a flush already.
    (job.flush_every_writes, job.runtime_ns) = (1, Some(500_000));
    let mut flushed = Server::new(SECTORS, 32, 2, 100).remembering();
    go(&mut flushed, vec![job.clone()]);
    let ops: Vec<_> = flushed.commands().iter().map(|(_, command)| command.op).collect();
    assert_eq!(ops, [Op::Write, Op::Flush, Op::Write, Op::Flush]);
    job.flush_every_writes = 0;
    (job.rate_iops, job.runtime_ns) = (None, Some(1000));
    let mut timed = Server::new(SECTORS, 32, 2, 100).remembering();
    go(&mut timed, vec![job]);
    let flushes = timed.commands().iter().filter(|(_, command)| command.op == Op::Flush).count();
    assert_eq!((flushes, timed.commands().last().unwrap().1.op), (1, Op::Flush));
}
