"""Horizontal bars as in a classic hardware review: one metric, every drive that has it, sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from drivelab.figures.text import SIGNS
from drivelab.latencies import SPLIT_PARTS
from drivelab.records.figure import Figure
from drivelab.records.test import Stream
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.reading import Reviewed


@dataclass(frozen=True)
class Mark:
    """A published figure across a bar, at `share` of the longest one."""

    text: str
    share: float


@dataclass(frozen=True)
class Bar:
    """One bar: `share` of the longest one, `kind` the CSS classes that set its colour."""

    label: str
    note: str
    source: str
    text: str
    value: float
    share: float
    kind: str
    spread: float = 0.0
    """Half of the interval of its repeats, as a part of the longest bar."""
    marks: tuple[Mark, ...] = ()
    heading: str = ""
    """Above it, and above those that follow it: what they are, where others have another scale."""

    @property
    def beyond(self) -> float:
        """By how much its interval and the farthest mark reach beyond it."""
        return max([self.spread, *(mark.share - self.share for mark in self.marks)])


@dataclass(frozen=True)
class BarChart:
    """Bars of one metric; `direction` says which end is better."""

    title: str
    unit: str
    direction: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Entry:
    """A bar before its length is known; `source` is the id of a published figure."""

    label: str
    note: str
    text: str
    value: float
    kind: str
    source: str = ""
    plus_minus: float = 0.0


def arrange(title: str, unit: str, entries: list[Entry], *, more_is_better: bool) -> BarChart:
    """Sort the bars, the best first, and set their lengths."""
    ordered = sorted(entries, key=lambda entry: entry.value, reverse=more_is_better)
    longest = max((abs(entry.value) for entry in ordered), default=0.0) or 1.0
    return BarChart(
        title,
        unit,
        "more is better" if more_is_better else "less is better",
        tuple(
            Bar(
                e.label,
                e.note,
                e.source,
                e.text,
                e.value,
                max(0.0, e.value) / longest,
                e.kind,
                e.plus_minus / longest,
            )
            for e in ordered
        ),
    )


def state_class(review: Reviewed, state: str) -> str:
    """CSS class of a state's colour."""
    return f"s-{review.state(state).colour}"


def measured(
    review: Reviewed,
    tests: list[Stream],
    value_of: Callable[[Stream], float | None],
    text_of: Callable[[Stream], str],
    repeated: str = "",
) -> list[Entry]:
    """Bars of the reviewed models; `repeated` names the number whose interval they have."""
    entries = []
    for test in tests:
        value = value_of(test)
        if value is None:
            continue
        mine = test.model == review.models[0].name
        kind = f"{'mine' if mine else 'other'} {state_class(review, test.state)}"
        label, spread = review.title_of(test.model), streams.plus_minus(test, repeated) or 0.0
        entries.append(Entry(label, test.state, text_of(test), value, kind, plus_minus=spread))
    return entries


def figure_quantity(figure: Figure) -> str:
    """What a figure measures: throughput, pass, power, latency, latency_max, nothing known."""
    if figure.unit in ("MiB/s", "MB/s", "IOPS"):
        return "pass" if "hdtach" in figure.metric else "throughput"
    if figure.unit == "W":
        return "power"
    if q.microseconds(1, figure.unit) is not None:
        return "latency_max" if "max" in figure.metric else "latency"
    return ""


def _mib_per_s(figure: Figure, block_bytes: float | None) -> float | None:
    if figure.unit == "IOPS":
        return None if block_bytes is None else figure.published * block_bytes / q.MIB
    return figure.published * (1e6 / q.MIB if figure.unit == "MB/s" else 1.0)


