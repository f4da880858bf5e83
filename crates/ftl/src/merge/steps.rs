//! The flash operations of a job, one at a time.

use drivelab_nand::{BlockIndex, DieIndex, Lpn, Ppn};

use super::bank::{MERGING, OPEN, Replacement, Task};
use super::core::MergeCore;
use super::plan::{MergeStep, RowRead};
use crate::error::FtlError;

impl MergeCore {
    /// Does the next flash operation of a bank's job. `None`: the job is done.
    pub(crate) fn next_step(&mut self, bank: DieIndex) -> Result<Option<MergeStep>, FtlError> {
        let index = bank.0 as usize;
        self.reads.clear();
        self.taken.clear();
        while let Some(&task) = self.banks[index].tasks.front() {
            match task {
                Task::Open { slot, superblock, rotates } => {
                    self.open(bank, slot, superblock, rotates)?;
                    self.banks[index].tasks.pop_front();
                }
                Task::Rest { slot } => {
                    let until = self.banks[index].slots[slot].map_or(0, |open| self.rows_needed(&open));
                    self.banks[index].tasks[0] = Task::Rows { slot, until };
                }
                Task::Rows { slot, until } => {
                    if let Some(open) = self.banks[index].slots[slot]
                        && self.flash.write_pointer(open.block) < until
                    {
                        return self.program_row(index, slot, open).map(Some);
                    }
                    self.banks[index].tasks.pop_front();
                }
                Task::Close { slot } => {
                    self.banks[index].tasks.pop_front();
                    let rotates = self.banks[index].slots[slot].is_some_and(|open| open.rotates);
                    if let Some(block) = self.close(bank, slot) {
                        return Ok(Some(self.erase(bank, block, rotates)));
                    }
                }
                Task::Log => {
                    if self.banks[index].cursor < self.banks[index].group.len() {
                        return self.program_log_row(bank).map(Some);
                    }
                    self.banks[index].tasks.pop_front();
                }
                Task::Reclaim { block, from } => self.reclaim(index, block, from),
                Task::Rotate { left } => self.rotate(index, left),
            }
        }
        if let Some(block) = self.banks[index].dead.pop() {
            self.banks[index].logs.retain(|&log| log != block);
            return Ok(Some(self.erase(bank, block, false)));
        }
        Ok(None)
    }

    fn open(&mut self, bank: DieIndex, slot: usize, superblock: u32, rotates: bool) -> Result<(), FtlError> {
        let committed = self.log.units_of(superblock) > 0 && !self.has_block(superblock);
        let block = self.free.take(bank).ok_or(FtlError::NoFreeBlock { die: bank.0 })?;
        let state = &mut self.banks[bank.0 as usize];
        state.committed -= u32::from(committed);
        debug_assert!(state.slots[slot].is_none());
        state.slots[slot] = Some(Replacement { superblock, block, copied: false, mixed: false, rotates });
        Ok(())
    }

    /// Rows that a replacement must have: all up to the last one with something in it.
    fn rows_needed(&self, open: &Replacement) -> u32 {
        if self.fixed {
            return self.superblocks.row_count;
        }
        let data = self.data[open.superblock as usize].checked_sub(1);
        let mut rows = data.map_or(0, |block| self.flash.write_pointer(BlockIndex(block)));
        rows = rows.max(self.flash.write_pointer(open.block));
        let group = &self.banks[self.superblocks.bank_of(open.superblock).0 as usize].group;
        if let Some(last) = group.last().map(|unit| self.superblocks.locate(unit.lpn))
            && last.superblock == open.superblock
        {
            rows = rows.max(last.row + 1);
        }
        if self.log.units_of(open.superblock) > 0 {
            let logged = (rows..self.superblocks.row_count).rev().find(|&row| {
                let first = self.superblocks.first_lpn(open.superblock, row).0;
                (first..first + self.superblocks.units_per_row).any(|lpn| self.log.get(Lpn(lpn)).is_some())
            });
            rows = logged.map_or(rows, |row| row + 1);
        }
        rows
    }

    /// Notes that a unit is read from a place, perhaps to complete what the host wrote of it.
    #[inline]
    fn note_read(&mut self, from: Ppn, completes: bool) {
        let completing = u32::from(completes);
        let page = from.0 / self.layout.units_per_page;
        match self.reads.iter_mut().find(|read| read.from.0 / self.layout.units_per_page == page) {
            Some(read) => {
                read.units += 1;
                read.completing += completing;
            }
            None => self.reads.push(RowRead { from, units: 1, completing }),
        }
    }

