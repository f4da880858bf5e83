//! Several submission queues in front of a controller with room for a few commands: what arbitration, room, processors and
//! the way of a command cost, to the nanosecond; and that nothing is lost, doubled or kept waiting for ever.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op, QueueClass};
use drivelab_drive::{Drive, ModelError};
use drivelab_sim::Stream;

const CLASSES: [QueueClass; 5] =
    [QueueClass::Urgent, QueueClass::Low, QueueClass::High, QueueClass::Medium, QueueClass::Low];
const WORK_NS: u64 = 10_000;

/// A drive whose reads of what was never written take the firmware alone, 10 us each.
fn varied(overrides: &[(&str, &str)]) -> Result<Drive, ModelError> {
    let mut pairs = vec![
        ("scale_divisor", "256"),
        ("controller.queue_depth", "8"),
        ("controller.read_firmware_ns", "10000"),
        ("controller.pipeline_ns", "0"),
        ("controller.read_ahead_bytes", "0"),
        ("link.bytes_per_s", "0"),
        ("link.frame_overhead_ns", "0"),
        ("link.command_overhead_ns", "0"),
    ];
    pairs.retain(|(key, _)| overrides.iter().all(|(other, _)| other != key));
    pairs.extend(overrides);
    shipped::varied("intel-x25-m-g1-80gb", &pairs).and_then(|model| Drive::new(Arc::new(model), 1))
}

fn drive(overrides: &[(&str, &str)]) -> Drive {
    varied(overrides).unwrap()
}

fn read(drive: &mut Drive, queue: u16, tag: u32) {
    let now = drive.now_ns();
    drive.submit(now, Command { queue, ..Command::new(tag, Op::Read, 0, 8) }).unwrap();
}

fn finish(drive: &mut Drive) -> Vec<Completion> {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
        drive.engine().check_step().unwrap();
    }
    done
}

/// When a command of the last queue is done that comes behind 64 of each other queue.
fn behind_full_queues(others: u16, overrides: &[(&str, &str)]) -> u64 {
    let mut drive = drive(overrides);
    for queue in 0..others {
        (0..64).for_each(|_| read(&mut drive, queue, 0));
    }
    read(&mut drive, others, 1);
    let done = finish(&mut drive);
    assert_eq!(done.len(), 64 * usize::from(others) + 1);
    done.iter().find(|completion| completion.tag == 1).unwrap().latency_ns()
}

#[test]
fn a_small_queue_waits_for_the_room_and_one_turn_of_each_other() {
    let several = |burst| [("nvme.queue_count", "4"), ("nvme.arbitration_burst", burst)];
    // 8 are inside, then a turn of three queues, then its own.
    assert_eq!(behind_full_queues(3, &several("1")), (8 + 3 + 1) * WORK_NS);
    assert_eq!(behind_full_queues(3, &several("4")), (8 + 3 * 4 + 1) * WORK_NS);
    // Without an end of turns, all that was there before it.
    assert_eq!(behind_full_queues(3, &several("0")), (3 * 64 + 1) * WORK_NS);
    let room = [("nvme.queue_count", "4"), ("controller.queue_depth", "32")];
    assert_eq!(behind_full_queues(3, &room), (32 + 3 + 1) * WORK_NS);
    // Room for all of them: one line, as with one queue.
    for count in ["1", "4"] {
        let room = [("nvme.queue_count", count), ("controller.queue_depth", "256")];
        assert_eq!(behind_full_queues(3, &room), (3 * 64 + 1) * WORK_NS);
    }
}

