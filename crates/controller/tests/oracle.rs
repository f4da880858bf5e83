//! The whole drive against a plain map of sectors: what is read is what was written, every command completes
//! exactly once, and the books balance after every step.

use drivelab_controller::{
    BufferConfig, CleaningPace, Command, Completion, Content, ControllerConfig, Device, DieAllocation,
    FirmwareConfig, GovernorConfig, LinkConfig, Op, PowerConfig, Scheduled, SchedulingConfig,
    SolidStateDrive,
};
use drivelab_ftl::{
    CleaningMode, CompressedMap, CompressionConfig, FtlConfig, Mapping, PageMap, VictimSelection,
};
use drivelab_nand::{FlashTiming, Geometry, UnitLayout};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Shape {
    unit_bytes: u32,
    two_plane: bool,
    allocation: DieAllocation,
    pace: CleaningPace,
    tokens: u32,
    buffer_units: u32,
    write_back: bool,
    coalesce: bool,
    hold_ns: u64,
    idle_blocks: u32,
    journal: u32,
    seed: u64,
}

fn shape() -> impl Strategy<Value = Shape> {
    let first = (
        prop_oneof![Just(4096u32), Just(2048), Just(8192), Just(1536)],
        any::<bool>(),
        prop_oneof![
            Just(DieAllocation::RoundRobin),
            Just(DieAllocation::ChannelRoundRobin),
            Just(DieAllocation::EarliestFree)
        ],
        prop_oneof![Just(CleaningPace::Block), Just(CleaningPace::Paced)],
        0u32..3,
    );
    let second = (
        16u32..40,
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(0u64), Just(500_000)],
        0u32..4,
        0u32..9,
        any::<u64>(),
    );
    (first, second).prop_map(
        |(
            (unit_bytes, two_plane, allocation, pace, tokens),
            (buffer_units, write_back, coalesce, hold_ns, idle, journal, seed),
        )| Shape {
            unit_bytes,
            two_plane,
            allocation,
            pace,
            tokens,
            buffer_units,
            write_back,
            coalesce,
            hold_ns,
            idle_blocks: if idle > 0 { idle + 2 } else { 0 },
            journal,
            seed,
        },
    )
}

fn geometry(shape: Shape) -> Geometry {
    Geometry {
        channel_count: 2,
        dies_per_channel: 2,
        planes_per_die: 2,
        blocks_per_plane: 9,
        pages_per_block: 8,
        page_bytes: 4096,
        oob_bytes: 128,
        two_plane: shape.two_plane,
    }
}

fn ftl(shape: Shape, user_units: u32) -> FtlConfig {
    FtlConfig {
        user_units,
        victim_selection: VictimSelection::Greedy,
        choices: 2,
        cleaning_mode: CleaningMode::Relocate,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 3,
        idle_cleaning_blocks: shape.idle_blocks,
        wear_spread_limit: 4,
        journal_updates_per_page: shape.journal,
        checkpoint_updates: 50,
        checkpoint_pages: 3,
        seed: shape.seed,
    }
}

fn controller(shape: Shape) -> ControllerConfig {
    ControllerConfig {
        queue_depth: 8,
        link: LinkConfig {
            bytes_per_s: 300_000_000,
            frame_bytes: 8192,
            frame_overhead_ns: 2000,
            command_overhead_ns: 900,
        },
        firmware: FirmwareConfig {
            read_ns: 10_000,
            write_ns: 12_000,
            trim_ns: 5_000,
            flush_ns: 1_000,
            pipeline_ns: 0,
            write_governor: GovernorConfig::default(),
        },
        buffer: BufferConfig {
            units: shape.buffer_units,
            write_back: shape.write_back,
            coalesce: shape.coalesce,
            hold_ns: shape.hold_ns,
            capacitor: false,
        },
        scheduling: SchedulingConfig {
            die_allocation: shape.allocation,
            programs_per_channel: shape.tokens,
            cleaning_pace: shape.pace,
            idle_delay_ns: 1_000_000,
        },
        timing: FlashTiming {
            read_ns: 50_000,
            program_fast_ns: 300_000,
            program_slow_ns: 1_500_000,
            erase_ns: 2_000_000,
            command_ns: 4_000,
            bus_bytes_per_s: 40_000_000,
            lockstep_channels: 1,
            hold_bus_while_reading: shape.seed.is_multiple_of(2),
        },
        power: PowerConfig {
            idle_mw: 60,
            active_mw: 100,
            firmware_mw: 300,
            link_mw: 100,
            bus_mw: 10,
            read_mw: 50,
            program_mw: 80,
            erase_mw: 80,
        },
    }
}

