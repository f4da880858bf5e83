//! Parameters of NVM Express: queues in the host's memory, and what a command takes on its way from and to it.

use super::row::Fallback::{Integer as Number, Word};
use super::row::Kind::{Choice, Integer};
use super::row::{Parameter, SECOND_NS, row};

/// A map that lies in the host's memory, and writes at saturation.
pub(super) const HOST_MEMORY: &[Parameter] = &[
    row(
        "ftl.host_memory_bytes",
        "B",
        Integer(0, 1 << 31),
        Number(0),
        "memory of the host for the map (HMB), behind ftl.map_cache_bytes of the controller's own; 0: none",
    ),
    row(
        "ftl.host_memory_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(800),
        "round trip to the host's memory, of a look-up of what isn't in the controller's own",
    ),
    row(
        "controller.write_credit_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "while writes wait for the buffer, space in it goes back to them evenly, with this time constant, so writes are no faster than the buffer's size per time constant; 0: as flash frees it",
    ),
];

/// Queue pairs, and processors of the firmware.
pub(super) const NVME: &[Parameter] = &[
    row(
        "nvme.queue_count",
        "",
        Integer(1, 65_535),
        Number(1),
        "submission queues of the host, in front of the controller's room for controller.queue_depth commands; 1: commands beyond it wait in the host, in order",
    ),
    row(
        "nvme.queue_entries",
        "commands",
        Integer(2, 65_536),
        Number(1024),
        "entries of a queue: with several queues the host keeps so many commands times their number outstanding at most",
    ),
    row(
        "nvme.arbitration",
        "",
        Choice(&["round-robin", "weighted-round-robin"]),
        Word("round-robin"),
        "the order in which commands are fetched from several queues while the controller has no room for all",
    ),
    row(
        "nvme.arbitration_burst",
        "commands",
        Integer(0, 64),
        Number(1),
        "commands of one queue that are fetched in a row while others wait; 0: all that it has",
    ),
    row(
        "nvme.high_weight",
        "commands",
        Integer(1, 256),
        Number(1),
        "commands of queues of the high class in a round of weighted-round-robin",
    ),
    row("nvme.medium_weight", "commands", Integer(1, 256), Number(1), "the same of the medium class"),
    row("nvme.low_weight", "commands", Integer(1, 256), Number(1), "the same of the low class"),
    row(
        "nvme.max_data_transfer_bytes",
        "B",
        Integer(0, 1 << 30),
        Number(0),
        "MDTS: most that a command reads or writes; the host splits what is larger; 0: no limit",
    ),
    row(
        "nvme.fetch_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "from the host's doorbell to the command in the controller; keeps no other command waiting",
    ),
    row(
        "nvme.completion_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "from the completion's entry to the program that hears of it: interrupt and the host's part; keeps no other command waiting",
    ),
    row(
        "controller.firmware_cores",
        "",
        Integer(1, 64),
        Number(1),
        "processors of the firmware: each takes on the next command when it is free",
    ),
];
