"""How the tests are run: the standard's settings for two kinds of drives, and lengths of time.

Lengths of the standard are those of `FULL`. A review cuts them short (`ABRIDGED`) unless it is
asked for all of it, and says of every one that it cut; `QUICK` only shows that a test runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REVISION = "PTS 2.0.x as implemented"
HOUR_S = 3600.0


@dataclass(frozen=True)
class Settings:
    """What the standard sets for a class of drives."""

    name: Literal["enterprise", "client"]
    write_cache: bool
    """Whether the volatile write cache is on. Off: a write is done when it is in flash (FUA)."""
    active_range_percent: int
    """Share of the logical blocks that is used, from the first one on."""
    queue_depth: int
    """Requests that each thread keeps outstanding."""
    threads: int

    @property
    def outstanding(self) -> int:
        """Requests outstanding, of all threads together."""
        return self.queue_depth * self.threads


ENTERPRISE = Settings("enterprise", False, 100, queue_depth=32, threads=4)
CLIENT = Settings("client", True, 75, queue_depth=16, threads=2)


@dataclass(frozen=True)
class Lengths:
    """How long everything lasts; the defaults are the standard's."""

    stimulus_s: float = 60.0
    """One combination of a round; one sample over time."""
    composite_s: float = 60.0
    """A round of the composite workload, which is a single stimulus."""
    rounds_max: int = 25
    precondition_fills: float = 2.0
    """Capacities that are written before, in ascending order over the active range (WIPC)."""
    histogram_s: float = 1200.0
    spacing_s: float = 1800.0
    """Time from one sample that is tracked to the next, where the stimulus never changes."""
    saturation_s: float = 6 * HOUR_S
    saturation_fills: float = 4.0
    """Write saturation ends when this many capacities were written, at the latest."""
    idle_passes: int = 0
    """How often the active range is written in ascending order before host idle recovery."""
    idle_spacing_s: float = 1800.0
    idle_fills: float | None = None
    """Its pauses begin when this many capacities were written at random, at the latest."""
    idle_bursts: int = 360
    sequential_s: float = 8 * HOUR_S
    random_s: float = 6 * HOUR_S
    sequential_fills: float | None = None
    """A sequential part of cross-stimulus recovery ends when this many capacities were written."""
    random_fills: float | None = None
    prewrite_s: float = 300.0

    def departures(self, *names: str) -> tuple[str, ...]:
        """Of these lengths, those that aren't the standard's, each as a sentence."""
        return tuple(
            _WORDS[name].format(
                _words(name, getattr(self, name)), _words(name, getattr(FULL, name))
            )
            for name in names
            if getattr(self, name) != getattr(FULL, name)
        )


_WORDS = {
    "stimulus_s": "A stimulus lasts {} instead of {}.",
    "composite_s": "A round lasts {} instead of {}.",
    "rounds_max": "There are at most {} rounds instead of {}.",
    "precondition_fills": "Preconditioning writes {} the capacity, not {}.",
    "histogram_s": "The histogram is of {} of writes instead of {}.",
    "spacing_s": "Tracked samples are {} apart instead of {}.",
    "saturation_s": "Writing ends after {} instead of {}.",
    "saturation_fills": "Writing ends after {} the capacity instead of {}.",
    "idle_passes": "The active range is written {} in ascending order before, not {}: a shorter "
    "way to the steady state.",
    "idle_spacing_s": "Tracked samples are {} apart instead of {}.",
    "idle_fills": "Writing to steady state ends after {} the capacity instead of {}.",
    "idle_bursts": "Bursts of each idle time: {} instead of {}.",
    "sequential_s": "A sequential part lasts at most {} instead of {}.",
    "random_s": "The random part lasts at most {} instead of {}.",
    "sequential_fills": "A sequential part ends with {} the capacity written; full length: {}.",
    "random_fills": "The random part ends with {} the capacity written; full length: {}.",
    "prewrite_s": "Writing before a round lasts {} instead of {}.",
}


def time_words(seconds: float) -> str:
    """Whole hours or minutes as such."""
    for unit, size in (("h", HOUR_S), ("min", 60.0)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _words(name: str, value: float | None) -> str:
    if value is None:
        return "no limit"
    if name.endswith("_s"):
        return time_words(value)
    if name.endswith("_fills"):
        return f"{value:g} times"
    if name.endswith("_passes"):
        return {0: "never", 1: "once", 2: "twice"}.get(int(value), f"{value:g} times")
    return f"{value:g}"


FULL = Lengths()
ABRIDGED = Lengths(
    stimulus_s=10.0,
    histogram_s=300.0,
    idle_passes=1,
    idle_spacing_s=300.0,
    idle_fills=3.0,
    idle_bursts=36,
    sequential_fills=1.25,
    random_fills=0.25,
    prewrite_s=60.0,
)
QUICK = Lengths(
    stimulus_s=1.0,
    composite_s=1.0,
    rounds_max=5,
    precondition_fills=1.0,
    histogram_s=10.0,
    spacing_s=10.0,
    saturation_s=60.0,
    idle_passes=1,
    idle_spacing_s=10.0,
    idle_fills=0.02,
    # The last one, which is told, has pauses before it.
    idle_bursts=4,
    sequential_s=10.0,
    random_s=10.0,
    prewrite_s=2.0,
)
