//! Power off and on: the checkpoint of a clean shutdown, and a new drive becoming what its flash holds.

use drivelab_ftl::Content;
use drivelab_ftl::recovery::recover;
use drivelab_nand::op::{FlashOp, NO_CELL, Record};
use drivelab_nand::view::{BlockState, MediumView};
use drivelab_nand::{BlockIndex, Lpn};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use crate::buffer::NONE;
use crate::command::{Completion, SECTOR_BYTES};
use crate::drive::{Scheduled, SolidStateDrive};
use crate::host::queue::HostSide;
use crate::kept::cells::Cells;
use crate::kept::durable::{Durable, TRIMMED_CELLS};
use crate::kept::effects::{Effect, Effects};
use crate::kept::shape::FlashShape;

/// Bytes of an entry in a checkpoint.
const CHECKPOINT_ENTRY_BYTES: u32 = 4;

/// What a mount did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountReport {
    /// How long it took the drive: reading the checkpoint and out-of-band data, all dies side by side.
    pub duration_ns: Nanos,
    /// Pages whose out-of-band data was read.
    pub pages_read: u64,
    /// Blocks that the checkpoint covered.
    pub blocks_skipped: u32,
    /// Whether there was a checkpoint.
    pub had_checkpoint: bool,
    /// Records in the log of the map.
    pub log_records: u64,
    /// Erases that the power cut had interrupted, done again.
    pub torn_erases: u32,
    /// Blocks erased because they held nothing current.
    pub unused_blocks: u32,
    /// Pages programmed to do merges again that the power cut had broken off.
    pub moved_pages: u64,
    /// Units that the capacitor had kept.
    pub held_units: u64,
}

impl MountReport {
    /// Adds what another drive did at the same time.
    pub fn join(&mut self, other: &Self) {
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        self.pages_read += other.pages_read;
        self.blocks_skipped += other.blocks_skipped;
        self.had_checkpoint |= other.had_checkpoint;
        self.log_records += other.log_records;
        self.torn_erases += other.torn_erases;
        self.unused_blocks += other.unused_blocks;
        self.moved_pages += other.moved_pages;
        self.held_units += other.held_units;
    }
}

impl<M: Scheduled> SolidStateDrive<M> {
    /// How the drive's flash is laid out.
    #[must_use]
    pub fn flash_shape(&self) -> FlashShape {
        let units = self.mapping.user_units();
        // Grouped units take space for the sectors that the host has written only, and none in page registers.
        let buffered = if self.buffer.clusters().is_some() {
            let registers = self.layout.geometry.die_count().saturating_mul(self.layout.units_per_page);
            self.config.buffer.units.saturating_mul(self.sectors_per_unit).saturating_add(registers)
        } else {
            self.config.buffer.units
        };
        FlashShape {
            blocks: self.layout.block_count(),
            pages_per_block: self.layout.geometry.pages_per_block,
            pages_per_unit: self.layout.pages_per_unit,
            records_per_block: self.mapping.records_per_block(),
            user_units: units,
            cell_bytes: self.sectors_per_unit * SECTOR_BYTES as u32,
            // A trimmed unit may be written again before the trim is in the log, and trimmed again.
            cells: units
                .saturating_mul(2)
                .saturating_add(buffered.saturating_add(TRIMMED_CELLS as u32).saturating_mul(4)),
            held_units: if self.config.buffer.capacitor { buffered.saturating_mul(2).min(units) } else { 0 },
            log_records: self.mapping.log_records(),
        }
    }

