//! A log with an SLC cache: which block the host's data goes to, and what is folded when.

use drivelab_nand::{BlockIndex, CellMode, DieIndex};

use super::cleaning::Measure;
use super::config::RESERVE_BLOCKS;
use super::die_logs::DieLogs;
use super::free_pool::FreePool;
use super::jobs::Job;
use super::slc_cache::{SlcCache, WhenFull};
use super::steps::{Purpose, Urgency};
use crate::error::FtlError;
use crate::placement::Stream;

/// Where the next block of the host comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Static,
    Dynamic,
    Native,
}

impl DieLogs {
    /// An empty cache, if the drive has one. The blocks that are always its own follow those for metadata.
    pub(super) fn make_cache(&mut self) {
        let Some(config) = &self.config.slc_cache else { return };
        self.flash.keep_modes(config.bits);
        let own = self.reserved..self.reserved + config.static_blocks;
        let pool = FreePool::of(&self.layout, &self.flash, own.clone());
        // Firmware keeps its own data where it is fast and safe, too: the blocks of the journal.
        let modes = (0..self.config.reserved_blocks()).chain(own);
        for block in modes {
            for die in 0..self.layout.geometry.die_count() {
                let block = BlockIndex(die * self.layout.geometry.blocks_per_die() + block);
                self.flash.set_mode(block, CellMode::Slc);
            }
        }
        self.slc = Some(Box::new(SlcCache::new(config.clone(), pool, self.layout.geometry.die_count())));
    }

    /// Whether a block is always one of the cache.
    pub(super) fn is_static(&self, block: BlockIndex) -> bool {
        let first = block.0 % self.layout.geometry.blocks_per_die();
        (self.reserved..self.reserved + self.config.static_blocks()).contains(&first)
    }

    /// Share of the user capacity that is mapped.
    pub(super) fn fill(&self) -> f64 {
        self.valid_units() as f64 / f64::from(self.config.user_units)
    }

    /// Free blocks of a die that the cache leaves.
    pub(super) fn cache_floor(&self, cache: &SlcCache) -> u32 {
        self.thresholds.stop.max(self.reserve()) + cache.config.reserve_blocks
    }

    /// Where a block of the cache would come from now.
    fn cache_source(&self, cache: &SlcCache, die: DieIndex) -> Option<Source> {
        if cache.static_free.count(die) > 0 {
            return Some(Source::Static);
        }
        let free = self.blocks.free_count(die);
        // Blocks that only have to be erased count as free, but for those that native writes need when it is full.
        let native = self.reserve() + cache.config.reserve_blocks;
        let is_dynamic = |dead| !self.is_static(dead);
        let has_room =
            free > self.cache_floor(cache) || free > native && self.found_dead(die).is_some_and(is_dynamic);
        (cache.may_grow(die) && has_room).then_some(Source::Dynamic)
    }

    /// Where the next block of the host on a die comes from.
    fn next_host_block(&self, cache: &SlcCache, die: DieIndex) -> Option<Source> {
        if cache.takes_data
            && let Some(source) = self.cache_source(cache, die)
        {
            return Some(source);
        }
        if cache.config.when_full == WhenFull::Wait && !cache.of(die).closed.is_empty() {
            return None;
        }
        // What is in the cache makes room before the reserve is touched.
        let kept = if cache.of(die).closed.is_empty() { 0 } else { cache.config.reserve_blocks };
        // The block that was left aside may be all that cleaning has to copy into, as one that is open may.
        let has_parked = self.blocks.parked(die).is_some() && !self.is_short(die);
        let has_room = self.blocks.free_count(die) > self.reserve() + kept || has_parked;
        has_room.then_some(Source::Native)
    }

    /// Whether the host may write on a die of a drive with a cache.
    #[cold]
    pub(super) fn has_cached_block(&self, die: DieIndex) -> bool {
        let Some(cache) = &self.slc else { return false };
        if self.blocks.open_block(die, Stream::HOST).is_some() {
            return !self.is_short(die);
        }
        self.next_host_block(cache, die).is_some()
    }

