//! Parity over dies (RAISE): a stripe is the same page of a block on every die, and one page of it is parity, which
//! rotates over the dies. So one program in `dies` is parity, write amplification grows by 1 / (dies - 1), and
//! 1 / dies of the raw capacity is lost.

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

/// Which pages are parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parity {
    /// Pages of a stripe; 0: no parity.
    stripe: u32,
    /// Pages at the beginning of a stripe that never are.
    first: u32,
}

impl Parity {
    /// Parity over `dies` dies, or none.
    pub fn new(enabled: bool, dies: u32) -> Self {
        Self { stripe: if enabled { dies } else { 0 }, first: 0 }
    }

    /// One page in so many, however many dies there are; 0: none. A block never begins with parity.
    pub fn striped(pages: u32) -> Self {
        Self { stripe: pages, first: 1 }
    }

    /// Which page of a stripe is parity on this die.
    fn place(self, die: DieIndex) -> u32 {
        self.first + die.0 % (self.stripe - self.first)
    }

    /// Whether a page of a block of this die is parity.
    #[inline]
    pub fn is_parity(self, die: DieIndex, page: u32) -> bool {
        self.stripe > 0 && page % self.stripe == self.place(die)
    }

    /// Pages of a block of this die that hold data.
    pub fn data_pages(self, die: DieIndex, pages_per_block: u32) -> u32 {
        if self.stripe == 0 {
            return pages_per_block;
        }
        let before = self.place(die);
        let parity =
            if before >= pages_per_block { 0 } else { (pages_per_block - before).div_ceil(self.stripe) };
        pages_per_block - parity
    }
}

/// Parity of a log whose pages know nothing of it: what dies owe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OwedParity {
    pub(super) rule: Parity,
    /// Of each die the streams whose next page is parity, a bit for each.
    pub(super) due: Vec<u32>,
}

impl OwedParity {
    /// `None`: pages of a stripe are 0, and none is parity.
    pub fn new(stripe_pages: u32, dies: u32) -> Option<Box<Self>> {
        let owed = Self { rule: Parity::striped(stripe_pages), due: vec![0; dies as usize] };
        (stripe_pages > 0).then(|| Box::new(owed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_in_a_stripe_is_parity_and_never_the_first_of_a_block() {
        for (pages, die) in [(2, 0), (2, 5), (3, 1), (16, 0), (16, 14), (16, 15), (16, 31)] {
            let parity = Parity::striped(pages);
            let is_parity = |page: &u32| parity.is_parity(DieIndex(die), *page);
            assert!(!is_parity(&0), "stripes of {pages}, die {die}");
            for count in [pages, 3 * pages, 100] {
                let data = count - (0..count).filter(is_parity).count() as u32;
                assert_eq!(parity.data_pages(DieIndex(die), count), data, "stripes of {pages}, die {die}");
            }
            assert_eq!((0..pages).filter(is_parity).count(), 1, "stripes of {pages}, die {die}");
        }
        assert_eq!(Parity::striped(0).data_pages(DieIndex(3), 64), 64);
    }

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
