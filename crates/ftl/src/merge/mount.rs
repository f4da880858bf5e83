//! A merging scheme becomes what its flash holds.
//!
//! The newest version of every unit is known; what must be found out is what each block is to its superblock. Any blocks
//! can be told apart as one data block, whose rows lie in their places, and log blocks, which hold units anywhere: so
//! nothing is lost whatever a power cut has left. A replacement that the host was writing goes on if nothing is current
//! beneath its rows. One with a torn row can't have that row any more: its rows are read as those of a log block, and the
//! merge is done again in another block ([`MergeCore::begin_recovery`]). Of a merge that only had copied rows so far
//! nothing is needed: it is erased, so that power cuts one after another don't take one block after another.

use std::collections::BTreeMap;

use drivelab_nand::op::Record;
use drivelab_nand::view::BlockState;
use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use super::bank::{OPEN, Replacement, Task};
use super::core::MergeCore;
use super::log_places::LogPlaces;
use super::role::Role;
use crate::log::FreePool;
use crate::recovery::{Recovered, recover_without};

/// What was found of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    role: Option<Role>,
    first_sequence: u64,
    /// Units whose newest version it holds.
    current: u32,
}

/// What a mount finds out on the way.
struct Scan {
    blocks: Vec<Found>,
    /// One more than the number of the page with each unit's newest version; 0: none.
    page_of: Vec<u32>,
    /// Blocks that are erased although they hold newest versions: they are copies.
    left_out: Vec<BlockIndex>,
}

impl Scan {
    fn found(&self, block: BlockIndex) -> &Found {
        &self.blocks[block.0 as usize]
    }

    /// Recounts what each block holds.
    fn count(&mut self, pages_per_block: u32) {
        for found in &mut self.blocks {
            found.current = 0;
        }
        for page in self.page_of.iter().filter_map(|page| page.checked_sub(1)) {
            self.blocks[(page / pages_per_block) as usize].current += 1;
        }
    }
}

/// Blocks that have rows of a superblock, oldest first.
type Groups = BTreeMap<u32, Vec<BlockIndex>>;

impl MergeCore {
    /// A new scheme becomes what was found.
    pub(crate) fn mount(&mut self, recovered: &Recovered<'_>) -> Result<(), String> {
        let (found, wanted) = (recovered.medium.block_count(), self.layout.block_count());
        if found != wanted {
            return Err(format!("flash has {found} blocks, the model {wanted}"));
        }
        let blocks = (0..wanted).map(|block| self.restore_block(recovered, BlockIndex(block)));
        let blocks = blocks.collect::<Result<_, _>>()?;
        self.flash.restore_sequence(recovered.last_sequence);
        let mut scan = Scan { blocks, page_of: recovered.page_of.clone(), left_out: Vec::new() };
        scan.count(self.layout.geometry.pages_per_block);
        let mut groups = self.groups(&scan)?;
        self.leave_out_copies(recovered, &mut scan, &mut groups)?;
        self.assign_found(&scan, &groups);
        self.place_units(&scan)?;
        self.erase_unused();
        self.assign_rest()
    }

    /// A block and its rows. What is on it, and whether it is current, follows.
    fn restore_block(&mut self, recovered: &Recovered<'_>, block: BlockIndex) -> Result<Found, String> {
        let medium = recovered.medium;
        let state = medium.block(block);
        let mut found = Found { first_sequence: recovered.last_sequence + 1, ..Found::default() };
        match state.state {
            BlockState::Good => {}
            BlockState::TornErase => {
                self.flash.restore_block(block, 0, state.erase_count + 1, found.first_sequence);
                return Ok(found);
            }
            BlockState::Retired => {
                return Err(format!("block {} has failed, which a merging map knows no way around", block.0));
            }
        }
        let rows = state.write_pointer;
        if let Some(page) = (0..rows).find_map(|row| medium.page(block, row)) {
            found.first_sequence = page.sequence;
        }
        self.flash.restore_block(block, rows, state.erase_count, found.first_sequence);
        let mut records = Vec::new();
        for row in 0..rows {
            if medium.page(block, row).is_none() {
                continue;
            }
            records.clear();
            medium.records(block, row, &mut records);
            let role = records.first().and_then(|record| Role::from_info(record.info));
            if role.is_none() || found.role.is_some_and(|known| Some(known) != role) {
                return Err(format!("row {row} of block {} doesn't say what it is for", block.0));
            }
            found.role = role;
            self.restore_row(block, row, &records);
        }
        Ok(found)
    }

