"""What every test of the laboratory has: its name, when it is run, what it measures.

Two kinds: a `Stream` (stream.py) is one stream of requests and is measured to the last percentile;
every other test is compound: it runs what it likes and says what it found as values, tables and
charts (measured.py). Reports, databases and comparisons know these two, no test by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

from drivelab.procedures import small_version
from drivelab.procedures.measured import Measured
from drivelab.progress import TaskProgress
from drivelab.targets import Target
from drivelab.traits import NO_TEST_TRAITS, Origin, TestTraits

GROUPS = (
    "four corners",
    "access times",
    "pass",
    "resiliency",
    "sweeps",
    "studies",
    "storage bench",
    "applications",
    "power",
    "presets",
    "snia pts",
)
"""Every group of tests, in the order of reports; each has a page in docs/tests/. No test has the
name of a group."""
LARGER_SHARE = (
    "seconds, and bytes as far as it has room, aren't scaled: they are a larger share of it"
)
"""Of a test that `has_fixed_length`, on a small version."""
GROUP_TITLES = {"snia pts": "SNIA PTS"}
"""Headings of groups that are names."""


def group_title(group: str) -> str:
    """A group's name as a heading."""
    return GROUP_TITLES.get(group, group[:1].upper() + group[1:])


@dataclass(frozen=True, kw_only=True)
class Procedure(ABC):
    """One test: what it is called, where it is run, and how it measures."""

    id: str
    title: str
    """One line that says what is done."""
    group: str
    """One of `GROUPS`."""
    states: tuple[str, ...] = ("new", "used")
    """States in which it is run unless others are asked for."""
    default_for: tuple[Literal["flash", "disk"], ...] = ()
    """Kinds of drives that a review runs it on without being asked for it by name."""
    kinds: tuple[Literal["flash", "disk"], ...] = ("flash", "disk")
    """Kinds of drives on which it means anything."""
    begins_new: bool = False
    """Whether it purges the drive that it is given, or needs a new one to make its own of: then
    `new` is the state that it is measured in, and no other."""
    traits: TestTraits = NO_TEST_TRAITS
    """What reports know of it beside its numbers."""
    origin: Origin | None = None
    """Where it comes from; None: with drivelab."""
    extra_drives: int = 0
    """Drives that it holds beside the one it is given, at the same time; for the memory bound."""
    quick_text: str = ""
    """What a quick review does instead, where that gives other numbers than the whole test: a note
    of its results. Empty: nothing, or the test says so itself."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size is large enough for it."""
        return capacity_bytes > 0

    @abstractmethod
    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes; for the progress bar."""

    @abstractmethod
    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs the test on a drive that is in the wanted state; deterministic in the seed."""

    def measure_noted(
        self, target: Target, seed: int, quick: bool, progress: TaskProgress
    ) -> Measured:
        """The same, with what a reader must know of a quick review, and of a small version."""
        found = self.measure(target, seed, quick, progress)
        cut = (f"quick: {self.quick_text}",) if quick and self.quick_text else ()
        small = small_version.notes(target, LARGER_SHARE) if self.has_fixed_length else ()
        return replace(found, notes=(*found.notes, *cut, *small))

    def unabridged(self) -> Procedure:
        """The same test at its full length; itself, unless it is cut short by default."""
        return self

    @property
    def has_fixed_length(self) -> bool:
        """Whether it takes as many seconds, or bytes, of a small version as of the drive."""
        return False

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses, for the table of tests."""
        return "whole drive"

    @property
    def time_text(self) -> str:
        """How long it measures, for the table of tests."""
        return "-"

    @property
    def data_text(self) -> str:
        """What is written or read, for the table of tests."""
        return "-"
