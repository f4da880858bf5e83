//! What waits for the log of the map.

use serde::{Deserialize, Serialize};

/// Trims, and cells of trimmed units, that may wait for the log: beyond that they would take room that none has reckoned
/// with.
pub(crate) const TRIMMED_CELLS: usize = 256;

/// Records on their way to the log: as many pages as they fill, which count together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LogPage {
    pub number: u64,
    pub words: Vec<u64>,
    pub freed: Vec<u32>,
    /// Units that the capacitor need not keep once the page is in flash.
    pub unheld: Vec<(u32, u32)>,
    /// Commands whose data was trimmed in the buffer: it is either in flash or trimmed in flash when they are done.
    pub waiters: Vec<u32>,
}
