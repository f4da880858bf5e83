//! An SLC cache in time, against arithmetic on the model's own parameters: rates of the phases of a fill, pages of the
//! cache that are read and written, folding in pauses.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::Drive;
use drivelab_sim::sabotage::{self, Sabotage};

const PLANES: u64 = 4;
const BITS: u64 = 3;
const SLC_READ_NS: u64 = 20_000;
const SLC_PROGRAM_NS: u64 = 200_000;
const PROGRAM_NS: u64 = 2_000_000;
const IDLE_NS: u64 = 50_000_000;
/// A unit of 4 KiB and its share of the out-of-band bytes at 4 GB/s.
const UNIT_BUS_NS: u64 = (4096 + 512) / 4;
const SLC_UNITS: u64 = PLANES * 4;
const LINE_UNITS: u64 = SLC_UNITS * BITS;
const PAGES: u64 = 24;
const BLOCKS: u64 = 100;
const BUFFER_UNITS: u64 = 1536;
/// Data of a block of the cache.
const SLC_BLOCK: u64 = PAGES * SLC_UNITS * 4096;

fn drive(channels: u64, overrides: &[(&str, &str)]) -> Drive {
    let channels = channels.to_string();
    let (blocks, pages) = (BLOCKS.to_string(), (PAGES * BITS).to_string());
    let (slc_read, slc_program) = (SLC_READ_NS.to_string(), SLC_PROGRAM_NS.to_string());
    let (program, idle) = (PROGRAM_NS.to_string(), IDLE_NS.to_string());
    let mut pairs = vec![
        ("flash.channel_count", &*channels),
        ("flash.dies_per_channel", "1"),
        ("flash.planes_per_die", "4"),
        ("flash.blocks_per_plane", &*blocks),
        ("flash.pages_per_block", &*pages),
        ("flash.page_bytes", "16384"),
        ("flash.oob_bytes", "2048"),
        ("flash.read_ns", "40000"),
        ("flash.read_middle_ns", "40000"),
        ("flash.read_upper_ns", "40000"),
        ("flash.planes_per_read", "4"),
        ("flash.program_ns", &*program),
        ("flash.erase_ns", "0"),
        ("flash.slc_read_ns", &*slc_read),
        ("flash.slc_program_ns", &*slc_program),
        ("flash.slc_erase_ns", "0"),
        ("flash.command_ns", "0"),
        ("flash.bus_bytes_per_s", "4000000000"),
        ("slc_cache.reserve_bytes", "0"),
        ("slc_cache.fold_dies", "0"),
        ("ftl.journal_updates_per_page", "0"),
        ("controller.read_firmware_ns", "0"),
        ("controller.write_firmware_ns", "0"),
        ("controller.flush_firmware_ns", "0"),
        ("controller.pipeline_ns", "0"),
        ("controller.read_ahead_bytes", "0"),
        ("controller.idle_delay_ns", &*idle),
        ("link.bytes_per_s", "0"),
        ("link.command_overhead_ns", "0"),
        ("write_buffer.size_bytes", "6291456"),
        ("write_buffer.hold_ns", "1000"),
    ];
    for &(key, value) in overrides {
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some(pair) => pair.1 = value,
            None => pairs.push((key, value)),
        }
    }
    let user = (channels.parse::<u64>().unwrap() * BLOCKS * PAGES * LINE_UNITS * 4096 * 85 / 100).to_string();
    pairs.push(("user_capacity_bytes", &*user));
    Drive::new(Arc::new(shipped::varied("crucial-t500-2tb", &pairs).unwrap()), 1).unwrap()
}

fn submit(drive: &mut Drive, op: Op, unit: u64, units: u64) {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, 8 * unit, 8 * units as u32)).unwrap();
}

fn next(drive: &mut Drive) -> Vec<Completion> {
    let mut done = Vec::new();
    drive.advance_to_completion(u64::MAX, &mut done);
    done
}

/// Writes units in order, 256 KiB at a time, and gives the rate in bytes/ns.
fn write(drive: &mut Drive, units: std::ops::Range<u64>) -> f64 {
    let (begin, bytes) = (drive.now_ns(), (units.end - units.start) * 4096);
    for unit in units.step_by(64) {
        submit(drive, Op::Write, unit, 64);
        next(drive);
    }
    bytes as f64 / (drive.now_ns() - begin) as f64
}

fn count(drive: &Drive, key: &str) -> u64 {
    drive.counters()[key].as_u64().unwrap()
}

fn is_near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, by formula {expected}");
}

/// Rates of a die that writes to the cache, and natively.
fn rates() -> (f64, f64) {
    let of = |units: u64, program_ns: u64| (units * 4096) as f64 / (program_ns + units * UNIT_BUS_NS) as f64;
    (of(SLC_UNITS, SLC_PROGRAM_NS), of(LINE_UNITS, PROGRAM_NS))
}

