//! Where the units lie that log blocks hold: a page map of the log alone.

use drivelab_nand::{BlockIndex, Lpn, Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

/// Places of logged units, and how many of them each log block and each superblock has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LogPlaces {
    /// Place + 1 of every logged LPN; 0: not in the log. Empty for schemes without a log.
    places: Vec<u32>,
    valid_of_block: Vec<u32>,
    units_of_superblock: Vec<u32>,
    units_per_block: u32,
}

impl LogPlaces {
    pub(crate) fn new(layout: &UnitLayout, user_units: u32, superblocks: u32) -> Self {
        Self {
            places: vec![0; user_units as usize],
            valid_of_block: vec![0; layout.block_count() as usize],
            units_of_superblock: vec![0; superblocks as usize],
            units_per_block: layout.units_per_block,
        }
    }

    /// A scheme that keeps no log.
    pub(crate) fn none(superblocks: u32) -> Self {
        Self {
            places: Vec::new(),
            valid_of_block: Vec::new(),
            units_of_superblock: vec![0; superblocks as usize],
            units_per_block: 1,
        }
    }

    /// Where the log holds a unit.
    #[inline]
    pub(crate) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.places.get(lpn.0 as usize)?.checked_sub(1).map(Ppn)
    }

    /// Units of a superblock that the log holds.
    #[inline]
    pub(crate) fn units_of(&self, superblock: u32) -> u32 {
        self.units_of_superblock[superblock as usize]
    }

    /// Units that a log block holds.
    pub(crate) fn valid_of(&self, block: BlockIndex) -> u32 {
        self.valid_of_block.get(block.0 as usize).copied().unwrap_or(0)
    }

    /// The log holds a unit that it did not hold before.
    #[inline]
    pub(crate) fn insert(&mut self, superblock: u32, lpn: Lpn, ppn: Ppn) {
        self.places[lpn.0 as usize] = ppn.0 + 1;
        self.valid_of_block[(ppn.0 / self.units_per_block) as usize] += 1;
        self.units_of_superblock[superblock as usize] += 1;
    }

    /// A unit is no longer in the log. Gives the log block it was in.
    #[inline]
    pub(crate) fn remove(&mut self, superblock: u32, lpn: Lpn) -> Option<BlockIndex> {
        let place = self.places.get_mut(lpn.0 as usize)?;
        let ppn = std::mem::take(place).checked_sub(1)?;
        let block = ppn / self.units_per_block;
        self.valid_of_block[block as usize] -= 1;
        self.units_of_superblock[superblock as usize] -= 1;
        Some(BlockIndex(block))
    }

    pub(crate) fn clear(&mut self) {
        self.places.fill(0);
        self.valid_of_block.fill(0);
        self.units_of_superblock.fill(0);
    }

    /// Brings the entry of a unit into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: usize) {
        drivelab_sim::prefetch(&self.places, lpn);
    }
}