    fn restore_row(&mut self, block: BlockIndex, row: u32, records: &[Record]) {
        let first = self.first_of_row(block, row).0;
        for (ppn, record) in (first..first + self.layout.units_per_page).map(Ppn).zip(records) {
            if record.lpn == Lpn::PADDING {
                continue;
            }
            self.flash.restore_unit(ppn, record.lpn);
            if let Some(cells) = &mut self.stamps {
                cells.store(ppn, &[u64::from(record.cell)]);
            }
        }
    }

    fn first_of_row(&self, block: BlockIndex, row: u32) -> Ppn {
        Ppn(self.layout.first_ppn(block).0 + row * self.layout.units_per_page)
    }

    /// The place of a unit on the page with this number plus one.
    fn place_on(&self, lpn: u32, page: u32) -> Result<Ppn, String> {
        let pages_per_block = self.layout.geometry.pages_per_block;
        let (block, row) = (BlockIndex((page - 1) / pages_per_block), (page - 1) % pages_per_block);
        let first = self.first_of_row(block, row).0;
        let in_row = Ppn(first + self.superblocks.locate(Lpn(lpn)).offset);
        let places = (first..first + self.layout.units_per_page).map(Ppn);
        std::iter::once(in_row)
            .chain(places)
            .find(|&ppn| self.flash.peek(ppn) == Some(Lpn(lpn)))
            .ok_or_else(|| format!("unit {lpn} should be in row {row} of block {}, but is not", block.0))
    }

    /// Blocks by the superblock whose rows they have.
    fn groups(&self, scan: &Scan) -> Result<Groups, String> {
        let mut groups = Groups::new();
        for block in (0..self.layout.block_count()).map(BlockIndex) {
            let found = scan.found(block);
            let Some(superblock) = found.role.and_then(Role::superblock) else { continue };
            let is_there = superblock < self.superblocks.count
                && self.superblocks.bank_of(superblock) == self.layout.die_of(block);
            if !is_there {
                return Err(format!("block {} says that it is of superblock {superblock}", block.0));
            }
            groups.entry(superblock).or_default().push(block);
        }
        for blocks in groups.values_mut() {
            blocks.sort_unstable_by_key(|&block| scan.found(block).first_sequence);
        }
        Ok(groups)
    }

    /// Whether the newest block of a group is a replacement that the host can go on with.
    fn goes_on(&self, scan: &Scan, blocks: &[BlockIndex]) -> bool {
        let Some(&newest) = blocks.last() else { return false };
        let found = scan.found(newest);
        let rows = self.flash.write_pointer(newest);
        if !matches!(found.role, Some(Role::Open(_))) {
            return false;
        }
        match blocks {
            [_] => rows < self.superblocks.row_count,
            [old, _] => {
                // A torn row leaves what it would have replaced current, and so does a trim that was not logged in time.
                let pages = self.page_number(self.first_of_row(*old, 0)) + 1;
                let pages = pages..pages + rows;
                !scan.page_of.iter().any(|page| pages.contains(page))
            }
            _ => false,
        }
    }

    /// Leaves out the newest blocks of groups as long as they are nothing but copies of what others hold too; then all
    /// blocks without anything current.
    fn leave_out_copies(
        &self,
        recovered: &Recovered<'_>,
        scan: &mut Scan,
        groups: &mut Groups,
    ) -> Result<(), String> {
        for blocks in groups.values_mut() {
            loop {
                // What lay under copies that are left out is current again.
                let current = blocks.iter().copied().filter(|&block| scan.found(block).current > 0);
                let current: Vec<BlockIndex> = current.collect();
                if current.len() < 2
                    || self.goes_on(scan, &current)
                    || !self.leave_out(recovered, scan, current[current.len() - 1])?
                {
                    *blocks = current;
                    break;
                }
            }
        }
        groups.retain(|_, blocks| !blocks.is_empty());
        Ok(())
    }