fn max_bytes(blocks: u64) -> String {
    (blocks * SLC_BLOCK).to_string()
}

#[test]
fn a_page_of_the_cache_takes_its_own_times() {
    let mut drive = drive(1, &[]);
    submit(&mut drive, Op::Write, 0, SLC_UNITS);
    submit(&mut drive, Op::Flush, 0, 0);
    let flush = [next(&mut drive), next(&mut drive)].concat().pop().unwrap();
    assert_eq!(flush.latency_ns(), SLC_UNITS * UNIT_BUS_NS + SLC_PROGRAM_NS);
    assert_eq!(count(&drive, "program_bytes_host"), SLC_UNITS * 4096);
    assert_eq!(count(&drive, "program_bytes_slc"), SLC_UNITS * 4096);
    for unit in 0..SLC_UNITS {
        submit(&mut drive, Op::Read, unit, 1);
        assert_eq!(next(&mut drive)[0].latency_ns(), SLC_READ_NS + UNIT_BUS_NS, "unit {unit}");
    }
    submit(&mut drive, Op::Read, 0, SLC_UNITS);
    assert_eq!(next(&mut drive)[0].latency_ns(), SLC_READ_NS + SLC_UNITS * UNIT_BUS_NS);
}

#[test]
fn the_phases_of_a_fill_have_the_rates_of_their_programs() {
    let (slc, native) = rates();
    for channels in [1, 2, 4] {
        let blocks = 20 * channels;
        let mut drive = drive(channels, &[("slc_cache.max_bytes", &max_bytes(blocks))]);
        let units = |bytes: u64| bytes / 4096 / 64 * 64;
        let cached = units(blocks * SLC_BLOCK * 9 / 10);
        // The buffer takes what it has room for at once.
        write(&mut drive, 0..BUFFER_UNITS);
        is_near(write(&mut drive, BUFFER_UNITS..cached), channels as f64 * slc, 0.06);
        let later = units(blocks * SLC_BLOCK * 13 / 10);
        write(&mut drive, cached..later);
        is_near(write(&mut drive, later..2 * later), channels as f64 * native, 0.03);
        assert_eq!(count(&drive, "program_bytes_slc"), blocks * SLC_BLOCK);
        assert_eq!(count(&drive, "program_bytes_folding"), 0);
    }
}

#[test]
fn everything_through_the_cache_takes_both_programs_one_after_the_other() {
    let (slc, native) = rates();
    let sizes = [("slc_cache.max_bytes", &*max_bytes(40)), ("slc_cache.when_full", "wait")];
    for channels in [2, 4] {
        let mut drive = drive(channels, &sizes);
        let end = 2 * 40 * SLC_BLOCK / 4096 / 64 * 64;
        write(&mut drive, 0..end);
        let rate = write(&mut drive, end..3 * end / 2);
        // Folding reads a word line of the cache for each bit, and moves it.
        let reads_ns = (BITS * SLC_READ_NS + LINE_UNITS * UNIT_BUS_NS) as f64 / (LINE_UNITS * 4096) as f64;
        is_near(rate, channels as f64 / (1.0 / slc + 1.0 / native + reads_ns), 0.05);
        assert_eq!(count(&drive, "program_bytes_host"), count(&drive, "program_bytes_slc"));
    }
}

#[test]
fn dies_that_fold_beside_native_writes_take_their_share_of_them() {
    let (_, native) = rates();
    for fold_dies in [1u64, 2] {
        let mut drive = drive(
            4,
            &[
                ("slc_cache.max_bytes", &*max_bytes(120)),
                ("slc_cache.when_full", "refill"),
                ("slc_cache.fold_dies", &*fold_dies.to_string()),
            ],
        );
        let end = 120 * SLC_BLOCK / 4096 / 64 * 64;
        write(&mut drive, 0..end + end / 20);
        let rate = write(&mut drive, end + end / 20..end + end / 4);
        is_near(rate, (4 - fold_dies) as f64 * native, 0.06);
    }
}

#[test]
fn a_fill_behind_the_last_free_block_folds_for_its_room() {
    let (_, native) = rates();
    let mut drive = drive(2, &[("slc_cache.max_bytes", &*max_bytes(200))]);
    let all = drive.capacity_sectors() / 8 / 64 * 64;
    // (Raw - what cleaning keeps free) / bits, of the 85 % of it that the host has.
    let begin = all * 45 / 100;
    write(&mut drive, 0..begin);
    let rate = write(&mut drive, begin..all * 55 / 100);
    // Each native page of the host takes 1 / (bits - 1) of a page of copies, with their reads.
    let reads_ns = (BITS * SLC_READ_NS + LINE_UNITS * UNIT_BUS_NS) as f64 / (LINE_UNITS * 4096) as f64;
    let folded = (1.0 / native + reads_ns) / (BITS - 1) as f64;
    is_near(rate, 2.0 / (1.0 / native + folded), 0.08);
}

