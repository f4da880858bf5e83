//! The compressing, deduplicating map: map units are compressed to fragments of a few granules, several fragments
//! share a flash page, and contents that exist more than once are stored once.
//!
//! The map gives the page of an LPN and the size of its fragment, or a shared fragment that it refers to. Which
//! fragments lie on a page is out-of-band data (`fragments`). Open blocks, victims, wear levelling and the journal are
//! those of every scheme with a log on each die (`die_logs`); valid data is measured in granules here.

mod duplicates;
mod durable;
mod fragments;
mod map_cache;
mod map_log;
mod map_reads;
mod map_upkeep;
mod mapping;
mod mount;
mod moving;
pub(crate) mod parity;
mod recount;

use drivelab_nand::{
    BlockIndex, DieIndex, FlashArray, Geometry, GeometryError, Lpn, Ppn, SECTOR_BYTES, UnitLayout,
};

use crate::blocks::Stream;
use crate::cleaning::CleaningStep;
use crate::config::{CleaningMode, FtlConfig};
use crate::die_logs::{DieLogs, Measure, check_thresholds};
use crate::error::FtlError;
use crate::mapping::Stored;
use duplicates::Duplicates;
use durable::Durable;
use fragments::{Fragments, KEY_LIMIT, Key};
use map_cache::{MAP_ENTRY_BYTES, MapCache};
use parity::Parity;

/// Set in a map entry that refers to a shared fragment; its number is below.
const SHARED: u32 = 1 << 31;
/// Set in a map entry that a trim should have removed but did not: it reads as zeros, but still holds its space.
const TRIMMED: u32 = 1 << 30;

/// Parameters of the compressed map beside those of every log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressionConfig {
    /// Bytes of a map unit before compression.
    pub unit_bytes: u32,
    /// Space on a page is given out in this many bytes.
    pub granule_bytes: u32,
    /// One page of every stripe over the dies is parity.
    pub parity: bool,
    /// Trims are noted at once, and take effect on a line of the map when cleaning of the map comes across it. Until
    /// then the units read as zeros and hold their space.
    pub trims_deferred: bool,
    /// Of ranges trimmed without a rest, those that find the firmware's queue full, evenly: of these only that they
    /// read as zeros is remembered. Below 100.
    pub trim_loss_percent: u32,
    /// Memory of the controller for the map; 0: all of it fits.
    pub map_cache_bytes: u32,
    /// Bytes of the map that one read from flash brings.
    pub map_fetch_bytes: u32,
}

/// Room of a fragment, in granules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    /// What it takes on a page.
    size: u8,
    /// What it is counted as: its size, and for the last fragment of a full page the rest of the page, on which
    /// nothing else fitted.
    charge: u8,
}

/// Sizes that follow from geometry and parameters.
#[derive(Clone, Copy, Debug)]
struct Shape {
    unit_granules: u32,
    page_granules: u32,
    units_per_page: u32,
    pages_per_block: u32,
}

/// A page that is being filled.
#[derive(Clone, Copy, Debug)]
struct OpenPage {
    block: BlockIndex,
    place: Ppn,
    used: u32,
    last: Option<Key>,
}

/// A compressing FTL over its flash array.
#[derive(Clone, Debug)]
pub struct CompressedMap {
    logs: DieLogs,
    config: CompressionConfig,
    shape: Shape,
    /// Page + 1 of every LPN, or a shared fragment; 0: not mapped.
    map: Vec<u32>,
    /// Fragments of LPNs that have theirs for themselves.
    extents: Vec<Extent>,
    fragments: Fragments,
    duplicates: Duplicates,
    parity: Parity,
    moving: moving::Moving,
    map_cache: MapCache,
    /// Map entries that the page being filled replaces.
    outdated: Vec<(u32, Extent)>,
    /// Per die: it takes no host data beyond this many fragments, so that cleaning always finds something to free.
    die_limits: Vec<u32>,
    /// Per sector of the host. Equal identities mean equal bytes, but an oracle's stamps are unique, so they cannot
    /// lie with the fragments.
    stamps: Option<Vec<u64>>,
    words_per_unit: u32,
    durable: Option<Box<Durable>>,
    /// Trimmed ranges since the last rest.
    trimmed_ranges: u32,
}

