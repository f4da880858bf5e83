"""Statements as rows of TOML, one file a review.

A row says what is measured, by names: `measure = { used = "TEST / STATE / QUANTITY" }`, on each
drive that its checks are about. The quantity is MiB/s unless it is given. A check is one of

    each   an expression of the names holds a bound on every drive of the list
    ratio  the expression on one drive over that on another, in each pair of two lists
    order  the drives of the list come in this order by the expression, the highest first
    within every drive's value is close to the first one's, or to their median or mean
    value  one number of several drives: `used(vertex) / used(x25_m)`, `largest(used)` of the list

with bounds `above`, `below` (strict), `least`, `most` (inclusive). Drives go by the short names at
the head of the file, lists of them by those in its `[sets]`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Kind = Literal["each", "ratio", "order", "within", "value"]
KINDS: tuple[Kind, ...] = ("each", "ratio", "order", "within", "value")
BOUNDS = ("above", "below", "least", "most")
CHECK_KEYS = {*KINDS, *BOUNDS, "of", "lowest_first", "around", "percent", "count"}
STRENGTHS = ("stated as measured", "stated as opinion", "explanation of mechanism")


@dataclass(frozen=True)
class Source:
    """What a name of a row stands for, on any drive."""

    test_id: str
    state: str
    quantity: str


@dataclass(frozen=True)
class Check:
    """One condition of a statement."""

    kind: Kind
    expression: str
    of: tuple[tuple[str, ...], ...]
    """Models. `ratio`: two lists; `order`: places, best first; the others: one drive an entry."""
    bounds: Mapping[str, float]
    lowest_first: bool = False
    around: Literal["first", "median", "mean"] = "first"
    percent: float = 0.0
    """Of `within`: how close."""
    count: int | None = None
    """Of `within`: how many drives must be; None is all of them."""

    @property
    def models(self) -> tuple[str, ...]:
        """Every drive of the check, once."""
        return tuple(dict.fromkeys(model for place in self.of for model in place))


@dataclass(frozen=True)
class Statement:
    """One claim of a review, and what has to hold for it."""

    id: str
    review: str
    drives: str
    """As the review names them, with their states."""
    claim: str
    test: str
    """What is measured, the threshold, and its reason."""
    strength: str
    measure: Mapping[str, Source]
    checks: tuple[Check, ...]
    aliases: Mapping[str, str]
    """Models by the short names that expressions of kind `value` use."""
    main: bool = False
    """Whether it is among the review's main findings."""
    contradicts: str = ""
    """What it contradicts: another statement, or the article's own tables."""
    untestable: str = ""
    """Why nothing can be measured for it."""
    reason: str = ""
    """Why the models don't do it; shown if it doesn't hold."""
    note: str = ""
    """What was cut short or assumed in the test."""


@cache
def statements() -> tuple[Statement, ...]:
    """All statements of all reviews, in the order of their identities."""
    folder = resources.files("drivelab.figures.statements")
    found = [
        statement
        for file in folder.iterdir()
        if file.name.endswith(".toml")
        for statement in parse(file.read_text(encoding="utf-8"), file.name.removesuffix(".toml"))
    ]
    return tuple(sorted(found, key=lambda item: item.id))


def parse(text: str, review: str) -> list[Statement]:
    """The statements of one file; raises ValueError for a row that says what can't be meant."""
    document = tomllib.loads(text)
    drives: dict[str, str] = document.get("drives", {})
    sets: dict[str, list[str]] = document.get("sets", {})
    return [_statement(row, review, drives, sets) for row in document["statement"]]


def _statement(
    row: Mapping[str, Any],
    review: str,
    drives: Mapping[str, str],
    sets: Mapping[str, Sequence[str]],
) -> Statement:
    name = row["id"]
    if row["strength"] not in STRENGTHS:
        raise ValueError(f"{name}: strength {row['strength']!r}; allowed: {', '.join(STRENGTHS)}")
    own = {key: value for key, value in row.items() if key not in ("measure", "check")}
    statement = Statement(
        **own,
        review=review,
        measure={key: _source(name, text) for key, text in row.get("measure", {}).items()},
        checks=tuple(_check(name, check, drives, sets) for check in row.get("check", ())),
        aliases=drives,
    )
    if bool(statement.checks) == bool(statement.untestable):
        raise ValueError(f"{name}: needs either checks, or a reason why there can be none")
    return statement


def _source(name: str, text: str) -> Source:
    parts = [part.strip() for part in text.split(" / ")]
    if len(parts) not in (2, 3):
        raise ValueError(f'{name}: {text!r} is not "TEST / STATE" or "TEST / STATE / QUANTITY"')
    return Source(parts[0], parts[1], parts[2] if len(parts) == 3 else "mib_per_s")


def _check(
    name: str,
    row: Mapping[str, Any],
    drives: Mapping[str, str],
    sets: Mapping[str, Sequence[str]],
) -> Check:
    kinds = [kind for kind in KINDS if kind in row]
    unknown = sorted(set(row) - CHECK_KEYS)
    if len(kinds) != 1 or unknown:
        raise ValueError(f"{name}: a check is one of {', '.join(KINDS)}; not {unknown or kinds}")
    kind = kinds[0]
    bounds = {key: float(row[key]) for key in BOUNDS if key in row}
    if bool(bounds) != (kind in ("each", "ratio", "value")):
        raise ValueError(f"{name}: bounds belong to each, ratio and value, which need one")

    def models(words: str | Sequence[str]) -> tuple[str, ...]:
        listed = sets[words] if isinstance(words, str) and words in sets else words
        return tuple(drives[word] for word in ([listed] if isinstance(listed, str) else listed))

    of = row.get("of", [])
    places = (
        [*sets[of]] if isinstance(of, str) and of in sets else [of] if isinstance(of, str) else of
    )
    return Check(
        kind=kind,
        expression=row[kind],
        of=tuple(models(place) for place in places),
        bounds=bounds,
        lowest_first=row.get("lowest_first", False),
        around=row.get("around", "first"),
        percent=float(row.get("percent", 0.0)),
        count=row.get("count"),
    )
