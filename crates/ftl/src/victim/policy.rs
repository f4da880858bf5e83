//! What a victim policy is.

use drivelab_nand::{BlockIndex, DieIndex};

use super::view::View;

/// What policies are made from; each takes what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VictimSettings {
    /// Dies of the drive.
    pub dies: u32,
    /// Blocks that d-choices draws.
    pub choices: u32,
    /// Blocks that windowed-greedy looks at.
    pub window_blocks: u32,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// A policy with its state, which hears what happens to blocks. Most need to hear nothing: valid counts, sequence numbers
/// and erase counts of a die are in the [`View`].
pub(super) trait VictimPolicy {
    /// Whether it looks at [`View::newest_sequence`], which copies must keep then.
    const ASKS_FOR_AGE: bool = false;

    /// The policy of an erased drive.
    fn new(settings: &VictimSettings) -> Self;

    /// A block was opened.
    #[inline]
    fn opened(&mut self, die: DieIndex, block: BlockIndex) {
        let _ = (die, block);
    }

    /// A block is fully programmed: a candidate from now on. After a mount, all that are, those opened first before others.
    #[inline]
    fn closed(&mut self, die: DieIndex, block: BlockIndex) {
        let _ = (die, block);
    }

    /// A block, closed or not, has lost so much valid data. This is called for every unit that is overwritten.
    #[inline]
    fn lost(&mut self, block: BlockIndex, count: u32) {
        let _ = (block, count);
    }

    /// A block was erased, or retired: no candidate any more, if it was one.
    #[inline]
    fn withdrawn(&mut self, die: DieIndex, block: BlockIndex) {
        let _ = (die, block);
    }

    /// A block that stood for its superblock is no candidate any more; another of it is, if it was one, as old as before.
    #[inline]
    fn replaced(&mut self, die: DieIndex, block: BlockIndex, by: BlockIndex) {
        let _ = (die, block, by);
    }

    /// Whether the policy knows these candidates of a die and no others, if it keeps a list; what doesn't agree.
    fn check(&self, die: DieIndex, candidates: &[BlockIndex]) -> Result<(), String> {
        let _ = (die, candidates);
        Ok(())
    }

    /// Picks a candidate of a die, by its place in the view, or `None` if there is none.
    fn pick(&mut self, die: DieIndex, view: &View<'_>) -> Option<u32>;
}
