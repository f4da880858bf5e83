//! Drives of random models under random commands: whatever parses must work. Every command completes exactly once,
//! what is read is what was written, time only goes forward, and the books balance.
//!
//! A failure prints the seed. `DRIVELAB_SEEDS=100000` tries more than the default.

use std::sync::Arc;

use drivelab_controller::{Command, Completion, Device, Op};
use drivelab_drive::{Engine, Layer, Model, build};
use drivelab_sim::Stream;

const DEFAULT_SEEDS: u64 = 4000;
/// Events without a completion after which a drive counts as stuck.
const STUCK_EVENTS: u32 = 200_000;

struct Random(Stream);

impl Random {
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    fn word(&mut self, words: &[&str]) -> String {
        words[self.0.below(words.len() as u64) as usize].to_owned()
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }
}

fn flash(random: &mut Random, in_place: bool) -> (Vec<(String, String)>, u64, u64, u64) {
    let many = |random: &mut Random, most| if in_place { 1 } else { random.between(1, most) };
    let (channels, dies, planes) = (many(random, 3), many(random, 3), many(random, 2));
    let blocks = if in_place { 1 } else { random.between(2, 14) };
    let page = [512u64, 1024, 1536, 4096, 4096, 4096][random.between(0, 5) as usize];
    let pages = random.between(1, 9);
    let two_plane = random.chance(0.3);
    let unit = 512
        * match random.between(0, 4) {
            0 => 1,
            1 => page / 512,
            2 => page / 512 * random.between(1, 4),
            3 => random.between(1, 20),
            _ => 8,
        };
    let instant = random.chance(0.1);
    let mut time = |least, most| if instant { 0 } else { random.between(least, most) }.to_string();
    let mut values = vec![
        ("flash.read_ns", time(0, 60_000)),
        ("flash.program_ns", time(200_000, 900_000)),
        ("flash.erase_ns", time(0, 3_000_000)),
        ("flash.command_ns", time(0, 6_000)),
        ("flash.bus_bytes_per_s", time(1_000_000, 400_000_000)),
        ("link.bytes_per_s", time(0, 300_000_000)),
        ("flash.channel_count", channels.to_string()),
        ("flash.dies_per_channel", dies.to_string()),
        ("flash.planes_per_die", planes.to_string()),
        ("flash.blocks_per_plane", blocks.to_string()),
        ("flash.pages_per_block", pages.to_string()),
        ("flash.page_bytes", page.to_string()),
        ("flash.oob_bytes", random.between(0, 100).to_string()),
        ("flash.two_plane", two_plane.to_string()),
        ("flash.hold_bus_while_reading", random.chance(0.4).to_string()),
        ("ftl.map_unit_bytes", unit.to_string()),
    ];
    if random.chance(0.5) && !instant {
        values.push(("flash.program_fast_ns", random.between(0, 300_000).to_string()));
    }
    let raw = channels * dies * planes * blocks * pages * page;
    let units_per_page = (page * if two_plane { planes } else { 1 } / unit).max(1);
    (values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(), unit, units_per_page, raw)
}