    /// How the next page of the host on a die is programmed.
    #[cold]
    pub(crate) fn host_mode(&self, die: DieIndex) -> CellMode {
        let Some(cache) = &self.slc else { return CellMode::Native };
        match self.blocks.open_block(die, Stream::HOST) {
            Some(block) => self.flash.mode(block),
            None => match self.next_host_block(cache, die) {
                Some(Source::Static | Source::Dynamic) => CellMode::Slc,
                Some(Source::Native) | None => CellMode::Native,
            },
        }
    }

    /// Opens a block for a stream.
    pub(super) fn open_in_mode(
        &mut self,
        die: DieIndex,
        stream: Stream,
        is_host: bool,
    ) -> Result<BlockIndex, FtlError> {
        let none = FtlError::NoFreeBlock { die: die.0 };
        let source = match &self.slc {
            Some(cache) if is_host => self.next_host_block(cache, die).ok_or(none)?,
            _ => Source::Native,
        };
        if is_host {
            self.note_opening(die, source);
        }
        if source == Source::Static {
            let block = self.slc.as_mut().and_then(|cache| cache.static_free.take(die)).ok_or(none)?;
            self.blocks.open_own(die, stream, block);
            return Ok(block);
        }
        if is_host
            && source == Source::Native
            && let Some(block) = self.blocks.take_parked(die, stream)
        {
            return Ok(block);
        }
        let Some(block) = self.blocks.open_next(die, stream) else {
            // One that is written already keeps its mode.
            let lent = if is_host { None } else { self.lend(die, stream) };
            return lent.ok_or(FtlError::NoFreeBlock { die: die.0 });
        };
        let mode = if source == Source::Dynamic { CellMode::Slc } else { CellMode::Native };
        self.flash.set_mode(block, mode);
        Ok(block)
    }

    /// Most units of the next page of copies on a die, if there is one.
    #[cold]
    pub(crate) fn copied_units(
        &mut self,
        die: DieIndex,
        purpose: Purpose,
        is_any: bool,
    ) -> Result<u32, FtlError> {
        let mode = if is_any {
            // A block that was lent may be one of the cache.
            let block = self.open(die, self.copy_stream(purpose), false)?;
            self.flash.mode(block)
        } else {
            CellMode::Native
        };
        Ok(self.flash.page_units(mode))
    }

    /// A block of the host is about to be opened.
    fn note_opening(&mut self, die: DieIndex, source: Source) {
        let fill = self.fill();
        let Some(cache) = &mut self.slc else { return };
        cache.note_fill(fill);
        // It is full when no die has room, not when the first has none.
        let is_full = source == Source::Native
            && self.slc.as_ref().is_some_and(|cache| {
                let mut dies = (0..self.layout.geometry.die_count()).map(DieIndex);
                cache.takes_data && dies.all(|die| self.cache_source(cache, die).is_none())
            });
        let Some(cache) = &mut self.slc else { return };
        match source {
            Source::Dynamic => cache.opened(die),
            Source::Static => {}
            Source::Native => {
                cache.takes_data &= !is_full || cache.config.when_full == WhenFull::Wait;
                let blocks = &self.blocks;
                cache.of_mut(die).note_empty(|block| blocks.valid_count(block) == 0);
            }
        }
    }

    /// [`Self::end_program`] of a drive with a cache.
    #[cold]
    pub(super) fn end_program_in_mode(&mut self, die: DieIndex, stream: Stream, page: u32, units: u32) {
        let Some(block) = self.blocks.open_block(die, stream) else { return };
        let mode = self.flash.mode(block);
        self.close_if_full(die, stream, page);
        self.counters.programs_slc += u64::from(mode == CellMode::Slc);
        self.counters.units_padded += u64::from(self.flash.page_units(mode) - units);
        self.journal.note_updates(units);
    }

    /// A stream's block is fully programmed.
    #[cold]
    pub(super) fn close_in_mode(&mut self, die: DieIndex, stream: Stream) {
        let Some(block) = self.blocks.open_block(die, stream) else { return };
        if self.is_static(block) {
            self.blocks.abandon(die, stream);
        } else {
            self.blocks.close(die, stream);
        }
        if let (Some(cache), CellMode::Slc) = (&mut self.slc, self.flash.mode(block)) {
            cache.close(die, block);
        }
    }

