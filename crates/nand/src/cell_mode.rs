//! How many bits a block's cells are programmed with.

/// What an erased block is opened as; it stays that until it is erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellMode {
    /// As many bits a cell as the part is made for.
    #[default]
    Native,
    /// One bit a cell: a word line holds one page of each plane.
    Slc,
}
