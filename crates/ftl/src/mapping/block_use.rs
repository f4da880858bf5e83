//! What blocks are used for, to look at.

use std::fmt;

use drivelab_nand::BlockIndex;

use crate::victim::NOT_CLOSED;

/// What a block is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockRole {
    /// Erased, or with nothing on it that counts: the next to be opened.
    Free,
    /// Takes data: of the host, or copies.
    Open,
    /// Holds data.
    Closed,
    /// Its data is being moved elsewhere.
    Emptied,
    /// A log block of a scheme that merges.
    Log,
    /// Belongs to the map, its journal or its checkpoints.
    Metadata,
    /// Has failed.
    Failed,
}

impl BlockRole {
    /// All roles, each at its number.
    pub const ALL: [Self; 7] =
        [Self::Free, Self::Open, Self::Closed, Self::Emptied, Self::Log, Self::Metadata, Self::Failed];
}

impl fmt::Display for BlockRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "free",
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Emptied => "emptied",
            Self::Log => "log",
            Self::Metadata => "metadata",
            Self::Failed => "failed",
        })
    }
}

/// A block, as its scheme's books have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockUse {
    /// What it is used for.
    pub role: BlockRole,
    /// The write stream that an open block takes data of; `None` of other blocks, and of schemes without streams.
    pub stream: Option<u8>,
    /// Bytes on it that hold current data, as they are stored: compressed, where the scheme does.
    pub valid_bytes: u32,
}

/// What all blocks of a scheme are used for, of which nearly all are told by a number: for whoever looks many times a
/// second, and at those whose number has changed.
#[derive(Clone, Debug)]
pub struct SettledUses<'a> {
    /// Of every block its valid units, and whether it is closed (which static ones of the SLC cache never are).
    marks: &'a [u32],
    /// Blocks of which the mark doesn't say everything: they are open, or being emptied.
    pub unsettled: Vec<(BlockIndex, BlockUse)>,
    /// The first so many blocks of each die keep metadata.
    reserved: u32,
    blocks_per_die: u32,
    unit_bytes: u32,
}

impl<'a> SettledUses<'a> {
    pub(crate) fn new(
        marks: &'a [u32],
        unsettled: Vec<(BlockIndex, BlockUse)>,
        (reserved, blocks_per_die): (u32, u32),
        unit_bytes: u32,
    ) -> Self {
        Self { marks, unsettled, reserved, blocks_per_die, unit_bytes }
    }

    /// A number for each block: as long as it stays the same, so does the use of a settled one.
    #[must_use]
    pub fn marks(&self) -> &'a [u32] {
        self.marks
    }

    /// The use of a settled block.
    #[inline]
    #[must_use]
    pub fn of(&self, block: BlockIndex) -> BlockUse {
        let mark = self.marks[block.0 as usize];
        let valid_units = mark & !NOT_CLOSED;
        let role = if block.0 % self.blocks_per_die < self.reserved {
            BlockRole::Metadata
        } else if mark & NOT_CLOSED == 0 || valid_units > 0 {
            BlockRole::Closed
        } else {
            BlockRole::Free
        };
        BlockUse { role, stream: None, valid_bytes: valid_units * self.unit_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_never_closed_is_free_only_without_data() {
        let marks = [3, NOT_CLOSED, NOT_CLOSED | 2];
        let uses = SettledUses::new(&marks, Vec::new(), (0, 3), 4096);
        let roles = [0, 1, 2].map(|block| uses.of(BlockIndex(block)).role);
        assert_eq!(roles, [BlockRole::Closed, BlockRole::Free, BlockRole::Closed]);
    }

    #[test]
    fn every_role_has_its_number_and_a_word_of_its_own() {
        for (number, role) in BlockRole::ALL.into_iter().enumerate() {
            assert_eq!(role as usize, number);
        }
        let words: std::collections::BTreeSet<_> = BlockRole::ALL.iter().map(BlockRole::to_string).collect();
        assert_eq!(words.len(), BlockRole::ALL.len());
    }
}
