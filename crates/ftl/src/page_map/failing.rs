//! A page map some of whose blocks fail.

use drivelab_nand::{BlockIndex, Ppn};

use super::map::PageMap;
use super::memory::MapMemory;
use crate::log::{BadBlocks, CleaningMode};
use crate::mapping::FailingBlocks;

impl<H: MapMemory> FailingBlocks for PageMap<H> {
    fn expect_failures(&mut self) -> Result<&mut BadBlocks, &'static str> {
        let spare = self.spare();
        match self.logs.config.cleaning_mode {
            CleaningMode::Relocate => Ok(self.logs.expect_failures(spare)),
            CleaningMode::RewriteInPlace => Err("it rewrites its only block in place"),
        }
    }

    fn bad_blocks(&self) -> Option<&BadBlocks> {
        self.logs.bad.as_deref()
    }

    fn bad_blocks_mut(&mut self) -> Option<&mut BadBlocks> {
        self.logs.bad.as_deref_mut()
    }

    fn reserved_blocks(&self) -> u32 {
        self.logs.reserved
    }

    fn keeps_lost_sectors(&self) -> bool {
        self.superseded.is_some()
    }

    fn has_lost_sectors(&self) -> bool {
        self.has_lost_sectors
    }

    fn lost_sectors(&self, ppn: Ppn) -> u32 {
        self.stamps.as_ref().map_or(0, |cells| (cells.unit(ppn)[0] >> 32) as u32)
    }

    fn lose_sectors(&mut self, ppn: Ppn, marks: u32) {
        if let Some(cells) = &mut self.stamps {
            let word = cells.unit(ppn)[0] | u64::from(marks) << 32;
            cells.store(ppn, &[word]);
            self.has_lost_sectors |= marks != 0;
        }
    }

    fn spare_blocks_new(&self) -> Option<u32> {
        (self.logs.config.cleaning_mode == CleaningMode::Relocate).then(|| self.spare())
    }

    fn refresh(&mut self, block: BlockIndex) -> bool {
        self.logs.refresh(block)
    }
}
