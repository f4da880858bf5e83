"""The points of a sweep: what each is known by, and the drive and job of each."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drivelab.errors import RequestError
from drivelab.lab import checks, notation
from drivelab.lab.axes import APART_FROM_PARAMETERS, JOB, MODEL, STATE, TRACE, Varied
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.trace import Trace
from drivelab.quantities import repeat_seeds
from drivelab.states import State


@dataclass(frozen=True)
class Point:
    """One measurement of a sweep."""

    values: dict[str, Any]
    """What is varied, by key; states by their names."""
    repeat: int
    drive: Drive
    """As the job finds it, not yet prepared."""
    job: Job | Trace

    @cached_property
    def key(self) -> str:
        """64 hexadecimal digits over all that the result follows from: model, seed, what was done
        to the drive, job and engine. Equal points of any sweeps have equal keys."""
        return point_key(self.drive.key, self.job.record())


def point_key(drive: str, job: Mapping[str, Any]) -> str:
    """The key of a point, from the drive's and the record of the job."""
    return hashlib.sha256(json.dumps([drive, job], sort_keys=True).encode()).hexdigest()


def by_drive(points: Iterable[Point]) -> dict[str, list[Point]]:
    """Points that start from one drive, by its key."""
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.drive.key, []).append(point)
    return found


def points(
    drive: Drive,
    varied: Varied,
    job: Job | Trace | None,
    state: str | State | None,
    repeats: int,
) -> list[Point]:
    """The points of all combinations, each with every seed.

    Raises RequestError for a key, a value or a combination that can't be, before anything runs.
    """
    seeds = _seeds(drive, varied, repeats)
    if drive.history and (state is not None or any(not _is_job(k) for k in varied.keys)):
        raise RequestError(
            "sweep(): the drive has a past already, which other parameters, states or seeds would "
            "not share; give a new one and state=..., or vary only options of the job"
        )
    if STATE in varied.keys and state is not None:
        raise RequestError("state: it is in the grid and beside it; once is allowed")
    if STATE in varied.keys and drive.model.is_disk:
        raise RequestError('state: a hard disk has one, "new"; vary something else')
    _check_names([values[STATE] for values in varied.combinations if STATE in values])
    found: list[Point] = []
    variants: dict[str, list[Drive]] = {}
    for values in varied.combinations:
        own_values = {k: v for k, v in values.items() if not _is_job(k)}
        label = json.dumps(own_values, default=str)
        if label not in variants:
            variants[label] = _variants(drive, own_values, state, seeds)
        own = _job(job, values)
        named = _named(values)
        found += [Point(named, n, each, own) for n, each in enumerate(variants[label])]
    for key, each in (varied.axes or {}).items():
        if key not in APART_FROM_PARAMETERS:
            _check_apart(key, each, drive, found[0].job)
    return found


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as tables have them: of a state of one's own, its name."""
    return {k: v.name if isinstance(v, State) else v for k, v in values.items()}


def _check_names(states: Sequence[Any]) -> None:
    """Raises RequestError for two states that tables could not tell apart."""
    known: dict[str, Any] = {}
    for state in states:
        name = state.name if isinstance(state, State) else str(state)
        if known.setdefault(name, state) != state:
            raise RequestError(f'state: two of them are named "{name}"; give each its own name')


def _is_job(key: str) -> bool:
    """Whether a key changes what is run, not what it runs on."""
    return key.startswith(JOB) or key == TRACE


def _job(job: Job | Trace | None, values: Mapping[str, Any]) -> Job | Trace:
    """What is run at a point."""
    options = {k.removeprefix(JOB): v for k, v in values.items() if k.startswith(JOB)}
    if TRACE not in values:
        if job is None:
            raise RequestError('job: give a drivelab.Job or Trace, or vary "trace"')
        return job.with_options(**options) if options else job
    if isinstance(job, Job):
        raise RequestError("trace: it is varied, and there is a job beside it; one of them")
    own = job.options if job is not None else {}
    return Trace(values[TRACE], **own).with_options(**options)


def _seeds(drive: Drive, varied: Varied, repeats: int) -> Sequence[int]:
    count = checks.whole("repeats", repeats, 1, 1000)
    if drive.history and (repeats > 1 or varied.seeds):
        raise RequestError("repeats: the drive has a past already; give a new one and state=...")
    if varied.seeds is None:
        return repeat_seeds(drive.seed, count)
    if count > 1:
        raise RequestError("seed: it is in the grid, and repeats beside it; one of them is allowed")
    return varied.seeds


def same(key: str, one: Any, other: Any, drive: Drive, job: Job | Trace) -> bool:
    """Whether two values of a key are one in other words: "1m" is a size or a time, by its key."""
    if key in APART_FROM_PARAMETERS or not notation.equal(one, other):
        return str(one) == str(other)
    try:
        return bool(_meaning(key, one, drive, job) == _meaning(key, other, drive, job))
    except RequestError:
        return False


def _meaning(key: str, value: Any, drive: Drive, job: Job | Trace) -> Any:
    """What a value makes of the drive or the job; None where its notation says it."""
    if key.startswith(JOB):
        own = job.with_options(**{key.removeprefix(JOB): value})
        if isinstance(own, Trace):
            return None
        return own.on_drive(drive.capacity_bytes, drive.seed, 0).job
    return drive.with_parameters({key: value}).model.hash


def _check_apart(key: str, values: Sequence[Any], drive: Drive, job: Job | Trace) -> None:
    """Raises RequestError for two values in other words that are one."""
    for one, other in itertools.combinations(values, 2):
        if same(key, one, other, drive, job):
            raise RequestError(f"{key}: {one!r} and {other!r} are one value; give it once")


def _variants(
    drive: Drive, values: Mapping[str, Any], state: str | State | None, seeds: Sequence[int]
) -> list[Drive]:
    """The drive with other parameters, once for each seed, with the state before it."""
    if drive.history:
        return [drive]
    parameters = {k: v for k, v in values.items() if k not in APART_FROM_PARAMETERS}
    own = drive.with_model(checks.text(MODEL, values[MODEL])) if MODEL in values else drive
    if parameters:
        own = own.with_parameters(parameters)
    before = values.get(STATE, "new" if state is None else state)
    return [own.with_seed(seed).in_state(before) for seed in seeds]
