//! Superblocks of what was found in flash, and of blocks some of which have failed.

use drivelab_nand::{BlockIndex, DieIndex, FlashArray};

use super::blocks::Blocks;
use crate::placement::{Stream, StreamCounts};
use crate::victim::NOT_CLOSED;

impl Blocks {
    /// After a power cut flash says which blocks are written, not which are one. A stream fills superblocks one after the
    /// other, so full blocks of a stream are taken by as many as one has, in the order in which they were opened; what is left
    /// belongs to the one that is open. Where one was being erased, or had lost a block, others are cut elsewhere than before.
    pub(super) fn find_superblocks(
        &mut self,
        flash: &FlashArray,
        dies: u32,
        streams: StreamCounts,
        stream_of: impl Fn(BlockIndex) -> Stream,
    ) {
        let size = self.superblock_blocks() as usize;
        if size == 1 {
            return;
        }
        for die in (0..dies).map(DieIndex) {
            let all = die.0 * self.blocks_per_die..(die.0 + 1) * self.blocks_per_die;
            for stream in streams.all() {
                let is_mine = |&block: &BlockIndex| self.is_closed(block) && stream_of(block) == stream;
                let mut full: Vec<_> = all.clone().map(BlockIndex).filter(is_mine).collect();
                full.sort_by_key(|&block| flash.first_sequences(block.0, 1)[0]);
                let left = full.split_off(full.len() / size * size);
                let open = self.open_block(die, stream);
                let superblocks = self.superblocks.as_mut().expect("there are superblocks");
                full.chunks(size).for_each(|blocks| superblocks.join(blocks));
                let mut blocks = left.clone();
                blocks.extend(open);
                if blocks.is_empty() {
                    continue;
                }
                let missing = (size - blocks.len()).min(self.free.blocks(die) as usize);
                let erased: Vec<_> = (0..missing).filter_map(|_| self.free.take(die)).collect();
                blocks.extend(&erased);
                superblocks.join(&blocks);
                superblocks.waiting_mut(die, stream).extend(&erased);
                if open.is_some() || self.open_superblock_waiting(die, stream).is_some() {
                    for block in &left {
                        self.valid[block.0 as usize] |= NOT_CLOSED;
                    }
                }
            }
        }
    }

