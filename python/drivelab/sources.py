"""Sources of parameters: where a value comes from, in one of five roles.

A source begins with the word of its role; only a reference stands for itself:

    [S17]: 25 ns a byte                        cited: a datasheet, or a measurement of the part
    specified: 35000 random reads a second     restates the drive's own specification sheet
    fitted to AN-149: a new drive's read       chosen so that the model gives this figure
    informed: less than any figure allows      chosen with published results of the kind in view
    assumed: as for a read                     everything else

CONTRIBUTING.md says which one is which.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

KEY = r"\[[A-Z0-9]+\]"
"""A reference of REFERENCES.md."""
FIGURE = r"(?:[A-Z][A-Z0-9]|ORD)-\d{3}"
"""Identity of a figure or of an ordering."""

ROLES = ("cited", "specified", "fitted", "informed", "assumed")
"""In the order in which they are counted."""
DEPENDENT = ("specified", "fitted", "informed")
"""Roles of values that were chosen for a published performance: what they bind isn't predicted."""

FIGURE_ROLES = {
    "predicted": "nothing that was chosen for a published performance binds it",
    "transferred": "bound by a parameter that was fitted to another figure",
    "informed": "bound by a value that was chosen with such results in view",
    "restated": "bound by a value that restates a specification, or a limit in MB/s or IOPS",
    "fitted": "a parameter was fitted to it, or to another figure of the same measurement",
    "not varied": "nobody has looked for what binds it",
}
"""What a modelled value may be, from what says most of the model to what says least."""

_TARGET = rf"(?:{FIGURE}|{KEY})"
_GRAMMAR = {
    "cited": re.compile(rf"{KEY}(?:, {KEY})*(?:: \S.*)?"),
    "specified": re.compile(r"specified: \S.*"),
    "fitted": re.compile(rf"fitted to {_TARGET}(?:(?:, | and ){_TARGET})*: \S.*"),
    "informed": re.compile(r"informed: \S.*"),
    "assumed": re.compile(r"assumed: \S.*"),
}
_FORMS = {
    "cited": "[KEY]: WHAT",
    "specified": "specified: WHAT",
    "fitted": "fitted to FIGURE: WHY",
    "informed": "informed: WHY",
    "assumed": "assumed: WHY",
}
"""The same in words."""
_ROLE_LIKENESS = 0.8
"""How like the word of a role a word must be that was meant as it, as difflib counts: "measured" is
no misspelt "assumed"."""
SET = "command line"
"""The engine's source of what `--set` says."""
_IDENTITY = (
    "name",
    "title",
    "released",
    "controller_name",
    "firmware",
    "price_usd",
    "base",
    "part",
)
"""What a model says of itself: nothing of it acts."""


@lru_cache(maxsize=2**14)
def role_of(source: str | None) -> str | None:
    """The role that a source states; None if it states none.

    >>> role_of("fitted to A2-029 and A2-030: random writes"), role_of("fitted to taste")
    ('fitted', None)
    """
    text = source or ""
    return next((role for role, form in _GRAMMAR.items() if form.fullmatch(text)), None)


def role_rank(role: str) -> int:
    """Place of a figure's role in `FIGURE_ROLES`; unknown ones come last."""
    names = list(FIGURE_ROLES)
    return names.index(role) if role in names else len(names)


def targets_of(source: str | None) -> frozenset[str]:
    """Figures, orderings and references that a fitted value was fitted to; none of any other."""
    if role_of(source) != "fitted":
        return frozenset()
    return frozenset(re.findall(_TARGET, str(source).partition(": ")[0]))


def acts(key: str) -> bool:
    """Whether a parameter decides anything; names, prices and dates don't."""
    return key.rpartition(".")[2] not in _IDENTITY


def counts(parameters: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many of the parameters that act have each role; defaults and overrides have none."""
    found = [role_of(item.get("source")) for item in parameters if acts(str(item["key"]))]
    return {role: found.count(role) for role in ROLES}


def counts_without(parameters: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many of the values that a model states, and that act, have no source, and how many one
    that states no role."""
    found = [
        item.get("source")
        for item in parameters
        if acts(str(item["key"])) and not item["default"] and item.get("source") != SET
    ]
    return {
        "not stated": sum(not source for source in found),
        "of no role": sum(bool(source) and role_of(source) is None for source in found),
    }


def remarks(parameters: Iterable[Mapping[str, Any]]) -> list[str]:
    """Of each source that states no role, but nearly does: what may have been meant."""
    found = ((item["key"], item.get("source"), meant(item.get("source"))) for item in parameters)
    return [
        f'{key}: source "{source}" states no role; did you mean "{_FORMS[role]}"?'
        for key, source, role in found
        if role is not None
    ]


def meant(source: str | None) -> str | None:
    """The role that a source without one is likely to mean by its first word; None where it has
    one, or begins with anything else.

    >>> meant("specifed: 250 MB/s [S4]"), meant("fitted to taste: a read"), meant("my own: 250")
    ('specified', 'fitted', None)
    """
    word, _, more = (source or "").partition(":")[0].casefold().partition(" ")
    if role_of(source) is not None or not (more.startswith("to ") if more else word):
        return None
    return next(iter(difflib.get_close_matches(word, ROLES, 1, _ROLE_LIKENESS)), None)


def counts_text(found: Mapping[str, int]) -> str:
    """Counts in words.

    >>> counts_text({"cited": 3, "specified": 0, "fitted": 1})
    '3 cited, 1 fitted'
    """
    return ", ".join(f"{count} {role}" for role, count in found.items() if count) or "none"
