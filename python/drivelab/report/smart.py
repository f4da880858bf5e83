"""What real drives said of themselves while they were measured: rows, a table, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drivelab.records.model import Model
from drivelab.records.smart import Reading
from drivelab.records.test import AnyTest
from drivelab.report import quantities as q

Row = tuple[str, ...]

HOT_C = 70.0
"""Warned of where a drive doesn't say what its maker allows."""
COLUMNS = ("Test", "State", "°C before", "°C after", "Hosts wrote", "Flash was programmed")


def facts(model: Model) -> Iterator[tuple[str, str]]:
    """How a real drive was measured, as label and value; nothing of a model."""
    for key, value in (model.real or {}).items():
        if value is not None:
            words = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            yield key.replace("_", " "), words
    if model.smart is None:
        return
    if model.smart.remark:
        yield "SMART", model.smart.remark
    before, after = model.smart.before, model.smart.after
    for key, label, unit in (
        ("temperature_c", "temperature, before and after", "°C"),
        ("percentage_used", "endurance used, before and after", "%"),
        ("power_on_hours", "power-on hours, before and after", ""),
    ):
        values = [_of(before, key), _of(after, key)]
        if any(value is not None for value in values):
            words = " → ".join(q.DASH if value is None else f"{value:g}" for value in values)
            yield label, words + (f" {unit}" if unit else "")
    host, media = (_spent(before, after, f"{key}_write_bytes") for key in ("host", "media"))
    if host is not None:
        yield "hosts wrote meanwhile", q.data(host)
    if media is not None:
        over = f", {q.times(media / host)} of that" if host else ""
        yield "flash programmed meanwhile", q.data(media) + over


def table(tests: Iterable[AnyTest]) -> list[Row]:
    """A row of `COLUMNS` for each test around which the drive could be asked."""
    found = []
    for test in tests:
        if test.smart is None:
            continue
        before, after = test.smart.before, test.smart.after
        degrees = (_of(reading, "temperature_c") for reading in (before, after))
        written = (_spent(before, after, f"{key}_write_bytes") for key in ("host", "media"))
        found.append((
            test.title,
            test.state,
            *(q.DASH if value is None else f"{value:g}" for value in degrees),
            *(q.DASH if value is None else q.data(value) for value in written),
        ))  # fmt: skip
    return found


def warnings(model: Model, tests: Iterable[AnyTest]) -> Iterator[str]:
    """What makes the numbers doubtful: how a small version differs from its drive; heat, and a
    drive that expects to fail."""
    yield from (f"At this scale: {remark}." for remark in model.scale_remarks or ())
    before, after = (model.smart.before, model.smart.after) if model.smart else (None, None)
    readings = [("", before), ("", after)]
    for test in tests:
        if test.smart is not None:
            place = f" at {test.title}, {test.state}"
            readings += [(place, test.smart.before), (place, test.smart.after)]
    said = [(of, item) for of, item in readings if item is not None]
    known = [(item.temperature_c, of, item) for of, item in said if item.temperature_c is not None]
    if known:
        hottest, of, item = max(known, key=lambda each: each[0])
        limit = item.temperature_limit_c
        if hottest >= (HOT_C if limit is None else limit):
            words = "" if limit is None else f", and its maker allows {limit:g} °C"
            yield f"It had {hottest:g} °C{of}{words}: it may have slowed down to cool."
    if hot := _spent(before, after, "hot_minutes"):
        yield (
            f"It was {hot:g} min beyond its own thresholds of temperature meanwhile: it may have "
            "slowed down to cool."
        )
    elif any(item.too_hot for _, item in said):
        yield "It said that its temperature is beyond a threshold of its own."
    if any(item.passed is False for _, item in said):
        yield "It says of itself that it is about to fail."


def _of(reading: Reading | None, key: str) -> float | None:
    found: float | None = None if reading is None else getattr(reading, key)
    return found


def _spent(before: Reading | None, after: Reading | None, key: str) -> float | None:
    """By how much a counter rose; None where it isn't known, or was set back."""
    first, last = _of(before, key), _of(after, key)
    return None if first is None or last is None or last < first else last - first
