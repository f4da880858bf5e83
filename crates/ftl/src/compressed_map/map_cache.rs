//! The part of the map that the controller's memory holds. A drive without DRAM keeps its map in flash: a unit whose
//! entry is not in memory cannot be read or overwritten before a line of the map was read, and a line that was
//! changed is written back when another takes its place, several of them to a page.
//!
//! The cache is direct-mapped: with uniform random accesses its hit rate is its share of the map, whatever the policy.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Geometry, Lpn};
use serde::{Deserialize, Serialize};

use super::map_reads::MapReads;
use crate::log::MapLog;
use crate::mapping::{MAP_ENTRY_BYTES, MapFetch};

const CHANGED: u32 = 1;

/// What is in memory, and where in flash the rest is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MapCache {
    /// Twice (line + 1 of the map) of what is kept in each place, and whether it was changed; 0: none. Empty: all of
    /// the map is in memory.
    places: Vec<u32>,
    /// Mapped units of every line. A line of which nothing is mapped is nowhere: neither kept nor read.
    mapped: Vec<u32>,
    pub log: MapLog,
    units_per_line: u32,
    fetch_bytes: u32,
    /// Lines that changes need and that are not in memory.
    pub reads: MapReads,
    /// Lines that were just read.
    arrived: Vec<u32>,
}

impl MapCache {
    pub fn new(cache_bytes: u32, fetch_bytes: u32, units: u32, geometry: &Geometry) -> Self {
        let fetch_bytes = fetch_bytes.max(MAP_ENTRY_BYTES);
        let units_per_line = fetch_bytes / MAP_ENTRY_BYTES;
        let lines = if cache_bytes == 0 { 0 } else { units.div_ceil(units_per_line) };
        let log = MapLog::new(geometry, fetch_bytes, lines, 0);
        let pages_per_die = (log.reserved() * geometry.pages_per_block).max(1);
        Self {
            places: vec![0; (cache_bytes / fetch_bytes) as usize],
            mapped: vec![0; lines as usize],
            log,
            units_per_line,
            fetch_bytes,
            reads: MapReads::new(geometry.die_count(), pages_per_die, lines),
            arrived: Vec::new(),
        }
    }

    /// Whether some of the map is not in memory.
    #[inline]
    pub fn is_partial(&self) -> bool {
        !self.places.is_empty()
    }

    /// How many units have their entries on a line.
    pub fn units_per_line(&self) -> u32 {
        self.units_per_line
    }