fn drive(shape: Shape) -> SolidStateDrive<PageMap> {
    let layout = UnitLayout::new(geometry(shape), shape.unit_bytes).unwrap();
    let map = PageMap::new(layout, ftl(shape, layout.unit_count() * 3 / 10)).unwrap();
    let mut drive = SolidStateDrive::new(map, controller(shape)).unwrap();
    drive.keep_stamps();
    drive
}

/// Parity over four dies, four or more granules a unit.
fn compressing_drive(shape: Shape) -> SolidStateDrive<CompressedMap> {
    let unit_bytes = if shape.unit_bytes == 8192 { 4096 } else { shape.unit_bytes };
    let geometry = Geometry { pages_per_block: 24, ..geometry(shape) };
    let compression = CompressionConfig {
        unit_bytes,
        granule_bytes: 512,
        parity: true,
        trim_frees_percent: 70,
        map_cache_bytes: 600,
        map_fetch_bytes: 64,
    };
    let user_units = (geometry.raw_bytes() / 7 / u64::from(unit_bytes)) as u32;
    let map = CompressedMap::new(geometry, ftl(shape, user_units), compression).unwrap();
    let mut config = controller(shape);
    if shape.tokens == 1 {
        config.firmware.write_governor = GovernorConfig { commands_per_s: 2000, burst_commands: 20 };
    }
    let mut drive = SolidStateDrive::new(map, config).unwrap();
    drive.keep_stamps();
    drive
}

/// Contents of every kind, decided by a write's number.
fn content(number: u32) -> Content {
    match number % 5 {
        0 => Content::ZEROS,
        1 => Content { compressed_permille: 300, duplicate_permille: 0, pool: 1, seed: number },
        2 => Content { compressed_permille: 700, duplicate_permille: 600, pool: 3, seed: number },
        3 => Content { compressed_permille: 1000, duplicate_permille: 900, pool: 2, seed: number },
        _ => Content::RANDOM,
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write { at: u32, sectors: u32, fua: bool },
    Read { at: u32, sectors: u32 },
    Trim { at: u32, sectors: u32 },
    Flush,
    Wait { micros: u32 },
    Erase,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (any::<u32>(), 1u32..40, prop::bool::weighted(0.1)).prop_map(|(at, sectors, fua)| Step::Write { at, sectors, fua }),
        6 => (any::<u32>(), 1u32..60).prop_map(|(at, sectors)| Step::Read { at, sectors }),
        2 => (any::<u32>(), 1u32..60).prop_map(|(at, sectors)| Step::Trim { at, sectors }),
        1 => Just(Step::Flush),
        2 => (0u32..5000).prop_map(|micros| Step::Wait { micros }),
        1 => (0u32..40).prop_map(|pick| if pick == 0 { Step::Erase } else { Step::Flush }),
    ]
}

/// Waits until a command slot is free; checks what completed.
fn collect<M: Scheduled>(drive: &mut SolidStateDrive<M>, done: &mut Vec<Completion>, until_outstanding: u32) {
    while drive.outstanding() > until_outstanding {
        let next = drive.next_event().expect("a command inside must lead to an event");
        drive.advance(next, done);
    }
}

