"""What a synthesised trace is to be like: published statistics, and assumptions for the rest."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from drivelab.errors import RequestError, nearest
from drivelab.figures.published import Figure, figures_by_id
from drivelab.quantities import GB

SIZES_KIB = (4, 16, 32, 64)
"""Request sizes whose shares the reviews print."""

REVIEW_SEED = 1
"""Seed of the traces that reviews replay: as there, all drives get the same requests."""

SHARED = {
    "gb_written": "GS-124",
    "gb_moved": "GS-123",
    "duration_min": "GS-125",
    "image_gb": "XV-041",
}
"""Statistics that are published for the three traces of 2010 together."""


@dataclass(frozen=True)
class Aim:
    """The value that a statistic of the trace is given, and where it comes from."""

    value: float
    source: str
    """Identity of the published figure, or "assumed: why"."""
    published: str | None = None
    """The figure about this statistic, also where it is only a bound."""


@dataclass(frozen=True)
class Habits:
    """How a desktop computer uses a drive, as far as no review says. Source of all: assumed."""

    max_depth: int = 32
    """Most requests outstanding: the drive's queue has 32 places [SATA]."""
    direction_runs: float = 8.0
    """Places in a row that are read before others are written: programs are busy in phases."""
    sequential_power: float = 0.5
    """Odds that a request carries on where the last one ended grow with size to this power."""
    align_bytes: int = 4096
    """Where requests start: on a cluster of the file system."""
    hot_access_share: float = 0.6
    """Share of places within the hot part of the image: caches, registry, directories, swap."""
    hot_size_share: float = 0.1
    """Size of the hot part, of the image."""
    stretch_count: int = 1000
    """Equal stretches that the image is divided into; hot ones are scattered over it."""
    gap_shape: float = 0.4
    """Shape of the Weibull distribution of times between bursts: many short ones, few long."""


HABITS = Habits()


@dataclass(frozen=True)
class Specification:
    """One trace: its name, and every number that it is made from."""

    name: str
    title: str
    year: int
    aims: Mapping[str, Aim]
    """By statistic: names of `Statistics`."""
    other_sizes_kib: Mapping[int, float]
    """Weights of sizes without a published share."""
    image_bytes: int
    """Region from LBA 0 that the trace touches, and that holds data before."""
    habits: Habits = HABITS

    def aim(self, statistic: str) -> float:
        """The value that the trace has in one statistic."""
        return self.aims[statistic].value

    @property
    def request_count(self) -> int:
        """Reads and writes."""
        return round(self.aim("reads") + self.aim("writes"))

    def published(self) -> dict[str, Figure]:
        """Published figures by statistic."""
        return {
            name: figures_by_id()[aim.published]
            for name, aim in self.aims.items()
            if aim.published is not None
        }


def _specification(name: str, entry: Mapping[str, Any]) -> Specification:
    aims = {}
    for statistic, figure_id in entry["published"].items():
        aims[statistic] = Aim(figures_by_id()[figure_id].value, figure_id, figure_id)
    for statistic, given in entry["aim"].items():
        figure_id = entry["published"].get(statistic)
        aims[statistic] = Aim(float(given["value"]), given["source"], figure_id)
    return Specification(
        name,
        entry["title"],
        entry["year"],
        aims,
        {int(size): float(weight) for size, weight in entry["other_sizes_kib"].items()},
        int(entry["places"]["image_gb"] * GB),
    )


@cache
def _entries() -> dict[str, dict[str, Any]]:
    text = resources.files("drivelab").joinpath("storage_bench", "traces.toml").read_text("utf-8")
    return tomllib.loads(text)


def title(name: str) -> str:
    """What a trace is called in reports. Whoever loads all tests asks for it, so no published
    figure is read for it."""
    return str(_entries()[name]["title"])


@cache
def traces() -> dict[str, Specification]:
    """Every trace by its name, in the order of their years."""
    return {name: _specification(name, entry) for name, entry in _entries().items()}


def find(name: str, option: str = "NAME") -> Specification:
    """The trace of this name; raises RequestError."""
    known = traces()
    found = known.get(name.removeprefix("storage-bench-"))
    if found is None:
        raise RequestError(
            f'{option} "{name}" is unknown{nearest(name, known)} Allowed: {", ".join(known)}.'
        )
    return found
