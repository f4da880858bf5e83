//! The cache of reads: segments of consecutive sectors, the least recently used replaced first.

use drivelab_controller::SECTOR_BYTES;
use serde::{Deserialize, Serialize};

use super::config::ReadCacheConfig;

/// A stretch of consecutive sectors, `start..end`; empty if both are equal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Segment {
    start: u64,
    end: u64,
    used: u64,
    /// One stamp per sector, if stamps are kept.
    stamps: Vec<u64>,
}

/// All segments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadCache {
    segments: Vec<Segment>,
    sectors_max: u64,
    clock: u64,
}

impl ReadCache {
    /// An empty cache.
    #[must_use]
    pub fn new(config: &ReadCacheConfig) -> Self {
        let sectors_max = config.size_bytes / SECTOR_BYTES / u64::from(config.segments.max(1));
        let count = if sectors_max == 0 { 0 } else { config.segments as usize };
        Self { segments: vec![Segment::default(); count], sectors_max, clock: 0 }
    }

    /// How many sectors from `lba` on are there, at most `count`.
    #[inline]
    pub fn hit(&mut self, lba: u64, count: u32) -> u32 {
        let Some(segment) =
            self.segments.iter_mut().find(|segment| (segment.start..segment.end).contains(&lba))
        else {
            return 0;
        };
        self.clock += 1;
        segment.used = self.clock;
        (segment.end - lba).min(u64::from(count)) as u32
    }

    /// Stamps of sectors that are there.
    pub fn stamps(&self, lba: u64, count: u32) -> &[u64] {
        let holds = |segment: &&Segment| segment.start <= lba && lba + u64::from(count) <= segment.end;
        self.segments.iter().find(holds).map_or(&[], |segment| {
            let first = (lba - segment.start) as usize;
            &segment.stamps[first..first + count as usize]
        })
    }

    /// Sectors have come from the media: they continue a segment, or replace the one unused for longest.
    pub fn insert(&mut self, lba: u64, count: u32, stamps: Option<Vec<u64>>) {
        if self.segments.is_empty() || count == 0 {
            return;
        }
        self.clock += 1;
        let place = self.segments.iter().position(|segment| segment.end == lba && segment.start < lba);
        let place = place.unwrap_or_else(|| {
            let oldest = self.segments.iter().enumerate().min_by_key(|(_, segment)| segment.used);
            let place = oldest.map_or(0, |(place, _)| place);
            let segment = &mut self.segments[place];
            (segment.start, segment.end) = (lba, lba);
            segment.stamps.clear();
            place
        });
        let segment = &mut self.segments[place];
        segment.used = self.clock;
        segment.end = lba + u64::from(count);
        let start = segment.start.max(segment.end.saturating_sub(self.sectors_max));
        if let Some(stamps) = stamps {
            segment.stamps.extend(stamps);
            segment.stamps.drain(..(start - segment.start) as usize);
        }
        segment.start = start;
    }

    /// How far to read ahead from the end of the segment that holds the sector before `lba`: until the segment is
    /// full, or half of it lies ahead of what the host has asked for. `None`: far enough, or no such segment.
    pub fn read_ahead(&self, lba: u64) -> Option<(u64, u64)> {
        let holds = |segment: &&Segment| segment.start < lba && lba <= segment.end;
        let segment = self.segments.iter().find(holds)?;
        let until = (segment.start + self.sectors_max).max(lba + self.sectors_max / 2);
        (segment.end < until).then_some((segment.end, until))
    }

    /// These sectors are written: older copies go.
    #[inline]
    pub fn invalidate(&mut self, start: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.start >= end || start >= segment.end {
                continue;
            }
            // What lies before the write stays; a write over the beginning leaves what lies behind it.
            if segment.start < start {
                segment.stamps.truncate((start - segment.start) as usize);
                segment.end = start;
            } else {
                let kept = end.min(segment.end);
                let gone = ((kept - segment.start) as usize).min(segment.stamps.len());
                segment.stamps.drain(..gone);
                segment.start = kept;
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        for segment in &mut self.segments {
            (segment.start, segment.end) = (0, 0);
            segment.stamps.clear();
        }
    }

    /// Checks the books.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        for segment in &self.segments {
            if segment.end < segment.start || segment.end - segment.start > self.sectors_max {
                return Err(format!("segment {}..{} of the read cache", segment.start, segment.end));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> ReadCache {
        ReadCache::new(&ReadCacheConfig { size_bytes: 20 * SECTOR_BYTES, segments: 2 })
    }

    #[test]
    fn a_segment_grows_at_its_end_and_loses_its_beginning() {
        let mut cache = cache();
        cache.insert(100, 6, None);
        cache.insert(106, 6, None);
        assert_eq!(cache.hit(100, 1), 0, "ten sectors fit");
        assert_eq!(cache.hit(102, 20), 10);
        assert_eq!(cache.read_ahead(108), Some((112, 113)));
        cache.insert(500, 1, None);
        cache.insert(700, 1, None);
        assert_eq!((cache.hit(102, 1), cache.hit(500, 1), cache.hit(700, 1)), (0, 1, 1), "the oldest went");
    }

    #[test]
    fn a_write_takes_its_sectors_out() {
        let mut cache = cache();
        cache.insert(100, 10, None);
        cache.invalidate(104, 106);
        assert_eq!((cache.hit(100, 9), cache.hit(106, 1)), (4, 0));
        cache.invalidate(90, 101);
        assert_eq!((cache.hit(100, 9), cache.hit(101, 9)), (0, 3));
        cache.invalidate(0, 1000);
        assert_eq!(cache.hit(101, 1), 0);
    }
}
