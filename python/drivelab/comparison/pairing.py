"""Which results belong together, what is compared of each, and how large the difference is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab import verdicts
from drivelab.comparison.sides import Side, lettered
from drivelab.records.test import Stream, Test
from drivelab.report import quantities as q
from drivelab.report import streams

LITTLE_RATIO = 0.005
"""To the first side: so much less would be written as all of it, -100 %."""


@dataclass(frozen=True)
class Metric:
    """One number of a test, on every side; None where it wasn't measured."""

    name: str
    title: str
    unit: str
    better: str | None
    """"higher", "lower", or None where neither is."""
    values: tuple[float | None, ...]
    repeats: tuple[tuple[float, ...], ...] = ()
    """By side, what every repeat gave; empty for a side that was measured once."""
    plus_minus: tuple[float | None, ...] = ()
    """By side, half the width of the mean's 95 % interval."""

    def ratio(self, index: int) -> float | None:
        """The value of a side over that of the first; None where that means nothing."""
        base, value = self.values[0], self.values[index]
        if base is None or value is None or base <= 0 or value <= 0:
            return None
        return value / base

    @property
    def extremes(self) -> tuple[int, int] | None:
        """The best side and the worst; the largest and the smallest where neither is better."""
        known = [i for i, value in enumerate(self.values) if value is not None and value > 0]
        if len(known) < 2:
            return None
        ordered = sorted(known, key=lambda index: self.values[index] or 0.0)
        worst, best = ordered[0], ordered[-1]
        return (worst, best) if self.better == "lower" else (best, worst)

    @property
    def leader(self) -> int | None:
        """The best side, if it differs from every other; None if another is as good."""
        ends = self.extremes
        if ends is None or self.better is None:
            return None
        best = ends[0]
        others = (i for i, value in enumerate(self.values) if value and i != best)
        return best if all(self.differ(best, i) for i in others) else None

    @property
    def size(self) -> float:
        """The largest value over the smallest, as a natural logarithm; 0 if nothing differs."""
        known = [value for value in self.values if value is not None and value > 0]
        return math.log(max(known) / min(known)) if len(known) > 1 else 0.0

    @property
    def differs(self) -> bool:
        """Whether the values are more than 2 % apart, and further than repeats of one are."""
        ends = self.extremes
        return ends is not None and self.differ(*ends)

    def differ(self, one: int, other: int) -> bool:
        """Whether the values of two sides differ; not if their repeats don't bear it out. 0 and
        something differ, though by no ratio."""
        a, b = self.values[one], self.values[other]
        if a is None or b is None or min(a, b) < 0:
            return False
        repeats = self.repeats or ((),) * len(self.values)
        return verdicts.differ(a, b, repeats[one], repeats[other])

    def only(self, indices: Collection[int]) -> Metric:
        """The same metric of some sides; the others have no value."""
        values = (value if i in indices else None for i, value in enumerate(self.values))
        return replace(self, values=tuple(values))

    def told_apart(self, index: int) -> bool:
        """Whether a side differs from the first one."""
        return self.differ(0, index)

    def is_better(self, index: int) -> bool | None:
        """Whether a side is better than the first one; None if they don't differ, or neither is."""
        base, value = self.values[0], self.values[index]
        if self.better is None or not self.told_apart(index) or base is None or value is None:
            return None
        return (value > base) == (self.better == "higher")

    def gain(self, index: int) -> float | None:
        """How much better than the first side, as a logarithm; None where neither is better."""
        ratio = self.ratio(index)
        if ratio is None or self.better is None:
            return None
        return math.log(ratio) if self.better == "higher" else -math.log(ratio)

    def text(self, index: int) -> str:
        """A side's value with its unit, and with its interval if it is a mean of repeats."""
        spread = self.plus_minus[index] if self.plus_minus else None
        return value_text(self.values[index], self.unit, spread)


