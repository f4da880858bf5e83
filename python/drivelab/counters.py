"""What counters say of a part of a drive's life: traffic of the flash, erases, amplification.

A real drive tells nothing of its inside: what a counter is missing for is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from drivelab.quantities import NS_PER_S, counted

PROGRAM_PURPOSES = ("host", "cleaning", "folding", "wear", "map", "parity", "log")
"""What flash is programmed for; the log of the map is kept by served drives."""
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
MAP_READ_SHARE = 0.01
"""From so many bytes of the map on for each that the host reads, reads take flash's time: a line of
some KiB for each random read. A sequence reads one for some MiB."""


def spent(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Differences of all cumulative counters between two snapshots; levels are left out."""
    return {
        key: value - before.get(key, 0) for key, value in after.items() if key not in LEVEL_KEYS
    }


def program_bytes(used: Mapping[str, Any]) -> int | None:
    """Bytes programmed into flash for every purpose: host data, cleaning, folding, wear levelling,
    map, parity and log.
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


FAILED = ("read_errors", "refused_commands")
"""Counters of what didn't come about; drives of which nothing can fail don't have them."""
UNMAPPED = "zero_read_bytes"
"""The counter of bytes read to which nothing was written; real drives have it of nothing but a file
that is one hole."""


def unmapped_read_share(used: Mapping[str, Any]) -> float | None:
    """Part of the bytes read to which nothing was written, or that were trimmed: the map alone
    answers for them, and no flash is touched but for lines of a map that isn't in memory. None if
    nothing was read, or the drive doesn't say.
    """
    read = used.get("host_read_bytes")
    if not read or UNMAPPED not in used:
        return None
    return min(1.0, float(used[UNMAPPED] / read))


def map_read_bytes(used: Mapping[str, Any]) -> int | None:
    """Bytes of the map itself read from flash, by drives that don't hold all of it in memory."""
    return used.get("read_bytes_map")


def reads_map(used: Mapping[str, Any], host_read_bytes: int | None) -> bool:
    """Whether a drive read so much of its map from flash that its reads show how fast flash is,
    also those of what isn't mapped. Beside writes, which ask for lines too, nobody knows."""
    if used.get("host_write_bytes"):
        return False
    return (map_read_bytes(used) or 0) > MAP_READ_SHARE * (host_read_bytes or 0)


def unmapped_note(share: float | None, map_bytes: int | None = None) -> str | None:
    """What must be said of such reads, if they are more than a stray; `map_bytes` of the map were
    read from flash meanwhile."""
    if share is None or share < UNMAPPED_NOTED:
        return None
    percent = f"{100 * share:.0f} %"
    if share < 1 and percent == "100 %":
        percent = "more than 99 %"
    how = (
        ", and at most its own lines were read from flash for them"
        if map_bytes
        else ", without a touch of flash"
    )
    return (
        f"{percent} of the bytes read were not mapped (never written, or trimmed): they came from "
        f"the map alone{how}"
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
    own = {
        "unmapped_read_share": unmapped_read_share(used),
        "map_read_bytes": map_read_bytes(used),
    }
    return read_notes(dict(used) | own)


def read_notes(result: Mapping[str, Any]) -> list[str]:
    """The same, by what a document says of it; older ones that a database holds say less."""
    return [*notes_of_reads(result), *notes_of_changes(result)]


def notes_of_reads(result: Mapping[str, Any]) -> list[str]:
    """Those that are of reads."""
    unmapped = unmapped_note(result.get("unmapped_read_share"), result.get("map_read_bytes"))
    return [note for note in (unmapped, failed_reads_note(result)) if note]


def notes_of_changes(result: Mapping[str, Any]) -> list[str]:
    """Those that are of writes, trims and flushes."""
    note = refused_note(result)
    return [note] if note else []


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
