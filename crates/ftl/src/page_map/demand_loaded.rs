//! A page map that lies in flash, of which the controller's memory holds a part ([DFTL]).
//!
//! The map is cut into lines; a line as large as a page is a translation page. A directory of where every line lies
//! ([`MapLog`]) is in memory whole. An entry that is looked up or changed needs its line: one that isn't in memory is read
//! and takes the place of the line that was used least recently, which is written back if it has changed. All changes of
//! a line while it was in memory are one write.
//!
//! ```text
//! uniform random use of N lines, C of them in memory:  hits C / N,  reads 1 - C / N a use
//! the same, all of them changes:                        writes 1 - C / N a change, and copies of the log's cleaning
//! ```

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Geometry, GeometryError, Lpn, UnitLayout};
use serde::{Deserialize, Serialize};

use super::line_cache::{LineCache, Use};
use super::memory::MapMemory;
use crate::error::FtlError;
use crate::log::{CleaningMode, DieLogs, FtlConfig, MapLog, MetadataStep};
use crate::mapping::{MAP_ENTRY_BYTES, MapFetch};

/// Lines of a page, at most.
const LINES_PER_PAGE_MAX: u32 = 1024;

/// How much of the map is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapCacheConfig {
    /// Memory for lines of the map.
    pub cache_bytes: u32,
    /// Bytes of a line: what one read of the map brings. At most a page.
    pub fetch_bytes: u32,
    /// Blocks of a die for the map beside those that its lines fill: the more, the fewer lines the log's cleaning copies.
    /// `None`: as few as it works with.
    pub spare_blocks: Option<u32>,
    /// Memory of the host for lines (HMB), which then holds all that is in memory; `cache_bytes` of those that were used last
    /// are in the controller's, too. 0: none.
    pub host_bytes: u32,
    /// Round trip to the host's memory.
    pub host_ns: u64,
}

/// What the cache of a map was used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapUses {
    /// Entries looked up or changed whose line was in memory.
    pub hits: u64,
    /// Those of them whose line was in the host's memory only.
    pub host_hits: u64,
    /// Those whose line wasn't.
    pub misses: u64,
    /// Lines that were read from flash: a line that was new, or waited to be written, need not be.
    pub reads: u64,
    /// Changed lines that made room for others.
    pub write_backs: u64,
}

/// A part of the map is in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DemandLoaded {
    config: MapCacheConfig,
    cache: LineCache,
    /// Where lines are in the host's memory: those that are in the controller's, too.
    near: Option<LineCache>,
    /// Round trip of the last use of the map.
    trip_ns: u64,
    /// Mapped units of every line. A line of which nothing is mapped is nowhere: neither kept nor read.
    mapped: Vec<u32>,
    log: MapLog,
    units_per_line: u32,
    units: u32,
    /// Lines that what has changed needs from flash.
    fetches: Vec<MapFetch>,
    /// The line of the unit that was trimmed last, if something else of it is mapped.
    trimmed: Option<u32>,
    uses: MapUses,
}

