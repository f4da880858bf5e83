//! Drives whose page map lies in flash, in time: what a line that isn't in memory costs a command, to the nanosecond and
//! on average, and what is refused.

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::{Drive, Engine};
use drivelab_ftl::Mapping;
use drivelab_sim::Stream;

const MODEL: &str = "intel-x25-m-g1-80gb";
/// A page, which a line is: 1024 entries of 4 KiB.
const LINE_BYTES: u64 = 4096;
const LINE_SECTORS: u64 = 1024 * 8;
const DIVISOR: u64 = 64;
const NO_JOURNAL: [(&str, &str); 3] =
    [("ftl.journal_updates_per_page", "0"), ("ftl.checkpoint_updates", "0"), ("ftl.checkpoint_bytes", "0")];
/// Lines of the part of the drive that is used.
const LINES: u64 = 32;

/// A drive with so many lines of its map in memory; 0: all of it.
fn drive(lines: u64, changes: &[(&str, &str)]) -> Drive {
    // What is scaled down is memory for the map, too.
    let bytes = (lines * LINE_BYTES * DIVISOR).to_string();
    let divisor = DIVISOR.to_string();
    let own = [("scale_divisor", divisor.as_str()), ("ftl.map_cache_bytes", bytes.as_str())];
    shipped::drive(MODEL, &[&NO_JOURNAL[..], &own, changes].concat())
}

