//! A page map that lies in flash: every use of its cache against a plain table, rates against formulas, and what it
//! costs against a map that is in memory whole.

use std::collections::{HashMap, HashSet};

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    Books, CleaningMode, CleaningStep, DemandLoaded, FtlConfig, LogMapping, MapCacheConfig, MapUses, Mapping,
    PageMap, Placement, Urgency, VictimSelection,
};
use drivelab_nand::{DieIndex, Geometry, Lpn, Ppn, UnitLayout};
use drivelab_sim::Stream;

const PAGE: u32 = 4096;

fn layout(blocks: u32, pages: u32, unit_bytes: u32) -> UnitLayout {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: 2,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        page_bytes: PAGE,
        oob_bytes: 0,
        two_plane: false,
    };
    UnitLayout::new(geometry, unit_bytes).unwrap()
}

fn config(user_units: u32) -> FtlConfig {
    FtlConfig {
        user_units,
        victim_selection: VictimSelection::Greedy,
        choices: 3,
        window_blocks: 4,
        cleaning_mode: CleaningMode::Relocate,
        placement: Placement::HostAndCleaning,
        hot_writes: 4,
        hint_streams: 6,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 2,
        trim_supported: true,
        idle_cleaning_blocks: 0,
        wear_spread_limit: 0,
        journal_updates_per_page: 0,
        checkpoint_updates: 0,
        checkpoint_pages: 0,
        slc_cache: None,
        seed: 5,
    }
}

/// The cache of a map as one would write it down: lines with the time of their last use, and lists.
struct Plain {
    lines: HashMap<u32, (u64, bool)>,
    capacity: usize,
    units_per_line: u32,
    lines_per_page: usize,
    mapped: HashSet<u32>,
    in_flash: HashSet<u32>,
    waiting: HashSet<u32>,
    /// In the order in which they first came; those that wait no more keep their place.
    queue: Vec<u32>,
    now: u64,
    uses: MapUses,
    programs: u64,
}

impl Plain {
    fn new(cache: MapCacheConfig) -> Self {
        Self {
            lines: HashMap::new(),
            capacity: (cache.cache_bytes / cache.fetch_bytes) as usize,
            units_per_line: cache.fetch_bytes / 4,
            lines_per_page: (PAGE / cache.fetch_bytes) as usize,
            mapped: HashSet::new(),
            in_flash: HashSet::new(),
            waiting: HashSet::new(),
            queue: Vec::new(),
            now: 0,
            uses: MapUses::default(),
            programs: 0,
        }
    }

    fn is_mapped(&self, line: u32) -> bool {
        let units = line * self.units_per_line..(line + 1) * self.units_per_line;
        units.into_iter().any(|unit| self.mapped.contains(&unit))
    }

    fn touch(&mut self, line: u32, changes: bool) {
        self.now += 1;
        if let Some((used, changed)) = self.lines.get_mut(&line) {
            (*used, *changed) = (self.now, *changed || changes);
            self.uses.hits += 1;
            return;
        }
        self.uses.misses += 1;
        if self.lines.len() == self.capacity {
            let oldest = *self.lines.iter().min_by_key(|(_, (used, _))| *used).unwrap().0;
            if self.lines.remove(&oldest).unwrap().1 {
                self.uses.write_backs += 1;
                self.in_flash.remove(&oldest);
                self.waiting.insert(oldest);
                if !self.queue.contains(&oldest) {
                    self.queue.push(oldest);
                }
            }
        }
        self.uses.reads += u64::from(self.in_flash.contains(&line));
        self.lines.insert(line, (self.now, changes));
    }

    fn read(&mut self, lpn: u32) {
        if self.is_mapped(lpn / self.units_per_line) {
            self.touch(lpn / self.units_per_line, false);
        }
    }

    fn change(&mut self, lpn: u32) {
        self.mapped.insert(lpn);
        self.touch(lpn / self.units_per_line, true);
    }

    fn trim(&mut self, units: std::ops::Range<u32>) {
        let mut changed = Vec::new();
        for unit in units {
            let line = unit / self.units_per_line;
            if self.mapped.remove(&unit) && changed.last() != Some(&line) {
                changed.push(line);
            }
        }
        for line in changed {
            if self.is_mapped(line) {
                self.touch(line, true);
            } else {
                self.lines.remove(&line);
                self.in_flash.remove(&line);
                self.waiting.remove(&line);
            }
        }
    }

