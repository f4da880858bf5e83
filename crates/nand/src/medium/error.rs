//! What a medium refuses.

use crate::cell_mode::CellMode;

/// What a medium refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MediumError {
    /// Sizes that can't be.
    #[error("a medium of {value} {what}: must be {least} to {most}")]
    Shape {
        /// Which size.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The least that is allowed.
        least: u32,
        /// The most that is allowed.
        most: u32,
    },
    /// Too many bytes or too few.
    #[error("the medium has {bytes} bytes, its shape needs {needed}")]
    Size {
        /// Bytes given.
        bytes: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// A block that isn't there.
    #[error("block {block}: there are {blocks}")]
    NoBlock {
        /// Which.
        block: u32,
        /// How many there are.
        blocks: u32,
    },
    /// The block has failed.
    #[error("block {block} has failed and can be neither programmed nor erased")]
    Retired {
        /// Which.
        block: u32,
    },
    /// The power failed while the block was erased.
    #[error("block {block} was not erased to the end and must be erased before it is programmed")]
    TornErase {
        /// Which.
        block: u32,
    },
    /// Programming a page out of order, or one that is not erased.
    #[error("block {block}: page {page} cannot be programmed, the next erased page is {next}")]
    ProgramOrder {
        /// The block.
        block: u32,
        /// The page asked for.
        page: u32,
        /// The only page that may be programmed now; the block's page count when it is full.
        next: u32,
    },
    /// The second pass of a page that has not had the first.
    #[error("block {block}: page {page} can't have its fine pass, as it has had no coarse one")]
    FineFirst {
        /// The block.
        block: u32,
        /// The page.
        page: u32,
    },
    /// A page with other bits a cell than those before it.
    #[error("block {block}: page {page} is programmed in {mode} mode, but the pages before it were not")]
    Mode {
        /// The block.
        block: u32,
        /// The page.
        page: u32,
        /// The mode.
        mode: CellMode,
    },
    /// A program whose number is not greater than that of the page before it.
    #[error("block {block}, page {page}: program {sequence} comes after program {last}")]
    Sequence {
        /// The block.
        block: u32,
        /// The page.
        page: u32,
        /// Number of the program.
        sequence: u64,
        /// Number of the program of the page before it.
        last: u64,
    },
    /// More records than the block has room for.
    #[error("block {block}, page {page}: {records} records, room for {room}")]
    Records {
        /// The block.
        block: u32,
        /// The page.
        page: u32,
        /// Records of the program.
        records: usize,
        /// Records that the block still has room for.
        room: u32,
    },
    /// Half a record.
    #[error("{words} words are no whole number of records")]
    HalfRecord {
        /// Words given.
        words: usize,
    },
    /// More log records than there is room for.
    #[error("{records} log records, room for {room}")]
    LogFull {
        /// Records to be logged.
        records: usize,
        /// Records that there is room for.
        room: u32,
    },
    /// A page of a checkpoint, or its end, without its beginning.
    #[error("a page or the end of a checkpoint that was not begun")]
    NoCheckpoint,
    /// Entries beyond the last unit.
    #[error("checkpoint entries of units {first} to {end}, but there are {user_units} units")]
    CheckpointRange {
        /// First unit.
        first: u32,
        /// One past the last unit.
        end: u64,
        /// Units of the host.
        user_units: u32,
    },
    /// The end of a checkpoint that doesn't have every unit once.
    #[error("the checkpoint ends with {entries} entries, but there are {user_units} units")]
    CheckpointShort {
        /// Entries that were stored.
        entries: u64,
        /// Units of the host.
        user_units: u32,
    },
    /// The end of a checkpoint that has a unit twice.
    #[error("the checkpoint ends, but it has a unit twice")]
    CheckpointTwice,
    /// A capacitor holds no more units.
    #[error("a capacitor holds {held_units} units and not one more")]
    HoldFull {
        /// Units that it holds.
        held_units: u32,
    },
}
