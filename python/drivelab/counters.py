"""What counters say of a part of a drive's life: traffic of the flash, erases, amplification.

A real drive tells nothing of its inside: what a counter is missing for is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from drivelab.quantities import NS_PER_S, counted

PROGRAM_PURPOSES = ("host", "cleaning", "folding", "wear", "map", "parity")
"""What flash is programmed for."""
PROGRAM_KEYS = tuple(f"program_bytes_{purpose}" for purpose in PROGRAM_PURPOSES)
READ_KEYS = tuple(
    f"read_bytes_{purpose}" for purpose in ("host", "rmw", "cleaning", "folding", "wear", "map")
)
ERASE_KEYS = tuple(f"erases_{purpose}" for purpose in ("cleaning", "folding", "wear", "map"))
LEVEL_KEYS = frozenset(
    (
        *("valid_units", "free_blocks", "slc_cache_bytes", "read_only"),
        *("erase_count_min", "erase_count_max", "erase_count_mean"),
    )
)
"""Counters of the drive that say how it is, not what it did."""


UNMAPPED_NOTED = 0.01
"""Least share of reads of nothing that is worth a word."""


def spent(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Differences of all cumulative counters between two snapshots; levels are left out."""
    return {
        key: value - before.get(key, 0) for key, value in after.items() if key not in LEVEL_KEYS
    }


def program_bytes(used: Mapping[str, Any]) -> int | None:
    """Bytes programmed into flash for every purpose: host data, cleaning, folding, wear levelling,
    map.
    """
    if PROGRAM_KEYS[0] not in used:
        return None
    return int(sum(used.get(key, 0) for key in PROGRAM_KEYS))


def read_bytes(used: Mapping[str, Any]) -> int | None:
    """Bytes read from flash for every purpose: the host, units written in part, cleaning, map."""
    if READ_KEYS[0] not in used:
        return None
    return int(sum(used.get(key, 0) for key in READ_KEYS))


def erase_count(used: Mapping[str, Any]) -> int | None:
    """Blocks erased by the drive on its own account; secure erase is not counted."""
    if ERASE_KEYS[0] not in used:
        return None
    return int(sum(used.get(key, 0) for key in ERASE_KEYS))


def write_amplification(used: Mapping[str, Any]) -> float | None:
    """Bytes programmed per byte that the host wrote; None if it wrote nothing.

    Includes read-modify-write: a write that covers a map unit in part programs the whole unit.
    """
    written = used["host_write_bytes"]
    programmed = program_bytes(used)
    return programmed / written if written and programmed is not None else None


def write_amplification_of(reports: Iterable[Mapping[str, Any]]) -> float | None:
    """The same over the measured parts of several reports of one drive."""
    total: Counter[str] = Counter()
    for report in reports:
        total.update(spent_in(report))
    return write_amplification(total) if total else None


def unmapped_read_share(used: Mapping[str, Any]) -> float | None:
    """Part of the bytes read to which nothing was written, or that were trimmed: the map alone
    answers for them, and no flash is touched. None if nothing was read, or the drive doesn't say.
    """
    read = used.get("host_read_bytes")
    if not read or "zero_read_bytes" not in used:
        return None
    return min(1.0, float(used["zero_read_bytes"] / read))


def unmapped_note(share: float | None) -> str | None:
    """What must be said of such reads, if they are more than a stray."""
    if share is None or share < UNMAPPED_NOTED:
        return None
    percent = f"{100 * share:.0f} %"
    return (
        f"{percent} of the bytes read were not mapped (never written, or trimmed): they came from "
        "the map alone, without a touch of flash"
    )


def failed_reads_note(used: Mapping[str, Any]) -> str | None:
    """What must be said of reads whose data couldn't be corrected, if there were any."""
    count = used.get("read_errors")
    if not count:
        return None
    reads = "1 read" if count == 1 else f"{count} reads"
    return f"{reads} failed: more bits were wrong than can be corrected; counted as any other"


def refused_note(used: Mapping[str, Any]) -> str | None:
    """What must be said of writes, trims and flushes that a drive didn't do, if there were any."""
    count = used.get("refused_commands")
    if not count:
        return None
    were = "was" if count == 1 else "were"
    return (
        f"{counted(count, 'command')} {were} refused or failed: the drive only reads any more, as "
        "when too few blocks are left that work; no rate and no latency has them"
    )


def notes(used: Mapping[str, Any]) -> list[str]:
    """What must be known to read the numbers of a run or test that used so much."""
    return read_notes(dict(used) | {"unmapped_read_share": unmapped_read_share(used)})


def read_notes(result: Mapping[str, Any]) -> list[str]:
    """The same, by what a document says of it; older ones that a database holds say less."""
    found = (
        unmapped_note(result.get("unmapped_read_share")),
        failed_reads_note(result),
        refused_note(result),
    )
    return [note for note in found if note]


def energy_j(used: Mapping[str, Any]) -> float | None:
    """Energy that the drive took, in J."""
    return used["energy_nj"] / 1e9 if "energy_nj" in used else None


def mean_w(report: Mapping[str, Any]) -> float | None:
    """Mean power of the measured part of a run; None where no power is known, or no time passed."""
    duration_s = (report["end_ns"] - report["measure_start_ns"]) / NS_PER_S
    joules = energy_j(spent_in(report))
    return joules / duration_s if duration_s and joules is not None else None


def spent_in(report: Mapping[str, Any]) -> dict[str, Any]:
    """What the measured part of an engine's report added to the counters."""
    return spent(report["counters_before"], report["counters_after"])