fn parameters(seed: u64) -> Vec<(String, String)> {
    let random = &mut Random(Stream::new(seed, 1));
    let in_place = random.chance(0.12);
    let (mut values, unit, units_per_page, raw) = flash(random, in_place);
    let mut set = |key: &str, value: String| values.push((key.to_owned(), value));
    if in_place {
        set("ftl.cleaning_mode", "rewrite-in-place".to_owned());
    }
    set("ftl.victim_selection", random.word(&["greedy", "fifo", "cost-benefit", "random", "d-choices"]));
    set("ftl.choices", random.between(1, 5).to_string());
    let start = random.between(2, 4);
    set("ftl.cleaning_start_blocks", start.to_string());
    set("ftl.cleaning_stop_blocks", (start + random.between(0, 3)).to_string());
    if random.chance(0.4) {
        set("ftl.idle_cleaning_blocks", random.between(0, 8).to_string());
    }
    set("ftl.wear_spread_limit", random.between(0, 5).to_string());
    if random.chance(0.4) {
        set("ftl.journal_updates_per_page", random.between(1, 20).to_string());
        if random.chance(0.5) {
            set("ftl.checkpoint_updates", random.between(1, 60).to_string());
            set("ftl.checkpoint_bytes", (random.between(1, 3) * 512).to_string());
        }
    }
    set("controller.queue_depth", random.between(1, 16).to_string());
    set("controller.read_firmware_ns", (random.between(0, 2) * 5000).to_string());
    set("controller.write_firmware_ns", (random.between(0, 2) * 5000).to_string());
    let allocations = ["round-robin", "channel-round-robin", "earliest-free"];
    set("controller.program_firmware_ns", (random.between(0, 2) * 3000).to_string());
    set("controller.partial_unit_firmware_ns", (random.between(0, 2) * 4000).to_string());
    set("controller.partial_units_at_once", random.between(0, 2).to_string());
    set("controller.read_path_bytes_per_s", (random.between(0, 2) * 60_000_000).to_string());
    set("controller.die_allocation", random.word(&allocations));
    set("controller.programs_per_channel", random.between(0, 3).to_string());
    set("controller.cleaning_pace", random.word(&["block", "paced"]));
    set("controller.idle_delay_ns", (random.between(0, 3) * 300_000).to_string());
    set("link.frame_overhead_ns", random.between(0, 2000).to_string());
    set("link.command_overhead_ns", random.between(0, 2000).to_string());
    let spare_units = if random.chance(0.4) { 0 } else { random.between(0, 12) };
    set("write_buffer.size_bytes", (unit * (units_per_page + spare_units)).to_string());
    set("write_buffer.write_back", random.chance(0.6).to_string());
    set("write_buffer.coalesce", random.chance(0.6).to_string());
    set("write_buffer.hold_ns", random.between(0, 3_000_000).to_string());
    set("write_buffer.capacitor", random.chance(0.2).to_string());
    let user = if random.chance(0.4) { raw } else { unit * random.between(1, (raw / unit).max(1)) };
    set("user_capacity_bytes", user.to_string());
    values
}

/// The same for drives that merge superblocks.
fn merging_parameters(seed: u64) -> Vec<(String, String)> {
    let random = &mut Random(Stream::new(seed, 4));
    let (channels, banks, planes) = (random.between(1, 3), random.between(1, 4), random.between(1, 2));
    let (blocks, pages) = (random.between(3, 14), random.between(1, 9));
    let instant = random.chance(0.1);
    let mut time = |least, most| if instant { 0 } else { random.between(least, most) };
    let mut values = vec![
        ("flash.read_ns", time(0, 60_000)),
        ("flash.program_ns", time(200_000, 900_000)),
        ("flash.erase_ns", time(0, 3_000_000)),
        ("flash.command_ns", time(0, 6_000)),
        ("flash.bus_bytes_per_s", time(1_000_000, 400_000_000)),
        ("link.bytes_per_s", time(0, 300_000_000)),
        ("flash.channel_count", channels),
        ("flash.lockstep_channels", channels),
        ("flash.dies_per_channel", banks),
        ("flash.planes_per_die", planes),
        ("flash.blocks_per_plane", blocks),
        ("flash.pages_per_block", pages),
        ("flash.page_bytes", 4096),
        ("ftl.rotation_merges", random.between(0, 9)),
        ("ftl.rotation_superblocks", random.between(0, 3)),
        ("controller.queue_depth", random.between(1, 16)),
        ("controller.write_firmware_ns", random.between(0, 2) * 5000),
        ("controller.read_path_bytes_per_s", random.between(0, 1) * 100_000_000),
        ("write_buffer.hold_ns", random.between(0, 3_000_000)),
    ];
    let unit = [512, 2048, 4096][random.between(0, 2) as usize];
    values.push(("ftl.map_unit_bytes", unit));
    values.push(("ftl.interleaved_banks", if random.chance(0.5) { banks } else { 1 }));
    let row = channels * planes * 4096;
    values.push(("write_buffer.size_bytes", row * random.between(1, 6)));
    let has_log = random.chance(0.6);
    if has_log {
        values.push(("ftl.reserve_blocks", random.between(0, 3)));
        values.push(("ftl.log_blocks", random.between(0, 3)));
    }
    let mut values: Vec<(String, String)> =
        values.into_iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect();
    let mut set = |key: &str, value: String| values.push((key.to_owned(), value));
    set("family", if has_log { "log-block-map" } else { "superblock-map" }.to_owned());
    set("flash.two_plane", random.chance(0.8).to_string());
    set("ftl.trim_supported", random.chance(0.5).to_string());
    set("write_buffer.write_back", random.chance(0.7).to_string());
    set("write_buffer.coalesce", random.chance(0.7).to_string());
    set("write_buffer.eviction", random.word(&["oldest", "fullest", "random"]));
    let raw = row * banks * blocks * pages;
    let user = if random.chance(0.4) { raw } else { unit * random.between(1, raw / unit) };
    set("user_capacity_bytes", user.to_string());
    values
}

