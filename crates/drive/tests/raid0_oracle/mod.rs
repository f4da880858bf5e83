//! RAID-0 against a plain map of sectors, over members of every kind: flash drives, arrays, a device that does one
//! thing at a time. What is read is what was written, every command completes exactly once, time never runs back.

mod members;

use drivelab_controller::{Command, Completion, Content, Device, LinkConfig, Op};
use drivelab_drive::{Partition, Raid0, Raid0Config};
use drivelab_sim::Nanos;
use proptest::prelude::*;

use members::{Member, Plain, flash, link};

#[derive(Clone, Debug)]
struct Shape {
    kinds: Vec<u8>,
    strip_sectors: u64,
    transfer_sectors: u64,
    pass_trim: bool,
    driver_ns: Nanos,
    depth: u32,
    bridge: bool,
    partition_part: u64,
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        prop::collection::vec(0u8..5, 1..4),
        prop_oneof![Just(1u64), Just(7), Just(8), Just(32), Just(100)],
        prop_oneof![Just(3u64), Just(8), Just(64), Just(2048)],
        any::<bool>(),
        prop_oneof![Just(0), Just(3000)],
        1u32..9,
        any::<bool>(),
        1u64..5,
    )
        .prop_map(
            |(
                kinds,
                strip_sectors,
                transfer_sectors,
                pass_trim,
                driver_ns,
                depth,
                bridge,
                partition_part,
            )| {
                Shape {
                    kinds,
                    strip_sectors,
                    transfer_sectors,
                    pass_trim,
                    driver_ns,
                    depth,
                    bridge,
                    partition_part,
                }
            },
        )
}

fn config(shape: &Shape) -> Raid0Config {
    Raid0Config {
        pass_trim: shape.pass_trim,
        driver_ns: shape.driver_ns,
        queue_depth: shape.depth,
        link: shape.bridge.then(|| link(100_000_000)),
        ..Raid0Config::new(shape.strip_sectors * 512, shape.transfer_sectors * 512)
    }
}

fn array(shape: &Shape) -> Partition<Raid0<Member>> {
    let plain = |depth| Member::Plain(Plain::new(700, 900, depth));
    let member = |kind: &u8| match kind {
        0 => plain(1),
        1 => plain(5),
        2 => Member::Flash(Box::new(flash(4096, true))),
        3 => Member::Flash(Box::new(flash(1536, false))),
        _ => {
            let config = Raid0Config { queue_depth: 3, pass_trim: true, ..Raid0Config::new(4096, 16384) };
            Member::Array(Box::new(Raid0::new(vec![plain(2), plain(1)], config).unwrap()))
        }
    };
    let mut array = Raid0::new(shape.kinds.iter().map(member).collect(), config(shape)).unwrap();
    array.keep_member_stamps(Member::keep_stamps);
    let bytes = array.capacity_sectors() * 512 / shape.partition_part;
    Partition::new(array, bytes).unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Command { op: Op, at: u32, sectors: u32, fua: bool },
    Wait { micros: u32 },
    Erase,
}

fn step() -> impl Strategy<Value = Step> {
    let op =
        prop_oneof![12 => Just(Op::Write), 6 => Just(Op::Read), 2 => Just(Op::Trim), 1 => Just(Op::Flush)];
    prop_oneof![
        20 => (op, any::<u32>(), 1u32..80, prop::bool::weighted(0.1))
            .prop_map(|(op, at, sectors, fua)| Step::Command { op, at, sectors, fua }),
        2 => (0u32..5000).prop_map(|micros| Step::Wait { micros }),
        1 => (0u32..40).prop_map(|pick| if pick == 0 { Step::Erase } else { Step::Wait { micros: 1 } }),
    ]
}

