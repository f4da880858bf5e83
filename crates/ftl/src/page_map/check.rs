//! What must be true of a page map after every step; recomputed the slow way, for tests and `check`.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use super::map::PageMap;
use super::memory::MapMemory;

impl<H: MapMemory> PageMap<H> {
    /// Recounts everything from the map and from flash.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub(crate) fn recount(&self) -> Result<(), String> {
        let mut valid_of_block = vec![0u32; self.logs.layout.block_count() as usize];
        for (lpn, &entry) in self.map.iter().enumerate() {
            let Some(place) = entry.checked_sub(1) else { continue };
            let lpn_there = self
                .logs
                .flash
                .read(Ppn(place))
                .map_err(|rule| format!("LPN {lpn} is mapped to {place}: {rule}"))?;
            if lpn_there != Some(Lpn(lpn as u32)) {
                return Err(format!("LPN {lpn} is mapped to {place}, which holds {lpn_there:?}"));
            }
            if !self.valid.get(Ppn(place)) {
                return Err(format!("LPN {lpn} is mapped to {place}, which is not marked valid"));
            }
            valid_of_block[self.logs.layout.block_of(Ppn(place)).0 as usize] += 1;
        }
        for (block, &count) in valid_of_block.iter().enumerate() {
            let kept = self.logs.blocks.valid_count(BlockIndex(block as u32));
            if kept != count {
                return Err(format!("block {block} has {count} valid units, but its count says {kept}"));
            }
            let first = self.logs.layout.first_ppn(BlockIndex(block as u32)).0;
            let bits = (first..first + self.logs.layout.units_per_block)
                .filter(|&place| self.valid.get(Ppn(place)))
                .count();
            if bits != count as usize {
                return Err(format!("block {block} has {count} valid units, but {bits} are marked"));
            }
        }
        let per_die = self.logs.layout.geometry.blocks_per_die();
        for die in 0..self.logs.layout.geometry.die_count() {
            let blocks = die * per_die..(die + 1) * per_die;
            let valid = blocks.map(|block| valid_of_block[block as usize]).sum();
            self.logs.check_die(DieIndex(die), valid)?;
        }
        self.logs.check_caches()?;
        self.memory.check(&self.map)
    }
}
