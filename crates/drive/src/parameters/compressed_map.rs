//! Parameters of drives that compress and store copies once.

use super::Fallback::{Boolean as Is, Integer as Number, Required};
use super::Kind::{Boolean, Integer};
use super::{Parameter, row};

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
        "ftl.trim_frees_percent",
        "%",
        Integer(0, 100),
        Number(100),
        "trimmed units that give their flash space back; the others hold it until they are overwritten",
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
