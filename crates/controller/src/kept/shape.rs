//! What a medium must have room for, so that a drive can be kept on it.

use drivelab_nand::MediumShape;
use serde::{Deserialize, Serialize};

/// What must be known to lay out a drive's flash on a medium, and the contents of its cells beside that. An image's
/// manifest has it with these names, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashShape {
    /// Erase blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Pages that one unit takes, if units are larger than pages; otherwise 1.
    pub pages_per_unit: u32,
    /// Most records on the pages of a block.
    pub records_per_block: u32,
    /// Map units that the host can address.
    pub user_units: u32,
    /// Records that the log should have room for.
    pub log_records: u32,
    /// Units that a capacitor may have to keep.
    pub held_units: u32,
    /// Bytes of a map unit, and so of a payload cell.
    pub cell_bytes: u32,
    /// Most cells in use at once: all units, those in the buffer, and old versions that something waits for.
    pub cells: u32,
}

impl FlashShape {
    /// The medium that it is laid out on.
    #[must_use]
    pub fn medium(&self) -> MediumShape {
        MediumShape {
            blocks: self.blocks,
            pages_per_block: self.pages_per_block,
            pages_per_unit: self.pages_per_unit,
            records_per_block: self.records_per_block,
            user_units: self.user_units,
            log_records: self.log_records,
            held_units: self.held_units,
        }
    }

    /// Bytes of all cells.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        u64::from(self.cells) * u64::from(self.cell_bytes)
    }
}
