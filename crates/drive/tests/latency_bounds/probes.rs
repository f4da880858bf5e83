//! What a host does in every state, command by command.

/// One kind of command, or a mixture.
pub struct Probe {
    pub name: &'static str,
    pub depth: u32,
    pub count: u32,
    pub bytes: u64,
    pub writes: bool,
    pub reads: bool,
    pub partial: bool,
}

pub const PROBES: &[Probe] = &[
    Probe {
        name: "write 4k, 1",
        depth: 1,
        count: 200,
        bytes: 4096,
        writes: true,
        reads: false,
        partial: false,
    },
    Probe {
        name: "write 4k, 32",
        depth: 32,
        count: 800,
        bytes: 4096,
        writes: true,
        reads: false,
        partial: false,
    },
    Probe {
        name: "read 4k, 1",
        depth: 1,
        count: 100,
        bytes: 4096,
        writes: false,
        reads: true,
        partial: false,
    },
    Probe {
        name: "read 4k, 32",
        depth: 32,
        count: 300,
        bytes: 4096,
        writes: false,
        reads: true,
        partial: false,
    },
    Probe {
        name: "mixed 4k, 16",
        depth: 16,
        count: 400,
        bytes: 4096,
        writes: true,
        reads: true,
        partial: false,
    },
    Probe {
        name: "write 128k, 4",
        depth: 4,
        count: 40,
        bytes: 1 << 17,
        writes: true,
        reads: false,
        partial: false,
    },
    Probe {
        name: "read 128k, 2",
        depth: 2,
        count: 40,
        bytes: 1 << 17,
        writes: false,
        reads: true,
        partial: false,
    },
    Probe { name: "odd 4k, 8", depth: 8, count: 100, bytes: 4096, writes: true, reads: false, partial: true },
];
