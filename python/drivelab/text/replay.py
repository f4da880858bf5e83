"""A replay of a trace: the whole of it, its rounds, each direction beside what was recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab import rounds, verdicts
from drivelab.counters import read_notes
from drivelab.quantities import bytes_text, counted, number
from drivelab.replay import DIRECTIONS, cut_text
from drivelab.text.layout import Line, Part, Table
from drivelab.text.measured import inside, trace_notes

Record = Mapping[str, Any]

SHOWN_ROUNDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Rounds of the table, and the last ones."""
RATES = ("requests", "MB/s", "MiB/s", "IOPS", "busy s")
TIMES = ("mean ms", "50 % ms", "99 % ms", "99.99 % ms", "max ms", "late ms", "latest ms")


def parts(document: Record, scale: int = 1) -> Iterator[Part]:
    """What a replay measured, as its document has it; `scale` is N of a small version, 1/N of its
    drive."""
    measured = document["replay"]
    if "rounds" in document:
        yield from _rounds(document["rounds"], document["trace"]["duration_s"], scale)
    yield from map(Line, _whole(document))
    yield _directions(document)
    if did := inside(measured):
        yield Line(did)
    yield from map(Line, read_notes(measured))


def _whole(document: Record) -> Iterator[str]:
    """The trace as a whole, and what of it isn't as it was recorded."""
    measured, trace = document["replay"], document["trace"]
    flushes, trims = measured["flush"]["count"], measured["trim"]["ios"]
    without = " without flushes" if flushes else ""
    of_data = " read and written" if trims else ""
    yield (
        f"{trace['file']} ({trace['format']}, {counted(trace['requests'], 'request')}) took "
        f"{number(measured['duration_s'])} s: {number(measured['iops'])} IOPS{without}, "
        f"{number(measured['mb_per_s'])} MB/s ({number(measured['mib_per_s'])} MiB/s){of_data}"
    )
    if measured["busy_s"] is not None:
        yield (
            f"disk busy {number(measured['busy_s'])} s: {number(measured['mb_per_busy_s'])} MB/s "
            f"({number(measured['mib_per_busy_s'])} MiB/s) while busy"
        )
    if cut := document.get("gaps_cut"):
        yield (
            f"{cut_text(document['drivelab']['idle_cap_ns'])} (--idle-cap): "
            f"{cut['count']} of them, {number(cut['left_out_s'])} s in all"
        )
    yield from trace_notes(trace)
    if len(trace["devices"]) > 1:
        yield "--device chooses one of its devices"


def _rounds(found: Record, recorded_s: float, scale: int) -> Iterator[Part]:
    """A row for some of the rounds, what they came to, and what a year of it does."""
    columns = ("round", "s", "MiB/s", "WA", "erases", "longest write ms")
    rows = []
    for index, item in enumerate(found["each"], start=1):
        if index not in SHOWN_ROUNDS and index <= found["count"] - rounds.WINDOW:
            continue
        longest = item["write_latency_max_us"]
        cells = [item["duration_s"], item["mib_per_s"], item["write_amplification"]]
        cells += [item["erases"], None if longest is None else longest / 1000]
        rows.append((str(index), *map(number, cells)))
    yield Table(columns, rows, columns)
    word = "steady" if found["steady"] else "not steady"
    yield Line(f"{found['count']} rounds, {word} ({rounds.STEADY_TEXT})")
    if worn := found["year"]:
        yield Line(_year(worn, recorded_s))
        if late := _behind(found, recorded_s):
            yield Line(late)
        if scale > 1:
            yield Line(
                f"this small version, 1/{scale}, wears out {scale} times as fast as its drive"
            )
    yield Line("\nThe last round:")


def _behind(found: Record, recorded_s: float) -> str:
    """That the last rounds took longer than the trace, where they did: a year of it is more than
    the drive does in one."""
    last = [item["duration_s"] for item in found["each"][-rounds.WINDOW :]]
    taken_s = math.fsum(last) / len(last)
    if taken_s <= recorded_s or not verdicts.differ(taken_s, recorded_s):
        return ""
    return (
        f"the drive takes {number(taken_s)} s for the {number(recorded_s)} s of a round: it falls "
        f"behind, and a year of the trace takes it {number(taken_s / recorded_s, 3)} years"
    )


def _year(worn: Record, recorded_s: float) -> str:
    """What a year of rounds does to the drive."""
    life = ""
    if worn["endurance_cycles"]:
        years = worn["worn_out_after_years"]
        when = (
            "not worn, as these rounds wrote nothing to flash"
            if years is None
            else f"worn out after {number(years, 3)} years"
        )
        life = f", which stands {worn['endurance_cycles']}: {when}"
    return (
        f"a year of it, {number(recorded_s)} s a round: the host writes "
        f"{bytes_text(worn['host_write_bytes'])}, the flash "
        f"{bytes_text(worn['flash_write_bytes'])}: {number(worn['cycles'], 3)} cycles of "
        f"each block{life}"
    )


def _directions(document: Record) -> Table:
    """One row per direction, one more for what was recorded, where the trace tells it."""
    rows = []
    for direction in DIRECTIONS:
        part = document["replay"][direction]
        if not part["ios"]:
            continue
        rates = [part[key] for key in ("mb_per_s", "mib_per_s", "iops", "busy_s")]
        times = [part["latency_us"][key] for key in ("mean", "p50", "p99", "p99_99", "max")]
        late = part["lateness_ms"] or {}
        values = [*rates, *_in_ms(times), late.get("mean"), late.get("max")]
        rows.append((direction, str(part["ios"]), *map(number, values)))
        recorded = document["trace"][direction]["recorded_latency_us"]
        if recorded:
            times = [recorded["mean"], recorded["p50"], recorded["p99"], None, recorded["max"]]
            values = [None] * 4 + _in_ms(times) + [None] * 2
            rows.append(("  as recorded", str(recorded["count"]), *map(number, values)))
    numbers = (*RATES, *TIMES)
    return Table(("", *numbers), rows, numbers)


def _in_ms(times_us: Sequence[float | None]) -> list[float | None]:
    return [None if us is None else us / 1000 for us in times_us]
