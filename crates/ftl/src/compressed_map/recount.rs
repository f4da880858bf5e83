//! What must be true of the compressed map after every step; recomputed the slow way.

use drivelab_nand::{BlockIndex, DieIndex, Ppn};

use super::duplicates::is_valid;
use super::entry::{Extent, SHARED, TRIMMED};
use super::fragments::{Key, Word};
use super::map::CompressedMap;

impl CompressedMap {
    /// Recounts everything from the map and from out-of-band data.
    pub(super) fn recount(&self) -> Result<(), String> {
        self.recount_references()?;
        self.map_cache.check(&self.map)?;
        if let Some(durable) = &self.durable {
            durable.check(&self.map, self.shape.pages_per_block)?;
        }
        let mut units_found = 0;
        let mut shared_found = 0;
        let dies = self.logs.layout.geometry.die_count();
        let per_die = self.logs.layout.geometry.blocks_per_die();
        for die in (0..dies).map(DieIndex) {
            let mut fragments = 0;
            for block in (die.0 * per_die..(die.0 + 1) * per_die).map(BlockIndex) {
                let (units, shared) = self.recount_block(die, block)?;
                units_found += units;
                shared_found += shared;
                fragments += units + shared;
            }
            self.logs.check_die(die, fragments)?;
        }
        let units = self.map.iter().filter(|&&entry| entry != 0 && entry & SHARED == 0).count();
        if units != units_found as usize {
            return Err(format!("{units} LPNs have fragments of their own, but {units_found} lie in flash"));
        }
        let trimmed = self.map.iter().filter(|&&entry| entry & TRIMMED != 0).count();
        if trimmed != self.trimmed_units as usize {
            return Err(format!("{trimmed} trimmed units hold space, counted {}", self.trimmed_units));
        }
        let shared = self.duplicates.live().count();
        if shared != shared_found as usize {
            return Err(format!(
                "{shared} shared fragments are referred to, but {shared_found} lie in flash"
            ));
        }
        Ok(())
    }

    /// Every reference of the map is counted, and every count has its references.
    fn recount_references(&self) -> Result<(), String> {
        let mut references = vec![0u32; self.duplicates.table_len()];
        for &entry in self.map.iter().filter(|&&entry| entry & SHARED != 0) {
            references[(entry & !(SHARED | TRIMMED)) as usize] += 1;
        }
        let mut live = 0;
        for (id, &count) in (0..).zip(&references) {
            let shared = self.duplicates.get(id);
            if shared.references != count {
                return Err(format!(
                    "shared fragment {id} counts {} references of {count}",
                    shared.references
                ));
            }
            if count > 0 {
                live += 1;
                if self.duplicates.find(shared.identity) != Some(id) {
                    return Err(format!("shared fragment {id} is not found by its identity"));
                }
            }
        }
        if live != self.duplicates.identity_count() {
            return Err(format!(
                "{} identities for {live} shared fragments",
                self.duplicates.identity_count()
            ));
        }
        Ok(())
    }

    /// Valid fragments of a block: of single units, and shared ones.
    fn recount_block(&self, die: DieIndex, block: BlockIndex) -> Result<(u32, u32), String> {
        let first = self.logs.layout.first_ppn(block).0;
        let programmed = self.logs.flash.write_pointer(block);
        let (mut units, mut shared, mut charged) = (0, 0, 0);
        let mut on_page = 0;
        let mut page = None;
        let mut seen = Vec::new();
        for word in self.fragments.words(block) {
            match word {
                Word::Page(next) => {
                    if next >= programmed || page.is_some_and(|page| next <= page) {
                        return Err(format!("block {}: page {next} of {programmed} after {page:?}", block.0));
                    }
                    if self.parity.is_parity(die, next) {
                        return Err(format!("block {}: page {next} is parity but holds fragments", block.0));
                    }
                    page = Some(next);
                    on_page = 0;
                    seen.clear();
                }
                Word::Fragment(key) => {
                    let Some(page) = page else { return Err(format!("block {}: no page", block.0)) };
                    if !is_valid(&self.map, &self.duplicates, Ppn(first + page), key) {
                        continue;
                    }
                    let charge = match key {
                        Key::Unit(lpn) => {
                            units += 1;
                            Extent::of(self.extents[lpn.0 as usize]).charge
                        }
                        Key::Shared(id) => {
                            shared += 1;
                            self.duplicates.get(id).extent.charge
                        }
                    };
                    if seen.contains(&key) {
                        return Err(format!("block {}: {key:?} lies twice on page {page}", block.0));
                    }
                    seen.push(key);
                    charged += u32::from(charge);
                    on_page += u32::from(charge);
                    if on_page > self.shape.page_granules {
                        return Err(format!("block {}: page {page} holds {on_page} granules", block.0));
                    }
                }
            }
        }
        let kept = self.logs.blocks.valid_count(block);
        if kept != charged {
            return Err(format!("block {} holds {charged} granules, but its count says {kept}", block.0));
        }
        Ok((units, shared))
    }
}