def _published(review: Reviewed, test: Stream, quantity: str) -> list[Entry]:
    """Published figures of one test; of several for one drive and state, the most exact one."""
    best: dict[tuple[str, str, str], Figure] = {}
    for figure in review.figures:
        if figure.test_id != test.id or figure_quantity(figure) != quantity:
            continue
        key = (figure.drive, figure.firmware or "", figure.state.split(" (")[0])
        if key not in best or _exactness(figure) > _exactness(best[key]):
            best[key] = figure
    entries = []
    for figure in best.values():
        value = published_value(figure, test, quantity)
        if value is None:
            continue
        text = published_text(figure, value)
        note = ", ".join(t for t in (figure.state, figure.firmware) if t and t != "unstated")
        label = f"{figure.drive}, published" if figure.drive else "Published"
        source = f"[{figure.id}]" if figure.id else ""
        entries.append(Entry(label, note, text, value, "published", source))
    return entries


def published_value(figure: Figure, test: Stream, quantity: str) -> float | None:
    """A figure in the unit of a test's bars."""
    match quantity:
        case "throughput":
            return _mib_per_s(figure, test.block_bytes)
        case "pass" | "power":
            return figure.published
    return q.microseconds(figure.published, figure.unit)


def published_text(figure: Figure, value: float) -> str:
    """A figure as it was published, and in the bars' unit if that is another."""
    text = as_published(figure)
    if figure.unit in ("IOPS", "MB/s") and figure_quantity(figure) == "throughput":
        sign = SIGNS.get(figure.relation, "")
        return f"{sign}{q.throughput(value)} ({text.removeprefix(sign)})"
    return text


def as_published(figure: Figure) -> str:
    """A figure in its own unit, with its relation; a range by its ends."""
    low, high = figure.published_min, figure.published_max
    if figure.relation == "range" and low is not None and high is not None:
        return f"{q.exact(low, '')} .. {q.exact(high, figure.unit)}"
    return SIGNS.get(figure.relation, "") + q.exact(figure.published, figure.unit)


def _exactness(figure: Figure) -> tuple[bool, int]:
    return (figure.relation == "eq", len(f"{figure.published:.6g}" if figure.published else ""))


def _time_unit(review: Reviewed, test: Stream, quantity: str) -> str | None:
    """The unit in which most figures of a test were published; the measured ones follow it."""
    units = [
        f.unit for f in review.figures if f.test_id == test.id and figure_quantity(f) == quantity
    ]
    return max(units, key=units.count, default=None)


def _latency_text(value: float | None, unit: str | None) -> str:
    return q.latency(value) if unit is None else q.latency_in(value, unit)


def _rate_text(test: Stream) -> str:
    rate = q.throughput(test.mib_per_s, streams.plus_minus(test, "mib_per_s"))
    # Both with their intervals would leave no room for the bar.
    if streams.pattern(test) == "sequential" or test.iops is None or "±" in rate:
        return rate
    return f"{rate} ({q.iops(test.iops)})"


@dataclass(frozen=True)
class Headline:
    """What a reader asks of a test first."""

    quantity: str
    unit: str
    more_is_better: bool
    value_of: Callable[[Stream], float | None]
    text_of: Callable[[Stream], str]
    repeated: str = ""
    """The name of the number among those of repeats."""


def _pass_text(test: Stream) -> str:
    found = test.pass_
    ends = (found.mean_mb_per_s, found.floor_mb_per_s) if found else (None, None)
    mean, floor = (q.with_unit(value, "MB/s") for value in ends)
    return f"{mean} (lowest {floor})"


HEADLINES = {
    "access": Headline(
        "latency",
        "mean latency",
        False,
        lambda t: t.latency_us.mean,
        lambda t: q.latency(t.latency_us.mean),
    ),
    "power": Headline(
        "power",
        "mean power",
        False,
        lambda t: t.mean_power_w,
        lambda t: q.power(t.mean_power_w),
        "mean_power_w",
    ),
    "pass": Headline(
        "pass",
        "mean over positions in MB/s (10\u2076)",
        True,
        lambda t: t.pass_.mean_mb_per_s if t.pass_ else None,
        _pass_text,
    ),
}
THROUGHPUT = Headline(
    "throughput", "throughput in MiB/s", True, lambda t: t.mib_per_s, _rate_text, "mib_per_s"
)


