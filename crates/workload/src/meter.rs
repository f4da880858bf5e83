//! What the runner reads from a drive besides its completions.

use drivelab_drive::Gauges;
use serde_json::Value;

/// Cumulative counters of a drive.
pub trait Meters {
    /// A snapshot as a flat JSON object of numbers; a report carries it verbatim, before and after.
    fn counters(&self) -> Value;

    /// The few of them that a report draws over time.
    fn gauges(&self) -> Gauges;
}

impl Meters for drivelab_drive::Drive {
    fn counters(&self) -> Value {
        Self::counters(self)
    }

    fn gauges(&self) -> Gauges {
        Self::gauges(self)
    }
}
