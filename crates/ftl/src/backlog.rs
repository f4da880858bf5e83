//! Work that a drive has put off. Each of these counts has a bound at any time, and is 0 when the drive has been left
//! alone for long enough: tests look after every step.

/// What is still to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Pages of metadata that are due and have not begun: map journal, checkpoint, lines of the map written back.
    pub metadata_pages: u64,
    /// Units that the host has trimmed and that hold space as before: of firmware that defers trims, or loses some.
    pub trimmed_units: u64,
    /// Dies that have begun to clean and have not cleaned enough, or (merging schemes) banks with a job.
    pub cleaning_dies: u64,
    /// Blocks of the SLC cache that a pause folds.
    pub folding_blocks: u64,
    /// Copies that paced cleaning owes before host pages, on dies that are being cleaned.
    pub owed_copies: u64,
    /// Records that wait for a page of the log of the map, in durable mode.
    pub log_records: u64,
    /// Sectors of the host that are not yet in flash (or on the platter): map units in the write buffer count whole.
    pub buffered_sectors: u64,
}

impl Backlog {
    /// Adds what another drive has put off.
    pub fn join(&mut self, other: &Self) {
        self.metadata_pages += other.metadata_pages;
        self.trimmed_units += other.trimmed_units;
        self.cleaning_dies += other.cleaning_dies;
        self.folding_blocks += other.folding_blocks;
        self.owed_copies += other.owed_copies;
        self.log_records += other.log_records;
        self.buffered_sectors += other.buffered_sectors;
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
