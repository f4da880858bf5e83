//! What the disk did: commands, bytes, the time of arm and heads, energy.

use drivelab_controller::HostMeters;
use drivelab_controller::meters::energy_nj;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use super::config::DiskPowerConfig;

/// Cumulative since the disk was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskMeters {
    /// Commands of the host; trims have no effect.
    pub host: HostMeters,
    /// Bytes of reads that the caches had.
    pub buffer_hit_bytes: u64,
    /// Bytes of writes that replaced data still in the write cache.
    pub coalesced_bytes: u64,
    /// Bytes read from the media for the host.
    pub media_read_bytes: u64,
    /// Bytes read ahead.
    pub read_ahead_bytes: u64,
    /// Bytes written to the media.
    pub media_write_bytes: u64,
    /// Accesses that moved the arm or changed the head.
    pub seek_count: u64,
    /// The arm moves or settles, or the head is switched.
    pub seek_busy_ns: Nanos,
    /// The heads wait for their sector.
    pub rotation_wait_ns: Nanos,
    /// The heads read.
    pub read_busy_ns: Nanos,
    /// The heads write.
    pub write_busy_ns: Nanos,
    /// Host link.
    pub link_busy_ns: Nanos,
    /// Firmware.
    pub firmware_busy_ns: Nanos,
}

impl DiskMeters {
    /// Energy in nJ after `elapsed_ns`: every busy time times its power, electronics and spindle all the time.
    #[must_use]
    pub fn energy_nj(&self, elapsed_ns: Nanos, power: &DiskPowerConfig) -> u64 {
        energy_nj(&[
            (elapsed_ns, power.idle_mw),
            (elapsed_ns, power.spin_mw),
            (self.seek_busy_ns, power.seek_mw),
            (self.read_busy_ns, power.read_mw),
            (self.write_busy_ns, power.write_mw),
            (self.firmware_busy_ns, power.firmware_mw),
            (self.link_busy_ns, power.link_mw),
        ])
    }
}