impl CompressedMap {
    /// An FTL over an erased array.
    ///
    /// # Errors
    /// A parameter that makes no working drive: units that do not fit on a page, granules out of range, parity of a
    /// single die, user capacity that does not fit even if nothing compresses.
    pub fn new(geometry: Geometry, ftl: FtlConfig, config: CompressionConfig) -> Result<Self, GeometryError> {
        geometry.validate()?;
        let shape = shape(&geometry, &ftl, &config)?;
        let map_cache =
            MapCache::new(config.map_cache_bytes, config.map_fetch_bytes, ftl.user_units, &geometry);
        let reserved = ftl.reserved_blocks() + map_cache.log.reserved();
        let layout = UnitLayout::new(geometry, geometry.program_bytes())?;
        let dies = geometry.die_count();
        let parity = Parity::new(config.parity, dies);
        // Emptying a block with less than a page of outdated granules is not worth it, and in the worst case each
        // of these granules is a fragment that could have been a whole unit.
        let lasting = DieLogs::lasting_blocks(&layout, &ftl, reserved);
        let die_limits: Vec<u32> = (0..dies)
            .map(|die| {
                let places = parity.data_pages(DieIndex(die), shape.pages_per_block) * shape.units_per_page;
                lasting.saturating_mul(places.saturating_sub(shape.page_granules - 1))
            })
            .collect();
        let room = die_limits.iter().map(|&limit| u64::from(limit)).sum::<u64>();
        let room = room.saturating_sub(u64::from(dies * shape.page_granules));
        if ftl.user_units == 0 || u64::from(ftl.user_units) > room {
            let bytes = u64::from(ftl.user_units) * u64::from(config.unit_bytes);
            let allowed = format!(
                "must be 1 map unit ({} bytes) to {} bytes: raw capacity less parity, working blocks and what \
                 cleaning needs",
                config.unit_bytes,
                room * u64::from(config.unit_bytes)
            );
            return Err(GeometryError::new("user_capacity_bytes", bytes, allowed));
        }
        check_thresholds(&layout, &ftl, reserved)?;
        let user_units = ftl.user_units as usize;
        Ok(Self {
            config,
            shape,
            map: vec![0; user_units],
            extents: vec![Extent::default(); user_units],
            fragments: Fragments::new(layout.block_count()),
            duplicates: Duplicates::default(),
            parity,
            moving: moving::Moving::new(dies),
            map_cache,
            outdated: Vec::new(),
            die_limits,
            stamps: None,
            words_per_unit: 0,
            durable: None,
            trimmed_ranges: 0,
            logs: DieLogs::new(FlashArray::without_units(layout), ftl, reserved),
        })
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &CompressionConfig {
        &self.config
    }

    /// Bytes of memory that map and out-of-band data take at most now (pages never touched count, too).
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.map.capacity() * size_of::<u32>()
            + self.extents.capacity() * size_of::<Extent>()
            + self.fragments.memory_bytes()
    }

    /// Host writes need a parity page on this die first (or cleaning does, for its stream).
    #[inline]
    fn is_parity_due(&self, die: DieIndex, stream: Stream) -> bool {
        let page = match self.logs.blocks.open_block(die, stream) {
            Some(block) => self.logs.flash.write_pointer(block),
            None if stream == Stream::Host && !self.logs.has_host_block(die) => return false,
            // Cleaning goes on in the host's block if there is no other.
            None if stream == Stream::Cleaning && self.logs.blocks.free_count(die) == 0 => {
                let lent = self.logs.blocks.open_block(die, Stream::Host);
                lent.map_or(0, |block| self.logs.flash.write_pointer(block))
            }
            None => 0,
        };
        self.parity.is_parity(die, page)
    }

    fn program_parity(&mut self, die: DieIndex, stream: Stream) -> Result<CleaningStep, FtlError> {
        let (_, place) = self.program_page(die, stream)?;
        self.close_if_full(die, stream, place);
        self.logs.counters.programs_parity += 1;
        Ok(CleaningStep::Parity { at: place })
    }

    /// Programs the next page of a stream; what it holds is entered afterwards.
    #[inline]
    fn program_page(&mut self, die: DieIndex, stream: Stream) -> Result<(BlockIndex, Ppn), FtlError> {
        let block = self.logs.open(die, stream)?;
        let page = self.logs.flash.write_pointer(block);
        Ok((block, self.logs.flash.program_page(block, page)?))
    }

