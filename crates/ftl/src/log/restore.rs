//! A log that begins anew: with what was found in flash, or with nothing.

use drivelab_nand::op::PageKind;
use drivelab_nand::view::BlockState;
use drivelab_nand::{BlockIndex, DieIndex};

use super::blocks::Blocks;
use super::die_logs::DieLogs;
use super::jobs::CleaningState;
use super::journal::Journal;
use super::parity::OwedParity;
use crate::placement::Stream;
use crate::recovery::Recovered;

impl DieLogs {
    /// Blocks become what was found in flash; what is on them follows. `Err`: flash of another geometry.
    pub(crate) fn restore(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        let medium = recovered.medium;
        let layout = self.layout;
        if medium.block_count() != layout.block_count() {
            let (found, wanted) = (medium.block_count(), layout.block_count());
            return Err(format!("flash has {found} blocks, the model {wanted}"));
        }
        let pages = |block: BlockIndex| {
            let end = medium.block(block).write_pointer;
            (0..end).filter_map(move |page| medium.page(block, page))
        };
        for block in (0..layout.block_count()).map(BlockIndex) {
            let found = medium.block(block);
            // A block of nothing but torn pages has no sequence number yet.
            let first = pages(block).next().map_or(recovered.last_sequence + 1, |page| page.sequence);
            // A torn erase is done again before anything else.
            let (pages, erases) = match found.state {
                BlockState::TornErase => (0, found.erase_count + 1),
                BlockState::Good | BlockState::Retired => (found.write_pointer, found.erase_count),
            };
            self.flash.restore_block(block, pages, erases, first);
        }
        self.flash.restore_sequence(recovered.last_sequence);
        let last = |block: BlockIndex| {
            (0..medium.block(block).write_pointer).rev().find_map(|page| medium.page(block, page))
        };
        let moved = self.streams.moved().next().unwrap_or(Stream::HOST);
        let victims = self.config.victims(layout.geometry.die_count());
        // Parity says nothing of what lies before it.
        let last_data = |block: BlockIndex| {
            let end = medium.block(block).write_pointer;
            let mut data = (0..end).rev().filter_map(|page| medium.page(block, page));
            data.find(|page| page.kind != PageKind::Metadata)
        };
        let stream_of = |block: BlockIndex| match last_data(block).map(|page| page.kind) {
            Some(PageKind::Moved) => moved,
            _ => Stream::HOST,
        };
        if self.slc.is_some() {
            let found_of = |block: BlockIndex| last_data(block).map(|page| page.kind);
            self.restore_cache(medium, victims, found_of);
        } else {
            let sizes = (self.reserved, self.config.superblock_blocks);
            self.blocks = Blocks::restore(&layout, &self.flash, sizes, victims, self.streams, stream_of);
        }
        (0..layout.geometry.die_count()).for_each(|die| self.renew_parity(DieIndex(die)));
        for block in (0..layout.block_count()).map(BlockIndex) {
            // Flash doesn't say when copied data came from the host: it counts as new as its copy.
            self.blocks.note_newest(block, last(block).map_or(0, |page| page.sequence));
        }
        self.journal.restore(&layout, |block| last(block).map_or(0, |page| page.sequence));
        Ok(())
    }

    /// Erases every block that is not erased and forgets all that was going on. Gives the most blocks erased on one
    /// die and the blocks erased in all.
    pub(crate) fn secure_erase(&mut self) -> (u32, u64) {
        let per_die = self.layout.geometry.blocks_per_die();
        let dies = self.layout.geometry.die_count();
        let mut most = 0;
        let mut all = 0;
        for die in 0..dies {
            let mut erased = 0;
            for block in die * per_die..(die + 1) * per_die {
                if self.flash.write_pointer(BlockIndex(block)) > 0 {
                    self.flash.erase(BlockIndex(block));
                    erased += 1;
                }
            }
            all += u64::from(erased);
            most = most.max(erased);
        }
        self.counters.erases_secure += all;
        let taken = self.reserved + self.config.static_blocks();
        let size = self.config.superblock_blocks;
        self.blocks = Blocks::new(&self.layout, &self.flash, taken, size, self.config.victims(dies));
        self.parity = OwedParity::new(self.config.parity_stripe_pages, dies);
        self.cleaning = CleaningState::new(dies);
        self.journal = Journal::new(&self.config, dies);
        self.die_valid.fill(0);
        self.make_cache();
        self.withhold_bad_blocks();
        self.spread_scan_starts();
        (most, all)
    }
}
