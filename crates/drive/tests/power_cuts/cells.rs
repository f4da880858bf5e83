//! Payload cells, with a stamp for every sector in place of bytes.

use drivelab_nand::op::NO_CELL;

/// What a sector holds of which the power failed before it was in flash.
pub const TORN: u64 = u64::MAX;
/// What a sector of a cell holds that nobody should want any more.
pub const FREED: u64 = u64::MAX - 1;

/// The cells of one medium.
#[derive(Debug)]
pub struct Cells {
    most: u32,
    pub sectors: usize,
    /// What a cell holds that was never filled: zeros on a platter, what nobody should read elsewhere.
    blank: u64,
    /// Stamps of all cells.
    stamps: Vec<u64>,
    /// Cells whose content is in no page and kept by no capacitor.
    volatile: Vec<bool>,
}

impl Clone for Cells {
    fn clone(&self) -> Self {
        Self { stamps: self.stamps.clone(), volatile: self.volatile.clone(), ..*self }
    }

    /// Without new memory.
    fn clone_from(&mut self, other: &Self) {
        self.most = other.most;
        self.sectors = other.sectors;
        self.blank = other.blank;
        self.stamps.clone_from(&other.stamps);
        self.volatile.clone_from(&other.volatile);
    }
}

impl Cells {
    pub fn new(most: u32, sectors: u32, is_platter: bool) -> Self {
        let blank = if is_platter { 0 } else { FREED };
        Self { most, sectors: sectors as usize, blank, stamps: Vec::new(), volatile: Vec::new() }
    }

    /// Stamps of a cell; there is room for it from now on.
    fn of(&mut self, cell: u32) -> &mut [u64] {
        let first = cell as usize * self.sectors;
        if self.stamps.len() < first + self.sectors {
            self.stamps.resize(first + self.sectors, self.blank);
            self.volatile.resize(cell as usize + 1, false);
        }
        &mut self.stamps[first..first + self.sectors]
    }

    /// Stamp of a cell's sector; zero of no cell.
    pub fn stamp(&self, cell: u32, sector: u32) -> u64 {
        if cell == NO_CELL {
            return 0;
        }
        self.stamps.get(cell as usize * self.sectors + sector as usize).copied().unwrap_or(self.blank)
    }

    /// The host's data comes into a cell, over what another one holds.
    pub fn fill(
        &mut self,
        cell: u32,
        base: u32,
        first: u32,
        stamps: impl Iterator<Item = u64>,
    ) -> Result<(), String> {
        if cell == NO_CELL || cell > self.most {
            return Err(format!("cell {cell} is filled, but there are {}", self.most));
        }
        self.of(cell);
        if base != cell {
            for sector in 0..self.sectors {
                self.of(cell)[sector] = self.stamp(base, sector as u32);
            }
        }
        self.of(cell)[first as usize..].iter_mut().zip(stamps).for_each(|(place, stamp)| *place = stamp);
        self.volatile[cell as usize] = true;
        Ok(())
    }

    /// What a cell holds is in flash now, or kept by a capacitor.
    pub fn keep(&mut self, cell: u32) {
        if let Some(place) = self.volatile.get_mut(cell as usize) {
            *place = false;
        }
    }

    /// A disk has written a cell's sector to another one, which is on the platter.
    pub fn copy(&mut self, from: u32, to: u32) -> Result<(), String> {
        if from.max(to) > self.most || from.min(to) == NO_CELL {
            return Err(format!("cell {from} is copied to {to}, but there are {}", self.most));
        }
        self.of(to)[0] = self.stamp(from, 0);
        self.volatile[to as usize] = false;
        Ok(())
    }

    /// A cell's bytes are gone.
    pub fn free(&mut self, cell: u32) {
        self.of(cell).fill(FREED);
        self.volatile[cell as usize] = false;
    }

    pub fn free_all(&mut self) {
        self.stamps.fill(self.blank);
        self.volatile.fill(false);
    }

    /// What was in memory alone is worth nothing when the power comes back.
    pub fn lose_memory(&mut self) {
        for cell in 0..self.volatile.len() {
            if std::mem::take(&mut self.volatile[cell]) {
                self.of(cell as u32).fill(TORN);
            }
        }
    }
}
