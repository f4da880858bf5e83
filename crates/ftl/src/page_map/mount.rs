//! Power cuts: what the page map keeps for them, and how the map becomes what was found in flash.

use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::{BlockIndex, Lpn, Ppn};

use super::map::PageMap;
use super::memory::MapMemory;
use crate::log::CleaningMode;
use crate::mapping::{KeptWords, Mapping, Recoverable, Superseded};
use crate::recovery::Recovered;
use crate::stamps::Stamps;

impl<H: MapMemory> KeptWords for PageMap<H> {
    fn keep_words(&mut self, words_per_unit: u32) {
        self.stamps = Some(Stamps::new(&self.logs.layout, words_per_unit));
    }

    fn keep_cells(&mut self) {
        self.keep_words(1);
        self.superseded = Some(Vec::new());
    }

    fn keeps_stamps(&self) -> bool {
        self.stamps.is_some()
    }

    fn stamps_of(&self, lpn: Lpn) -> Option<&[u64]> {
        Some(self.stamps.as_ref()?.unit(self.lookup(lpn)?))
    }
}

impl<H: MapMemory> Recoverable for PageMap<H> {
    fn forgets(&self) -> Option<&'static str> {
        match self.logs.config.cleaning_mode {
            CleaningMode::Relocate => None,
            CleaningMode::RewriteInPlace => {
                Some("it rewrites its block in place, from memory that a power cut empties")
            }
        }
    }

    fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        let (Some(superseded), Some(cells)) = (&mut self.superseded, &self.stamps) else { return };
        let layout = &self.logs.layout;
        out.extend(
            superseded
                .drain(..)
                .map(|ppn| Superseded { block: layout.block_of(ppn), cell: cells.unit(ppn)[0] as u32 }),
        );
    }

    fn page_records(&self, first: Ppn, out: &mut Vec<u64>) {
        let Some(cells) = &self.stamps else { return };
        let units = self.logs.flash.page_units(self.logs.flash.mode_at(first));
        for place in (first.0..first.0 + units).map(Ppn) {
            let lpn = self.logs.flash.peek(place);
            // Above the cell's number are the marks of lost sectors.
            let word = if lpn.is_some() { cells.unit(place)[0] } else { u64::from(NO_CELL) };
            let (cell, info) = (word as u32, word >> 32);
            out.extend(Record { lpn: lpn.unwrap_or(Lpn::PADDING), cell, info }.to_words());
        }
    }

    fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        self.logs.restore(recovered)?;
        self.logs.restore_bad_blocks(recovered.medium, self.spare());
        self.restore_map(recovered)?;
        self.memory.restore(&self.map, &self.logs.flash, |block| recovered.last_sequence_of(block));
        self.logs.settle_cache();
        Ok(())
    }
}

impl<H: MapMemory> PageMap<H> {
    /// Goes through all pages once, in order, and maps the units whose newest version they hold.
    fn restore_map(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        let layout = self.logs.layout;
        let pages_per_block = layout.geometry.pages_per_block;
        let mut records = Vec::new();
        let mut mapped = 0;
        for block in (0..layout.block_count()).map(BlockIndex) {
            for page in (0..self.logs.flash.write_pointer(block)).step_by(layout.pages_per_unit as usize) {
                if recovered.medium.page(block, page).is_none() {
                    continue;
                }
                records.clear();
                recovered.medium.records(block, page, &mut records);
                let place = layout.first_ppn(block).0 + page / layout.pages_per_unit * layout.units_per_page;
                let number = block.0 * pages_per_block + page + 1;
                for (offset, record) in records.iter().enumerate() {
                    let ppn = Ppn(place + offset as u32);
                    if record.lpn == Lpn::PADDING || offset as u32 >= layout.units_per_page {
                        continue;
                    }
                    self.logs.flash.restore_unit(ppn, record.lpn);
                    self.has_lost_sectors |= record.info != 0;
                    if let Some(cells) = &mut self.stamps {
                        cells.store(ppn, &[record.info << 32 | u64::from(record.cell)]);
                    }
                    let is_last = records[offset + 1..].iter().all(|later| later.lpn != record.lpn);
                    if is_last && recovered.page_of.get(record.lpn.0 as usize) == Some(&number) {
                        self.map[record.lpn.0 as usize] = ppn.0 + 1;
                        self.valid.set(ppn);
                        self.logs.blocks.add_valid(block, 1);
                        self.logs.die_valid[layout.die_of(block).0 as usize] += 1;
                        mapped += 1;
                    }
                }
            }
        }
        let wanted = recovered.page_of.iter().filter(|&&page| page != 0).count();
        if mapped == wanted {
            Ok(())
        } else {
            Err(format!("{wanted} units should be in flash, but only {mapped} are where they should be"))
        }
    }
}
