//! An entry of the write buffer.

use drivelab_ftl::Stored;
use drivelab_nand::Lpn;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Where a buffered unit is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryState {
    /// Waits for a page.
    Queued,
    /// Being programmed; still readable here.
    Programming,
    /// Being programmed, and moved on to the die's page register: its space is free.
    InRegister,
    /// Unused.
    Free,
}

/// One buffered unit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Which unit.
    pub lpn: Lpn,
    /// State.
    pub state: EntryState,
    /// When its data is complete (transferred, and read from flash where the host wrote only part).
    pub ready_ns: Nanos,
    /// When it came.
    pub inserted_ns: Nanos,
    /// The command that waits until it is in flash, or [`NONE`](super::NONE).
    pub waiter: u32,
    /// Order of arrival, for flush.
    pub order: u64,
    /// What it will take in flash.
    pub stored: Stored,
    /// Sectors that the host has written, one bit each; all of a unit of more than 64.
    pub sectors: u64,
    /// The host wrote a part of it, and the rest came from flash.
    pub was_partial: bool,
}

/// A waiting unit that was trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The command that waited for it, or [`NONE`](super::NONE).
    pub waiter: u32,
    /// Its order of arrival.
    pub order: u64,
    /// Its first word, if words are kept.
    pub word: u64,
    /// How many sectors the host had written of it.
    pub sectors: u32,
}
