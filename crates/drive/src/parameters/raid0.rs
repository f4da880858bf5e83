//! Parameters of RAID-0 arrays. Those of the members are in the members' models; `member.KEY` changes them.

use super::controller;
use super::row::Fallback::{Absent, Boolean as Is, Integer as Number, Required};
use super::row::Kind::{Boolean, Integer, Names};
use super::row::{MOST, Parameter, SECOND_NS, row};

/// The array.
pub(super) const ARRAY: &[Parameter] = &[
    row("members", "", Names, Required, "models of the member drives, in the order of the strips"),
    row(
        "array.strip_bytes",
        "B",
        Integer(512, 1 << 40),
        Required,
        "what lies on one member before the next one's turn",
    ),
    row(
        "array.max_transfer_bytes",
        "B",
        Integer(512, 1 << 40),
        Number(1 << 25),
        "most that one command asks of a member",
    ),
    row("array.pass_trim", "", Boolean, Is(false), "trims reach the members; otherwise they have no effect"),
    row(
        "array.command_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "driver or bridge firmware working on one command",
    ),
    row("array.queue_depth", "commands", Integer(1, 65_536), Number(32), "commands outstanding at once"),
];

/// The one link of a bridge. An array of the host's software has none.
pub(super) const BRIDGE: &[Parameter] = &[
    row(
        "link.bytes_per_s",
        "B/s",
        Integer(1, 1 << 40),
        Absent,
        "payload rate of a bridge's link; left out: every member has a port of its own",
    ),
    controller::FRAME_BYTES,
    controller::FRAME_OVERHEAD,
    controller::COMMAND_OVERHEAD,
    row("power.idle_mw", "mW", Integer(0, MOST), Number(0), "bridge; members add their own"),
    row("power.link_mw", "mW", Integer(0, MOST), Number(0), "more while the bridge's link moves data"),
];
