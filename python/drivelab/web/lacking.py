"""What some drives of a comparison have results of and others lack, as orders that measure it.

Only what would join the results that a drive has (library.py) is ordered: of the same parameters,
seed and length, by the same version of the engine, and no means of repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from drivelab import _engine, model_layers, procedures, states
from drivelab import model as models
from drivelab import review as laboratory
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.procedures import Procedure
from drivelab.states import State
from drivelab.web.library import Holding
from drivelab.web.order import TESTS_MAX, Order, as_json

Record = dict[str, Any]
Pair = tuple[Procedure, State]


def of(items: Sequence[Holding], asked: Callable[[Procedure, str], bool]) -> list[list[Record]]:
    """By drive, the orders that measure what another has and it lacks; `asked` says whether a test
    in a state is looked at."""
    everything = dict.fromkeys(pair for item in items for pair in item.tests)
    known = [
        (procedures.PROCEDURES[test], states.STATES[state])
        for test, state in everything
        if test in procedures.PROCEDURES and state in states.STATES
    ]
    shown = [(test, state) for test, state in known if asked(test, state.name)]
    return [
        list(_orders(item, [(t, s) for t, s in shown if (t.id, s.name) not in item.tests]))
        for item in items
    ]


def _orders(item: Holding, lacked: Sequence[Pair]) -> Iterator[Record]:
    model = _joined(item) if lacked else None
    if model is None:
        return
    states_of: dict[str, list[str]] = {}
    for test, state in lacked:
        if _can_be(model, test, state):
            states_of.setdefault(test.id, []).append(state.name)
    # An order measures each of its tests in each of its states.
    tests_in: dict[tuple[str, ...], list[str]] = {}
    for test_id, names in states_of.items():
        kept = tuple(name for name in states.STATES if name in names)
        tests_in.setdefault(kept, []).append(test_id)
    for together, tests in tests_in.items():
        for first in range(0, len(tests), TESTS_MAX):
            yield as_json(
                Order(
                    models=[item.model],
                    tests=tests[first : first + TESTS_MAX],
                    states=list(together),
                    quick=item.kind.length == "quick",
                    seed=item.seed,
                    scale=item.kind.scale,
                )
            )


def _joined(item: Holding) -> Model | None:
    """The model whose results would join these; None if no order makes such."""
    if item.alone or item.kind.option or item.engine != _engine.engine_version():
        return None
    if item.model not in model_layers.known_names():
        return None
    try:
        model = _loaded(item.model, item.kind.scale)
    except RequestError:
        # A drive of this name, but of another geometry, was small enough for this scale.
        return None
    return model if model.hash == item.hash else None


@lru_cache(64)
def _loaded(name: str, scale: int) -> Model:
    return models.load(name, [("scale_divisor", str(scale))] if scale > 1 else [])


def _can_be(model: Model, test: Procedure, state: State) -> bool:
    """Whether a test means anything on this drive, and in this state."""
    if state.needs_trim and not model.takes_trim:
        return False
    try:
        planned = laboratory.plan_measurements(model, [test.id], [state.name], lambda _: None)
    except RequestError:
        return False
    return [(found.procedure.id, found.state.name) for found in planned] == [(test.id, state.name)]
