"""The published figures, one TOML file per review."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from typing import Any, Literal

Relation = Literal["eq", "approx", "lt", "le", "gt", "ge", "range"]


@dataclass(frozen=True)
class Figure:
    """One number that a review printed. `relation`: how the truth relates to `value`."""

    id: str
    drive: str
    firmware: str
    state: str
    kind: str
    metric: str
    relation: Relation
    value: float
    unit: str
    review: str
    test: str = ""
    variant: str = ""
    note: str = ""
    value_min: float | None = None
    value_max: float | None = None
    workload: dict[str, Any] = field(default_factory=dict)


@cache
def published() -> tuple[Figure, ...]:
    """All figures of all reviews, in the order of their identities."""
    figures: list[Figure] = []
    for file in resources.files("drivelab").joinpath("figures").iterdir():
        if file.name.endswith(".toml"):
            document = tomllib.loads(file.read_text(encoding="utf-8"))
            figures += [Figure(**record) for record in document["figure"]]
    return tuple(sorted(figures, key=lambda figure: figure.id))


FIELD_NAMES = frozenset(item.name for item in fields(Figure))
"""Keys that a figure's record may have."""
