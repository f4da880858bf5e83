//! What a medium's bytes say of its parts, and what is kept beside them.

use std::collections::HashMap;

/// State of a system area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum AreaState {
    /// Never used, or erased.
    Empty = 0,
    /// A checkpoint was begun.
    Building = 1,
    /// The checkpoint counts.
    Complete = 2,
    /// The power failed while the checkpoint was written.
    Torn = 3,
}

/// Where held units are, so that none is searched for. Not part of the bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    pub(super) slot_of: HashMap<u32, u32>,
    pub(super) free: Vec<u32>,
    pub(super) last_order: u64,
}

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HoldEntry {
    pub(super) lpn: u32,
    pub(super) cell: u32,
    /// Order of holding; 0: the entry is free.
    pub(super) order: u64,
}
