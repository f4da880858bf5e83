"""What `replay` prints: the whole trace, its rounds, each direction beside what was recorded."""

from __future__ import annotations

from typing import Any

from drivelab import replay as laboratory
from drivelab import rounds
from drivelab.commands import printing
from drivelab.quantities import bytes_text
from drivelab.results import unmapped_note


def show(document: dict[str, Any], scale: int = 1) -> None:
    """What a replay measured, as its document has it: the whole, rounds, directions; `scale` is N
    of a small version, 1/N of its drive."""
    measured, trace = document["replay"], document["trace"]
    number = printing.number
    lines = [
        f"{trace['file']} ({trace['format']}, {trace['requests']} requests) took "
        f"{number(measured['duration_s'])} s: {number(measured['iops'])} IOPS, "
        f"{number(measured['mb_per_s'])} MB/s ({number(measured['mib_per_s'])} MiB/s)",
    ]
    if measured["busy_s"] is not None:
        lines.append(
            f"disk busy {number(measured['busy_s'])} s: {number(measured['mb_per_busy_s'])} MB/s "
            f"({number(measured['mib_per_busy_s'])} MiB/s) while busy"
        )
    if cut := document["gaps_cut"]:
        lines.append(
            f"{laboratory.cut_text(document['drivelab']['idle_cap_ns'])} (--idle-cap): "
            f"{cut['count']} of them, {number(cut['left_out_s'])} s in all"
        )
    if len(trace["devices"]) > 1:
        lines.append(
            f"requests of {len(trace['devices'])} devices as if they were one drive's; "
            "--device chooses one"
        )
    if trace["dropped"]:
        lines.append(f"{trace['dropped']} requests without a response or data were left out")
    out = printing.console()
    if "rounds" in document:
        _print_rounds(document["rounds"], trace["duration_s"], scale)
    for line in lines:
        out.print(line, markup=False)
    _print_directions(document)
    if inside := printing.inside_text(measured):
        out.print(inside, markup=False)
    if note := unmapped_note(measured["unmapped_read_share"]):
        out.print(note, markup=False)


SHOWN_ROUNDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Rounds of the table, and the last ones."""


def _print_rounds(found: dict[str, Any], recorded_s: float, scale: int) -> None:
    """A row for some of the rounds, what they came to, and what a year of it does."""
    number = printing.number
    columns = ("round", "s", "MiB/s", "WA", "erases", "longest write ms")
    rows = []
    for index, item in enumerate(found["each"], start=1):
        if index not in SHOWN_ROUNDS and index <= found["count"] - rounds.WINDOW:
            continue
        longest = item["write_latency_max_us"]
        cells = [item["duration_s"], item["mib_per_s"], item["write_amplification"]]
        cells += [item["erases"], None if longest is None else longest / 1000]
        rows.append((str(index), *(number(value) for value in cells)))
    printing.table(columns, rows, columns)
    out = printing.console()
    word = "steady" if found["steady"] else "not steady"
    out.print(f"{found['count']} rounds, {word} ({rounds.STEADY_TEXT})", markup=False)
    if worn := found["year"]:
        life = ""
        if worn["endurance_cycles"]:
            years = worn["worn_out_after_years"]
            when = (
                "not worn, as these rounds wrote nothing to flash"
                if years is None
                else f"worn out after {number(years, 3)} years"
            )
            life = f", which stands {worn['endurance_cycles']}: {when}"
        out.print(
            f"a year of it, {number(recorded_s)} s a round: the host writes "
            f"{bytes_text(worn['host_write_bytes'])}, the flash "
            f"{bytes_text(worn['flash_write_bytes'])}: {number(worn['cycles'], 3)} cycles of "
            f"each block{life}",
            markup=False,
        )
        if scale > 1:
            out.print(
                f"this small version, 1/{scale}, wears out {scale} times as fast as its drive",
                markup=False,
            )
    out.print("\nThe last round:", markup=False)


def _print_directions(document: dict[str, Any]) -> None:
    """One row per direction, one more for what was recorded, where the trace tells it."""
    rate_columns = ("requests", "MB/s", "MiB/s", "IOPS", "busy s")
    time_columns = ("mean ms", "50 % ms", "99 % ms", "99.99 % ms", "max ms", "late ms", "latest ms")
    rows = []
    for direction in laboratory.DIRECTIONS:
        part = document["replay"][direction]
        if not part["ios"]:
            continue
        rates = [part[key] for key in ("mb_per_s", "mib_per_s", "iops", "busy_s")]
        times = [part["latency_us"][key] for key in ("mean", "p50", "p99", "p99_99", "max")]
        late = part["lateness_ms"] or {}
        values = [*rates, *_in_ms(times), late.get("mean"), late.get("max")]
        rows.append((direction, str(part["ios"]), *(printing.number(value) for value in values)))
        recorded = document["trace"][direction]["recorded_latency_us"]
        if recorded:
            times = [recorded["mean"], recorded["p50"], recorded["p99"], None, recorded["max"]]
            values = [None] * 4 + _in_ms(times) + [None] * 2
            cells = (printing.number(value) for value in values)
            rows.append(("  as recorded", str(recorded["count"]), *cells))
    numbers = (*rate_columns, *time_columns)
    printing.table(("", *numbers), rows, numbers)


def _in_ms(times_us: list[float | None]) -> list[float | None]:
    return [None if us is None else us / 1000 for us in times_us]