#[test]
fn classes_count_with_weights_only() {
    let last = |arbitration: &str, class| {
        let mut drive = drive(&[
            ("nvme.queue_count", "2"),
            ("nvme.arbitration", arbitration),
            ("nvme.medium_weight", "5"),
        ]);
        drive.set_queue_classes(&[QueueClass::Medium, class]);
        (0..64).for_each(|_| read(&mut drive, 0, 0));
        (0..4).for_each(|_| read(&mut drive, 1, 1));
        let done = finish(&mut drive);
        done.iter().rfind(|completion| completion.tag == 1).unwrap().latency_ns() / WORK_NS
    };
    // The full queue has the first turn: it came first.
    assert_eq!(last("round-robin", QueueClass::Urgent), 8 + 2 * 4);
    assert_eq!(last("round-robin", QueueClass::Low), 8 + 2 * 4);
    assert_eq!(last("weighted-round-robin", QueueClass::Urgent), 8 + 4);
    assert_eq!(last("weighted-round-robin", QueueClass::Low), 8 + 4 * (5 + 1));
}

#[test]
fn processors_work_side_by_side_and_each_on_one_command() {
    for (cores, rounds) in [("1", 8), ("2", 4), ("4", 2), ("64", 1)] {
        let mut drive = drive(&[("controller.firmware_cores", cores)]);
        (0..8).for_each(|tag| read(&mut drive, 0, tag));
        let done = finish(&mut drive);
        assert_eq!(done.last().unwrap().completed_ns, rounds * WORK_NS, "{cores} processors");
        let firmware: Vec<_> = done.iter().map(|completion| completion.split.firmware_ns).collect();
        assert_eq!(firmware, [WORK_NS; 8], "{cores} processors");
    }
    // A short command of another processor is ready before a long one that came first.
    let times = [("controller.firmware_cores", "2"), ("controller.trim_firmware_ns", "3000")];
    let mut drive = drive(&times);
    read(&mut drive, 0, 0);
    drive.submit(0, Command::new(1, Op::Trim, 0, 8)).unwrap();
    read(&mut drive, 0, 2);
    let times: Vec<_> = finish(&mut drive).iter().map(|done| (done.tag, done.completed_ns)).collect();
    assert_eq!(times, [(1, 3000), (0, 10_000), (2, 13_000)]);
}

#[test]
fn the_way_of_a_command_is_latency_and_no_work() {
    let times = [("nvme.fetch_ns", "900"), ("nvme.completion_ns", "2100")];
    let (mut plain, mut distant) = (drive(&[]), drive(&times));
    for drive in [&mut plain, &mut distant] {
        (0..8).for_each(|tag| read(drive, 0, tag));
    }
    for (near, far) in finish(&mut plain).iter().zip(finish(&mut distant)) {
        assert_eq!(far.latency_ns(), near.latency_ns() + 3000);
    }
}