/// The model of a seed; a capacity that is too large is replaced by the largest that the message allows.
fn model(seed: u64) -> Option<Model> {
    parsed(parameters(seed))
}

fn parsed(mut values: Vec<(String, String)>) -> Option<Model> {
    let parse = |values: &[_]| Model::parse("name = 'random'\ntitle = 'Random'", "random", values);
    match parse(&values) {
        Ok(model) => Some(model),
        Err(error) => {
            let message = error.to_string();
            let (_, limit) = message.split_once("bytes) to ")?;
            let limit: String = limit.chars().take_while(char::is_ascii_digit).collect();
            values.last_mut()?.1 = limit;
            parse(&values).ok()
        }
    }
}

struct Bench {
    drive: Engine,
    done: Vec<Completion>,
    submitted: usize,
    depth: u32,
}

impl Bench {
    fn step(&mut self) -> bool {
        let before = self.drive.now_ns();
        let Some(next) = self.drive.next_event() else { return false };
        assert!(next >= before, "an event at {next} before now, {before}");
        self.drive.advance(next, &mut self.done);
        assert!(self.drive.now_ns() >= before, "time goes backwards");
        true
    }

    fn drain(&mut self, outstanding: u32) {
        let mut events = 0;
        while self.drive.outstanding() > outstanding {
            assert!(self.step(), "{} commands inside and no event", self.drive.outstanding());
            events += 1;
            assert!(events < STUCK_EVENTS, "{} commands inside for ever", self.drive.outstanding());
        }
    }

    fn submit(&mut self, command: Command) {
        self.drain(self.depth - 1);
        let now = self.drive.now_ns();
        self.drive.submit(now, command).unwrap();
        self.submitted += 1;
    }
}

fn exercise(seed: u64, model: &Model) {
    let random = &mut Random(Stream::new(seed, 2));
    let mut drive = build::build(model, seed).unwrap();
    drive.keep_stamps();
    let capacity = drive.capacity_sectors();
    let unit = drive.trim_unit_sectors().map_or(u64::MAX, u64::from);
    let depth = random.between(1, u64::from(drive.queue_depth())) as u32;
    let mut bench = Bench { drive, done: Vec::new(), submitted: 0, depth };
    let mut oracle = vec![0u64; capacity as usize];
    let mut stamp = 1;
    let longest = [4, 20, 100][random.between(0, 2) as usize];
    for tag in 0..random.between(50, 800) as u32 {
        let lba = random.between(0, capacity - 1);
        let sectors = random.between(1, longest.min(capacity - lba)) as u32;
        match random.between(0, 99) {
            0..=59 => {
                for index in 0..u64::from(sectors) {
                    oracle[(lba + index) as usize] = stamp + index;
                }
                let command = Command::new(tag, Op::Write, lba, sectors);
                bench.submit(Command { fua: random.chance(0.1), stamp, ..command });
                stamp += u64::from(sectors);
            }
            60..=74 => bench.submit(Command::new(tag, Op::Read, lba, sectors)),
            75..=82 => {
                // Writes that still wait for buffer space would come after the trim: let them in first.
                bench.drain(0);
                for whole in lba.div_ceil(unit)..(lba + u64::from(sectors)) / unit {
                    oracle[(whole * unit) as usize..((whole + 1) * unit) as usize].fill(0);
                }
                bench.submit(Command::new(tag, Op::Trim, lba, sectors));
                bench.drain(0);
            }
            83..=88 => bench.submit(Command::new(tag, Op::Flush, 0, 0)),
            89..=97 => {
                let until = bench.drive.now_ns() + random.between(0, 4_000_000);
                bench.drive.advance(until, &mut bench.done);
            }
            98 => {
                bench.drain(0);
                bench.drive.secure_erase();
                oracle.fill(0);
            }
            _ => bench.drive.check().unwrap(),
        }
    }
    bench.submit(Command::new(u32::MAX - 1, Op::Flush, 0, 0));
    bench.drain(0);
    drop(bench.drive.take_read_stamps());
    bench.submit(Command::new(u32::MAX, Op::Read, 0, capacity as u32));
    bench.drain(0);
    assert_eq!(bench.drive.take_read_stamps().pop().unwrap().1, oracle, "the whole drive read back");
    assert_eq!(bench.done.len(), bench.submitted, "every command completes exactly once");
    assert!(bench.done.is_sorted_by_key(|completion| completion.completed_ns));
    for completion in &bench.done {
        assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
    }
    let mut events = 0;
    while bench.step() {
        events += 1;
        assert!(events < STUCK_EVENTS, "a drive without commands never comes to rest");
    }
    bench.drive.check().unwrap();
}

