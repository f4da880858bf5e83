//! Parity of a log whose pages know nothing of it: when a die owes it, and that it is programmed before anything else.

use drivelab_nand::{BlockIndex, DieIndex, Ppn, UnitLayout};
use drivelab_sim::sabotage::{self, Sabotage};

use super::config::FtlConfig;
use super::die_logs::DieLogs;
use super::parity::Parity;
use super::steps::CleaningStep;
use crate::error::FtlError;
use crate::placement::Stream;

impl DieLogs {
    /// Units of the host that a block of each die has room for.
    pub(super) fn units_of_data(layout: &UnitLayout, stripe_pages: u32) -> Vec<u32> {
        let programs = layout.units_per_block / layout.units_per_page;
        let rule = Parity::striped(stripe_pages);
        let dies = (0..layout.geometry.die_count()).map(DieIndex);
        dies.map(|die| rule.data_pages(die, programs) * layout.units_per_page).collect()
    }

    /// The least of them.
    pub(crate) fn least_data(layout: &UnitLayout, config: &FtlConfig) -> u32 {
        Self::units_of_data(layout, config.parity_stripe_pages).into_iter().min().unwrap_or(0)
    }

    /// Whether a die has a page of parity to program, before anything else is programmed there.
    pub(crate) fn owes_parity(&self, die: DieIndex) -> bool {
        self.parity.as_ref().is_some_and(|parity| parity.due[die.0 as usize] != 0)
    }

    /// A page of a stream was programmed that is not the last of its block. `false`: it is the last.
    #[cold]
    pub(super) fn note_parity(&mut self, die: DieIndex, stream: Stream, last_page: u32) -> bool {
        let step = self.layout.pages_per_unit;
        let next = last_page + step;
        if next + step > self.layout.geometry.pages_per_block {
            return false;
        }
        if let Some(parity) = &mut self.parity
            && parity.rule.is_parity(die, next / step)
            && !sabotage::is(Sabotage::ParityForgotten)
        {
            parity.due[die.0 as usize] |= 1 << stream.0;
        }
        true
    }

    /// What a die owes is looked up anew: streams have other blocks.
    pub(crate) fn renew_parity(&mut self, die: DieIndex) {
        let Some(mut parity) = self.parity.take() else { return };
        let step = self.layout.pages_per_unit;
        let is_due = |stream: &Stream| {
            let block = self.blocks.open_block(die, *stream);
            block.is_some_and(|block| parity.rule.is_parity(die, self.flash.write_pointer(block) / step))
        };
        let due = self.streams.all().filter(is_due).map(|stream| 1 << stream.0).sum();
        parity.due[die.0 as usize] = due;
        self.parity = Some(parity);
    }

    /// Programs the page of parity that a die owes.
    ///
    /// # Errors
    /// [`FtlError::NoFreeBlock`]: its block has failed, and there is no other one.
    pub(crate) fn program_parity(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        while let Some(parity) = &mut self.parity {
            let due = &mut parity.due[die.0 as usize];
            if *due == 0 {
                break;
            }
            let stream = Stream(due.trailing_zeros() as u8);
            *due &= *due - 1;
            self.ready_page(die, stream, stream.0 < self.streams.host)?;
            let Some(block) = self.blocks.open_block(die, stream) else { continue };
            let page = self.flash.write_pointer(block);
            if self
                .parity
                .as_ref()
                .is_some_and(|parity| parity.rule.is_parity(die, page / self.layout.pages_per_unit))
            {
                return self.program_parity_at(die, stream, (block, page)).map(Some);
            }
        }
        Ok(None)
    }

    /// Whether no page of parity of a die holds data.
    pub(super) fn check_parity(&self, die: DieIndex) -> Result<(), String> {
        let Some(parity) = &self.parity else { return Ok(()) };
        let (per_die, layout) = (self.layout.geometry.blocks_per_die(), self.layout);
        for block in (die.0 * per_die + self.reserved..(die.0 + 1) * per_die).map(BlockIndex) {
            let written = self.flash.write_pointer(block) / layout.pages_per_unit;
            for page in (0..written).filter(|&page| parity.rule.is_parity(die, page)) {
                let first = layout.first_ppn(block).0 + page * layout.units_per_page;
                if (first..first + layout.units_per_page).any(|place| self.flash.peek(Ppn(place)).is_some()) {
                    return Err(format!("page {page} of block {} should be parity, and holds data", block.0));
                }
            }
        }
        Ok(())
    }

    fn program_parity_at(
        &mut self,
        die: DieIndex,
        stream: Stream,
        (block, page): (BlockIndex, u32),
    ) -> Result<CleaningStep, FtlError> {
        self.flash.program_page(block, page)?;
        self.counters.programs_parity += 1;
        self.close_if_full(die, stream, page);
        let place = page / self.layout.pages_per_unit * self.layout.units_per_page;
        Ok(CleaningStep::Parity { at: Ppn(self.layout.first_ppn(block).0 + place) })
    }
}
