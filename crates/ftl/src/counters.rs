//! What the FTL did, counted in map units and operations since the drive was made.

use serde::{Deserialize, Serialize};

/// Cumulative counts. A unit is counted where its program is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FtlCounters {
    /// Program operations for host data (complete pages, padding included).
    pub programs_host: u64,
    /// Program operations for valid pages that cleaning moved.
    pub programs_cleaning: u64,
    /// Program operations for valid pages that static wear levelling moved.
    pub programs_wear: u64,
    /// Program operations that moved valid data out of the SLC cache.
    pub programs_folding: u64,
    /// Of all program operations those of one bit a cell.
    pub programs_slc: u64,
    /// Program operations of the map: its journal, or lines of one that lies in flash.
    pub programs_map: u64,
    /// Program operations of parity over dies.
    pub programs_parity: u64,
    /// Host units programmed.
    pub units_host: u64,
    /// Units that cleaning moved.
    pub units_cleaning: u64,
    /// Units that static wear levelling moved.
    pub units_wear: u64,
    /// Units that were moved out of the SLC cache.
    pub units_folding: u64,
    /// Places left empty because a page was programmed before it was full.
    pub units_padded: u64,
    /// Granules left empty because nothing that waited fitted on the page.
    pub granules_padded: u64,
    /// Host units whose content was in flash already: only a reference was written.
    pub units_duplicate: u64,
    /// Blocks erased by cleaning.
    pub erases_cleaning: u64,
    /// Blocks erased by static wear levelling.
    pub erases_wear: u64,
    /// Blocks of the SLC cache that were erased.
    pub erases_folding: u64,
    /// Blocks erased by the map: by its journal, or by the log of one that lies in flash.
    pub erases_map: u64,
    /// Blocks erased by secure erase.
    pub erases_secure: u64,
    /// Units whose map entry a trim removed.
    pub units_trimmed: u64,
    /// Merges that wrote a superblock anew, with copied rows before or between those of the host.
    pub merges_full: u64,
    /// Merges that copied only what follows the host's rows.
    pub merges_partial: u64,
    /// Merges that copied nothing: the host had written all rows in order.
    pub merges_switch: u64,
}

impl FtlCounters {
    /// Program operations of every kind.
    #[must_use]
    pub fn programs(&self) -> u64 {
        self.programs_host
            + self.programs_cleaning
            + self.programs_wear
            + self.programs_folding
            + self.programs_map
            + self.programs_parity
    }

    /// Blocks erased for any purpose.
    #[must_use]
    pub fn erases(&self) -> u64 {
        self.erases_cleaning + self.erases_wear + self.erases_folding + self.erases_map + self.erases_secure
    }
}
