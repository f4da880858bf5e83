//! What must be true of a merging scheme between jobs; recounted the slow way, for tests and `check`.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use super::bank::OPEN;
use super::core::MergeCore;

impl MergeCore {
    /// Recounts everything from the maps and from flash.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut logged_of_block = vec![0u32; self.layout.block_count() as usize];
        let mut logged_of_superblock = vec![0u32; self.superblocks.count as usize];
        let mut written = 0;
        for lpn in (0..self.superblocks.user_units).map(Lpn) {
            let in_log = self.log.get(lpn);
            if let Some(ppn) = in_log {
                logged_of_block[self.layout.block_of(ppn).0 as usize] += 1;
                logged_of_superblock[self.superblocks.locate(lpn).superblock as usize] += 1;
            }
            if !self.written.get(Ppn(lpn.0)) {
                if in_log.is_some() && self.superseded.is_none() {
                    return Err(format!("LPN {} is in the log, but was never written", lpn.0));
                }
                continue;
            }
            written += 1;
            let Some(ppn) = self.lookup(lpn) else { return Err(format!("LPN {} is lost", lpn.0)) };
            let found = self
                .flash
                .read(ppn)
                .map_err(|rule| format!("LPN {} should be at {}: {rule}", lpn.0, ppn.0))?;
            if found != Some(lpn) {
                return Err(format!("LPN {} should be at {}, which holds {found:?}", lpn.0, ppn.0));
            }
        }
        if written != self.written_count {
            return Err(format!("{written} units are written, the count says {}", self.written_count));
        }
        for superblock in 0..self.superblocks.count {
            if self.log.units_of(superblock) != logged_of_superblock[superblock as usize] {
                return Err(format!("superblock {superblock}: wrong count of logged units"));
            }
        }
        let mut owner = vec![""; self.layout.block_count() as usize];
        for &block in self.data.iter().filter(|&&block| block != 0) {
            claim(&mut owner, BlockIndex(block - 1), "data")?;
        }
        for (index, bank) in self.banks.iter().enumerate() {
            for slot in bank.slots.iter().flatten() {
                claim(&mut owner, slot.block, "replacement")?;
            }
            for &block in &bank.logs {
                claim(&mut owner, block, "log")?;
                if self.log.valid_of(block) != logged_of_block[block.0 as usize] {
                    return Err(format!("log block {}: wrong count of valid units", block.0));
                }
            }
            self.check_free(DieIndex(index as u32), &owner)?;
            self.check_promises(DieIndex(index as u32))?;
        }
        if logged_of_block.iter().zip(&owner).any(|(&count, &owner)| count > 0 && owner != "log") {
            return Err("a unit is logged in a block that is no log block".to_owned());
        }
        if let Some(block) = self.wrong_use() {
            return Err(format!("block {}: wrong count of valid units", block.0));
        }
        let counters = &self.counters;
        if counters.programs() != self.flash.program_count() || counters.erases() != self.flash.erase_total()
        {
            return Err("programs and erases do not add up".to_owned());
        }
        Ok(())
    }

    fn check_free(&self, bank: DieIndex, owner: &[&str]) -> Result<(), String> {
        let per_bank = self.layout.geometry.blocks_per_die();
        let unowned = (bank.0 * per_bank..(bank.0 + 1) * per_bank)
            .filter(|&block| owner[block as usize].is_empty())
            .map(BlockIndex);
        let mut count = 0;
        for block in unowned {
            count += 1;
            if self.flash.write_pointer(block) > 0 {
                return Err(format!("block {} is programmed, but belongs to nobody", block.0));
            }
        }
        if count != self.free.count(bank) {
            return Err(format!(
                "bank {}: {count} blocks free, the pool says {}",
                bank.0,
                self.free.count(bank)
            ));
        }
        Ok(())
    }

    fn check_promises(&self, bank: DieIndex) -> Result<(), String> {
        let committed = (0..self.superblocks.count)
            .filter(|&superblock| self.superblocks.bank_of(superblock) == bank)
            .filter(|&superblock| self.log.units_of(superblock) > 0 && !self.has_block(superblock))
            .count() as u32;
        let state = &self.banks[bank.0 as usize];
        if committed != state.committed {
            return Err(format!(
                "bank {}: {committed} promised blocks, the count says {}",
                bank.0, state.committed
            ));
        }
        // The superblock map's one working block is its open replacement, which the next merge completes first.
        let completes_first = u32::from(self.fixed && state.slots[OPEN].is_some());
        if state.tasks.is_empty() && self.free.count(bank) + completes_first <= committed {
            return Err(format!("bank {}: no erased block is left for a merge", bank.0));
        }
        Ok(())
    }
}

fn claim(owner: &mut [&'static str], block: BlockIndex, name: &'static str) -> Result<(), String> {
    let place = &mut owner[block.0 as usize];
    if !place.is_empty() {
        return Err(format!("block {} is {} and {name}", block.0, place));
    }
    *place = name;
    Ok(())
}
