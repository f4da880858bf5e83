//! Parameters of drives that compress and store copies once.

use super::row::Fallback::{Boolean as Is, Integer as Number, Required};
use super::row::Kind::{Boolean, Integer};
use super::row::{Parameter, row};

/// The map.
pub(super) const COMPRESSED_MAP: &[Parameter] = &[
    row(
        "ftl.map_unit_bytes",
        "B",
        Integer(512, 1 << 20),
        Required,
        "map unit before compression: a whole number of sectors, at most a page",
    ),
    row(
        "ftl.granule_bytes",
        "B",
        Integer(16, 1 << 20),
        Number(512),
        "compressed units take a whole number of these on a page",
    ),
    row("ftl.die_parity", "", Boolean, Is(false), "one page of every stripe over all dies is parity"),
    row(
        "ftl.trims_deferred",
        "",
        Boolean,
        Is(false),
        "trims are noted, and take effect on a line of the map when cleaning of the map comes across it",
    ),
    row(
        "ftl.trim_loss_percent",
        "%",
        Integer(0, 99),
        Number(0),
        "of ranges trimmed without a rest: so many find firmware's queue full, read as zeros, but stay",
    ),
    row(
        "ftl.map_cache_bytes",
        "B",
        Integer(0, 1 << 31),
        Number(0),
        "memory of the controller for the map, 4 bytes an entry; 0: all of it fits",
    ),
    row(
        "ftl.map_fetch_bytes",
        "B",
        Integer(4, 1 << 20),
        Number(512),
        "what one read of the map from flash brings",
    ),
];