    fn write_due(&mut self) {
        while self.waiting.len() >= self.lines_per_page {
            let page: Vec<u32> = self
                .queue
                .iter()
                .copied()
                .filter(|line| self.waiting.contains(line))
                .take(self.lines_per_page)
                .collect();
            let last = self.queue.iter().position(|line| Some(line) == page.last()).unwrap();
            self.queue.drain(..=last);
            for line in page {
                self.waiting.remove(&line);
                self.in_flash.insert(line);
            }
            self.programs += 1;
        }
    }
}

struct Both {
    ftl: PageMap<DemandLoaded>,
    plain: Plain,
    die: u32,
}

impl Both {
    fn new(layout: UnitLayout, user_units: u32, cache: MapCacheConfig) -> Self {
        let ftl = PageMap::demand_loaded(layout, config(user_units), cache).unwrap();
        Self { ftl, plain: Plain::new(cache), die: 0 }
    }

    fn write(&mut self, lpns: &[Lpn]) {
        let dies = self.ftl.layout().geometry.die_count();
        loop {
            let die = DieIndex(self.die);
            self.die = (self.die + 1) % dies;
            self.clean(die);
            if !self.ftl.is_full(die) && self.ftl.has_room(die) {
                self.ftl.program_host(die, lpns, &[]).unwrap();
                for lpn in lpns {
                    self.plain.change(lpn.0);
                }
                self.settle();
                return;
            }
        }
    }

    fn clean(&mut self, die: DieIndex) {
        while self.ftl.cleaning_urgency(die) >= Urgency::Wanted {
            let Some(step) = self.ftl.next_cleaning_step(die).unwrap() else { return };
            if let CleaningStep::Copy { to, .. } = step {
                for place in to.0..to.0 + self.ftl.copied_places().len() as u32 {
                    self.plain.change(self.ftl.flash().peek(Ppn(place)).unwrap().0);
                }
            }
            self.settle();
        }
    }

    /// What is due is written, and what was read is there.
    fn settle(&mut self) {
        while self.ftl.take_map_fetch().is_some() {}
        while self.ftl.is_metadata_due() {
            let dies = 0..self.ftl.layout().geometry.die_count();
            for die in dies.map(DieIndex) {
                while self.ftl.is_metadata_due_on(die) {
                    self.ftl.program_metadata(die).unwrap();
                }
            }
        }
        self.plain.write_due();
    }
}

#[test]
fn every_use_of_the_cache_is_what_a_plain_table_says() {
    let (mut copies, mut erases) = (0, 0);
    for seed in 0..40 {
        let mut random = Stream::new(seed, 1);
        let fetch_bytes = [4096, 512, 64, 2048][random.below(4) as usize];
        let cache_bytes = fetch_bytes * (1 + random.below(9) as u32);
        let spare_blocks = (random.below(2) == 0).then_some(2);
        let cache = MapCacheConfig { cache_bytes, fetch_bytes, spare_blocks, host_bytes: 0, host_ns: 0 };
        let unit_bytes = [512, 2048, 4096][random.below(3) as usize];
        let layout = layout(26, 8, unit_bytes);
        let units = (u64::from(layout.unit_count()) * 6 / 10) as u32;
        let mut both = Both::new(layout, units, cache);
        let (per_page, mut next) = (layout.units_per_page, 0);
        for step in 0..4000 {
            let first = random.below(u64::from(units)) as u32;
            match random.below(20) {
                0 => {
                    let longest = if random.below(20) == 0 { units } else { 4 };
                    let end = (first + 1 + random.below(u64::from(longest)) as u32).min(units);
                    let held = both.ftl.counters().units_trimmed;
                    for lpn in first..end {
                        both.ftl.trim(Lpn(lpn));
                    }
                    if both.ftl.counters().units_trimmed > held {
                        both.ftl.note_trimmed_extent();
                    }
                    both.plain.trim(first..end);
                    both.settle();
                }
                1 if step % 1000 < 20 => {
                    both.ftl.secure_erase();
                    both.plain = Plain::new(cache);
                    both.plain.programs = both.ftl.counters().programs_map;
                }
                2..=8 => {
                    let _ = both.ftl.fetch_map(Lpn(first));
                    both.plain.read(first);
                    both.settle();
                }
                // In order, and anywhere.
                9..=13 => {
                    let lpns: Vec<_> = (0..per_page).map(|offset| Lpn((next + offset) % units)).collect();
                    both.write(&lpns);
                    next = (next + per_page) % units;
                }
                _ => {
                    let lpns: Vec<_> =
                        (0..per_page).map(|_| Lpn(random.below(u64::from(units)) as u32)).collect();
                    both.write(&lpns);
                }
            }
            assert_eq!(both.ftl.memory().uses(), both.plain.uses, "seed {seed}, step {step}");
            if step % 64 == 0 {
                both.ftl.check().unwrap();
            }
        }
        let counters = both.ftl.counters();
        (copies, erases) = (copies + counters.programs_cleaning, erases + counters.erases_map);
        // Beside what cleaning of the log copies.
        assert!(counters.programs_map >= both.plain.programs, "seed {seed}");
    }
    assert!(
        copies > 1000 && erases > 1000,
        "{copies} copies and {erases} erases of the map: nothing was tried"
    );
}

