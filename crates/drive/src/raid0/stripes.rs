//! Where a sector of a RAID-0 array lies: strips go round the members.
//!
//! Strip `s` of the array is strip `s / members` of member `s % members`. So what one command asks of one member is
//! one piece without gaps: only the first and the last strip of a command can be cut, and the strips between lie one
//! after another on their member.

use serde::{Deserialize, Serialize};

/// A contiguous range of sectors of one member, and where it begins in the command it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// First sector on the member.
    pub lba: u64,
    /// One past the last sector on the member.
    pub end: u64,
}

/// The cut of an array into strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stripes {
    members: u64,
    strip_sectors: u64,
}

impl Stripes {
    /// Strips of `strip_sectors` over `members`; both at least 1.
    #[must_use]
    pub fn new(members: u32, strip_sectors: u64) -> Self {
        Self { members: u64::from(members), strip_sectors }
    }

    /// Sectors of the array if the smallest member has `member_sectors`: whole strips of every member.
    #[must_use]
    pub fn capacity_sectors(&self, member_sectors: u64) -> u64 {
        member_sectors / self.strip_sectors * self.strip_sectors * self.members
    }

    /// Member and its sector that hold a sector of the array.
    #[inline]
    #[must_use]
    pub fn place(&self, lba: u64) -> (u32, u64) {
        let (strip, sector) = (lba / self.strip_sectors, lba % self.strip_sectors);
        ((strip % self.members) as u32, strip / self.members * self.strip_sectors + sector)
    }

    /// Sector of the array that a member's sector holds.
    #[inline]
    #[must_use]
    pub fn sector(&self, member: u32, lba: u64) -> u64 {
        let (row, sector) = (lba / self.strip_sectors, lba % self.strip_sectors);
        (row * self.members + u64::from(member)) * self.strip_sectors + sector
    }

    /// First sector of the strip after the one that `lba` of a member lies in.
    #[inline]
    #[must_use]
    pub fn next_strip(&self, lba: u64) -> u64 {
        (lba / self.strip_sectors + 1) * self.strip_sectors
    }

    /// Whether all of a range (at least one sector) lies in one strip.
    #[inline]
    #[must_use]
    pub fn is_one_strip(&self, lba: u64, sectors: u64) -> bool {
        lba % self.strip_sectors + sectors <= self.strip_sectors
    }

    /// A member's share of a range of the array (at least one sector), or `None` if it has none.
    #[inline]
    #[must_use]
    pub fn share(&self, member: u32, lba: u64, sectors: u64) -> Option<Share> {
        let member = u64::from(member);
        let last = lba + sectors - 1;
        let (from, to) = (lba / self.strip_sectors, last / self.strip_sectors);
        // The member's first strip from `from` on, and its last one up to `to`.
        let first_strip = from + (member + self.members - from % self.members) % self.members;
        let back = (to % self.members + self.members - member) % self.members;
        if first_strip + back > to {
            return None;
        }
        let last_strip = to - back;
        let skipped = if first_strip == from { lba % self.strip_sectors } else { 0 };
        let kept = if last_strip == to { last % self.strip_sectors + 1 } else { self.strip_sectors };
        Some(Share {
            lba: first_strip / self.members * self.strip_sectors + skipped,
            end: last_strip / self.members * self.strip_sectors + kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_members_take_turns() {
        let stripes = Stripes::new(2, 8);
        let places: Vec<_> = [0, 7, 8, 15, 16, 24].map(|lba| stripes.place(lba)).into();
        assert_eq!(places, [(0, 0), (0, 7), (1, 0), (1, 7), (0, 8), (1, 8)]);
        assert_eq!(stripes.capacity_sectors(23), 32, "two whole strips of each");
        assert_eq!(stripes.share(0, 5, 20), Some(Share { lba: 5, end: 16 }));
        assert_eq!(stripes.share(1, 5, 20), Some(Share { lba: 0, end: 9 }));
        assert_eq!(stripes.share(1, 5, 3), None);
    }

    proptest! {
        /// Every sector of a range is in exactly one share, and shares hold nothing else.
        #[test]
        fn shares_are_the_sectors(members in 1u32..6, strip in 1u64..20, lba in 0u64..500, sectors in 1u64..200) {
            let stripes = Stripes::new(members, strip);
            let mut found: Vec<u64> = (0..members)
                .filter_map(|member| stripes.share(member, lba, sectors).map(|share| (member, share)))
                .flat_map(|(member, share)| (share.lba..share.end).map(move |at| stripes.sector(member, at)))
                .collect();
            found.sort_unstable();
            prop_assert_eq!(found, (lba..lba + sectors).collect::<Vec<_>>());
            for at in lba..lba + sectors {
                let (member, there) = stripes.place(at);
                prop_assert_eq!(stripes.sector(member, there), at);
            }
            let shares = (0..members).filter(|&member| stripes.share(member, lba, sectors).is_some()).count();
            prop_assert_eq!(stripes.is_one_strip(lba, sectors), lba / strip == (lba + sectors - 1) / strip);
            if stripes.is_one_strip(lba, sectors) {
                prop_assert_eq!(shares, 1);
            }
        }
    }
}
