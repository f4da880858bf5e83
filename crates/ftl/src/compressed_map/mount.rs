//! The map becomes what was found in flash.
//!
//! First all pages are gone through for the newest place of every content and for references that are current; they
//! make the table of shared fragments. Then again, in order, for what of every page is valid.

use std::collections::BTreeMap;

use drivelab_nand::op::Record;
use drivelab_nand::{BlockIndex, Lpn, Ppn};

use super::entry::{Extent, SHARED};
use super::fragments::Key;
use super::map::CompressedMap;
use super::records::{Meaning, meanings};
use crate::content::Identity;
use crate::recovery::Recovered;

/// A page that was found, and what it holds.
struct Page<'a> {
    block: BlockIndex,
    place: Ppn,
    /// As [`Recovered::page_of`] counts it.
    number: u32,
    sequence: u64,
    records: &'a [Record],
}

/// A unit that is a copy.
struct Reference {
    lpn: Lpn,
    cell: u32,
    identity: Identity,
    /// Where its record is; `None`: in the log.
    at: Option<(BlockIndex, Ppn)>,
}

/// Newest place of a content.
#[derive(Clone, Copy)]
struct Newest {
    sequence: u64,
    place: Ppn,
    extent: Extent,
}

impl CompressedMap {
    pub(super) fn restore(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.logs.restore(recovered)?;
        let mut contents: BTreeMap<Identity, Newest> = BTreeMap::new();
        let mut references = Vec::new();
        self.each_page(recovered, |page| {
            for (record, meaning) in meanings(page.records) {
                match meaning {
                    Meaning::Shared(identity, extent) => {
                        let found = Newest { sequence: page.sequence, place: page.place, extent };
                        let newest = contents.entry(identity).or_insert(found);
                        if newest.sequence < found.sequence {
                            *newest = found;
                        }
                    }
                    Meaning::Reference(identity)
                        if recovered.page_of.get(record.lpn.0 as usize) == Some(&page.number) =>
                    {
                        let at = Some((page.block, page.place));
                        references.push(Reference { lpn: record.lpn, cell: record.cell, identity, at });
                    }
                    _ => {}
                }
            }
            Ok(())
        })?;
        let mut mapped = references.len();
        references.extend(self.logged_references(recovered)?);
        self.restore_references(&references, &contents)?;
        mapped += self.restore_fragments(recovered)?;
        let wanted = recovered.page_of.iter().filter(|&&page| page != 0).count();
        if mapped != wanted {
            return Err(format!("{wanted} units should be in flash, but {mapped} are where they should be"));
        }
        self.map_cache.restore(&self.map, &self.logs.flash, |block| recovered.last_sequence_of(block));
        Ok(())
    }

    /// Every page that can be read, in order.
    fn each_page(
        &self,
        recovered: &Recovered<'_>,
        mut work: impl FnMut(&Page<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut records = Vec::new();
        for block in (0..self.logs.layout.block_count()).map(BlockIndex) {
            for page in 0..self.logs.flash.write_pointer(block) {
                let Some(head) = recovered.medium.page(block, page) else { continue };
                records.clear();
                recovered.medium.records(block, page, &mut records);
                let place = Ppn(self.logs.layout.first_ppn(block).0 + page);
                let number = block.0 * self.shape.pages_per_block + page + 1;
                work(&Page { block, place, number, sequence: head.sequence, records: &records })?;
            }
        }
        Ok(())
    }

    fn logged_references(&self, recovered: &Recovered<'_>) -> Result<Vec<Reference>, String> {
        let mut found = Vec::new();
        for record in (0..self.logs.config.user_units).filter_map(|lpn| recovered.logged(lpn)) {
            let Some((_, Meaning::Reference(identity))) = meanings(&[record]).next() else {
                return Err(format!("what the log says of unit {} is no reference", record.lpn.0));
            };
            found.push(Reference { lpn: record.lpn, cell: record.cell, identity, at: None });
        }
        Ok(found)
    }

    /// The table of shared fragments is what current references refer to.
    fn restore_references(
        &mut self,
        references: &[Reference],
        contents: &BTreeMap<Identity, Newest>,
    ) -> Result<(), String> {
        for &Reference { lpn, cell, identity, at } in references {
            let known = self.duplicates.find(identity);
            let Some(id) = known.or_else(|| {
                let newest = contents.get(&identity)?;
                Some(self.duplicates.add(identity, newest.place, newest.extent))
            }) else {
                return Err(format!("unit {} is a copy of a content that is nowhere in flash", lpn.0));
            };
            self.duplicates.refer(id);
            self.map[lpn.0 as usize] = SHARED | id;
            if let Some(cells) = &mut self.stamps {
                cells[lpn.0 as usize] = u64::from(cell);
            }
            if let (Some(durable), Some((block, place))) = (&mut self.durable, at) {
                durable.enter_reference(block, place, lpn);
            }
        }
        Ok(())
    }

    /// Enters what of every page is valid. Gives how many units have fragments for themselves.
    fn restore_fragments(&mut self, recovered: &Recovered<'_>) -> Result<usize, String> {
        let mut valid = Vec::new();
        self.each_page(recovered, |page| {
            let mut granules = 0;
            for (record, meaning) in meanings(page.records) {
                let (key, extent) = match meaning {
                    Meaning::Unit(extent)
                        if recovered.page_of.get(record.lpn.0 as usize) == Some(&page.number) =>
                    {
                        (Key::Unit(record.lpn), extent)
                    }
                    Meaning::Shared(identity, extent) => match self.duplicates.find(identity) {
                        Some(id) if self.duplicates.get(id).page == page.place => (Key::Shared(id), extent),
                        _ => continue,
                    },
                    _ => continue,
                };
                granules += u32::from(extent.charge);
                let is_sound = (1..=extent.charge).contains(&extent.size)
                    && u32::from(extent.size) <= self.shape.unit_granules
                    && granules <= self.shape.page_granules;
                if !is_sound {
                    return Err(format!("page {} holds more than a page can", page.number - 1));
                }
                valid.push((page.block, page.place, key, extent, record.cell));
            }
            Ok(())
        })?;
        let mut units = 0;
        let mut begun = None;
        for (block, place, key, extent, cell) in valid {
            if begun.replace(place) != Some(place) {
                self.fragments.begin_page(block, place.0 % self.shape.pages_per_block);
            }
            self.fragments.push(block, key);
            self.logs.blocks.add_valid(block, u32::from(extent.charge));
            self.logs.die_valid[self.logs.layout.die_of(block).0 as usize] += 1;
            if let Key::Unit(lpn) = key {
                units += 1;
                self.map[lpn.0 as usize] = place.0 + 1;
                self.extents[lpn.0 as usize] = extent.word();
                if let Some(cells) = &mut self.stamps {
                    cells[lpn.0 as usize] = u64::from(cell);
                }
            }
        }
        Ok(units)
    }
}