/// 64 lines of 1024 units, filled in order; there is room for 40 000 writes before anything is cleaned.
fn filled(lines_in_memory: u32) -> Untimed<PageMap<DemandLoaded>> {
    let layout = layout(500, 64, PAGE);
    let cache = MapCacheConfig {
        cache_bytes: lines_in_memory * PAGE,
        fetch_bytes: PAGE,
        spare_blocks: None,
        host_bytes: 0,
        host_ns: 0,
    };
    let mut drive = Untimed::new(PageMap::demand_loaded(layout, config(64 * 1024), cache).unwrap());
    for lpn in 0..64 * 1024 {
        drive.write(&[Lpn(lpn)]).unwrap();
    }
    drive
}

fn since(before: MapUses, after: MapUses) -> MapUses {
    MapUses {
        hits: after.hits - before.hits,
        host_hits: after.host_hits - before.host_hits,
        misses: after.misses - before.misses,
        reads: after.reads - before.reads,
        write_backs: after.write_backs - before.write_backs,
    }
}

/// Whether a share of so many draws is what it should be, within four standard deviations.
fn is_share(found: u64, draws: u64, expected: f64) -> bool {
    let deviation = (expected * (1.0 - expected) / draws as f64).sqrt();
    (found as f64 / draws as f64 - expected).abs() <= 4.0 * deviation
}

#[test]
fn random_reads_hit_as_much_as_memory_holds_of_the_map() {
    const DRAWS: u64 = 40_000;
    for in_memory in [1, 6, 32, 63] {
        let mut ftl = filled(in_memory).ftl;
        let mut random = Stream::new(u64::from(in_memory), 1);
        let before = ftl.memory().uses();
        for _ in 0..DRAWS {
            let _ = ftl.fetch_map(Lpn(random.below(64 * 1024) as u32));
        }
        let uses = since(before, ftl.memory().uses());
        assert!(is_share(uses.hits, DRAWS, f64::from(in_memory) / 64.0), "{in_memory} of 64 lines: {uses:?}");
        assert_eq!(uses.hits + uses.misses, DRAWS);
    }
}

#[test]
fn reads_in_order_read_every_line_once() {
    let mut ftl = filled(6).ftl;
    let before = ftl.memory().uses();
    let fetched: Vec<u32> =
        (0..64 * 1024).filter_map(|lpn| ftl.fetch_map(Lpn(lpn))).map(|fetch| fetch.line).collect();
    let uses = since(before, ftl.memory().uses());
    assert_eq!((uses.misses, uses.reads), (64, fetched.len() as u64));
    // The last six have changed, made room for others, and wait to be written: until then they are in memory.
    assert!(fetched.into_iter().eq(0..58));
    assert_eq!(ftl.backlog().metadata_pages, 6);
}

#[test]
fn random_changes_write_back_as_much_as_they_read() {
    const WRITES: u64 = 40_000;
    let mut drive = filled(16);
    let mut random = Stream::new(9, 1);
    let before = (drive.ftl.memory().uses(), *drive.ftl.counters());
    for _ in 0..WRITES {
        drive.write(&[Lpn(random.below(64 * 1024) as u32)]).unwrap();
    }
    let (uses, counters) = (since(before.0, drive.ftl.memory().uses()), drive.ftl.counters());
    assert_eq!((uses.hits + uses.misses, counters.units_cleaning), (WRITES, 0));
    assert!(is_share(uses.misses, WRITES, 0.75), "{uses:?}");
    assert_eq!((uses.reads, uses.write_backs), (uses.misses, uses.misses), "all of memory is changed");
    let programs = counters.programs_map - before.1.programs_map;
    assert!(
        (uses.write_backs..uses.write_backs * 3 / 2).contains(&programs),
        "{programs} programs for {uses:?}: one each, and copies of what is current in the oldest block"
    );
    drive.ftl.check().unwrap();
}