#[test]
fn dies_that_take_turns_to_fold_leave_the_host_no_pause() {
    const DIES: u64 = 16;
    let mut drive = drive(DIES, &[("slc_cache.fold_dies", "2")]);
    let units = drive.capacity_sectors() / 8;
    let mut longest = 0;
    for unit in (0..units).step_by(64) {
        submit(&mut drive, Op::Write, unit, units.saturating_sub(unit).min(64));
        longest = next(&mut drive).iter().map(Completion::latency_ns).max().unwrap().max(longest);
    }
    // A block of the cache: its pages read and moved off the die and back, and programmed in a third as many word lines.
    let fold_ns = PAGES * (SLC_READ_NS + 2 * SLC_UNITS * UNIT_BUS_NS) + PAGES / BITS * PROGRAM_NS;
    // A die folds one or two, then it has room; two do so at a time. A round of all dies are eight.
    assert!(longest < 3 * fold_ns, "{longest}, a block is folded in {fold_ns}");
}

#[test]
fn a_pause_gives_the_cache_back() {
    let mut drive = drive(2, &[("slc_cache.max_bytes", &*max_bytes(20))]);
    let end = 20 * SLC_BLOCK / 4096 / 64 * 64;
    let first = write(&mut drive, 0..end * 9 / 10);
    write(&mut drive, end * 9 / 10..end * 3 / 2);
    drive.idle(IDLE_NS / 2);
    assert_eq!(count(&drive, "program_bytes_folding"), 0, "it waits for the delay");
    drive.idle(20_000_000_000);
    assert_eq!(count(&drive, "program_bytes_folding"), 20 * SLC_BLOCK);
    assert_eq!(count(&drive, "slc_cache_bytes"), 0);
    assert!(drive.engine().backlog().is_empty());
    is_near(write(&mut drive, end * 2..end * 29 / 10), first, 0.02);
    drive.engine().check().unwrap();
}

/// The most pages of the journal that are due while all dies fold a full cache at rest.
fn most_pages_due(channels: u64, updates_per_page: u64, checkpoint_pages: u64) -> u64 {
    let mut drive = drive(
        channels,
        &[
            ("slc_cache.max_bytes", &max_bytes(20 * channels)),
            ("ftl.journal_updates_per_page", &updates_per_page.to_string()),
            ("ftl.checkpoint_updates", &(2000 * checkpoint_pages).to_string()),
            ("ftl.checkpoint_bytes", &(checkpoint_pages * LINE_UNITS * 4096).to_string()),
        ],
    );
    write(&mut drive, 0..20 * channels * SLC_BLOCK / 4096 / 64 * 64);
    let (mut most, end) = (0, drive.now_ns() + IDLE_NS + 10_000_000_000);
    while !drive.engine().backlog().is_empty() {
        assert!(drive.now_ns() < end, "{:?} after rest", drive.engine().backlog());
        drive.idle(PROGRAM_NS / 20);
        most = most.max(drive.engine().backlog().metadata_pages);
    }
    drive.engine().check().unwrap();
    most
}

#[test]
fn pages_of_the_journal_come_first_when_two_for_every_die_wait_for_folding() {
    let (channels, updates_per_page) = (4, 64);
    for checkpoint_pages in [0, 2] {
        let waiting = checkpoint_pages + 2 * channels;
        // Every die may have begun a page of copies, whose units are updates of the map.
        let begun = channels * LINE_UNITS.div_ceil(updates_per_page);
        let due = || most_pages_due(channels, updates_per_page, checkpoint_pages);
        let most = due();
        assert!(waiting < most && most <= waiting + begun, "{most} pages due, {waiting} wait, {begun} begun");
        sabotage::set(Some(Sabotage::JournalComesLast));
        let most = due();
        sabotage::set(None);
        assert!(most > 10 * (waiting + begun), "{most} pages due though nothing writes them first");
    }
}

