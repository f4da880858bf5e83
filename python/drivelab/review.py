"""Reviews models: prepares every state once, measures every test on a copy of its own.

The order in which worker threads get to the tests doesn't matter: each has its own drive and a seed
derived from (seed, model, state, test), so the result is the same to the bit with any number of
workers. At most the prepared drive and one copy per worker are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from drivelab import _engine, figures, results, states
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.procedures import Procedure
from drivelab.progress import Bar, Crew, Stopwatch, TaskProgress
from drivelab.quantities import MIB, derive_seed
from drivelab.states import State
from drivelab.targets import EngineTarget, Target

Record = dict[str, Any]
Log = Callable[[str], None]


CAPACITY_BYTES_MIN = 16 * MIB
"""Smaller drives are illustrations: their caches and spare areas are all that a test would see."""


@dataclass(frozen=True)
class Measurement:
    """One test in one state."""

    procedure: Procedure
    state: State


@dataclass(frozen=True)
class Plan:
    """What is reviewed. `command_line` repeats it; `quick` cuts every test to 10 s."""

    models: Sequence[Model]
    measurements: dict[str, list[Measurement]]
    """By model name, in the order of the report."""
    command_line: str
    seed: int = 1
    quick: bool = False
    workers: int = 2


def plan_measurements(
    model: Model, procedures: Sequence[Procedure], chosen: bool, log: Log
) -> list[Measurement]:
    """All tests that fit the model's drive, new first.

    A test too large for the drive is left out with a message, or refused if `chosen` by name.
    """
    capacity = model.user_capacity_bytes
    if capacity < CAPACITY_BYTES_MIN:
        raise RequestError(
            f'MODEL "{model.name}": {capacity} bytes are too small for a review; allowed: from '
            f"{CAPACITY_BYTES_MIN} bytes on. `drivelab example` shows such a drive step by step."
        )
    small = [test.id for test in procedures if not test.fits(capacity)]
    if small and (chosen or len(small) == len(procedures)):
        raise RequestError(
            f'--tests "{", ".join(small)}": a block is larger than the drive {model.name} '
            f"({capacity} bytes)"
        )
    if small:
        log(f"{model.name}: left out, because a block is larger than the drive: {', '.join(small)}")
    names = dict.fromkeys(name for test in procedures for name in test.states)
    return [
        Measurement(test, states.STATES[name])
        for name in names
        for test in procedures
        if name in test.states and test.fits(capacity)
    ]


def check(plan: Plan) -> None:
    """Raises RequestError if two models of a plan have the same name: results go by name."""
    names = [model.name for model in plan.models]
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f'MODEL "{name}" is asked for twice; each name may appear once')


def run(plan: Plan, shown: bool = True) -> Record:
    """Carries out a plan; returns the results as in results.json."""
    watch = Stopwatch()
    tests: list[Record] = []
    prepared: list[Record] = []
    benches = [_Bench(model, plan) for model in plan.models]
    tasks = [task for bench in benches for task in bench.tasks]
    with Bar(sum(task.weight for task in tasks), shown) as bar, Crew(plan.workers, bar) as crew:
        crew.tasks.extend(tasks)
        for bench in benches:
            model_states, model_tests = bench.run(crew)
            prepared += model_states
            tests += model_tests
    models = [results.model_result(model) for model in plan.models]
    return {
        "drivelab": {
            "schema": results.SCHEMA,
            "engine_version": _engine.engine_version(),
            "command_line": plan.command_line,
            "seed": plan.seed,
            "quick": plan.quick,
        },
        "models": models,
        "tests": tests,
        "states": prepared,
        "figures": figures.compare(models, tests),
        "wall_s": watch.seconds(),
    }


class _Bench:
    """One model's part of a review."""

    def __init__(self, model: Model, plan: Plan) -> None:
        self._model = model
        self._plan = plan
        self._measurements = plan.measurements[model.name]
        self._states = list(dict.fromkeys(item.state for item in self._measurements))
        self._preparing = {
            state: TaskProgress(f"{model.name}: preparing {state.name}", state.cost)
            for state in self._states
        }
        self._testing = {
            item: TaskProgress(
                f"{model.name}, {item.state.name}: {item.procedure.title}",
                item.procedure.duration_on(plan.quick) / 180,
            )
            for item in self._measurements
        }

    @property
    def tasks(self) -> list[TaskProgress]:
        """All tasks of this model, for the bar."""
        return [*self._preparing.values(), *self._testing.values()]

    def run(self, crew: Crew) -> tuple[list[Record], list[Record]]:
        """Records of states and tests, in the order of the plan."""
        prepared: dict[State, Future[Record]] = {}
        pending: dict[Measurement, Future[Record]] = {}
        measured: dict[Measurement, Record] = {}
        costly = [state for state in self._states if state.costly]
        # The longest preparation starts first; tests of new drives keep the other workers busy.
        preparation = self._snapshot(crew, costly[0]) if costly else None
        for state in self._states:
            if not state.costly:
                prepared[state] = self._record_state(crew, state)
                pending |= self._test(crew, state, partial(self._prepared_drive, state))
        records: dict[State, Record] = {}
        for following, state in zip([*costly[1:], None], costly, strict=True):
            assert preparation is not None
            [(snapshot, records[state])] = crew.wait(preparation)
            pending |= self._test(crew, state, snapshot.clone)
            measured |= dict(zip(pending, crew.wait(*pending.values()), strict=True))
            pending, preparation = {}, None
            del snapshot
            if following is not None:
                preparation = self._snapshot(crew, following)
        measured |= dict(zip(pending, crew.wait(*pending.values()), strict=True))
        records |= dict(zip(prepared, crew.wait(*prepared.values()), strict=True))
        return (
            [records[state] for state in self._states],
            [measured[item] for item in self._measurements],
        )

    def _prepared_drive(self, state: State, progress: TaskProgress | None = None) -> EngineTarget:
        """A drive in this state."""
        plan, name = self._plan, self._model.name
        target = EngineTarget(self._model, derive_seed(plan.seed, name, "drive"))
        seed = derive_seed(plan.seed, name, state.name)
        state.prepare(target, seed, progress or TaskProgress(state.name))
        return target

    def _snapshot(self, crew: Crew, state: State) -> Future[tuple[EngineTarget, Record]]:
        """Prepares a drive; gives it and the record of the preparation."""

        def work(progress: TaskProgress) -> tuple[EngineTarget, Record]:
            watch = Stopwatch()
            target = self._prepared_drive(state, progress)
            record = results.state_result(
                self._model.name, state.name, state.description, target.counters()
            )
            return target, record | {"wall_s": watch.seconds()}

        return crew.submit(self._preparing[state], work)

    def _record_state(self, crew: Crew, state: State) -> Future[Record]:
        """The record of a preparation that every test repeats by itself."""

        def work(progress: TaskProgress) -> Record:
            watch = Stopwatch()
            counters = self._prepared_drive(state, progress).counters()
            record = results.state_result(self._model.name, state.name, state.description, counters)
            return record | {"wall_s": watch.seconds()}

        return crew.submit(self._preparing[state], work)

    def _test(
        self, crew: Crew, state: State, drive: Callable[[], EngineTarget]
    ) -> dict[Measurement, Future[Record]]:
        """Queues all tests of a state, each on the drive that the function gives it."""
        return {
            item: crew.submit(self._testing[item], partial(self._measure, item, drive))
            for item in self._measurements
            if item.state == state
        }

    def _measure(
        self, item: Measurement, drive: Callable[[], Target], progress: TaskProgress
    ) -> Record:
        watch = Stopwatch()
        test, state, plan = item.procedure, item.state, self._plan
        target = drive()
        seed = derive_seed(plan.seed, self._model.name, state.name, test.id)
        job = test.job(target.capacity_bytes, seed, plan.quick)
        report = target.run([job], progress)
        span_bytes = test.span_bytes_on(target.capacity_bytes)
        record = results.test_result(self._model.name, state.name, test, span_bytes, report)
        return record | {"wall_s": watch.seconds()}
