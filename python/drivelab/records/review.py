"""The whole of results.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Self

from pydantic import model_validator

from drivelab.records.failed import Failed
from drivelab.records.figure import Figure
from drivelab.records.model import Model
from drivelab.records.record import Amount, Record, misfit
from drivelab.records.run import Run
from drivelab.records.state import State
from drivelab.records.test import Test


class Review(Record):
    """results.json: what a review measured."""

    drivelab: Run
    """Which run it was"""
    models: list[Model]
    """What was reviewed"""
    tests: list[Test]
    """What was measured, in the order of the report"""
    failed: list[Failed] | None = None
    """Only of a review that isn't complete: what was to be measured, and has no result"""
    states: list[State]
    """How each state came about"""
    figures: list[Figure]
    """Published figures beside the modelled ones"""
    wall_s: Amount
    """Of the machine's time, in all"""

    @model_validator(mode="after")
    def _are_of_known_models(self) -> Self:
        known = [model.name for model in self.models]
        allowed = ", ".join(map(_quoted, known)) or "none, as models is empty"
        for key, records in (
            ("states", self.states),
            ("tests", self.tests),
            ("failed", self.failed or []),
        ):
            for index, record in enumerate(records):
                if record.model not in known:
                    raise misfit(
                        f"{key}[{index}].model is {_quoted(record.model)}; allowed: {allowed}"
                    )
        return self

    @model_validator(mode="after")
    def _have_a_value_for_each_seed(self) -> Self:
        repeats = self.drivelab.repeats
        count = len(repeats.seeds) if repeats is not None else 0
        for index, test in enumerate(self.tests):
            for name, found in (test.repeats or {}).items():
                if len(found.values) != count:
                    raise misfit(
                        f"tests[{index}].repeats.{name}.values has {len(found.values)} values; "
                        f"allowed: {count}, as drivelab.repeats.seeds"
                    )
        return self

    @model_validator(mode="after")
    def _are_there_once(self) -> Self:
        _check_once("models", ((model.name,) for model in self.models))
        _check_once("states", ((state.model, state.state) for state in self.states))
        for key, tests in (("tests", self.tests), ("failed", self.failed or ())):
            _check_once(key, ((test.model, test.state, test.id) for test in tests))
        return self


def _check_once(key: str, names: Iterable[tuple[str, ...]]) -> None:
    first: dict[tuple[str, ...], int] = {}
    for index, name in enumerate(names):
        before = first.setdefault(name, index)
        if before != index:
            words = _quoted(" ".join(name))
            raise misfit(f"{key}[{index}] is {words}, as is {key}[{before}]; allowed: once")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
