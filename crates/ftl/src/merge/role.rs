//! What out-of-band data says of the block that a row lies in, so that a mount finds out what it was for.

use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::{BlockIndex, Lpn, Ppn};

use super::bank::{MERGING, OPEN};
use super::core::MergeCore;

/// Bits of the role in a record's information word; the superblock lies above.
const ROLE_BITS: u32 = 8;

/// What a block was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The replacement of a superblock that takes rows as the host writes them.
    Open(u32),
    /// The replacement of a superblock that a merge fills at once.
    Merging(u32),
    /// A log block.
    Log,
}

impl Role {
    /// The superblock whose rows the block has, each in its place.
    pub fn superblock(self) -> Option<u32> {
        match self {
            Self::Open(superblock) | Self::Merging(superblock) => Some(superblock),
            Self::Log => None,
        }
    }

    fn to_info(self) -> u64 {
        let number = match self {
            Self::Open(_) => 1,
            Self::Merging(_) => 2,
            Self::Log => 3,
        };
        u64::from(self.superblock().unwrap_or(0)) << ROLE_BITS | number
    }

    /// The role that a record tells of.
    pub fn from_info(info: u64) -> Option<Self> {
        let superblock = u32::try_from(info >> ROLE_BITS).ok()?;
        match info & ((1 << ROLE_BITS) - 1) {
            1 => Some(Self::Open(superblock)),
            2 => Some(Self::Merging(superblock)),
            3 => Some(Self::Log),
            _ => None,
        }
    }
}

impl MergeCore {
    /// What a block that was just programmed is.
    fn role_of(&self, block: BlockIndex) -> Role {
        let slots = &self.banks[self.layout.die_of(block).0 as usize].slots;
        match [slots[OPEN], slots[MERGING]].map(|slot| slot.filter(|slot| slot.block == block)) {
            [Some(open), _] => Role::Open(open.superblock),
            [_, Some(merging)] => Role::Merging(merging.superblock),
            _ => Role::Log,
        }
    }

    /// Out-of-band data of the row that was programmed last. Padding too says what the row was for.
    pub(crate) fn page_records(&self, first: Ppn, out: &mut Vec<u64>) {
        let Some(cells) = &self.stamps else { return };
        let info = self.role_of(self.layout.block_of(first)).to_info();
        for place in (first.0..first.0 + self.layout.units_per_page).map(Ppn) {
            let lpn = self.flash.peek(place);
            let cell = if lpn.is_some() { cells.unit(place)[0] as u32 } else { NO_CELL };
            out.extend(Record { lpn: lpn.unwrap_or(Lpn::PADDING), cell, info }.to_words());
        }
    }

    /// Number of a place's page among those of all blocks.
    pub(crate) fn page_number(&self, ppn: Ppn) -> u32 {
        let block = self.layout.block_of(ppn);
        block.0 * self.layout.geometry.pages_per_block + self.layout.page_of(ppn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_survives_its_word() {
        for role in [Role::Open(0), Role::Open(u32::MAX), Role::Merging(7), Role::Log] {
            assert_eq!(Role::from_info(role.to_info()), Some(role));
        }
        assert_eq!(Role::from_info(0), None);
        assert_eq!(Role::from_info(u64::MAX), None);
    }
}