    #[inline]
    fn close_if_full(&mut self, die: DieIndex, stream: Stream, place: Ppn) {
        let page = place.0 % self.shape.pages_per_block;
        if page + 1 == self.shape.pages_per_block {
            self.fragments.close(BlockIndex(place.0 / self.shape.pages_per_block));
        }
        self.logs.close_if_full(die, stream, page);
    }

    /// Puts a fragment on a page.
    #[inline]
    fn place(&mut self, die: DieIndex, page: &mut OpenPage, key: Key, size: u8) {
        self.fragments.push(page.block, key);
        if let Some(durable) = &mut self.durable {
            durable.hold(key);
        }
        self.logs.blocks.add_valid(page.block, u32::from(size));
        self.logs.die_valid[die.0 as usize] += 1;
        page.used += u32::from(size);
        page.last = Some(key);
    }

    /// A page is complete: a rest that no further unit would have fitted in counts as used by its last fragment.
    /// (Otherwise a block of such pages would look worth cleaning, and would come out of it the same.)
    #[inline]
    fn finish_page(&mut self, page: &OpenPage) {
        debug_assert!(page.used <= self.shape.page_granules, "overfull page: {}", page.used);
        let rest = self.shape.page_granules - page.used;
        if rest == 0 || rest >= self.shape.unit_granules {
            return;
        }
        let extent = match page.last {
            Some(Key::Unit(lpn)) => &mut self.extents[lpn.0 as usize],
            Some(Key::Shared(id)) => &mut self.duplicates.get_mut(id).extent,
            None => return,
        };
        extent.charge += rest as u8;
        self.logs.blocks.add_valid(page.block, rest);
    }

    /// Stores one unit of the host on a page.
    #[inline]
    fn store(&mut self, die: DieIndex, page: &mut OpenPage, lpn: Lpn, stored: Stored) {
        let index = lpn.0 as usize;
        let size = stored.granules as u8;
        let (old, old_extent) = (self.map[index], self.extents[index]);
        if let Some(identity) = stored.identity {
            let id = match self.duplicates.find(identity) {
                Some(id) => {
                    // Only the reference is written: a record of the log, which no one needs once the map has it.
                    page.used += 1;
                    self.logs.counters.units_duplicate += 1;
                    id
                }
                None => {
                    let id = self.duplicates.add(identity, page.place, Extent { size, charge: size });
                    self.place(die, page, Key::Shared(id), size);
                    id
                }
            };
            self.duplicates.refer(id);
            self.map[index] = SHARED | id;
            if let Some(durable) = &mut self.durable {
                durable.refer(page.block, page.place, lpn, self.duplicates.get(id).page);
            }
        } else {
            self.map[index] = page.place.0 + 1;
            self.extents[index] = Extent { size, charge: size };
            self.place(die, page, Key::Unit(lpn), size);
        }
        self.note_superseded(old);
        self.outdated.push((old, old_extent));
    }

    /// A map entry is gone: its fragment is outdated, unless others refer to it.
    #[inline]
    fn release_entry(&mut self, entry: u32, extent: Extent) {
        if entry == 0 {
            return;
        }
        if entry & SHARED == 0 {
            self.invalidate(Ppn((entry & !TRIMMED) - 1), extent.charge);
        } else if let Some(shared) = self.duplicates.release(entry & !(SHARED | TRIMMED)) {
            self.invalidate(shared.page, shared.extent.charge);
        }
    }

    #[inline]
    fn invalidate(&mut self, place: Ppn, charge: u8) {
        let block = self.logs.layout.block_of(place);
        let die = self.logs.layout.die_of(block);
        self.logs.blocks.remove_valid(block, u32::from(charge));
        self.logs.die_valid[die.0 as usize] -= 1;
        if self.fragments.is_mostly_outdated(block, self.logs.blocks.valid_count(block)) {
            self.compact(die, block);
        }
    }

    /// Forgets the outdated fragments of a block that is neither written nor emptied now.
    #[cold]
    fn compact(&mut self, die: DieIndex, block: BlockIndex) {
        if !self.logs.blocks.is_closed(block) || self.logs.victim_of(die) == Some(block) {
            return;
        }
        let first = self.logs.layout.first_ppn(block).0;
        let Self { map, duplicates, fragments, .. } = self;
        fragments.compact(block, |page, key| is_valid(map, duplicates, Ppn(first + page), key));
    }

    /// The map entry of a unit has changed; `is_new`: it had none.
    #[inline]
    fn note_change(&mut self, lpn: Lpn, is_new: bool) {
        if self.map_cache.is_partial() {
            self.map_cache.change(lpn, is_new);
        } else {
            self.logs.journal.note_updates(1);
        }
    }

