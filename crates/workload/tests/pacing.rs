//! Rates and pauses of a job against a drive whose answers are known.

use crate::loops::{SECTORS, go, job};
use crate::server::Server;
use drivelab_controller::Op;
use drivelab_workload::job::Rw;
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
