"""One screen of what a comparison found, in sentences computed from the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from drivelab.comparison.pairing import Metric, Pair
from drivelab.comparison.sides import Side
from drivelab.comparison.specifications import Difference
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.sentences import Finding, circumstances, does, work
from drivelab.verdicts import CHANGE_RATIO

DECIDING_MIN = 1.1
"""From this factor on a difference of reads comes before larger ones of writes."""
FINDINGS_MAX = 12
"""What fits on a screen."""
COMPOUND_MAX = 3
"""Findings about compound tests."""
_SAME = q.exact(100 * CHANGE_RATIO, "%")
TIMES_MIN = 1.5
"""From this factor on differences are told as times, below it in percent."""


Ranked = tuple[float, Finding]
"""A finding with the factor that it is about."""


def findings(
    sides: Sequence[Side], pairs: Sequence[Pair], differences: Sequence[Difference]
) -> list[Finding]:
    """Who leads; then reads of written data; then the largest difference first.

    Kinds of work, tails, wear, energy, price. Flash drives are compared with each other: beside a
    hard disk every difference between them would look small. Reads that touched no flash are left
    out: they say nothing of a drive.
    """
    pairs = [pair for pair in pairs if not pair.is_from_map]
    flash = [side.index for side in sides if not side.model.is_disk]
    if 1 < len(flash) < len(sides):
        beside = _beside_disks(sides, pairs)
        pairs = [
            replace(pair, metrics=tuple(metric.only(flash) for metric in pair.metrics))
            for pair in pairs
        ]
        pairs.sort(key=lambda pair: -pair.size)
    else:
        beside = []
    work = list(_work(sides, pairs))
    reads = [item for item, of in work if of == "read" and item[0] >= DECIDING_MIN]
    found = [item for item, of in work if of != "read" or item[0] < DECIDING_MIN]
    found += _compound(sides, pairs)
    for name, sentence in (
        ("p99_99_us", "One in 10,000 {work} takes {factor} on {worse} than on {better} ({state})."),
        (
            "write_amplification",
            "{worse} programs {ratio} times the bytes that {better} does for {work} ({state}).",
        ),
        ("energy_per_gib", "{worse} spends {factor_on} energy on {work} as {better} ({state})."),
    ):
        found += _largest(sides, pairs, name, sentence)
    found += _price(sides, differences)
    ordered = [*sorted(reads, key=_by_size), *sorted(found, key=_by_size)]
    told = [*_tally(sides, pairs), *(finding for _, finding in ordered)]
    return [*told[: FINDINGS_MAX - len(beside)], *beside]


def _by_size(item: Ranked) -> float:
    return -item[0]


def _beside_disks(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Finding]:
    """How the flash drives stand beside the fastest hard disk, in random writes."""
    disks = {side.index for side in sides if side.model.is_disk}
    for pair in pairs:
        test, metric = pair.stream, pair.headline
        if test is None or metric is None or streams.pattern(test) != "random" or not test.writes:
            continue
        known = {i: value for i, value in enumerate(metric.values) if value is not None}
        fastest = max((i for i in known if i in disks), key=lambda i: known[i], default=None)
        flash = [i for i in known if i not in disks]
        if fastest is None or not flash:
            continue
        slower = [i for i in flash if known[i] < known[fastest]]
        return [
            Finding(
                f"{len(slower)} of {len(flash)}",
                f"{len(slower)} of {len(flash)} flash drives are slower than the hard disk "
                f"{_name(sides, fastest)} in {work(test)} ({pair.state}).",
                f"{_values(sides, metric)}; {circumstances(test)}",
            )
        ]
    return []


def _name(sides: Sequence[Side], index: int) -> str:
    return sides[index].label if len(sides[index].label) <= 32 else sides[index].letter


def _tally(sides: Sequence[Side], pairs: Sequence[Pair]) -> Iterator[Finding]:
    """In how many tests each side leads; sides that lead in as many lead together."""
    judged = [pair.headline for pair in pairs if pair.headline is not None]
    judged = [m for m in judged if m.better is not None and m.extremes is not None]
    if not judged:
        return
    wins = [0] * len(sides)
    for metric in judged:
        if metric.leader is not None:
            wins[metric.leader] += 1
    most = max(wins)
    first = [_name(sides, index) for index, count in enumerate(wins) if count == most]
    others = [
        f"{_name(sides, index)} in {count}" for index, count in enumerate(wins) if count != most
    ]
    same = sum(not metric.differs for metric in judged)
    shared = len(judged) - sum(wins) - same
    details = [", ".join(others)] if others else []
    details += [f"two or more share the lead in {shared}"] if shared else []
    if not any(metric.differs for metric in judged):
        sentence = f"No test tells them apart by more than {_SAME}."
    elif not most:
        sentence = "None of them leads in a test."
    elif len(first) == 1:
        sentence = f"{first[0]} leads in {most} of {len(judged)} tests."
    else:
        names = f"{', '.join(first[:-1])} and {first[-1]}"
        sentence = f"{names} lead in {most} of {len(judged)} tests each."
    details.append(f"within {_SAME} of each other in {same}")
    yield Finding(f"{most} of {len(judged)}", sentence, "; ".join(details))


def times(ratio: float) -> str:
    """A factor as it is spoken: 2.3, 41, 1,200."""
    return q.significant(ratio, 2 if ratio < 99.5 else 3)


def _figure(ratio: float) -> str:
    if ratio < TIMES_MIN:
        return q.percent(ratio - 1, signed=True)
    return f"{times(ratio)}{q.NBSP}×"


def _faster(ratio: float) -> str:
    """How much faster, with what follows: "2.3 times as fast as", "27 % faster than"."""
    if ratio < TIMES_MIN:
        return f"{q.percent(ratio - 1)} faster than"
    return f"{times(ratio)} times as fast as"


def _sooner(ratio: float) -> tuple[str, str]:
    """The same of a time, as a figure and in words: the percentage is that of the time."""
    if ratio < TIMES_MIN:
        figure = q.percent(1 / ratio - 1, signed=True)
        return figure, f"in {q.percent(1 - 1 / ratio)} less time than"
    return _figure(ratio), _faster(ratio)


def _values(sides: Sequence[Side], metric: Metric) -> str:
    """Every side's value, the best first."""
    known = [i for i, value in enumerate(metric.values) if value is not None]
    known.sort(key=lambda i: metric.values[i] or 0.0, reverse=metric.better != "lower")
    return ", ".join(f"{_name(sides, i)} {metric.text(i)}" for i in known)


