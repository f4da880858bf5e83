"""What is varied in a sweep: every combination of lists, and points that are listed one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.errors import RequestError
from drivelab.fio.jobs import option_names
from drivelab.fio.options import option_meaning
from drivelab.lab import checks
from drivelab.model_texts import meaning

JOB = "job."
"""Keys that begin like this are options of the job."""
STATE, SEED, TRACE, MODEL = "state", "seed", "trace", "model"
APART_FROM_PARAMETERS = (STATE, TRACE, MODEL)
"""Keys that are neither the model's nor the job's."""
APART = ","
"""Between keys that vary together."""

Values = dict[str, Any]


@dataclass(frozen=True)
class Varied:
    """What is varied, checked as far as it can be without a drive."""

    keys: tuple[str, ...]
    combinations: Sequence[Values]
    """Listed points slowest, the last key of the grid fastest."""
    seeds: Sequence[int] | None = None
    """Those that every combination is measured with; None: that of the drive."""
    axes: Mapping[str, Sequence[Any]] | None = None
    """Keys of the grid that vary alone, and their values."""


def varied(grid: Mapping[str, object] | None, listed: Iterable[Mapping[str, Any]] | None) -> Varied:
    """All combinations of what is in the grid, for each of the listed points.

    Raises RequestError for a key or values that can't be.
    """
    if not grid and listed is None:
        raise RequestError("sweep(): give a grid, e.g. {'spare_ratio': [0.07, 0.28]}, or points")
    axes = [_listed(listed)] if listed is not None else []
    names = [name for key in grid or () for name in _names(key)]
    _check_apart([*(axes[0][0] if axes else ()), *names])
    alone: dict[str, Sequence[Any]] = {}
    seeds: Sequence[int] | None = None
    for key, values in (grid or {}).items():
        names = _names(key)
        if names == [SEED]:
            seeds = [checks.whole(SEED, seed, 0, 2**63 - 1) for seed in _values(key, values)]
        elif len(names) > 1:
            axes.append(_together(names, values))
        else:
            alone[names[0]] = _values(key, values)
            axes.append([{names[0]: value} for value in alone[names[0]]])
    keys = [key for axis in axes for key in axis[0]]
    for key in keys:
        _check(key)
    combinations = [
        {key: value for part in parts for key, value in part.items()}
        for parts in itertools.product(*axes)
    ]
    return Varied(tuple(keys), combinations, seeds, alone)


def _names(key: Any) -> list[str]:
    return [name.strip() for name in checks.text("key of the grid", key).split(APART)]


def meaning_of(key: str) -> str:
    """A key of the grid, the same for keys that say the same thing."""
    if not key.startswith(JOB):
        return meaning(key)
    name = option_meaning(key.removeprefix(JOB))
    # Both may stand in a job, where they must agree: one of them can't vary.
    return JOB + {"filesize": "size"}.get(name, name)


def _check_apart(names: Iterable[str]) -> None:
    """Raises RequestError for two that say the same thing: only the last would count."""
    seen: dict[str, str] = {}
    for name in names:
        about = meaning_of(name)
        other = seen.get(about)
        if other == name:
            raise RequestError(f'"{name}" is varied in two places; once is allowed')
        if other is not None:
            raise RequestError(f'"{other}" and "{name}" say the same thing; vary one of them')
        seen[about] = name


def _check(key: str) -> None:
    if key == SEED:
        raise RequestError('seed: give "seed" a list of its own in the grid')
    if key in option_names() and key != STATE:
        raise RequestError(f'"{key}" is an option of the job: its key is "{JOB}{key}"')


def _values(key: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise RequestError(f"{key} = {values!r}: give a list of values, e.g. [{values!r}]")
    found = [checks.plain(value) for value in values]
    if not found:
        raise RequestError(f"{key}: the list of values is empty")
    twice = [value for index, value in enumerate(found) if str(value) in map(str, found[:index])]
    if twice:
        raise RequestError(
            f"{key}: {twice[0]!r} is there twice; for more runs of it give repeats=N"
        )
    return found


def _together(names: Sequence[str], values: Any) -> list[Values]:
    """Keys that vary together: a value of each at a time."""
    key = ", ".join(names)
    found = []
    for row in _values(key, values):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence) or len(row) != len(names):
            raise RequestError(f"{key}: {row!r}: allowed: {len(names)} values, one of each key")
        found.append({name: checks.plain(value) for name, value in zip(names, row, strict=True)})
    return found


def _listed(points: Any) -> list[Values]:
    if isinstance(points, str | bytes | Mapping) or not isinstance(points, Iterable):
        raise RequestError(f"points = {points!r}: give a list of points, e.g. [{{'state': 'new'}}]")
    found: list[Values] = []
    for index, point in enumerate(points):
        place = f"point {index + 1}"
        if not isinstance(point, Mapping) or not point:
            raise RequestError(f"points: {place}: {point!r}: allowed: values by their keys")
        values = {checks.text(place, key): checks.plain(value) for key, value in point.items()}
        if found and set(values) != set(found[0]):
            odd = ", ".join(sorted(set(values) ^ set(found[0])))
            raise RequestError(f"points: {place}: {odd}: every point needs the same keys")
        if values in found:
            raise RequestError(
                f"points: {place}: it is there twice; for more runs of it give repeats=N"
            )
        found.append({key: values[key] for key in (found[0] if found else values)})
    if not found:
        raise RequestError("points: the list is empty")
    return found