impl DemandLoaded {
    pub(super) fn new(
        config: MapCacheConfig,
        layout: &UnitLayout,
        ftl: &FtlConfig,
    ) -> Result<Self, GeometryError> {
        let MapCacheConfig { cache_bytes, fetch_bytes, spare_blocks, .. } = config;
        let page = layout.geometry.program_bytes();
        let refuse = |allowed: &str| Err(GeometryError::new("ftl.map_cache_bytes", cache_bytes, allowed));
        if ftl.cleaning_mode == CleaningMode::RewriteInPlace {
            return refuse("must be 0 for ftl.cleaning_mode = rewrite-in-place: its only block holds data");
        }
        if layout.pages_per_unit > 1 {
            let allowed = format!(
                "must be 0 where a map unit ({} bytes) is larger than a page ({page} bytes)",
                layout.unit_bytes
            );
            return refuse(&allowed);
        }
        // Where every line may lie is known by line and by place: of lines that are too small both are too many.
        let least = MAP_ENTRY_BYTES.max(page / LINES_PER_PAGE_MAX);
        if fetch_bytes < least || fetch_bytes > page {
            let allowed = format!("must be {least} to {page}, the bytes of one program");
            return Err(GeometryError::new("ftl.map_fetch_bytes", fetch_bytes, allowed));
        }
        if cache_bytes < fetch_bytes {
            return refuse(&format!("must be 0 or at least ftl.map_fetch_bytes = {fetch_bytes}"));
        }
        if ftl.journal_updates_per_page > 0 {
            let allowed = "must be 0 beside ftl.map_cache_bytes: lines written back are the journal";
            let updates = ftl.journal_updates_per_page;
            return Err(GeometryError::new("ftl.journal_updates_per_page", updates, allowed));
        }
        let blocks = layout.geometry.blocks_per_die();
        if spare_blocks.is_some_and(|spare| spare > blocks) {
            let allowed = format!("must be at most the {blocks} blocks of a die");
            return Err(GeometryError::new("ftl.map_spare_blocks", spare_blocks.unwrap_or(0), allowed));
        }
        let memory = Self::erased(config, ftl.user_units, &layout.geometry);
        match spare_blocks {
            Some(blocks) if blocks < memory.log.spare() => {
                let allowed = format!("must be at least {} for so large a map", memory.log.spare());
                Err(GeometryError::new("ftl.map_spare_blocks", blocks, allowed))
            }
            _ => Ok(memory),
        }
    }

    fn erased(config: MapCacheConfig, units: u32, geometry: &Geometry) -> Self {
        let units_per_line = config.fetch_bytes / MAP_ENTRY_BYTES;
        let lines = units.div_ceil(units_per_line);
        Self {
            config,
            cache: LineCache::new(config.cache_bytes.max(config.host_bytes) / config.fetch_bytes, lines),
            near: (config.host_bytes > 0)
                .then(|| LineCache::new(config.cache_bytes / config.fetch_bytes, lines)),
            trip_ns: 0,
            mapped: vec![0; lines as usize],
            log: MapLog::new(geometry, config.fetch_bytes, lines, config.spare_blocks.unwrap_or(0)),
            units_per_line,
            units,
            fetches: Vec::new(),
            trimmed: None,
            uses: MapUses::default(),
        }
    }

    /// What the cache was used for since the drive was made or erased.
    #[must_use]
    pub fn uses(&self) -> MapUses {
        self.uses
    }

    /// Lines of the map, and how many of them memory has room for.
    #[must_use]
    pub fn lines(&self) -> (u32, u32) {
        (self.mapped.len() as u32, self.cache.capacity())
    }

    #[inline]
    fn line_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.units_per_line
    }

    /// A line is used; the read that this takes.
    #[inline]
    fn touch(&mut self, line: u32, changes: bool) -> Option<MapFetch> {
        let is_near = self.near.as_mut().is_none_or(|near| near.touch(line, false) == Use::Hit);
        self.trip_ns = 0;
        let Use::Miss { changed } = self.cache.touch(line, changes) else {
            self.uses.hits += 1;
            if !is_near {
                self.uses.host_hits += 1;
                self.trip_ns = self.config.host_ns;
            }
            return None;
        };
        self.uses.misses += 1;
        if let Some(changed) = changed {
            self.uses.write_backs += 1;
            self.log.write_back(changed);
        }
        // What waits to be written is still in memory.
        let page = self.log.page_of(line)?;
        self.uses.reads += 1;
        Some(MapFetch { line, die: self.log.die_of(page), bytes: self.config.fetch_bytes })
    }

    #[inline]
    fn touch_changed(&mut self, line: u32) {
        if let Some(fetch) = self.touch(line, true) {
            self.fetches.push(fetch);
        }
    }
}

impl MapMemory for DemandLoaded {
    const LOADS_ON_DEMAND: bool = true;