    /// Blocks that have failed leave the superblocks that were found; those that have none left to be written are closed.
    pub(super) fn settle_superblocks(&mut self, dies: u32, is_bad: &[bool], streams: StreamCounts) {
        for die in (0..dies).map(DieIndex) {
            for stream in streams.all() {
                let Some(superblocks) = &mut self.superblocks else { return };
                superblocks.waiting_mut(die, stream).retain(|block| !is_bad[block.0 as usize]);
                if self.open_block(die, stream).is_none() {
                    self.open_superblock_waiting(die, stream);
                }
            }
            let all = die.0 * self.blocks_per_die..(die.0 + 1) * self.blocks_per_die;
            for block in all.map(BlockIndex) {
                let is_open = |other: &BlockIndex| self.is_open(die, *other);
                if self.is_head(block)
                    && !self.is_closed(block)
                    && !is_open(&block)
                    && !self.others_of_superblock(block).any(|other| is_open(&other))
                {
                    self.close_superblock(die, block);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drivelab_nand::{Geometry, Lpn, UnitLayout};

    use super::*;
    use crate::victim::{VictimSelection, VictimSettings, Victims};

    /// One die of so many blocks of four pages.
    fn layout(blocks_per_plane: u32) -> UnitLayout {
        let geometry = Geometry {
            channel_count: 1,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane,
            pages_per_block: 4,
            page_bytes: 4096,
            oob_bytes: 0,
            two_plane: false,
        };
        UnitLayout::new(geometry, 4096).unwrap()
    }

    fn victims(selection: VictimSelection) -> Victims {
        Victims::new(selection, &VictimSettings { dies: 1, choices: 1, window_blocks: 1, seed: 1 })
    }

    fn members(blocks: &Blocks, block: u32) -> Vec<u32> {
        let others = blocks.others_of_superblock(BlockIndex(block)).map(|other| other.0);
        let mut all: Vec<_> = others.chain([block]).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn what_was_one_is_one_after_a_power_cut_and_goes_on() {
        let layout = layout(20);
        let mut flash = FlashArray::new(layout);
        // Two streams write at the same time. The first has filled 1, 4, 2 and 9, 3, 6, and begun with 8, 7 and one that is
        // erased; the second has filled 0, 5, 11 and 10.
        let (host, copies) = ([1, 4, 2, 9, 3, 6, 8, 7], [0, 5, 11, 10]);
        for (turn, &block) in host.iter().enumerate() {
            let pages = if turn == 7 { 2 } else { 4 };
            (0..pages).for_each(|page| _ = flash.program(BlockIndex(block), page, &[Lpn(1)]).unwrap());
            let Some(&block) = copies.get(turn) else { continue };
            (0..4).for_each(|page| _ = flash.program(BlockIndex(block), page, &[Lpn(2)]).unwrap());
        }
        let stream_of = |block: BlockIndex| Stream(u8::from(copies.contains(&block.0)));
        let streams = StreamCounts { host: 1, all: 2 };
        let blocks =
            Blocks::restore(&layout, &flash, (0, 3), victims(VictimSelection::Greedy), streams, stream_of);
        for superblock in [[1, 2, 4], [3, 6, 9], [0, 5, 11]] {
            assert_eq!(members(&blocks, superblock[1]), superblock);
            assert!(superblock.iter().all(|&block| blocks.is_closed(BlockIndex(block))));
        }
        assert_eq!(blocks.open_block(DieIndex(0), Stream(0)), Some(BlockIndex(7)));
        assert_eq!(members(&blocks, 7)[..2], [7, 8]);
        // The second has none that is partly written: it goes on in an erased one.
        let open = blocks.open_block(DieIndex(0), Stream(1)).unwrap();
        assert!(members(&blocks, 10).contains(&open.0));
        assert!(![7, 8, 10].iter().any(|&block| blocks.is_closed(BlockIndex(block))));
        // Eight blocks are erased; one and two of them belong to what is open.
        assert_eq!((blocks.free_blocks(DieIndex(0)), blocks.free_count(DieIndex(0))), (5, 1));
        blocks.check_superblocks(DieIndex(0), |_| false).unwrap();
    }

    #[test]
    fn a_superblock_goes_on_without_a_block_that_fails_and_is_closed_with_the_rest() {
        let layout = layout(9);
        let flash = FlashArray::new(layout);
        let mut blocks = Blocks::new(&layout, &flash, 0, 3, victims(VictimSelection::Greedy));
        let die = DieIndex(0);
        let first = blocks.open_next(die, Stream::HOST).unwrap();
        blocks.close(die, Stream::HOST);
        blocks.fail_open(die, Stream::HOST);
        assert_eq!(members(&blocks, first.0), [0, 2]);
        assert!(!blocks.is_closed(first), "a block of it is still to be written");
        blocks.fail_open(die, Stream::HOST);
        assert!(blocks.is_closed(first) && blocks.open_block(die, Stream::HOST).is_none());
        assert_eq!(blocks.free_count(die), 2);
    }

    #[test]
    fn a_superblock_that_is_mounted_without_its_first_block_keeps_its_place_among_the_candidates() {
        let layout = layout(12);
        let mut flash = FlashArray::new(layout);
        for block in [1, 4, 2, 9, 3, 6] {
            (0..4).for_each(|page| _ = flash.program(BlockIndex(block), page, &[Lpn(1)]).unwrap());
        }
        let (die, streams) = (DieIndex(0), StreamCounts { host: 1, all: 2 });
        let policy = victims(VictimSelection::WindowedGreedy);
        let mut blocks = Blocks::restore(&layout, &flash, (0, 3), policy, streams, |_| Stream::HOST);
        let mut is_bad = [false; 12];
        for failed in [1, 4, 2] {
            let picked = blocks.pick_victim(die, &flash, (4, 3), 0);
            assert_eq!(picked, Some(BlockIndex(failed)), "the one that was closed first");
            is_bad[failed as usize] = true;
            blocks.withhold(&layout, &is_bad, streams);
            blocks.check_superblocks(die, |block| is_bad[block.0 as usize]).unwrap();
        }
        assert_eq!(blocks.pick_victim(die, &flash, (4, 3), 0), Some(BlockIndex(9)));
    }
}
