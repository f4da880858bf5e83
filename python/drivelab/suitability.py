"""Which tests mean something on which drive, and in which state; what doesn't is left out aloud."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from drivelab import states
from drivelab.errors import RequestError
from drivelab.procedures import Procedure
from drivelab.procedures.study import Study
from drivelab.states import State
from drivelab.subject import Subject

Log = Callable[[str], None]


def without_studies(
    model: Subject, tests: Sequence[Procedure], chosen: Sequence[str], log: Log
) -> list[Procedure]:
    """Tests that can keep to a part of the drive; RequestError for a chosen one that can't."""
    studies = [test.id for test in tests if isinstance(test, Study)]
    kept = [test for test in tests if test.id not in studies]
    refused = [name for name in studies if name in chosen] or ([] if kept else studies)
    if refused:
        raise RequestError(
            f'--tests "{", ".join(refused)}": fills the whole drive in steps, and --span bounds it'
        )
    if studies:
        names = ", ".join(studies)
        log(f"{model.name}: left out, as they fill the whole drive, which --span bounds: {names}")
    return kept


def once(pairs: Iterable[tuple[Procedure, State]]) -> list[tuple[Procedure, State]]:
    """Measurements of a hard disk, which has one state."""
    return list(dict.fromkeys((test, states.STATES["new"]) for test, _ in pairs))


def begun_new(
    model: Subject, pairs: list[tuple[Procedure, State]], log: Log
) -> list[tuple[Procedure, State]]:
    """Tests that begin with a new drive in that state, with a message if another was asked for."""
    new = states.STATES["new"]
    moved = [test.id for test, state in pairs if test.begins_new and state is not new]
    if not moved:
        return pairs
    names = ", ".join(dict.fromkeys(moved))
    log(f"{model.name}: {names}: begins with a new drive by itself, and is measured as new")
    found = dict.fromkeys((test, new if test.begins_new else state) for test, state in pairs)
    return sorted(found, key=lambda pair: (pair[1].traits.order, pair[1].name))


def without_trim(
    model: Subject, pairs: list[tuple[Procedure, State]], log: Log
) -> list[tuple[Procedure, State]]:
    """What is left of measurements on a drive that ignores TRIM, with a message."""
    kept = [(test, state) for test, state in pairs if not state.needs_trim]
    left_out = dict.fromkeys(state.name for _, state in pairs if state.needs_trim)
    if left_out:
        log(f"{model.name}: left out, because the drive ignores TRIM: {', '.join(left_out)}")
    return kept
