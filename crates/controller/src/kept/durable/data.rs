//! The host's bytes: the cells that take them, and what a compressing drive is told of them.

use drivelab_ftl::{Stored, UnitContent};
use drivelab_nand::Lpn;
use drivelab_nand::op::NO_CELL;

use crate::command::Command;
use crate::drive::{Scheduled, SolidStateDrive};
use crate::kept::effects::Effect;
use crate::kept::faults::marks_of;

impl<M: Scheduled> SolidStateDrive<M> {
    /// Bytes of a map unit, if the drive looks at content and so wants to be told of it.
    #[must_use]
    pub fn content_unit_bytes(&self) -> Option<u32> {
        self.mapping.looks_at_content().then(|| self.sectors_per_unit * drivelab_nand::SECTOR_BYTES)
    }

    /// What the data of the write is like that will be submitted next with this tag: unit by unit, from the first that
    /// it touches on. It takes precedence over [`Command::content`]. In durable mode.
    pub fn set_unit_contents(&mut self, tag: u32, units: Vec<UnitContent>) {
        if let Some(durable) = &mut self.durable {
            durable.contents.insert(tag, units);
        }
    }

    /// What the `index`-th unit of a write takes in flash; `is_whole`: the write covers all of it.
    #[inline]
    pub(crate) fn stored_of(&mut self, command: &Command, index: u32, is_whole: bool) -> Stored {
        if let Some(durable) = &self.durable
            && let Some(&content) =
                durable.contents.get(&command.tag).and_then(|units| units.get(index as usize))
        {
            return self.mapping.stored_bytes(content, is_whole);
        }
        let mut stored = self.mapping.stored(&command.content, index);
        if !is_whole {
            // Mixed with what was there before, it is a copy of nothing.
            stored.identity = None;
        }
        stored
    }

    /// A write is in the buffer.
    #[inline]
    pub(crate) fn forget_contents(&mut self, tag: u32) {
        if let Some(durable) = &mut self.durable {
            durable.contents.remove(&tag);
        }
    }

    /// The cell that holds a unit now.
    fn cell_of(&self, lpn: Lpn) -> u32 {
        let buffered = self.buffer.find(lpn).and_then(|id| self.buffer.stamps(id));
        let words = buffered.or_else(|| self.mapping.stamps_of(lpn));
        words.and_then(|words| words.first()).map_or(NO_CELL, |&word| word as u32)
    }

    /// Sectors of a unit go to the host as those of the command's data that begin with `lba`.
    pub(crate) fn send(&mut self, lpn: Lpn, first: u32, sectors: u64, slot: u32, lba: u64) {
        let cell = self.cell_of(lpn);
        let command = &self.slots[slot as usize].command;
        let (count, tag, offset) = (sectors as u32, command.tag, (lba - command.lba) as u32);
        if let Some(durable) = &mut self.durable {
            durable.effects.list.push(Effect::Send { cell, first, count, tag, offset });
        }
    }

    /// A new entry of the buffer takes sectors of the host, from the command's sector `offset` on; the rest of a partial
    /// one comes from an older entry, or from flash.
    pub(crate) fn fill(
        &mut self,
        id: u32,
        (older, is_partial): (Option<u32>, bool),
        range: (u32, u32),
        (slot, command): (u32, &Command),
        offset: u32,
    ) {
        let lpn = self.buffer.entry(id).lpn;
        let is_torn = self.faults.as_ref().is_some_and(|faults| faults.is_torn(slot));
        let before = if is_partial || is_torn {
            let words = older.and_then(|id| self.buffer.stamps(id)).or_else(|| self.mapping.stamps_of(lpn));
            words.and_then(|words| words.first()).map_or(0, |&word| word)
        } else {
            0
        };
        let base = if is_partial { before } else { 0 };
        self.fill_cell(id, base, range, command.tag, offset);
        if is_torn {
            self.tear(id, before as u32, range, command, offset);
        }
    }

    /// More sectors of the host for a unit that waits in the buffer. What a capacitor keeps is replaced as a whole: a
    /// power cut must not find half of it.
    pub(crate) fn fill_again(
        &mut self,
        id: u32,
        range: (u32, u32),
        (slot, command): (u32, &Command),
        offset: u32,
    ) {
        let word = self.buffer.stamps(id).map_or(0, |words| words[0]);
        let old = word as u32;
        let is_torn = self.faults.as_ref().is_some_and(|faults| faults.is_torn(slot));
        let Some(durable) = &mut self.durable else { return };
        if durable.has_capacitor {
            self.fill_cell(id, word, range, command.tag, offset);
            if let Some(durable) = &mut self.durable {
                durable.cells.give(old);
            }
            return;
        }
        if is_torn && durable.cells.torn.of(old).is_none() {
            self.tear(id, old, range, command, offset);
        } else if let Some(cell) = durable.cells.torn.of(old) {
            let ((first, count), tag) = (range, command.tag);
            durable.effects.list.push(Effect::Fill { cell, base: cell, first, count, tag, offset });
        }
        let ((first, count), tag) = (range, command.tag);
        if let Some(durable) = &mut self.durable {
            durable.effects.list.push(Effect::Fill { cell: old, base: old, first, count, tag, offset });
        }
        if marks_of(word) != 0 {
            let written = self.marks_written(range);
            if let Some(words) = self.buffer.stamps_mut(id) {
                words[0] &= !(u64::from(written) << 32);
            }
        }
    }

    /// A cell for the unit of an entry, over what the word of another one names.
    fn fill_cell(&mut self, id: u32, base: u64, (first, count): (u32, u32), tag: u32, offset: u32) {
        let lpn = self.buffer.entry(id).lpn.0;
        let mut marks = marks_of(base) | self.take_lost_rest();
        if marks != 0 {
            marks &= !self.marks_written((first, count));
        }
        let Some(durable) = &mut self.durable else { return };
        let cell = durable.cells.take();
        durable.effects.list.push(Effect::Fill { cell, base: base as u32, first, count, tag, offset });
        if durable.has_capacitor {
            durable.effects.list.push(Effect::Hold { lpn, cell });
        }
        if let Some(words) = self.buffer.stamps_mut(id) {
            words[0] = u64::from(marks) << 32 | u64::from(cell);
        }
    }

    /// What a power cut leaves of a torn write in this unit: sectors of its first half, the rest as `before`.
    fn tear(&mut self, id: u32, before: u32, (first, count): (u32, u32), command: &Command, offset: u32) {
        let whole = self.buffer.stamps(id).map_or(NO_CELL, |words| words[0] as u32);
        let kept = (command.sector_count / 2).saturating_sub(offset).min(count);
        let Some(durable) = &mut self.durable else { return };
        if kept == count || durable.cells.torn.is_full() {
            return;
        }
        let cell = durable.cells.take();
        let tag = command.tag;
        durable.effects.list.push(Effect::Fill { cell, base: before, first, count: kept, tag, offset });
        durable.cells.torn.add(whole, cell);
    }
}