def _spread(metric: Metric) -> tuple[int, int, float] | None:
    """Best side, worst side, and the factor between them; None if they are the same."""
    ends = metric.extremes
    if ends is None or not metric.differs:
        return None
    return (*ends, math.exp(metric.size))


def _work(sides: Sequence[Side], pairs: Sequence[Pair]) -> Iterator[tuple[Ranked, str]]:
    """Of each kind of work the largest difference, and its direction; pairs come sorted by it."""
    told: set[tuple[str, str]] = set()
    for pair in pairs:
        test, metric = pair.stream, pair.headline
        if test is None or metric is None:
            continue
        pattern = streams.pattern(test)
        kind = (pattern, "" if pattern in ("access", "power") else test.direction or "")
        spread = _spread(metric)
        if kind in told or spread is None:
            continue
        told.add(kind)
        best, worst, ratio = spread
        a, b = _name(sides, best), _name(sides, worst)
        figure = _figure(ratio)
        if pattern == "access":
            figure, share = _sooner(ratio)
            sentence = f"{a} finds any place {share} {b} ({pair.state})."
        elif pattern == "power":
            what = pair.title.removeprefix("Power, ")
            sentence = f"{b} draws {times(ratio)} times the power of {a} ({what}, {pair.state})."
        else:
            sentence = f"{a} {does(test)} {_faster(ratio)} {b} ({pair.state})."
        where = circumstances(test) if pattern != "power" else ""
        detail = _values(sides, metric)
        finding = Finding(figure, sentence, f"{detail}; {where}" if where else detail)
        yield (ratio, finding), "" if pattern == "power" else test.direction or ""


