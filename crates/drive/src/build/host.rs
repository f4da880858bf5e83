//! What drives of all families have towards their host: link, firmware.

use drivelab_controller::{FirmwareConfig, GovernorConfig, LinkConfig, SECTOR_BYTES, SubmissionConfig};

use crate::error::ModelError;
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
    // What keeps no other command waiting is one sum.
    let keys = ["controller.pipeline_ns", "nvme.fetch_ns", "nvme.completion_ns"];
    FirmwareConfig {
        cores: model.small("controller.firmware_cores").max(1),
        read_ns: model.integer("controller.read_firmware_ns"),
        write_ns: model.integer("controller.write_firmware_ns"),
        trim_ns: model.integer("controller.trim_firmware_ns"),
        flush_ns: model.integer("controller.flush_firmware_ns"),
        pipeline_ns: keys.iter().map(|key| model.integer(key)).sum(),
        write_governor: GovernorConfig {
            commands_per_s: model.small("controller.write_governor_iops"),
            burst_commands: model.small("controller.write_governor_burst"),
            credit_ns: model.integer("controller.write_credit_ns"),
        },
    }
}

/// Submission queues; families without them have one.
///
/// # Errors
/// A largest transfer that is no whole number of sectors.
pub(super) fn submission(model: &Model) -> Result<SubmissionConfig, ModelError> {
    if model.family().find("nvme.queue_count").is_none() {
        return Ok(SubmissionConfig::default());
    }
    let credit_ns = model.integer("controller.write_credit_ns");
    if credit_ns > 0 && model.integer("controller.write_governor_iops") > 0 {
        let allowed = "must be 0 with controller.write_governor_iops above 0";
        return Err(model.bad("controller.write_credit_ns", &credit_ns.to_string(), allowed));
    }
    let max_transfer_bytes = model.integer("nvme.max_data_transfer_bytes");
    if !max_transfer_bytes.is_multiple_of(SECTOR_BYTES) {
        let allowed = format!("must be 0 or a multiple of {SECTOR_BYTES}");
        return Err(model.bad("nvme.max_data_transfer_bytes", &max_transfer_bytes.to_string(), &allowed));
    }
    Ok(SubmissionConfig {
        queues: model.small("nvme.queue_count"),
        entries: model.small("nvme.queue_entries"),
        arbitration: model.word("nvme.arbitration")?,
        burst: model.small("nvme.arbitration_burst"),
        weights: ["high", "medium", "low"].map(|class| model.small(&format!("nvme.{class}_weight"))),
        max_transfer_bytes,
    })
}
