//! Pages on their way to the stream that the placement policy names.
//!
//! Nearly all drives keep host and cleaning apart and look no further, so that is asked first: their pages cost what they
//! would without policies.

use drivelab_nand::{DieIndex, Lpn, Ppn};

use super::map::PageMap;
use super::memory::MapMemory;
use crate::error::FtlError;
use crate::log::{Job, Purpose};
use crate::placement::{Placements, Stream};

impl<H: MapMemory> PageMap<H> {
    #[inline]
    fn has_host_and_cleaning(&self) -> bool {
        matches!(self.placement, Placements::HostAndCleaning(_))
    }

    /// Programs a page of the host's data.
    #[inline]
    pub(super) fn place_host(&mut self, die: DieIndex, units: &[Lpn]) -> Result<Ppn, FtlError> {
        if self.has_host_and_cleaning() {
            return self.program(die, Stream::HOST, units);
        }
        self.host_by_policy(die, units)
    }

    /// Programs a page with the units that are being copied, all from one block of the die.
    #[inline]
    pub(super) fn place_copies(&mut self, die: DieIndex, job: Job) -> Result<Ppn, FtlError> {
        if self.has_host_and_cleaning() && job.purpose != Purpose::WearLevelling {
            return self.program_copies(die, Stream::CLEANING, job.victim);
        }
        self.copies_by_policy(die, job)
    }

    #[cold]
    fn host_by_policy(&mut self, die: DieIndex, units: &[Lpn]) -> Result<Ppn, FtlError> {
        let stream = self.placement.host_stream(units);
        let first = self.program(die, stream, units)?;
        self.note_opened(first, stream);
        Ok(first)
    }

    #[cold]
    fn copies_by_policy(&mut self, die: DieIndex, job: Job) -> Result<Ppn, FtlError> {
        let stream = self.copy_stream(job);
        let first = self.program_copies(die, stream, job.victim)?;
        self.note_opened(first, stream);
        Ok(first)
    }

    /// Where the units go that are being copied.
    pub(super) fn copy_stream(&mut self, job: Job) -> Stream {
        if self.has_host_and_cleaning() {
            return self.logs.copy_stream(job.purpose);
        }
        self.placement.copy_stream(job.victim, &self.copied)
    }

    /// The policy hears of a block whose first page was just programmed.
    fn note_opened(&mut self, first: Ppn, stream: Stream) {
        let block = self.logs.layout.block_of(first);
        if first == self.logs.layout.first_ppn(block) {
            self.placement.opened(block, stream);
        }
    }
}