    /// Why the drive forgets its data with its power, if it does.
    #[must_use]
    pub fn forgets(&self) -> Option<&'static str> {
        self.mapping.forgets()
    }

    /// Durable mode from now on: effects are recorded, and flash operations wait for one another so that a power cut
    /// loses nothing that was promised. Call it on a new drive. The log of the map has room for `log_records`.
    ///
    /// # Errors
    /// Why the drive forgets its data with its power.
    pub fn record_effects(&mut self, log_records: u32) -> Result<(), &'static str> {
        if let Some(reason) = self.forgets() {
            return Err(reason);
        }
        self.mapping.keep_cells();
        self.buffer.keep_words(1);
        let geometry = self.layout.geometry;
        let capacitor = self.config.buffer.capacitor;
        let mut durable =
            Durable::new(geometry.die_count(), self.layout.block_count(), capacitor, log_records);
        durable.has_passes = self.flash.has_passes();
        self.durable = Some(Box::new(durable));
        // What is to be in flash before something else begins is so by a time that is known when it begins.
        self.flash.suspend_none();
        Ok(())
    }

    /// The effects since they were last taken; `out` is cleared first, and its memory used again.
    pub fn take_effects(&mut self, out: &mut Effects) {
        out.clear();
        if let Some(durable) = &mut self.durable {
            std::mem::swap(&mut durable.effects, out);
        }
    }

    /// Whether the log of the map is so full that a checkpoint must be written ([`Self::standby`]).
    #[inline]
    #[must_use]
    pub fn wants_checkpoint(&self) -> bool {
        self.durable.as_ref().is_some_and(|durable| durable.wants_checkpoint())
    }

    /// Pages programmed for the log of the map and for checkpoints, in durable mode.
    #[must_use]
    pub fn log_pages(&self) -> u64 {
        self.durable.as_ref().map_or(0, |durable| durable.log_pages)
    }

    /// Whether a range of sectors, which lies in the drive, holds anything: where not, it reads as zeros. Gives that
    /// and how many sectors from the first on it is true of.
    #[must_use]
    pub fn allocation(&self, lba: u64, sector_count: u64) -> (bool, u64) {
        let holds =
            |unit: u32| self.buffer.find(Lpn(unit)).is_some() || self.mapping.stamps_of(Lpn(unit)).is_some();
        let (unit, sector) = self.unit_of(lba);
        let first = holds(unit);
        let per_unit = u64::from(self.sectors_per_unit);
        let mut sectors = per_unit - u64::from(sector);
        let mut next = unit + 1;
        while sectors < sector_count && holds(next) == first {
            sectors += per_unit;
            next += 1;
        }
        (first, sectors.min(sector_count))
    }

    /// Goes to rest: finishes all commands, empties the buffer, and writes a checkpoint of the map, as after STANDBY
    /// IMMEDIATE (REFERENCES.md, \[ACS\]). Gives completions not heard of. Only in durable mode.
    pub fn standby(&mut self) -> Vec<Completion> {
        let mut done = self.finish_all();
        self.empty_buffer(&mut done);
        if let Some(durable) = &mut self.durable {
            durable.is_halted = true;
        }
        if self.flash.has_passes() {
            // What has had its coarse pass only gets the fine one.
            let now = self.now_ns;
            M::resume(self, now);
        }
        while self.durable.as_ref().is_some_and(|durable| !durable.is_quiet())
            && let Some(next) = self.next_turn()
        {
            self.turn(next, &mut done);
        }
        if let Some(durable) = &mut self.durable {
            durable.mend_torn();
        }
        self.write_checkpoint();
        if let Some(durable) = &mut self.durable {
            durable.is_halted = false;
        }
        let now = self.now_ns;
        M::resume(self, now);
        done
    }

    /// Goes on until the buffer is empty, or no die takes anything of it though all were called.
    fn empty_buffer(&mut self, done: &mut Vec<Completion>) {
        loop {
            while !self.buffer.is_empty()
                && let Some(next) = self.next_turn()
            {
                self.turn(next, done);
            }
            if self.buffer.queued() == 0 {
                return;
            }
            let now = self.now_ns;
            self.drain_again(now);
            if self.next_turn().is_none() {
                return;
            }
        }
    }

    /// Whether dies get no new work.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.durable.as_ref().is_some_and(|durable| durable.is_halted)
    }

    fn write_checkpoint(&mut self) {
        let page_bytes = self.layout.geometry.program_bytes();
        let entries = page_bytes / CHECKPOINT_ENTRY_BYTES;
        let units = self.mapping.user_units();
        let Some(durable) = &mut self.durable else { return };
        durable.whole(FlashOp::CheckpointBegin, &[]);
        let mut words = Vec::with_capacity(entries as usize);
        let mut pages = 0u64;
        for first_lpn in (0..units).step_by(entries as usize) {
            words.clear();
            let page = first_lpn..first_lpn.saturating_add(entries).min(units);
            words.extend(page.map(|lpn| u64::from(self.mapping.checkpoint_entry(Lpn(lpn)))));
            durable.whole(FlashOp::Checkpoint { first_lpn }, &words);
            pages += 1;
        }
        words.clear();
        self.mapping.checkpoint_records(&mut words);
        for page in words.chunks(page_bytes as usize / size_of::<u64>() / Record::WORDS * Record::WORDS) {
            durable.whole(FlashOp::CheckpointLog, page);
            pages += 1;
        }
        let sequence = self.mapping.flash().next_sequence() - 1;
        durable.whole(FlashOp::CheckpointEnd { sequence }, &[]);
        durable.checkpointed((words.len() / Record::WORDS) as u64);
        durable.log_pages += pages + 1;
        let duration_ns = self.flash.program_own(pages + 1);
        self.skip_to(self.now_ns + duration_ns);
    }

    /// The drive was busy with itself until then.
    fn skip_to(&mut self, now_ns: Nanos) {
        self.now_ns = now_ns;
        self.queue_mut().restart(now_ns);
        self.link.hold_until(now_ns);
        self.stop_withholding(now_ns);
        for alarm in [&mut self.idle_alarm_ns, &mut self.hold_alarm_ns] {
            if *alarm != NEVER {
                *alarm = now_ns.max(*alarm);
            }
        }
    }

    /// A new drive becomes what its flash holds, in durable mode.
    ///
    /// # Errors
    /// Flash that can't be this drive's, in words; or why the drive forgets its data with its power.
    pub fn mount(&mut self, medium: &dyn MediumView, log_records: u32) -> Result<MountReport, String> {
        self.record_effects(log_records)?;
        let geometry = self.layout.geometry;
        let units = self.mapping.user_units();
        let recovered = recover(medium, units, geometry.pages_per_block)?;
        self.mapping.mount(&recovered)?;
        let cells = self.flash_shape().cells;
        let torn = |&block: &BlockIndex| medium.block(block).state == BlockState::TornErase;
        let torn: Vec<BlockIndex> = (0..medium.block_count()).map(BlockIndex).filter(torn).collect();
        let mut held = Vec::new();
        medium.held(&mut held);
        self.restore_cells(&held, cells)?;
        let Some(durable) = &mut self.durable else { return Ok(MountReport::default()) };
        let unused = self.mapping.erased_by_mount();
        for &block in torn.iter().chain(unused) {
            durable.whole(FlashOp::Erase { block }, &[]);
        }
        let erases = torn.len() + unused.len();
        durable.logged = recovered.log.len() as u64;
        let had_checkpoint = medium.checkpoint_sequence().is_some();
        let checkpoint_pages = if had_checkpoint {
            u64::from(units).div_ceil(u64::from(geometry.program_bytes() / CHECKPOINT_ENTRY_BYTES))
        } else {
            0
        };
        // Of a block that the checkpoint covers only the last page is looked at.
        let pages = recovered.pages_read + u64::from(recovered.blocks_skipped) + checkpoint_pages;
        let duration_ns = self.flash.mount_ns(pages, erases as u64);
        let programs = self.mapping.flash().program_count();
        let duration_ns = M::recover(self, duration_ns);
        self.skip_to(duration_ns);
        self.hold_again(&held);
        self.note_idle(duration_ns);
        self.mount_faults();
        Ok(MountReport {
            duration_ns,
            pages_read: recovered.pages_read,
            blocks_skipped: recovered.blocks_skipped,
            had_checkpoint,
            log_records: recovered.log.len() as u64,
            torn_erases: torn.len() as u32,
            unused_blocks: (erases - torn.len()) as u32,
            moved_pages: self.mapping.flash().program_count() - programs,
            held_units: held.len() as u64,
        })
    }

    /// Units that hold something, each with its payload cell. In durable mode.
    pub fn live_cells(&self) -> impl Iterator<Item = (Lpn, u32)> {
        let cell = |words: Option<&[u64]>| words.and_then(|words| words.first()).map(|&word| word as u32);
        (0..self.mapping.user_units()).map(Lpn).flat_map(move |lpn| {
            let buffered = self.buffer.find(lpn).and_then(|id| self.buffer.stamps(id));
            let cells = [cell(self.mapping.stamps_of(lpn)), cell(buffered)];
            cells.into_iter().flatten().map(move |cell| (lpn, cell))
        })
    }

    /// Units in the write buffer, each with the payload cell of its newest version whose data is complete
    /// ([`NO_CELL`]: none is) and of its newest version. With a buffer that writes back the host has its answer for the
    /// first. In durable mode.
    #[must_use]
    pub fn buffered_cells(&self) -> Vec<(Lpn, u32, u32)> {
        let mut versions: Vec<_> = self.buffer.used_entries().collect();
        versions.sort_unstable_by_key(|(_, entry)| (entry.lpn.0, entry.order));
        let mut found: Vec<(Lpn, u32, u32)> = Vec::new();
        for (id, entry) in versions {
            let Some(&word) = self.buffer.stamps(id).and_then(|words| words.first()) else { continue };
            let (cell, is_complete) = (word as u32, entry.ready_ns <= self.now_ns);
            if found.last().is_none_or(|&(lpn, ..)| lpn != entry.lpn) {
                found.push((entry.lpn, NO_CELL, cell));
            }
            if let Some((_, complete, newest)) = found.last_mut() {
                *newest = cell;
                if is_complete {
                    *complete = cell;
                }
            }
        }
        found
    }

    /// Whether this payload cell is what a unit holds, in flash or in the write buffer. In durable mode.
    #[must_use]
    pub fn holds_cell(&self, lpn: Lpn, cell: u32) -> bool {
        let is_it = |words: Option<&[u64]>| words.and_then(|words| words.first()) == Some(&u64::from(cell));
        is_it(self.mapping.stamps_of(lpn))
            || self.buffer.find(lpn).is_some_and(|id| is_it(self.buffer.stamps(id)))
    }

    /// Cells that nothing current refers to are free.
    fn restore_cells(&mut self, held: &[(u32, u32)], cells: u32) -> Result<(), String> {
        let mut used = vec![true];
        for (lpn, cell) in self.live_cells().chain(held.iter().map(|&(lpn, cell)| (Lpn(lpn), cell))) {
            if cell > cells {
                return Err(format!("unit {} is in cell {cell}, but there are {cells}", lpn.0));
            }
            if cell as usize >= used.len() {
                used.resize(cell as usize + 1, false);
            }
            used[cell as usize] = true;
        }
        if let Some(durable) = &mut self.durable {
            durable.cells = Cells::restore(&used);
        }
        Ok(())
    }

    /// What the capacitor kept goes into the buffer again, unless it has reached flash.
    fn hold_again(&mut self, held: &[(u32, u32)]) {
        let now = self.now_ns;
        for &(lpn, cell) in held {
            if self.mapping.stamps_of(Lpn(lpn)).is_some_and(|words| words[0] == u64::from(cell)) {
                // It was in flash already, and only the capacitor had not heard of it.
                if let Some(durable) = &mut self.durable {
                    durable.effects.list.push(Effect::Unhold { lpn, cell });
                }
                continue;
            }
            let stored = self.mapping.stored(&Content::RANDOM, 0);
            let id = self.buffer.insert(Lpn(lpn), now, now, NONE, stored, u64::MAX);
            if let Some(words) = self.buffer.stamps_mut(id) {
                words[0] = u64::from(cell);
            }
        }
        if !held.is_empty() {
            M::drain(self, now);
        }
    }
}
