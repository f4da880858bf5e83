//! Programs and erases: data goes over the bus to a die, which is busy until it has taken it.

use drivelab_nand::{CellMode, DieIndex, Ppn};
use drivelab_sim::Nanos;

use super::operations::Kind;
use super::{Flash, Stretch, Work};

impl Flash {
    /// Transfer and program of one unit's pages (or one page of units), the first at `page` of its block: what a command
    /// that waits for them owes to flash itself.
    #[inline]
    pub(crate) fn program_work_ns(&self, page: u32) -> Nanos {
        let transfer_ns = self.page_bus_ns.max(self.write_path_ns(self.program_bytes()));
        let pages = page..page + self.layout.pages_per_unit;
        pages.map(|page| transfer_ns + self.timing.program_ns(page)).sum()
    }

    /// The same of a page of one bit a cell.
    pub(crate) fn slc_program_work_ns(&self) -> Nanos {
        self.slc_times()
            .map_or(0, |((bytes, bus_ns), slc)| bus_ns.max(self.write_path_ns(bytes)) + slc.program_ns)
    }

    /// Moves one unit's pages (or one page of units) to a die and programs them, the first at `page` of its block;
    /// when that is done.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn program(
        &mut self,
        die: DieIndex,
        page: u32,
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        self.program_in(CellMode::Native, die, (page, ready), now, is_cleaning)
    }

    /// The same in a block of this mode, which only drives whose pages are noted ask about.
    #[allow(clippy::inline_always, reason = "hot, and called in too many places to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn program_in(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (page, ready): (u32, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        debug_assert!(
            ready <= self.dies.free_from(die, now),
            "reads would wait for a program that has not begun"
        );
        let pages = self.plain_pages;
        if pages == 0 {
            return self.program_noted(mode, die, (page, ready), now, is_cleaning);
        }
        self.program_pages::<false>((die, page, pages), ready, now, is_cleaning)
    }

    /// The same of a page of data, the first at `place`, of which drives that program in two passes do the first.
    #[allow(clippy::inline_always, reason = "hot, and a part of functions that are inlined themselves")]
    #[inline(always)]
    pub(crate) fn program_data(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (place, ready): (Ppn, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        debug_assert!(
            ready <= self.dies.free_from(die, now),
            "reads would wait for a program that has not begun"
        );
        let pages = self.plain_pages;
        if pages == 0 {
            return self.program_data_noted(mode, die, (place, ready), now, is_cleaning);
        }
        self.program_pages::<false>((die, self.layout.page_of(place), pages), ready, now, is_cleaning)
    }

    /// The same while a recording is made, and on drives that keep what every die does.
    #[cold]
    #[inline(never)]
    pub(super) fn program_noted(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (page, ready): (u32, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        if mode == CellMode::Slc {
            return self.program_slc(die, ready, now, is_cleaning);
        }
        self.program_pages::<true>((die, page, self.layout.pages_per_unit), ready, now, is_cleaning)
    }

    #[allow(clippy::inline_always, reason = "a part of a function that is inlined itself")]
    #[inline(always)]
    fn program_pages<const NOTED: bool>(
        &mut self,
        (die, page, pages): (DieIndex, u32, u32),
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let transfer = (self.program_bytes(), self.page_bus_ns);
        let mut end = now;
        for index in 0..pages {
            let program_ns = self.timing.program_ns(page + index);
            end = self.program_once::<NOTED>(die, (transfer, program_ns), ready, now, is_cleaning);
        }
        end
    }

    #[allow(clippy::inline_always, reason = "a part of a function that is inlined itself")]
    #[inline(always)]
    pub(super) fn program_once<const NOTED: bool>(
        &mut self,
        die: DieIndex,
        ((bytes, bus_ns), program_ns): ((u64, Nanos), Nanos),
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let mut begin = self.dies.free_from(die, ready);
        if NOTED && self.write_path_bytes_per_s > 0 {
            begin = self.pass_write_path((bytes, bus_ns), begin, now);
        }
        let channel = &mut self.channels[self.layout.channel_of(die) as usize];
        let start = channel.reserve(now, begin, bus_ns);
        let end = start + bus_ns + program_ns;
        self.work.bus_ns += bus_ns;
        self.work.program_ns += program_ns;
        self.dies.occupy(die, start, end, is_cleaning);
        if NOTED && let Some(operations) = &mut self.operations {
            operations.begin(die, Kind::Program, (start + bus_ns, end), is_cleaning);
        }
        if NOTED && let Some(recording) = &mut self.recording {
            let (begin_ns, bus_begin_ns, bus_end_ns, end_ns) = (start, start, start + bus_ns, end);
            let work = Work::Program;
            recording.note(Stretch { work, die, is_cleaning, begin_ns, bus_begin_ns, bus_end_ns, end_ns });
        }
        end
    }

    /// All channels share the way of what they program, which goes it while it goes over its bus: from when on a bus need
    /// not wait for the rest of a transfer that may begin at `begin`.
    #[cold]
    pub(super) fn pass_write_path(
        &mut self,
        (bytes, bus_ns): (u64, Nanos),
        begin: Nanos,
        now: Nanos,
    ) -> Nanos {
        let duration = self.write_path_ns(bytes);
        if duration == 0 {
            // A second pass of what the die has kept, say.
            return begin;
        }
        let start = self.write_path.reserve(now, begin, duration);
        start.max((start + duration).saturating_sub(bus_ns))
    }

    /// Time of so many bytes on the way to the channels.
    fn write_path_ns(&self, bytes: u64) -> Nanos {
        drivelab_sim::time::transfer_ns(bytes, self.write_path_bytes_per_s)
    }

    /// Bytes of a page, on all planes that are programmed together.
    pub(super) fn program_bytes(&self) -> u64 {
        u64::from(self.layout.geometry.program_bytes())
    }

    /// Erases a block of a die; when that is done.
    pub(crate) fn erase(&mut self, die: DieIndex, now: Nanos, is_cleaning: bool) -> Nanos {
        self.erase_for(die, self.timing.erase_ns, now, is_cleaning)
    }

    /// The same, in a time of the caller's.
    pub(super) fn erase_for(
        &mut self,
        die: DieIndex,
        erase_ns: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let begin = self.dies.free_from(die, now);
        let end = begin + erase_ns;
        self.work.erase_ns += erase_ns;
        self.dies.occupy(die, begin, end, is_cleaning);
        if let Some(operations) = &mut self.operations {
            operations.begin(die, Kind::Erase, (begin, end), is_cleaning);
        }
        if let Some(recording) = &mut self.recording {
            let (begin_ns, bus_begin_ns, bus_end_ns, end_ns) = (begin, begin, begin, end);
            let work = Work::Erase;
            recording.note(Stretch { work, die, is_cleaning, begin_ns, bus_begin_ns, bus_end_ns, end_ns });
        }
        end
    }
}
