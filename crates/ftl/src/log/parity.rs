//! Parity over dies (RAISE): a stripe is the same page of a block on every die, and one page of it is parity, which
//! rotates over the dies. So one program in `dies` is parity, write amplification grows by 1 / (dies - 1), and
//! 1 / dies of the raw capacity is lost.

use drivelab_nand::DieIndex;

/// Which pages are parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parity {
    /// Pages of a stripe; 0: no parity.
    stripe: u32,
}

impl Parity {
    /// Parity over `dies` dies, or none.
    pub fn new(enabled: bool, dies: u32) -> Self {
        Self { stripe: if enabled { dies } else { 0 } }
    }

    /// Whether a page of a block of this die is parity.
    #[inline]
    pub fn is_parity(self, die: DieIndex, page: u32) -> bool {
        self.stripe > 0 && page % self.stripe == die.0 % self.stripe
    }

    /// Pages of a block of this die that hold data.
    pub fn data_pages(self, die: DieIndex, pages_per_block: u32) -> u32 {
        if self.stripe == 0 {
            return pages_per_block;
        }
        let before = die.0 % self.stripe;
        let parity =
            if before >= pages_per_block { 0 } else { (pages_per_block - before).div_ceil(self.stripe) };
        pages_per_block - parity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stripe_has_one_parity_page() {
        for dies in [2, 3, 24, 32] {
            let parity = Parity::new(true, dies);
            for page in 0..100 {
                let count = (0..dies).filter(|&die| parity.is_parity(DieIndex(die), page)).count();
                assert_eq!(count, 1, "{dies} dies, page {page}");
            }
            for die in (0..dies).map(DieIndex) {
                let data = (0..100).filter(|&page| !parity.is_parity(die, page)).count() as u32;
                assert_eq!(parity.data_pages(die, 100), data);
            }
        }
        assert_eq!(Parity::new(false, 4).data_pages(DieIndex(0), 64), 64);
        assert!(!Parity::new(false, 4).is_parity(DieIndex(0), 0));
    }
}
