"""Host idle recovery: what a drive regains while the host pauses between bursts of writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from drivelab.procedures.measured import Chart, Column, Measured, Row, Table, Value
from drivelab.procedures.pts import saturation
from drivelab.procedures.pts.bench import Bench
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import MINUTE, iops, samples
from drivelab.procedures.pts.saturation import IOPS, Saturation

WAITS_S = (5, 10, 15, 25, 50)
BURST_S = 5.0
COUNTED_CAPACITIES = 1.0
"""Before a window counts, where the drive was filled before. A pass leaves the spare area erased;
where that is used up comes a trough, as all blocks are nearly full, and then a rise, as they empty
together: with 45 % of spare area all this takes a capacity. It may be steady later only
(`idle_fills`)."""
ROWS_MAX = 60
"""Bursts are put together so that a phase has at most so many rows."""
LAST_SHARE = 0.25
"""The end of a phase that its value is taken from."""


@dataclass(frozen=True)
class Phase:
    """Bursts of one idle time, or the writing without pauses after them."""

    wait_s: int
    paused: bool
    start_s: float
    """Since the first burst."""
    rates: tuple[float, ...]
    """IOPS by burst."""

    @property
    def late_iops(self) -> float | None:
        """Average of the phase's end; None if no burst was over in its time."""
        if not self.rates:
            return None
        return fmean(self.rates[-max(1, round(len(self.rates) * LAST_SHARE)) :])


@dataclass(frozen=True, kw_only=True)
class HostIdleRecoveryTest(PerformanceTest):
    """Bursts of 5 s with pauses of growing length, and continuous writing after each."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        lengths, settings = bench.lengths, self.settings
        if lengths.idle_passes:
            bench.fill(lengths.idle_passes * bench.span_bytes, 0.1)
        fills = lengths.idle_fills
        writing = Saturation(
            bench,
            settings.outstanding,
            lengths.rounds_max * lengths.idle_spacing_s,
            2**62 if fills is None else int(fills * bench.capacity_bytes),
            lengths.idle_spacing_s,
            counted_capacities=COUNTED_CAPACITIES
            if lengths.idle_passes
            else saturation.COUNTED_CAPACITIES,
            rounds_max=lengths.rounds_max,
        )
        found = writing.run(0.3)
        phases = self._phases(bench, writing)
        level = writing.level(found)
        steady = replace(level, name="steady_iops", value=level.value if found.steady else None)
        passes = {0: "", 1: "once"}.get(lengths.idle_passes, f"{lengths.idle_passes} times")
        before = f"128 KiB sequential writes over the active range, {passes}" if passes else "none"
        facts = (
            ("Queue depth / threads", f"{settings.queue_depth} / {settings.threads}"),
            ("Bursts", f"{lengths.idle_bursts} of {BURST_S:g} s for each idle time, then as many"),
            ("Idle times", ", ".join(f"{wait} s" for wait in WAITS_S)),
        )
        return Measured(
            span_bytes=bench.span_bytes,
            values=(
                replace(
                    steady,
                    title=f"Before, without pauses: {'' if found.steady else 'not '}steady",
                ),
                replace(
                    level,
                    title=f"Before, without pauses: {level.title[0].lower()}{level.title[1:]}",
                ),
                *(
                    Value(
                        f"iops_after_{phase.wait_s}_s",
                        f"With {phase.wait_s} s of idle time between bursts of 5 s",
                        phase.late_iops,
                        "IOPS",
                        "higher",
                    )
                    for phase in phases
                    if phase.paused
                ),
            ),
            tables=(
                bench.header(self.title, facts, before=before),
                _waits_table(phases),
                _bursts_table(phases),
                *found.tables(),
                writing.table(),
            ),
            charts=(*_CHARTS, *found.charts()),
            deviations=(
                *self.deviations(
                    bench,
                    "stimulus_s",
                    "idle_passes",
                    "idle_spacing_s",
                    "rounds_max",
                    "idle_fills",
                    "idle_bursts",
                ),
                *writing.deviations(),
            ),
            notes=found.notes(),
            steady_state=found.record(),
        )

    def _phases(self, bench: Bench, writing: Saturation) -> list[Phase]:
        bursts = bench.lengths.idle_bursts
        share = 0.6 / len(WAITS_S) / 2
        phases: list[Phase] = []
        start_s = 0.0
        for wait_s in WAITS_S:
            rates = []
            for _ in range(bursts):
                rates.append(iops(bench.apply(writing.stimulus, BURST_S, share / bursts)))
                bench.idle(wait_s)
            phases.append(Phase(wait_s, True, start_s, tuple(rates)))
            start_s += bursts * (BURST_S + wait_s)
            report = bench.apply(writing.stimulus, bursts * BURST_S, share, sample_s=BURST_S)
            rates = [sample.iops for sample in samples(report)]
            phases.append(Phase(wait_s, False, start_s, tuple(rates)))
            start_s += bursts * BURST_S
        return phases


def _waits_table(phases: Sequence[Phase]) -> Table:
    """What pauses bring, beside what the same drive does without them right after."""
    pairs = list(zip(phases[::2], phases[1::2], strict=True))
    rows: tuple[Row, ...] = tuple(
        {
            "wait_s": paused.wait_s,
            "first_iops": paused.rates[0] if paused.rates else None,
            "late_iops": paused.late_iops,
            "gain_over_after_percent": 100 * (paused.late_iops / after.late_iops - 1)
            if after.late_iops and paused.late_iops is not None
            else None,
            "after_iops": after.late_iops,
        }
        for paused, after in pairs
    )
    columns = (
        Column("wait_s", "Idle time", "s"),
        Column("first_iops", "First burst", "IOPS"),
        Column("late_iops", "Last quarter of the bursts", "IOPS"),
        Column("gain_over_after_percent", "More than afterwards", "%"),
        Column("after_iops", "Afterwards, without pauses", "IOPS"),
    )
    return Table("waits", "Recovery by idle time", columns, rows)


def _bursts_table(phases: Sequence[Phase]) -> Table:
    rows: list[Row] = []
    for phase in phases:
        step_s = BURST_S + (phase.wait_s if phase.paused else 0)
        together = max(1, len(phase.rates) // ROWS_MAX)
        for first in range(0, len(phase.rates), together):
            part = phase.rates[first : first + together]
            rows.append(
                {
                    "minute": (phase.start_s + (first + len(part)) * step_s) / 60,
                    "wait": f"{phase.wait_s} s, then none",
                    "phase": "bursts" if phase.paused else "no pauses",
                    "iops": fmean(part),
                }
            )
    columns = (MINUTE, Column("wait", "Idle time"), Column("phase", "Phase"), IOPS)
    return Table("bursts", "Bursts over time", columns, tuple(rows))


_CHARTS = (
    Chart("bursts", "IOPS against time, all idle times", "lines", "minute", "iops", by="wait"),
    Chart("waits", "IOPS by idle time", "bars", "wait_s", "late_iops"),
)

PROCEDURES = (
    HostIdleRecoveryTest(
        id="pts-host-idle-recovery",
        title="PTS host idle recovery: bursts of 4 KiB random writes with pauses",
        weight=40,
    ),
)
