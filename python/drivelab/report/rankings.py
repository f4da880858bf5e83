"""Many drives side by side: of every test a row for each drive, with a bar for each state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from drivelab.model import FAMILY_TITLES
from drivelab.records.figure import Figure
from drivelab.records.findings import Value
from drivelab.records.model import Model
from drivelab.records.test import Compound, Stream
from drivelab.report import bars, compound, streams
from drivelab.report import quantities as q
from drivelab.report.agreement import BOUNDS
from drivelab.report.agreement import quantity as quantity_of
from drivelab.report.findings import agreement
from drivelab.report.reading import Reviewed
from drivelab.report.sentences import Finding, change, work

MANY = 4
"""From so many models on a report ranks them, instead of telling the story of the first."""


@dataclass(frozen=True)
class Lane:
    """One bar of a row: `kind` is its CSS class, `share` its part of the longest bar."""

    state: str
    kind: str
    text: str
    share: float


@dataclass(frozen=True)
class Row:
    """One drive, or a published figure about a drive that wasn't reviewed."""

    label: str
    family: str
    place: int
    """Position of the family in lists."""
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class Ranking:
    """All drives in one metric of one test, the best first."""

    id: str
    title: str
    unit: str
    direction: str
    rows: tuple[Row, ...]
    open: bool


@dataclass(frozen=True)
class Family:
    """A family with its drives, for lists and filters."""

    word: str
    title: str
    models: tuple[Model, ...]


def families(review: Reviewed) -> list[Family]:
    """The reviewed drives by family, families in their usual order."""
    words = [*FAMILY_TITLES, *sorted({model.family or "" for model in review.models})]
    found = []
    for word in dict.fromkeys(words):
        models = tuple(model for model in review.models if (model.family or "") == word)
        if models:
            found.append(Family(word, FAMILY_TITLES.get(word, word or "other"), models))
    return found


def rankings(review: Reviewed) -> list[Ranking]:
    """The first metric of every stream, then the values of compound tests."""
    found = [
        _ranking(review, first.id, bars.headline(first), streams.declared(first).open)
        for first in _first_tests(review)
    ]
    return found + value_rankings(review)


def _first_tests(review: Reviewed) -> Iterator[Stream]:
    """One measurement of every test of one stream."""
    for test_id in review.test_ids():
        yield review.of(test_id)[0]


AMPLIFICATION = bars.Headline(
    "",
    "bytes programmed per byte written",
    False,
    lambda t: t.write_amplification,
    lambda t: q.times(t.write_amplification),
)


def amplifications(review: Reviewed) -> list[Ranking]:
    """Write amplification of every test that writes."""
    return [
        _ranking(review, test_id, AMPLIFICATION, False, "wa-")
        for test_id in review.test_ids()
        if any(test.write_amplification is not None for test in review.of(test_id))
    ]


Laned = tuple[str, str, str, float]
"""A bar before its length is known: state, CSS class, text, value."""


def _ranking(
    review: Reviewed, test_id: str, metric: bars.Headline, shown: bool, prefix: str = ""
) -> Ranking:
    tests = review.of(test_id)
    lanes: dict[str, list[Laned]] = {}
    for test in tests:
        value = metric.value_of(test)
        if value is not None:
            css = bars.state_class(review, test.state)
            lane = (test.state, css, metric.text_of(test), value)
            lanes.setdefault(test.model, []).append(lane)
    return Ranking(
        prefix + test_id,
        tests[0].title,
        metric.unit,
        _direction(more_is_better=metric.more_is_better),
        _rows(
            review,
            lanes,
            _figures(review, tests[0], metric.quantity),
            more_is_better=metric.more_is_better,
        ),
        shown,
    )


def value_rankings(review: Reviewed) -> list[Ranking]:
    """Of every compound test the values of which more, or less, is better."""
    metrics: dict[tuple[str, str], tuple[Compound, Value]] = {}
    lanes: dict[tuple[str, str], dict[str, list[Laned]]] = {}
    for test in sorted(review.compounds, key=lambda test: review.rank(test.state)):
        css = bars.state_class(review, test.state)
        for value in test.values:
            if value.value is None or value.better is None:
                continue
            key = (test.id, value.name)
            metrics.setdefault(key, (test, value))
            lane = (test.state, css, compound.value_text(value), value.value)
            lanes.setdefault(key, {}).setdefault(test.model, []).append(lane)
    return [_value_ranking(review, *metric, lanes[key]) for key, metric in metrics.items()]