/// Random commands on random drives with several queues: each is done once, its parts add up, and whatever is full of
/// commands, a queue's first command is fetched after as many others as its turns allow.
#[test]
fn every_command_of_every_queue_is_done_once() {
    for seed in 0..60 {
        println!("seed {seed}: every_command_of_every_queue_is_done_once");
        let mut random = Stream::new(seed, 1);
        let mut number = |least: u64, most: u64| least + random.below(most - least + 1);
        let (count, room, cores) = (number(2, 6), number(2, 20), number(1, 4));
        let (burst, weighted, credit) = (number(0, 3), number(0, 1), number(0, 1) * 2_000_000);
        let arbitration = ["round-robin", "weighted-round-robin"][weighted as usize];
        let [count, room, cores, burst, credit] =
            [count, room, cores, burst, credit].map(|value| value.to_string());
        let mut drive = drive(&[
            ("nvme.queue_count", count.as_str()),
            ("controller.queue_depth", room.as_str()),
            ("controller.firmware_cores", cores.as_str()),
            ("nvme.arbitration_burst", burst.as_str()),
            ("nvme.arbitration", arbitration),
            ("nvme.high_weight", "3"),
            ("controller.write_credit_ns", credit.as_str()),
        ]);
        drive.set_queue_classes(&CLASSES);
        let sectors = drive.capacity_sectors() / 8;
        let (mut done, mut submitted) = (Vec::new(), 0u32);
        while submitted < 4000 {
            if drive.engine().outstanding() > drive.queue_depth() - 60 {
                drive.advance_to_completion(u64::MAX, &mut done);
                continue;
            }
            for _ in 0..number(1, 60) {
                let op = [Op::Read, Op::Write, Op::Write, Op::Trim, Op::Flush][number(0, 19) as usize / 4];
                let (lba, length) =
                    if op == Op::Flush { (0, 0) } else { (8 * number(0, sectors / 8 - 9), number(1, 64)) };
                let command =
                    Command { queue: number(0, 5) as u16, ..Command::new(submitted, op, lba, length as u32) };
                drive.submit(drive.now_ns(), command).unwrap();
                submitted += 1;
            }
            let until = drive.now_ns() + number(0, 2_000_000);
            drive.advance(until, &mut done);
            drive.engine().check_step().unwrap();
        }
        done.extend(finish(&mut drive));
        assert_eq!(drive.engine().outstanding(), 0);
        let mut tags: Vec<_> = done.iter().map(|completion| completion.tag).collect();
        tags.sort_unstable();
        assert!(tags.into_iter().eq(0..submitted), "each of {submitted} commands is done once");
        for completion in &done {
            assert_eq!(completion.split.total_ns(), completion.latency_ns(), "{completion:?}");
        }
        assert!(done.is_sorted_by_key(|completion| completion.completed_ns));
        drive.engine().check().unwrap();
    }
}

#[test]
fn what_waits_in_queues_is_done_before_an_erase_and_counts_as_outstanding() {
    let mut drive = drive(&[("nvme.queue_count", "2"), ("nvme.queue_entries", "20")]);
    assert_eq!((drive.queue_count(), drive.queue_depth()), (2, 40));
    (0..40).for_each(|tag| read(&mut drive, 0, tag));
    assert_eq!(drive.engine().outstanding(), 40);
    let full = drive.submit(drive.now_ns(), Command::new(40, Op::Read, 0, 8)).unwrap_err();
    assert_eq!(full.to_string(), "the command queue is full (40 commands)");
    drive.secure_erase();
    assert_eq!(drive.engine().outstanding(), 0);
}

#[test]
fn wrong_queues_are_refused_by_name() {
    for (overrides, words) in [
        (vec![("nvme.queue_count", "0")], ["nvme.queue_count = 0", "1 to 65535"]),
        (vec![("nvme.queue_entries", "1")], ["nvme.queue_entries = 1", "2 to 65536"]),
        (
            vec![("nvme.queue_count", "1000"), ("nvme.queue_entries", "2000")],
            ["nvme.queue_entries = 2000", "at most 1048"],
        ),
        (
            vec![("nvme.queue_count", "2"), ("controller.queue_depth", "1")],
            ["controller.queue_depth = 1", "at least 2 with nvme.queue_count = 2"],
        ),
        (vec![("nvme.arbitration", "fair")], ["nvme.arbitration", "weighted-round-robin"]),
        (vec![("nvme.arbitration_burst", "65")], ["nvme.arbitration_burst = 65", "0 to 64"]),
        (vec![("nvme.low_weight", "0")], ["nvme.low_weight = 0", "1 to 256"]),
        (
            vec![("nvme.max_data_transfer_bytes", "1000")],
            ["nvme.max_data_transfer_bytes = 1000", "multiple of 512"],
        ),
        (vec![("controller.firmware_cores", "65")], ["controller.firmware_cores = 65", "1 to 64"]),
        (
            vec![("controller.write_credit_ns", "9"), ("controller.write_governor_iops", "9")],
            ["controller.write_credit_ns = 9", "controller.write_governor_iops"],
        ),
        (
            vec![("ftl.host_memory_bytes", "4096")],
            ["ftl.host_memory_bytes = 4096", "ftl.map_cache_bytes = 0"],
        ),
    ] {
        let message = varied(&overrides).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}
