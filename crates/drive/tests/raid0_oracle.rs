//! RAID-0 against a plain map of sectors, over members of every kind: flash drives, arrays, a device that does one
//! thing at a time. What is read is what was written, every command completes exactly once, time never runs back.

use drivelab_controller::{
    BufferConfig, BufferEviction, CleaningPace, Command, CommandError, Completion, Content, ControllerConfig,
    Device, DieAllocation, FirmwareConfig, GovernorConfig, LatencySplit, LinkConfig, Op, Outcome,
    PowerConfig, SchedulingConfig, SolidStateDrive, SubmissionConfig,
};
use drivelab_drive::{Partition, Raid0, Raid0Config};
use drivelab_ftl::{CleaningMode, FtlConfig, PageMap, VictimSelection};
use drivelab_nand::{FlashTiming, Geometry, UnitLayout};
use drivelab_sim::Nanos;
use proptest::prelude::*;

/// Does one thing at a time, each in the same time per sector, and remembers what it was asked for.
#[derive(Clone, Debug)]
struct Plain {
    stamps: Vec<u64>,
    sector_ns: Nanos,
    depth: u32,
    now_ns: Nanos,
    free_ns: Nanos,
    inside: Vec<Completion>,
    read: Vec<(u32, Vec<u64>)>,
    asked: Vec<Command>,
}

impl Plain {
    fn new(sectors: usize, sector_ns: Nanos, depth: u32) -> Self {
        let (inside, read, asked) = (Vec::new(), Vec::new(), Vec::new());
        Self { stamps: vec![0; sectors], sector_ns, depth, now_ns: 0, free_ns: 0, inside, read, asked }
    }
}

impl Device for Plain {
    fn capacity_sectors(&self) -> u64 {
        self.stamps.len() as u64
    }

    fn queue_depth(&self) -> u32 {
        self.depth
    }

    fn now_ns(&self) -> Nanos {
        self.now_ns
    }

    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        assert!(now_ns >= self.now_ns, "time runs back");
        assert!((self.inside.len() as u32) < self.depth, "queue full");
        assert!(command.lba + u64::from(command.sector_count) <= self.capacity_sectors());
        self.now_ns = now_ns;
        let range = command.lba as usize..(command.lba + u64::from(command.sector_count)) as usize;
        match command.op {
            Op::Read => self.read.push((command.tag, self.stamps[range].to_vec())),
            Op::Write => {
                self.stamps[range].iter_mut().zip(command.stamp..).for_each(|(place, stamp)| *place = stamp);
            }
            Op::Trim => self.stamps[range].fill(0),
            Op::Flush => {}
        }
        let flash_ns = self.sector_ns * u64::from(command.sector_count);
        let begun_ns = self.free_ns.max(now_ns);
        self.free_ns = begun_ns + flash_ns;
        self.inside.push(Completion {
            tag: command.tag,
            op: command.op,
            outcome: Outcome::Done,
            sector_count: command.sector_count,
            submitted_ns: now_ns,
            completed_ns: self.free_ns,
            split: LatencySplit { flash_ns, queueing_ns: begun_ns - now_ns, ..LatencySplit::default() },
        });
        self.asked.push(command);
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.inside.first().map(|first| first.completed_ns)
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        let count = self.inside.iter().take_while(|entry| entry.completed_ns <= until_ns).count();
        done.extend(self.inside.drain(..count));
        self.now_ns = self.now_ns.max(until_ns);
    }
}

/// A member of any kind.
#[derive(Clone, Debug)]
enum Member {
    Plain(Plain),
    Flash(Box<SolidStateDrive<PageMap>>),
    Array(Box<Raid0<Member>>),
}

impl Member {
    fn keep_stamps(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Flash(ssd) => ssd.keep_stamps(),
            Self::Array(array) => array.keep_member_stamps(Self::keep_stamps),
        }
    }

    fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        match self {
            Self::Plain(plain) => std::mem::take(&mut plain.read),
            Self::Flash(ssd) => ssd.take_read_stamps(),
            Self::Array(array) => array.take_member_stamps(Self::take_read_stamps),
        }
    }

    fn secure_erase(&mut self) {
        match self {
            Self::Plain(plain) => plain.stamps.fill(0),
            Self::Flash(ssd) => assert_eq!(ssd.secure_erase(), []),
            Self::Array(array) => assert_eq!(array.erase_members(Self::secure_erase), []),
        }
    }

    fn check(&self) {
        match self {
            Self::Plain(_) => {}
            Self::Flash(ssd) => ssd.check().unwrap(),
            Self::Array(array) => array.members().for_each(Self::check),
        }
    }
}

