//! What every scheme is made of that appends to open blocks of every die and cleans die by die: flash, its blocks,
//! the blocks being emptied, the map journal. What a page holds, and what of it is valid, is the scheme's own.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, Lpn, Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

use super::bad_blocks::BadBlocks;
use super::blocks::Blocks;
use super::config::{CleaningMode, FtlConfig, Thresholds};
use super::jobs::CleaningState;
use super::journal::Journal;
use super::parity::OwedParity;
use super::slc_cache::SlcCache;
use super::steps::MetadataStep;
use crate::backlog::Backlog;
use crate::counters::FtlCounters;
use crate::error::FtlError;
use crate::placement::{Stream, StreamCounts};

/// Flash of all dies, and what is done to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DieLogs {
    pub(crate) layout: UnitLayout,
    pub(crate) config: FtlConfig,
    pub(crate) flash: FlashArray,
    pub(crate) blocks: Blocks,
    pub(crate) cleaning: CleaningState,
    pub(crate) journal: Journal,
    pub(crate) counters: FtlCounters,
    /// Valid units (map units, or fragments) per die.
    pub(crate) die_valid: Vec<u32>,
    /// Blocks that have failed, or may; `None`: none will.
    pub(crate) bad: Option<Box<BadBlocks>>,
    /// Blocks with one bit a cell, of a drive that has such; `None`: it has none.
    pub(crate) slc: Option<Box<SlcCache>>,
    /// The first so many blocks of each die keep metadata.
    pub(crate) reserved: u32,
    /// Parity over dies that is programmed after so many pages of data; `None`: there is none, or the scheme sees to it.
    pub(crate) parity: Option<Box<OwedParity>>,
    /// Places of a block of each die that may hold data.
    pub(crate) data_units: Vec<u32>,
    /// The same of a superblock, the most of all dies.
    pub(crate) superblock_units: u32,
    /// Cleaning relocates, all blocks are native, and no page is parity: what nearly all drives are.
    pub(crate) is_plain: bool,
    /// A block with less than this to gain is no victim; see [`FtlConfig::least_gain`].
    pub(crate) least_gain: u32,
    /// More is to be done after a program of this page of a block, or a later one, than after others.
    turn_page: u32,
    /// Its write streams.
    pub(crate) streams: StreamCounts,
    /// When the host may write on a die.
    host_rule: HostRule,
    pub(super) thresholds: Thresholds,
    /// A die with so many free blocks has room for the host and need not be cleaned, not even in a pause.
    pub(super) calm_blocks: u32,
}

/// When the host may write on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum HostRule {
    /// Its stream has room, and cleaning another stream and what is in reserve.
    OneStream,
    /// There is room: nothing is kept for cleaning.
    InPlace,
    /// All its streams have room, however many there are.
    Streams,
    /// The SLC cache has room, or what lies behind it.
    Cached,
}

impl HostRule {
    fn of(config: &FtlConfig) -> Self {
        match config.cleaning_mode {
            CleaningMode::RewriteInPlace => Self::InPlace,
            CleaningMode::Relocate if config.slc_cache.is_some() => Self::Cached,
            CleaningMode::Relocate if config.policy_streams() == StreamCounts::HOST_AND_CLEANING => {
                Self::OneStream
            }
            CleaningMode::Relocate => Self::Streams,
        }
    }
}

impl DieLogs {
    /// Erased dies, `reserved` blocks of each for metadata.
    pub(crate) fn new(flash: FlashArray, config: FtlConfig, reserved: u32) -> Self {
        let layout = *flash.layout();
        let dies = layout.geometry.die_count();
        let taken = reserved + config.static_blocks();
        let (superblock_blocks, stripe_pages) = (config.superblock_blocks, config.parity_stripe_pages);
        let data_units = Self::units_of_data(&layout, stripe_pages);
        let mut logs = Self {
            blocks: Blocks::new(&layout, &flash, taken, superblock_blocks, config.victims(dies)),
            cleaning: CleaningState::new(dies),
            journal: Journal::new(&config, dies),
            counters: FtlCounters::default(),
            die_valid: vec![0; dies as usize],
            bad: None,
            slc: None,
            reserved,
            parity: OwedParity::new(stripe_pages, dies),
            superblock_units: superblock_blocks * data_units.iter().copied().max().unwrap_or(0),
            data_units,
            is_plain: config.cleaning_mode == CleaningMode::Relocate
                && config.slc_cache.is_none()
                && stripe_pages == 0,
            least_gain: config.least_gain(layout.units_per_page),
            turn_page: match stripe_pages {
                0 => (layout.geometry.pages_per_block + 1).saturating_sub(2 * layout.pages_per_unit),
                _ => 0,
            },
            streams: config.streams(),
            host_rule: HostRule::of(&config),
            thresholds: config.thresholds(),
            calm_blocks: config.calm_blocks(),
            layout,
            config,
            flash,
        };
        logs.spread_scan_starts();
        logs.make_cache();
        logs
    }

