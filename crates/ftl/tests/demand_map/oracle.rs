//! Every use of the map's cache against a plain table.

use std::collections::{HashMap, HashSet};

use drivelab_ftl::{
    Books, CleaningStep, DemandLoaded, LogMapping, MapCacheConfig, MapUses, Mapping, PageMap, Urgency,
};
use drivelab_nand::{DieIndex, Lpn, Ppn, UnitLayout};
use drivelab_sim::Stream;

use super::{PAGE, config, layout};

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