macro_rules! each {
    ($self:expr, $device:ident => $value:expr) => {
        match $self {
            Member::Plain($device) => $value,
            Member::Flash($device) => $value,
            Member::Array($device) => $value,
        }
    };
}

impl Device for Member {
    fn capacity_sectors(&self) -> u64 {
        each!(self, device => device.capacity_sectors())
    }

    fn queue_depth(&self) -> u32 {
        each!(self, device => device.queue_depth())
    }

    fn now_ns(&self) -> Nanos {
        each!(self, device => device.now_ns())
    }

    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        each!(self, device => device.submit(now_ns, command))
    }

    fn next_event(&mut self) -> Option<Nanos> {
        each!(self, device => device.next_event())
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, device => device.advance(until_ns, done));
    }

    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, device => device.advance_to_completion(until_ns, done));
    }
}

fn flash(unit_bytes: u32, write_back: bool) -> SolidStateDrive<PageMap> {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: 1,
        planes_per_die: 2,
        blocks_per_plane: 9,
        pages_per_block: 8,
        page_bytes: 4096,
        oob_bytes: 128,
        two_plane: false,
    };
    let layout = UnitLayout::new(geometry, unit_bytes).unwrap();
    let ftl = FtlConfig {
        user_units: layout.unit_count() * 3 / 10,
        victim_selection: VictimSelection::Greedy,
        choices: 2,
        window_blocks: 4,
        placement: drivelab_ftl::Placement::HostAndCleaning,
        hot_writes: 4,
        hint_streams: 5,
        cleaning_mode: CleaningMode::Relocate,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 3,
        trim_supported: true,
        idle_cleaning_blocks: 4,
        wear_spread_limit: 4,
        journal_updates_per_page: 9,
        checkpoint_updates: 50,
        checkpoint_pages: 3,
        slc_cache: None,
        seed: 7,
    };
    let config = ControllerConfig {
        queue_depth: 4,
        submission: SubmissionConfig::default(),
        link: link(300_000_000),
        firmware: FirmwareConfig {
            cores: 1,
            read_ns: 10_000,
            write_ns: 12_000,
            trim_ns: 5_000,
            flush_ns: 1_000,
            pipeline_ns: 0,
            write_governor: GovernorConfig::default(),
        },
        buffer: BufferConfig {
            units: 20,
            write_back,
            coalesce: true,
            hold_ns: 500_000,
            capacitor: false,
            eviction: BufferEviction::Oldest,
            one_group: false,
        },
        scheduling: SchedulingConfig {
            die_allocation: DieAllocation::EarliestFree,
            programs_per_channel: 0,
            cleaning_pace: CleaningPace::Paced,
            cleaning_copies_at_once: 1,
            in_order: false,
            idle_delay_ns: 1_000_000,
            program_firmware_ns: 0,
            partial_unit_firmware_ns: 0,
            partial_units_at_once: 0,
            read_path_bytes_per_s: 0,
            write_path_bytes_per_s: 0,
            read_ahead_bytes: 0,
        },
        timing: FlashTiming {
            read_ns: 50_000,
            program_fast_ns: 300_000,
            program_slow_ns: 1_500_000,
            erase_ns: 2_000_000,
            command_ns: 4_000,
            decode_ns: 0,
            bus_bytes_per_s: 40_000_000,
            lockstep_channels: 1,
            hold_bus_while_reading: false,
        },
        word_lines: None,
        power: PowerConfig::default(),
    };
    SolidStateDrive::new(PageMap::new(layout, ftl).unwrap(), config).unwrap()
}

fn link(bytes_per_s: u64) -> LinkConfig {
    let link = LinkConfig { bytes_per_s, frame_bytes: 8192, ..LinkConfig::default() };
    LinkConfig { frame_overhead_ns: 2000, command_overhead_ns: 900, ..link }
}

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
