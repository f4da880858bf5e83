"""Reviews models: prepares every state once, measures every test on a copy of its own.

The order in which worker threads get to the tests doesn't matter: each has its own drive and a seed
derived from (seed, model, state, test), so the result is the same to the bit with any number of
workers. `schedule.py` says what runs when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from drivelab import (
    _engine,
    figures,
    plugins,
    procedures,
    results,
    schedule,
    spans,
    states,
    subject,
    suitability,
)
from drivelab.errors import RequestError, WorkError
from drivelab.failures import STATE, TEST, Failure, Judge, Reason, StateError, check_some_left
from drivelab.procedures import Procedure
from drivelab.progress import Bar, Crew, Heard, Stopwatch, TaskProgress
from drivelab.quantities import MIB, derive_seed
from drivelab.schedule import Piece, Snapshot
from drivelab.states import State
from drivelab.subject import Subject, can_be_copied, claimed, open_target, smart_reading
from drivelab.targets import Target
from drivelab.targets.account import Account, AccountedTarget

Record = dict[str, Any]
Log = Callable[[str], None]


CAPACITY_BYTES_MIN = 16 * MIB
"""Smaller drives are illustrations: their caches and spare areas are all that a test would see."""


ALONE_SHARE = 0.5
"""Share of a test's bar that its own preparation takes, on a drive that can't be copied."""


@dataclass(frozen=True)
class Measurement:
    """One test in one state."""

    procedure: Procedure
    state: State


@dataclass(frozen=True)
class Plan:
    """What is reviewed. `command_line` repeats it; `quick` cuts tests short; tests keep to
    the first `span_bytes` of each drive, if there are any."""

    models: Sequence[Subject]
    measurements: dict[str, list[Measurement]]
    """By model name, in the order of the report."""
    command_line: str
    seed: int = 1
    quick: bool = False
    workers: int = 2
    memory_bytes: int = schedule.MEMORY_BYTES
    span_bytes: int | None = None
    weights: Mapping[str, Mapping[Measurement, float]] = field(default_factory=dict)
    """Of real drives, by name: each test with its preparation, in units of a test of 3 minutes."""
    keeps_on: bool = False
    """Whether the others go on without a test that fails, or whose state does; else all ends."""

    @property
    def unabridged(self) -> bool:
        """Whether a test that is cut short by default runs at its full length."""
        return any(
            item.procedure != procedures.PROCEDURES.get(item.procedure.id, item.procedure)
            for items in self.measurements.values()
            for item in items
        )


def plan_measurements(
    model: Subject,
    chosen_tests: Sequence[str],
    chosen_states: Sequence[str],
    log: Log,
    *,
    unabridged: bool = False,
    known: plugins.Known = plugins.BUILT_IN,
    span_bytes: int | None = None,
) -> list[Measurement]:
    """What is measured of a model: the tests and states of these names, or by default.

    `unabridged`: tests that are cut short by default at their full length. `known`: what there is
    to choose from.

    A test too large for the drive is left out with a message, or refused if `chosen` by its name.
    States after TRIM are left out on a drive that ignores it, unless they are chosen. A hard disk
    has one state, whatever was written before: all its tests are done in `new`. So are tests that
    purge their drive, or make their own: theirs is no other, whatever was asked for. With
    `span_bytes`, the size of the drive is that, and studies, which fill all of it, are left out.
    """
    spans.check_fits(model.name, model.user_capacity_bytes, span_bytes)
    capacity = spans.bounded(model.user_capacity_bytes, span_bytes)
    if span_bytes is not None and capacity < CAPACITY_BYTES_MIN:
        raise RequestError(
            f"--span {span_bytes}: too small for a review; allowed: from {CAPACITY_BYTES_MIN} "
            "bytes on"
        )
    if capacity < CAPACITY_BYTES_MIN:
        raise RequestError(
            f'MODEL "{model.name}": {capacity} bytes are too small for a review; allowed: from '
            f"{CAPACITY_BYTES_MIN} bytes on. `drivelab example` shows such a drive step by step."
        )
    tests = procedures.select(chosen_tests, disk=model.is_disk, known=known.tests)
    if unabridged:
        tests = [test.unabridged() for test in tests]
    if span_bytes is not None:
        tests = suitability.without_studies(model, tests, chosen_tests, log)
    small = [test.id for test in tests if not test.fits(capacity)]
    named = [name for name in small if name in chosen_tests]
    what = f"the drive {model.name}" if span_bytes is None else "the span"
    if named or (small and len(small) == len(tests)):
        raise RequestError(
            f'--tests "{", ".join(named or small)}": what it uses is larger than {what} '
            f"({capacity} bytes)"
        )
    if small:
        has = "than the drive has" if span_bytes is None else "than the span"
        log(f"{model.name}: left out, as they use more {has}: {', '.join(small)}")
    wanted = states.select(chosen_states, known.states)
    pairs = [
        (test, state)
        for state in known.states.values()
        for test in tests
        if test.fits(capacity) and (state in wanted if wanted else state.name in test.states)
    ]
    if model.is_disk:
        if note := subject.state_note(model, "--states", wanted):
            log(note)
        pairs = suitability.once(pairs)
    elif not wanted and not model.takes_trim:
        # Nobody asked for states of the default review.
        pairs = suitability.without_trim(model, pairs, log if chosen_tests else lambda _: None)
    pairs = suitability.begun_new(model, pairs, log)
    return [Measurement(test, state) for test, state in pairs]


def check(plan: Plan) -> None:
    """Raises RequestError if two models of a plan have the same name: results go by name."""
    names = [model.name for model in plan.models]
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f'MODEL "{name}" is asked for twice; each name may appear once')


def run(
    plan: Plan, shown: bool = True, heard: Heard | None = None, judge: Judge = check_some_left
) -> Record:
    """Carries out a plan; returns the results as in results.json. `heard` follows its progress.
    Raises what a test or a state ends with; of a plan that keeps on only what `judge` raises."""
    watch = Stopwatch()
    benches = [_Bench(model, plan, index) for index, model in enumerate(plan.models)]
    pieces = [piece for bench in benches for piece in bench.pieces()]
    tasks = [piece.progress for piece in pieces]
    # Work beside it would disturb a real drive's times.
    workers = plan.workers if all(map(can_be_copied, plan.models)) else 1
    whole = sum(task.weight for task in tasks)
    with claimed(plan.models), Bar(whole, shown, heard) as bar, Crew(workers, bar) as crew:
        crew.tasks.extend(tasks)
        schedule.run(pieces, crew, workers, plan.memory_bytes)
    models = [results.model_result(model) for model in plan.models]
    tests = [record for bench in benches for record in bench.test_records()]
    failed = [failure for bench in benches for failure in bench.failures()]
    judge(tests, failed)
    return {
        "drivelab": {
            "schema": results.SCHEMA,
            "engine_version": _engine.engine_version(),
            "command_line": plan.command_line,
            "seed": plan.seed,
            "quick": plan.quick,
            "unabridged": plan.unabridged,
            **({} if plan.span_bytes is None else {"span_bytes": plan.span_bytes}),
        },
        "models": models,
        "tests": tests,
        **({"failed": [failure.record() for failure in failed]} if failed else {}),
        "states": [record for bench in benches for record in bench.state_records()],
        "figures": compared_figures(models, tests, plan.span_bytes),
        "wall_s": watch.seconds(),
    }


def compared_figures(
    models: Sequence[Record], tests: Sequence[Record], span_bytes: int | None
) -> list[Record]:
    """Published figures beside modelled ones; none of tests that kept to a part of their drives."""
    return [] if span_bytes is not None else figures.compare(models, tests)


Drive = Callable[[], Target]


class _Bench:
    """One model's part of a review."""

    def __init__(self, model: Subject, plan: Plan, index: int) -> None:
        self._model = model
        self._plan = plan
        self._index = index
        self._used_bytes = spans.bounded(model.user_capacity_bytes, plan.span_bytes)
        self._measurements = plan.measurements[model.name]
        self._states = list(dict.fromkeys(item.state for item in self._measurements))
        self._parts = states.parts(self._states)
        self._prepared: dict[State, Record] = {}
        self._measured: dict[Measurement, Record] = {}
        self._unprepared: dict[State, Reason] = {}
        self._failures: dict[Measurement, Failure] = {}

    def pieces(self) -> list[Piece]:
        """Everything that is to be done for this model."""
        if not can_be_copied(self._model):
            return self._pieces_in_turn()
        made: dict[State, Piece] = {}
        for state in self._parts:
            kept = [item for item in self._measurements if item.state == state and state.costly]
            heirs = [part for part in self._parts if part.parent == state]
            users = len(kept) + len(heirs)
            before = made.get(state.parent) if state.parent is not None else None
            made[state] = self._piece(
                f"preparing {state.name}",
                state.cost * self._model.user_capacity_bytes / 80e9,
                # Children come after the tests of their parent: the last of them takes its drive.
                rank=2 if before is not None else 0 if state.costly else 3,
                work=partial(self._prepare, state),
                before=before,
                result=Snapshot(users) if users else None,
                is_test=False,
            )
        tests = [
            self._piece(
                f"{item.state.name}: {item.procedure.title}",
                item.procedure.cost_on(self._used_bytes, self._plan.quick),
                rank=1 if item.state.costly else 3,
                work=partial(self._measure, item),
                before=made[item.state] if item.state.costly else None,
                extra_drives=item.procedure.extra_drives,
            )
            for item in self._measurements
        ]
        return [*made.values(), *tests]

    def _pieces_in_turn(self) -> list[Piece]:
        """The same for a drive that can't be copied: every test brings its state about itself."""
        weights = self._plan.weights.get(self._model.name, {})
        return [
            self._piece(
                f"{item.state.name}: {item.procedure.title}",
                weights.get(item, 1.0),
                rank=0,
                work=partial(self._measure, item),
                before=None,
            )
            for item in self._measurements
        ]

    def _piece(
        self,
        label: str,
        weight: float,
        *,
        rank: int,
        work: Callable[[Drive | None, TaskProgress], Target | None],
        before: Piece | None,
        result: Snapshot | None = None,
        extra_drives: int = 0,
        is_test: bool = True,
    ) -> Piece:
        return Piece(
            TaskProgress(f"{self._model.name}, {label}", weight, is_test=is_test),
            order=self._index * 4 + rank,
            drive_bytes=self._model.memory_bytes,
            extra_bytes=extra_drives * self._model.memory_bytes,
            work=work,
            start=before.result if before is not None else None,
            result=result,
            after=before,
        )

    def state_records(self) -> list[Record]:
        """Records of the states, in the order of the plan."""
        return [self._prepared[state] for state in self._states if state in self._prepared]

    def test_records(self) -> list[Record]:
        """Records of the tests, in the order of the plan."""
        return [self._measured[item] for item in self._measurements if item in self._measured]

    def failures(self) -> list[Failure]:
        """Tests that have no record, in the order of the plan."""
        return [self._failures[item] for item in self._measurements if item in self._failures]

    def _ends_all(self, progress: TaskProgress) -> bool:
        """Whether what raised in a task ends the review: it does so for one that was stopped."""
        return progress.cancelled or not self._plan.keeps_on

    def _check_prepared(self, state: State) -> None:
        """Raises StateError for a state that failed, or that one before it did."""
        for before in state.lineage:
            if before in self._unprepared:
                raise StateError(self._unprepared[before])

    def _seed(self, label: str) -> int:
        return derive_seed(self._plan.seed, self._model.name, label)

    def _new_drive(self, progress: TaskProgress) -> Target:
        return open_target(self._model, self._seed("drive"), progress)

    def _prepare(self, state: State, drive: Drive | None, progress: TaskProgress) -> Target | None:
        """The next state of a drive; notes its record. None if it, or one before it, failed."""
        watch = Stopwatch()
        try:
            self._check_prepared(state)
            target = drive() if drive is not None else self._new_drive(progress)
            state.advance(target, self._seed, progress)
        except StateError:
            return None
        except (RequestError, WorkError) as error:
            if self._ends_all(progress):
                raise
            self._unprepared[state] = Reason.of(STATE, state.name, error)
            return None
        parent_s = self._prepared[state.parent]["wall_s"] if state.parent is not None else 0.0
        self._note(state, target, parent_s + watch.seconds())
        return target

    def _prepare_alone(self, state: State, target: Target, progress: TaskProgress) -> TaskProgress:
        """Brings a drive into a state for one test; returns the progress of the test itself."""
        watch = Stopwatch()
        share = 0.0 if can_be_copied(self._model) else ALONE_SHARE
        preparing, measuring = TaskProgress(state.name), TaskProgress("test")
        progress.follow(preparing, share)
        progress.follow(measuring, 1 - share)
        try:
            state.prepare(target, self._seed, preparing)
        except (RequestError, WorkError) as error:
            if self._ends_all(progress):
                raise
            # It would fail again for every other test, on a real drive after hours.
            self._unprepared[state] = Reason.of(STATE, state.name, error)
            raise StateError(self._unprepared[state]) from None
        if state not in self._prepared:
            self._note(state, target, watch.seconds())
        return measuring

    def _note(self, state: State, target: Target, seconds: float) -> None:
        name, method = self._model.name, target.erase_method
        description = state.described(method, target.capacity_bytes)
        record = results.state_result(name, state, description, target.counters())
        self._prepared[state] = record | {"wall_s": round(seconds, 3)}

    def _measure(self, item: Measurement, drive: Drive | None, progress: TaskProgress) -> None:
        try:
            self._check_prepared(item.state)
            self._measured[item] = self._record(item, drive, progress)
        except StateError as error:
            self._note_failure(item, error.reason)
        except (RequestError, WorkError) as error:
            if self._ends_all(progress):
                raise
            self._note_failure(item, Reason.of(TEST, item.procedure.id, error))

    def _note_failure(self, item: Measurement, reason: Reason) -> None:
        self._failures[item] = Failure(self._model.name, item.state, item.procedure, reason)

    def _record(self, item: Measurement, drive: Drive | None, progress: TaskProgress) -> Record:
        watch = Stopwatch()
        test, state = item.procedure, item.state
        if drive is not None:
            target = drive()
        else:
            target = self._new_drive(progress)
            progress = self._prepare_alone(state, target, progress)
        seed = derive_seed(self._plan.seed, self._model.name, state.name, test.id)
        account = Account()
        used = AccountedTarget(target, account, self._plan.span_bytes)
        before = smart_reading(self._model)
        measured = test.measure_noted(used, seed, self._plan.quick, progress)
        after = smart_reading(self._model)
        spending = results.Spending(account.duration_ns, account.used, account.drive_count)
        record = results.measured_record(self._model.name, state.name, test, measured, spending)
        if before is not None or after is not None:
            record["smart"] = {"before": before, "after": after}
        return results.checked_test(record | {"wall_s": watch.seconds()})
