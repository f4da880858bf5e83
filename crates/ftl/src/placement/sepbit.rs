//! `SepBIT`: by when a unit is likely to be overwritten (REFERENCES.md, \[SEPBIT\]). Time is counted in units that the host
//! has written.
//!
//! What overwrites a unit that lived shorter than l will be overwritten soon, too: class 1, anything else class 2. l is the
//! mean lifespan of the last `BLOCKS_AVERAGED` blocks of class 1, from their first page to their erase. Copies out of
//! blocks of class 1 are class 3, others go by the time since the host wrote them: class 4 below 4 l, class 5 below 16 l,
//! class 6 beyond.

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

use super::policy::{PlacementPolicy, PlacementSettings, most};
use super::streams::{Stream, StreamCounts};

/// Blocks of class 1 over whose lifespans the mean is taken.
const BLOCKS_AVERAGED: u32 = 16;
/// Ages in l that tell copies apart.
const AGES: [u64; 2] = [4, 16];

/// Class 1, and class 3; the stream of a class is one less.
const SHORT_LIVED: Stream = Stream(0);
const MOVED_SHORT_LIVED: Stream = Stream(2);
/// Of blocks that were written before a power cut.
const UNKNOWN: Stream = Stream(u8::MAX);

/// When units were written, and what blocks are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sepbit {
    /// Units that the host has written.
    now: u64,
    /// When the host wrote each unit last, + 1; 0: never.
    written_at: Vec<u64>,
    /// Stream and time of each block's first page.
    opened: Vec<(Stream, u64)>,
    lifespan: u64,
    /// Blocks of class 1 since `lifespan` was set, and the sum of theirs.
    ended: (u32, u64),
}

impl Sepbit {
    fn age(&self, lpn: Lpn) -> u64 {
        match self.written_at[lpn.0 as usize] {
            0 => u64::MAX,
            at => self.now - (at - 1),
        }
    }
}

impl PlacementPolicy for Sepbit {
    fn streams(_settings: &PlacementSettings) -> StreamCounts {
        StreamCounts { host: 2, all: 6 }
    }

    fn new(settings: &PlacementSettings) -> Self {
        Self {
            now: 0,
            written_at: vec![0; settings.user_units as usize],
            opened: vec![(UNKNOWN, 0); settings.blocks as usize],
            lifespan: u64::MAX,
            ended: (0, 0),
        }
    }

    fn host_stream(&mut self, units: &[Lpn]) -> Stream {
        let class = most::<2>(units, |lpn| u8::from(self.age(lpn) >= self.lifespan));
        for lpn in units {
            self.written_at[lpn.0 as usize] = self.now + 1;
            self.now += 1;
        }
        Stream(class)
    }

    fn copy_stream(&mut self, victim: BlockIndex, units: &[Lpn]) -> Stream {
        if self.opened[victim.0 as usize].0 == SHORT_LIVED {
            return MOVED_SHORT_LIVED;
        }
        let older = |lpn: Lpn, ages: u64| self.age(lpn) >= self.lifespan.saturating_mul(ages);
        let class = most::<3>(units, |lpn| AGES.iter().filter(|&&ages| older(lpn, ages)).count() as u8);
        Stream(MOVED_SHORT_LIVED.0 + 1 + class)
    }

    fn opened(&mut self, block: BlockIndex, stream: Stream) {
        self.opened[block.0 as usize] = (stream, self.now);
    }

    fn emptied(&mut self, block: BlockIndex) {
        let (stream, at) = self.opened[block.0 as usize];
        if stream == SHORT_LIVED {
            self.ended = (self.ended.0 + 1, self.ended.1 + (self.now - at));
            if self.ended.0 == BLOCKS_AVERAGED {
                self.lifespan = self.ended.1 / u64::from(BLOCKS_AVERAGED);
                self.ended = (0, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Sepbit {
        Sepbit::new(&PlacementSettings { user_units: 1000, blocks: 20, hot_writes: 4, hint_streams: 1 })
    }

    fn write(policy: &mut Sepbit, unit: u32) -> u8 {
        policy.host_stream(&[Lpn(unit)]).0
    }

    /// Sixteen blocks of class 1 that live for so many writes each, of unit 999.
    fn blocks_live_for(policy: &mut Sepbit, writes: u32) {
        for block in (0..BLOCKS_AVERAGED).map(BlockIndex) {
            policy.opened(block, SHORT_LIVED);
            (0..writes).for_each(|_| _ = write(policy, 999));
            policy.emptied(block);
        }
    }

    #[test]
    fn what_overwrites_short_lived_data_is_expected_to_live_shortly_itself() {
        let mut policy = policy();
        // Nobody knows of any lifespan yet: new data is class 2, any overwriting class 1.
        assert_eq!([write(&mut policy, 5), write(&mut policy, 5)], [1, 0]);
        blocks_live_for(&mut policy, 10);
        assert_eq!(policy.lifespan, 10);
        assert_eq!(write(&mut policy, 5), 1, "160 writes later");
        (0..8).for_each(|_| _ = write(&mut policy, 999));
        assert_eq!(write(&mut policy, 5), 0, "9 writes later");
        (0..9).for_each(|_| _ = write(&mut policy, 999));
        assert_eq!(write(&mut policy, 5), 1, "10 writes later");
        assert_eq!(write(&mut policy, 6), 1, "never written before");
    }

    #[test]
    fn copies_go_by_where_they_come_from_and_then_by_their_age() {
        let mut policy = policy();
        blocks_live_for(&mut policy, 10);
        policy.opened(BlockIndex(18), SHORT_LIVED);
        policy.opened(BlockIndex(19), Stream(1));
        write(&mut policy, 5);
        let mut classes = Vec::new();
        for age in 1..=200 {
            let of = |policy: &mut Sepbit, block| policy.copy_stream(BlockIndex(block), &[Lpn(5)]).0;
            assert_eq!(of(&mut policy, 18), 2);
            assert_eq!(of(&mut policy, 17), of(&mut policy, 19), "a block of before a power cut goes by age");
            classes.push((age, of(&mut policy, 19)));
            write(&mut policy, 999);
        }
        let first = |class| classes.iter().find(|&&(_, found)| found == class).map(|&(age, _)| age);
        assert_eq!([first(3), first(4), first(5)], [Some(1), Some(40), Some(160)]);
    }
}
