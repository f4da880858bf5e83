//! Pages without data, behind word lines that can be read only when those behind them are programmed.

use drivelab_nand::{BlockIndex, CellMode, DieIndex, Ppn};

use super::die_logs::DieLogs;
use super::steps::{CleaningStep, Purpose};
use crate::error::FtlError;
use crate::placement::{Stream, StreamCounts};

impl DieLogs {
    /// Programs a page without data in an open block of a die, or in the one that was left aside.
    pub(crate) fn pad(&mut self, die: DieIndex, block: BlockIndex) -> Result<Ppn, FtlError> {
        let is_parked = self.blocks.parked(die) == Some(block);
        if is_parked {
            self.blocks.exchange_parked(die, Stream::HOST);
        }
        let mut streams = self.streams.all();
        let stream = streams.find(|&stream| self.blocks.open_block(die, stream) == Some(block));
        let stream = stream.ok_or(FtlError::NoFreeBlock { die: die.0 })?;
        let page = self.flash.write_pointer(block);
        let first = self.flash.program(block, page, &[])?;
        self.end_program(die, stream, page, 0);
        if is_parked {
            self.blocks.exchange_parked(die, Stream::HOST);
        }
        Ok(first)
    }

    /// Programs a page without data behind copies of cleaning on a die, for the same purpose.
    #[cold]
    #[inline(never)]
    pub(crate) fn pad_copies(&mut self, die: DieIndex, purpose: Purpose) -> Result<CleaningStep, FtlError> {
        let open = self.blocks.open_block(die, self.copy_stream(purpose));
        let to = self.pad(die, open.ok_or(FtlError::NoFreeBlock { die: die.0 })?)?;
        match purpose {
            Purpose::Cleaning => self.counters.programs_cleaning += 1,
            Purpose::WearLevelling => self.counters.programs_wear += 1,
            Purpose::Folding => self.counters.programs_folding += 1,
        }
        Ok(CleaningStep::Copy { to, purpose })
    }

    /// Where copies go, of a drive whose placement policy has one stream for them.
    pub(crate) fn copy_stream(&self, purpose: Purpose) -> Stream {
        let is_apart = purpose == Purpose::WearLevelling && self.streams == StreamCounts::WITH_LEVELLING;
        if is_apart { Stream::LEVELLING } else { Stream::CLEANING }
    }

    /// Whether data that cleaning has copied on a die can't be read yet.
    pub(crate) fn has_unread_copies(&self, die: DieIndex, purpose: Purpose) -> bool {
        let Some(block) = self.blocks.open_block(die, self.copy_stream(purpose)) else { return false };
        if self.flash.mode(block) != CellMode::Native {
            return false;
        }
        let (first, lines) = (self.layout.first_ppn(block).0, self.layout.units_per_page);
        let written = self.flash.write_pointer(block) / self.layout.pages_per_unit;
        // Data lies on the first places of a page.
        (written.saturating_sub(self.config.held_word_lines)..written)
            .any(|line| self.flash.peek(Ppn(first + line * lines)).is_some())
    }
}