/// The steps on a drive and on a plain map.
fn compare<M: Scheduled>(
    drive: &mut SolidStateDrive<M>,
    steps: &[Step],
    depth: u32,
) -> Result<(), TestCaseError> {
    let sectors_in_unit = u64::from(drive.mapping().sectors_per_unit());
    let capacity = drive.capacity_sectors();
    let mut oracle = vec![0u64; capacity as usize];
    let mut done = Vec::new();
    let mut submitted = 0u64;
    let mut stamp = 1u64;
    let mut written = 0u64;
    let mut expected: Vec<(u32, Vec<u64>)> = Vec::new();
    for (tag, step) in steps.iter().enumerate() {
        let tag = tag as u32;
        // Reads are compared when the firmware works on them, so earlier commands must be in by then: the
        // firmware takes commands in order, which is all that the oracle relies on.
        let place = |at: u32, sectors: u32| {
            let lba = u64::from(at) % capacity;
            (lba, sectors.min((capacity - lba) as u32))
        };
        let command = match *step {
            Step::Write { at, sectors, fua } => {
                let (lba, sectors) = place(at, sectors);
                // Writes may wait for buffer space while later reads overtake them: let them in first.
                for index in 0..u64::from(sectors) {
                    oracle[(lba + index) as usize] = stamp + index;
                }
                let command = Command {
                    fua,
                    stamp,
                    content: content(tag),
                    ..Command::new(tag, Op::Write, lba, sectors)
                };
                stamp += u64::from(sectors);
                written += u64::from(sectors) * 512;
                command
            }
            Step::Read { at, sectors } => {
                let (lba, sectors) = place(at, sectors);
                collect(drive, &mut done, 0);
                expected.push((tag, oracle[lba as usize..(lba + u64::from(sectors)) as usize].to_vec()));
                Command::new(tag, Op::Read, lba, sectors)
            }
            Step::Trim { at, sectors } => {
                let (lba, sectors) = place(at, sectors);
                collect(drive, &mut done, 0);
                for unit in lba.div_ceil(sectors_in_unit)..(lba + u64::from(sectors)) / sectors_in_unit {
                    oracle[(unit * sectors_in_unit) as usize..((unit + 1) * sectors_in_unit) as usize]
                        .fill(0);
                }
                Command::new(tag, Op::Trim, lba, sectors)
            }
            Step::Flush => Command::new(tag, Op::Flush, 0, 0),
            Step::Wait { micros } => {
                let until = drive.now_ns() + u64::from(micros) * 1000;
                drive.advance(until, &mut done);
                continue;
            }
            Step::Erase => {
                collect(drive, &mut done, 0);
                drive.secure_erase();
                oracle.fill(0);
                drive.check().map_err(TestCaseError::fail)?;
                prop_assert_eq!(drive.mapping().valid_units(), 0);
                continue;
            }
        };
        collect(drive, &mut done, depth - 1);
        let now = drive.now_ns();
        drive.submit(now, command).unwrap();
        submitted += 1;
        if tag.is_multiple_of(8) {
            drive.check().map_err(TestCaseError::fail)?;
        }
    }
    collect(drive, &mut done, 0);
    prop_assert_eq!(done.len() as u64, submitted, "every command completes exactly once");
    let mut tags: Vec<u32> = done.iter().map(|completion| completion.tag).collect();
    tags.sort_unstable();
    tags.dedup();
    prop_assert_eq!(tags.len() as u64, submitted);
    for completion in &done {
        prop_assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
    }
    prop_assert!(done.is_sorted_by_key(|completion| completion.completed_ns));
    prop_assert_eq!(drive.meters().host_write_bytes, written);
    for (tag, stamps) in drive.take_read_stamps() {
        let (_, wanted) = expected.iter().find(|(wanted, _)| *wanted == tag).unwrap();
        prop_assert_eq!(&stamps, wanted, "read {}", tag);
    }
    // After a flush everything is in flash.
    let now = drive.now_ns();
    drive.submit(now, Command::new(u32::MAX, Op::Flush, 0, 0)).unwrap();
    collect(drive, &mut done, 0);
    drive.check().map_err(TestCaseError::fail)?;
    for (lba, &stamp) in oracle.iter().enumerate() {
        let unit = (lba as u64 / sectors_in_unit) as u32;
        let sector = lba % sectors_in_unit as usize;
        let found = drive.mapping().stamps_of(drivelab_nand::Lpn(unit)).map_or(0, |stamps| stamps[sector]);
        prop_assert_eq!(found, stamp, "sector {}", lba);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_what_was_written(shape in shape(), steps in prop::collection::vec(step(), 1..500), depth in 1u32..8) {
        compare(&mut drive(shape), &steps, depth)?;
    }

    #[test]
    fn reads_what_was_written_compressed(shape in shape(), steps in prop::collection::vec(step(), 1..500), depth in 1u32..8) {
        compare(&mut compressing_drive(shape), &steps, depth)?;
    }

    #[test]
    fn one_seed_one_result_to_the_bit(shape in shape(), steps in prop::collection::vec((any::<u32>(), 1u32..30), 50..200)) {
        let run = || {
            let mut drive = drive(shape);
            let mut done = Vec::new();
            for (tag, &(at, sectors)) in steps.iter().enumerate() {
                collect(&mut drive, &mut done, 3);
                let lba = u64::from(at) % (drive.capacity_sectors() - 30);
                let now = drive.now_ns();
                drive.submit(now, Command::new(tag as u32, if at % 3 == 0 { Op::Read } else { Op::Write }, lba, sectors)).unwrap();
            }
            collect(&mut drive, &mut done, 0);
            (done, *drive.meters(), *drive.mapping().counters(), drive.energy_nj())
        };
        prop_assert_eq!(run(), run());
    }
}
