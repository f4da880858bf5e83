//! What a disk says about itself: counters, and what follows from its parameters.

use drivelab_controller::SECTOR_BYTES;
use serde_json::{Value, json};

use super::HardDisk;

impl HardDisk {
    /// Cumulative counters as a flat JSON object. None of flash: a disk has no programs and no erases, not 0 of them.
    #[must_use]
    pub fn counters(&self) -> Value {
        let meters = &self.meters;
        json!({
            "host_read_bytes": meters.host.host_read_bytes,
            "host_write_bytes": meters.host.host_write_bytes,
            "host_trim_bytes": meters.host.host_trim_bytes,
            "host_read_commands": meters.host.host_read_commands,
            "host_write_commands": meters.host.host_write_commands,
            "host_flush_commands": meters.host.host_flush_commands,
            "host_trim_commands": meters.host.host_trim_commands,
            "media_write_bytes": meters.media_write_bytes,
            "media_read_bytes": meters.media_read_bytes,
            "read_bytes_ahead": meters.read_ahead_bytes,
            "coalesced_bytes": meters.coalesced_bytes,
            "buffer_hit_bytes": meters.buffer_hit_bytes,
            "seek_count": meters.seek_count,
            "seek_busy_ns": meters.seek_busy_ns,
            "rotation_wait_ns": meters.rotation_wait_ns,
            "media_read_busy_ns": meters.read_busy_ns,
            "media_write_busy_ns": meters.write_busy_ns,
            "energy_nj": self.energy_nj(),
        })
    }

    /// What follows from the parameters: capacities in bytes, times in ns, counts.
    #[must_use]
    pub fn derived(&self) -> Value {
        let bytes = self.config.capacity_sectors * SECTOR_BYTES;
        let zones = self.geometry.zones();
        let on_track = |zone: Option<&super::geometry::Zone>| zone.map_or(0, |zone| zone.sectors_per_track);
        json!({
            "user_capacity_bytes": bytes,
            "raw_capacity_bytes": bytes,
            "spare_bytes": 0,
            "spare_ratio": 0.0,
            "queue_depth": self.config.queue_depth,
            "cylinder_count": self.geometry.cylinders(),
            "outer_sectors_per_track": on_track(zones.first()),
            "inner_sectors_per_track": on_track(zones.last()),
            "revolution_ns": self.geometry.revolution_ns(),
            "outer_media_bytes_per_s": self.geometry.media_bytes_per_s(on_track(zones.first())),
            "inner_media_bytes_per_s": self.geometry.media_bytes_per_s(on_track(zones.last())),
        })
    }
}
