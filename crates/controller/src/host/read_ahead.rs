//! Reading ahead: a read that begins where the last one ended makes the firmware read on, into memory, so that the next
//! one finds its first units there or on their way.
//!
//! One stream is followed. A read elsewhere, and whatever changes a unit of the window, ends it: what was read ahead is
//! given up, but the dies have done, or still do, the work.

use std::collections::VecDeque;

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::command::SECTOR_BYTES;

/// Where a stream of reads is, and what has been read ahead of it: times only, the data are where the map says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReadAhead {
    /// How many units are read ahead; 0: none ever.
    depth: u32,
    /// Where the last read ended, in sectors.
    next_lba: u64,
    /// First unit of the window.
    first: u32,
    /// When each unit of the window is there.
    ready_ns: VecDeque<Nanos>,
}

impl ReadAhead {
    /// Of a drive with units of so many sectors, which reads so many bytes ahead.
    pub(crate) fn new(bytes: u64, sectors_per_unit: u32) -> Self {
        Self::of_units(bytes.div_ceil(u64::from(sectors_per_unit) * SECTOR_BYTES) as u32)
    }

    fn of_units(depth: u32) -> Self {
        let ready_ns = VecDeque::with_capacity(depth as usize + 1);
        Self { depth, next_lba: u64::MAX, first: 0, ready_ns }
    }

    /// Whether this drive reads ahead.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.depth > 0
    }

    /// Whether the read from `lba` to `end`, which is begun now, neither goes on where the last one ended nor meets a window:
    /// most reads of most drives. Noted as the last one if so; others are to be looked up and followed.
    #[inline]
    pub(crate) fn is_elsewhere(&mut self, lba: u64, end: u64) -> bool {
        if !self.is_on() {
            return true;
        }
        let is_elsewhere = lba != self.next_lba && self.ready_ns.is_empty();
        if is_elsewhere {
            self.next_lba = end;
        }
        is_elsewhere
    }

    /// When a unit of the window is there; `None`: it isn't in the window.
    #[inline]
    pub(crate) fn ready(&self, unit: u32) -> Option<Nanos> {
        self.ready_ns.get(unit.checked_sub(self.first)? as usize).copied()
    }

    /// The host has read sectors from `lba` to `end`, the last of them of `last_unit`. Gives the units to read now, from
    /// the first one that is not in the window.
    pub(crate) fn follow(&mut self, lba: u64, end: u64, last_unit: u32) -> std::ops::Range<u32> {
        let goes_on = std::mem::replace(&mut self.next_lba, end) == lba;
        let window_end = self.first + self.ready_ns.len() as u32;
        if !goes_on || last_unit < self.first || last_unit >= window_end {
            self.ready_ns.clear();
            self.first = last_unit + 1;
        } else {
            self.ready_ns.drain(..(last_unit - self.first) as usize);
            self.first = last_unit;
        }
        let from = self.first + self.ready_ns.len() as u32;
        if goes_on { from..(last_unit + 1 + self.depth).max(from) } else { from..from }
    }

    /// The unit after the window has been read.
    pub(crate) fn push(&mut self, ready_ns: Nanos) {
        self.ready_ns.push_back(ready_ns);
    }

    /// Whether nothing has been read ahead that counts.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ready_ns.is_empty()
    }

    /// A unit has changed, or goes away: nothing of the window counts if it is in it.
    #[inline]
    pub(crate) fn forget(&mut self, unit: u32) {
        if !self.ready_ns.is_empty() && self.ready(unit).is_some() {
            self.ready_ns.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_read_that_goes_on_reads_ahead_and_the_window_moves_with_it() {
        let mut ahead = ReadAhead::of_units(4);
        assert!(ahead.follow(80, 88, 10).is_empty());
        let wanted = ahead.follow(88, 96, 11);
        assert_eq!(wanted, 12..16);
        wanted.for_each(|unit| ahead.push(u64::from(unit)));
        assert_eq!(
            (ahead.ready(11), ahead.ready(12), ahead.ready(15), ahead.ready(16)),
            (None, Some(12), Some(15), None)
        );
        assert_eq!(ahead.follow(96, 112, 13), 16..18);
        assert!(ahead.follow(800, 808, 100).is_empty(), "a read elsewhere");
        assert_eq!(ahead.ready(15), None);
    }

    #[test]
    fn a_read_elsewhere_needs_no_following_unless_there_is_a_window() {
        let mut ahead = ReadAhead::of_units(2);
        assert!(ahead.is_elsewhere(800, 808));
        assert!(ahead.is_elsewhere(0, 8), "and it is the last one now");
        assert!(!ahead.is_elsewhere(8, 16));
        ahead.follow(8, 16, 1).for_each(|_| ahead.push(5));
        assert!(!ahead.is_elsewhere(800, 808), "what was read ahead is to be given up");
        assert!(ahead.follow(800, 808, 100).is_empty());
        assert!(ahead.is_elsewhere(0, 8));
        let mut none = ReadAhead::of_units(0);
        assert!(none.is_elsewhere(0, 8) && none.is_elsewhere(8, 16));
    }

    #[test]
    fn a_unit_that_changes_ends_the_window_and_one_outside_does_not() {
        let mut ahead = ReadAhead::of_units(2);
        ahead.follow(0, 8, 0);
        ahead.follow(8, 16, 1).for_each(|_| ahead.push(5));
        ahead.forget(4);
        assert_eq!(ahead.ready(3), Some(5));
        ahead.forget(3);
        assert_eq!((ahead.ready(2), ahead.ready(3)), (None, None));
    }
}
