//! A disk in durable mode between its commands: what is taken over, put away, found again.

use drivelab_controller::{Cells, Completion, Effect, Effects, FlashShape, HostSide, SECTOR_BYTES};

use super::HardDisk;
use super::durable::{Durable, platter};

impl HardDisk {
    /// Why its bytes can't be kept, if they can't.
    #[must_use]
    pub fn forgets(&self) -> Option<&'static str> {
        (self.config.capacity_sectors >= u64::from(u32::MAX) / 2).then_some("it has 2^31 sectors or more")
    }

    /// Effects are recorded from now on. Call it on a new disk.
    ///
    /// # Errors
    /// A disk of more sectors than there are numbers for.
    pub fn record_effects(&mut self) -> Result<(), &'static str> {
        if let Some(reason) = self.forgets() {
            return Err(reason);
        }
        let last = self.config.capacity_sectors as u32;
        self.durable = Some(Box::new(Durable { effects: Effects::default(), cells: Cells::above(last) }));
        Ok(())
    }

    /// The effects since they were last taken; `out` is cleared first, and its memory used again.
    pub fn take_effects(&mut self, out: &mut Effects) {
        out.clear();
        if let Some(durable) = &mut self.durable {
            std::mem::swap(&mut durable.effects, out);
        }
    }

    /// Goes to rest: everything is on the platter. Gives completions not heard of.
    pub fn standby(&mut self) -> Vec<Completion> {
        let mut done = self.finish_all();
        while !self.write_cache.extents().is_empty()
            && let Some(next) = self.next_turn()
        {
            self.turn(next, &mut done);
        }
        done
    }

    /// How the disk's bytes are kept: no flash, only cells.
    #[must_use]
    pub fn flash_shape(&self) -> FlashShape {
        let cached = self.config.write_cache.size_bytes / SECTOR_BYTES;
        FlashShape {
            blocks: 0,
            pages_per_block: 1,
            pages_per_unit: 1,
            records_per_block: 0,
            user_units: 0,
            cell_bytes: SECTOR_BYTES as u32,
            cells: u32::try_from(self.config.capacity_sectors + 4 * cached).unwrap_or(u32::MAX),
            held_units: 0,
            log_records: 0,
        }
    }

    /// Sectors of a read go to the host: what waits in the write cache is newer than the platter.
    pub(super) fn send_cells(&mut self, slot: u32, offset: u32, sectors: u32) {
        if self.durable.is_none() {
            return;
        }
        let command = self.slots[slot as usize].command;
        let lba = command.lba + u64::from(offset);
        let mut cells: Vec<u64> = (lba..).take(sectors as usize).map(|lba| u64::from(platter(lba))).collect();
        self.write_cache.overlay(lba, &mut cells);
        let Some(durable) = &mut self.durable else { return };
        for (offset, cell) in (offset..).zip(cells) {
            let send = Effect::Send { cell: cell as u32, first: 0, count: 1, tag: command.tag, offset };
            durable.effects.list.push(send);
        }
    }
}
