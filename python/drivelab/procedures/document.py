"""Tests and states as `drivelab list` gives them: as JSON, and as the tables in docs/."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivelab.procedures import PROCEDURES
from drivelab.procedures.procedure import Procedure
from drivelab.states import STATES, State


def test_record(test: Procedure) -> dict[str, Any]:
    """A test in `drivelab list --tests --json`."""
    return {
        "id": test.id,
        "title": test.title,
        "group": test.group,
        "states": list(test.states),
        "default_for": list(test.default_for),
        "from": test.origin.text if test.origin is not None else None,
    }


def state_record(state: State) -> dict[str, Any]:
    """A state in `drivelab list --states --json`."""
    return {
        "name": state.name,
        "description": state.description,
        "order": state.traits.order,
        "from": state.origin.text if state.origin is not None else None,
    }


def table(*, tests: bool) -> str:
    """The table of all tests, or of all states."""
    if tests:
        return tests_table(tuple(PROCEDURES.values()))
    return states_table([(state.name, state.description) for state in STATES.values()])


def tests_table(tests: Sequence[Procedure]) -> str:
    """Markdown: a row for every test."""
    rows = [
        (
            f"`{test.id}`",
            test.title,
            test.span_text,
            test.time_text,
            test.data_text,
            ", ".join(f"`{name}`" for name in test.states),
            " and ".join(test.default_for) or "by name",
        )
        for test in tests
    ]
    return _table(("id", "what", "span", "time", "data", "states", "run by default on"), rows)


def states_table(states: Sequence[tuple[str, str]]) -> str:
    """Markdown: a row for every state, from names and descriptions."""
    return _table(("state", "how"), [(f"`{name}`", text) for name, text in states])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
