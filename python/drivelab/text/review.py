"""A review: a row for each stream of requests in each state, and the values of all other tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.latencies import tells
from drivelab.quantities import number
from drivelab.results import STREAM, map_read_bytes, unmapped_note
from drivelab.text.layout import Line, Part, Table
from drivelab.text.measured import spread

Record = Mapping[str, Any]

STREAMS = ("test", "state", "MiB/s", "IOPS", "mean ms", "99.99 % ms", "max ms", "WA", "W")
VALUES = ("test", "state", "what", "value", "unit")


def parts(results: Record) -> Iterator[Part]:
    """The tests of each drive of results.json."""
    for model in results["models"]:
        yield Line(f"\n{model['title']}", style="bold")
        found = [test for test in results["tests"] if test["model"] == model["name"]]
        rows = [_stream_row(test) for test in found if test["kind"] == STREAM]
        if rows:
            yield Table(STREAMS, rows, STREAMS[2:])
        for note, tests in _unmapped(found):
            yield Line(f"{'; '.join(tests)}: {note}")
        values = [row for test in found if test["values"] for row in _value_rows(test)]
        if values:
            yield Table(VALUES, values, ("value",))
        for test in found:
            # A table of nothing doesn't say why.
            if test["values"] and all(value["value"] is None for value in test["values"]):
                for note in test["notes"]:
                    yield Line(f"{test['title']}, {test['state']}: {note}")


def _unmapped(tests: Sequence[Record]) -> Iterator[tuple[str, list[str]]]:
    """What must be said of reads that touched no flash, and of which tests."""
    found: dict[str, list[str]] = {}
    for test in tests:
        if note := unmapped_note(test["unmapped_read_share"], map_read_bytes(test["counters"])):
            found.setdefault(note, []).append(f"{test['title']}, {test['state']}")
    yield from found.items()


def _value_rows(test: Record) -> Iterator[tuple[str, ...]]:
    """A compound test's values; its title and state stand before the first."""
    heads = (test["title"], test["state"])
    for value in test["values"]:
        yield (
            *heads,
            value["title"],
            spread(value["value"], test, f"value:{value['name']}"),
            value["unit"],
        )
        heads = ("", "")


def _stream_row(test: Record) -> tuple[str, ...]:
    latency = test["latency_us"]
    tail = latency["p99_99"] if tells(test["ios"], 99.99) else None
    times = [latency["mean"], tail, latency["max"]]
    return (
        test["title"],
        test["state"],
        spread(test["mib_per_s"], test, "mib_per_s"),
        number(test["iops"]),
        *(number(None if time is None else time / 1000) for time in times),
        number(test["write_amplification"], 3),
        number(test["mean_power_w"], 3),
    )
