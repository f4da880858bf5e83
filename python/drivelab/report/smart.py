"""What real drives said of themselves while they were measured: rows, a table, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drivelab.report import quantities as q
from drivelab.report.loose import as_dict, text

Record = Mapping[str, Any]
Row = tuple[str, ...]

HOT_C = 70.0
"""Warned of where a drive doesn't say what its maker allows."""
COLUMNS = ("Test", "State", "°C before", "°C after", "Hosts wrote", "Flash was programmed")


def rows(smart: Record) -> Iterator[tuple[str, str]]:
    """Labels and values for the facts about a drive."""
    if remark := text(smart.get("remark")):
        yield "SMART", remark
    before, after = as_dict(smart.get("before")), as_dict(smart.get("after"))
    for key, label, unit in (
        ("temperature_c", "temperature, before and after", "°C"),
        ("percentage_used", "endurance used, before and after", "%"),
        ("power_on_hours", "power-on hours, before and after", ""),
    ):
        values = [q.number(before.get(key)), q.number(after.get(key))]
        if any(value is not None for value in values):
            words = (q.DASH if value is None else f"{value:g}" for value in values)
            yield label, " → ".join(words) + (f" {unit}" if unit else "")
    host, media = (_spent(before, after, f"{key}_write_bytes") for key in ("host", "media"))
    if host is not None:
        yield "hosts wrote meanwhile", q.data(host)
    if media is not None:
        over = f", {q.times(media / host)} of that" if host else ""
        yield "flash programmed meanwhile", q.data(media) + over


def table(tests: Iterable[Record]) -> list[Row]:
    """A row of `COLUMNS` for each test around which the drive could be asked."""
    found = []
    for test in tests:
        readings = as_dict(test.get("smart"))
        if not readings:
            continue
        before, after = as_dict(readings.get("before")), as_dict(readings.get("after"))
        degrees = (q.number(reading.get("temperature_c")) for reading in (before, after))
        written = (_spent(before, after, f"{key}_write_bytes") for key in ("host", "media"))
        found.append((
            text(test.get("title")),
            text(test.get("state")),
            *(q.DASH if value is None else f"{value:g}" for value in degrees),
            *(q.DASH if value is None else q.data(value) for value in written),
        ))  # fmt: skip
    return found


def warnings(smart: Record, tests: Iterable[Record]) -> Iterator[str]:
    """What makes the numbers doubtful: heat, and a drive that expects to fail."""
    before, after = as_dict(smart.get("before")), as_dict(smart.get("after"))
    readings = [("", before), ("", after)]
    for test in tests:
        place = f" at {text(test.get('title'))}, {text(test.get('state'))}"
        pair = as_dict(test.get("smart"))
        readings += [(place, as_dict(pair.get(moment))) for moment in ("before", "after")]
    measured = [(q.number(item.get("temperature_c")), of, item) for of, item in readings]
    known = [(degrees, of, item) for degrees, of, item in measured if degrees is not None]
    if known:
        hottest, of, item = max(known, key=lambda each: each[0])
        limit = q.number(item.get("temperature_limit_c"))
        if hottest >= (HOT_C if limit is None else limit):
            said = "" if limit is None else f", and its maker allows {limit:g} °C"
            yield f"It had {hottest:g} °C{of}{said}: it may have slowed down to cool."
    hot = _spent(before, after, "hot_minutes")
    if hot:
        yield (
            f"It was {hot:g} min beyond its own thresholds of temperature meanwhile: it may have "
            "slowed down to cool."
        )
    elif any(item.get("too_hot") is True for _, item in readings):
        yield "It said that its temperature is beyond a threshold of its own."
    if any(item.get("passed") is False for _, item in readings):
        yield "It says of itself that it is about to fail."


def _spent(before: Record, after: Record, key: str) -> float | None:
    """By how much a counter rose; None where it isn't known, or was set back."""
    values = q.number(before.get(key)), q.number(after.get(key))
    if values[0] is None or values[1] is None or values[1] < values[0]:
        return None
    return values[1] - values[0]
