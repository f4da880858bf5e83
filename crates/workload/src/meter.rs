//! What the runner reads from a drive besides its completions.

use serde_json::Value;

/// Cumulative counters of a drive.
pub trait Meters {
    /// A snapshot as a flat JSON object of numbers; a report carries it verbatim, before and after.
    fn counters(&self) -> Value;
}

impl Meters for drivelab_drive::Drive {
    fn counters(&self) -> Value {
        Self::counters(self)
    }
}