def _value_ranking(
    review: Reviewed, test: Compound, value: Value, lanes: Mapping[str, list[Laned]]
) -> Ranking:
    more_is_better = value.better == "higher"
    published: dict[str, list[Laned]] = {}
    for figure in review.figures:
        same = figure.test_id == test.id and quantity_of(figure) == f"value:{value.name}"
        if same and figure.relation not in BOUNDS:
            state = f"published, {_state_text(figure)}".removesuffix(", ")
            words = f"{q.exact(figure.published, figure.unit)} [{figure.id}]"
            owner = figure.model or f"={figure.drive}"
            published.setdefault(owner, []).append((state, "published", words, figure.published))
    rows = _rows(review, lanes, published, more_is_better=more_is_better)
    direction = _direction(more_is_better=more_is_better)
    title, shown = f"{test.title}: {value.title}", streams.declared(test).open
    ranking_id = f"value-{test.id}-{value.name}"
    return Ranking(ranking_id, title, value.unit, direction, rows, shown)


def _direction(*, more_is_better: bool) -> str:
    return "more is better" if more_is_better else "less is better"


def _rows(
    review: Reviewed,
    lanes: Mapping[str, list[Laned]],
    figures: dict[str, list[Laned]],
    *,
    more_is_better: bool,
) -> tuple[Row, ...]:
    """A row for each drive, the best first; published values beside its own, or by themselves."""
    place = {family.word: index for index, family in enumerate(families(review))}
    values: list[tuple[float, Model | None, str, list[Laned]]] = []
    for model in review.models:
        own = lanes.get(model.name, [])
        if model.is_disk:
            own = [("", *lane[1:]) for lane in own]
        if own:
            # The state that was brought about last says most about a drive in use.
            values.append(
                (_sorting(review, own), model, model.title, own + figures.pop(model.name, []))
            )
    for name, beside in figures.items():
        if name.startswith("="):
            values.append((_sorting(review, beside), None, name[1:], beside))
    values.sort(key=lambda item: item[0], reverse=more_is_better)
    longest = max((lane[3] for *_, found in values for lane in found), default=0.0) or 1.0
    return tuple(
        Row(
            label,
            "published" if model is None else model.family or "",
            len(place) if model is None else place[model.family or ""],
            tuple(Lane(s, kind, text, max(0.0, v) / longest) for s, kind, text, v in found),
        )
        for _, model, label, found in values
    )


def _sorting(review: Reviewed, lanes: list[Laned]) -> float:
    used = [value for state, *_, value in lanes if review.state(state).role == "used"]
    return used[-1] if used else lanes[0][3]


def _figures(
    review: Reviewed, test: Stream, quantity: str
) -> dict[str, list[tuple[str, str, str, float]]]:
    """Published figures as lanes: of a reviewed model by its name, of others by "=" and a drive."""
    found: dict[str, list[tuple[str, str, str, float]]] = {}
    seen: set[tuple[str, str]] = set()
    for figure in review.figures:
        if figure.test_id != test.id or bars.figure_quantity(figure) != quantity or not quantity:
            continue
        value = bars.published_value(figure, test, quantity)
        owner = figure.model or f"={figure.drive}"
        state = f"published, {_state_text(figure)}".removesuffix(", ")
        if value is None or (owner, state) in seen or figure.relation in BOUNDS:
            continue
        seen.add((owner, state))
        text = f"{bars.published_text(figure, value)} [{figure.id}]"
        found.setdefault(owner, []).append((state, "published", text, value))
    return found


def _state_text(figure: Figure) -> str:
    return "" if figure.state == "unstated" else figure.state.split(" (")[0]


def findings(review: Reviewed) -> list[Finding]:
    """What stands out among many drives, and how well they agree with what was published."""
    found: list[Finding] = []
    headlines = [test for test in _first_tests(review) if streams.declared(test).headline]
    # Reads first: they are most of what a drive does; and small requests before large ones.
    speeds = [test for test in headlines if streams.pattern(test) != "power"]
    for test in sorted(speeds, key=lambda test: (test.writes, streams.pattern(test) != "random")):
        found += _extremes(review, test.id)
    for test in speeds:
        if test.writes and streams.pattern(test) == "random":
            found += [*_slowest_with_use(review, test.id), *_beside_disks(review, test.id)]
    for test in headlines:
        if streams.pattern(test) == "power":
            found += _thirst(review, test.id)
    found += agreement(review)
    return found