    /// Blocks of a die that can hold valid data for good.
    pub(crate) fn lasting_blocks(layout: &UnitLayout, config: &FtlConfig, reserved: u32) -> u32 {
        let working = match config.cleaning_mode {
            // Those that never hold valid data for good: the open ones and the reserve.
            CleaningMode::Relocate => config.open_blocks() + config.reserve_blocks(),
            CleaningMode::RewriteInPlace => 0,
        };
        let blocks = layout.geometry.blocks_per_die().saturating_sub(reserved + config.static_blocks());
        (blocks / config.superblock_blocks).saturating_sub(working) * config.superblock_blocks
    }

    /// Quarters of blocks that a die holds back while it is cleaned. Those of the journal; the free ones, which are
    /// between one less than the threshold at which cleaning starts and one less than that at which it ends, and less than
    /// that while cleaning has just opened one (measured, for thresholds one apart: about a third of a block above the
    /// lower); the erased half of each open block; what is there twice of the block being emptied, almost half of it.
    /// Together, with two open ones, a quarter above the middle of both thresholds: measured with 2 and 2, 2 and 3, 3 and
    /// 3, 3 and 4 by the write amplification that is left, within a tenth of a block. Further streams have what is kept free
    /// for them in place of an erased half: while all have an open block, so many fewer are free (measured with two and six
    /// of the host, four of what is moved, X25-M of 1/64 to 1/4: write amplification within 6 %). Of superblocks all but the
    /// first, and the blocks that make no whole one.
    pub(crate) fn held_back_quarters(&self) -> u32 {
        match self.config.cleaning_mode {
            CleaningMode::Relocate => {
                let open = 2 * (self.config.open_blocks() - self.config.stream_reserve());
                let (start, stop) = (self.thresholds.start, self.thresholds.stop);
                let (taken, size) =
                    (self.reserved + self.config.static_blocks(), self.config.superblock_blocks);
                let left = (self.layout.geometry.blocks_per_die() - taken) % size;
                4 * (taken + left) + size * (2 * (start + stop) + open - 3)
            }
            CleaningMode::RewriteInPlace => 0,
        }
    }

    /// Dies begin their scans at different blocks; otherwise all would wear their first blocks most.
    pub(super) fn spread_scan_starts(&mut self) {
        let blocks = self.layout.geometry.blocks_per_die();
        for (die, start) in self.cleaning.scan_start.iter_mut().enumerate() {
            *start = (die as u32).wrapping_mul(2_654_435_761) % blocks;
        }
    }

    /// Free blocks of a die that the host may not take.
    #[inline]
    pub(crate) fn reserve(&self) -> u32 {
        match self.host_rule {
            HostRule::OneStream | HostRule::Streams | HostRule::Cached => {
                self.config.reserve_blocks() + self.failure_reserve()
            }
            HostRule::InPlace => 0,
        }
    }

