//! A run in pieces is the run: where it stops in between changes nothing, and its log is what its report counts.

use std::sync::Arc;

use drivelab_controller::{Device, SECTOR_BYTES};
use drivelab_drive::{Drive, Layer, Model};
use drivelab_workload::job::Rw;
use drivelab_workload::report::{DirectionReport, Report};
use drivelab_workload::{Job, Progress, RequestLog, Run, Task, run};
use proptest::prelude::*;

fn drive(part: &str, text: &str, small: &[(&str, &str)]) -> Drive {
    let small: Vec<_> = small.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let layers = [part, text].map(|text| Layer { text, origin: "small" });
    Drive::new(Arc::new(Model::parse_layers(&layers, &small).unwrap()), 1).unwrap()
}

/// One drive that cleans, one that merges, one that compresses; small.
fn drives() -> [Drive; 3] {
    let flash = [("flash.blocks_per_plane", "8"), ("user_capacity_bytes", "209715200")];
    [
        drive(
            include_str!("../../../models/flash/imft-50nm-mlc.toml"),
            include_str!("../../../models/intel-x25-m-g1-80gb.toml"),
            &flash,
        ),
        drive(
            include_str!("../../../models/flash/samsung-51nm-mlc.toml"),
            include_str!("../../../models/ocz-summit-128gb.toml"),
            &[("scale_divisor", "200")],
        ),
        drive(
            include_str!("../../../models/flash/imft-34nm-mlc.toml"),
            include_str!("../../../models/corsair-force-f100-100gb.toml"),
            &[("scale_divisor", "256")],
        ),
    ]
}

/// Reads and writes beside a job that pauses, starts late, flushes, has a ramp and a time limit.
fn jobs(seed: u64) -> Vec<Task<'static>> {
    let mut mixed = Job::new("mixed", Rw::RandRw, 4096, 8);
    (mixed.io_bytes, mixed.seed, mixed.flush_every_writes) = (Some(4 << 20), seed, 50);
    let mut paced = Job::new("paced", Rw::RandWrite, 8192, 2);
    (paced.thinktime_ns, paced.thinktime_blocks, paced.seed) = (700_000, 3, seed);
    (paced.start_ns, paced.ramp_ns, paced.runtime_ns) = (2_000_000, 5_000_000, Some(90_000_000));
    paced.time_based = true;
    [mixed, paced].map(Task::from).into()
}