    fn reserved_blocks(&self) -> u32 {
        self.log.reserved()
    }

    fn log_fill_ratio(&self) -> Option<f64> {
        Some(self.log.fill_ratio())
    }

    #[inline]
    fn look_up(&mut self, lpn: Lpn) -> Option<MapFetch> {
        let line = self.line_of(lpn);
        if self.mapped[line as usize] == 0 {
            // Nothing is looked for, in no memory.
            self.trip_ns = 0;
            return None;
        }
        self.touch(line, false)
    }

    #[inline]
    fn begins_line(&self, lpn: Lpn) -> bool {
        lpn.0.is_multiple_of(self.units_per_line)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, is_new: bool) {
        let line = self.line_of(lpn);
        self.mapped[line as usize] += u32::from(is_new);
        self.touch_changed(line);
    }

    /// A line that is trimmed whole goes without being read; one of which something stays, at an end of the extent, is
    /// changed once.
    fn trim(&mut self, lpn: Lpn) {
        let line = self.line_of(lpn);
        if self.trimmed.is_some_and(|before| before != line) {
            self.end_extent();
        }
        self.mapped[line as usize] -= 1;
        if self.mapped[line as usize] == 0 {
            self.trimmed = None;
            self.cache.forget(line);
            if let Some(near) = &mut self.near {
                near.forget(line);
            }
            self.log.drop_line(line);
        } else {
            self.trimmed = Some(line);
        }
    }

    fn end_extent(&mut self) {
        if let Some(line) = self.trimmed.take() {
            self.touch_changed(line);
        }
    }

    #[inline]
    fn take_fetch(&mut self) -> Option<MapFetch> {
        self.fetches.pop()
    }

    #[inline]
    fn arrives(&mut self, line: u32, at: u64) {
        self.cache.arrives(line, at);
    }

    #[inline]
    fn trip_ns(&self) -> u64 {
        self.trip_ns
    }

    #[inline]
    fn arrival(&self, lpn: Lpn) -> u64 {
        self.cache.arrival(self.line_of(lpn))
    }

    #[inline]
    fn is_behind(&self) -> bool {
        self.log.fills(self.cache.capacity())
    }

    fn is_due(&self, _logs: &DieLogs) -> bool {
        self.log.is_due()
    }

    #[inline]
    fn is_due_on(&self, _logs: &DieLogs, die: DieIndex) -> bool {
        self.log.is_due_on(die)
    }

    fn due_pages(&self) -> u32 {
        self.log.due_pages()
    }

    fn keep(&mut self, logs: &mut DieLogs, die: DieIndex) -> Result<MetadataStep, FtlError> {
        logs.keep_map(&mut self.log, die, |_, _| false).map(|kept| kept.step)
    }

    fn restart(&mut self, flash: &FlashArray) {
        *self = Self::erased(self.config, self.units, &flash.layout().geometry);
    }

    fn restore(&mut self, map: &[u32], flash: &FlashArray, last_sequence: impl Fn(BlockIndex) -> u64) {
        for (entries, mapped) in map.chunks(self.units_per_line as usize).zip(&mut self.mapped) {
            *mapped = entries.iter().filter(|&&entry| entry != 0).count() as u32;
        }
        let lines = (0..).zip(&self.mapped).filter(|&(_, &mapped)| mapped > 0).map(|(line, _)| line);
        self.log.restore(flash, last_sequence, lines);
    }

    fn check(&self, map: &[u32]) -> Result<(), String> {
        for (line, entries) in map.chunks(self.units_per_line as usize).enumerate() {
            let (found, kept) =
                (entries.iter().filter(|&&entry| entry != 0).count(), self.mapped[line] as usize);
            if found != kept {
                return Err(format!("line {line} of the map has {found} entries, counted {kept}"));
            }
        }
        self.cache.check()?;
        self.near.as_ref().map_or(Ok(()), LineCache::check)?;
        self.log.check()
    }
}
