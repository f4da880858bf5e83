//! State of a merging scheme: which block holds which superblock, and where each unit lies.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray, GeometryError, Lpn, Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

use super::bank::Bank;
use super::config::MergeConfig;
use super::log_places::LogPlaces;
use super::plan::{GroupUnit, RowRead};
use super::superblocks::{RowPlace, Superblocks};
use crate::counters::FtlCounters;
use crate::log::{FreePool, ValidBits};
use crate::mapping::Superseded;
use crate::stamps::Stamps;

/// State that both schemes have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MergeCore {
    pub(crate) layout: UnitLayout,
    pub(crate) superblocks: Superblocks,
    pub(crate) config: MergeConfig,
    /// Every superblock has a block from the start, and every row counts as written.
    pub(crate) fixed: bool,
    pub(crate) flash: FlashArray,
    pub(crate) free: FreePool,
    /// Block + 1 of every superblock; 0: none.
    pub(crate) data: Vec<u32>,
    pub(crate) banks: Vec<Bank>,
    pub(crate) log: LogPlaces,
    /// Units that the host has written and not trimmed.
    pub(crate) written: ValidBits,
    pub(crate) written_count: u64,
    pub(crate) counters: FtlCounters,
    pub(crate) stamps: Option<Stamps>,
    pub(crate) lpns: Vec<Lpn>,
    pub(crate) reads: Vec<RowRead>,
    pub(crate) taken: Vec<(u32, Ppn)>,
    /// What flash lost since this was last asked for; `None`: nobody asks.
    pub(crate) superseded: Option<Vec<Superseded>>,
    /// Erased blocks of a bank kept for merges that a power cut broke off: they are done again elsewhere.
    pub(crate) spared_blocks: u32,
    pub(crate) erased_by_mount: Vec<BlockIndex>,
}

impl MergeCore {
    pub(crate) fn new(
        layout: UnitLayout,
        config: MergeConfig,
        fixed: bool,
        working_blocks: u32,
    ) -> Result<Self, GeometryError> {
        let superblocks = Superblocks::new(&layout, config.user_units, config.interleaved_banks)?;
        let per_bank = layout.geometry.blocks_per_die();
        let room = per_bank.saturating_sub(working_blocks);
        if config.user_units == 0 || superblocks.most_per_bank() > room {
            let bytes = u64::from(config.user_units) * u64::from(layout.unit_bytes);
            let stripe = u64::from(layout.units_per_block) * u64::from(layout.unit_bytes);
            let most = u64::from(room) * u64::from(layout.geometry.die_count()) * stripe;
            let allowed = format!(
                "must be 1 map unit ({} bytes) to {most} bytes: whole superblocks, less {working_blocks} per bank",
                layout.unit_bytes
            );
            return Err(GeometryError::new("user_capacity_bytes", bytes, allowed));
        }
        let flash = FlashArray::new(layout);
        let count = superblocks.count;
        let mut core = Self {
            free: FreePool::new(&layout, &flash, 0, 1),
            data: vec![0; count as usize],
            banks: vec![Bank::default(); layout.geometry.die_count() as usize],
            log: if fixed {
                LogPlaces::none(count)
            } else {
                LogPlaces::new(&layout, config.user_units, count)
            },
            written: ValidBits::new(config.user_units),
            written_count: 0,
            counters: FtlCounters::default(),
            stamps: None,
            lpns: Vec::with_capacity(layout.units_per_page as usize),
            reads: Vec::with_capacity(layout.units_per_page as usize),
            taken: Vec::with_capacity(layout.units_per_page as usize),
            superseded: None,
            spared_blocks: 0,
            erased_by_mount: Vec::new(),
            layout,
            superblocks,
            config,
            fixed,
            flash,
        };
        core.assign_blocks();
        Ok(core)
    }

    /// A new drive: the fixed map gives every superblock a block, banks begin their rotations apart.
    fn assign_blocks(&mut self) {
        let banks = self.banks.len() as u32;
        for (index, bank) in self.banks.iter_mut().enumerate() {
            bank.merges_since_rotation =
                (u64::from(self.config.rotation_merges) * index as u64 / u64::from(banks)) as u32;
        }
        if self.fixed {
            for superblock in 0..self.superblocks.count {
                let block = self.free.take(self.superblocks.bank_of(superblock));
                self.data[superblock as usize] = block.map_or(0, |block| block.0 + 1);
            }
        }
    }

    /// Erases what is not erased, and forgets everything. Gives the most blocks erased on one bank, and in all.
    pub(crate) fn secure_erase(&mut self) -> (u32, u64) {
        let per_bank = self.layout.geometry.blocks_per_die();
        let (mut most, mut total) = (0, 0);
        for bank in 0..self.layout.geometry.die_count() {
            let mut erased = 0;
            for block in (bank * per_bank..(bank + 1) * per_bank).map(BlockIndex) {
                if self.flash.write_pointer(block) > 0 {
                    self.flash.erase(block);
                    erased += 1;
                }
            }
            most = most.max(erased);
            total += u64::from(erased);
        }
        self.counters.erases_secure += total;
        self.free = FreePool::new(&self.layout, &self.flash, 0, 1);
        self.data.fill(0);
        self.banks.fill(Bank::default());
        self.log.clear();
        self.written = ValidBits::new(self.superblocks.user_units);
        self.written_count = 0;
        if let Some(stamps) = &mut self.stamps {
            stamps.clear();
        }
        self.assign_blocks();
        (most, total)
    }

