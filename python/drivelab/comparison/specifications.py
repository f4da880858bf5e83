"""In what the compared drives themselves differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.comparison.sides import Side
from drivelab.records.model import Parameter
from drivelab.report import quantities as q

MISSING = object()
WHOLE = "drive"
"""The group of what is said of the whole drive."""
NAMES = ("name", "title")
"""Keys that only name a drive, as its column does."""


@dataclass(frozen=True)
class Difference:
    """A parameter, or a fact of the drive, that isn't the same on all sides."""

    key: str
    unit: str
    values: tuple[Any, ...]
    """As in results.json; None where a side has no such parameter."""
    texts: tuple[str, ...]

    @property
    def group(self) -> str:
        """Part of the drive: the key up to its last dot."""
        return self.key.rpartition(".")[0] or WHOLE


def differences(sides: Sequence[Side]) -> list[Difference]:
    """Facts first, then parameters in the order of the first side, then the others'."""
    return [*_facts(sides), *_parameters(sides)]


def shared(sides: Sequence[Side]) -> list[Difference]:
    """Parameters that are the same on all sides, in the order of the first."""
    return [
        Difference(
            p.key, p.unit, (p.value,) * len(sides), (q.parameter(p.value, p.unit),) * len(sides)
        )
        for _, found in _by_key(sides)
        if _same([MISSING if p is None else p.value for p in found])
        for p in found[:1]
        if p is not None
    ]


def _same(values: Sequence[Any]) -> bool:
    return all(value is not MISSING and value == values[0] for value in values)


def _facts(sides: Sequence[Side]) -> Iterator[Difference]:
    models = [side.model for side in sides]
    for key, unit, values, texts in (
        (
            "raw flash",
            "bytes",
            [None if m.is_disk else m.raw_capacity_bytes for m in models],
            [q.DASH if m.is_disk else q.capacity(m.raw_capacity_bytes) for m in models],
        ),
        (
            "spare area, of user capacity",
            "",
            [m.spare_ratio for m in models],
            [q.percent(m.spare_ratio) for m in models],
        ),
        (
            "effective spare area, less what the drive holds back",
            "",
            [m.effective_spare_ratio for m in models],
            [q.percent(m.effective_spare_ratio) for m in models],
        ),
        (
            "price per GiB of user capacity",
            "USD",
            [m.price_usd_per_gib_user for m in models],
            [q.dollars(m.price_usd_per_gib_user) for m in models],
        ),
    ):
        if not _same(values):
            yield Difference(key, unit, tuple(values), tuple(texts))


def _by_key(sides: Sequence[Side]) -> Iterator[tuple[str, list[Parameter | None]]]:
    """What every side has of each parameter, those of the whole drive first."""
    known = [{p.key: p for p in side.model.parameters} for side in sides]
    keys = dict.fromkeys(key for parameters in known for key in parameters)
    for key in sorted(keys, key=lambda name: "." in name):
        yield key, [parameters.get(key) for parameters in known]


def _parameters(sides: Sequence[Side]) -> Iterator[Difference]:
    for key, found in _by_key(sides):
        if key in NAMES or _same([MISSING if p is None else p.value for p in found]):
            continue
        yield Difference(
            key=key,
            unit=next(p.unit for p in found if p is not None),
            values=tuple(None if p is None else p.value for p in found),
            texts=tuple(q.DASH if p is None else q.parameter(p.value, p.unit) for p in found),
        )