#[test]
fn with_room_for_the_whole_map_nothing_is_read_or_written_for_it() {
    const UNITS: u64 = 9_000;
    let write = |drive: &mut dyn FnMut(Lpn)| {
        let mut random = Stream::new(4, 1);
        for lpn in 0..UNITS {
            drive(Lpn(lpn as u32));
        }
        for _ in 0..6 * UNITS {
            drive(Lpn(random.below(UNITS) as u32));
        }
    };
    let cache = MapCacheConfig {
        cache_bytes: 1 << 20,
        fetch_bytes: PAGE,
        spare_blocks: None,
        host_bytes: 0,
        host_ns: 0,
    };
    let reserved = 3;
    let mut whole = Untimed::new(PageMap::new(layout(180, 16, PAGE), config(UNITS as u32)).unwrap());
    write(&mut |lpn| whole.write(&[lpn]).unwrap());
    let demand = PageMap::demand_loaded(layout(180 + reserved, 16, PAGE), config(UNITS as u32), cache);
    let mut demand = Untimed::new(demand.unwrap());
    write(&mut |lpn| demand.write(&[lpn]).unwrap());
    let uses = demand.ftl.memory().uses();
    assert_eq!((demand.ftl.memory().lines().0, uses.misses, uses.reads, uses.write_backs), (9, 9, 0, 0));
    let (one, other) = (demand.ftl.counters(), whole.ftl.counters());
    assert_eq!((one.programs_map, one.programs_host), (0, other.programs_host));
    assert_eq!(demand.ftl.held_back_bytes() - whole.ftl.held_back_bytes(), 4 * 3 * 16 * u64::from(PAGE));
    let (one, other) = (one.programs() as f64, other.programs() as f64);
    assert!((one / other - 1.0).abs() < 0.01, "{one} programs, with the map in memory {other}");
}

#[test]
fn a_trim_of_everything_leaves_no_map() {
    let mut ftl = filled(6).ftl;
    let before = (ftl.memory().uses(), *ftl.counters());
    for lpn in 0..64 * 1024 {
        ftl.trim(Lpn(lpn));
    }
    ftl.note_trimmed_extent();
    assert_eq!(since(before.0, ftl.memory().uses()), MapUses::default(), "no line is read or written");
    assert_eq!((ftl.take_map_fetch(), ftl.fetch_map(Lpn(9)), ftl.backlog().metadata_pages), (None, None, 0));
    ftl.check().unwrap();
}

#[test]
fn what_makes_no_map_in_flash_is_refused_by_name() {
    let small = layout(24, 8, PAGE);
    let coarse = layout(24, 8, 4 * PAGE);
    let good = MapCacheConfig {
        cache_bytes: 2 * PAGE,
        fetch_bytes: PAGE,
        spare_blocks: None,
        host_bytes: 0,
        host_ns: 0,
    };
    let journal = FtlConfig { journal_updates_per_page: 9, ..config(100) };
    let tries = [
        (small, config(100), MapCacheConfig { cache_bytes: 4095, ..good }, "ftl.map_cache_bytes"),
        (small, config(100), MapCacheConfig { fetch_bytes: 3, ..good }, "ftl.map_fetch_bytes"),
        (small, config(100), MapCacheConfig { fetch_bytes: 4097, ..good }, "ftl.map_fetch_bytes"),
        (small, config(100), MapCacheConfig { spare_blocks: Some(0), ..good }, "ftl.map_spare_blocks"),
        (small, journal, good, "ftl.journal_updates_per_page"),
        (coarse, config(25), good, "ftl.map_cache_bytes"),
        (small, config(600), good, "user_capacity_bytes"),
    ];
    for (layout, config, cache, key) in tries {
        let error = PageMap::demand_loaded(layout, config, cache).unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
    PageMap::new(small, config(600)).expect("the blocks of the map were too many");
}
