"""Power in watts from the drive's own energy counter, as the reviews measured it at the plug.

- `power-idle`: nothing is asked for one minute.
- `power-sequential-read`, `power-sequential-write`: 2 MiB, queue depth 1, from LBA 0, 1 minute.
- `power-random-read-qd32`, `power-random-write-qd32`: 4 KiB, 4K-aligned, queue depth 32, within
  8 GiB, 1 minute.

Values: the mean power, and the energy of 10^9 bytes moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from drivelab.counters import energy_j, mean_w, spent_in
from drivelab.procedures.flow import EMPTY_SERIES
from drivelab.procedures.measured import Measured, Value
from drivelab.procedures.stream import WRITTEN_STATES, Stream
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, GIB, KIB, MIB, NS_PER_S
from drivelab.targets import Report, Target
from drivelab.traits import TestTraits


def _values(report: Report, byte_count: int) -> tuple[Value, ...]:
    """Mean power, and what a byte costs where any was moved."""
    values = [Value("power_w", "Mean power", mean_w(report), "W", "lower")]
    if byte_count:
        joules = energy_j(spent_in(report))
        per_gb = None if joules is None else joules / (byte_count / GB)
        values.append(Value("j_per_gb", "Energy of 10^9 bytes", per_gb, "J/GB", "lower"))
    return tuple(values)


@dataclass(frozen=True, kw_only=True)
class Working(Stream):
    """A stream of which the energy counts."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs the stream on a drive that is in the wanted state."""
        found = super().measure(target, seed, quick, progress)
        assert found.report is not None
        moved = found.report["jobs"][0][self.direction]["bytes"]
        return replace(found, values=_values(found.report, moved))


@dataclass(frozen=True, kw_only=True)
class Idle(Stream):
    """A time without commands."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Lets the time pass on a drive that is in the wanted state."""
        before = target.counters()
        duration_ns = round(self.duration_on(quick) * NS_PER_S)
        target.idle(duration_ns)
        nothing = {
            "ios": 0,
            "bytes": 0,
            "runtime_ns": duration_ns,
            "iops": None,
            "bytes_per_s": None,
            "latency_ns": None,
            "split_mean_ns": None,
            "series": EMPTY_SERIES,
        }
        report = {
            "measure_start_ns": 0,
            "end_ns": duration_ns,
            "counters_before": before,
            "counters_after": target.counters(),
            "jobs": [{self.direction: nothing}],
        }
        return Measured(0, report, values=_values(report, 0))

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a test of 3 minutes."""
        return 0.01


def _sequential(direction: Literal["read", "write"]) -> Working:
    return Working(
        id=f"power-sequential-{direction}",
        title=f"Power, 2 MB sequential {direction}",
        group="power",
        direction=direction,
        order="sequential",
        block_bytes=2 * MIB,
        queue_depth=1,
        align_bytes=2 * MIB,
        duration_s=60,
        states=WRITTEN_STATES if direction == "read" else ("new", "used"),
        default_for=(),
        traits=TestTraits(pattern="power"),
    )


def _random(direction: Literal["read", "write"]) -> Working:
    return Working(
        id=f"power-random-{direction}-qd32",
        title=f"Power, 4 KB random {direction}, queue depth 32",
        group="power",
        direction=direction,
        order="random",
        block_bytes=4 * KIB,
        queue_depth=32,
        align_bytes=4 * KIB,
        duration_s=60,
        span_bytes=8 * GIB,
        states=WRITTEN_STATES if direction == "read" else ("new", "used"),
        default_for=(),
        traits=TestTraits(pattern="power"),
    )


PROCEDURES = (
    Idle(
        id="power-idle",
        title="Power, idle",
        group="power",
        direction="read",
        order="sequential",
        block_bytes=0,
        queue_depth=0,
        align_bytes=1,
        duration_s=60,
        traits=TestTraits(pattern="power", open=True, headline=True),
    ),
    _sequential("read"),
    _sequential("write"),
    _random("read"),
    _random("write"),
)
