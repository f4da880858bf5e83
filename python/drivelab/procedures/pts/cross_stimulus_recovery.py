"""Cross-stimulus recovery: sequential writes, random writes, sequential writes again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from drivelab.counters import spent_in, write_amplification
from drivelab.procedures.measured import Chart, Column, Measured, Row, Table, Value
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import MINUTE, Sample, duration_s, samples, whole_sample
from drivelab.quantities import KIB, MB

OUTSTANDING = 32
"""Queue depth 32, one thread."""
NEARLY = 0.95
"""Share of the first average that counts as nearly recovered: ours, beside the standard's 1. The
first part begins on an erased drive, so its average may be just out of reach for ever."""
FIRST, RANDOM, LAST = "sequential 1024 KiB, before", "random 8 KiB", "sequential 1024 KiB, after"


@dataclass(frozen=True)
class Part:
    """What one stimulus brought."""

    label: str
    start_s: float
    samples: tuple[Sample, ...]
    mb_per_s: float
    """Average of the part."""
    write_amplification: float | None


@dataclass(frozen=True, kw_only=True)
class CrossStimulusRecoveryTest(PerformanceTest):
    """8 hours, 6 hours and 8 hours."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        parts = self._parts(bench)
        before, middle, after = parts
        minutes = recovery_minutes(before, after)
        short = [part for part in parts if _is_short(part, bench.lengths.stimulus_s)]
        last = _last(after) if after not in short else None
        facts = (("Queue depth / threads", f"{OUTSTANDING} / 1"),)
        notes = []
        if short:
            notes.append(_short_note(short, bench.lengths.stimulus_s))
        if minutes is None:
            notes.append(UNTIMED if last is None else _not_recovered(before, last))
        return Measured(
            span_bytes=bench.span_bytes,
            values=(
                Value("before_mb_per_s", FIRST, before.mb_per_s, "MB/s", "higher"),
                Value(
                    "random_mb_per_s", f"{RANDOM}: its last sample", _last(middle), "MB/s", "higher"
                ),
                Value("after_mb_per_s", LAST, after.mb_per_s, "MB/s", "higher"),
                Value("end_mb_per_s", f"{LAST}: its last sample", last, "MB/s", "higher"),
                Value("recovery_min", "Recovery time", minutes, "min", "lower"),
                Value(
                    "nearly_recovered_min",
                    f"Time until {NEARLY:.0%} of the first average",
                    recovery_minutes(before, after, NEARLY),
                    "min",
                    "lower",
                ),
            ),
            tables=(
                bench.header(self.title, facts, before="none"),
                parts_table(parts),
                _samples_table(parts),
            ),
            charts=_CHARTS,
            deviations=self.deviations(
                bench, "stimulus_s", "sequential_s", "random_s", "sequential_fills", "random_fills"
            ),
            notes=tuple(notes),
        )

    def _parts(self, bench: Bench) -> list[Part]:
        lengths = bench.lengths
        sequential = (1024 * KIB, False, lengths.sequential_s, lengths.sequential_fills, 0.2)
        mixed_up = (8 * KIB, True, lengths.random_s, lengths.random_fills, 0.6)
        parts: list[Part] = []
        start_s = 0.0
        for label, (size, random, seconds, fills, share) in (
            (FIRST, sequential),
            (RANDOM, mixed_up),
            (LAST, sequential),
        ):
            report = bench.apply(
                Stimulus(label, one_size(size), 0, OUTSTANDING, random=random),
                seconds,
                share,
                bytes_max=None if fills is None else int(fills * bench.capacity_bytes),
                sample_s=lengths.stimulus_s,
            )
            write = report["jobs"][0]["write"]
            parts.append(
                Part(
                    label,
                    start_s,
                    tuple(samples(report) or whole_sample(report)),
                    (write["bytes_per_s"] or 0.0) / MB,
                    write_amplification(spent_in(report)),
                )
            )
            start_s += duration_s(report)
        return parts


def recovery_minutes(before: Part, after: Part, share: float = 1.0) -> float | None:
    """Time until the first sample at or above the average of the first part; None if none is.

    `share`: of that average.
    """
    if not before.mb_per_s:
        return None
    wanted = share * before.mb_per_s
    for sample in after.samples:
        if sample.mb_per_s >= wanted:
            return (sample.start_s + sample.width_s) / 60
    return None


def _last(part: Part) -> float | None:
    return part.samples[-1].mb_per_s if part.samples else None


def _highest(latencies_ms: Iterable[float | None]) -> float | None:
    """None where no latency is known."""
    return max((ms for ms in latencies_ms if ms is not None), default=None)


def _is_short(part: Part, sample_s: float) -> bool:
    """Whether a small or fast drive was done with a part within one sample."""
    return all(sample.width_s < sample_s for sample in part.samples)


def _short_note(parts: Sequence[Part], sample_s: float) -> str:
    return (
        f"No sample of {sample_s:g} s in {', '.join(part.label for part in parts)}: the drive was "
        "done sooner, and the average of the whole part stands in its place."
    )


UNTIMED = (
    "Whether and when it recovered can't be said: the last part has no samples, and its average "
    "holds the way back."
)


def _not_recovered(before: Part, last: float) -> str:
    share = 100 * last / before.mb_per_s if before.mb_per_s else 0.0
    return (
        "Not recovered: no sample of the last part reached the average of the first one; "
        f"the last sample has {share:.1f} % of it."
    )


_PART = Column("part", "Part")
_RATE = Column("mb_per_s", "Throughput", "MB/s")


def parts_table(parts: Sequence[Part]) -> Table:
    """Averages and extremes of every part."""
    rows: tuple[Row, ...] = tuple(
        {
            "part": part.label,
            "mb_per_s": part.mb_per_s,
            "last_mb_per_s": _last(part),
            "highest_mean_ms": _highest(sample.mean_ms for sample in part.samples),
            "max_ms": _highest(sample.max_ms for sample in part.samples),
            "write_amplification": part.write_amplification,
        }
        for part in parts
    )
    columns = (
        _PART,
        _RATE,
        Column("last_mb_per_s", "Last sample", "MB/s"),
        Column("highest_mean_ms", "Highest mean latency of a sample", "ms"),
        Column("max_ms", "Longest latency", "ms"),
        Column("write_amplification", "Write amplification"),
    )
    return Table("parts", "The three parts", columns, rows)


def _samples_table(parts: Sequence[Part]) -> Table:
    rows: tuple[Row, ...] = tuple(
        {
            "minute": (part.start_s + sample.start_s + sample.width_s) / 60,
            "part": part.label,
            "mb_per_s": sample.mb_per_s,
            "mean_ms": sample.mean_ms,
            "max_ms": sample.max_ms,
        }
        for part in parts
        for sample in part.samples
    )
    columns = (
        MINUTE,
        _PART,
        _RATE,
        Column("mean_ms", "Mean latency", "ms"),
        Column("max_ms", "Longest latency", "ms"),
    )
    return Table("samples", "Throughput over time", columns, rows)


_CHARTS = (
    Chart("samples", "Throughput against time", "lines", "minute", "mb_per_s", by="part"),
    Chart("samples", "Mean latency", "lines", "minute", "mean_ms", by="part", log_y=True),
    Chart("samples", "Longest latency", "lines", "minute", "max_ms", by="part", log_y=True),
)

PROCEDURES = (
    CrossStimulusRecoveryTest(
        id="pts-cross-stimulus-recovery",
        title="PTS cross-stimulus recovery: sequential, random, sequential writes",
        weight=30,
    ),
)