@dataclass(frozen=True)
class Pair:
    """One test in one state, on every side; None where a side has not got it."""

    id: str
    title: str
    group: str
    states: tuple[str, ...]
    """By side: they differ only where that was forced."""
    records: tuple[Test | None, ...]
    read_map: tuple[bool, ...]
    """By side, whether it mostly read what was never written: no flash took part."""
    metrics: tuple[Metric, ...]
    """The headline first."""

    @property
    def is_from_map(self) -> bool:
        """Whether a side read what was never written: no speed of a drive, and no difference."""
        return any(self.read_map)

    @property
    def state(self) -> str:
        """The state in words: "used", or "new / used" where they differ."""
        return " / ".join(dict.fromkeys(self.states))

    @property
    def first(self) -> Test:
        """The record of the first side that has it."""
        return next(record for record in self.records if record is not None)

    def notes(self, sides: Sequence[Side]) -> tuple[str, ...]:
        """What its records say of the measurement, with the letters of their sides."""
        by_side = zip(sides, self.records, strict=True)
        told = [(*record.notes, *side.scale_notes) if record else () for side, record in by_side]
        return tuple(dict.fromkeys(lettered(sides, told)))

    @property
    def streams(self) -> tuple[Stream | None, ...]:
        """By side, the record of a test of one stream."""
        return tuple(_stream(record) for record in self.records)

    @property
    def stream(self) -> Stream | None:
        """The first side's; None for a compound test."""
        return next((test for test in self.streams if test is not None), None)

    @property
    def headline(self) -> Metric | None:
        """What a reader asks first: of a compound test the value that differs most."""
        if self.stream is not None:
            return self.metrics[0] if self.metrics else None
        judged = [metric for metric in self.metrics if metric.better] or self.metrics
        return max(judged, key=lambda metric: metric.size, default=None)

    @property
    def size(self) -> float:
        """The difference of the headline."""
        return self.headline.size if self.headline is not None else 0.0


@dataclass(frozen=True)
class Single:
    """A test in a state that only one side has."""

    id: str
    title: str
    state: str
    side: Side


def value_text(value: float | None, unit: str, plus_minus: float | None = None) -> str:
    """A number with its unit; times in a readable one."""
    if unit in ("us", "µs"):
        return q.latency_of(value, plus_minus)
    if unit == "MiB/s":
        return q.throughput(value, plus_minus)
    if unit == "IOPS":
        return q.iops(value, plus_minus)
    text = q.power(value) if unit == "W" else q.with_unit(value, unit, 4)
    if not plus_minus or value is None:
        return text
    return f"{text}{q.NBSP}±{q.NBSP}{q.significant(plus_minus, 2)}"


def pair(sides: Sequence[Side], *, across_states: bool = False) -> tuple[list[Pair], list[Single]]:
    """Pairs by size of the difference, and what is left over.

    `across_states`: also the same test in different states, where sides have no common one.
    """
    keys = dict.fromkeys((test.id, test.state) for side in sides for test in side.records)
    pairs, single = [], []
    for test_id, state in keys:
        records = tuple(side.record(test_id, state) for side in sides)
        owners = [side for side, record in zip(sides, records, strict=True) if record is not None]
        if len(owners) > 1:
            pairs.append(_pair(sides, test_id, tuple(state for _ in sides), records))
        else:
            title = next(test.title for test in records if test is not None)
            single.append(Single(test_id, title, state, owners[0]))
    if across_states:
        crossed = list(_across(sides, {item.id for item in pairs}))
        single = [item for item in single if not any(_holds(pair, item) for pair in crossed)]
        pairs += crossed
    return sorted(pairs, key=lambda item: -item.size), single


def _holds(pair: Pair, single: Single) -> bool:
    """Whether what one side alone has in a state was paired with another state."""
    return pair.id == single.id and pair.states[single.side.index] == single.state


def _across(sides: Sequence[Side], paired: set[str]) -> Iterator[Pair]:
    """Tests without a common state, each side in its last one."""
    for test_id in dict.fromkeys(test.id for side in sides for test in side.records):
        if test_id in paired:
            continue
        records = tuple(_latest(side, test_id) for side in sides)
        if sum(record is not None for record in records) > 1:
            states = tuple("-" if record is None else record.state for record in records)
            yield _pair(sides, test_id, states, records)


def _latest(side: Side, test_id: str) -> Test | None:
    found = [test for test in side.records if test.id == test_id]
    return max(found, key=lambda test: side.review.rank(test.state), default=None)


