//! Content kept for oracles: a 64-bit stamp per sector, moved wherever the FTL moves the sector.

use drivelab_nand::{Ppn, UnitLayout};

/// Stamps of every place in flash. 0 is what a sector of zeros holds.
#[derive(Clone, Debug)]
pub struct Stamps {
    sectors: Vec<u64>,
    sectors_per_unit: usize,
}

impl Stamps {
    /// Room for the stamps of a whole array: meant for small ones (8 bytes a sector).
    #[must_use]
    pub fn new(layout: &UnitLayout) -> Self {
        let sectors_per_unit = layout.sectors_per_unit as usize;
        Self { sectors: vec![0; layout.unit_count() as usize * sectors_per_unit], sectors_per_unit }
    }

    /// Stamps of one place.
    #[must_use]
    pub fn unit(&self, ppn: Ppn) -> &[u64] {
        let first = ppn.0 as usize * self.sectors_per_unit;
        &self.sectors[first..first + self.sectors_per_unit]
    }

    /// Stores the stamps of one place.
    pub fn store(&mut self, ppn: Ppn, stamps: &[u64]) {
        let first = ppn.0 as usize * self.sectors_per_unit;
        self.sectors[first..first + self.sectors_per_unit].copy_from_slice(stamps);
    }

    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn) {
        let first = from.0 as usize * self.sectors_per_unit;
        self.sectors.copy_within(first..first + self.sectors_per_unit, to.0 as usize * self.sectors_per_unit);
    }

    pub(crate) fn clear(&mut self) {
        self.sectors.fill(0);
    }
}
