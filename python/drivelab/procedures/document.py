"""The tables of tests and states in docs/, generated: `drivelab list --tests --markdown`."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.procedures import PROCEDURES
from drivelab.procedures.procedure import Procedure
from drivelab.quantities import GIB
from drivelab.states import STATES


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
            _region_text(test),
            _duration_text(test),
            _data_text(test),
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


def _region_text(test: Procedure) -> str:
    if test.end_share is not None:
        return f"last {test.end_share * 100:.0f} %"
    if not test.block_bytes:
        return "-"
    if test.span_bytes is None:
        return "whole drive"
    return f"{test.span_bytes // GIB} GiB"


def _duration_text(test: Procedure) -> str:
    return "once over" if test.once or not test.duration_s else f"{test.duration_s:.0f} s"


def _data_text(test: Procedure) -> str:
    if not test.block_bytes:
        return "-"
    if test.direction == "write":
        return test.data
    return f"{test.data}, written first" if test.written_first else "what is there"
