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
                prop_assert!(log.offset_bytes[row] + log.length_bytes[row] <= drive.capacity_sectors() * SECTOR_BYTES);
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
    let bytes: u64 = rows.iter().map(|&row| log.length_bytes[row]).sum();
    assert_eq!(bytes, direction.bytes);
    let latencies = || rows.iter().map(|&row| log.completed_ns[row] - log.issued_ns[row]);
    assert_eq!(latencies().max(), direction.latency_ns.as_ref().map(|latency| latency.max));
    if let Some(latency) = &direction.latency_ns {
        let mean = latencies().sum::<u64>() as f64 / rows.len() as f64;
        assert!((mean - latency.mean).abs() < 1e-6 * mean, "{mean} is not {}", latency.mean);
    }
    assert_tails(direction, rows, log);
    assert_intervals(direction, rows, log);
}

/// The slowest requests of the report are the slowest of the log, with their parts.
fn assert_tails(direction: &DirectionReport, rows: &[usize], log: &RequestLog) {
    let mut slowest = rows.to_vec();
    slowest.sort_by_key(|&row| std::cmp::Reverse(log.completed_ns[row] - log.issued_ns[row]));
    for number in [10, 100, 1000, 10_000_usize] {
        let least = rows.len().div_ceil(number);
        let is_there =
            direction.tails.iter().any(|tail| (tail.share_of_requests * number as f64 - 1.0).abs() < 1e-9);
        assert!(!is_there || rows.len() >= number);
        if rows.len() >= number && !is_there {
            // Those left out have many that are about as slow.
            let latency_ns = |&row: &usize| log.completed_ns[row] - log.issued_ns[row];
            let edge_ns = latency_ns(&slowest[least - 1]);
            let alike = slowest.iter().filter(|&row| latency_ns(row) >= edge_ns - edge_ns / 8).count();
            assert!(alike > 4 * least, "the slowest of {number} are {alike} of {}", rows.len());
        }
    }
    for tail in &direction.tails {
        let count = tail.count as usize;
        assert!(count as f64 >= tail.share_of_requests * rows.len() as f64);
        let latency_ns = |&row: &usize| log.completed_ns[row] - log.issued_ns[row];
        let least = latency_ns(&slowest[count - 1]);
        assert_eq!(tail.latency_ns_min, least);
        let next = slowest.get(count).map_or(0, latency_ns);
        assert!(next < tail.latency_ns_min.max(1), "{next} belongs to those from {}", tail.latency_ns_min);
        let mean =
            |part: &[u64]| slowest[..count].iter().map(|&row| part[row]).sum::<u64>() as f64 / count as f64;
        let split = &tail.split_mean_ns;
        for (found, part) in [
            (split.queueing_ns, &log.queueing_ns),
            (split.link_ns, &log.link_ns),
            (split.firmware_ns, &log.firmware_ns),
            (split.flash_ns, &log.flash_ns),
            (split.cleaning_ns, &log.cleaning_ns),
        ] {
            assert!((found - mean(part)).abs() <= 1e-9 * found, "{found} is not {}", mean(part));
        }
    }
}

/// The percentile of every interval, to a thirty-second.
fn assert_intervals(direction: &DirectionReport, rows: &[usize], log: &RequestLog) {
    let series = &direction.series;
    let Some(&first) = rows.first() else { return };
    // Where the measurement began is not in the log: the first bucket with requests has the first request.
    let first_bucket = series.ios.iter().position(|&ios| ios > 0).unwrap();
    let mut at = first;
    let mut next = rows.iter().copied().peekable();
    for (bucket, &ios) in series.ios.iter().enumerate().skip(first_bucket) {
        let mut latencies: Vec<u64> = Vec::new();
        for _ in 0..ios {
            at = next.next().unwrap();
            latencies.push(log.completed_ns[at] - log.issued_ns[at]);
        }
        latencies.sort_unstable();
        let exact = latencies.get((99 * latencies.len()).div_ceil(100).saturating_sub(1)).copied();
        match (series.latency_p99_ns[bucket], exact) {
            (None, None) => {}
            (Some(found), Some(exact)) => {
                assert!(exact <= found && found - exact <= exact / 32 + 1, "{found} is not {exact}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(next.next(), None, "after {at}");
}

/// What the drive did over time adds up to what its counters say that it did.
#[test]
fn the_drive_over_time_adds_up_to_its_counters() {
    for mut drive in drives() {
        let mut job = Job::new("writes", Rw::RandWrite, 4096, 8);
        (job.io_bytes, job.series_interval_ns) = (Some(64 << 20), 100_000_000);
        let mut going = Run::begin(&mut drive, &[Task::from(job)]).unwrap();
        going.keep_log();
        assert!(going.advance(&mut drive, u64::MAX, &Progress::new()).unwrap());
        let (report, log) = (going.report(&drive), going.take_log());
        let series = &report.drive_series;
        let spent = |prefix: &str| -> u64 {
            let keys =
                report.counters_after.as_object().unwrap().keys().filter(|key| key.starts_with(prefix));
            keys.map(|key| {
                report.counters_after[key].as_u64().unwrap() - report.counters_before[key].as_u64().unwrap()
            })
            .sum()
        };
        assert_eq!(series.host_write_bytes.iter().sum::<u64>(), spent("host_write_bytes"));
        assert_eq!(series.flash_program_bytes.as_ref().unwrap().iter().sum::<u64>(), spent("program_bytes"));
        assert_eq!(
            series.free_blocks.as_ref().unwrap().last().copied(),
            report.counters_after["free_blocks"].as_u64()
        );
        let interval_ns = series.interval_ns;
        let length_ns = report.end_ns - report.measure_start_ns;
        assert_eq!(series.outstanding_mean.len() as u64, length_ns.div_ceil(interval_ns));
        assert!(series.outstanding_mean.len() > 2);
        for (index, &found) in (0u64..).zip(&series.outstanding_mean) {
            let begin_ns = report.measure_start_ns + index * interval_ns;
            let end_ns = (begin_ns + interval_ns).min(report.end_ns);
            let within = |row: usize| {
                log.completed_ns[row].min(end_ns).saturating_sub(log.submitted_ns[row].max(begin_ns))
            };
            let expected = (0..log.len()).map(within).sum::<u64>() as f64 / (end_ns - begin_ns) as f64;
            assert!((found - expected).abs() < 1e-9 * expected, "{index}: {found} is not {expected}");
        }
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
