//! Whole drives with merging schemes against a plain map of sectors, and against arithmetic.

use crate::commands::{collect, compare_with_plain_map, step};
use drivelab_controller::{
    BufferConfig, BufferEviction, Command, Completion, ControllerConfig, Device, FirmwareConfig,
    GovernorConfig, LinkConfig, Op, PowerConfig, Scheduled, SchedulingConfig, SolidStateDrive,
    SubmissionConfig,
};
use drivelab_ftl::log_block_map::LogBlocks;
use drivelab_ftl::superblock_map::OneReplacement;
use drivelab_ftl::{Books, MergeConfig, MergeMap, MergeScheme};
use drivelab_nand::{FlashTiming, Geometry, UnitLayout};
use proptest::prelude::*;

const ROWS: u32 = 8;
const UNITS_PER_ROW: u32 = 4;
const BANKS: u32 = 4;

const TIMING: FlashTiming = FlashTiming {
    read_ns: 50_000,
    program_fast_ns: 900_000,
    program_slow_ns: 900_000,
    erase_ns: 2_000_000,
    command_ns: 4_000,
    decode_ns: 0,
    bus_bytes_per_s: 40_000_000,
    lockstep_channels: 2,
    hold_bus_while_reading: false,
};

fn layout(blocks: u32, rows: u32) -> UnitLayout {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: BANKS,
        planes_per_die: 2,
        blocks_per_plane: blocks,
        pages_per_block: rows,
        page_bytes: 8192,
        oob_bytes: 128,
        two_plane: true,
    };
    UnitLayout::new(geometry, 4096).unwrap()
}

fn controller(buffer: BufferConfig) -> ControllerConfig {
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
            pipeline_ns: 0,
            flush_ns: 1_000,
            write_governor: GovernorConfig::default(),
        },
        buffer,
        scheduling: SchedulingConfig {
            die_allocation: drivelab_controller::DieAllocation::EarliestFree,
            programs_per_channel: 0,
            cleaning_pace: drivelab_controller::CleaningPace::Paced,
            cleaning_copies_at_once: 1,
            in_order: false,
            idle_delay_ns: 1_000_000,
            program_firmware_ns: 0,
            partial_unit_firmware_ns: 0,
            partial_units_at_once: 0,
            read_path_bytes_per_s: 0,
            write_path_bytes_per_s: 0,
            read_ahead_bytes: 40_000,
        },
        timing: TIMING,
        word_lines: None,
        power: PowerConfig::default(),
    }
}

fn buffer(units: u32) -> BufferConfig {
    BufferConfig {
        units,
        write_back: true,
        coalesce: true,
        hold_ns: 5_000_000,
        capacitor: false,
        eviction: BufferEviction::Oldest,
        one_group: false,
    }
}

fn config(user_units: u32) -> MergeConfig {
    MergeConfig {
        user_units,
        interleaved_banks: 2,
        trim_supported: false,
        rotation_merges: 0,
        rotation_superblocks: 0,
        reserve_blocks: 8,
        log_blocks: 0,
        seed: 9,
    }
}

fn drive<S: MergeScheme>(
    blocks: u32,
    config: MergeConfig,
    buffer: BufferConfig,
) -> SolidStateDrive<MergeMap<S>> {
    SolidStateDrive::new(MergeMap::new(layout(blocks, ROWS), config).unwrap(), controller(buffer)).unwrap()
}

fn some_config() -> impl Strategy<Value = MergeConfig> {
    (0u32..3, any::<bool>(), 0u32..3, 0u32..4, 0u32..3, any::<u64>()).prop_map(
        |(interleave, trim_supported, rotation, reserve_blocks, log_blocks, seed)| MergeConfig {
            user_units: 5 * BANKS * ROWS * UNITS_PER_ROW - 3,
            interleaved_banks: 1 << interleave,
            trim_supported,
            rotation_merges: 3,
            rotation_superblocks: rotation,
            reserve_blocks,
            log_blocks,
            seed,
        },
    )
}

