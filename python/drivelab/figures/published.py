"""The published figures and orderings, one TOML file per review."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal

Relation = Literal["eq", "approx", "lt", "le", "gt", "ge", "range"]
COMPARED_KINDS = ("measured", "derived")
"""Kinds of figures that a model can be held against. The rest are inputs of models (specifications,
configurations, prices), statistics of traces, and the worked example."""


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
    modelled_before: float | None = None
    """What the model gave before anybody had seen the figure; None of figures known all along."""

    @property
    def blind(self) -> bool:
        """Whether the figure was kept back until the models stood: it tests them, and they didn't
        know it. What they gave then (`modelled_before`) stays on record whatever is mended."""
        return self.modelled_before is not None

    @property
    def bound(self) -> bool:
        """Whether the review gives a limit or a range, not a value."""
        return self.relation not in ("eq", "approx")


@dataclass(frozen=True)
class Ordering:
    """An order of drives that a review printed, or drew in a chart without numbers."""

    id: str
    metric: str
    state: str
    best_first: tuple[str, ...]
    review: str
    note: str = ""


@cache
def _documents() -> dict[str, dict[str, Any]]:
    folder = resources.files("drivelab").joinpath("figures")
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }


def title_of(review: str) -> str:
    """A review's title, with its author, place and date as far as they are known."""
    return str(_documents()[review]["title"])


@cache
def published() -> tuple[Figure, ...]:
    """All figures of all reviews, in the order of their identities."""
    figures = [
        Figure(**record) for document in _documents().values() for record in document["figure"]
    ]
    return tuple(sorted(figures, key=lambda figure: figure.id))


@cache
def compared() -> tuple[Figure, ...]:
    """The figures of the kinds that a model can be held against."""
    return tuple(figure for figure in published() if figure.kind in COMPARED_KINDS)


@cache
def figures_by_id() -> dict[str, Figure]:
    """All figures by their identities."""
    return {figure.id: figure for figure in published()}


@cache
def orderings() -> tuple[Ordering, ...]:
    """All orderings of all reviews, in the order of their identities."""
    found = [
        Ordering(**{**record, "best_first": tuple(record["best_first"])})
        for document in _documents().values()
        for record in document.get("ordering", [])
    ]
    return tuple(sorted(found, key=lambda ordering: ordering.id))
