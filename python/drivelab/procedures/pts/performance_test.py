"""What all tests of the standard have: settings, lengths, purge first, one group of reports."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from drivelab.procedures.measured import Measured
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.pts.bench import Bench
from drivelab.procedures.pts.settings import (
    ABRIDGED,
    CLIENT,
    ENTERPRISE,
    FULL,
    QUICK,
    Lengths,
    Settings,
)
from drivelab.progress import TaskProgress
from drivelab.targets import Target

COMMON_DEVIATIONS = (
    "The specification itself was not at hand: constants are those of its open implementations.",
    "Threads share one queue of threads x depth requests and one generator.",
    "A write cache that is off is played by writes that are done when no loss of power takes them "
    "(FUA): when they are in flash, or in memory that a capacitor keeps.",
    "There are no dates: results depend on model, seed and version only.",
)


@dataclass(frozen=True, kw_only=True)
class PerformanceTest(Procedure):
    """One test of the standard."""

    has_fixed_length = True

    group: str = "snia pts"
    states: tuple[str, ...] = ("new",)
    begins_new: bool = True
    settings: Settings = ENTERPRISE
    lengths: Lengths = ABRIDGED
    weight: float = 1.0
    """Work of the abridged test on a drive of 80 GB, in units of a stream of 3 minutes."""

    def unabridged(self) -> Self:
        """The same test with the standard's lengths."""
        return replace(self, lengths=FULL)

    def client(self) -> Self:
        """The same test with client settings."""
        return replace(
            self, id=f"{self.id}-client", title=f"{self.title}, client settings", settings=CLIENT
        )

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        longer = 0.1 if quick else 6.0 if self.lengths is FULL else 1.0
        return self.weight * longer * capacity_bytes / 80e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Purges the drive and runs the test, whatever state the drive was in."""
        lengths = QUICK if quick else self.lengths
        bench = Bench(target, self.settings, lengths, seed, progress)
        bench.purge()
        return self.perform(bench)

    @abstractmethod
    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""

    def deviations(self, bench: Bench, *lengths: str) -> tuple[str, ...]:
        """Departures from the standard: those of every test, and these lengths if they are cut."""
        cut = bench.lengths.departures(*lengths)
        full = ("`--unabridged` runs the standard's lengths.",) if cut else ()
        return (*cut, *full, *bench.deviations(), *COMMON_DEVIATIONS)

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        percent = self.settings.active_range_percent
        return "whole drive" if percent == 100 else f"first {percent} %"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "until steady"

    @property
    def data_text(self) -> str:
        """What is written."""
        return "random"