fn some_buffer() -> impl Strategy<Value = BufferConfig> {
    (4u32..40, any::<bool>(), any::<bool>(), 0u64..3, 0u8..3, any::<bool>()).prop_map(
        |(units, write_back, coalesce, hold, eviction, one_group)| BufferConfig {
            units,
            write_back,
            coalesce,
            hold_ns: hold * 700_000,
            capacitor: false,
            eviction: match eviction {
                0 => BufferEviction::Oldest,
                1 => BufferEviction::Fullest,
                _ => BufferEviction::Random,
            },
            one_group,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_superblock_map_reads_what_was_written(
        config in some_config(),
        buffer in some_buffer(),
        steps in prop::collection::vec(step(), 1..300),
        depth in 1u32..8,
    ) {
        let mut drive = drive::<OneReplacement>(9, config, buffer);
        drive.keep_stamps();
        compare_with_plain_map(&mut drive, &steps, depth)?;
    }

    #[test]
    fn a_log_block_map_reads_what_was_written(
        config in some_config(),
        buffer in some_buffer(),
        steps in prop::collection::vec(step(), 1..300),
        depth in 1u32..8,
    ) {
        let mut drive = drive::<LogBlocks>(9, config, buffer);
        drive.keep_stamps();
        compare_with_plain_map(&mut drive, &steps, depth)?;
    }
}

/// Writes one after another at a queue depth; gives the time from the first submission to the last completion.
fn write_all<M: Scheduled>(
    drive: &mut SolidStateDrive<M>,
    depth: u32,
    writes: impl Iterator<Item = (u64, u32)>,
) -> u64 {
    let mut done: Vec<Completion> = Vec::new();
    let begin = drive.now_ns();
    for (lba, sectors) in writes {
        collect(drive, &mut done, depth - 1);
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Write, lba, sectors)).unwrap();
    }
    collect(drive, &mut done, 0);
    drive.now_ns() - begin
}

fn fill<M: Scheduled>(drive: &mut SolidStateDrive<M>) -> u64 {
    let sectors = drive.capacity_sectors();
    write_all(drive, 1, (0..sectors / 256).map(|index| (index * 256, 256)))
}

/// A row copied: sense, out, in, program.
fn row_ns() -> u64 {
    TIMING.read_ns + 2 * TIMING.bus_ns(2 * (8192 + 128)) + TIMING.program_slow_ns
}

#[test]
fn one_merge_a_write_without_a_cache() {
    let user = 64 * BANKS * ROWS * UNITS_PER_ROW;
    for is_used in [false, true] {
        let mut drive = drive::<OneReplacement>(66, config(user), buffer(UNITS_PER_ROW));
        if is_used {
            fill(&mut drive);
        }
        let writes = 300u64;
        // Each to another superblock.
        let time = write_all(
            &mut drive,
            3,
            (0..writes)
                .map(|index| (index * 7919 % 256 * u64::from(ROWS * UNITS_PER_ROW) * 8 + index % 4 * 8, 8)),
        );
        let merge_ns = u64::from(ROWS) * row_ns() + TIMING.erase_ns;
        let ratio = time as f64 / (writes * merge_ns) as f64;
        assert!((0.97..1.03).contains(&ratio), "{ratio} of a merge a write, used: {is_used}");
    }
}

#[test]
fn a_buffer_of_one_group_acknowledges_what_goes_on_and_makes_another_place_wait_for_the_merge() {
    let superblock = u64::from(ROWS * UNITS_PER_ROW) * 8;
    let merge_ns = u64::from(ROWS - 1) * row_ns();
    for (one_group, waits) in [(false, false), (true, true)] {
        let buffer = BufferConfig { one_group, ..buffer(4 * UNITS_PER_ROW) };
        let mut drive = drive::<OneReplacement>(66, config(64 * BANKS * ROWS * UNITS_PER_ROW), buffer);
        // The last row of a superblock: all others are copied before it.
        let last_row = superblock * u64::from(BANKS) - 16;
        for lba in [last_row, last_row + 8] {
            let time = write_all(&mut drive, 1, [(lba, 8)].into_iter());
            assert!(time < merge_ns / 10, "{time} ns at {lba}, which goes on");
        }
        let time = write_all(&mut drive, 1, [(9 * superblock, 8)].into_iter());
        assert_eq!(time > merge_ns / 2, waits, "{time} ns elsewhere, a merge takes {merge_ns} ns");
    }
}

