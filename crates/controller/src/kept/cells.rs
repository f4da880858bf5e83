//! Which payload cells are in use.

use drivelab_nand::op::NO_CELL;
use serde::{Deserialize, Serialize};

use crate::kept::faults::TornCells;

/// Numbers of payload cells.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cells {
    free: Vec<u32>,
    /// Cells up to this one have been used.
    last: u32,
    /// Cells that hold half a write.
    pub(crate) torn: TornCells,
    /// What is on its way to flash: so many programs of each cell, and whether it is free after them.
    pins: Vec<Pins>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Pins {
    programs: u16,
    is_free: bool,
}

impl Cells {
    /// Cells in use are those that `used` marks; index 0 is no cell.
    #[must_use]
    pub fn restore(used: &[bool]) -> Self {
        let last = used.iter().rposition(|&used| used).unwrap_or(0);
        let free = (1..last).rev().filter(|&cell| !used[cell]).map(|cell| cell as u32).collect();
        Self { free, last: last as u32, torn: TornCells::default(), pins: Vec::new() }
    }

    /// Cells above this one are free, all up to it in use.
    #[must_use]
    pub fn above(last: u32) -> Self {
        Self { free: Vec::new(), last, torn: TornCells::default(), pins: Vec::new() }
    }

    /// A free cell, now in use.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.last += 1;
            self.last
        })
    }

    /// A cell is free again, or will be when it is pinned no more.
    #[inline]
    pub fn give(&mut self, cell: u32) {
        if cell == NO_CELL {
            return;
        }
        match self.pins.get_mut(cell as usize) {
            Some(pins) if pins.programs > 0 => pins.is_free = true,
            _ => self.put(cell),
        }
    }

    fn put(&mut self, cell: u32) {
        if !self.torn.is_empty() {
            self.free.extend(self.torn.remove(cell));
        }
        self.free.push(cell);
    }

    /// A program takes a cell to flash: nothing else comes into it meanwhile.
    #[inline]
    pub fn pin(&mut self, cell: u32) {
        if self.pins.len() <= cell as usize {
            self.pins.resize(cell as usize + 1, Pins::default());
        }
        self.pins[cell as usize].programs += 1;
    }

    /// That program has ended.
    #[inline]
    pub fn unpin(&mut self, cell: u32) {
        let pins = &mut self.pins[cell as usize];
        pins.programs -= 1;
        if pins.programs == 0 && std::mem::take(&mut pins.is_free) {
            self.put(cell);
        }
    }
}
