"""Waiting for a computer: boot, three programs right after it, a game's realm, a game's level.

What is read is assumed, once for all drives; of the realm it is fitted, on the X25-M. The
processor's part is fitted: on one drive, the VelociRaptor, where the review prints its seconds; for
the boot, of which it prints how much sooner SSDs are ready, on their mean. What single drives take
is predicted. docs/tests/loading.md says why each number is what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from drivelab.applications.pcmark import PROGRAM_READS, STREAM
from drivelab.applications.scenario import Phase, Sizes, mean_bytes
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S

SETTINGS: Sizes = ((4 * KIB, 0.7), (16 * KIB, 0.3))
"""Writes of logs, registry and caches, which nobody waits for."""


@dataclass(frozen=True)
class Load:
    """Something that somebody waits for."""

    name: str
    title: str
    phase: Phase
    """What is asked of the drive; its processor time is spread over all of it."""
    processor_s: float
    """Time that the processor works while nothing is awaited from the drive, in s."""
    before_s: float = 0.0
    """Time before the drive is asked for anything, in s."""
    source: str = ""
    """Where the processor's part comes from."""

    def phase_of(self, shorter: int = 1) -> Phase:
        """The phase with its processor time before every group; of a whole fraction of it."""
        groups = self.phase.total_bytes / mean_bytes(self.phase) / self.phase.together
        return replace(
            self.phase,
            total_bytes=self.phase.total_bytes // shorter,
            processor_ns=round(self.processor_s * NS_PER_S / groups),
        )


def _phase(
    name: str,
    total_bytes: int,
    *,
    read_percent: float,
    reads: Sizes,
    run_bytes: int,
    span_bytes: int,
    together: int,
) -> Phase:
    return Phase(
        name=name,
        total_bytes=total_bytes,
        read_percent=read_percent,
        read_sizes=reads,
        write_sizes=SETTINGS,
        read_run_bytes=run_bytes,
        write_run_bytes=64 * KIB,
        span_bytes=span_bytes,
        together=together,
        lazy_writes=True,
    )


BOOT = Load(
    "boot",
    "Boot of Windows Vista, from the switch to the desktop",
    _phase(
        *("boot", 300 * MIB),
        read_percent=98,
        reads=PROGRAM_READS,
        run_bytes=128 * KIB,
        span_bytes=4 * GIB,
        together=4,
    ),
    processor_s=8.5,
    before_s=15.0,
    source="fitted to AN-239",
)
THREE_PROGRAMS = Load(
    "three-programs",
    "Start of three programs at once, right after boot",
    _phase(
        *("three programs", 300 * MIB),
        read_percent=98,
        reads=PROGRAM_READS,
        run_bytes=64 * KIB,
        span_bytes=4 * GIB,
        together=3,
    ),
    processor_s=19.0,
    source="fitted to AN-231",
)
GAME_REALM = Load(
    "game-realm",
    "Entering a realm of an online game",
    _phase(
        *("game realm", 114 * MIB),
        read_percent=99,
        reads=PROGRAM_READS,
        run_bytes=64 * KIB,
        span_bytes=8 * GIB,
        together=1,
    ),
    processor_s=3.7,
    source="fitted to AN-038",
)
LEVEL_LOAD = Load(
    "level-load",
    "Loading a level of a game",
    _phase(
        *("level", 400 * MIB),
        read_percent=99,
        reads=STREAM,
        run_bytes=512 * KIB,
        span_bytes=4 * GIB,
        # In a stream the system's cache reads one piece ahead.
        together=2,
    ),
    processor_s=20.0,
    source="assumed",
)
LOADS = (BOOT, THREE_PROGRAMS, GAME_REALM, LEVEL_LOAD)


def load_of(name: str) -> Load:
    """The load of this name."""
    return next(load for load in LOADS if load.name == name)