    /// Brings what is known of a unit's line into the processor's cache.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        let line = lpn.0 / self.units_per_line;
        drivelab_sim::prefetch(&self.mapped, line as usize);
        self.log.prefetch(line);
        self.reads.prefetch(line);
    }

    /// Where a line is kept, if it is.
    #[inline]
    fn place_of(&mut self, line: u32) -> &mut u32 {
        // 32 bits are enough, and a division of 64 takes twice as long.
        let count = self.places.len() as u32;
        &mut self.places[(line % count) as usize]
    }

    /// Brings a line into memory. Whether it was there.
    #[inline]
    fn bring(&mut self, line: u32, changed: u32) -> bool {
        let place = self.place_of(line);
        let wanted = (line + 1) << 1;
        if *place & !CHANGED == wanted {
            *place |= changed;
            return true;
        }
        let old = std::mem::replace(place, wanted | changed);
        // A line that waits to be read isn't whole: it is written when it has been.
        if old & CHANGED != 0 && !self.reads.is_waiting((old >> 1) - 1) {
            self.log.write_back((old >> 1) - 1);
        }
        false
    }

    /// A line that changes waited for has been read.
    #[inline]
    fn arrive(&mut self, line: u32) {
        let place = self.place_of(line);
        if *place >> 1 == line + 1 {
            *place |= CHANGED;
        } else {
            // Another has taken its place meanwhile.
            self.log.write_back(line);
        }
    }

    /// A line has been read with others of its page, for another purpose.
    #[inline]
    pub fn arrive_if_waiting(&mut self, line: u32) {
        if self.reads.remove(line).is_some() {
            self.arrive(line);
        }
    }

    /// Reads the lines of a page that changes wait for on a die. How many bytes they are; `None`: there are none.
    #[inline]
    pub fn read_due(&mut self, die: DieIndex) -> Option<u32> {
        let mut lines = std::mem::take(&mut self.arrived);
        self.reads.take_page(die, &mut lines);
        for &line in &lines {
            self.arrive(line);
        }
        let bytes = lines.len() as u32 * self.fetch_bytes;
        self.arrived = lines;
        (bytes > 0).then_some(bytes)
    }

    /// Whether changes wait for as many lines as memory holds.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.is_partial() && self.reads.waiting() as usize >= self.places.len()
    }

    /// Whether as many changed lines wait to be written as memory holds.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.is_partial() && self.log.fills(self.places.len() as u32)
    }

    /// Pages of the map that are to be written or read and that no command waits for.
    pub fn due_pages(&self) -> u32 {
        self.log.due_pages() + self.reads.waiting().div_ceil(self.log.lines_per_page())
    }

    /// What must be read before a unit can be looked up; its entry is in memory afterwards.
    #[inline]
    pub fn look_up(&mut self, lpn: Lpn) -> Option<MapFetch> {
        let line = lpn.0 / self.units_per_line;
        if !self.is_partial() || self.mapped[line as usize] == 0 {
            return None;
        }
        let was_there = self.bring(line, 0);
        let page = match self.reads.remove(line) {
            // The command takes the reading of the line over.
            Some(page) => {
                self.arrive(line);
                Some(page)
            }
            None if was_there => None,
            // What waits to be written is still in memory.
            None => self.log.page_of(line),
        };
        page.map(|page| MapFetch { line, die: self.reads.die_of(page), bytes: self.fetch_bytes })
    }

    /// The entry of a unit changes; `is_new`: it had none. Nobody waits for the line, but it will be read
    /// ([`Self::read_due`]).
    #[inline]
    pub fn change(&mut self, lpn: Lpn, is_new: bool) {
        if self.is_partial() {
            let line = lpn.0 / self.units_per_line;
            self.mapped[line as usize] += u32::from(is_new);
            if !self.bring(line, CHANGED)
                && !self.reads.is_waiting(line)
                && let Some(page) = self.log.page_of(line)
            {
                self.reads.push(line, page);
            }
        }
    }

    /// The entry of a unit is removed with those of its neighbours, so that the old line need not be read. With the last
    /// of them the line goes.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        if self.is_partial() && !self.forget(lpn) {
            self.bring(lpn.0 / self.units_per_line, CHANGED);
        }
    }

    /// The entry of a unit goes, wherever its line is; whether the line went with it.
    #[inline]
    pub fn forget(&mut self, lpn: Lpn) -> bool {
        let line = lpn.0 / self.units_per_line;
        let mapped = &mut self.mapped[line as usize];
        *mapped -= 1;
        if *mapped > 0 {
            return false;
        }
        self.log.drop_line(line);
        self.reads.remove(line);
        let place = self.place_of(line);
        if *place >> 1 == line + 1 {
            *place = 0;
        }
        true
    }

    /// As after power-on, on an empty log: nothing is in memory, and what of the map says anything is in flash.
    pub fn restore(&mut self, map: &[u32], flash: &FlashArray, last_sequence: impl Fn(BlockIndex) -> u64) {
        if self.is_partial() {
            for (entries, mapped) in map.chunks(self.units_per_line as usize).zip(&mut self.mapped) {
                *mapped = entries.iter().filter(|&&entry| entry != 0).count() as u32;
            }
            let lines = (0..).zip(&self.mapped).filter(|&(_, &mapped)| mapped > 0).map(|(line, _)| line);
            self.log.restore(flash, last_sequence, lines);
        }
    }

    /// Recounts the books.
    pub fn check(&self, map: &[u32]) -> Result<(), String> {
        if !self.is_partial() {
            return Ok(());
        }
        for (line, entries) in map.chunks(self.units_per_line as usize).enumerate() {
            let mapped = entries.iter().filter(|&&entry| entry != 0).count();
            if mapped != self.mapped[line] as usize {
                return Err(format!(
                    "line {line} of the map has {mapped} entries, counted {}",
                    self.mapped[line]
                ));
            }
        }
        self.reads.check()?;
        self.log.check()
    }
}

