"""What `run` prints: a row for each job and direction, and what the flash did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from drivelab.commands import printing, until
from drivelab.data_patterns import data_pattern_text
from drivelab.fio.output import DIRECTIONS
from drivelab.quantities import MIB
from drivelab.results import unmapped_note

TIMES = ("mean ms", "99 % ms", "99.99 % ms", "max ms")
FLASH = ("WA", "flash MiB", "erases")
CHANGING = ("write", "trim")


def show(document: dict[str, Any]) -> None:
    """Prints the document of a run as tables."""
    own = document["drivelab"]
    has_flash = own["erases"] is not None
    columns = ("job", "", "MiB/s", "IOPS", *TIMES, *(FLASH if has_flash else ()))
    rows = [row for group in own["groups"] for row in _group_rows(document, group, has_flash)]
    printing.table(columns, [row[: len(columns)] for row in rows], columns[2:])
    if "repeats" in own:
        printing.message(
            f"Means of {own['repeats']['count']} repeats, ± half of the 95 % interval; flushes, "
            "the flash's numbers and the line below them are of the first repeat."
        )
    written = dict.fromkeys(data_pattern_text(part["pattern"]) for part in own["data"])
    inside = printing.inside_text(own)
    whole = "all jobs: " if inside and len(own["groups"]) > 1 else ""
    out = printing.console()
    out.print(
        f"{own['model']}, {own['state']}: {whole}{inside and inside + '; '}"
        f"data {' '.join(written)}; seed {own['seed']}{printing.spare_text(own)}",
        markup=False,
    )
    for group in own["groups"]:
        if note := unmapped_note(group["unmapped_read_share"]):
            out.print(f"{', '.join(group['jobs'])}: {note}", markup=False)
    for line in _steady_lines(document):
        out.print(line, markup=False)


def _group_rows(
    document: dict[str, Any], group: dict[str, Any], has_flash: bool
) -> list[tuple[str, ...]]:
    """A row for each direction of the group's jobs, and one for what all did to the flash."""
    jobs = [
        index for index, job in enumerate(document["jobs"]) if job["groupid"] == group["groupid"]
    ]
    shown = []
    for index in jobs:
        found = [_row(document, index, direction) for direction in DIRECTIONS]
        found.append(_flush_row(document, index))
        shown += [row for row in found if row is not None]
    if has_flash and sum(row[1] in CHANGING for row in shown) > 1:
        blanks = ("",) * (2 + len(TIMES))
        shown.append((f"{len(jobs)} jobs together", "", *blanks, *_flash_cells(group)))
    return shown


def _steady_lines(document: dict[str, Any]) -> Iterator[str]:
    """Whether jobs that were to get steady did."""
    for job in document["jobs"]:
        if found := job.get("steadystate"):
            word = "attained" if found["attained"] else "not attained"
            told = "" if found["criterion"] is None else f": {found['criterion']}"
            yield (
                f"{job['jobname']}: steadystate {found['ss']} over {found['duration']} s "
                f"{word}{told}"
            )
    verdicts = until.verdicts(document["drivelab"])
    for number, found in enumerate(verdicts, start=1):
        metric = found["metric"] if len(verdicts) == 1 else f"repeat {number}: {found['metric']}"
        told = f"{found['rounds']} rounds of {printing.number(found['round_s'])} s"
        if found["average"] is not None:
            told += f", average of the last {printing.number(found['average'])}"
        yield f"{metric} {'steady' if found['reached'] else 'not steady'} after {told}"


UNKNOWN = printing.number(None)


def _row(document: dict[str, Any], index: int, direction: str) -> tuple[str, ...] | None:
    """A direction of a job, with what the flash did for it; None if it did nothing."""
    job = document["jobs"][index]
    part = job[direction]
    if not part["total_ios"]:
        return None
    return (
        job["jobname"],
        direction,
        *_cells(document, index, direction),
        *_flash_cells(part["drivelab"]),
    )


def _flush_row(document: dict[str, Any], index: int) -> tuple[str, ...] | None:
    """What a job's flushes took, of the first repeat; None if it had none."""
    job = document["jobs"][index]
    if not job["sync"]["total_ios"]:
        return None
    times = _times_ns(job["sync"]["lat_ns"])
    cells = (printing.number(None if ns is None else ns / 1e6) for ns in times)
    return (job["jobname"], "flush", "", "", *cells, *("",) * len(FLASH))


def _flash_cells(flash: dict[str, Any]) -> tuple[str, str, str]:
    programmed = flash["flash_write_bytes"]
    return (
        printing.number(flash["write_amplification"], 3),
        printing.number(None if programmed is None else programmed / MIB),
        UNKNOWN if flash["erases"] is None else str(flash["erases"]),
    )


def _times_ns(latency: dict[str, Any]) -> tuple[float | None, ...]:
    """Mean, 99 % and 99.99 % percentile and maximum of what fio says of a latency."""
    at = latency["percentile"]
    return latency["mean"], at.get("99.000000"), at.get("99.990000"), latency["max"]


CELLS = ("latency_mean_us", "latency_p99_us", "latency_p99_99_us", "latency_max_us")
"""Names that repeats give the latencies of the table."""


def _cells(document: dict[str, Any], index: int, direction: str) -> Iterator[str]:
    """Numbers of a job's direction: of one run, or means of repeats with their intervals."""
    part = document["jobs"][index][direction]
    repeats = document["drivelab"].get("repeats")
    numbers: dict[str, Any] = next(
        (
            row["numbers"]
            for row in (repeats or {"jobs": ()})["jobs"]
            if (row["index"], row["direction"]) == (index, direction)
        ),
        {},
    )
    for key, value in (("mib_per_s", part["bw_bytes"] / MIB), ("iops", part["iops"])):
        single = None if repeats else value
        yield printing.spread(numbers.get(key, {}).get("mean", single), {"repeats": numbers}, key)
    for key, ns in zip(CELLS, _times_ns(part["clat_ns"]), strict=True):
        if key in numbers:
            scaled = {edge: numbers[key][edge] / 1e3 for edge in ("mean", "low", "high")}
            yield printing.spread(scaled["mean"], {"repeats": {key: scaled}}, key)
        else:
            # What a repeat hasn't got has no mean.
            yield printing.number(None if ns is None or repeats else ns / 1e6)