    /// Leaves out a block if all that is current on it is elsewhere too, as the newest version but for this one.
    fn leave_out(
        &self,
        recovered: &Recovered<'_>,
        scan: &mut Scan,
        block: BlockIndex,
    ) -> Result<bool, String> {
        let Some(cells) = &self.stamps else { return Ok(false) };
        let pages_per_block = self.layout.geometry.pages_per_block;
        let without =
            recover_without(recovered.medium, self.superblocks.user_units, pages_per_block, |of| {
                of == block || scan.left_out.contains(&of)
            })?;
        for (lpn, (&page, &other)) in scan.page_of.iter().zip(&without.page_of).enumerate() {
            if page == other {
                continue;
            }
            let lpn = lpn as u32;
            let here = self.place_on(lpn, page)?;
            // The checkpoint may name a page that has been erased since.
            let there = if other == 0 { None } else { self.place_on(lpn, other).ok() };
            if there.is_none_or(|there| cells.unit(there) != cells.unit(here)) {
                return Ok(false);
            }
        }
        scan.left_out.push(block);
        scan.page_of = without.page_of;
        scan.count(pages_per_block);
        Ok(true)
    }

    /// Says what each block with something current is.
    fn assign_found(&mut self, scan: &Scan, groups: &Groups) {
        self.data.fill(0);
        let goes_on = |blocks: &&Vec<BlockIndex>| self.goes_on(scan, blocks);
        let mut open: Vec<Option<(usize, u64, BlockIndex)>> = vec![None; self.banks.len()];
        for blocks in groups.values().filter(goes_on) {
            let newest = blocks[blocks.len() - 1];
            // One that replaces a block comes first: it has work behind it.
            let rank = (blocks.len(), scan.found(newest).first_sequence, newest);
            let best = &mut open[self.layout.die_of(newest).0 as usize];
            *best = (*best).max(Some(rank));
        }
        for (&superblock, blocks) in groups {
            let index = self.superblocks.bank_of(superblock).0 as usize;
            let mut rest = blocks.clone();
            if let Some((_, _, block)) = open[index]
                && rest.pop_if(|newest| *newest == block).is_some()
            {
                let slot = Replacement { superblock, block, copied: true, mixed: true, rotates: false };
                self.banks[index].slots[OPEN] = Some(slot);
            }
            // The fuller of the others, so that less is left to be merged.
            let data = rest.iter().copied().max_by_key(|&block| scan.found(block).current);
            self.data[superblock as usize] = data.map_or(0, |block| block.0 + 1);
            self.banks[index].logs.extend(rest.into_iter().filter(|&block| Some(block) != data));
        }
        let is_log = |block: &BlockIndex| {
            let found = scan.found(*block);
            found.role == Some(Role::Log) && found.current > 0
        };
        for block in (0..self.layout.block_count()).map(BlockIndex).filter(is_log) {
            self.banks[self.layout.die_of(block).0 as usize].logs.push_back(block);
        }
        for bank in &mut self.banks {
            bank.logs.make_contiguous().sort_unstable_by_key(|&block| scan.found(block).first_sequence);
            let has_room = |block: &BlockIndex| {
                scan.found(*block).role == Some(Role::Log)
                    && self.flash.write_pointer(*block) < self.superblocks.row_count
            };
            if let Some(at) = bank.logs.iter().rposition(has_room)
                && let Some(block) = bank.logs.remove(at)
            {
                bank.logs.push_back(block);
                bank.log_is_open = true;
            }
        }
        if self.fixed && self.banks.iter().any(|bank| !bank.logs.is_empty()) {
            self.log = LogPlaces::new(&self.layout, self.superblocks.user_units, self.superblocks.count);
        }
    }