    /// A block that was emptied has been erased.
    #[cold]
    pub(super) fn note_folded(&mut self, die: DieIndex, job: Job) {
        let (mode, is_static, fill) = (self.flash.mode(job.victim), self.is_static(job.victim), self.fill());
        let Some(cache) = self.slc.as_mut().filter(|_| mode == CellMode::Slc) else { return };
        cache.note_fill(fill);
        cache.erased(die, job.victim, is_static, job.valid_at_start > 0);
        let blocks = &self.blocks;
        cache.of_mut(die).note_empty(|block| blocks.valid_count(block) == 0);
    }

    /// A static block was erased and is free again.
    pub(super) fn release_static(&mut self, die: DieIndex, block: BlockIndex, erase_count: u32) {
        self.blocks.forget(block);
        if let Some(cache) = &mut self.slc {
            cache.static_free.put(die, block, erase_count);
        }
    }

    /// Dies that fold a block now.
    fn folding_dies(&self) -> u32 {
        let folds = |job: &&Option<Job>| job.is_some_and(|job| job.purpose == Purpose::Folding);
        self.cleaning.jobs.iter().filter(folds).count() as u32
    }

    fn may_another_fold(&self, cache: &SlcCache) -> bool {
        cache.config.fold_dies == 0 || self.folding_dies() < cache.config.fold_dies
    }

    /// Whether a die of the cache is to be folded beside what the host writes.
    fn wants_to_fold(&self, cache: &SlcCache, die: DieIndex) -> bool {
        let own = cache.of(die);
        let least = self.thresholds.start + cache.config.reserve_blocks;
        own.has_empty
            || !own.closed.is_empty()
                && match cache.config.when_full {
                    _ if self.blocks.free_count(die) < least => true,
                    WhenFull::Native => false,
                    WhenFull::Wait => self.cache_source(cache, die).is_none(),
                    WhenFull::Refill => !cache.takes_data,
                }
    }

    /// How much a die of a drive with a cache needs cleaning, or folding.
    #[cold]
    pub(crate) fn cached_urgency(&mut self, die: DieIndex, has_room: bool) -> Urgency {
        self.turn_to_cache(die);
        let urgency = self.urgency(die, has_room);
        let Some(cache) = &self.slc else { return urgency };
        if self.is_cleaning(die) {
            return urgency;
        }
        // A die that waits for others to fold may erase.
        if cache.waits(die) && self.found_dead(die).is_none() {
            return Urgency::None;
        }
        if urgency >= Urgency::Wanted {
            return urgency;
        }
        if self.wants_to_fold(cache, die) || self.wants_dead(cache, die) {
            return Urgency::Wanted;
        }
        let folds_in_pause = cache.due_in_pause() > 0 && !cache.of(die).closed.is_empty();
        if folds_in_pause || self.next_dead(die).is_some() { Urgency::Idle } else { urgency }
    }

    /// The next block to be emptied on a die of a drive with a cache: of all blocks the one with the least to copy when
    /// free blocks run short, otherwise one of the cache, if that is to be folded. What is to be cleaned in pauses comes
    /// behind what the cache wants now.
    #[cold]
    pub(super) fn cached_victim(&mut self, die: DieIndex, measure: Measure) -> Option<Job> {
        if self.slc.as_ref().is_some_and(|cache| cache.waits(die)) {
            return self.next_dead(die).map(|dead| self.begin(dead, Purpose::Cleaning));
        }
        let free = self.blocks.free_count(die);
        let folds_now = self.slc.as_ref().is_some_and(|cache| self.wants_to_fold(cache, die));
        let is_short = self.cleaning.active[die.0 as usize] || free < self.thresholds.idle && !folds_now;
        if is_short && let Some(job) = self.pick_victim(die, measure) {
            return self.admit_fold(die, job);
        }
        // While the cache is to be folded, these come first only as far as free blocks are short.
        let may_erase = !folds_now || self.slc.as_ref().is_some_and(|cache| free <= self.cache_floor(cache));
        if may_erase && let Some(dead) = self.next_dead(die) {
            return Some(self.begin(dead, Purpose::Cleaning));
        }
        let job = match self.block_to_fold(die) {
            Some(block) => self.begin(block, Purpose::Folding),
            // What is kept back for blocks that fail may be all that is free.
            None if self.bad.is_some() && !self.has_host_block(die) => self.pick_victim(die, measure)?,
            None => return None,
        };
        self.admit_fold(die, job)
    }