#[test]
fn what_was_trimmed_makes_room_for_the_cache_without_a_pause() {
    const ERASE_NS: u64 = 1_000_000;
    // So much of the cache that nothing need be folded.
    let (blocks, erase) = (16, ERASE_NS.to_string());
    let (whole, over_the_cache) = (u64::MAX, 20 * PAGES * SLC_UNITS + 2 * PAGES * LINE_UNITS);
    for (when_full, written, gone_from) in [
        ("native", whole, "1.0"),
        ("refill", whole, "1.0"),
        ("wait", whole, "1.0"),
        // What is trimmed is in the cache, which is full.
        ("native", over_the_cache, "1.0"),
        // There is no cache before the trim.
        ("native", whole, "0.775"),
    ] {
        let cache = max_bytes(20);
        let mut drive = drive(
            1,
            &[
                ("slc_cache.max_bytes", &*cache),
                ("slc_cache.static_bytes", "0"),
                ("slc_cache.when_full", when_full),
                ("slc_cache.whole_until_fill", if gone_from == "1.0" { "1.0" } else { "0.0" }),
                ("slc_cache.gone_from_fill", gone_from),
                ("flash.erase_ns", &*erase),
                ("flash.slc_erase_ns", &*erase),
                ("write_buffer.size_bytes", "393216"),
            ],
        );
        let units = drive.capacity_sectors() / 8 / 64 * 64;
        write(&mut drive, 0..units.min(written));
        submit(&mut drive, Op::Trim, 0, units);
        next(&mut drive);
        let (begin, held) = (drive.now_ns(), blocks * PAGES * SLC_UNITS / 64 * 64);
        let mut longest_ns = 0;
        for unit in (0..held).step_by(64) {
            submit(&mut drive, Op::Write, unit, 64);
            longest_ns = longest_ns.max(next(&mut drive)[0].latency_ns());
        }
        // Each block of the cache is one that is erased for it; while one that refills is emptied, a native page goes
        // with each erase.
        let page_ns = SLC_PROGRAM_NS + SLC_UNITS * UNIT_BUS_NS;
        let expected_ns = blocks * (PAGES * page_ns + ERASE_NS);
        let native_ns = if when_full == "refill" { blocks * PROGRAM_NS } else { 0 };
        let took_ns = drive.now_ns() - begin;
        let is_near = took_ns > expected_ns * 19 / 20 && took_ns < expected_ns * 21 / 20 + native_ns;
        assert!(is_near, "{when_full}, {written}: {took_ns} ns, {expected_ns} ns by formula");
        // Room for native blocks was kept: no write waits for much more than an erase and its own pages.
        let most_ns = 3 * ERASE_NS + 2 * PROGRAM_NS + 8 * page_ns;
        assert!(longest_ns < most_ns, "{when_full}: a write took {longest_ns} ns, of at most {most_ns}");
    }
}

#[test]
fn what_pauses_are_for_changes_nothing_where_there_is_none() {
    // The cache makes room for every write: blocks for pauses may not come first.
    let took = |idle_blocks: &str| {
        let cache = max_bytes(20);
        let mut drive = drive(
            2,
            &[
                ("slc_cache.max_bytes", &*cache),
                ("slc_cache.static_bytes", "0"),
                ("slc_cache.when_full", "wait"),
                ("ftl.idle_cleaning_blocks", idle_blocks),
            ],
        );
        let units = drive.capacity_sectors() / 8;
        write(&mut drive, 0..units / 64 * 64);
        for number in 0..units / 4 {
            submit(&mut drive, Op::Write, number * 7919 % units, 1);
            next(&mut drive);
        }
        drive.now_ns()
    };
    assert_eq!(took("0"), took("6"));
}

#[test]
fn a_lazy_drive_reads_from_its_cache_after_a_pause() {
    let mut drive =
        drive(2, &[("slc_cache.max_bytes", &*max_bytes(20)), ("slc_cache.kept_bytes", &*max_bytes(20))]);
    write(&mut drive, 0..64);
    drive.idle(20_000_000_000);
    submit(&mut drive, Op::Read, 0, 1);
    assert_eq!(next(&mut drive)[0].latency_ns(), SLC_READ_NS + UNIT_BUS_NS);
}

#[test]
fn what_makes_no_cache_is_refused_by_name() {
    let refused = |changes: &[(&str, &str)]| {
        shipped::varied("crucial-t500-2tb", changes).map(drop).unwrap_err().to_string()
    };
    let wrong: [(&[(&str, &str)], &str); 4] = [
        (
            &[("slc_cache.static_bytes", "800000000000")],
            "slc_cache.static_bytes = 800000000000: must be at most",
        ),
        (&[("ftl.placement", "one-stream")], "ftl.placement = one-stream: must be host-and-cleaning"),
        (&[("ftl.map_unit_bytes", "65536")], "ftl.map_unit_bytes = 65536"),
        (
            &[("slc_cache.whole_until_fill", "0.5"), ("slc_cache.gone_from_fill", "0.2")],
            "slc_cache.gone_from_fill = 0.2: must be at least",
        ),
    ];
    for (changes, message) in wrong {
        let found = refused(changes);
        assert!(found.contains(message), "{found}");
    }
}