    /// Marks what is written, and enters into the log what doesn't lie in its superblock's block or replacement.
    fn place_units(&mut self, scan: &Scan) -> Result<(), String> {
        let mut is_log = vec![false; self.layout.block_count() as usize];
        for block in self.banks.iter().flat_map(|bank| &bank.logs) {
            is_log[block.0 as usize] = true;
        }
        for (lpn, &page) in scan.page_of.iter().enumerate().filter(|&(_, &page)| page != 0) {
            let lpn = Lpn(lpn as u32);
            let ppn = self.place_on(lpn.0, page)?;
            let block = self.layout.block_of(ppn);
            let at = self.superblocks.locate(lpn);
            let index = self.superblocks.bank_of(at.superblock).0 as usize;
            let open = self.banks[index].slots[OPEN].filter(|open| open.superblock == at.superblock);
            let is_open = open.is_some_and(|open| open.block == block);
            if !is_open && self.data[at.superblock as usize] != block.0 + 1 {
                if !is_log[block.0 as usize] {
                    return Err(format!("unit {} is in block {}, which is not its own", lpn.0, block.0));
                }
                self.log.insert(at.superblock, lpn, ppn);
            } else if ppn.0 != self.first_of_row(block, at.row).0 + at.offset {
                return Err(format!("unit {} is in the wrong row of block {}", lpn.0, block.0));
            }
            self.set_written(lpn);
        }
        Ok(())
    }

    /// Blocks that nothing was found to need are erased.
    fn erase_unused(&mut self) {
        let mut is_used = vec![false; self.layout.block_count() as usize];
        let open = self.banks.iter().filter_map(|bank| bank.slots[OPEN]).map(|open| open.block);
        let logs = self.banks.iter().flat_map(|bank| bank.logs.iter().copied());
        let data = self.data.iter().filter_map(|&block| block.checked_sub(1)).map(BlockIndex);
        for block in open.chain(logs).chain(data) {
            is_used[block.0 as usize] = true;
        }
        for block in (0..self.layout.block_count()).map(BlockIndex) {
            if !is_used[block.0 as usize] && self.flash.write_pointer(block) > 0 {
                self.flash.erase(block);
                self.counters.erases_cleaning += 1;
                self.erased_by_mount.push(block);
            }
        }
    }

    /// The free pool; the fixed map gives every superblock a block that has none. What the log promises.
    fn assign_rest(&mut self) -> Result<(), String> {
        self.free = FreePool::erased(&self.layout, &self.flash, 0, 1);
        for superblock in 0..self.superblocks.count {
            let bank = self.superblocks.bank_of(superblock);
            if self.fixed && self.data[superblock as usize] == 0 {
                let block = self.free.take(bank).ok_or_else(|| {
                    format!("bank {} has no erased block for superblock {superblock}", bank.0)
                })?;
                self.data[superblock as usize] = block.0 + 1;
            }
            if self.log.units_of(superblock) > 0 && !self.has_block(superblock) {
                self.banks[bank.0 as usize].committed += 1;
            }
        }
        Ok(())
    }

    /// Queues what is left to be done on a bank before the host is served: a map without log blocks merges those that
    /// were made of replacements; one with log blocks makes room, so that it finds as much as its rules promise. `false`:
    /// nothing is left.
    pub(crate) fn begin_recovery(&mut self, bank: DieIndex) -> bool {
        let free = self.free.count(bank);
        let state = &mut self.banks[bank.0 as usize];
        let is_due =
            if self.fixed { !state.logs.is_empty() } else { free < state.committed + 1 + self.spared_blocks };
        if !is_due || free == 0 {
            return false;
        }
        match (state.logs.front(), state.slots[OPEN]) {
            (Some(&block), _) => state.tasks.push_back(Task::Reclaim { block, from: 0 }),
            (None, Some(_)) => {
                state.tasks.push_back(Task::Rest { slot: OPEN });
                state.tasks.push_back(Task::Close { slot: OPEN });
            }
            (None, None) => return false,
        }
        true
    }
}
