//! The part of the map that the controller's memory holds. A drive without DRAM keeps its map in flash, and a read of
//! a unit whose entry is not in memory begins with a read of the map.
//!
//! The cache is direct-mapped: with uniform random reads its hit rate is its share of the map, whatever the policy.

use drivelab_nand::{DieIndex, Lpn};

use crate::content::mix;
use crate::mapping::MapFetch;

/// Bytes of a map entry in flash: page, place on it, size. Assumed.
pub(super) const MAP_ENTRY_BYTES: u32 = 8;

/// What is in memory.
#[derive(Clone, Debug)]
pub(super) struct MapCache {
    /// Line + 1 of the map that is kept in each place; 0: none. Empty: all of the map is in memory.
    lines: Vec<u32>,
    units_per_line: u32,
    fetch_bytes: u32,
    dies: u32,
}

impl MapCache {
    pub fn new(cache_bytes: u32, fetch_bytes: u32, dies: u32) -> Self {
        let fetch_bytes = fetch_bytes.max(MAP_ENTRY_BYTES);
        Self {
            lines: vec![0; (cache_bytes / fetch_bytes) as usize],
            units_per_line: fetch_bytes / MAP_ENTRY_BYTES,
            fetch_bytes,
            dies,
        }
    }

    /// What must be read before a unit can be looked up; it is in memory afterwards.
    #[inline]
    pub fn fetch(&mut self, lpn: Lpn) -> Option<MapFetch> {
        if self.lines.is_empty() {
            return None;
        }
        let line = lpn.0 / self.units_per_line;
        let index = line as usize % self.lines.len();
        if self.lines[index] == line + 1 {
            return None;
        }
        self.lines[index] = line + 1;
        // Pieces of the map lie anywhere.
        let die = DieIndex((mix(u64::from(line)) % u64::from(self.dies)) as u32);
        Some(MapFetch { die, bytes: self.fetch_bytes })
    }

    pub fn clear(&mut self) {
        self.lines.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_together_and_what_is_far_away_replaces() {
        let mut cache = MapCache::new(4096, 512, 4);
        assert!(cache.fetch(Lpn(0)).is_some_and(|fetch| fetch.bytes == 512));
        assert_eq!(cache.fetch(Lpn(63)), None);
        assert!(cache.fetch(Lpn(64)).is_some());
        assert!(cache.fetch(Lpn(64 * 8)).is_some(), "the place of the first line");
        assert!(cache.fetch(Lpn(0)).is_some());
        assert_eq!(MapCache::new(0, 512, 4).fetch(Lpn(9)), None);
    }
}
