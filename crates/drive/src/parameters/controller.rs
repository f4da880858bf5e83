//! Parameters of the controller, whatever it maps.

use super::row::Fallback::{Boolean as Is, Integer as Number, Required};
use super::row::Kind::{Boolean, Integer};
use super::row::{HOUR_NS, MOST, Parameter, SECOND_NS, row};

/// Queue and firmware.
pub(super) const CONTROLLER: &[Parameter] = &[
    row(
        "controller.queue_depth",
        "commands",
        Integer(1, 65_536),
        Number(32),
        "commands that are in the drive at once; of SATA, its NCQ depth",
    ),
    row(
        "controller.read_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a read command",
    ),
    row(
        "controller.write_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a write command",
    ),
    row(
        "controller.trim_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a trim command",
    ),
    row(
        "controller.flush_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of a flush command",
    ),
];

/// Work on flash pages and map units.
pub(super) const PAGES: &[Parameter] = &[
    row(
        "controller.program_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of each page programmed for the host",
    ),
    row(
        "controller.partial_unit_firmware_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "firmware time of each map unit that is written in part and completed by a read",
    ),
    row(
        "controller.partial_units_at_once",
        "units",
        Integer(0, MOST),
        Number(0),
        "partial units under read-modify-write at once, to the end of the program; 0: no limit",
    ),
];

/// What controllers of flash have beside firmware times: a read path, a pipeline, limits on writes.
pub(super) const DATA_PATH: &[Parameter] = &[
    row(
        "controller.read_path_bytes_per_s",
        "B/s",
        Integer(0, 1 << 40),
        Number(0),
        "rate of data from flash to the host link, shared by all channels; 0: takes no time",
    ),
    row(
        "controller.write_path_bytes_per_s",
        "B/s",
        Integer(0, 1 << 40),
        Number(0),
        "rate of data to flash, of the host, cleaning and the map, shared by all channels; 0: takes no time",
    ),
    row(
        "controller.decode_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "error correction of each page that is read, while its channel moves nothing else",
    ),
    row(
        "controller.read_ahead_bytes",
        "B",
        Integer(0, 1 << 24),
        Number(0),
        "read ahead, into memory, of a read that goes on where the last one ended",
    ),
    row(
        "controller.pipeline_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "further time of every command in the controller, which keeps no other command waiting",
    ),
    row(
        "controller.write_governor_iops",
        "commands/s",
        Integer(0, MOST),
        Number(0),
        "sustained writes that the firmware lets through; 0: no limit",
    ),
    row(
        "controller.write_governor_burst",
        "commands",
        Integer(0, MOST),
        Number(0),
        "writes above the sustained rate that a credit lets through",
    ),
];

/// Largest payload of a frame.
pub(super) const FRAME_BYTES: Parameter =
    row("link.frame_bytes", "B", Integer(1, 1 << 26), Number(8192), "largest payload of a frame");
/// Time of a frame beside its payload.
pub(super) const FRAME_OVERHEAD: Parameter =
    row("link.frame_overhead_ns", "ns", Integer(0, SECOND_NS), Number(0), "framing and handshake of a frame");
/// Time of a command beside its frames of data.
pub(super) const COMMAND_OVERHEAD: Parameter = row(
    "link.command_overhead_ns",
    "ns",
    Integer(0, SECOND_NS),
    Number(0),
    "command and status frames of a command",
);

/// Host link.
pub(super) const LINK: &[Parameter] = &[
    row(
        "link.bytes_per_s",
        "B/s",
        Integer(0, 1 << 40),
        Required,
        "payload rate of the host link; 0: takes no time",
    ),
    FRAME_BYTES,
    FRAME_OVERHEAD,
    COMMAND_OVERHEAD,
];

/// Write buffer.
pub(super) const WRITE_BUFFER: &[Parameter] = &[
    row("write_buffer.size_bytes", "B", Integer(512, 1 << 32), Required, "write buffer"),
    row("write_buffer.write_back", "", Boolean, Is(true), "writes are acknowledged from the buffer"),
    row("write_buffer.coalesce", "", Boolean, Is(true), "overwrites replace data still in the buffer"),
    row(
        "write_buffer.hold_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "how long a page that is not full waits for more",
    ),
    row("write_buffer.capacitor", "", Boolean, Is(false), "the buffer survives a power cut"),
];

/// Power.
pub(super) const POWER: &[Parameter] = &[
    row("power.idle_mw", "mW", Integer(0, MOST), Number(0), "controller, DRAM and link at rest"),
    row("power.active_mw", "mW", Integer(0, MOST), Number(0), "more while a command is inside the drive"),
    row("power.firmware_mw", "mW", Integer(0, MOST), Number(0), "more while firmware works"),
    row(
        "power.link_mw",
        "mW",
        Integer(0, MOST),
        Number(0),
        "more while the link moves data, with link.full_duplex for each of its two ways",
    ),
    row("power.bus_mw", "mW", Integer(0, MOST), Number(0), "a channel's bus while it moves data"),
    row("power.read_mw", "mW", Integer(0, MOST), Number(0), "a die while it senses"),
    row("power.program_mw", "mW", Integer(0, MOST), Number(0), "a die while it programs"),
    row("power.erase_mw", "mW", Integer(0, MOST), Number(0), "a die while it erases"),
];
