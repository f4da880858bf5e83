"""Axes: linear, logarithmic, of nines, of names; their marks in the unit's own words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

NINES = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999)
"""Marks of the nines axis, in percent."""
CLOSE_SHARE = 0.6
"""Values whose lowest is above this share of the highest are drawn without zero."""
ZERO_SHARE = 0.1
"""A horizontal axis begins at zero, if its lowest value is at most this share of the highest."""
FINE_DECADES = 2.7
"""Log axes shorter than this are marked at 1, 2 and 5, longer ones at powers of ten."""
MARKS_MAX = 7
"""Most sizes that a log axis of bytes is marked with."""
POINTS_MAX, POINT_DIGITS = 8, 3
"""A horizontal log axis of so few values, none with more digits, is marked at these."""

CROWDED_FROM = 5.0
"""An axis of nines that is longer has no room for 0 % beside 50 %; where it begins is plain."""

LETTER_PX, NARROW_PX, LEANING_MAX = 6, 520, 16
"""A letter of a label, the width of a picture's plot less its edges, and names that may lean."""

_STEPS = {
    "µs": ((1e6, "s"), (1e3, "ms"), (1, "µs"), (1e-3, "ns")),
    "B": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
}
"""Units that are written as the one of these that fits."""


@dataclass(frozen=True)
class Scale:
    """An axis: what it shows, in which unit; `kind` is linear, log, nines or names.

    The unit "µs" is marked in ns, µs, ms or s, and "B" in B, KiB, MiB or GiB, as fits. On an axis
    of nines 90 % is 1, 99 % is 2 and so on; `longest` is the place of the slowest of all.
    """

    title: str
    unit: str = ""
    kind: str = "linear"
    longest: float | None = None
    marks: tuple[float, ...] = ()
    """What is marked, if not what fits."""

    @property
    def text(self) -> str:
        """The title with its unit."""
        return f"{self.title}, {self.unit}" if self.unit and self.unit not in _STEPS else self.title

    @property
    def meta(self) -> dict[str, Any]:
        """What the page's script needs to write a value of the axis."""
        labels = {"µs": "latency", "B": "bytes"}.get(self.unit, self.kind)
        named = "" if self.unit in _STEPS else self.unit
        return {"title": self.title, "unit": named, "labels": labels, "longest": self.longest}

    def across(self, values: Iterable[Any], *, at_points: bool = True) -> dict[str, Any]:
        """The horizontal encoding of these values.

        A log axis is marked `at_points` where these are few and round: 1, 2, 4 for what was
        measured at 1, 2 and 4.
        """
        known = [value for value in values if value is not None]
        scale: dict[str, Any]
        if self.kind == "names":
            # Names of sizes have their unit, those of other numbers have not.
            title = f"{self.title}, {self.unit}" if self.unit not in ("", "B") else self.title
            axis = {"title": title or None, **_of_names([str(value) for value in known])}
            scale = {"type": "band", "paddingInner": 0.4, "paddingOuter": 0.2}
            return {"type": "ordinal", "sort": None, "axis": axis, "scale": scale}
        points = _points(known) if at_points and self.kind == "log" and self.unit != "B" else ()
        drawn = replace(self, marks=self.marks or points)
        axis = {"title": self.text or None, "grid": False, **drawn._marks(known)}
        scale = {"nice": False}
        if self.kind == "log":
            scale |= {"type": "log", **_domain(known, 0.03)}
        elif self.kind == "nines":
            end = self.longest or max(known, default=5.0)
            scale |= {"domain": [0, end + 0.1]}
        else:
            axis["tickCount"] = 6
            if all(float(value).is_integer() for value in known):
                axis["tickMinStep"] = 1
            low, high = min(known, default=0), max(known, default=0)
            scale |= {"zero": 0 <= low <= ZERO_SHARE * high}
        return {"type": "quantitative", "axis": axis, "scale": scale}

    def upright(self, values: Iterable[Any], *, from_zero: bool = False) -> dict[str, Any]:
        """The vertical encoding of these values."""
        known = [value for value in values if value is not None]
        axis = {"title": self.text or None, **self._marks(known)}
        if self.kind == "log":
            return {
                "type": "quantitative", "axis": axis,
                "scale": {"type": "log", "nice": False, **_domain(known, 0.08)},
            }  # fmt: skip
        zero = from_zero or not _close(known)
        axis |= {"tickCount": 5}
        return {"type": "quantitative", "axis": axis, "scale": {"zero": zero, "nice": 5}}

    def _marks(self, known: list[float]) -> dict[str, Any]:
        marks: dict[str, Any] = {}
        if self.unit in _STEPS:
            steps = [f"abs(datum.value) >= {size} ? format(datum.value / {size}, '~r') + ' {unit}'"
                     for size, unit in _STEPS[self.unit]]  # fmt: skip
            marks["labelExpr"] = " : ".join([*steps, "format(datum.value, '~r')"])
        elif self.kind == "nines":
            places = [nines(at) for at in NINES]
            names = [f"abs(datum.value - {place:.4f}) < .01 ? '{at:g}%'"
                     for at, place in zip(NINES, places, strict=True)]  # fmt: skip
            if self.longest is not None:
                if self.longest > CROWDED_FROM:
                    places.remove(0.0)
                places = [place for place in places if place < self.longest - 0.3]
                places.append(self.longest)
                names.append(f"datum.value == {self.longest} ? 'max'")
            marks |= {"values": places, "labelExpr": " : ".join([*names, "''"]), "labelAngle": 0}
        if self.marks:
            # The usual format has as many digits as even steps would need: 0.28 would be 0.3.
            marks = {"labelExpr": "format(datum.value, ',~r')"} | marks
            marks["values"] = list(self.marks)
        elif self.kind == "log" and known:
            marks["values"] = self._log_marks(known)
        return marks

    def _log_marks(self, known: list[float]) -> list[float]:
        low, high = _domain(known, 0.08)["domain"]
        if self.unit == "B":
            # A drive's whole capacity among sizes that double would be marked with its digits.
            doubled = {value for value in known if value > 0 and math.frexp(value)[0] == 0.5}
            places = sorted(doubled if len(doubled) > 1 else set(known))
            return places[:: max(1, -(-len(places) // MARKS_MAX))]
        fine = math.log10(high / low) < FINE_DECADES
        return [
            step * 10.0**decade
            for decade in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for step in ((1, 2, 5) if fine else (1,))
            if low <= step * 10.0**decade <= high
        ]


def nines(percent: float) -> float:
    """Position on the nines axis: 90 % is 1, 99 % is 2, 99.9 % is 3."""
    return -math.log10(1 - percent / 100)


def _of_names(names: Sequence[str]) -> dict[str, Any]:
    """Labels of names: in words each is needed, and they lean where they don't fit side by side."""
    different = list(dict.fromkeys(names))
    in_words = any(name[:1].isalpha() for name in different)
    wide_px = sum(LETTER_PX * len(name) + LETTER_PX for name in different)
    if in_words and wide_px > NARROW_PX and len(different) <= LEANING_MAX:
        return {"labelAngle": -25, "labelOverlap": False, "labelLimit": 200}
    return {"labelAngle": 0, "labelOverlap": True}


def _points(known: Iterable[float]) -> tuple[float, ...]:
    """The values themselves, if they are few, and round as chosen ones are."""
    found = sorted({value for value in known if value > 0})
    is_few = 2 <= len(found) <= POINTS_MAX
    is_round = all(float(f"{value:.{POINT_DIGITS}g}") == value for value in found)
    # Above 1000, powers of two have more digits.
    is_whole = all(float(value).is_integer() for value in found)
    return tuple(found) if is_few and (is_round or is_whole) else ()


def _close(values: list[float]) -> bool:
    """Lines that lie close together far from zero would be one line on an axis from zero."""
    return len(values) > 2 and min(values) > CLOSE_SHARE * max(values) > 0


def _domain(values: list[float], room: float) -> dict[str, list[float]]:
    """The ends of a log axis: at least a decade, and some room at both ends."""
    logs = [math.log10(value) for value in values if value > 0]
    low, high = min(logs, default=0.0), max(logs, default=1.0)
    if high - low < 1:
        low, high = (high + low) / 2 - 0.5, (high + low) / 2 + 0.5
    else:
        low, high = low - room, high + room
    return {"domain": [10**low, 10**high]}
