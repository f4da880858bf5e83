//! Jobs on several submission queues, and requests that are larger than a command may be.

use std::collections::BTreeMap;

use crate::server::Server;
use drivelab_controller::{Device, Op, QueueClass};
use drivelab_workload::job::{BlockSize, Rw};
use drivelab_workload::{Job, Progress, Requests, Task, run};

const SECTORS: u64 = 1 << 21;

fn drive(queues: usize) -> Server {
    let mut drive = Server::new(SECTORS, 32, 1, 1000).remembering();
    drive.queues = vec![QueueClass::default(); queues];
    drive
}

fn job(name: &str) -> Job {
    let mut job = Job::new(name, Rw::RandRead, 4096, 4);
    job.io_bytes = Some(40_960);
    job
}

/// The queue of each job's commands, by their size.
fn queues_of(drive: &Server) -> BTreeMap<u32, Vec<u16>> {
    let mut queues: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    for (_, command) in drive.commands() {
        let found = queues.entry(command.sector_count).or_default();
        found.push(command.queue);
        found.dedup();
    }
    queues
}

#[test]
fn each_job_has_a_queue_of_its_own_in_turn_unless_it_names_one() {
    let mut jobs: Vec<_> = (0..5).map(|index| Job { name: format!("job {index}"), ..job("") }).collect();
    for (job, sectors) in jobs.iter_mut().zip(1..) {
        job.block_sizes = vec![BlockSize { bytes: 512 * sectors, weight: 1.0 }];
    }
    jobs[1].queue = Some(2);
    jobs[1].queue_class = QueueClass::High;
    jobs[2].queue_class = QueueClass::High;
    jobs[0].queue_class = QueueClass::Urgent;
    jobs[3].queue_class = QueueClass::Urgent;
    jobs[4].queue_class = QueueClass::High;
    let tasks: Vec<_> = jobs.iter().cloned().map(Task::from).collect();
    let mut drive = drive(3);
    let report = run(&mut drive, &tasks, &Progress::new()).unwrap();
    let found: Vec<_> = queues_of(&drive).into_values().collect();
    assert_eq!(found, [vec![0], vec![2], vec![1], vec![0], vec![1]]);
    assert_eq!(drive.queues, [QueueClass::Urgent, QueueClass::High, QueueClass::High]);
    assert!(report.jobs.iter().all(|job| job.read.latency_ns.is_some()), "each job has its latencies");
}

#[test]
fn queues_that_are_not_there_and_classes_that_disagree_are_refused() {
    let refused = |jobs: &[Job], queues| {
        let tasks: Vec<_> = jobs.iter().cloned().map(Task::from).collect();
        run(&mut drive(queues), &tasks, &Progress::new()).unwrap_err().to_string()
    };
    let second = Job { queue: Some(1), ..job("b") };
    assert_eq!(
        refused(&[job("a"), second.clone()], 1),
        "job 'b': queue = 1: must be less than 1, the drive's submission queues"
    );
    let urgent = Job { queue: Some(0), queue_class: QueueClass::Urgent, ..job("b") };
    assert_eq!(
        refused(&[job("a"), urgent], 1),
        "job 'b': queue_class = urgent: must be medium, as of another job on queue 0"
    );
}

/// 512 KiB in commands of up to 128 KiB, which take 1000 ns each, one after the other.
#[test]
fn requests_larger_than_a_command_are_split_and_count_once() {
    for (bytes, commands) in [(1 << 19, vec![256; 4]), (300 * 512, vec![256, 44]), (4096, vec![8])] {
        let mut large = Job::new("large", Rw::Write, bytes, 2);
        (large.io_bytes, large.span_bytes) = (Some(10 * bytes), Some(10 * bytes));
        // Another job may make the host split; small requests stay as they are.
        let mut other = Job::new("other", Rw::Trim, 1 << 20, 1);
        (other.io_bytes, other.start_ns, other.offset_bytes) = (Some(1 << 20), 1_000_000, 1 << 29);
        let mut drive = drive(1);
        drive.max_transfer_sectors = 256;
        let report = run(&mut drive, &[large.into(), other.into()], &Progress::new()).unwrap();
        let write = &report.jobs[0].write;
        assert_eq!((write.ios, write.bytes), (10, 10 * bytes));
        let sizes: Vec<_> = drive.commands().iter().map(|(_, command)| command.sector_count).collect();
        assert_eq!(sizes[..sizes.len() - 1], commands.repeat(10), "a trim is never split");
        assert_eq!(sizes.last(), Some(&2048));
        let mut next = 0;
        for (_, command) in drive.commands().iter().filter(|(_, command)| command.op == Op::Write) {
            assert_eq!(command.lba, next);
            next += u64::from(command.sector_count);
        }
        // Two requests are outstanding: each waits for the one before, but the first.
        let service_ns = 1000.0 * commands.len() as f64;
        let latency = write.latency_ns.as_ref().unwrap();
        assert_eq!((latency.count, latency.min as f64), (10, service_ns));
        assert!((latency.mean - 1.9 * service_ns).abs() < 1.0, "{}", latency.mean);
        let split = write.split_mean_ns.unwrap();
        let parts = split.queueing_ns + split.flash_ns;
        assert!((parts - latency.mean).abs() < 1.0, "parts of {parts} ns");
    }
}

#[test]
fn a_split_run_keeps_the_drives_queue_and_answers_all_recorded_requests() {
    let op: Vec<u8> = (0..200).map(|index| [0, 1, 3, 2][index % 4]).collect();
    let sector_count: Vec<u32> = op.iter().map(|&op| if op == 2 { 0 } else { 100 }).collect();
    let lba: Vec<u64> = (0..200).map(|index| index * 100).collect();
    let arrival: Vec<u64> = (0..200).map(|index| index * 500).collect();
    let requests = Requests {
        op: &op,
        lba: &lba,
        sector_count: &sector_count,
        arrival_ns: Some(&arrival),
        program: None,
    };
    let json = r#"{"name": "trace", "source": {"kind": "requests", "pacing": "arrival"}}"#;
    let job = drivelab_workload::parse_job(json).unwrap();
    let mut small = Server::new(SECTORS, 3, 1, 1000).remembering();
    small.max_transfer_sectors = 7;
    let report = run(&mut small, &[Task { job, requests: Some(requests) }], &Progress::new()).unwrap();
    let job = &report.jobs[0];
    assert_eq!((job.read.ios, job.write.ios, job.trim.ios, job.flush.count), (50, 50, 50, 50));
    assert_eq!(job.read.lateness_ns.as_ref().unwrap().count, 50);
    // 15 commands for each read and write.
    assert_eq!(small.commands().len(), 50 * (15 + 15 + 1 + 1));
    assert_eq!(small.queue_depth(), 3);
}
