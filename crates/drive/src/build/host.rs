//! What drives of all families have towards their host: link, firmware.

use drivelab_controller::{FirmwareConfig, GovernorConfig, LinkConfig};

use crate::model::Model;

/// The link to the host.
pub(super) fn link(model: &Model) -> LinkConfig {
    LinkConfig {
        bytes_per_s: model.integer("link.bytes_per_s"),
        frame_bytes: model.small("link.frame_bytes"),
        frame_overhead_ns: model.integer("link.frame_overhead_ns"),
        command_overhead_ns: model.integer("link.command_overhead_ns"),
        full_duplex: model.flag("link.full_duplex"),
    }
}

/// Firmware times, and its limits where they apply.
pub(super) fn firmware(model: &Model) -> FirmwareConfig {
    FirmwareConfig {
        read_ns: model.integer("controller.read_firmware_ns"),
        write_ns: model.integer("controller.write_firmware_ns"),
        trim_ns: model.integer("controller.trim_firmware_ns"),
        flush_ns: model.integer("controller.flush_firmware_ns"),
        pipeline_ns: model.integer("controller.pipeline_ns"),
        write_governor: GovernorConfig {
            commands_per_s: model.small("controller.write_governor_iops"),
            burst_commands: model.small("controller.write_governor_burst"),
        },
    }
}
