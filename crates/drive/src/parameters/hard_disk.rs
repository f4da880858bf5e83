//! Parameters of hard disks.

use super::row::Fallback::{Absent, Boolean as Is, Integer as Number, Required, Word};
use super::row::Kind::{Boolean, Choice, Integer};
use super::row::{CAPACITY_KEY, HOUR_NS, MOST, Parameter, SECOND_NS, row};

/// What the host can address.
pub(super) const CAPACITY: &[Parameter] =
    &[row(CAPACITY_KEY, "B", Integer(512, 1 << 50), Required, "what the host can address")];

/// Platters and arm.
pub(super) const DISK: &[Parameter] = &[
    row("disk.rpm", "1/min", Integer(60, 100_000), Required, "revolutions a minute"),
    row("disk.head_count", "", Integer(1, 256), Required, "surfaces, each with its head"),
    row(
        "disk.outer_track_bytes",
        "B",
        Integer(512, 1 << 30),
        Required,
        "data bytes of a track of the outermost zone",
    ),
    row(
        "disk.zone_count",
        "",
        Integer(1, 1024),
        Number(16),
        "bands of cylinders with the same number of sectors on every track",
    ),
    row(
        "disk.zone_ratio_permille",
        "1/1000",
        Integer(1000, 10_000),
        Number(2000),
        "bytes of an outermost track over bytes of an innermost one",
    ),
    row(
        "disk.track_skew_ns",
        "ns",
        Integer(0, SECOND_NS),
        Absent,
        "turn of a track against the one before it on its cylinder; left out: just enough for switch and settling",
    ),
    row(
        "disk.cylinder_skew_ns",
        "ns",
        Integer(0, SECOND_NS),
        Absent,
        "turn of a cylinder's first track; left out: just enough for the seek and settling",
    ),
    row("disk.track_to_track_ns", "ns", Integer(0, HOUR_NS), Required, "seek to the next cylinder"),
    row("disk.average_seek_ns", "ns", Integer(0, HOUR_NS), Required, "mean seek over all pairs of cylinders"),
    row("disk.full_stroke_ns", "ns", Integer(0, HOUR_NS), Required, "seek over all cylinders"),
    row("disk.head_switch_ns", "ns", Integer(0, SECOND_NS), Required, "to another head of the cylinder"),
    row(
        "disk.write_settle_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "longer settling before a write than before a read",
    ),
];

/// Caches of reads and writes.
pub(super) const CACHES: &[Parameter] = &[
    row(
        "read_cache.size_bytes",
        "B",
        Integer(0, 1 << 36),
        Required,
        "cache of what was read and read ahead; 0: neither",
    ),
    row(
        "read_cache.segments",
        "",
        Integer(1, 65_536),
        Number(16),
        "segments, each a stretch of consecutive sectors",
    ),
    row("write_buffer.size_bytes", "B", Integer(1 << 17, 1 << 36), Required, "cache of writes"),
    row(
        "write_buffer.entries",
        "",
        Integer(1, 65_536),
        Required,
        "extents that it keeps track of: the writes among which the scheduler chooses",
    ),
    row("write_buffer.write_back", "", Boolean, Is(true), "writes are acknowledged from the cache"),
];

/// Order of accesses.
pub(super) const SCHEDULING: &[Parameter] = &[
    row(
        "controller.scheduling",
        "",
        Choice(&["shortest-positioning", "first-come"]),
        Word("shortest-positioning"),
        "which of the waiting accesses comes next",
    ),
    row(
        "controller.deadline_ns",
        "ns",
        Integer(0, HOUR_NS),
        Number(0),
        "an access that has waited longer comes first; 0: none does",
    ),
];

/// Power.
pub(super) const POWER: &[Parameter] = &[
    row("power.idle_mw", "mW", Integer(0, MOST), Number(0), "electronics, all the time"),
    row("power.spin_mw", "mW", Integer(0, MOST), Number(0), "spindle motor, all the time"),
    row("power.seek_mw", "mW", Integer(0, MOST), Number(0), "more while the arm moves"),
    row("power.read_mw", "mW", Integer(0, MOST), Number(0), "more while the heads read"),
    row("power.write_mw", "mW", Integer(0, MOST), Number(0), "more while the heads write"),
    row("power.firmware_mw", "mW", Integer(0, MOST), Number(0), "more while firmware works"),
    row("power.link_mw", "mW", Integer(0, MOST), Number(0), "more while the link moves data"),
];