    /// A job, unless it is of the cache and enough dies fold already.
    fn admit_fold(&mut self, die: DieIndex, job: Job) -> Option<Job> {
        if job.purpose != Purpose::Folding || job.valid_at_start == 0 {
            return Some(job);
        }
        let may = self.slc.as_ref().is_some_and(|cache| self.may_another_fold(cache));
        if let Some(cache) = self.slc.as_mut().filter(|_| !may) {
            cache.wait(die);
        }
        may.then_some(job)
    }

    /// The block of the cache on a die that has the least to copy, the oldest of them; its data must have room.
    pub(super) fn block_to_fold(&self, die: DieIndex) -> Option<BlockIndex> {
        let cache = self.slc.as_ref()?;
        let closed = cache.of(die).closed.iter().copied();
        let block = closed.min_by_key(|&block| {
            (self.blocks.valid_count(block), self.flash.first_sequence(block), block.0)
        })?;
        let pages = self.blocks.valid_count(block).div_ceil(self.layout.units_per_page);
        let pages = pages + self.config.held_word_lines;
        let room = self
            .streams
            .moved()
            .filter_map(|stream| self.blocks.open_block(die, stream))
            .map(|open| self.layout.geometry.pages_per_block - self.flash.write_pointer(open));
        let has_room = self.blocks.free_count(die) > RESERVE_BLOCKS || pages <= room.sum::<u32>();
        has_room.then_some(block)
    }

    /// What a die copies to empty its block, and that and how many pages of the host it makes room for: of the cache, if
    /// all of them go there.
    #[cold]
    pub(crate) fn folding_debt(&self, die: DieIndex) -> Option<(u32, u32)> {
        let job = self.cleaning.jobs[die.0 as usize]?;
        if job.purpose != Purpose::Folding {
            return Some((job.valid_at_start, self.layout.units_per_block));
        }
        let pages = self.layout.geometry.pages_per_block;
        let copies = job.valid_at_start.div_ceil(self.layout.units_per_page);
        let to_cache = self.slc.as_ref().is_some_and(|cache| cache.config.when_full == WhenFull::Wait);
        let freed = if to_cache || self.is_static(job.victim) { pages } else { pages - copies };
        Some((copies, copies + freed.max(1)))
    }

    /// Whether what a die has begun to fold is folded in one go: few dies may at the same time, and others wait for it.
    #[inline]
    pub(crate) fn folds_at_once(&self, die: DieIndex) -> bool {
        let Some(cache) = &self.slc else { return false };
        let job = self.cleaning.jobs[die.0 as usize];
        cache.config.fold_dies > 0 && job.is_some_and(|job| job.purpose == Purpose::Folding)
    }

    /// The die that has waited longest to fold, when it may.
    #[cold]
    pub(crate) fn take_waiting_die(&mut self) -> Option<DieIndex> {
        if !self.may_another_fold(self.slc.as_ref()?) {
            return None;
        }
        self.slc.as_mut()?.take_waiting()
    }

    /// The host leaves its native block aside while the cache takes data.
    fn turn_to_cache(&mut self, die: DieIndex) {
        let Some(cache) = self.slc.as_ref().filter(|cache| cache.takes_data) else { return };
        let is_native = self
            .blocks
            .open_block(die, Stream::HOST)
            .is_some_and(|block| self.flash.mode(block) == CellMode::Native);
        if is_native && self.blocks.parked(die).is_none() && self.cache_source(cache, die).is_some() {
            self.blocks.park(die, Stream::HOST);
        }
    }

    /// The host has paused: what is folded and erased from now on makes room.
    pub(crate) fn note_pause(&mut self) {
        let fill = self.fill();
        if let Some(cache) = &mut self.slc {
            cache.takes_data = true;
            cache.note_fill(fill);
            for own in &mut cache.dies {
                own.dead_search_from = Some(0);
            }
        }
    }
}