    /// Programs the next row of a replacement: units of the group where it has them, copies of the others.
    fn program_row(&mut self, index: usize, slot: usize, open: Replacement) -> Result<MergeStep, FtlError> {
        let page = self.flash.write_pointer(open.block);
        let first = self.superblocks.first_lpn(open.superblock, page);
        let source = self.row_source(open.superblock, page);
        let to = Ppn(self.layout.first_ppn(open.block).0 + page * self.layout.units_per_page);
        self.lpns.clear();
        let mut copies = 0;
        for offset in 0..self.superblocks.units_per_row {
            let lpn = Lpn(first.0 + offset);
            let bank = &self.banks[index];
            let unit = bank.group.get(bank.cursor).filter(|unit| unit.lpn == lpn).copied();
            let place = Ppn(to.0 + offset);
            let is_trimmed = unit.is_some() && bank.trimmed.contains(&lpn);
            let from = if lpn.0 < self.superblocks.user_units && !is_trimmed {
                self.log.get(lpn).or_else(|| {
                    source
                        .filter(|_| self.fixed || self.written.get(Ppn(lpn.0)))
                        .map(|row| Ppn(row.0 + offset))
                })
            } else {
                None
            };
            if let Some(unit) = unit {
                self.taken.push((bank.cursor as u32, place));
                self.banks[index].cursor += 1;
                if let Some(from) = from.filter(|_| unit.is_partial) {
                    self.note_read(from, true);
                }
                if !is_trimmed {
                    self.note_superseded(lpn, from);
                    self.set_written(lpn);
                }
            } else if let Some(from) = from {
                self.note_read(from, false);
                copies += 1;
                if let Some(stamps) = &mut self.stamps {
                    stamps.copy(from, place);
                }
            }
            if unit.is_some() || from.is_some() {
                self.leave_log(open.superblock, lpn);
            }
            let holds = (unit.is_some() || from.is_some()) && self.written.get(Ppn(lpn.0)) && !is_trimmed;
            self.lpns.push(if holds { lpn } else { Lpn::PADDING });
        }
        let lpns = std::mem::take(&mut self.lpns);
        let programmed = self.flash.program(open.block, page, &lpns);
        self.lpns = lpns;
        let host = self.taken.len() as u32;
        self.count_row(host, copies, open.rotates);
        if let Some(open) = &mut self.banks[index].slots[slot] {
            open.copied |= copies > 0;
            open.mixed |= host > 0 && open.copied;
        }
        Ok(MergeStep::Row { to: programmed?, is_copy: host == 0, rotates: open.rotates })
    }

    fn count_row(&mut self, host: u32, copies: u32, rotates: bool) {
        let counters = &mut self.counters;
        let padded = self.superblocks.units_per_row - host - copies;
        counters.units_padded += u64::from(padded);
        counters.units_host += u64::from(host);
        if host > 0 {
            counters.programs_host += 1;
        } else if rotates {
            counters.programs_wear += 1;
        } else {
            counters.programs_cleaning += 1;
        }
        if rotates {
            counters.units_wear += u64::from(copies);
        } else {
            counters.units_cleaning += u64::from(copies);
        }
    }

    /// Appends the next units of the group to the newest log block.
    fn program_log_row(&mut self, bank: DieIndex) -> Result<MergeStep, FtlError> {
        let index = bank.0 as usize;
        if !self.banks[index].log_is_open {
            let block = self.free.take(bank).ok_or(FtlError::NoFreeBlock { die: bank.0 })?;
            self.banks[index].logs.push_back(block);
            self.banks[index].log_is_open = true;
        }
        let Some(&block) = self.banks[index].logs.back() else {
            return Err(FtlError::NoFreeBlock { die: bank.0 });
        };
        let page = self.flash.write_pointer(block);
        let to = Ppn(self.layout.first_ppn(block).0 + page * self.layout.units_per_page);
        self.lpns.clear();
        while self.lpns.len() < self.superblocks.units_per_row as usize {
            let state = &self.banks[index];
            let Some(&unit) = state.group.get(state.cursor) else { break };
            let cursor = state.cursor as u32;
            let place = Ppn(to.0 + self.lpns.len() as u32);
            let is_trimmed = state.trimmed.contains(&unit.lpn);
            self.taken.push((cursor, place));
            self.banks[index].cursor += 1;
            if is_trimmed {
                self.lpns.push(Lpn::PADDING);
                continue;
            }
            if unit.is_partial
                && let Some(from) = self.lookup(unit.lpn)
            {
                self.note_read(from, true);
            }
            if self.superseded.is_some() {
                self.note_superseded(unit.lpn, self.lookup(unit.lpn));
            }
            let superblock = self.superblocks.locate(unit.lpn).superblock;
            self.leave_log(superblock, unit.lpn);
            if self.log.units_of(superblock) == 0 && !self.has_block(superblock) {
                self.banks[index].committed += 1;
            }
            self.log.insert(superblock, unit.lpn, place);
            self.set_written(unit.lpn);
            self.lpns.push(unit.lpn);
        }
        let lpns = std::mem::take(&mut self.lpns);
        let programmed = self.flash.program(block, page, &lpns);
        self.lpns = lpns;
        self.count_row(self.taken.len() as u32, 0, false);
        if page + 1 == self.superblocks.row_count {
            self.close_log(index, block);
        }
        Ok(MergeStep::Row { to: programmed?, is_copy: false, rotates: false })
    }

