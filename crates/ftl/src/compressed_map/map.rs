//! State of the compressed map, and what changes it.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Geometry, GeometryError, Lpn, Ppn, UnitLayout};
use drivelab_sim::Table;
use serde::{Deserialize, Serialize};

use super::config::{CompressionConfig, Shape, shape};
use super::duplicates::{Duplicates, is_valid};
use super::durable::Durable;
use super::entry::{Extent, OpenPage, SHARED, TRIMMED};
use super::fragments::{Fragments, Key};
use super::map_cache::MapCache;
use super::source::Moving;
use crate::error::FtlError;
use crate::log::{CleaningStep, DieLogs, FtlConfig, Measure, Parity, check_thresholds};
use crate::mapping::Stored;
use crate::placement::Stream;

/// A compressing FTL over its flash array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompressedMap {
    pub(super) logs: DieLogs,
    pub(super) config: CompressionConfig,
    pub(super) shape: Shape,
    /// Page + 1 of every LPN, or a shared fragment; 0: not mapped.
    pub(super) map: Table<u32>,
    /// Fragments of LPNs that have theirs for themselves ([`Extent::of`]).
    pub(super) extents: Table<u16>,
    pub(super) fragments: Fragments,
    pub(super) duplicates: Duplicates,
    pub(super) parity: Parity,
    pub(super) moving: Moving,
    pub(super) map_cache: MapCache,
    /// Map entries that the page being filled replaces.
    pub(super) outdated: Vec<(u32, Extent)>,
    /// Per die: it takes no host data beyond this many fragments, so that cleaning always finds something to free.
    pub(super) die_limits: Vec<u32>,
    /// Per sector of the host. Equal identities mean equal bytes, but an oracle's stamps are unique, so they cannot
    /// lie with the fragments.
    pub(super) stamps: Option<Vec<u64>>,
    pub(super) words_per_unit: u32,
    pub(super) durable: Option<Box<Durable>>,
    /// Trimmed ranges since the last rest.
    pub(super) trimmed_ranges: u32,
    /// Units that were trimmed and still hold their space.
    pub(super) trimmed_units: u32,
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
            map: Table::new(user_units),
            extents: Table::new(user_units),
            fragments: Fragments::new(layout.block_count()),
            duplicates: Duplicates::default(),
            parity,
            moving: Moving::new(dies),
            map_cache,
            outdated: Vec::new(),
            die_limits,
            stamps: None,
            words_per_unit: 0,
            durable: None,
            trimmed_ranges: 0,
            trimmed_units: 0,
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
        self.map.len() * size_of::<u32>()
            + self.extents.len() * size_of::<u16>()
            + self.fragments.memory_bytes()
    }

    /// Host writes need a parity page on this die first (or cleaning does, for its stream).
    #[inline]
    pub(super) fn is_parity_due(&self, die: DieIndex, stream: Stream) -> bool {
        let page = match self.logs.blocks.open_block(die, stream) {
            Some(block) => self.logs.flash.write_pointer(block),
            None if stream == Stream::HOST && !self.logs.has_host_block(die) => return false,
            // What is moved goes on in the block of another stream if there is no other.
            None if stream != Stream::HOST && self.logs.blocks.free_count(die) == 0 => {
                let lent = self.logs.blocks.last_open_block(die);
                lent.map_or(0, |block| self.logs.flash.write_pointer(block))
            }
            None => 0,
        };
        self.parity.is_parity(die, page)
    }

    pub(super) fn program_parity(&mut self, die: DieIndex, stream: Stream) -> Result<CleaningStep, FtlError> {
        let (_, place) = self.program_page(die, stream)?;
        self.close_if_full(die, stream, place);
        self.logs.counters.programs_parity += 1;
        Ok(CleaningStep::Parity { at: place })
    }

    /// Programs the next page of a stream; what it holds is entered afterwards.
    #[inline]
    pub(super) fn program_page(
        &mut self,
        die: DieIndex,
        stream: Stream,
    ) -> Result<(BlockIndex, Ppn), FtlError> {
        let block = self.logs.open(die, stream, stream == Stream::HOST)?;
        let page = self.logs.flash.write_pointer(block);
        Ok((block, self.logs.flash.program_page(block, page)?))
    }

    #[inline]
    pub(super) fn close_if_full(&mut self, die: DieIndex, stream: Stream, place: Ppn) {
        let page = place.0 % self.shape.pages_per_block;
        if page + 1 == self.shape.pages_per_block {
            self.fragments.close(BlockIndex(place.0 / self.shape.pages_per_block));
        }
        self.logs.close_if_full(die, stream, page);
    }

    /// Puts a fragment on a page.
    #[inline]
    pub(super) fn place(&mut self, die: DieIndex, page: &mut OpenPage, key: Key, size: u8) {
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
    pub(super) fn finish_page(&mut self, page: &OpenPage) {
        debug_assert!(page.used <= self.shape.page_granules, "overfull page: {}", page.used);
        let rest = self.shape.page_granules - page.used;
        if rest == 0 || rest >= self.shape.unit_granules {
            return;
        }
        let widened = |extent: Extent| Extent { charge: extent.charge + rest as u8, ..extent };
        match page.last {
            Some(Key::Unit(lpn)) => {
                let word = &mut self.extents[lpn.0 as usize];
                *word = widened(Extent::of(*word)).word();
            }
            Some(Key::Shared(id)) => {
                let extent = &mut self.duplicates.get_mut(id).extent;
                *extent = widened(*extent);
            }
            None => return,
        }
        self.logs.blocks.add_valid(page.block, rest);
    }

    /// Stores one unit of the host on a page.
    #[inline]
    pub(super) fn store(&mut self, die: DieIndex, page: &mut OpenPage, lpn: Lpn, stored: Stored) {
        let index = lpn.0 as usize;
        let size = stored.granules as u8;
        let (old, old_extent) = (self.map[index], Extent::of(self.extents[index]));
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
            self.extents[index] = Extent { size, charge: size }.word();
            self.place(die, page, Key::Unit(lpn), size);
        }
        self.note_superseded(old);
        self.outdated.push((old, old_extent));
    }

    /// A map entry is gone: its fragment is outdated, unless others refer to it.
    #[inline]
    pub(super) fn release_entry(&mut self, entry: u32, extent: Extent) {
        if entry == 0 {
            return;
        }
        self.trimmed_units -= u32::from(entry & TRIMMED != 0);
        if entry & SHARED == 0 {
            self.invalidate(Ppn((entry & !TRIMMED) - 1), extent.charge);
        } else if let Some(shared) = self.duplicates.release(entry & !(SHARED | TRIMMED)) {
            self.invalidate(shared.page, shared.extent.charge);
        }
    }

    #[inline]
    pub(super) fn invalidate(&mut self, place: Ppn, charge: u8) {
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
    pub(super) fn compact(&mut self, die: DieIndex, block: BlockIndex) {
        if !self.logs.blocks.is_closed(block) || self.logs.victim_of(die) == Some(block) {
            return;
        }
        let first = self.logs.layout.first_ppn(block).0;
        let Self { map, duplicates, fragments, .. } = self;
        fragments.compact(block, |page, key| is_valid(map, duplicates, Ppn(first + page), key));
    }

    /// The map entry of a unit has changed; `is_new`: it had none.
    #[inline]
    pub(super) fn note_change(&mut self, lpn: Lpn, is_new: bool) {
        if self.map_cache.is_partial() {
            self.map_cache.change(lpn, is_new);
        } else {
            self.logs.journal.note_updates(1);
        }
    }

    /// Whether what a trim now says takes effect at once.
    pub(super) fn frees_trimmed(&self) -> bool {
        let lost_of = |ranges: u64| ranges * u64::from(self.config.trim_loss_percent) / 100;
        let ranges = u64::from(self.trimmed_ranges);
        !self.config.trims_deferred && lost_of(ranges) == lost_of(ranges.saturating_sub(1))
    }
}

impl CompressedMap {
    /// What a block of a die can hold.
    #[inline]
    pub(super) fn measure(&self, die: DieIndex) -> Measure {
        let pages = self.parity.data_pages(die, self.shape.pages_per_block);
        let per_page = self.shape.page_granules;
        Measure { per_block: pages * per_page, per_page, parity: self.parity }
    }
}
