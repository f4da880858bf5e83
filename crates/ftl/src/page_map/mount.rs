//! The map becomes what was found in flash.

use drivelab_nand::{BlockIndex, Lpn, Ppn};

use super::map::PageMap;
use crate::recovery::Recovered;
impl PageMap {
    /// Goes through all pages once, in order, and maps the units whose newest version they hold.
    pub(super) fn restore_map(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        let layout = self.logs.layout;
        let pages_per_block = layout.geometry.pages_per_block;
        let mut records = Vec::new();
        let mut mapped = 0;
        for block in (0..layout.block_count()).map(BlockIndex) {
            for page in (0..self.logs.flash.write_pointer(block)).step_by(layout.pages_per_unit as usize) {
                let Some(head) = recovered.medium.page(block, page) else { continue };
                records.clear();
                recovered.medium.records(block, page, &mut records);
                let place = layout.first_ppn(block).0 + page / layout.pages_per_unit * layout.units_per_page;
                let number = block.0 * pages_per_block + page + 1;
                for (offset, record) in records.iter().enumerate() {
                    let ppn = Ppn(place + offset as u32);
                    if record.lpn == Lpn::PADDING || offset as u32 >= layout.units_per_page {
                        continue;
                    }
                    self.logs.flash.restore_unit(ppn, record.lpn, head.sequence);
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
