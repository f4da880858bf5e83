"""Published orders of drives, held against the modelled values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drivelab.figures import tables
from drivelab.figures.constants import CONSTANTS, INFORMED_ORDERINGS
from drivelab.figures.measured import Measured
from drivelab.figures.published import Ordering, orderings
from drivelab.figures.readings import Reading, quantity, settled
from drivelab.figures.tables import Comparison
from drivelab.sources import targets_of

Record = dict[str, Any]

JUDGED = ("holds", "does not hold")


def entry_readings(entry: str, comparison: Comparison) -> list[Reading]:
    """The measurements of one drive of an ordering, one for each test."""
    model, _, state = (part.strip() for part in entry.partition("/"))
    return [
        settled(Reading(model, test, state or comparison.state, comparison.quantity))
        for test in comparison.tests
    ]


def ordering_readings(only: Iterable[str] = ()) -> set[Reading]:
    """The measurements that all orderings need; with `only`, those of these identities."""
    chosen = frozenset(only)
    return {
        reading
        for name, comparison in tables.comparisons().items()
        if not chosen or name in chosen
        for entry in _entries(comparison)
        for reading in entry_readings(entry, comparison)
    }


def _entries(comparison: Comparison) -> list[str]:
    grouped = (entry for group in comparison.groups for entry in group)
    return list(dict.fromkeys((*grouped, *comparison.close)))


def compare_orderings(measured: Measured) -> list[Record]:
    """Every published ordering, and whether the models keep it.

    `result`: "holds", "does not hold", or "not measured"; `role`: "fitted" if a
    parameter was chosen to keep it, "informed" if a constant of its test was chosen with it in
    view, "predicted" if neither was, None where nothing is judged.
    Drives without a model are named in `missing`; the rest is compared without them.
    """
    return [_record(item, tables.comparisons()[item.id], measured) for item in orderings()]


def _record(ordering: Ordering, comparison: Comparison, measured: Measured) -> Record:
    values = {entry: _value(entry, comparison, measured) for entry in _entries(comparison)}
    known = {entry: value for entry, value in values.items() if value is not None}
    broken = [*_out_of_order(comparison, known), *_apart(comparison, known)]
    checks = len(list(_pairs(comparison, known))) + len(list(_close_pairs(comparison, known)))
    result = "does not hold" if broken else "holds" if checks else "not measured"
    return {
        "id": ordering.id,
        "metric": ordering.metric,
        "state": ordering.state,
        "best_first": list(ordering.best_first),
        "result": result,
        "holds": {"holds": True, "does not hold": False}.get(result),
        "role": _role(ordering, known, measured) if result in JUDGED else None,
        "test_ids": list(comparison.tests),
        "unit": quantity(comparison.quantity).unit if comparison.tests else None,
        "groups": [
            [{"model": _model(entry), "value": values[entry]} for entry in group]
            for group in comparison.groups
        ],
        "close": [{"model": _model(entry), "value": values[entry]} for entry in comparison.close],
        "broken": broken,
        "missing": [_model(entry) for entry in values if entry not in known],
        "reason": _reason(comparison, result),
        "note": "; ".join(filter(None, (ordering.note, comparison.remark))),
        "review": ordering.review,
    }


def _role(ordering: Ordering, known: Iterable[str], measured: Measured) -> str:
    """`fitted` if the source of a compared drive's parameter names the ordering, or that of a
    constant of tests and states."""
    of_drives = any(ordering.id in measured.fitted_ids.get(_model(entry), ()) for entry in known)
    of_tests = any(ordering.id in targets_of(constant.source) for constant in CONSTANTS)
    if of_drives or of_tests:
        return "fitted"
    return "informed" if ordering.id in INFORMED_ORDERINGS else "predicted"


def _model(entry: str) -> str:
    return entry.partition("/")[0].strip()


def _value(entry: str, comparison: Comparison, measured: Measured) -> float | None:
    """The drive's value: of several tests the geometric mean."""
    found = [measured.value(reading) for reading in entry_readings(entry, comparison)]
    known = [value for value in found if value is not None]
    if not known or len(known) < len(found):
        return None
    if len(known) == 1:
        return known[0]
    return math.prod(max(value, 0.0) for value in known) ** (1 / len(known))


def _pairs(comparison: Comparison, known: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Every drive with every drive of the next group that has any measured drives."""
    groups = [[entry for entry in group if entry in known] for group in comparison.groups]
    groups = [group for group in groups if group]
    for ahead, behind in itertools.pairwise(groups):
        yield from ((better, worse) for better in ahead for worse in behind)


def _close_pairs(comparison: Comparison, known: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    first, *others = comparison.close or [""]
    return ((first, other) for other in others if first in known and other in known)


def _out_of_order(comparison: Comparison, known: Mapping[str, float]) -> Iterator[str]:
    unit = quantity(comparison.quantity).unit
    for better, worse in _pairs(comparison, known):
        ahead, behind = known[better], known[worse]
        if ahead >= behind if comparison.lowest_first else ahead <= behind:
            yield (
                f"{_model(better)} ({known[better]:.4g} {unit}) is not ahead of "
                f"{_model(worse)} ({known[worse]:.4g} {unit})"
            )


def _apart(comparison: Comparison, known: Mapping[str, float]) -> Iterator[str]:
    unit = quantity(comparison.quantity).unit
    for first, other in _close_pairs(comparison, known):
        if abs(known[other] / known[first] - 1) > comparison.close_ratio:
            yield (
                f"{_model(other)} ({known[other]:.4g} {unit}) is not within "
                f"{comparison.close_ratio * 100:.0f} % of "
                f"{_model(first)} ({known[first]:.4g} {unit})"
            )


def _reason(comparison: Comparison, result: str) -> str:
    return comparison.reason if result == "does not hold" else ""