def _compound(sides: Sequence[Side], pairs: Sequence[Pair]) -> Iterator[Ranked]:
    """The compound tests that differ most, each in one state, by its value that differs most."""
    told: set[str] = set()
    for pair in pairs:
        metric = pair.headline
        if pair.stream is not None or metric is None or pair.id in told:
            continue
        spread = _spread(metric)
        if spread is None or metric.better is None or len(told) == COMPOUND_MAX:
            continue
        told.add(pair.id)
        best, worst, ratio = spread
        what = f"{pair.title}, {metric.title[:1].lower()}{metric.title[1:]} ({pair.state})"
        figure, share = _share_of_worse(metric.better, ratio)
        sentence = f"{what}: {_name(sides, best)} has {share} {_name(sides, worst)}."
        yield ratio, Finding(figure, sentence, _values(sides, metric))


def _share_of_worse(better: str, ratio: float) -> tuple[str, str]:
    """The better side's value beside the worse one's, as a figure and in words that say the same.

    100 instead of 120 is 17 % less, not 20 %.
    """
    if better == "higher":
        if ratio < TIMES_MIN:
            return _figure(ratio), f"{q.percent(ratio - 1)} more than"
        return _figure(ratio), f"{times(ratio)} times that of"
    if ratio < TIMES_MIN:
        return q.percent(1 / ratio - 1, signed=True), f"{q.percent(1 - 1 / ratio)} less than"
    return f"1/{times(ratio)}", f"1/{times(ratio)} of that of"


def _largest(
    sides: Sequence[Side], pairs: Sequence[Pair], name: str, sentence: str
) -> Iterator[Ranked]:
    """The pair in which a metric of streams differs most."""
    found = [(metric, pair) for pair in pairs for metric in pair.metrics if metric.name == name]
    metric, pair = max(found, key=lambda item: item[0].size, default=(None, None))
    if metric is None or pair is None:
        return
    test = pair.stream
    # Jobs and replays are told by their name.
    done = work(test) if test is not None else f"\u201c{pair.title}\u201d"
    where = circumstances(test) if test is not None else ""
    spread = _spread(metric)
    if spread is None:
        return
    best, worst, ratio = spread
    small = ratio < TIMES_MIN
    yield (
        ratio,
        Finding(
            _figure(ratio),
            sentence.format(
                work=done,
                better=_name(sides, best),
                worse=_name(sides, worst),
                state=pair.state,
                ratio=q.significant(ratio, 3 if small else 2),
                factor=f"{q.percent(ratio - 1)} longer"
                if small
                else f"{times(ratio)} times longer",
                factor_on=f"{q.significant(ratio, 3 if small else 2)} times as much",
            ),
            _values(sides, metric) + (f"; {where}" if where else ""),
        ),
    )


def _price(sides: Sequence[Side], differences: Sequence[Difference]) -> Iterator[Ranked]:
    """What a GiB costs, where it is known of all of them."""
    for item in differences:
        if item.key.startswith("price per GiB") and all(q.number(v) for v in item.values):
            metric = Metric("price", item.key, "USD", "lower", tuple(map(float, item.values)))
            spread = _spread(metric)
            if spread is not None:
                best, worst, ratio = spread
                more = (
                    f"{times(ratio)} times that of"
                    if ratio >= TIMES_MIN
                    else f"{q.percent(ratio - 1)} more than that of"
                )
                prices = (f"{_name(sides, i)} {text}" for i, text in enumerate(item.texts))
                sentence = f"A GiB of {_name(sides, worst)} costs {more} {_name(sides, best)}."
                yield ratio, Finding(_figure(ratio), sentence, ", ".join(prices))
