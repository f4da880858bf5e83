//! The part of the map that the controller's memory holds. A drive without DRAM keeps its map in flash: a unit whose
//! entry is not in memory cannot be read or overwritten before a line of the map was read, and a line that was
//! changed is written back when another takes its place, several of them to a page.
//!
//! The cache is direct-mapped: with uniform random accesses its hit rate is its share of the map, whatever the policy.

use drivelab_nand::{DieIndex, Lpn};

use crate::content::mix;
use crate::mapping::MapFetch;

/// Bytes of a map entry in flash: page (25 bits or so) and place on it. Assumed.
pub(super) const MAP_ENTRY_BYTES: u32 = 4;

const CHANGED: u32 = 1;

/// What is in memory.
#[derive(Clone, Debug)]
pub(super) struct MapCache {
    /// Twice (line + 1 of the map) of what is kept in each place, and whether it was changed; 0: none. Empty: all of
    /// the map is in memory.
    places: Vec<u32>,
    /// One bit per line: it was written back, so that there is something to read.
    in_flash: Vec<u64>,
    units_per_line: u32,
    fetch_bytes: u32,
    dies: u32,
    /// Lines that changes need and that were not in memory.
    due: Vec<MapFetch>,
    written_back: u32,
}

impl MapCache {
    pub fn new(cache_bytes: u32, fetch_bytes: u32, units: u32, dies: u32) -> Self {
        let fetch_bytes = fetch_bytes.max(MAP_ENTRY_BYTES);
        let units_per_line = fetch_bytes / MAP_ENTRY_BYTES;
        let lines = if cache_bytes == 0 { 0 } else { units.div_ceil(units_per_line) };
        Self {
            places: vec![0; (cache_bytes / fetch_bytes) as usize],
            in_flash: vec![0; lines.div_ceil(64) as usize],
            units_per_line,
            fetch_bytes,
            dies,
            due: Vec::new(),
            written_back: 0,
        }
    }

    /// Whether some of the map is not in memory.
    #[inline]
    pub fn is_partial(&self) -> bool {
        !self.places.is_empty()
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
            let old_line = (old >> 1) - 1;
            self.in_flash[(old_line / 64) as usize] |= 1 << (old_line % 64);
            self.written_back += 1;
        }
        if self.in_flash[(line / 64) as usize] >> (line % 64) & 1 == 0 {
            return None;
        }
        // Pieces of the map lie anywhere.
        let die = DieIndex((mix(u64::from(line)) % u64::from(self.dies)) as u32);
        Some(MapFetch { die, bytes: self.fetch_bytes })
    }

    /// What must be read before a unit can be looked up; its entry is in memory afterwards.
    #[inline]
    pub fn look_up(&mut self, lpn: Lpn) -> Option<MapFetch> {
        if self.is_partial() { self.bring(lpn, 0) } else { None }
    }

    /// The entry of a unit changes. Nobody waits for the line, but it will be read ([`Self::take_due`]).
    #[inline]
    pub fn change(&mut self, lpn: Lpn) {
        if self.is_partial() {
            let fetch = self.bring(lpn, CHANGED);
            self.due.extend(fetch);
        }
    }

    /// The entry of a unit is removed with those of its neighbours, so that the old line need not be read.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        if self.is_partial() {
            self.bring(lpn, CHANGED);
        }
    }

    /// The next line that a change needs from flash.
    #[inline]
    pub fn take_due(&mut self) -> Option<MapFetch> {
        self.due.pop()
    }

    /// Lines written back since the last call.
    #[inline]
    pub fn take_written_back(&mut self) -> u32 {
        std::mem::take(&mut self.written_back)
    }

    /// As after power-on: nothing is in memory, and what of the map says anything is in flash.
    pub fn restore(&mut self, map: &[u32]) {
        self.clear();
        if self.is_partial() {
            for (line, entries) in map.chunks(self.units_per_line as usize).enumerate() {
                if entries.iter().any(|&entry| entry != 0) {
                    self.in_flash[line / 64] |= 1 << (line % 64);
                }
            }
        }
    }

    /// Nothing is mapped any more.
    pub fn clear(&mut self) {
        self.places.fill(0);
        self.in_flash.fill(0);
        self.due.clear();
        self.written_back = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_come_back_from_flash_after_others_took_their_place() {
        let mut cache = MapCache::new(2048, 256, 64 * 100, 4);
        assert_eq!(cache.look_up(Lpn(0)), None, "never written back: nothing to read");
        cache.change(Lpn(0));
        cache.change(Lpn(63));
        cache.change(Lpn(64));
        assert_eq!(cache.take_written_back(), 0);
        assert_eq!(cache.look_up(Lpn(64 * 8)), None, "takes the place of the first line");
        assert_eq!(cache.take_written_back(), 1);
        assert!(cache.look_up(Lpn(5)).is_some_and(|fetch| fetch.bytes == 256));
        assert_eq!(cache.look_up(Lpn(6)), None, "in memory now");
        cache.change(Lpn(64 * 8));
        cache.change(Lpn(0));
        assert!(cache.take_due().is_some() && cache.take_due().is_none());
        assert_eq!(cache.take_written_back(), 1, "unchanged lines need not be written");
        let mut map = vec![0; 64 * 100];
        map[64 * 7] = 1;
        cache.restore(&map);
        assert_eq!(cache.look_up(Lpn(0)), None, "nothing is mapped there");
        assert!(cache.look_up(Lpn(64 * 7 + 5)).is_some(), "after power-on it is in flash only");
        let mut whole = MapCache::new(0, 512, 1000, 4);
        whole.change(Lpn(9));
        assert!(whole.look_up(Lpn(9)).is_none() && whole.take_due().is_none());
    }
}
