"""The points of a sweep: what is varied, in which order, and what each point is known by."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drivelab.errors import RequestError
from drivelab.fio.jobs import option_names
from drivelab.lab import checks
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.repeats import seeds
from drivelab.states import State

JOB = "job."
"""Keys of a grid that begin like this are options of the job."""
STATE = "state"


@dataclass(frozen=True)
class Point:
    """One measurement of a sweep."""

    values: dict[str, Any]
    """What is varied, by the keys of the grid."""
    repeat: int
    drive: Drive
    """As the job finds it, not yet prepared."""
    job: Job

    @cached_property
    def key(self) -> str:
        """64 hexadecimal digits over all that the result follows from: model, seed, what was done
        to the drive, job and engine. Equal points of any sweeps have equal keys."""
        known = [self.drive.key, self.job.record()]
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def points(
    drive: Drive,
    grid: Mapping[str, Iterable[Any]],
    job: Job,
    state: str | State | None,
    repeats: int,
) -> list[Point]:
    """All combinations, the last key of the grid fastest, each with every seed.

    Raises RequestError for a key, a value or a combination that can't be, before anything runs.
    """
    count = checks.whole("repeats", repeats, 1, 1000)
    if drive.history and (state is not None or any(not k.startswith(JOB) for k in grid)):
        raise RequestError(
            "sweep(): the drive has a past already, which other parameters, states or seeds would "
            "not share; give a new one and state=..., or vary only options of the job"
        )
    if drive.history and repeats > 1:
        raise RequestError("repeats: the drive has a past already; give a new one and state=...")
    for key in grid:
        if key == "seed":
            raise RequestError("seed: ask for repeats=N instead, which measures with N seeds")
        if key in option_names() and key != STATE:
            raise RequestError(f'"{key}" is an option of the job: its key is "{JOB}{key}"')
    axes = {key: _values(key, values) for key, values in grid.items()}
    if STATE in axes and state is not None:
        raise RequestError("state: it is in the grid and beside it; once is allowed")
    found: list[Point] = []
    variants: dict[str, list[Drive]] = {}
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        parameters = {k: v for k, v in values.items() if not k.startswith(JOB) and k != STATE}
        label = json.dumps([parameters, values.get(STATE)], default=str)
        if label not in variants:
            variants[label] = _variants(drive, parameters, values.get(STATE, state), count)
        options = {k.removeprefix(JOB): v for k, v in values.items() if k.startswith(JOB)}
        own = job.with_options(**options) if options else job
        found += [Point(values, n, each, own) for n, each in enumerate(variants[label])]
    return found


def groups(found: Sequence[Point], workers: int) -> list[list[Point]]:
    """Points that start from one prepared drive, together: prepared once, used by all of them.

    Are there fewer drives than workers, the largest groups are shared out.
    """
    by_drive: dict[str, list[Point]] = {}
    for point in found:
        by_drive.setdefault(point.drive.key, []).append(point)
    parts = list(by_drive.values())
    while len(parts) < workers:
        largest = max(parts, key=len, default=[])
        if len(largest) < 2:
            break
        index, half = parts.index(largest), (len(largest) + 1) // 2
        parts[index : index + 1] = [largest[:half], largest[half:]]
    return parts


def _values(key: str, values: Iterable[Any]) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
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


def _variants(
    drive: Drive, parameters: Mapping[str, Any], state: str | State | None, repeats: int
) -> list[Drive]:
    """The drive with other parameters, once for each seed, with the state before it."""
    if drive.history:
        return [drive]
    own = drive.with_parameters(parameters) if parameters else drive
    return [own.with_seed(seed).in_state(state or "new") for seed in seeds(drive.seed, repeats)]
