//! The logical drive cut into superblocks: which rows of which superblock a map unit belongs to
//! (REFERENCES.md, \[SBLK\]).
//!
//! Flash is ganged: all channels of a bank work in lockstep, so a bank is one die of wide pages. A *row* is one such
//! page, a *superblock* one of its blocks. Consecutive rows go round `interleave` banks, so that sequential data keeps
//! that many banks busy; a superblock is what of a stripe lies on one bank.

use drivelab_nand::{DieIndex, GeometryError, Lpn, UnitLayout};
use serde::{Deserialize, Serialize};

/// Where a map unit belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// Logical superblock.
    pub superblock: u32,
    /// Row of the superblock.
    pub row: u32,
    /// Unit of the row.
    pub offset: u32,
}

/// The cut.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Superblocks {
    /// Units of a row.
    pub units_per_row: u32,
    /// Rows of a superblock.
    pub row_count: u32,
    /// Logical superblocks.
    pub count: u32,
    /// Map units that the host can address.
    pub user_units: u32,
    interleave: u32,
    bank_count: u32,
}

impl Superblocks {
    /// Cuts `user_units` into superblocks of the array's blocks.
    ///
    /// # Errors
    /// Units larger than a row, or an interleave that does not divide the banks.
    pub fn new(layout: &UnitLayout, user_units: u32, interleave: u32) -> Result<Self, GeometryError> {
        let bank_count = layout.geometry.die_count();
        if layout.pages_per_unit != 1 {
            let allowed = format!("must fit in a row of {} bytes", layout.geometry.program_bytes());
            return Err(GeometryError::new("ftl.map_unit_bytes", layout.unit_bytes, allowed));
        }
        if interleave == 0 || !bank_count.is_multiple_of(interleave) {
            let allowed = format!("must divide the {bank_count} banks");
            return Err(GeometryError::new("ftl.interleaved_banks", interleave, allowed));
        }
        let row_count = layout.geometry.pages_per_block;
        let stripe_units = u64::from(layout.units_per_block) * u64::from(interleave);
        let stripes = u64::from(user_units).div_ceil(stripe_units) as u32;
        Ok(Self {
            units_per_row: layout.units_per_page,
            row_count,
            count: stripes * interleave,
            user_units,
            interleave,
            bank_count,
        })
    }

    /// Where a unit belongs.
    #[inline]
    #[must_use]
    pub fn locate(&self, lpn: Lpn) -> RowPlace {
        let (global_row, offset) = (lpn.0 / self.units_per_row, lpn.0 % self.units_per_row);
        let (stripe_row, lane) = (global_row / self.interleave, global_row % self.interleave);
        let (stripe, row) = (stripe_row / self.row_count, stripe_row % self.row_count);
        RowPlace { superblock: stripe * self.interleave + lane, row, offset }
    }

    /// First unit of a row. May lie beyond the user capacity.
    #[inline]
    #[must_use]
    pub fn first_lpn(&self, superblock: u32, row: u32) -> Lpn {
        let (stripe, lane) = (superblock / self.interleave, superblock % self.interleave);
        Lpn(((stripe * self.row_count + row) * self.interleave + lane) * self.units_per_row)
    }

    /// The bank that holds a superblock.
    #[inline]
    #[must_use]
    pub fn bank_of(&self, superblock: u32) -> DieIndex {
        DieIndex(superblock % self.bank_count)
    }

    /// Most superblocks that one bank holds.
    #[must_use]
    pub fn most_per_bank(&self) -> u32 {
        self.count.div_ceil(self.bank_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_nand::Geometry;

    #[test]
    fn every_unit_has_one_place_and_neighbouring_rows_lie_on_different_banks() {
        let geometry = Geometry {
            channel_count: 1,
            dies_per_channel: 4,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 5,
            page_bytes: 16384,
            oob_bytes: 0,
            two_plane: false,
        };
        let layout = UnitLayout::new(geometry, 4096).unwrap();
        for interleave in [1, 2, 4] {
            let cut = Superblocks::new(&layout, 400, interleave).unwrap();
            for unit in 0..400 {
                let place = cut.locate(Lpn(unit));
                assert!(place.superblock < cut.count && place.row < 5 && place.offset < 4);
                assert_eq!(cut.first_lpn(place.superblock, place.row).0 + place.offset, unit);
            }
            let banks: std::collections::BTreeSet<u32> =
                (0..interleave * 4).map(|unit| cut.bank_of(cut.locate(Lpn(unit)).superblock).0).collect();
            assert_eq!(banks.len() as u32, interleave);
        }
        let error = Superblocks::new(&layout, 400, 3).unwrap_err();
        assert_eq!(error.to_string(), "ftl.interleaved_banks = 3: must divide the 4 banks");
    }
}
