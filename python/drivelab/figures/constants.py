"""Constants of states and tests that were chosen with published results in view.

They are parameters as those of models are, with sources in the same words; a figure that one of
them binds is not predicted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from drivelab.applications import desktop, loading, pcmark
from drivelab.figures.readings import Reading
from drivelab.sources import role_of
from drivelab.states import image


@dataclass(frozen=True)
class Constant:
    """A constant that can be varied: where it stands, what it reaches, and how it is changed."""

    key: str
    source: str
    reaches: Callable[[Reading], bool]
    place: tuple[ModuleType, str]
    change: Callable[[Any, float], Any]
    """What stands there, with the constant multiplied by a factor."""

    @property
    def role(self) -> str:
        """One of sources.ROLES."""
        role = role_of(self.source)
        assert role is not None, self.key
        return role

    @property
    def stands(self) -> Any:
        """What stands at the place."""
        return getattr(*self.place)

    @contextmanager
    def varied(self, factor: float) -> Iterator[None]:
        """Everything that runs inside has the constant multiplied by a factor."""
        module, name = self.place
        before = getattr(module, name)
        setattr(module, name, self.change(before, factor))
        try:
            yield
        finally:
            setattr(module, name, before)


def _in_test(*test_ids: str) -> Callable[[Reading], bool]:
    return lambda reading: reading.test_id in test_ids


def _on_image(reading: Reading) -> bool:
    """Of the used state: the desktop's tests lie on the image, whatever state they are run in."""
    return reading.state == "used" or reading.test_id == "desktop-use"


def _field(name: str) -> Callable[[Any, float], Any]:
    """Changes a field of a record; whole numbers by a step at least."""

    def change(record: Any, factor: float) -> Any:
        return replace(record, **{name: scaled(getattr(record, name), factor)})

    return change


def _field_of_each(name: str) -> Callable[[Any, float], Any]:
    change = _field(name)
    return lambda records, factor: tuple(change(record, factor) for record in records)


def _read_sizes(records: Any, factor: float) -> Any:
    """The share of the smallest reads; the others share what is left as before."""
    return tuple(replace(r, read_sizes=_tilted(r.read_sizes, factor)) for r in records)


def _tilted(sizes: Any, factor: float) -> Any:
    (smallest, share), *others = sizes
    if not others:
        return sizes
    less = (1 - share * factor) / (1 - share)
    return ((smallest, share * factor), *((size, part * less) for size, part in others))


def _extents(record: Any, factor: float) -> Any:
    (largest, share), *others = reversed(record.extents)
    less = (1 - share * factor) / (1 - share)
    kept = tuple((size, part * less) for size, part in reversed(others))
    return replace(record, extents=(*kept, (largest, share * factor)))


def scaled(value: float, factor: float) -> float:
    """A number multiplied by a factor; a whole number by at least one step, and never below 1.

    >>> scaled(2, 1.1), scaled(100, 0.9), scaled(1, 0.9), scaled(0.5, 1.1)
    (3, 90, 1, 0.55)
    """
    if isinstance(value, int):
        step = max(1, round(abs(value * (factor - 1))))
        return max(1, value + step if factor > 1 else value - step)
    return value * factor


_LAYOUT = "informed: file-system surveys, with the published used results in view"
_MIX = "informed: one set for all drives, with the published scores in view"
_PCMARK = _in_test("pcmark-vantage")
_traces = (pcmark, "TRACES")
_image = partial(Constant, reaches=_on_image, place=(image, "IMAGE"))
_mix = partial(Constant, source=_MIX, reaches=_PCMARK, place=_traces)


def _of_load(name: str, field: str, source: str, change: Callable[[Any, float], Any]) -> Constant:
    """A constant of one load."""

    def change_one(loads: Any, factor: float) -> Any:
        return tuple(change(load, factor) if load.name == name else load for load in loads)

    return Constant(f"{name}.{field}", source, _in_test(name), (loading, "LOADS"), change_one)


def _processor(name: str, fitted: str) -> Constant:
    """The processor's part of a load."""
    source = f"fitted to {fitted}: the processor's part"
    return _of_load(name, "processor_s", source, _field("processor_s"))


def _phase(name: str) -> Callable[[Any, float], Any]:
    """Changes a field of what a load asks of the drive."""
    return lambda load, factor: replace(load, phase=_field(name)(load.phase, factor))


CONSTANTS = (
    _image("image.density", _LAYOUT, change=_field("density")),
    _image("image.extents", _LAYOUT, change=_extents),
    _mix("pcmark.processor_ns", change=_field_of_each("processor_ns")),
    _mix("pcmark.read_percent", change=_field_of_each("read_percent")),
    _mix("pcmark.read_run_bytes", change=_field_of_each("read_run_bytes")),
    _mix("pcmark.read_sizes", change=_read_sizes),
    _mix("pcmark.together", change=_field_of_each("together")),
    Constant(
        "pcmark.hdd_constant",
        "fitted to AN-083: the score of the disk suite",
        _PCMARK,
        (pcmark, "HDD_CONSTANT"),
        scaled,
    ),
    Constant(
        "pcmark.overall_constant",
        "fitted to AN-082: the overall score",
        _PCMARK,
        (pcmark, "OVERALL_CONSTANT"),
        scaled,
    ),
    Constant(
        "pcmark.overall_weight",
        "informed: the share of the disk, with the published overall scores in view",
        _PCMARK,
        (pcmark, "OVERALL_WEIGHT"),
        scaled,
    ),
    _processor("boot", "AN-239"),
    _processor("three-programs", "AN-231"),
    _processor("game-realm", "AN-038"),
    _of_load("game-realm", "total_bytes", "fitted to AN-037: what is read", _phase("total_bytes")),
    Constant(
        "desktop-use.burst_least",
        "fitted to AN-202: minutes until the first pause",
        _in_test("desktop-use"),
        (desktop, "BURST_LEAST"),
        scaled,
    ),
)
"""Constants of tests and states; docs/tests/applications.md and docs/states.md give reasons."""

INFORMED_ORDERINGS = {
    "ORD-010": "sysmark-2007: the processor's times",
    "ORD-014": "level-load: how many pieces are read together",
}
"""Orderings that constants of tests were chosen with in view, and which; no figure in numbers
follows from these tests, so nothing of them is varied."""


def digest(readings: frozenset[Reading]) -> str:
    """16 hexadecimal digits over the values of all constants that reach any of the readings."""
    found = [
        f"{constant.key}={constant.stands!r}"
        for constant in CONSTANTS
        if any(map(constant.reaches, readings))
    ]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]