/// An array of one to three random drives; the drives of a seed are the same ones as alone.
fn array(seed: u64) -> Option<Model> {
    let random = &mut Random(Stream::new(seed, 3));
    let members: Vec<_> =
        (0..random.between(1, 3)).filter_map(|index| model(seed + 7919 * index)).map(Arc::new).collect();
    let names = vec!["\"random\""; members.len()].join(", ");
    let text = format!("name = 'array'\ntitle = 'Array'\nfamily = 'raid-0'\nmembers = [{names}]");
    let mut values = vec![
        ("array.strip_bytes", 512 * random.between(1, 40)),
        ("array.max_transfer_bytes", 512 * random.between(1, 60)),
        ("array.command_ns", random.between(0, 1) * random.between(0, 9000)),
        ("array.queue_depth", random.between(1, 20)),
    ];
    if random.chance(0.4) {
        values.push(("link.bytes_per_s", random.between(1_000_000, 300_000_000)));
        values.push(("link.frame_overhead_ns", random.between(0, 2000)));
    }
    let mut values: Vec<_> =
        values.into_iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect();
    let units: Vec<_> = members.iter().map(|member| small_unit(member)).collect();
    if let Some(&unit) = units.first()
        && units.iter().all(|other| *other == unit)
        && random.chance(0.5)
    {
        // The oracle knows which units a trim frees only where no unit lies on two members.
        values[0].1 = (unit * 512 * random.between(1, 3)).to_string();
        values.push(("array.pass_trim".to_owned(), "true".to_owned()));
    }
    Model::parse_array(&[Layer { text: &text, origin: "array" }], &values, &members).ok()
}

fn small_unit(model: &Model) -> u64 {
    u64::from(build::build(model, 0).unwrap().trim_unit_sectors().unwrap_or(0))
}

fn try_all(make: impl Fn(u64) -> Option<Model>, seeds: u64) {
    let seeds = std::env::var("DRIVELAB_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(seeds);
    let mut tried = 0;
    for seed in 0..seeds {
        let Some(model) = make(seed) else { continue };
        tried += 1;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| exercise(seed, &model)));
        assert!(outcome.is_ok(), "seed {seed} fails: {:?}", parameters(seed));
    }
    assert!(tried > seeds / 4, "only {tried} of {seeds} seeds make a drive");
}

#[test]
fn whatever_parses_works() {
    try_all(model, DEFAULT_SEEDS);
}

#[test]
fn whatever_merges_works() {
    try_all(|seed| parsed(merging_parameters(seed)), DEFAULT_SEEDS);
}

#[test]
fn arrays_of_whatever_parses_work() {
    try_all(array, DEFAULT_SEEDS / 4);
}