fn in_pieces(drive: &mut Drive, tasks: &[Task<'static>], every_ns: u64) -> (Report, RequestLog) {
    let mut going = Run::begin(drive, tasks).unwrap();
    going.keep_log();
    let mut until_ns = drive.now_ns();
    loop {
        until_ns += every_ns;
        let ended = going.advance(drive, until_ns, &Progress::new()).unwrap();
        assert!(drive.now_ns() <= until_ns, "{} is past {until_ns}", drive.now_ns());
        if ended {
            let log = going.take_log();
            return (going.report(drive), log);
        }
        assert_eq!(drive.now_ns(), until_ns, "a piece ends when it should");
    }
}

fn text(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn pieces_of_any_length_give_what_the_whole_gives(seed: u64, every_ns in 20_000u64..30_000_000) {
        for before in drives() {
            let tasks = jobs(seed);
            let mut whole = before.clone();
            let report = run(&mut whole, &tasks, &Progress::new()).unwrap();
            let mut pieces = before.clone();
            let (found, _) = in_pieces(&mut pieces, &tasks, every_ns);
            prop_assert_eq!(text(&found), text(&report));
            // And the drive is the same one afterwards.
            let after = |drive: &mut Drive| text(&run(drive, &jobs(1), &Progress::new()).unwrap());
            prop_assert_eq!(after(&mut pieces), after(&mut whole));
        }
    }

    #[test]
    fn a_log_adds_up_to_the_report(seed: u64) {
        for mut drive in drives() {
            let (report, log) = in_pieces(&mut drive, &jobs(seed), 10_000_000);
            prop_assert!(!log.is_empty());
            for row in 0..log.len() {
                let parts = log.queueing_ns[row] + log.link_ns[row] + log.firmware_ns[row]
                    + log.flash_ns[row] + log.cleaning_ns[row];
                prop_assert_eq!(parts, log.completed_ns[row] - log.issued_ns[row]);
                prop_assert!(log.issued_ns[row] <= log.submitted_ns[row]);
                prop_assert!(log.lba[row] + u64::from(log.sector_count[row]) <= drive.capacity_sectors());
            }
            prop_assert!(log.completed_ns.is_sorted());
            for (job, found) in report.jobs.iter().zip(0u32..) {
                let rows = |op: u8| -> Vec<usize> {
                    (0..log.len()).filter(|&row| (log.job[row], log.op[row]) == (found, op)).collect()
                };
                for (op, direction) in [(0, &job.read), (1, &job.write), (3, &job.trim)] {
                    assert_adds_up(direction, &rows(op), &log);
                }
                prop_assert_eq!(rows(2).len() as u64, job.flush.count);
            }
        }
    }
}

fn assert_adds_up(direction: &DirectionReport, rows: &[usize], log: &RequestLog) {
    assert_eq!(rows.len() as u64, direction.ios);
    let bytes: u64 = rows.iter().map(|&row| u64::from(log.sector_count[row]) * SECTOR_BYTES).sum();
    assert_eq!(bytes, direction.bytes);
    let latencies = || rows.iter().map(|&row| log.completed_ns[row] - log.issued_ns[row]);
    assert_eq!(latencies().max(), direction.latency_ns.as_ref().map(|latency| latency.max));
    if let Some(latency) = &direction.latency_ns {
        let mean = latencies().sum::<u64>() as f64 / rows.len() as f64;
        assert!((mean - latency.mean).abs() < 1e-6 * mean, "{mean} is not {}", latency.mean);
    }
}

#[test]
fn a_run_that_is_stopped_ends_with_what_is_outstanding() {
    let [mut drive, ..] = drives();
    let mut job = Job::new("endless", Rw::RandWrite, 4096, 4);
    (job.time_based, job.runtime_ns) = (true, Some(u64::MAX / 4));
    let mut going = Run::begin(&mut drive, &[Task::from(job)]).unwrap();
    assert!(!going.advance(&mut drive, 50_000_000, &Progress::new()).unwrap());
    let before = going.so_far()[0][1].count;
    going.stop();
    assert!(going.advance(&mut drive, u64::MAX, &Progress::new()).unwrap());
    let [_, writes, ..] = going.so_far()[0];
    let report = going.report(&drive);
    assert_eq!((writes.count, writes.bytes), (report.jobs[0].write.ios, report.jobs[0].write.bytes));
    assert!(before > 100 && writes.count - before <= 4, "{before}, then {}", writes.count);
    assert_eq!(drive.engine().outstanding(), 0);
}

#[test]
fn a_run_that_is_stopped_in_its_ramp_does_not_wait_for_its_end() {
    let [mut drive, ..] = drives();
    let mut job = Job::new("warming", Rw::RandWrite, 4096, 4);
    (job.time_based, job.ramp_ns, job.runtime_ns) = (true, 60_000_000_000, Some(1_000_000_000));
    let mut going = Run::begin(&mut drive, &[Task::from(job)]).unwrap();
    assert_eq!(going.measures_from_ns(), (60_000_000_000, 60_000_000_000));
    assert!(!going.advance(&mut drive, 1_000_000_000, &Progress::new()).unwrap());
    going.stop();
    assert!(going.advance(&mut drive, u64::MAX, &Progress::new()).unwrap());
    assert!(drive.now_ns() < 3_000_000_000, "{}", drive.now_ns());
    let report = going.report(&drive);
    assert_eq!((report.jobs[0].write.ios, report.jobs[0].write.iops), (0, None));
    assert_eq!(report.counters_before, report.counters_after);
}