    /// First place of the row that holds a superblock's row outside of the log, if it was programmed. The newest
    /// replacement counts.
    #[inline]
    pub(crate) fn row_source(&self, superblock: u32, row: u32) -> Option<Ppn> {
        let bank = &self.banks[self.superblocks.bank_of(superblock).0 as usize];
        let place =
            |block: BlockIndex| Ppn(self.layout.first_ppn(block).0 + row * self.layout.units_per_page);
        for slot in bank.slots.iter().rev().flatten() {
            if slot.superblock == superblock && row < self.flash.write_pointer(slot.block) {
                return Some(place(slot.block));
            }
        }
        let block = BlockIndex(self.data[superblock as usize].checked_sub(1)?);
        (self.fixed || row < self.flash.write_pointer(block)).then(|| place(block))
    }

    /// Whether reads of a unit go to flash.
    #[inline]
    pub(crate) fn is_readable(&self, lpn: Lpn) -> bool {
        (self.fixed && !self.config.trim_supported) || self.written.get(Ppn(lpn.0))
    }

    /// Where a unit lies.
    #[inline]
    pub(crate) fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        if let Some(ppn) = self.log.get(lpn) {
            // In durable mode a trimmed unit stays in the log, see `trim`.
            return (self.superseded.is_none() || self.written.get(Ppn(lpn.0))).then_some(ppn);
        }
        if !self.is_readable(lpn) {
            return None;
        }
        let RowPlace { superblock, row, offset } = self.superblocks.locate(lpn);
        Some(Ppn(self.row_source(superblock, row)?.0 + offset))
    }

    /// Whether a place holds current data.
    pub(crate) fn holds_current(&self, ppn: Ppn) -> bool {
        self.flash.peek(ppn).is_some_and(|lpn| self.lookup(lpn) == Some(ppn))
    }

    /// Erased blocks of a bank that no superblock in the log will need, nor a merge that must be done again.
    pub(crate) fn unpromised_blocks(&self, bank: DieIndex) -> u32 {
        self.free.count(bank).saturating_sub(self.banks[bank.0 as usize].committed + self.spared_blocks)
    }

    /// How many whole rows a group begins with, without a gap and wholly written by the host.
    pub(crate) fn whole_rows(&self, units: &[GroupUnit]) -> u32 {
        let per_row = self.superblocks.units_per_row;
        let first = units[0].lpn.0;
        if !first.is_multiple_of(per_row) {
            return 0;
        }
        // Rows of a superblock lie apart in the address space if banks are interleaved.
        let place = self.superblocks.locate(units[0].lpn);
        let in_order = units
            .iter()
            .enumerate()
            .take_while(|(index, unit)| {
                let index = *index as u32;
                let row = self.superblocks.first_lpn(place.superblock, place.row + index / per_row);
                unit.lpn.0 == row.0 + index % per_row && !unit.is_partial
            })
            .count();
        in_order as u32 / per_row
    }

    /// Whether a superblock has a block of its own, or one that becomes it.
    pub(crate) fn has_block(&self, superblock: u32) -> bool {
        let bank = &self.banks[self.superblocks.bank_of(superblock).0 as usize];
        self.data[superblock as usize] != 0
            || bank.slots.iter().flatten().any(|slot| slot.superblock == superblock)
    }

    pub(crate) fn set_written(&mut self, lpn: Lpn) {
        if !self.written.get(Ppn(lpn.0)) {
            self.written.set(Ppn(lpn.0));
            self.written_count += 1;
        }
    }

    /// The host does not need a unit any more.
    pub(crate) fn trim(&mut self, lpn: Lpn) {
        if !self.config.trim_supported {
            return;
        }
        let superblock = self.superblocks.locate(lpn).superblock;
        let bank = &mut self.banks[self.superblocks.bank_of(superblock).0 as usize];
        if bank.group[bank.cursor..].binary_search_by_key(&lpn, |unit| unit.lpn).is_ok() {
            bank.trimmed.push(lpn);
        }
        if !self.written.get(Ppn(lpn.0)) {
            return;
        }
        if self.superseded.is_some() {
            self.note_superseded(lpn, self.lookup(lpn));
        }
        self.written.clear(Ppn(lpn.0));
        self.written_count -= 1;
        self.counters.units_trimmed += 1;
        // A power cut may undo a trim, and then its superblock must not find its promised block given away. So in
        // durable mode the unit stays in the log until it is written again or merged.
        if self.superseded.is_none() {
            self.leave_log(superblock, lpn);
        }
    }

    /// Notes that what flash holds of a unit at a place is not current any more, before it stops being current.
    #[inline]
    pub(crate) fn note_superseded(&mut self, lpn: Lpn, old: Option<Ppn>) {
        if let (Some(superseded), Some(cells), Some(old)) = (&mut self.superseded, &self.stamps, old)
            && self.written.get(Ppn(lpn.0))
        {
            superseded.push(Superseded { block: self.layout.block_of(old), cell: cells.unit(old)[0] as u32 });
        }
    }

    /// Outdates what the log holds of a unit.
    #[inline]
    pub(crate) fn leave_log(&mut self, superblock: u32, lpn: Lpn) {
        let Some(block) = self.log.remove(superblock, lpn) else { return };
        let uncommitted = self.log.units_of(superblock) == 0 && !self.has_block(superblock);
        let is_empty = self.log.valid_of(block) == 0;
        let bank = &mut self.banks[self.superblocks.bank_of(superblock).0 as usize];
        bank.committed -= u32::from(uncommitted);
        if is_empty && !(bank.log_is_open && bank.logs.back() == Some(&block)) {
            bank.dead.push(block);
        }
    }
}