#[test]
fn sequential_writing_keeps_the_interleaved_banks_busy() {
    // Superblocks much longer than the buffer, so that it never reaches from one stripe to the next.
    let rows = 128;
    for interleaved_banks in [1u32, 2, 4] {
        let config = MergeConfig { interleaved_banks, ..config(8 * BANKS * rows * UNITS_PER_ROW) };
        let map = MergeMap::<LogBlocks>::new(layout(18, rows), config).unwrap();
        let mut drive =
            SolidStateDrive::new(map, controller(buffer(2 * UNITS_PER_ROW * interleaved_banks))).unwrap();
        fill(&mut drive);
        let before = *drive.mapping().counters();
        let time = fill(&mut drive);
        let counters = *drive.mapping().counters();
        assert_eq!(counters.merges_full + counters.merges_partial, 0);
        let programs = counters.programs_host - before.programs_host;
        let bank_ns =
            TIMING.bus_ns(2 * (8192 + 128)) + TIMING.program_slow_ns + TIMING.erase_ns / u64::from(rows);
        let formula = programs * bank_ns / u64::from(interleaved_banks);
        let ratio = time as f64 / formula as f64;
        assert!((0.95..1.1).contains(&ratio), "{ratio} of {formula} ns with {interleaved_banks} banks");
    }
}

#[test]
fn a_larger_cache_absorbs_more_writes_per_merge() {
    // M superblocks, writes at random, the oldest superblock leaves: with k writes a merge, of which the first waits
    // for all others, a share (k - 1) / k of the superblocks waits, with (k + 1) / 2 writes on average.
    let superblocks = 64 * BANKS;
    let user = superblocks * ROWS * UNITS_PER_ROW;
    for units in [64u32, 256, 1024] {
        let mut drive = drive::<LogBlocks>(74, config(user), buffer(units));
        fill(&mut drive);
        let mut state = 1u64;
        let mut place = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % u64::from(user)
        };
        write_all(&mut drive, 4, (0..8 * u64::from(units)).map(|_| (place() * 8, 8)));
        let before = *drive.mapping().counters();
        let coalesced = drive.meters().coalesced_bytes;
        let writes = 8 * u64::from(units);
        write_all(&mut drive, 4, (0..writes).map(|_| (place() * 8, 8)));
        let merges = drive.mapping().counters().merges_full - before.merges_full;
        let absorbed = (writes - (drive.meters().coalesced_bytes - coalesced) / 4096) as f64 / merges as f64;
        let waiting = f64::from(units) / f64::from(superblocks);
        // (k - 1)(k + 1) / (2 k) = waiting units per superblock.
        let formula = waiting + (waiting * waiting + 1.0).sqrt();
        assert!(
            (absorbed / formula - 1.0).abs() < 0.1,
            "{units} units: {absorbed} a merge, formula {formula}"
        );
    }
}

#[test]
fn a_read_waits_for_the_row_that_the_firmware_copies_and_no_longer() {
    let superblock = u64::from(ROWS * UNITS_PER_ROW) * 8;
    let at_once = BufferConfig { hold_ns: 0, ..buffer(4 * UNITS_PER_ROW) };
    let mut drive = drive::<OneReplacement>(66, config(64 * BANKS * ROWS * UNITS_PER_ROW), at_once);
    fill(&mut drive);
    let rest = |drive: &mut SolidStateDrive<MergeMap<OneReplacement>>| {
        let later = drive.now_ns() + 20 * row_ns();
        drive.advance(later, &mut Vec::new());
    };
    rest(&mut drive);
    let mut done = Vec::new();
    let mut read = |drive: &mut SolidStateDrive<MergeMap<OneReplacement>>, index: u64| {
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Read, index * superblock, 8)).unwrap();
        collect(drive, &mut done, 0);
        drive.now_ns() - now
    };
    let alone = read(&mut drive, 100);
    // The last unit of a superblock, two of which lie in stripes: all rows before it are copied, and nobody waits for it.
    write_all(&mut drive, 1, [(2 * superblock - 8, 8)].into_iter());
    // Superblocks in a row lie on all banks: that of the merge is one of them.
    let during: Vec<u64> = (0..u64::from(ROWS) - 3).map(|index| read(&mut drive, 40 + index)).collect();
    let (shortest, longest) = (during.iter().min().unwrap(), during.iter().max().unwrap());
    assert!(*shortest > row_ns() / 2, "{during:?}: the firmware served a read in the middle of a row");
    // Its own data may find the row's on the bus, out and in.
    let most = alone + row_ns() + 2 * TIMING.bus_ns(2 * (8192 + 128));
    assert!(*longest <= most, "{during:?}: longer than a row");
    rest(&mut drive);
    assert_eq!(read(&mut drive, 60), alone, "the merge is done");
}
