"""A run of a job file: a row for each job and direction, and what the flash did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.counters import notes_of_changes, notes_of_reads
from drivelab.data_patterns import data_pattern_text
from drivelab.fio.output import DIRECTIONS
from drivelab.quantities import counted, mib, number
from drivelab.text.layout import Line, Part, Table
from drivelab.text.measured import inside, spread

Record = Mapping[str, Any]

TIMES = ("mean ms", "99 % ms", "99.99 % ms", "max ms")
FLASH = ("WA", "flash MiB", "erases")
CHANGING = ("write", "trim")
BACKGROUND = "drive in background"
UNKNOWN = number(None)


def parts(document: Record) -> Iterator[Part]:
    """All of it: the table, what it is of, and what is said below."""
    yield jobs(document)
    if note := repeats_note(document):
        yield Line(note)
    yield from lines(document)


def jobs(document: Record) -> Table:
    """Rates, latencies and what the flash did, of the document of a run."""
    own = document["drivelab"]
    has_flash = own["erases"] is not None
    columns = ("job", "", "MiB/s", "IOPS", *TIMES, *(FLASH if has_flash else ()))
    rows = [row for group in own["groups"] for row in _group_rows(document, group, has_flash)]
    return Table(columns, [row[: len(columns)] for row in rows], columns[2:])


def repeats_note(document: Record) -> str:
    """What the numbers of several repeats are; nothing of one run."""
    own = document["drivelab"]
    if "repeats" not in own:
        return ""
    return (
        f"Means of {own['repeats']['count']} repeats, ± half of the 95 % interval; flushes, "
        "the flash's numbers and the line below them are of the first repeat."
    )


def lines(document: Record) -> Iterator[Line]:
    """What the drive did as a whole, what must be known of reads, and whether jobs got steady."""
    own = document["drivelab"]
    written = dict.fromkeys(data_pattern_text(part["pattern"]) for part in own["data"])
    did = inside(own)
    whole = "all jobs: " if did and len(own["groups"]) > 1 else ""
    yield Line(
        f"{own['model']}, {own['state']}: {whole}{did and did + '; '}"
        f"data {' '.join(written)}; seed {own['seed']}{_spare(own)}"
    )
    for group in own["groups"]:
        if note := _pause_note(group):
            yield Line(f"{', '.join(group['jobs'])}: {note}")
        for note in notes_of_reads(group):
            yield Line(f"{_named(document, group, ('read',))}: {note}")
        for note in notes_of_changes(group):
            yield Line(f"{_named(document, group, (*CHANGING, 'sync'))}: {note}")
    yield from map(Line, _steady_lines(document))


def _pause_note(group: Record) -> str:
    """What a drive did by itself before a group measured, as in `startdelay`: no number has it."""
    done = group.get("unmeasured")
    # What is written while jobs ramp up is left out on purpose.
    if not done or done["host_write_bytes"] or not (done["flash_write_bytes"] or done["erases"]):
        return ""
    joules = done["energy_j"]
    took = "" if joules is None else f" and took {number(joules)} J"
    return (
        f"before it began the drive alone programmed {number(mib(done['flash_write_bytes']))} MiB, "
        f"erased {counted(done['erases'], 'block')}{took}: no other number has these"
    )


def not_steady(document: Record) -> str:
    """That the jobs weren't steady in the end, or in which repeats; nothing if they were."""
    found = _verdicts(document)
    missed = [place for place, verdict in enumerate(found, start=1) if not verdict["reached"]]
    if not missed:
        return ""
    repeats = f" in repeat {', '.join(map(str, missed))} of {len(found)}"
    where = repeats if len(found) > 1 else ""
    return f"--until-steady {found[0]['metric']}: not reached{where}"


def _named(document: Record, group: Record, directions: Sequence[str]) -> str:
    """The jobs of a group that did any of these; all of them if none got so far."""
    jobs = [job for job in document["jobs"] if job["groupid"] == group["groupid"]]
    found = [job["jobname"] for job in jobs if any(job[word]["total_ios"] for word in directions)]
    return ", ".join(found or group["jobs"])


def _spare(own: Record) -> str:
    """The effective spare area of what was run, nothing for a drive that has none."""
    ratio = own.get("effective_spare_ratio")
    return "" if ratio is None else f"; effective spare area {100 * ratio:.1f} %"


