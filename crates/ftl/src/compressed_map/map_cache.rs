//! The part of the map that the controller's memory holds. A drive without DRAM keeps its map in flash: a unit whose
//! entry is not in memory cannot be read or overwritten before a line of the map was read, and a line that was
//! changed is written back when another takes its place, several of them to a page.
//!
//! The cache is direct-mapped: with uniform random accesses its hit rate is its share of the map, whatever the policy.

use drivelab_nand::{BlockIndex, FlashArray, Geometry, Lpn};

use super::map_log::MapLog;
use crate::mapping::MapFetch;

/// Bytes of a map entry in flash: page (25 bits or so) and place on it. Assumed.
pub(super) const MAP_ENTRY_BYTES: u32 = 4;

const CHANGED: u32 = 1;

/// What is in memory, and where in flash the rest is.
#[derive(Clone, Debug)]
pub(super) struct MapCache {
    /// Twice (line + 1 of the map) of what is kept in each place, and whether it was changed; 0: none. Empty: all of
    /// the map is in memory.
    places: Vec<u32>,
    /// Mapped units of every line. A line of which nothing is mapped is nowhere: neither kept nor read.
    mapped: Vec<u32>,
    pub log: MapLog,
    units_per_line: u32,
    fetch_bytes: u32,
    /// Lines that changes need and that were not in memory.
    due: Vec<MapFetch>,
}

impl MapCache {
    pub fn new(cache_bytes: u32, fetch_bytes: u32, units: u32, geometry: &Geometry) -> Self {
        let fetch_bytes = fetch_bytes.max(MAP_ENTRY_BYTES);
        let units_per_line = fetch_bytes / MAP_ENTRY_BYTES;
        let lines = if cache_bytes == 0 { 0 } else { units.div_ceil(units_per_line) };
        Self {
            places: vec![0; (cache_bytes / fetch_bytes) as usize],
            mapped: vec![0; lines as usize],
            log: MapLog::new(geometry, fetch_bytes, lines),
            units_per_line,
            fetch_bytes,
            due: Vec::new(),
        }
    }

    /// Whether some of the map is not in memory.
    #[inline]
    pub fn is_partial(&self) -> bool {
        !self.places.is_empty()
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u32 {
        self.fetch_bytes
    }

    /// Units of a line.
    pub fn units_of(&self, line: u32, units: u32) -> std::ops::Range<u32> {
        let first = line * self.units_per_line;
        first..(first + self.units_per_line).min(units)
    }

    /// Brings the line of a unit into memory. Gives what must be read for it.
    #[inline]
    fn bring(&mut self, lpn: Lpn, changed: u32) -> Option<MapFetch> {
        let line = lpn.0 / self.units_per_line;
        let count = self.places.len();
        let place = &mut self.places[line as usize % count];
        let wanted = (line + 1) << 1;
        if *place & !CHANGED == wanted {
            *place |= changed;
            return None;
        }
        let old = std::mem::replace(place, wanted | changed);
        if old & CHANGED != 0 {
            self.log.write_back((old >> 1) - 1);
        }
        // What waits to be written is still in memory.
        self.log.die_of(line).map(|die| MapFetch { die, bytes: self.fetch_bytes })
    }

    /// What must be read before a unit can be looked up; its entry is in memory afterwards.
    #[inline]
    pub fn look_up(&mut self, lpn: Lpn) -> Option<MapFetch> {
        if self.is_partial() && self.mapped[(lpn.0 / self.units_per_line) as usize] > 0 {
            self.bring(lpn, 0)
        } else {
            None
        }
    }

    /// The entry of a unit changes; `is_new`: it had none. Nobody waits for the line, but it will be read
    /// ([`Self::take_due`]).
    #[inline]
    pub fn change(&mut self, lpn: Lpn, is_new: bool) {
        if self.is_partial() {
            self.mapped[(lpn.0 / self.units_per_line) as usize] += u32::from(is_new);
            let fetch = self.bring(lpn, CHANGED);
            self.due.extend(fetch);
        }
    }

    /// The entry of a unit is removed with those of its neighbours, so that the old line need not be read. With the last
    /// of them the line goes.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        if self.is_partial() && !self.forget(lpn) {
            self.bring(lpn, CHANGED);
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
        let count = self.places.len();
        let place = &mut self.places[line as usize % count];
        if *place >> 1 == line + 1 {
            *place = 0;
        }
        true
    }

    /// The next line that a change needs from flash.
    #[inline]
    pub fn take_due(&mut self) -> Option<MapFetch> {
        self.due.pop()
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
        self.log.check()
    }
}

#[cfg(test)]
mod tests {
    use drivelab_nand::DieIndex;

    use super::*;

    #[test]
    fn changed_lines_come_back_from_flash_after_others_took_their_place() {
        let geometry = Geometry {
            channel_count: 2,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 512,
            oob_bytes: 0,
            two_plane: false,
        };
        let mut cache = MapCache::new(2048, 256, 64 * 100, &geometry);
        assert_eq!(cache.look_up(Lpn(0)), None, "nothing is mapped");
        cache.change(Lpn(0), true);
        cache.change(Lpn(63), true);
        cache.change(Lpn(64), true);
        assert!(!cache.log.is_due());
        cache.change(Lpn(64 * 8), true);
        assert_eq!(cache.look_up(Lpn(5)), None, "the first line waits to be written: it is still in memory");
        assert!(cache.log.is_due(), "two lines fill a page");
        let lines = cache.log.take_waiting();
        cache.log.programmed(DieIndex(1), BlockIndex(8), 0, &lines);
        assert_eq!(lines, [0, 8]);
        cache.change(Lpn(64 * 9), true);
        cache.change(Lpn(64 * 16), true);
        cache.change(Lpn(0), false);
        assert_eq!(cache.take_due(), Some(MapFetch { die: DieIndex(1), bytes: 256 }), "from where it lies");
        assert_eq!(cache.take_due(), None);
        cache.forget(Lpn(64));
        assert_eq!(cache.look_up(Lpn(64)), None, "with its last entry a line is gone");
        cache.log.check().unwrap();
        let mut whole = MapCache::new(0, 512, 1000, &geometry);
        whole.change(Lpn(9), true);
        assert!(whole.look_up(Lpn(9)).is_none() && whole.take_due().is_none());
        assert_eq!(whole.log.reserved(), 0);
    }
}
