//! Hard disks.

use drivelab_controller::SECTOR_BYTES;

use super::host::{firmware, link};
use crate::error::ModelError;
use crate::hard_disk::{
    ArmConfig, DiskPowerConfig, HardDisk, HardDiskConfig, PlatterConfig, ReadCacheConfig, WriteCacheConfig,
};
use crate::model::Model;

/// Builds the disk.
///
/// # Errors
/// [`ModelError`] for values that make no disk together.
pub fn build(model: &Model) -> Result<HardDisk, ModelError> {
    let config = HardDiskConfig {
        capacity_sectors: model.integer("user_capacity_bytes") / SECTOR_BYTES,
        queue_depth: model.small("controller.queue_depth"),
        link: link(model),
        firmware: firmware(model),
        platters: PlatterConfig {
            rpm: model.small("disk.rpm"),
            head_count: model.small("disk.head_count"),
            outer_track_bytes: model.small("disk.outer_track_bytes"),
            zone_count: model.small("disk.zone_count"),
            zone_ratio_permille: model.small("disk.zone_ratio_permille"),
            track_skew_ns: model.optional_integer("disk.track_skew_ns"),
            cylinder_skew_ns: model.optional_integer("disk.cylinder_skew_ns"),
        },
        arm: ArmConfig {
            track_to_track_ns: model.integer("disk.track_to_track_ns"),
            average_seek_ns: model.integer("disk.average_seek_ns"),
            full_stroke_ns: model.integer("disk.full_stroke_ns"),
            head_switch_ns: model.integer("disk.head_switch_ns"),
            write_settle_ns: model.integer("disk.write_settle_ns"),
        },
        read_cache: ReadCacheConfig {
            size_bytes: model.integer("read_cache.size_bytes"),
            segments: model.small("read_cache.segments"),
        },
        write_cache: WriteCacheConfig {
            size_bytes: model.integer("write_buffer.size_bytes"),
            entries: model.small("write_buffer.entries"),
            write_back: model.flag("write_buffer.write_back"),
        },
        scheduling: model.word("controller.scheduling")?,
        deadline_ns: model.integer("controller.deadline_ns"),
        power: DiskPowerConfig {
            idle_mw: model.small("power.idle_mw"),
            spin_mw: model.small("power.spin_mw"),
            seek_mw: model.small("power.seek_mw"),
            read_mw: model.small("power.read_mw"),
            write_mw: model.small("power.write_mw"),
            firmware_mw: model.small("power.firmware_mw"),
            link_mw: model.small("power.link_mw"),
        },
    };
    HardDisk::new(config).map_err(|error| ModelError::Geometry { origin: model.origin().to_owned(), error })
}
