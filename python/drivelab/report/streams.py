"""What pages compute from the record of one test. Latencies in us, throughput in MiB/s."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivelab import traits
from drivelab.latencies import QUOTED_PERCENTILES, tells
from drivelab.procedures import PROCEDURES
from drivelab.records.latency import Latency, Split
from drivelab.records.test import AnyTest, Stream
from drivelab.report.quantities import GIB, MIB
from drivelab.traits import NO_TEST_TRAITS, TestTraits


def declared(test: AnyTest) -> TestTraits:
    """What a test declares: in its record, or as one that comes with drivelab."""
    known = PROCEDURES.get(test.id)
    usual = known.traits if known is not None else NO_TEST_TRAITS
    return traits.of_record(TestTraits, test.declared) or usual


def pattern(test: AnyTest) -> str:
    """`access`, `random`, `sequential`, `pass`, `power` or empty."""
    return declared(test).pattern


def quoted(latency: Latency, key: str) -> float | None:
    """One of the latencies that are told by name: "mean", "p99_9", "max"."""
    found: float | None = getattr(latency, key)
    return found


def told(test: Stream, key: str) -> float | None:
    """One of the latencies that are told by name; None of a percentile of too few requests."""
    percent = QUOTED_PERCENTILES.get(key)
    enough = percent is None or tells(test.ios, percent)
    return quoted(test.latency_us, key) if enough else None


def percentiles(test: Stream, *, every: bool = False) -> list[tuple[float, float]]:
    """All that it had requests enough for, or all that are known (`every`), as (percent, latency),
    the longest latency apart."""
    points = {at: quoted(test.latency_us, key) for key, at in QUOTED_PERCENTILES.items()}
    points |= {at: value for at, value in test.latency_us.percentiles if at < 100}
    known = ((at, value) for at, value in points.items() if value is not None)
    return sorted((at, value) for at, value in known if every or tells(test.ios, at))


def parts(split: Split) -> dict[str, float]:
    """The parts of a mean latency that are known."""
    return {part: spent for part, spent in split if spent is not None}


def tails(test: Stream) -> Iterator[tuple[float, dict[str, float]]]:
    """The slowest requests, as the share of all that they are and what they waited for."""
    for tail in test.tails or ():
        split = parts(tail.split_mean_us)
        if tail.share_of_requests and sum(split.values()) > 0:
            # Whole bins of latencies: more than was asked for, where many took about as long.
            yield max(tail.share_of_requests, tail.count / max(1, test.ios)), split


def repeated(test: AnyTest, name: str) -> Sequence[float]:
    """What every repeat gave of a number; nothing of a test that ran once."""
    found = (test.repeats or {}).get(name)
    return found.values if found is not None else ()


def plus_minus(test: AnyTest, name: str) -> float | None:
    """Half the width of the 95 % interval of a number's mean over the repeats."""
    found = (test.repeats or {}).get(name)
    return (found.high - found.low) / 2 if found is not None else None


def joules_per_gib(test: Stream) -> float | None:
    """Energy over the bytes that the host read or wrote."""
    moved: float | None = test.host_write_bytes if test.writes else None
    if not moved and test.mib_per_s is not None and test.duration_s is not None:
        moved = test.mib_per_s * MIB * test.duration_s
    return test.energy_j / (moved / GIB) if test.energy_j is not None and moved else None


def total(split: Split) -> float:
    """A mean latency, as far as its parts are known."""
    return sum(parts(split).values())
