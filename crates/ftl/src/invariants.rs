//! What must be true of an FTL after every step; recomputed the slow way, for tests and `check`.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use crate::page_map::PageMap;

impl PageMap {
    /// Recounts everything from the map and from flash.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub(crate) fn recount(&self) -> Result<(), String> {
        let counters = &self.counters;
        let erases =
            counters.erases_cleaning + counters.erases_wear + counters.erases_map + counters.erases_secure;
        if (self.flash.program_count(), self.flash.erase_total()) != (counters.programs(), erases) {
            return Err(format!("flash counts other programs or erases than {counters:?}"));
        }
        let mut valid_of_block = vec![0u32; self.layout.block_count() as usize];
        for (lpn, &entry) in self.map.iter().enumerate() {
            let Some(place) = entry.checked_sub(1) else { continue };
            let oob = self
                .flash
                .read(Ppn(place))
                .map_err(|rule| format!("LPN {lpn} is mapped to {place}: {rule}"))?;
            if oob.lpn != Some(Lpn(lpn as u32)) {
                return Err(format!("LPN {lpn} is mapped to {place}, which holds {:?}", oob.lpn));
            }
            if !self.valid.get(Ppn(place)) {
                return Err(format!("LPN {lpn} is mapped to {place}, which is not marked valid"));
            }
            valid_of_block[self.layout.block_of(Ppn(place)).0 as usize] += 1;
        }
        for (block, &count) in valid_of_block.iter().enumerate() {
            let kept = self.blocks.valid_count(BlockIndex(block as u32));
            if kept != count {
                return Err(format!("block {block} has {count} valid units, but its count says {kept}"));
            }
            let first = self.layout.first_ppn(BlockIndex(block as u32)).0;
            let bits = (first..first + self.layout.units_per_block)
                .filter(|&place| self.valid.get(Ppn(place)))
                .count();
            if bits != count as usize {
                return Err(format!("block {block} has {count} valid units, but {bits} are marked"));
            }
        }
        let reserved = self.config.reserved_blocks();
        for die in 0..self.layout.geometry.die_count() {
            self.check_die(DieIndex(die), reserved, &valid_of_block)?;
        }
        Ok(())
    }

    fn check_die(&self, die: DieIndex, reserved: u32, valid_of_block: &[u32]) -> Result<(), String> {
        let per_die = self.layout.geometry.blocks_per_die();
        let blocks = die.0 * per_die..(die.0 + 1) * per_die;
        let valid: u32 = blocks.clone().map(|block| valid_of_block[block as usize]).sum();
        if valid != self.die_valid[die.0 as usize] {
            return Err(format!(
                "die {} has {valid} valid units, its count says {}",
                die.0, self.die_valid[die.0 as usize]
            ));
        }
        let erased = blocks
            .skip(reserved as usize)
            .filter(|&block| self.flash.write_pointer(BlockIndex(block)) == 0)
            .count();
        let free = self.blocks.free_count(die) as usize;
        if erased != free {
            return Err(format!("die {} has {erased} erased blocks, but {free} in its free pool", die.0));
        }
        Ok(())
    }
}
