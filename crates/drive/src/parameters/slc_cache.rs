//! Parameters of an SLC cache: blocks that are programmed with one bit a cell.

use super::row::Fallback::{Absent, Integer as Number, Word};
use super::row::Kind::{Choice, Integer, Real};
use super::row::{HOUR_NS, Parameter, row};

/// Its size, what goes to it, and what leaves it when.
pub(super) const SLC_CACHE: &[Parameter] = &[
    row("flash.slc_read_ns", "ns", Integer(0, HOUR_NS), Absent, "tR of blocks of the SLC cache"),
    row(
        "flash.slc_program_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "tPROG of blocks of the SLC cache: one page of each plane",
    ),
    row(
        "flash.slc_erase_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "tBERS of blocks of the SLC cache; left out: as of others",
    ),
    row(
        "slc_cache.max_bytes",
        "B",
        Integer(0, 1 << 50),
        Number(0),
        "data that the SLC cache holds at most, static part included; 0: there is none, whatever else is said of it",
    ),
    row(
        "slc_cache.static_bytes",
        "B",
        Integer(0, 1 << 50),
        Number(0),
        "part of it whose blocks are never anything else; the other part is opened where blocks are free",
    ),
    row(
        "slc_cache.whole_until_fill",
        "mapped/user",
        Real(0.0, 1.0),
        Absent,
        "fill level up to which the dynamic part is whole; left out: 1, as far as blocks are free",
    ),
    row(
        "slc_cache.gone_from_fill",
        "mapped/user",
        Real(0.0, 1.0),
        Absent,
        "fill level from which there is no dynamic part, after it has shrunk in a line; left out: 1",
    ),
    row(
        "slc_cache.reserve_bytes",
        "B",
        Integer(0, 1 << 50),
        Number(0),
        "erased flash that the dynamic part leaves, and that native writes leave until the cache is folded; beside what \
         cleaning keeps free",
    ),
    row(
        "slc_cache.when_full",
        "",
        Choice(&["native", "wait", "refill"]),
        Word("native"),
        "where writes go then; native: to native blocks, folding when those run out or in a pause; wait: nowhere before a \
         block was folded; refill: to native blocks while it is folded, and to the cache again when that is empty",
    ),
    row(
        "slc_cache.refill_bytes",
        "B",
        Integer(0, 1 << 50),
        Number(0),
        "a cache that was full takes data again when it holds so much",
    ),
    row(
        "slc_cache.kept_bytes",
        "B",
        Integer(0, 1 << 50),
        Number(0),
        "what folding in pauses (after controller.idle_delay_ns) leaves in the cache",
    ),
    row(
        "slc_cache.fold_dies",
        "dies",
        Integer(0, 4096),
        Number(0),
        "dies that fold at the same time, each until the host has room on it, and take no writes meanwhile: where it is \
         all of them, writes wait for the whole cache; 0: all, at controller.cleaning_pace",
    ),
];