fn run(drive: &mut Drive, commands: impl IntoIterator<Item = Command>, depth: u32) -> Vec<Completion> {
    let mut done = Vec::new();
    for (tag, command) in (0..).zip(commands) {
        while drive.engine().outstanding() >= depth {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        drive.submit(drive.now_ns(), Command { tag, ..command }).unwrap();
    }
    while drive.engine().outstanding() > 0 {
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    done
}

/// One command on a drive at rest.
fn once(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> Completion {
    drive.idle(10_000_000_000);
    run(drive, [Command::new(0, op, lba, sectors)], 1)[0]
}

/// The first lines are written in order. Those in memory are the last of them, and have not changed since.
fn filled(lines: u64, changes: &[(&str, &str)]) -> Drive {
    let mut drive = drive(lines, changes);
    let pieces = (0..LINES * LINE_SECTORS).step_by(256);
    run(&mut drive, pieces.map(|lba| Command::new(0, Op::Write, lba, 256)), 8);
    for line in (0..LINES).rev().chain(LINES - lines.min(LINES)..LINES) {
        once(&mut drive, Op::Read, line * LINE_SECTORS, 8);
    }
    drive.idle(10_000_000_000);
    drive
}

/// Bytes of the map read, and programmed, beyond what `before` says.
fn map_bytes(drive: &Drive, before: (u64, u64)) -> (u64, u64) {
    let bytes = |key: &str| drive.counters()[key].as_u64().unwrap();
    (bytes("read_bytes_map") - before.0, bytes("program_bytes_map") - before.1)
}

/// Sensing a line and moving it, as the drive's parameters say.
fn line_read_ns(drive: &Drive) -> u64 {
    let Engine::DemandMap(drive) = drive.engine() else { panic!("the map is in memory") };
    let timing = drive.config().timing;
    let geometry = drive.mapping().layout().geometry;
    let bytes = u64::from(geometry.page_bytes + geometry.oob_bytes) * u64::from(geometry.fused_planes());
    timing.read_ns + timing.bus_ns(bytes) + timing.decode_ns
}

/// What 4 KiB take on the link.
fn link_ns_of(drive: &Drive) -> u64 {
    let Engine::DemandMap(drive) = drive.engine() else { panic!("the map is in memory") };
    drive.config().link.command_ns(4096)
}

#[test]
fn a_read_that_misses_takes_one_flash_read_more() {
    let (mut whole, mut part) = (filled(0, &[]), filled(4, &[]));
    assert!(matches!(whole.engine(), Engine::PageMap(_)), "all of the map in memory is no other drive");
    let (line_ns, before) = (line_read_ns(&part), map_bytes(&part, (0, 0)));
    for line in [3, 9, 20] {
        let lba = line * LINE_SECTORS + 800;
        let (base, miss) = (once(&mut whole, Op::Read, lba, 8), once(&mut part, Op::Read, lba, 8));
        let hit = once(&mut part, Op::Read, lba + 800, 8);
        let latency = |completion: &Completion| completion.completed_ns - completion.submitted_ns;
        assert_eq!(miss.split.flash_ns - base.split.flash_ns, line_ns, "line {line}");
        assert_eq!(
            (latency(&miss) - latency(&base), latency(&hit)),
            (line_ns, latency(&base)),
            "line {line}"
        );
    }
    assert_eq!(map_bytes(&part, before), (3 * LINE_BYTES, 0));
    assert_eq!(map_bytes(&whole, (0, 0)), (0, 0));
}

#[test]
fn a_line_that_is_on_its_way_is_waited_for_and_not_read_again() {
    let mut drive = filled(4, &[]);
    let (start, before) = (drive.now_ns(), map_bytes(&drive, (0, 0)));
    let reads = (0..4).map(|index| Command::new(0, Op::Read, 5 * LINE_SECTORS + 800 * index, 8));
    let done = run(&mut drive, reads, 4);
    assert_eq!(map_bytes(&drive, before), (LINE_BYTES, 0));
    let soonest = start + 2 * line_read_ns(&drive);
    assert!(done.iter().all(|read| read.completed_ns > soonest), "{done:?}");
}

#[test]
fn random_reads_pay_for_the_share_of_the_map_that_is_not_in_memory() {
    let mut random = Stream::new(3, 1);
    let mut mean = |drive: &mut Drive| {
        let reads: Vec<_> = (0..8000)
            .map(|_| Command::new(0, Op::Read, random.below(LINES * LINE_SECTORS / 8) * 8, 8))
            .collect();
        let done = run(drive, reads, 1);
        let sum: u64 = done.iter().map(|read| read.completed_ns - read.submitted_ns).sum();
        sum as f64 / done.len() as f64
    };
    let whole = mean(&mut filled(0, &[]));
    for lines in [1, 8, 16, 31] {
        let mut drive = filled(lines, &[]);
        let found = mean(&mut drive) - whole;
        let expected = (1.0 - lines as f64 / LINES as f64) * line_read_ns(&drive) as f64;
        // The line may lie on the die that reads next: then it waits.
        assert!(
            (found - expected).abs() < 0.04 * line_read_ns(&drive) as f64,
            "{lines} lines: {found:.0} ns more, expected {expected:.0}"
        );
    }
}

const TRIP_NS: u64 = 800;

/// Lines in the host's memory, of which two are in the controller's, too.
fn with_host_memory(lines: u64) -> Drive {
    let bytes = (lines * LINE_BYTES * DIVISOR).to_string();
    let mut drive = filled(2, &[("ftl.host_memory_bytes", bytes.as_str()), ("ftl.host_memory_ns", "800")]);
    // Those that were used last are in memory.
    for line in LINES - lines..LINES {
        once(&mut drive, Op::Read, line * LINE_SECTORS, 8);
    }
    drive
}

#[test]
fn a_look_up_in_the_hosts_memory_is_a_round_trip_and_a_miss_a_flash_read() {
    let (mut whole, mut drive) = (filled(0, &[]), with_host_memory(16));
    let before = map_bytes(&drive, (0, 0));
    let line_ns = line_read_ns(&drive);
    let mut more = |line: u64| {
        let lba = line * LINE_SECTORS + 800;
        let latency = |drive: &mut Drive| once(drive, Op::Read, lba, 8).latency_ns();
        latency(&mut drive) - latency(&mut whole)
    };
    // In the controller's memory, in the host's only, in flash; the last two are in the controller's.
    assert_eq!([31, 30, 20, 25, 3, 20, 3].map(&mut more), [0, 0, TRIP_NS, TRIP_NS, line_ns, TRIP_NS, 0]);
    assert_eq!([20, 3, 31].map(&mut more), [0, 0, TRIP_NS]);
    assert_eq!(map_bytes(&drive, before), (LINE_BYTES, 0));
}

/// L(X) = L0 + (1 - m) trip + m (tR + transfer), m = max(0, 1 - C / X), as the share of the span that the host's memory
/// maps; the two lines of the controller's own memory need no trip.
#[test]
fn random_reads_over_a_span_follow_what_of_it_the_hosts_memory_maps() {
    let mut random = Stream::new(5, 1);
    let mut mean = |drive: &mut Drive, span: u64| {
        let mut reads = |count| {
            let lba = |random: &mut Stream| random.below(span * LINE_SECTORS / 8) * 8;
            let reads: Vec<_> = (0..count).map(|_| Command::new(0, Op::Read, lba(&mut random), 8)).collect();
            let done = run(drive, reads, 1);
            done.iter().map(Completion::latency_ns).sum::<u64>() as f64 / f64::from(count)
        };
        reads(500);
        reads(6000)
    };
    let (mut whole, mut with, mut without) = (filled(0, &[]), with_host_memory(8), filled(2, &[]));
    let line_ns = line_read_ns(&with) as f64;
    for span in [2, 4, 8, 16, 32] {
        let base = mean(&mut whole, span);
        let share = |lines: f64| (1.0 - lines / span as f64).max(0.0);
        let expected = share(8.0) * line_ns + (share(2.0) - share(8.0)) * TRIP_NS as f64;
        let found = mean(&mut with, span) - base;
        // The line may lie on the die that reads next: then it waits.
        assert!(
            (found - expected).abs() < 0.04 * line_ns,
            "{span} lines: {found:.0} ns more, expected {expected:.0}"
        );
        let (found, expected) = (mean(&mut without, span) - base, share(2.0) * line_ns);
        assert!(
            (found - expected).abs() < 0.04 * line_ns,
            "{span} lines, no HMB: {found:.0} ns, expected {expected:.0}"
        );
    }
}

#[test]
fn reads_in_order_read_every_line_once() {
    let mut drive = filled(4, &[]);
    let before = map_bytes(&drive, (0, 0));
    run(&mut drive, (0..LINES * LINE_SECTORS).step_by(256).map(|lba| Command::new(0, Op::Read, lba, 256)), 4);
    assert_eq!(map_bytes(&drive, before), (LINES * LINE_BYTES, 0));
}

#[test]
fn a_write_through_waits_for_the_line_that_it_changes_and_one_in_the_buffer_does_not() {
    let through = [("write_buffer.write_back", "false"), ("write_buffer.hold_ns", "0")];
    let (mut whole, mut part) = (filled(0, &through), filled(4, &through));
    let latency = |completion: Completion| completion.completed_ns - completion.submitted_ns;
    let line_ns = line_read_ns(&part);
    let link_ns = link_ns_of(&part);
    let mut both = |lba| [&mut whole, &mut part].map(|drive| latency(once(drive, Op::Write, lba, 8)));
    let [base, miss] = both(3 * LINE_SECTORS);
    // Its data comes over the link meanwhile.
    assert!((line_ns - link_ns..=line_ns).contains(&(miss - base)), "{base} {miss}, line {line_ns}");
    let [base, hit] = both(3 * LINE_SECTORS + 800);
    assert_eq!(hit, base);
    let mut buffered = filled(4, &[]);
    let before = map_bytes(&buffered, (0, 0));
    let base = latency(once(&mut filled(0, &[]), Op::Write, 3 * LINE_SECTORS, 8));
    assert_eq!(latency(once(&mut buffered, Op::Write, 3 * LINE_SECTORS, 8)), base);
    buffered.idle(10_000_000_000);
    assert_eq!(map_bytes(&buffered, before), (LINE_BYTES, 0), "but it is read");
}

#[test]
fn a_trim_waits_for_the_lines_at_its_ends_and_for_no_other() {
    let mut drive = filled(4, &[("ftl.trim_supported", "true")]);
    let (line_ns, before) = (line_read_ns(&drive), map_bytes(&drive, (0, 0)));
    let whole = once(&mut drive, Op::Trim, 4 * LINE_SECTORS, 3 * LINE_SECTORS as u32);
    assert_eq!((whole.split.flash_ns, map_bytes(&drive, before)), (0, (0, 0)), "three lines, whole");
    let ends = once(&mut drive, Op::Trim, 10 * LINE_SECTORS + 800, 4 * LINE_SECTORS as u32);
    assert_eq!((ends.split.flash_ns, map_bytes(&drive, before).0), (line_ns, 2 * LINE_BYTES));
    drive.engine().check().unwrap();
}

/// Random writes on a drive with little of its map in memory: each takes a line, and the log of the map copies some.
#[test]
fn write_amplification_counts_the_map() {
    const WRITES: u64 = 20_000;
    let write = |drive: &mut Drive| {
        let mut random = Stream::new(8, 1);
        let before = drive.counters();
        let lbas = (0..WRITES).map(|_| random.below(LINES * LINE_SECTORS / 8) * 8);
        let commands: Vec<_> = lbas.map(|lba| Command::new(0, Op::Write, lba, 8)).collect();
        run(drive, commands, 32);
        drive.idle(10_000_000_000);
        drive.engine().check().unwrap();
        let after = drive.counters();
        let pages = |key: &str| (after[key].as_u64().unwrap() - before[key].as_u64().unwrap()) / LINE_BYTES;
        (pages("program_bytes_host"), pages("program_bytes_map"), pages("read_bytes_map"))
    };
    // Without coalescing every write is a page.
    let changes = [("write_buffer.coalesce", "false")];
    let (_, none, _) = write(&mut filled(0, &changes));
    let (host, everything, _) = write(&mut filled(LINES + 8, &changes));
    assert_eq!((none, everything), (0, 0));
    let (_, programs, reads) = write(&mut filled(8, &changes));
    let share = reads as f64 / host as f64;
    assert!((share - 0.75).abs() < 0.02, "{share} reads of the map a write, with a quarter of it in memory");
    // What was in memory at first had not changed.
    assert!((reads - 8..reads * 3 / 2).contains(&programs), "{programs} pages of the map for {reads} lines");
}

/// Dies that write pages of the map don't hold up a stripe one by one: with almost a page of the map for each of the host,
/// writes take some three times as long, not as many times as there are dies.
#[test]
fn pages_of_the_map_take_their_turn_in_a_stripe() {
    let elapsed = |lines: u64| {
        let mut drive = filled(lines, &[("controller.die_allocation", "round-robin")]);
        let mut random = Stream::new(8, 1);
        let start = drive.now_ns();
        let lbas = (0..10_000).map(|_| random.below(LINES * LINE_SECTORS / 8) * 8);
        let commands: Vec<_> = lbas.map(|lba| Command::new(0, Op::Write, lba, 8)).collect();
        run(&mut drive, commands, 32);
        (drive.now_ns() - start) as f64
    };
    let ratio = elapsed(2) / elapsed(0);
    assert!((1.5..4.5).contains(&ratio), "{ratio:.2} times as long");
}

#[test]
fn what_makes_no_map_in_flash_is_refused_by_key_value_and_limit() {
    let refused = |changes: &[(&str, &str)]| shipped::varied(MODEL, changes).unwrap_err().to_string();
    let with_journal = refused(&[("ftl.map_cache_bytes", "65536")]);
    assert!(with_journal.contains("ftl.journal_updates_per_page") && with_journal.contains("must be 0"));
    for (changes, wanted) in [
        (&[("ftl.map_cache_bytes", "4095")][..], "ftl.map_cache_bytes = 4095: must be 0 or at least"),
        (&[("ftl.map_cache_bytes", "65536"), ("ftl.map_fetch_bytes", "8192")], "ftl.map_fetch_bytes = 8192"),
        (
            &[("ftl.map_cache_bytes", "65536"), ("ftl.map_spare_blocks", "0")],
            "ftl.map_spare_blocks = 0: must be at least 1",
        ),
        (&[("ftl.map_cache_bytes", "65536"), ("ftl.map_unit_bytes", "8192")], "larger than a page"),
        (
            &[("ftl.map_cache_bytes", "9999999999")],
            "ftl.map_cache_bytes = 9999999999: must be a whole number",
        ),
    ] {
        let message = refused(&[&NO_JOURNAL, changes].concat());
        assert!(message.contains(wanted), "{message}");
    }
    let of_large_pages = shipped::varied("wd-black-sn770-1tb", &[("ftl.map_fetch_bytes", "191")]);
    assert!(of_large_pages.unwrap_err().to_string().contains("must be 192 to 196608"));
}

#[test]
fn a_line_is_a_page_where_nothing_else_is_said_also_of_word_lines_that_are_programmed_whole() {
    let with = |own: &[(&str, &str)]| {
        let said = [("ftl.map_cache_bytes", "8388608"), ("scale_divisor", "64")];
        let mut drive = shipped::drive("crucial-t500-2tb", &[&NO_JOURNAL[..], &said, own].concat());
        // 750 lines of a page, of which eight fit; more than the write buffer holds.
        let writes: Vec<_> = (0..6000).map(|number| Command::new(0, Op::Write, number * 4096, 8)).collect();
        run(&mut drive, writes, 1);
        let before = drive.counters()["read_bytes_map"].as_u64().unwrap();
        // Beside what was written, which the buffer has.
        run(&mut drive, [Command::new(0, Op::Read, 8, 8)], 1);
        drive.counters()["read_bytes_map"].as_u64().unwrap() - before
    };
    assert_eq!(with(&[]), with(&[("ftl.map_fetch_bytes", "16384")]));
    assert_ne!(with(&[]), with(&[("ftl.map_fetch_bytes", "4096")]));
}