def _pair(
    sides: Sequence[Side], test_id: str, states: tuple[str, ...], records: tuple[Test | None, ...]
) -> Pair:
    first = next(record for record in records if record is not None)
    return Pair(
        id=test_id,
        title=first.title,
        group=first.group,
        states=states,
        records=records,
        read_map=tuple(
            record is not None and side.review.is_from_map(record)
            for side, record in zip(sides, records, strict=True)
        ),
        metrics=tuple(_metrics(records)),
    )


def _stream(record: Test | None) -> Stream | None:
    return record if isinstance(record, Stream) else None


def _metrics(records: Sequence[Test | None]) -> Iterator[Metric]:
    known = [record for record in records if isinstance(record, Stream)]
    if known:
        yield from _stream_metrics(streams.pattern(known[0]), records)
    values = [{value.name: value for value in (r.values if r else ())} for r in records]
    for name in dict.fromkeys(name for item in values for name in item):
        told = next(item[name] for item in values if name in item)
        found = tuple(item[name].value if name in item else None for item in values)
        repeats = _repeats(f"value:{name}", records)
        yield Metric(name, told.title or name, told.unit, told.better, found, **repeats)


def _repeats(place: str, records: Sequence[Test | None]) -> dict[str, Any]:
    """What repeats gave of a number, by its place in a record; nothing where there were none."""
    found = [tuple(streams.repeated(record, place)) if record else () for record in records]
    if not any(found):
        return {}
    ends = (streams.plus_minus(record, place) if record else None for record in records)
    return {"repeats": tuple(found), "plus_minus": tuple(ends)}


REPEATED = {
    "mean_us": "latency_us.mean",
    "max_us": "latency_us.max",
    "mean_mb_per_s": "pass.mean_mb_per_s",
    "floor_mb_per_s": "pass.floor_mb_per_s",
    **{f"{key}_us": f"latency_us.{key}" for key in ("p99", "p99_9", "p99_99")},
}
"""Where repeats keep a metric that has another name there."""
STREAM_METRICS: tuple[tuple[str, str, str, str | None, Any], ...] = (
    ("mib_per_s", "throughput", "MiB/s", "higher", lambda t: t.mib_per_s),
    (
        "mean_mb_per_s",
        "mean over positions",
        "MB/s",
        "higher",
        lambda t: t.pass_ and t.pass_.mean_mb_per_s,
    ),
    (
        "floor_mb_per_s",
        "slowest zone",
        "MB/s",
        "higher",
        lambda t: t.pass_ and t.pass_.floor_mb_per_s,
    ),
    ("iops", "requests per second", "IOPS", "higher", lambda t: t.iops),
    ("mean_us", "mean latency", "us", "lower", lambda t: t.latency_us.mean),
    *(
        (
            f"{key}_us",
            f"{level} % of latencies under",
            "us",
            "lower",
            lambda t, k=key: streams.told(t, k),
        )
        for key, level in (("p99", "99"), ("p99_9", "99.9"), ("p99_99", "99.99"))
    ),
    ("max_us", "longest latency", "us", "lower", lambda t: t.latency_us.max),
    ("write_amplification", "write amplification", "", "lower", lambda t: t.write_amplification),
    ("mean_power_w", "mean power", "W", "lower", lambda t: t.mean_power_w),
    ("energy_per_gib", "energy per GiB", "J/GiB", "lower", streams.joules_per_gib),
)
"""Name, title, unit, which way is better, and where it is in a measurement."""
HEADLINES = {"access": "mean_us", "power": "mean_power_w", "pass": "mean_mb_per_s"}
"""What counts first, by kind of test; throughput for all others."""
ALONE = {"power": ("mean_power_w",)}
"""Kinds of tests of which nothing else counts."""


def _stream_metrics(pattern: str, records: Sequence[Test | None]) -> Iterator[Metric]:
    headline = HEADLINES.get(pattern, "mib_per_s")
    only = ALONE.get(pattern)
    for name, title, unit, better, of in sorted(
        STREAM_METRICS, key=lambda item: item[0] != headline
    ):
        values = tuple(of(record) if isinstance(record, Stream) else None for record in records)
        if any(value is not None for value in values) and (only is None or name in only):
            repeats = _repeats(REPEATED.get(name, name), records)
            yield Metric(name, title, unit, better, values, **repeats)
