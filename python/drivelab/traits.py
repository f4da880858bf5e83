"""What reports must know of a test or a state beside its numbers; each declares it itself.

A test that comes with drivelab is read with what it declares now, in results of any age. Records of
tests and states from elsewhere bring it along: who reads them may not have those at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

Pattern = Literal["", "random", "sequential", "access", "pass", "power"]
"""What a stream is like: `access` asks for single places, `pass` goes over all blocks in a row, of
`power` only the energy counts. It decides what of a test is told first, and in which words."""
Role = Literal["", "new", "filled", "used"]
"""What a state is to others: `new` is what they are compared with, `filled` stands for it where
reads of a new drive would touch no flash, `used` is how drives are in use: rankings go by it."""
Colour = Literal["other", "new", "used", "tortured", "trimmed", "passed"]
"""Colours of states, as style.css defines them."""
COLOURS: tuple[Colour, ...] = get_args(Colour)


@dataclass(frozen=True, kw_only=True)
class TestTraits:
    """What a test declares."""

    __test__ = False  # no test of pytest's

    pattern: Pattern = ""
    place: str = ""
    """Where on the drive its requests go, as a phrase, if not from its beginning on."""
    open: bool = False
    """Whether the rankings of many drives show it at once; the others open on demand."""
    headline: bool = False
    """Whether the findings on many drives are about it."""
    story: str = ""
    """Which of the sentences of `report/studies.py` tells what it found."""


@dataclass(frozen=True, kw_only=True)
class StateTraits:
    """What a state declares."""

    order: float = inf
    """Its place in reports."""
    colour: Colour = "other"
    role: Role = ""
    restores: str = ""
    """The state that it brings a drive back from."""
    by: str = ""
    """What does that, as a sentence begins: "TRIM of everything"."""


@dataclass(frozen=True)
class Origin:
    """Where a test or state comes from that doesn't come with drivelab."""

    place: str
    """The distribution with its version, or the name of the file."""
    sha256: str
    """Of that file, 64 hexadecimal digits: another version of it is another test."""
    file: str = field(compare=False)
    """Its path here; no part of results, nor of what makes one origin another."""

    @property
    def text(self) -> str:
        """In words: "own_test.py, sha256 0123456789ab"."""
        return f"{self.place}, sha256 {self.sha256[:12]}"

    def record(self) -> dict[str, str]:
        """As results.json has it."""
        return {"place": self.place, "sha256": self.sha256}


NO_TEST_TRAITS, NO_STATE_TRAITS = TestTraits(), StateTraits()
"""Of what nobody declared: a test or state of another version, perhaps."""
Traits = TypeVar("Traits", TestTraits, StateTraits)
_READERS: dict[type, TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in (TestTraits, StateTraits)
}
"""Made once: that takes a hundred times as long as reading a record."""


def of_record(kind: type[Traits], record: Any) -> Traits | None:
    """The traits of a record of results.json; None if it has none, or none that can be."""
    try:
        found: Traits = _READERS[kind].validate_python(record)
    except ValidationError:
        return None
    return found
