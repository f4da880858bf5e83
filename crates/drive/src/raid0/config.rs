//! Parameters and counters of an array.

use drivelab_controller::{HostMeters, LinkConfig, SECTOR_BYTES};
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Largest queue of an array.
const DEEPEST_QUEUE: u32 = 65_536;

/// What an array adds to its members.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raid0Config {
    /// Bytes of a strip: what lies on one member before the next one's turn.
    pub strip_bytes: u64,
    /// Most bytes that one command asks of a member, rounded down to sectors. Below two strips, transfers end where
    /// strips do.
    pub max_transfer_bytes: u64,
    /// Trims reach the members; otherwise they are done at once, without effect.
    pub pass_trim: bool,
    /// Driver (or bridge firmware) working on one command: one processor, in order.
    pub driver_ns: Nanos,
    /// Commands that may be outstanding.
    pub queue_depth: u32,
    /// The one link of a bridge that all data passes; `None`: members have ports of their own.
    pub link: Option<LinkConfig>,
    /// Power of a bridge, all the time.
    pub idle_mw: u32,
    /// More while its link moves data.
    pub link_mw: u32,
}

impl Raid0Config {
    /// An array in the host's software, that asks at most `max_transfer_bytes` of a member at once.
    #[must_use]
    pub fn new(strip_bytes: u64, max_transfer_bytes: u64) -> Self {
        Self {
            strip_bytes,
            max_transfer_bytes,
            pass_trim: false,
            driver_ns: 0,
            queue_depth: 32,
            link: None,
            idle_mw: 0,
            link_mw: 0,
        }
    }

    /// Whether these parameters make an array of `members` of at least `member_sectors`.
    pub(super) fn check(&self, members: u32, member_sectors: u64) -> Result<(), GeometryError> {
        if members == 0 {
            return Err(GeometryError::new("members", members, "must be at least one drive"));
        }
        if self.strip_bytes == 0 || !self.strip_bytes.is_multiple_of(SECTOR_BYTES) {
            let allowed = "must be a whole number of 512-byte sectors, at least one";
            return Err(GeometryError::new("array.strip_bytes", self.strip_bytes, allowed));
        }
        let most = member_sectors.saturating_mul(SECTOR_BYTES);
        if self.strip_bytes > most {
            let allowed = format!("must be at most the smallest member's capacity, {most} bytes");
            return Err(GeometryError::new("array.strip_bytes", self.strip_bytes, allowed));
        }
        let most = u64::from(u32::MAX) * SECTOR_BYTES;
        if !(SECTOR_BYTES..=most).contains(&self.max_transfer_bytes) {
            let allowed = format!("must be {SECTOR_BYTES} to {most}");
            return Err(GeometryError::new("array.max_transfer_bytes", self.max_transfer_bytes, allowed));
        }
        if self.queue_depth == 0 || self.queue_depth > DEEPEST_QUEUE {
            let allowed = format!("must be 1 to {DEEPEST_QUEUE}");
            return Err(GeometryError::new("array.queue_depth", self.queue_depth, allowed));
        }
        Ok(())
    }
}

/// Cumulative counters of the array itself; its members have their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raid0Meters {
    /// Commands of the host.
    pub host: HostMeters,
    /// Bytes of trims that no member heard of.
    pub dropped_trim_bytes: u64,
    /// Commands that crossed from one strip into another.
    pub split_commands: u64,
    /// The array's own link moving commands and data.
    pub link_busy_ns: Nanos,
}