def headline(test: Stream) -> Headline:
    """The first metric of a test."""
    return HEADLINES.get(streams.pattern(test), THROUGHPUT)


def comparisons(review: Reviewed) -> list[BarChart]:
    """For every test its first metric, and mean and longest latency where they were published."""
    charts = []
    for test_id in review.test_ids():
        tests = review.of(test_id)
        first = tests[0]
        main = headline(first)
        if main.quantity != "latency":
            entries = measured(review, tests, main.value_of, main.text_of, main.repeated)
            if entries:
                entries += _published(review, first, main.quantity)
                charts.append(
                    arrange(first.title, main.unit, entries, more_is_better=main.more_is_better)
                )
        charts += _latencies(review, tests)
    return charts


def _latencies(review: Reviewed, tests: list[Stream]) -> Iterator[BarChart]:
    """Mean and longest latency of a test, where they were published or are its first metric."""
    first = tests[0]
    for quantity, key, name in (
        ("latency", "mean", "mean latency"),
        ("latency_max", "max", "longest latency"),
    ):
        published = _published(review, first, quantity)
        unit = _time_unit(review, first, quantity)
        if not published and not (streams.pattern(first) == "access" and quantity == "latency"):
            continue
        entries = measured(
            review,
            tests,
            lambda t, key=key: streams.quoted(t.latency_us, key),  # type: ignore[misc]
            lambda t, key=key, unit=unit: _latency_text(streams.quoted(t.latency_us, key), unit),  # type: ignore[misc]
            f"latency_us.{key}",
        )
        if entries:
            title = first.title if streams.pattern(first) == "access" else f"{first.title}: {name}"
            yield arrange(title, name, entries + published, more_is_better=False)


def write_amplification(review: Reviewed) -> list[BarChart]:
    """Write amplification of every test that writes."""
    charts = []
    for test_id in review.test_ids():
        tests = [test for test in review.of(test_id) if test.writes]
        entries = measured(
            review,
            tests,
            lambda t: t.write_amplification,
            lambda t: q.times(t.write_amplification),
            "write_amplification",
        )
        if entries:
            unit = "write amplification, bytes programmed per byte written"
            if len(review.models) == 1:
                entries = [replace(entry, label=entry.note, note="") for entry in entries]
            charts.append(arrange(tests[0].title, unit, entries, more_is_better=False))
    return charts


@dataclass(frozen=True)
class Segment:
    """One part of a stacked bar; `share` of the bar's own length."""

    part: str
    text: str
    share: float
    percent: str
    spent: float
    """In µs."""


@dataclass(frozen=True)
class Stack:
    """The mean latency of a test in one state, split; `share` of the longest bar beside it."""

    label: str
    state: str
    total: str
    share: float
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class StackChart:
    """Where the time of one test goes, every model and state."""

    title: str
    stacks: tuple[Stack, ...]


def splits(review: Reviewed, *, writes: bool, model: str | None = None) -> list[StackChart]:
    """Latency split of every writing (or reading) test, of all models or of one."""
    charts = []
    for test_id in review.test_ids():
        tests = [
            t
            for t in review.of(test_id, model)
            if t.writes == writes and streams.total(t.split_mean_us) > 0
        ]
        longest = max((streams.total(t.split_mean_us) for t in tests), default=0.0)
        named = model is None and len(review.models) > 1
        stacks = tuple(_stack(review, test, longest, named) for test in tests)
        if stacks:
            charts.append(StackChart(tests[0].title, stacks))
    return charts


def _stack(review: Reviewed, test: Stream, longest: float, named: bool) -> Stack:
    total, split = streams.total(test.split_mean_us), streams.parts(test.split_mean_us)
    label = review.title_of(test.model) if named else ""
    segments = tuple(
        Segment(part, q.latency(spent), spent / total, q.percent(spent / total), spent)
        for part in SPLIT_PARTS
        if (spent := split.get(part, 0.0)) > 0
    )
    return Stack(label, test.state, q.latency(total), total / longest, segments)