#[cfg(test)]
mod tests {
    use drivelab_nand::DieIndex;

    use super::*;

    fn geometry() -> Geometry {
        Geometry {
            channel_count: 2,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 512,
            oob_bytes: 0,
            two_plane: false,
        }
    }

    #[test]
    fn changed_lines_come_back_from_flash_after_others_took_their_place() {
        let mut cache = MapCache::new(2048, 256, 64 * 100, &geometry());
        assert_eq!(cache.look_up(Lpn(0)), None, "nothing is mapped");
        cache.change(Lpn(0), true);
        cache.change(Lpn(63), true);
        cache.change(Lpn(64), true);
        assert!(!cache.log.is_due());
        cache.change(Lpn(64 * 8), true);
        assert_eq!(cache.look_up(Lpn(5)), None, "the first line waits to be written: it is still in memory");
        assert!(cache.log.is_due(), "two lines fill a page");
        let mut lines = Vec::new();
        cache.log.take_waiting(&mut lines);
        cache.log.programmed(DieIndex(1), BlockIndex(8), 0, &lines);
        assert_eq!(lines, [0, 8]);
        cache.change(Lpn(64 * 9), true);
        cache.change(Lpn(64 * 16), true);
        cache.change(Lpn(0), false);
        assert_eq!((cache.read_due(DieIndex(0)), cache.reads.take_called()), (None, Some(DieIndex(1))));
        assert_eq!(cache.read_due(DieIndex(1)), Some(256), "from where it lies");
        assert_eq!(cache.read_due(DieIndex(1)), None);
        cache.forget(Lpn(64));
        assert_eq!(cache.look_up(Lpn(64)), None, "with its last entry a line is gone");
        cache.log.check().unwrap();
        let mut whole = MapCache::new(0, 512, 1000, &geometry());
        whole.change(Lpn(9), true);
        assert!(whole.look_up(Lpn(9)).is_none() && whole.read_due(DieIndex(0)).is_none());
        assert_eq!(whole.log.reserved(), 0);
    }

    #[test]
    fn lines_that_changes_wait_for_are_bounded_and_written_only_when_they_are_whole() {
        let mut cache = MapCache::new(2 * 256, 256, 64 * 100, &geometry());
        let change = |cache: &mut MapCache, line: u32| cache.change(Lpn(64 * line), true);
        for line in 0..6 {
            change(&mut cache, line);
        }
        // Two lines a page: 0 to 3 are in flash, 4 and 5 in memory.
        let mut lines = Vec::new();
        for page in 0..2 {
            cache.log.take_waiting(&mut lines);
            cache.log.programmed(DieIndex(0), BlockIndex(0), page, &lines);
        }
        assert!(!cache.log.is_due() && !cache.is_behind());
        change(&mut cache, 0);
        assert!(!cache.is_behind(), "one line waits, two there may be");
        change(&mut cache, 1);
        assert!(cache.is_behind(), "as many as memory holds");
        cache.log.take_waiting(&mut lines);
        assert_eq!(lines, [4, 5]);
        cache.log.programmed(DieIndex(0), BlockIndex(0), 2, &[4, 5]);
        change(&mut cache, 2);
        change(&mut cache, 3);
        assert!(!cache.log.is_due(), "lines 0 and 1 have lost their places, but are not whole");
        assert_eq!(
            cache.look_up(Lpn(64)),
            Some(MapFetch { line: 1, die: DieIndex(0), bytes: 256 }),
            "a command waits"
        );
        assert_eq!(cache.read_due(DieIndex(0)), Some(256), "what is left of the first page: line 0");
        cache.log.take_waiting(&mut lines);
        assert_eq!(lines, [0], "it can be written now");
        assert_eq!(cache.read_due(DieIndex(0)), Some(512), "lines 2 and 3 of the second page at once");
        assert_eq!((cache.read_due(DieIndex(0)), cache.is_behind()), (None, false));
        cache.reads.check().unwrap();
    }
}
