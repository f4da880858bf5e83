//! Which blocks of a region a pass has not reached yet, where requests are of several sizes.
//!
//! A bit for each block, and above every 64 words a word that says which of them have one left, so that the next block
//! is found in as many steps as there are levels, however few are left.

/// So many blocks may a map have: bits of a GiB.
pub const BLOCKS_MAX: u64 = 1 << 33;

/// Blocks of a region that are still to come; when none is, all of them are again.
#[derive(Clone, Debug)]
pub struct RandomMap {
    blocks: u64,
    /// Bits of blocks that are left, then of words of the level below that aren't 0; made when they are first needed.
    levels: Vec<Vec<u64>>,
    left: u64,
}

impl RandomMap {
    /// A map of so many blocks, at least one.
    #[must_use]
    pub fn new(blocks: u64) -> Self {
        Self { blocks: blocks.max(1), levels: Vec::new(), left: 0 }
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The first block at or behind `from` that is left; behind the last one comes block 0. `from` is below the number of
    /// blocks.
    pub fn next_left(&mut self, from: u64) -> u64 {
        if self.left == 0 {
            self.begin();
        }
        self.find(from).or_else(|| self.find(0)).unwrap_or(0)
    }

    /// Takes this block and those behind it, `most` in all, as far as they are left; gives how many.
    pub fn take(&mut self, first: u64, most: u64) -> u64 {
        let mut count = 0;
        while count < most && self.is_left(first + count) {
            self.mark(first + count);
            count += 1;
        }
        self.left -= count;
        count
    }

    /// A pass begins: all blocks are left.
    fn begin(&mut self) {
        self.levels.clear();
        let mut bits = self.blocks;
        loop {
            let words = bits.div_ceil(64);
            let mut level = vec![u64::MAX; words as usize];
            if let Some(last) = level.last_mut().filter(|_| !bits.is_multiple_of(64)) {
                *last = (1 << (bits % 64)) - 1;
            }
            self.levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        self.left = self.blocks;
    }

    fn is_left(&self, block: u64) -> bool {
        block < self.blocks && self.levels[0][block as usize / 64] >> (block % 64) & 1 != 0
    }

    fn mark(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[at as usize / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                break;
            }
            at /= 64;
        }
    }

    /// The first block at or behind `from` that is left.
    fn find(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let index = at / 64;
            let word = level.get(index as usize)? & (u64::MAX << (at % 64));
            if word != 0 {
                let found = index * 64 + u64::from(word.trailing_zeros());
                let down = self.levels[..height].iter().rev();
                return Some(
                    down.fold(found, |at, level| at * 64 + u64::from(level[at as usize].trailing_zeros())),
                );
            }
            at = index + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take(map: &mut RandomMap, from: u64, most: u64) -> (u64, u64) {
        let first = map.next_left(from);
        (first, map.take(first, most))
    }

    /// The same with nothing but a list.
    fn take_of_list(left: &mut [bool], from: usize, most: u64) -> (u64, u64) {
        if !left.contains(&true) {
            left.fill(true);
        }
        let first = (from..left.len()).chain(0..from).find(|&block| left[block]).unwrap();
        let count = left[first..].iter().take(most as usize).take_while(|&&is_left| is_left).count();
        left[first..first + count].fill(false);
        (first as u64, count as u64)
    }

    proptest! {
        #[test]
        fn blocks_are_taken_as_a_list_says(
            blocks in prop_oneof![1usize..200, 4000usize..4200, Just(64 * 64), Just(64 * 64 * 64 + 1)],
            draws in prop::collection::vec((any::<u64>(), 1u64..300), 1..400),
        ) {
            let (mut map, mut left) = (RandomMap::new(blocks as u64), vec![false; blocks]);
            for (random, most) in draws {
                let from = random % blocks as u64;
                let listed = take_of_list(&mut left, from as usize, most);
                prop_assert_eq!(take(&mut map, from, most), listed);
            }
        }
    }

    #[test]
    fn the_last_block_of_millions_is_found() {
        let mut map = RandomMap::new(10_000_000);
        assert_eq!(take(&mut map, 5_000_001, 10_000_000), (5_000_001, 4_999_999));
        assert_eq!(take(&mut map, 7_000_000, 5_000_000), (0, 5_000_000));
        assert_eq!(take(&mut map, 7_000_000, 3), (5_000_000, 1));
        // All were taken: the next pass.
        assert_eq!(take(&mut map, 7_000_000, 3), (7_000_000, 3));
    }
}
