"""Which figures, orderings and statements are looked at, by kind or by identity."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab import figures
from drivelab.errors import RequestError, nearest

UNCOMPARED = {
    "config": "it says how a drive or a test was set up",
    "price": "prices are given to models",
    "spec": "specifications are what models are made of",
    "trace": "it is a statistic of a trace, of no drive; without --only its table is printed",
    "worked_example": "it is an example, not a measurement",
}
"""Why published figures of these kinds aren't held against models."""


def selected(names: Sequence[str], option: str = "--only") -> frozenset[str]:
    """Identities that are meant by names of kinds ("figures", "orderings", "statements") and by
    identities; none of them: all.

    Raises RequestError for what isn't known, and for a figure that isn't compared.
    """
    kinds = {
        "figures": list(figures.compared_ids()),
        "orderings": [ordering.id for ordering in figures.orderings()],
        "statements": [statement.id for statement in figures.statements()],
    }
    known = [name for ids in kinds.values() for name in ids]
    others = {figure.id: figure.kind for figure in figures.published()}
    for name in names:
        if name in others and name not in known:
            raise RequestError(f'{option} "{name}": isn\'t compared: {UNCOMPARED[others[name]]}')
        if name not in known and name not in kinds:
            near = nearest(name, known)
            raise RequestError(f'{option} "{name}": no such figure, ordering or statement{near}')
    return frozenset(each for name in names for each in kinds.get(name, [name]))