def _group_rows(document: Record, group: Record, has_flash: bool) -> list[tuple[str, ...]]:
    """A row for each direction of the group's jobs, and one for what all did to the flash."""
    jobs = [
        index for index, job in enumerate(document["jobs"]) if job["groupid"] == group["groupid"]
    ]
    shown = []
    for index in jobs:
        found = [_row(document, index, direction) for direction in DIRECTIONS]
        found.append(_flush_row(document, index))
        shown += [row for row in found if row is not None]
    changing = sum(row[1] in CHANGING for row in shown)
    # Beside jobs that only read the drive may go on with what was written before.
    in_background = not changing and (group["flash_write_bytes"] or group["erases"])
    if has_flash and (changing > 1 or in_background):
        name = BACKGROUND if in_background else f"{len(jobs)} jobs together"
        blanks = ("",) * (2 + len(TIMES))
        shown.append((name, "", *blanks, *_flash_cells(group)))
    return shown


def _steady_lines(document: Record) -> Iterator[str]:
    """Whether jobs that were to get steady did."""
    for job in document["jobs"]:
        if found := job.get("steadystate"):
            word = "attained" if found["attained"] else "not attained"
            told = "" if found["criterion"] is None else f": {found['criterion']}"
            criterion, _, limit = found["ss"].partition(":")
            percent = "%" if limit.endswith("%") else ""
            wanted = f"{criterion}:{number(float(limit.removesuffix('%')))}{percent}"
            yield (
                f"{job['jobname']}: steadystate {wanted} over {found['duration']} s {word}{told}"
            )
    verdicts = _verdicts(document)
    for place, found in enumerate(verdicts, start=1):
        metric = found["metric"] if len(verdicts) == 1 else f"repeat {place}: {found['metric']}"
        told = f"{found['rounds']} rounds of {number(found['round_s'])} s"
        if found["average"] is not None:
            told += f", average of the last {number(found['average'])}"
        yield f"{metric} {'steady' if found['reached'] else 'not steady'} after {told}"


def _verdicts(document: Record) -> Sequence[Record]:
    """What `--until-steady` found in each repeat."""
    own = document["drivelab"]
    first = own.get("until_steady")
    alone = [] if first is None else [first]
    found: Sequence[Record] = (own.get("repeats") or {}).get("until_steady", alone)
    return found


def _row(document: Record, index: int, direction: str) -> tuple[str, ...] | None:
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


def _flush_row(document: Record, index: int) -> tuple[str, ...] | None:
    """What a job's flushes took, of the first repeat; None if it had none."""
    job = document["jobs"][index]
    if not job["sync"]["total_ios"]:
        return None
    times = _times_ns(job["sync"]["lat_ns"])
    cells = (number(None if ns is None else ns / 1e6) for ns in times)
    return (job["jobname"], "flush", "", "", *cells, *("",) * len(FLASH))


def _flash_cells(flash: Record) -> tuple[str, str, str]:
    programmed = flash["flash_write_bytes"]
    return (
        number(flash["write_amplification"], 3),
        number(mib(programmed)),
        UNKNOWN if flash["erases"] is None else str(flash["erases"]),
    )


def _times_ns(latency: Record) -> tuple[float | None, ...]:
    """Mean, 99 % and 99.99 % percentile and maximum of what fio says of a latency."""
    at = latency["percentile"]
    return latency["mean"], at.get("99.000000"), at.get("99.990000"), latency["max"]


CELLS = ("latency_mean_us", "latency_p99_us", "latency_p99_99_us", "latency_max_us")
"""Names that repeats give the latencies of the table."""


def _cells(document: Record, index: int, direction: str) -> Iterator[str]:
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
    for key, value in (("mib_per_s", mib(part["bw_bytes"])), ("iops", part["iops"])):
        single = None if repeats else value
        yield spread(numbers.get(key, {}).get("mean", single), {"repeats": numbers}, key)
    for key, ns in zip(CELLS, _times_ns(part["clat_ns"]), strict=True):
        if key in numbers:
            scaled = {edge: numbers[key][edge] / 1e3 for edge in ("mean", "low", "high")}
            yield spread(scaled["mean"], {"repeats": {key: scaled}}, key)
        else:
            # What a repeat hasn't got has no mean.
            yield number(None if ns is None or repeats else ns / 1e6)