    /// The newest log block takes no more.
    fn close_log(&mut self, index: usize, block: BlockIndex) {
        let is_empty = self.log.valid_of(block) == 0;
        let bank = &mut self.banks[index];
        bank.log_is_open = false;
        if is_empty {
            bank.dead.push(block);
        }
    }

    /// A replacement takes its superblock's place. Gives the block that it replaces.
    fn close(&mut self, bank: DieIndex, slot: usize) -> Option<BlockIndex> {
        let done = self.banks[bank.0 as usize].slots[slot].take()?;
        let old = std::mem::replace(&mut self.data[done.superblock as usize], done.block.0 + 1);
        if done.rotates {
            return old.checked_sub(1).map(BlockIndex);
        }
        match (done.copied, done.mixed) {
            (false, _) => self.counters.merges_switch += 1,
            (true, false) => self.counters.merges_partial += 1,
            (true, true) => self.counters.merges_full += 1,
        }
        let state = &mut self.banks[bank.0 as usize];
        state.merges_since_rotation += 1;
        if self.config.rotation_superblocks > 0 && state.merges_since_rotation >= self.config.rotation_merges
        {
            state.merges_since_rotation = 0;
            // More than all of them would be the same ones again.
            let left = self.config.rotation_superblocks.min(self.superblocks.most_per_bank());
            state.tasks.push_front(Task::Rotate { left });
        }
        old.checked_sub(1).map(BlockIndex)
    }

    fn erase(&mut self, bank: DieIndex, block: BlockIndex, rotates: bool) -> MergeStep {
        self.flash.erase(block);
        self.free.put(bank, block, self.flash.erase_count(block));
        if rotates {
            self.counters.erases_wear += 1;
        } else {
            self.counters.erases_cleaning += 1;
        }
        MergeStep::Erase { block }
    }

    /// Queues the merge of the next superblock with units in a log block; the block is dead when there is none left.
    fn reclaim(&mut self, index: usize, block: BlockIndex, from: u32) {
        self.banks[index].tasks.pop_front();
        if self.banks[index].log_is_open && self.banks[index].logs.back() == Some(&block) {
            self.close_log(index, block);
        }
        let first = self.layout.first_ppn(block).0;
        let places = from..self.flash.write_pointer(block) * self.layout.units_per_page;
        let found = places.into_iter().find_map(|place| {
            let lpn = self.flash.peek(Ppn(first + place))?;
            (self.log.get(lpn) == Some(Ppn(first + place))).then_some((place, lpn))
        });
        let Some((place, lpn)) = found else { return };
        let superblock = self.superblocks.locate(lpn).superblock;
        let bank = &mut self.banks[index];
        bank.tasks.push_front(Task::Reclaim { block, from: place });
        let open = bank.slots[OPEN].is_some_and(|open| open.superblock == superblock);
        let slot = if open { OPEN } else { MERGING };
        bank.tasks.push_front(Task::Close { slot });
        bank.tasks.push_front(Task::Rest { slot });
        if !open {
            bank.tasks.push_front(Task::Open { slot, superblock, rotates: false });
        }
    }

    /// Queues the move of the bank's next superblock that has a block and is not being replaced.
    fn rotate(&mut self, index: usize, left: u32) {
        self.banks[index].tasks.pop_front();
        let banks = self.banks.len() as u32;
        let per_bank = self.superblocks.count.div_ceil(banks);
        let slot = if self.fixed { OPEN } else { MERGING };
        if left == 0 || self.banks[index].slots[slot].is_some() {
            return;
        }
        for _ in 0..per_bank {
            let bank = &mut self.banks[index];
            let superblock = bank.next_rotation * banks + index as u32;
            bank.next_rotation = (bank.next_rotation + 1) % per_bank;
            let moves = self.data.get(superblock as usize).is_some_and(|&block| block != 0)
                && !bank.slots.iter().flatten().any(|open| open.superblock == superblock);
            if moves {
                bank.tasks.push_front(Task::Rotate { left: left - 1 });
                bank.tasks.push_front(Task::Close { slot });
                bank.tasks.push_front(Task::Rest { slot });
                bank.tasks.push_front(Task::Open { slot, superblock, rotates: true });
                return;
            }
        }
    }
}