    /// Whether every stream of the host has an open block on a die or may open one: which it will be, only the page says.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn has_host_block(&self, die: DieIndex) -> bool {
        if matches!(self.host_rule, HostRule::Streams | HostRule::Cached) {
            return self.have_host_blocks(die);
        }
        self.blocks.free_count(die) > self.reserve()
            || (self.blocks.open_block(die, Stream::HOST).is_some() && !self.is_short(die))
    }

    /// The same for any number of streams, and with a cache.
    #[cold]
    fn have_host_blocks(&self, die: DieIndex) -> bool {
        if self.host_rule == HostRule::Cached {
            return self.has_cached_block(die);
        }
        let (free, reserve) = (self.blocks.free_count(die), self.reserve());
        let is_closed = |stream: &Stream| self.blocks.open_block(die, *stream).is_none();
        let closed = self.streams.host().filter(is_closed).count() as u32;
        // What cleaning writes to is the host's, too, where it has no streams of its own: then it needs the reserve besides.
        let shared = self.streams.all == self.streams.host;
        if closed > 0 || shared { free >= reserve + closed } else { !self.is_short(die) }
    }

    /// The block that a stream writes next; opens one if it has none. Cleaning goes on in the block of another stream if
    /// there is no other.
    #[allow(clippy::inline_always, reason = "hot, and nearly always a look at a table")]
    #[inline(always)]
    pub(crate) fn open(
        &mut self,
        die: DieIndex,
        stream: Stream,
        is_host: bool,
    ) -> Result<BlockIndex, FtlError> {
        match self.blocks.open_block(die, stream) {
            Some(block) => Ok(block),
            None => self.open_another(die, stream, is_host),
        }
    }

    #[cold]
    fn open_another(&mut self, die: DieIndex, stream: Stream, is_host: bool) -> Result<BlockIndex, FtlError> {
        if self.slc.is_some() {
            return self.open_in_mode(die, stream, is_host);
        }
        let opened = match self.blocks.open_next(die, stream) {
            None if !is_host => {
                self.blocks.open_superblock(die, stream, true).or_else(|| self.lend(die, stream))
            }
            opened => opened,
        };
        opened.ok_or(FtlError::NoFreeBlock { die: die.0 })
    }

    /// An open block of another stream becomes that of one that has none and finds no free one.
    pub(super) fn lend(&mut self, die: DieIndex, to: Stream) -> Option<BlockIndex> {
        let lent = self.blocks.lend(die, to, self.flash.next_sequence() - 1);
        self.renew_parity(die);
        lent
    }

    /// Programs the next page of a stream's block with units; gives the first place and the page.
    #[allow(clippy::inline_always, reason = "hot, and of constant streams in nearly all places")]
    #[inline(always)]
    pub(crate) fn program(
        &mut self,
        die: DieIndex,
        stream: Stream,
        is_host: bool,
        units: &[Lpn],
    ) -> Result<(Ppn, u32), FtlError> {
        let block = self.open(die, stream, is_host)?;
        let page = self.flash.write_pointer(block);
        let first = self.flash.program(block, page, units)?;
        self.blocks.add_valid(block, units.len() as u32);
        Ok((first, page))
    }

    /// What comes after a page with so many units is programmed and its units are in the map.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn end_program(&mut self, die: DieIndex, stream: Stream, page: u32, units: u32) {
        if self.slc.is_some() {
            return self.end_program_in_mode(die, stream, page, units);
        }
        self.close_if_full(die, stream, page);
        self.counters.units_padded += u64::from(self.layout.units_per_page - units);
        self.journal.note_updates(units);
    }

    /// Closes a stream's block after its last page; others are followed by parity, where there is any.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn close_if_full(&mut self, die: DieIndex, stream: Stream, last_page: u32) {
        if last_page >= self.turn_page {
            if self.parity.is_some() && self.note_parity(die, stream, last_page) {
                return;
            }
            if stream.0 < self.streams.host
                && let Some(block) = self.blocks.open_block(die, stream)
            {
                self.blocks.note_newest(block, self.flash.next_sequence() - 1);
            }
            if self.slc.is_some() {
                return self.close_in_mode(die, stream);
            }
            self.blocks.close(die, stream);
        }
    }

    /// Programs the due page of the map journal on a die, after an erase of its block if need be.
    pub(crate) fn program_journal(&mut self, die: DieIndex) -> Result<MetadataStep, FtlError> {
        let pages = self.layout.geometry.pages_per_block;
        let step = self.layout.pages_per_unit;
        let mut erased = None;
        if self.flash.write_pointer(self.journal.block(&self.layout, die)) + step > pages {
            self.journal.turn(die);
            let block = self.journal.block(&self.layout, die);
            if self.flash.write_pointer(block) > 0 {
                self.flash.erase(block);
                self.counters.erases_map += 1;
                erased = Some(block);
            }
        }
        let block = self.journal.block(&self.layout, die);
        let page = self.flash.write_pointer(block);
        self.flash.program_page(block, page)?;
        self.counters.programs_map += 1;
        self.journal.take();
        Ok(MetadataStep { erased, programmed: Some((block, page)), ..MetadataStep::default() })
    }

    /// Units that hold current data.
    pub(crate) fn valid_units(&self) -> u64 {
        self.die_valid.iter().map(|&count| u64::from(count)).sum()
    }

    /// Free blocks of all dies, those of a static SLC cache with them.
    pub(crate) fn free_blocks(&self) -> u64 {
        let of_cache = |die| self.slc.as_ref().map_or(0, |cache| cache.static_free.count(die));
        let dies = (0..self.layout.geometry.die_count()).map(DieIndex);
        dies.map(|die| u64::from(self.blocks.free_blocks(die) + of_cache(die))).sum()
    }

    /// What is put off: metadata, and cleaning that has begun.
    pub(crate) fn backlog(&self) -> Backlog {
        let cleaning = self.cleaning.jobs.iter().zip(&self.cleaning.active);
        Backlog {
            metadata_pages: u64::from(self.journal.due_pages()),
            folding_blocks: self.slc.as_ref().map_or(0, |cache| u64::from(cache.due_in_pause())),
            cleaning_dies: cleaning.filter(|&(job, &active)| job.is_some() || active).count() as u64,
            ..Backlog::default()
        }
    }

    /// Erased places that host data can still take on a die without cleaning.
    pub(crate) fn room_units(&self, die: DieIndex) -> u32 {
        let open = self.blocks.open_block(die, Stream::HOST).map_or(0, |block| {
            self.layout.units_per_block
                - self.flash.write_pointer(block) / self.layout.pages_per_unit * self.layout.units_per_page
        });
        open + self.blocks.free_count(die).saturating_sub(self.reserve()) * self.layout.units_per_block
    }
}
