//! State of the page map, and what changes it.
//!
//! `map` gives the place of an LPN, out-of-band data in flash the LPN of a place, one bit per place says which of
//! the two is current. All three are flat arrays; a unit costs 8 bytes and one bit.

use std::fmt::Write as _;

use drivelab_nand::{DieIndex, FlashArray, GeometryError, Lpn, Ppn, UnitLayout};
use drivelab_sim::Table;
use serde::{Deserialize, Serialize};

use super::demand_loaded::{DemandLoaded, MapCacheConfig};
use super::memory::{MapMemory, WholeMap};
use crate::error::FtlError;
use crate::log::{
    Blocks, CleaningMode, DieLogs, FtlConfig, ValidBits, check_cache, check_placement, check_superblocks,
    check_thresholds,
};
use crate::placement::{Placement, Placements, Stream};
use crate::stamps::Stamps;

/// A page-mapped FTL over its flash array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageMap<H = WholeMap> {
    pub(crate) logs: DieLogs,
    /// Place + 1 of every LPN; 0: not mapped. (Zero, so that the memory of a new drive is never touched.)
    pub(crate) map: Table<u32>,
    pub(crate) valid: ValidBits,
    /// Which stream a page goes to.
    pub(super) placement: Placements,
    /// A die takes no host data beyond this many valid units, so that cleaning always finds something to free.
    pub(super) die_limit: u32,
    /// What a block adds to that.
    pub(super) units_lasting: u32,
    pub(crate) stamps: Option<Stamps>,
    /// Places that hold nothing current since these were last asked for; `None`: nobody asks.
    pub(crate) superseded: Option<Vec<Ppn>>,
    /// Places that the last page of copies came from, and what lay there.
    pub(crate) copied_from: Vec<Ppn>,
    pub(crate) copied: Vec<Lpn>,
    /// Sectors of some place were lost.
    pub(super) has_lost_sectors: bool,
    /// What of the map is in memory, as far as time and flash are concerned: `map` has all of it anyway.
    pub(super) memory: H,
}

impl PageMap {
    /// An FTL over an erased array, with all of its map in memory.
    ///
    /// # Errors
    /// A parameter that makes no working drive: user capacity that does not fit beside the blocks that cleaning
    /// needs, thresholds out of range.
    pub fn new(layout: UnitLayout, config: FtlConfig) -> Result<Self, GeometryError> {
        Self::with_memory(layout, config, WholeMap)
    }
}

impl PageMap<DemandLoaded> {
    /// An FTL over an erased array, whose map lies in flash.
    ///
    /// # Errors
    /// As [`PageMap::new`]; and a cache that holds no line, or lines that are larger than a page.
    pub fn demand_loaded(
        layout: UnitLayout,
        config: FtlConfig,
        cache: MapCacheConfig,
    ) -> Result<Self, GeometryError> {
        let memory = DemandLoaded::new(cache, &layout, &config)?;
        Self::with_memory(layout, config, memory)
    }

    /// What of the map is in memory, to look at.
    #[must_use]
    pub fn memory(&self) -> &DemandLoaded {
        &self.memory
    }
}

/// The parameters that take room from the user, for whoever set one of them and reads of the capacity.
fn what_takes_room(config: &FtlConfig, streams: u32) -> String {
    let each = config.superblock_blocks;
    let mut said = String::new();
    if config.placement != Placement::HostAndCleaning {
        let (blocks, name) = (streams * each, config.placement.name());
        let _ = write!(said, ", {blocks} of them for the write streams of ftl.placement = {name}");
    }
    if each > 1 {
        let _ = write!(said, ", in superblocks of ftl.superblock_blocks = {each}");
    }
    if config.held_word_lines > 0 {
        let _ = write!(said, ", one of them and padding behind copies for flash.program_passes = 2");
    }
    if config.parity_stripe_pages > 0 {
        let pages = config.parity_stripe_pages;
        let _ = write!(said, ", and a page in {pages} for parity (ftl.parity_stripe_pages)");
    }
    said
}

