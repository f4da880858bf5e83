//! Which payload cells are in use.

use drivelab_nand::op::NO_CELL;

use crate::faults::TornCells;

/// Numbers of payload cells.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    free: Vec<u32>,
    /// Cells up to this one have been used.
    last: u32,
    /// Cells that hold half a write.
    pub(crate) torn: TornCells,
}

impl Cells {
    /// Cells in use are those that `used` marks; index 0 is no cell.
    #[must_use]
    pub fn restore(used: &[bool]) -> Self {
        let last = used.iter().rposition(|&used| used).unwrap_or(0);
        let free = (1..last).rev().filter(|&cell| !used[cell]).map(|cell| cell as u32).collect();
        Self { free, last: last as u32, torn: TornCells::default() }
    }

    /// Cells above this one are free, all up to it in use.
    #[must_use]
    pub fn above(last: u32) -> Self {
        Self { free: Vec::new(), last, torn: TornCells::default() }
    }

    /// A free cell, now in use.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.last += 1;
            self.last
        })
    }

    /// A cell is free again.
    #[inline]
    pub fn give(&mut self, cell: u32) {
        if cell != NO_CELL {
            if !self.torn.is_empty() {
                self.free.extend(self.torn.remove(cell));
            }
            self.free.push(cell);
        }
    }
}
