//! What victim selection sees of a die.

/// Set in a block's word while it is free or open, so that it never looks like a good victim.
pub const NOT_CLOSED: u32 = 0x8000_0000;

/// What a policy may look at: the blocks of one die.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Number of the die's first block.
    pub first: u32,
    /// Valid units per block; [`NOT_CLOSED`] is set for blocks that are not candidates.
    pub valid: &'a [u32],
    /// Sequence number of each block's first program: when it was opened.
    pub first_sequence: &'a [u64],
    /// Sequence number with which the newest data of each closed block came from the host.
    pub newest_sequence: &'a [u64],
    /// Erases of each block.
    pub erase_counts: &'a [u32],
    /// Sequence number of the next program.
    pub next_sequence: u64,
    /// Units of a block.
    pub units_per_block: u32,
    /// A block with more valid units than this is no candidate: emptying it would not free a whole page.
    pub most_valid: u32,
    /// Where a scan begins, so that ties do not always wear the same blocks.
    pub start: usize,
}

impl View<'_> {
    /// Whether a block is closed and holds something invalid: cleaning it frees space.
    pub(super) fn is_candidate(&self, block: usize) -> bool {
        self.valid[block] <= self.most_valid
    }
}