impl<H: MapMemory> PageMap<H> {
    fn with_memory(layout: UnitLayout, config: FtlConfig, memory: H) -> Result<Self, GeometryError> {
        let dies = layout.geometry.die_count();
        if config.cleaning_mode == CleaningMode::RewriteInPlace && layout.block_count() != 1 {
            let allowed =
                "must be 1 in all (1 channel, 1 die, 1 plane) for ftl.cleaning_mode = rewrite-in-place";
            return Err(GeometryError::new("flash.blocks_per_plane", layout.block_count(), allowed));
        }
        let relocates = config.cleaning_mode == CleaningMode::Relocate;
        check_placement(&config)?;
        check_cache(&layout, &config)?;
        let streams = u32::from(config.streams().all);
        if !relocates && config.placement != Placement::HostAndCleaning {
            let allowed = "streams: must be host-and-cleaning for ftl.cleaning_mode = rewrite-in-place";
            return Err(GeometryError::new("ftl.placement", streams, allowed));
        }
        let reserved = config.reserved_blocks() + memory.reserved_blocks();
        check_superblocks(&layout, &config, reserved)?;
        let lasting = DieLogs::lasting_blocks(&layout, &config, reserved);
        // A block whose invalid units do not fill a page, and what is padded, is no victim, so that much may stay unusable.
        let unusable = if relocates { config.least_gain(layout.units_per_page) - 1 } else { 0 };
        let units_lasting = DieLogs::least_data(&layout, &config).saturating_sub(unusable);
        let die_limit = lasting * units_lasting;
        let slack = if relocates { dies * layout.units_per_page } else { 0 };
        let room = (u64::from(die_limit) * u64::from(dies)).saturating_sub(u64::from(slack));
        if config.user_units == 0 || u64::from(config.user_units) > room {
            let bytes = u64::from(config.user_units) * u64::from(layout.unit_bytes);
            let range = if room == 0 {
                "has no room at all".to_owned()
            } else {
                format!(
                    "must be 1 map unit ({} bytes) to {} bytes",
                    layout.unit_bytes,
                    room * u64::from(layout.unit_bytes)
                )
            };
            let working = layout.geometry.blocks_per_die() - lasting;
            let of_them = what_takes_room(&config, streams);
            let allowed = format!("{range}: raw capacity less {working} working blocks per die{of_them}");
            return Err(GeometryError::new("user_capacity_bytes", bytes, allowed));
        }
        check_thresholds(&layout, &config, reserved)?;
        Ok(Self {
            map: Table::new(config.user_units as usize),
            valid: ValidBits::new(layout.unit_count()),
            placement: config.placements(layout.block_count()),
            die_limit,
            units_lasting,
            stamps: None,
            superseded: None,
            copied_from: Vec::new(),
            copied: Vec::new(),
            has_lost_sectors: false,
            memory,
            logs: DieLogs::new(FlashArray::new(layout), config, reserved),
        })
    }

    /// Parameters.
    #[must_use]
    pub fn config(&self) -> &FtlConfig {
        &self.logs.config
    }

    /// Block bookkeeping, to look at.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.logs.blocks
    }

    /// Blocks that the drive could lose when it was new.
    pub(super) fn spare(&self) -> u32 {
        let dies = self.logs.layout.geometry.die_count();
        let room = u64::from(self.die_limit) * u64::from(dies);
        let needed = u64::from(self.logs.config.user_units + dies * self.logs.layout.units_per_page);
        // The loss of a block may cost the use of as many as a superblock has.
        let units = u64::from(self.units_lasting) * u64::from(self.logs.config.superblock_blocks);
        (room.saturating_sub(needed) / units) as u32
    }

    /// Programs one page of the host's data and moves the map entries of its units to it.
    #[allow(clippy::inline_always, reason = "hot, and of a constant stream in all places but one")]
    #[inline(always)]
    pub(super) fn program(&mut self, die: DieIndex, stream: Stream, units: &[Lpn]) -> Result<Ppn, FtlError> {
        let (first, page) = self.logs.program(die, stream, true, units)?;
        self.logs.die_valid[die.0 as usize] += units.len() as u32;
        for (offset, &lpn) in units.iter().enumerate() {
            let place = first.0 + offset as u32;
            let old = std::mem::replace(&mut self.map[lpn.0 as usize], place + 1);
            self.memory.change(lpn, old == 0);
            if old != 0 {
                self.invalidate(Ppn(old - 1));
                self.note_superseded(Ppn(old - 1));
            }
            self.valid.set(Ppn(place));
        }
        self.logs.end_program(die, stream, page, units.len() as u32);
        Ok(first)
    }

    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    fn invalidate(&mut self, ppn: Ppn) {
        let block = self.logs.layout.block_of(ppn);
        self.valid.clear(ppn);
        self.logs.blocks.remove_valid(block, 1);
        let die = self.logs.layout.die_of(block);
        self.logs.die_valid[die.0 as usize] -= 1;
    }

    /// Removes a map entry; gives the place that it named.
    pub(crate) fn unmap(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = std::mem::replace(&mut self.map[lpn.0 as usize], 0);
        let place = Ppn(old.checked_sub(1)?);
        self.invalidate(place);
        self.note_superseded(place);
        Some(place)
    }

    #[inline]
    fn note_superseded(&mut self, ppn: Ppn) {
        if let Some(superseded) = &mut self.superseded {
            superseded.push(ppn);
        }
    }
}
