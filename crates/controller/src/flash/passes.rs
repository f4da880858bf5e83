//! Word lines that are programmed in two passes, and those that have had the first.
//!
//! A word line gets its fine pass when so many behind it, in the same block, have had their coarse one; the last of a block,
//! behind which there are none, get theirs with the last. Until then nothing can be read of it: what the host wrote stays in
//! the write buffer, and of what was copied the source is read.

use drivelab_nand::{BlockIndex, CellMode, DieIndex, FlashArray, Ppn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};

use super::held_lines::{HeldLine, Passes};
use super::{Flash, FlashWait, Sensing};

impl Flash {
    /// Whether word lines are programmed in two passes.
    #[inline]
    pub(crate) fn has_passes(&self) -> bool {
        self.operations.as_ref().is_some_and(|operations| operations.passes.is_some())
    }

    fn passes_mut(&mut self) -> Option<&mut Passes> {
        self.operations.as_mut()?.passes.as_deref_mut()
    }

    /// The job of a die programs the native word line at `first` from now on, with what is copied from `sources`, or with
    /// data of the host.
    pub(crate) fn hold_line(&mut self, die: DieIndex, first: Ppn, sources: &[Ppn], is_cleaning: bool) {
        let (block, page) = (self.layout.block_of(first), self.layout.page_of(first));
        let Some(passes) = self.passes_mut() else { return };
        let mut line = passes.spare.pop().unwrap_or_default();
        line.sources.clear();
        line.sources.extend_from_slice(sources);
        line.entries.clear();
        (line.block, line.page, line.first) = (block, page, first);
        (line.is_cleaning, line.is_fine) = (is_cleaning, false);
        let of_die = &mut passes.dies[die.0 as usize];
        of_die.lines.push_back(line);
        of_die.has_new = true;
    }

    /// Programs a page of data, of which drives that program in two passes do the first; when that is done.
    #[cold]
    #[inline(never)]
    pub(super) fn program_data_noted(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (place, ready): (Ppn, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let config = self.passes_mut().filter(|_| mode == CellMode::Native).map(|passes| passes.config);
        let Some(config) = config else {
            return self.program_noted(mode, die, (self.layout.page_of(place), ready), now, is_cleaning);
        };
        if !is_cleaning {
            // Of copies the sources are told when they are begun to be read.
            self.hold_line(die, place, &[], false);
        }
        self.program_once::<true>(
            die,
            ((self.program_bytes(), self.page_bus_ns), config.coarse_ns),
            ready,
            now,
            is_cleaning,
        )
    }

    /// The next fine pass of the job of a die; when it is done.
    pub(crate) fn program_second(&mut self, die: DieIndex, now: Nanos) -> Option<Nanos> {
        let layout = self.layout;
        let passes = self.passes_mut()?;
        let config = passes.config;
        let line = passes.due(die, &layout)?;
        line.is_fine = true;
        let is_cleaning = line.is_cleaning;
        let transfer = if config.sends_twice {
            (self.program_bytes(), self.page_bus_ns)
        } else {
            (0, self.timing.bus_ns(0))
        };
        Some(self.program_once::<true>(die, (transfer, config.fine_ns), now, now, is_cleaning))
    }

    /// The job of a die is done. The first `count` of `entries` of the write buffer went to the word line that it has
    /// programmed; instead of them gives those, and how many, whose word lines are done now.
    pub(crate) fn settle_lines(&mut self, die: DieIndex, entries: &mut [u32], count: usize) -> usize {
        let Some(passes) = self.passes_mut() else { return count };
        let of_die = &mut passes.dies[die.0 as usize];
        if !std::mem::take(&mut of_die.has_new) || sabotage::is(Sabotage::CoarseTakenAsWhole) {
            return count;
        }
        if let Some(newest) = of_die.lines.back_mut() {
            newest.entries.extend_from_slice(&entries[..count]);
        }
        let mut done = 0;
        passes.fine.clear();
        while let Some(at) = of_die.lines.iter().position(|line| line.is_fine) {
            let Some(line) = of_die.lines.remove(at) else { break };
            entries[done..done + line.entries.len()].copy_from_slice(&line.entries);
            done += line.entries.len();
            passes.fine.push((line.block, line.page));
            passes.spare.push(line);
        }
        done
    }

    /// Word lines, by block and page, that have had their fine pass with the job of a die that has just been settled.
    pub(crate) fn take_fine_lines(&mut self) -> Vec<(BlockIndex, u32)> {
        self.passes_mut().map_or_else(Vec::new, |passes| std::mem::take(&mut passes.fine))
    }

    /// The memory of what [`Self::take_fine_lines`] has given, to be used again.
    pub(crate) fn give_back_fine_lines(&mut self, emptied: Vec<(BlockIndex, u32)>) {
        if let Some(passes) = self.passes_mut() {
            passes.fine = emptied;
        }
    }

    /// Entries of the write buffer that are on word lines between their passes.
    pub(crate) fn held_entries(&self) -> impl Iterator<Item = u32> + '_ {
        let passes = self.operations.iter().filter_map(|operations| operations.passes.as_ref());
        let lines = passes.flat_map(|passes| &passes.dies).flat_map(|die| &die.lines);
        lines.flat_map(|line| line.entries.iter().copied())
    }

