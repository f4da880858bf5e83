//! What a disk says about itself: counters, and what follows from its parameters.

use drivelab_controller::SECTOR_BYTES;
use serde_json::{Value, json};

use super::HardDisk;

impl HardDisk {
    /// Cumulative counters as a flat JSON object. Where flash is programmed and read, a disk's media are; it never
    /// cleans and never erases.
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
            "program_bytes_host": meters.media_write_bytes,
            "program_bytes_cleaning": 0,
            "program_bytes_wear": 0,
            "program_bytes_map": 0,
            "read_bytes_host": meters.media_read_bytes,
            "read_bytes_rmw": 0,
            "read_bytes_cleaning": 0,
            "read_bytes_wear": 0,
            "read_bytes_ahead": meters.read_ahead_bytes,
            "erases_cleaning": 0,
            "erases_wear": 0,
            "erases_map": 0,
            "erases_secure": 0,
            "coalesced_bytes": meters.coalesced_bytes,
            "zero_read_bytes": 0,
            "buffer_hit_bytes": meters.buffer_hit_bytes,
            "units_written_host": meters.media_write_bytes / SECTOR_BYTES,
            "units_rmw": 0,
            "units_trimmed": 0,
            "units_padded": 0,
            "seek_count": meters.seek_count,
            "seek_busy_ns": meters.seek_busy_ns,
            "rotation_wait_ns": meters.rotation_wait_ns,
            "media_read_busy_ns": meters.read_busy_ns,
            "media_write_busy_ns": meters.write_busy_ns,
            "energy_nj": self.energy_nj(),
            "valid_units": 0,
            "free_blocks": 0,
            "erase_count_min": 0,
            "erase_count_max": 0,
            "erase_count_mean": 0.0,
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
