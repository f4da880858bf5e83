//! Whole drives that write logs against a plain map of sectors.

mod failing_blocks;

use crate::commands::{collect, compare_with_plain_map, step};
use drivelab_controller::{
    BufferConfig, BufferEviction, CleaningPace, Command, ControllerConfig, Device, DieAllocation,
    FirmwareConfig, GovernorConfig, LinkConfig, Op, PowerConfig, SchedulingConfig, SolidStateDrive,
    SubmissionConfig,
};
use drivelab_ftl::{
    Books, CleaningMode, CompressedMap, CompressionConfig, FtlConfig, PageMap, Placement, VictimSelection,
};
use drivelab_nand::{FlashTiming, Geometry, UnitLayout};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Shape {
    unit_bytes: u32,
    two_plane: bool,
    allocation: DieAllocation,
    pace: CleaningPace,
    copies_at_once: u32,
    tokens: u32,
    partial_units: u32,
    buffer_units: u32,
    write_back: bool,
    coalesce: bool,
    hold_ns: u64,
    idle_blocks: u32,
    journal: u32,
    placement: Placement,
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
        prop_oneof![Just(CleaningPace::Block), Just(CleaningPace::Paced), Just(CleaningPace::Yielding)],
        1u32..5,
        0u32..3,
        0u32..3,
    );
    let second = (
        16u32..40,
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(0u64), Just(500_000)],
        0u32..4,
        0u32..9,
        prop::sample::select(Placement::ALL),
        any::<u64>(),
    );
    (first, second).prop_map(
        |(
            (unit_bytes, two_plane, allocation, pace, copies_at_once, tokens, partial_units),
            (buffer_units, write_back, coalesce, hold_ns, idle, journal, placement, seed),
        )| Shape {
            unit_bytes,
            two_plane,
            allocation,
            pace,
            copies_at_once,
            tokens,
            partial_units,
            buffer_units,
            write_back,
            coalesce,
            hold_ns,
            idle_blocks: if idle > 0 { idle + 2 } else { 0 },
            journal,
            placement,
            seed,
        },
    )
}

fn geometry(shape: Shape) -> Geometry {
    Geometry {
        channel_count: 2,
        dies_per_channel: 2,
        planes_per_die: 2,
        // Every stream has an open block on every die.
        blocks_per_plane: if shape.two_plane && shape.placement != Placement::HostAndCleaning {
            14
        } else {
            9
        },
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
        window_blocks: 4,
        placement: shape.placement,
        hot_writes: 4,
        hint_streams: 5,
        cleaning_mode: CleaningMode::Relocate,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 3,
        trim_supported: true,
        idle_cleaning_blocks: shape.idle_blocks,
        wear_spread_limit: 4,
        journal_updates_per_page: shape.journal,
        checkpoint_updates: 50,
        checkpoint_pages: 3,
        slc_cache: None,
        seed: shape.seed,
    }
}

fn controller(shape: Shape) -> ControllerConfig {
    ControllerConfig {
        queue_depth: 8,
        submission: SubmissionConfig::default(),
        link: LinkConfig {
            bytes_per_s: 300_000_000,
            frame_bytes: 8192,
            frame_overhead_ns: 2000,
            command_overhead_ns: 900,
            full_duplex: false,
        },
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
            units: shape.buffer_units,
            write_back: shape.write_back,
            coalesce: shape.coalesce,
            hold_ns: shape.hold_ns,
            capacitor: false,
            eviction: BufferEviction::Oldest,
            one_group: false,
        },
        scheduling: SchedulingConfig {
            die_allocation: shape.allocation,
            programs_per_channel: shape.tokens,
            cleaning_pace: shape.pace,
            cleaning_copies_at_once: shape.copies_at_once,
            in_order: false,
            idle_delay_ns: 1_000_000,
            program_firmware_ns: 7_000,
            partial_unit_firmware_ns: 9_000,
            partial_units_at_once: shape.partial_units,
            read_path_bytes_per_s: 100_000_000,
            write_path_bytes_per_s: 80_000_000,
            read_ahead_bytes: 40_000,
        },
        timing: FlashTiming {
            read_ns: 50_000,
            program_fast_ns: 300_000,
            program_slow_ns: 1_500_000,
            erase_ns: 2_000_000,
            command_ns: 4_000,
            decode_ns: 2_000,
            bus_bytes_per_s: 40_000_000,
            lockstep_channels: 1,
            hold_bus_while_reading: shape.seed.is_multiple_of(2),
        },
        word_lines: None,
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
    let shape = Shape { placement: Placement::HostAndCleaning, ..shape };
    let unit_bytes = if shape.unit_bytes == 8192 { 4096 } else { shape.unit_bytes };
    let geometry = Geometry { pages_per_block: 24, ..geometry(shape) };
    let compression = CompressionConfig {
        unit_bytes,
        granule_bytes: 512,
        parity: true,
        trims_deferred: shape.journal == 0 && shape.seed.is_multiple_of(2),
        trim_loss_percent: if shape.seed.is_multiple_of(3) { 33 } else { 0 },
        map_cache_bytes: if shape.journal == 0 { 600 } else { 0 },
        map_fetch_bytes: 64,
    };
    let user_units = (geometry.raw_bytes() / 10 / u64::from(unit_bytes)) as u32;
    let map = CompressedMap::new(geometry, ftl(shape, user_units), compression).unwrap();
    let mut config = controller(shape);
    if shape.tokens == 1 {
        config.firmware.write_governor =
            GovernorConfig { commands_per_s: 2000, burst_commands: 20, credit_ns: 0 };
    }
    let mut drive = SolidStateDrive::new(map, config).unwrap();
    drive.keep_stamps();
    drive
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_what_was_written(shape in shape(), steps in prop::collection::vec(step(), 1..500), depth in 1u32..8) {
        compare_with_plain_map(&mut drive(shape), &steps, depth)?;
    }

    #[test]
    fn reads_what_was_written_compressed(shape in shape(), steps in prop::collection::vec(step(), 1..500), depth in 1u32..8) {
        compare_with_plain_map(&mut compressing_drive(shape), &steps, depth)?;
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
            (done, drive.meters(), *drive.mapping().counters(), drive.energy_nj())
        };
        prop_assert_eq!(run(), run());
    }
}