    /// The block of the first word line of a die that `is_awaited` says so of one of its entries, between its passes.
    pub(crate) fn awaited_line(
        &self,
        die: DieIndex,
        mut is_awaited: impl FnMut(u32) -> bool,
    ) -> Option<BlockIndex> {
        let passes = self.operations.as_ref()?.passes.as_ref()?;
        let mut lines = passes.dies[die.0 as usize].lines.iter();
        lines.find(|line| line.entries.iter().any(|&id| is_awaited(id))).map(|line| line.block)
    }

    /// A host's read of what was copied to a word line between its passes, from where it was copied from. `false`: it lies
    /// on none.
    pub(super) fn read_sources(
        &mut self,
        (array, ppn): (&FlashArray, Ppn),
        (sector, sectors): (u32, u64),
        bytes: u64,
        wait: &mut FlashWait,
        now: Nanos,
    ) -> bool {
        let (die, layout) = (self.layout.die_at(ppn), self.layout);
        let Some(passes) = self.passes_mut() else { return false };
        let lines = passes.dies[die.0 as usize].lines.iter();
        let mut copied = lines.filter(|line| !line.sources.is_empty());
        let on_line =
            |line: &&HeldLine| (line.first.0..line.first.0 + layout.units_per_page).contains(&ppn.0);
        let Some(line) = copied.find(on_line) else {
            debug_assert!(
                !passes.holds(die, ppn, layout.units_per_page),
                "a word line is read between its passes"
            );
            return false;
        };
        let per_unit = u64::from(layout.sectors_per_unit);
        let units = (u64::from(sector) + sectors).div_ceil(per_unit) as usize;
        let first = (ppn.0 - line.first.0) as usize;
        let mut wanted = std::mem::take(&mut passes.wanted);
        wanted.clear();
        wanted.extend(line.sources.iter().skip(first).take(units));
        let count = wanted.len().max(1) as u64;
        let of_line = |place: &Ppn| place.0 / layout.units_per_page;
        for places in wanted.chunk_by(|one, other| of_line(one) == of_line(other)) {
            let mode = array.mode_at(places[0]);
            let all = |mask, &place| mask | self.mask_of(place, 0, per_unit, mode);
            let mask = match places {
                // A part of a unit may lie on fewer pages than all of it.
                [place] if count == 1 => self.mask_of(*place, u64::from(sector), sectors, mode),
                _ => places.iter().fold(0, all),
            };
            let bytes = bytes * places.len() as u64 / count;
            self.sense_pages(wait, Sensing { die, pages: 1, bytes, mask, is_cleaning: false }, now);
        }
        if let Some(passes) = self.passes_mut() {
            passes.wanted = wanted;
        }
        true
    }
}