def _last_state(review: Reviewed, test_id: str) -> dict[str, Stream]:
    """Every model's test in the used state, or in the only one it has."""
    found: dict[str, Stream] = {}
    for test in review.of(test_id):
        if test.model not in found or review.role(test) == "used":
            found[test.model] = test
    return found


def _extremes(review: Reviewed, test_id: str) -> Iterator[Finding]:
    """Best and worst of the flash drives; of all drives where fewer than two are flash.

    Beside a hard disk every difference between flash drives would look small.
    """
    last = _last_state(review, test_id).values()
    every = [test for test in last if test.mib_per_s and not review.is_from_map(test)]
    flash = [test for test in every if not _model(review, test.model).is_disk]
    tests = flash if len(flash) > 1 else every
    if len(tests) < 2:
        return
    best = max(tests, key=lambda t: t.mib_per_s or 0)
    worst = min(tests, key=lambda t: t.mib_per_s or 0)
    ratio = (best.mib_per_s or 0) / (worst.mib_per_s or 1)
    yield Finding(
        f"{q.significant(ratio, 2)}\u00a0×",
        f"{_of_flash(len(tests) < len(every))}{review.title_of(best.model)} is the fastest in "
        f"{work(best)}, "
        f"{q.significant(ratio, 2)} times as fast as {review.title_of(worst.model)}.",
        f"{best.title}: {q.throughput(best.mib_per_s)} against {q.throughput(worst.mib_per_s)}; "
        "drives in use",
    )


def _of_flash(disks_left_out: bool) -> str:
    return "Of the flash drives, " if disks_left_out else ""


def _slowest_with_use(review: Reviewed, test_id: str) -> Iterator[Finding]:
    ratios = []
    for name, later in _last_state(review, test_id).items():
        new = review.new(test_id, name)
        ratio = change(new.mib_per_s, later.mib_per_s) if new is not None else None
        if new is not None and ratio is not None and review.role(later) != "new":
            ratios.append((ratio, new, later))
    if not ratios:
        return
    ratio, new, later = min(ratios, key=lambda item: item[0])
    middle = median(item[0] for item in ratios)
    yield Finding(
        q.percent(ratio, signed=True),
        f"Nothing loses more with use than {review.title_of(later.model)}: {work(later)} "
        f"become {q.percent(abs(ratio))} slower.",
        f"{q.throughput(new.mib_per_s)} new, {q.throughput(later.mib_per_s)} {later.state}; "
        f"the median of {len(ratios)} drives: {q.percent(middle, signed=True)}",
    )


def _beside_disks(review: Reviewed, test_id: str) -> Iterator[Finding]:
    disks = {model.name for model in review.models if model.is_disk}
    tests = _last_state(review, test_id)
    rates = {name: test.mib_per_s for name, test in tests.items() if test.mib_per_s is not None}
    flash = [rate for name, rate in rates.items() if name not in disks]
    fastest = max((name for name in rates if name in disks), key=lambda n: rates[n], default=None)
    if fastest is None or not flash:
        return
    slower = sum(rate < rates[fastest] for rate in flash)
    yield Finding(
        f"{slower} of {len(flash)}",
        f"{slower} of {len(flash)} flash drives are slower than a hard disk in "
        f"{work(tests[fastest])}.",
        f"{review.title_of(fastest)}: {q.throughput(rates[fastest])}; drives in use",
    )


def _thirst(review: Reviewed, test_id: str) -> Iterator[Finding]:
    tests = [t for t in _last_state(review, test_id).values() if t.mean_power_w is not None]
    flash = [t for t in tests if not _model(review, t.model).is_disk]
    if len(flash) < 2:
        return
    most = max(flash, key=lambda t: t.mean_power_w or 0)
    least = min(flash, key=lambda t: t.mean_power_w or 0)
    yield Finding(
        q.power(most.mean_power_w),
        f"Of the flash drives {review.title_of(most.model)} draws the most when idle, "
        f"{review.title_of(least.model)} the least.",
        f"{q.power(most.mean_power_w)} against {q.power(least.mean_power_w)}",
    )


def _model(review: Reviewed, name: str) -> Model:
    return next(model for model in review.models if model.name == name)