fn collect(drive: &mut Partition<Raid0<Member>>, done: &mut Vec<Completion>, until_outstanding: u32) {
    while drive.device().outstanding() > until_outstanding {
        let next = drive.next_event().expect("a command inside must lead to an event");
        assert!(next >= drive.now_ns(), "time runs back");
        if next.is_multiple_of(3) {
            drive.advance(next, done);
        } else {
            drive.advance_to_completion(u64::MAX, done);
        }
        assert!(done.iter().all(|completion| completion.completed_ns <= drive.now_ns()));
        drive.device().check_queues().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_what_was_written(shape in shape(), steps in prop::collection::vec(step(), 1..300)) {
        let mut drive = array(&shape);
        let capacity = drive.capacity_sectors();
        let mut oracle = vec![0u64; capacity as usize];
        let mut done = Vec::new();
        let (mut submitted, mut stamp) = (0u64, 1u64);
        let mut read_tags = Vec::new();
        for (tag, step) in (0u32..).zip(&steps) {
            let (op, lba, sectors, fua) = match *step {
                Step::Command { op: Op::Flush, .. } => (Op::Flush, 0, 0, false),
                Step::Command { op, at, sectors, fua } => {
                    let lba = u64::from(at) % capacity;
                    (op, lba, sectors.min((capacity - lba) as u32), fua)
                }
                Step::Wait { micros } => {
                    drive.advance(drive.now_ns() + u64::from(micros) * 1000, &mut done);
                    continue;
                }
                Step::Erase => {
                    collect(&mut drive, &mut done, 0);
                    prop_assert_eq!(drive.device_mut().erase_members(Member::secure_erase), []);
                    oracle.fill(0);
                    continue;
                }
            };
            // Trims free whole map units, whose size the oracle does not know: nothing is compared there until the
            // next write. A dropped trim must change nothing.
            let range = lba as usize..lba as usize + sectors as usize;
            match op {
                Op::Write => oracle[range].iter_mut().zip(stamp..).for_each(|(place, stamp)| *place = stamp),
                Op::Trim if shape.pass_trim => oracle[range].fill(u64::MAX),
                _ => {}
            }
            if matches!(op, Op::Read | Op::Trim) {
                collect(&mut drive, &mut done, 0);
            }
            collect(&mut drive, &mut done, shape.depth - 1);
            drive.submit(drive.now_ns(), Command { fua, stamp, ..Command::new(tag, op, lba, sectors) }).unwrap();
            submitted += 1;
            stamp += u64::from(sectors);
            if op == Op::Read {
                collect(&mut drive, &mut done, 0);
                let found = drive.device_mut().take_member_stamps(Member::take_read_stamps);
                prop_assert_eq!(found.len(), 1);
                prop_assert_eq!(found[0].0, tag);
                read_tags.push(tag);
                for (index, &stamp) in found[0].1.iter().enumerate() {
                    let wanted = oracle[lba as usize + index];
                    prop_assert!(wanted == u64::MAX || stamp == wanted, "sector {} is {stamp}, not {wanted}", lba + index as u64);
                }
            }
        }
        collect(&mut drive, &mut done, 0);
        prop_assert_eq!(drive.device().outstanding(), 0);
        drive.device().members().for_each(Member::check);
        let mut tags: Vec<u32> = done.iter().map(|completion| completion.tag).collect();
        tags.sort_unstable();
        tags.dedup();
        prop_assert_eq!((done.len() as u64, tags.len() as u64), (submitted, submitted), "exactly once");
        for completion in &done {
            prop_assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
            prop_assert!(completion.split.firmware_ns >= shape.driver_ns);
        }
        prop_assert!(done.is_sorted_by_key(|completion| completion.completed_ns));
    }

    /// The same completions however the host turns the crank, and to the bit every time.
    #[test]
    fn one_seed_one_result(shape in shape(), steps in prop::collection::vec((any::<u32>(), 1u32..90, any::<bool>()), 20..120)) {
        let run = |by_events: bool| {
            let mut drive = array(&shape);
            let mut done = Vec::new();
            for (tag, &(at, sectors, is_read)) in (0u32..).zip(&steps) {
                while drive.device().outstanding() >= shape.depth {
                    if by_events {
                        let next = drive.next_event().unwrap();
                        drive.advance(next, &mut done);
                    } else {
                        drive.advance_to_completion(u64::MAX, &mut done);
                    }
                }
                let lba = u64::from(at) % drive.capacity_sectors();
                let sectors = sectors.min((drive.capacity_sectors() - lba) as u32);
                let op = if is_read { Op::Read } else { Op::Write };
                drive.submit(drive.now_ns(), Command::new(tag, op, lba, sectors)).unwrap();
            }
            while let Some(next) = drive.next_event() {
                drive.advance(next, &mut done);
            }
            (done, drive.device().meters())
        };
        prop_assert_eq!(run(false), run(false));
        prop_assert_eq!(run(false), run(true));
    }
}

fn plain_array(config: Raid0Config) -> Raid0<Plain> {
    Raid0::new(vec![Plain::new(1000, 1000, 2), Plain::new(1000, 1000, 2)], config).unwrap()
}

fn finish(drive: &mut impl Device) -> Vec<Completion> {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    done
}

fn asked(array: &Raid0<Plain>) -> Vec<Vec<(u64, u32)>> {
    array
        .members()
        .map(|plain| plain.asked.iter().map(|command| (command.lba, command.sector_count)).collect())
        .collect()
}

#[test]
fn what_lies_in_a_row_on_a_member_is_one_transfer_up_to_the_largest() {
    let ask = |transfer_sectors: u64| {
        let mut array = plain_array(Raid0Config::new(8 * 512, transfer_sectors * 512));
        array.submit(0, Command::new(0, Op::Read, 5, 50)).unwrap();
        let done = finish(&mut array);
        (asked(&array), done[0].completed_ns)
    };
    // Sectors 5..55: strips 0, 2, 4 and 6 (cut) on the first member, 1, 3 and 5 on the second.
    assert_eq!(ask(2048), (vec![vec![(5, 26)], vec![(0, 24)]], 26_000), "the slower half decides");
    assert_eq!(ask(16).0, [vec![(5, 16), (21, 10)], vec![(0, 16), (16, 8)]]);
    // What holds less than two strips is cut at strips.
    assert_eq!(ask(8).0, [vec![(5, 3), (8, 8), (16, 8), (24, 7)], vec![(0, 8), (8, 8), (16, 8)]]);
    assert_eq!(ask(6).0[1], [(0, 6), (6, 2), (8, 6), (14, 2), (16, 6), (22, 2)]);
}

#[test]
fn a_full_member_lets_the_others_go_on() {
    let mut array = plain_array(Raid0Config { queue_depth: 8, ..Raid0Config::new(4096, 1 << 20) });
    for tag in 0..5 {
        array.submit(0, Command::new(tag, Op::Read, 0, 8)).unwrap();
    }
    array.submit(0, Command::new(5, Op::Read, 8, 8)).unwrap();
    let order: Vec<_> = finish(&mut array).iter().map(|done| (done.tag, done.completed_ns)).collect();
    assert_eq!(order, [(0, 8000), (5, 8000), (1, 16_000), (2, 24_000), (3, 32_000), (4, 40_000)]);
}

#[test]
fn every_piece_of_a_write_has_a_content_of_its_own_and_flags_reach_every_member() {
    let content = Content { compressed_permille: 500, duplicate_permille: 500, pool: 1000, seed: 3 };
    let mut array = plain_array(Raid0Config::new(4096, 4096));
    array.submit(0, Command { fua: true, content, ..Command::new(0, Op::Write, 0, 64) }).unwrap();
    array.submit(0, Command::new(1, Op::Flush, 0, 0)).unwrap();
    finish(&mut array);
    let pieces: Vec<_> =
        array.members().flat_map(|plain| &plain.asked).filter(|piece| piece.op == Op::Write).collect();
    assert!(pieces.iter().all(|piece| piece.fua && piece.content.compressed_permille == 500));
    let mut seeds: Vec<_> = pieces.iter().map(|piece| piece.content.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!((pieces.len(), seeds.len()), (8, 8));
    assert!(array.members().all(|plain| plain.asked.last().unwrap().op == Op::Flush));
}

#[test]
fn trims_are_passed_on_or_dropped() {
    let ask = |pass_trim| {
        let mut array =
            plain_array(Raid0Config { pass_trim, driver_ns: 500, ..Raid0Config::new(4096, 4096) });
        array.submit(0, Command::new(0, Op::Trim, 4, 40)).unwrap();
        let done = finish(&mut array);
        (asked(&array), done[0].completed_ns, array.meters().dropped_trim_bytes)
    };
    assert_eq!(ask(true), (vec![vec![(4, 20)], vec![(0, 20)]], 20_500, 0));
    assert_eq!(ask(false), (vec![vec![], vec![]], 500, 40 * 512));
}

#[test]
fn all_data_passes_a_bridge_once_and_only_after_it_has_arrived() {
    // 100 sectors a microsecond inside; 51 200 bytes at 51.2 MB/s take a millisecond outside.
    let config = Raid0Config {
        link: Some(LinkConfig { bytes_per_s: 51_200_000, frame_bytes: 8192, ..LinkConfig::default() }),
        ..Raid0Config::new(10 * 512, 10 * 512)
    };
    let run = |op: Op| {
        let mut array = plain_array(config);
        array.submit(0, Command::new(0, op, 0, 100)).unwrap();
        let done = finish(&mut array);
        assert_eq!(array.meters().link_busy_ns, 1_000_000);
        done[0].completed_ns
    };
    // The first piece is read in 10 us; then the bridge never waits.
    assert_eq!(run(Op::Read), 1_010_000);
    // The last piece arrives after 1 ms and takes the member another 10 us.
    assert_eq!(run(Op::Write), 1_010_000);
}

#[test]
fn impossible_arrays_partitions_and_commands_are_refused_by_name() {
    let refuse =
        |config: Raid0Config| Raid0::new(vec![Plain::new(100, 1, 1)], config).unwrap_err().to_string();
    assert!(refuse(Raid0Config::new(1000, 4096)).contains("array.strip_bytes = 1000"));
    assert!(refuse(Raid0Config::new(51_712, 4096)).contains("51200 bytes"));
    assert!(refuse(Raid0Config::new(512, 100)).contains("array.max_transfer_bytes"));
    assert!(
        refuse(Raid0Config { queue_depth: 0, ..Raid0Config::new(512, 512) })
            .contains("array.queue_depth = 0")
    );
    let none = Raid0::<Plain>::new(Vec::new(), Raid0Config::new(512, 512)).unwrap_err().to_string();
    assert!(none.contains("members = 0"), "{none}");

    let uneven = vec![Plain::new(100, 1, 1), Plain::new(50, 1, 1)];
    let array =
        Raid0::new(uneven, Raid0Config { queue_depth: 1, ..Raid0Config::new(8 * 512, 4096) }).unwrap();
    assert_eq!(array.capacity_sectors(), 96, "six strips of the smaller, twice");
    assert!(Partition::new(array.clone(), 96 * 512 + 1).unwrap_err().to_string().contains("partition_bytes"));
    assert_eq!(Partition::whole(array.clone()).capacity_sectors(), 96);
    let mut drive = Partition::new(array, 40 * 512).unwrap();
    let mut refuse = |command| drive.submit(0, command).unwrap_err().to_string();
    assert!(refuse(Command::new(0, Op::Read, 39, 2)).contains("40 sectors"));
    assert!(refuse(Command::new(0, Op::Read, 0, 0)).contains("at least one sector"));
    drive.submit(5, Command::new(0, Op::Read, 0, 1)).unwrap();
    assert!(drive.submit(5, Command::new(0, Op::Read, 0, 1)).unwrap_err().to_string().contains("1 commands"));
    assert!(
        drive
            .submit(4, Command::new(0, Op::Read, 0, 1))
            .unwrap_err()
            .to_string()
            .contains("already reached 5")
    );
}
