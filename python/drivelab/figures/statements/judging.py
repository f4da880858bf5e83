"""Records of statements: what they rest on, whether they hold, and what they come to together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drivelab.figures.measured import Measured
from drivelab.figures.readings import Reading, settled
from drivelab.figures.statements import checks
from drivelab.figures.statements.rows import Statement, statements

Record = dict[str, Any]

HOLDS, FAILS = "holds", "does not hold"
NOT_MEASURED, NOT_TESTABLE = "not measured", "not testable"


def readings_of(statement: Statement) -> dict[tuple[str, str], Reading]:
    """The measurements of a statement, by name and model."""
    return {
        (name, model): settled(Reading(model, source.test_id, source.state, source.quantity))
        for check in statement.checks
        for name, models in checks.names_in(check, statement.aliases).items()
        for source in (statement.measure[name],)
        for model in models
    }


def statement_readings(only: Iterable[str] = ()) -> set[Reading]:
    """The measurements that all statements need; with `only`, those of these identities."""
    chosen = frozenset(only)
    return {
        reading
        for statement in statements()
        if not chosen or statement.id in chosen
        for reading in readings_of(statement).values()
    }


def judge_statements(measured: Measured, rows: Sequence[Statement] | None = None) -> list[Record]:
    """Every statement, with whether it holds and the values that it was judged by."""
    return [_record(row, measured) for row in (statements() if rows is None else rows)]


def _record(statement: Statement, measured: Measured) -> Record:
    readings = readings_of(statement)

    def value(name: str, model: str) -> float | None:
        return measured.value(readings[name, model])

    parts = [checks.found(check, value, statement.aliases) for check in statement.checks]
    broken = [line for part in parts for line in part.broken]
    missing = list(dict.fromkeys(model for part in parts for model in part.missing))
    if statement.untestable:
        result = NOT_TESTABLE
    elif broken:
        result = FAILS
    else:
        result = NOT_MEASURED if missing or not all(part.values for part in parts) else HOLDS
    return {
        "id": statement.id,
        "review": statement.review,
        "drives": statement.drives,
        "claim": statement.claim,
        "test": statement.test,
        "strength": statement.strength,
        "main": statement.main,
        "result": result,
        "holds": {HOLDS: True, FAILS: False}.get(result),
        "checks": [checks.record(part) for part in parts],
        "broken": broken,
        "measurements": [
            {
                "name": name,
                "model": model,
                "test_id": reading.test_id,
                "state": reading.state,
                "quantity": reading.quantity,
                "value": measured.value(reading),
            }
            for (name, model), reading in readings.items()
        ],
        "missing": missing,
        "reason": statement.untestable or (statement.reason if result == FAILS else ""),
        "contradicts": statement.contradicts,
        "note": "; ".join(filter(None, (statement.note, _from_map(readings, measured)))),
    }


def _from_map(readings: Mapping[tuple[str, str], Reading], measured: Measured) -> str:
    """A remark on reads that touch no flash: they say what the map holds, not how flash does."""
    found = [item for item in readings.values() if measured.reads_no_flash(item)]
    places = dict.fromkeys(f"{item.test_id} / {item.state}" for item in found)
    return f"most of these reads touch no flash: {', '.join(places)}" if places else ""


def statements_summary(records: Sequence[Mapping[str, Any]]) -> Record:
    """Counts of statements; the share that holds is of those that could be judged and that nothing
    in the reviews themselves contradicts."""

    def of(result: str, among: Iterable[Mapping[str, Any]] = records) -> list[str]:
        return [str(item["id"]) for item in among if item["result"] == result]

    main = [item for item in records if item["main"]]
    sound = [item for item in records if not item["contradicts"] and item["holds"] is not None]
    return {
        "count": len(records),
        "hold": of(HOLDS),
        "do_not_hold": of(FAILS),
        "not_measured": of(NOT_MEASURED),
        "not_testable": of(NOT_TESTABLE),
        "contradicted": [str(item["id"]) for item in records if item["contradicts"]],
        "uncontradicted": len(sound),
        "uncontradicted_hold": sum(bool(item["holds"]) for item in sound),
        "held_ratio": sum(bool(item["holds"]) for item in sound) / len(sound) if sound else None,
        "main": {"count": len(main), "hold": of(HOLDS, main), "do_not_hold": of(FAILS, main)},
    }