    /// Whether what a trim now says takes effect at once.
    fn frees_trimmed(&self) -> bool {
        let lost_of = |ranges: u64| ranges * u64::from(self.config.trim_loss_percent) / 100;
        let ranges = u64::from(self.trimmed_ranges);
        !self.config.trims_deferred && lost_of(ranges) == lost_of(ranges.saturating_sub(1))
    }
}

/// A fragment is valid while the map (or the table of shared fragments) points at its page.
#[inline]
fn is_valid(map: &[u32], duplicates: &Duplicates, place: Ppn, key: Key) -> bool {
    match key {
        Key::Unit(lpn) => map[lpn.0 as usize] & !TRIMMED == place.0 + 1,
        Key::Shared(id) => {
            let shared = duplicates.get(id);
            shared.references > 0 && shared.page == place
        }
    }
}

impl CompressedMap {
    /// What a block of a die can hold.
    #[inline]
    fn measure(&self, die: DieIndex) -> Measure {
        let pages = self.parity.data_pages(die, self.shape.pages_per_block);
        let per_page = self.shape.page_granules;
        Measure { per_block: pages * per_page, per_page, parity: self.parity }
    }
}

fn shape(geometry: &Geometry, ftl: &FtlConfig, config: &CompressionConfig) -> Result<Shape, GeometryError> {
    let page = geometry.program_bytes();
    let (unit, granule) = (config.unit_bytes, config.granule_bytes);
    if unit == 0 || !unit.is_multiple_of(SECTOR_BYTES) || unit > page {
        let allowed = format!("must be a whole number of sectors and at most a page of {page} bytes");
        return Err(GeometryError::new("ftl.map_unit_bytes", unit, allowed));
    }
    if granule == 0 || unit > 127 * granule || granule > unit || page / granule > 0x7FFF {
        let allowed = format!("must be {} to ftl.map_unit_bytes = {unit}", unit.div_ceil(127));
        return Err(GeometryError::new("ftl.granule_bytes", granule, allowed));
    }
    if config.trims_deferred && config.map_cache_bytes == 0 {
        let allowed = "must be false without ftl.map_cache_bytes: trims take effect where the map is cleaned";
        return Err(GeometryError::new("ftl.trims_deferred", 1u32, allowed));
    }
    if config.map_cache_bytes > 0 {
        let (cache, fetch) = (config.map_cache_bytes, config.map_fetch_bytes);
        if fetch < MAP_ENTRY_BYTES || fetch > page {
            let allowed = format!("must be {MAP_ENTRY_BYTES} to a page of {page} bytes");
            return Err(GeometryError::new("ftl.map_fetch_bytes", fetch, allowed));
        }
        if ftl.journal_updates_per_page > 0 {
            let allowed = "must be 0 beside ftl.map_cache_bytes: lines written back are the journal";
            let updates = ftl.journal_updates_per_page;
            return Err(GeometryError::new("ftl.journal_updates_per_page", updates, allowed));
        }
        if cache < fetch {
            let allowed = format!("must be 0 or at least ftl.map_fetch_bytes = {fetch}");
            return Err(GeometryError::new("ftl.map_cache_bytes", cache, allowed));
        }
    }
    if config.parity && geometry.die_count() < 2 {
        return Err(GeometryError::new(
            "flash.dies_per_channel",
            geometry.dies_per_channel,
            "parity needs 2 dies",
        ));
    }
    if ftl.cleaning_mode != CleaningMode::Relocate {
        let allowed = "of a drive that compresses must be 0: it relocates";
        return Err(GeometryError::new("ftl.cleaning_mode", 1u32, allowed));
    }
    if ftl.user_units >= KEY_LIMIT {
        return Err(GeometryError::new("user_capacity_bytes", ftl.user_units, "fewer than 2^30 map units"));
    }
    let page_granules = page / granule;
    let pages_per_block = geometry.pages_per_block;
    if page_granules * pages_per_block > 0x7FFF {
        let allowed = "at most 32767 granules in a block";
        return Err(GeometryError::new("ftl.granule_bytes", granule, allowed));
    }
    let unit_granules = unit.div_ceil(granule);
    Ok(Shape { unit_granules, page_granules, units_per_page: page_granules / unit_granules, pages_per_block })
}
