"""Many drives side by side: of every test a row for each drive, with a bar for each state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drivelab.model import FAMILY_TITLES
from drivelab.report import bars
from drivelab.report import quantities as q
from drivelab.report.findings import Finding, agreement, change, work
from drivelab.report.measurements import BOUNDS, Figure, Measurement, Model, Review

MANY = 4
"""From so many models on a report ranks them, instead of telling the story of the first."""

OPEN_TESTS = frozenset(
    (
        *("sequential-read-2m", "sequential-write-2m", "random-read-4k-qd3-sector"),
        *("random-write-4k-qd3-sector", "random-write-4k-qd3-aligned", "access-time"),
        *("power-idle", "hdtach-read", "hdtach-write", "as-ssd-read", "as-ssd-write"),
    )
)
"""Tests whose rankings are shown at once; the others open on demand."""


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


def families(review: Review) -> list[Family]:
    """The reviewed drives by family, families in their usual order."""
    words = [*FAMILY_TITLES, *sorted({model.family for model in review.models})]
    found = []
    for word in dict.fromkeys(words):
        models = tuple(model for model in review.models if model.family == word)
        if models:
            found.append(Family(word, FAMILY_TITLES.get(word, word or "other"), models))
    return found


def rankings(review: Review) -> list[Ranking]:
    """The first metric of every test."""
    return [
        _ranking(review, test_id, bars.headline(review.of(test_id)[0]), test_id in OPEN_TESTS)
        for test_id in review.test_ids()
    ]


AMPLIFICATION = bars.Headline(
    "",
    "bytes programmed per byte written",
    False,
    lambda t: t.write_amplification,
    lambda t: q.times(t.write_amplification),
)


def amplifications(review: Review) -> list[Ranking]:
    """Write amplification of every test that writes."""
    return [
        _ranking(review, test_id, AMPLIFICATION, False, "wa-")
        for test_id in review.test_ids()
        if any(test.write_amplification is not None for test in review.of(test_id))
    ]


def _ranking(
    review: Review, test_id: str, metric: bars.Headline, shown: bool, prefix: str = ""
) -> Ranking:
    tests = review.of(test_id)
    place = {family.word: index for index, family in enumerate(families(review))}
    figures = _figures(review, tests[0], metric.quantity)
    values: list[tuple[float, Model | None, str, list[tuple[str, str, str, float]]]] = []
    for model in review.models:
        lanes = []
        for test in tests:
            value = metric.value_of(test) if test.model == model.name else None
            if value is not None:
                state = "" if model.is_disk else test.state
                lanes.append((state, bars.state_class(test.state), metric.text_of(test), value))
        if lanes:
            # The state that was brought about last says most about a drive in use.
            values.append(
                (_sorting(lanes), model, model.title, lanes + figures.pop(model.name, []))
            )
    for name, lanes in figures.items():
        if not name.startswith("="):
            continue
        values.append((_sorting(lanes), None, name[1:], lanes))
    values.sort(key=lambda item: item[0], reverse=metric.more_is_better)
    longest = max((lane[3] for *_, lanes in values for lane in lanes), default=0.0) or 1.0
    rows = tuple(
        Row(
            label,
            "published" if model is None else model.family,
            len(place) if model is None else place[model.family],
            tuple(Lane(s, kind, text, max(0.0, v) / longest) for s, kind, text, v in lanes),
        )
        for _, model, label, lanes in values
    )
    return Ranking(
        prefix + test_id,
        tests[0].title,
        metric.unit,
        "more is better" if metric.more_is_better else "less is better",
        rows,
        shown,
    )


def _sorting(lanes: list[tuple[str, str, str, float]]) -> float:
    by_state = {state: value for state, *_, value in lanes}
    return by_state.get("used", lanes[0][3])


def _figures(
    review: Review, test: Measurement, quantity: str
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


def findings(review: Review) -> list[Finding]:
    """What stands out among many drives, and how well they agree with what was published."""
    found: list[Finding] = []
    for test_id in ("random-write-4k-qd3-sector", "sequential-read-2m", "sequential-write-2m"):
        found += _extremes(review, test_id)
    found += _slowest_with_use(review, "random-write-4k-qd3-sector")
    found += _beside_disks(review, "random-write-4k-qd3-sector")
    found += _thirst(review)
    found += agreement(review)
    return found


def _last_state(review: Review, test_id: str) -> dict[str, Measurement]:
    """Every model's test in the used state, or in the only one it has."""
    found: dict[str, Measurement] = {}
    for test in review.of(test_id):
        if test.model not in found or test.state == "used":
            found[test.model] = test
    return found


def _extremes(review: Review, test_id: str) -> Iterator[Finding]:
    tests = [t for t in _last_state(review, test_id).values() if t.mib_per_s]
    if len(tests) < 2:
        return
    best = max(tests, key=lambda t: t.mib_per_s or 0)
    worst = min(tests, key=lambda t: t.mib_per_s or 0)
    ratio = (best.mib_per_s or 0) / (worst.mib_per_s or 1)
    yield Finding(
        f"{q.significant(ratio, 2)}\u00a0×",
        f"{review.title_of(best.model)} is the fastest in {work(best)}, "
        f"{q.significant(ratio, 2)} times as fast as {review.title_of(worst.model)}.",
        f"{best.title}: {q.throughput(best.mib_per_s)} against {q.throughput(worst.mib_per_s)}; "
        "drives in use",
    )


def _slowest_with_use(review: Review, test_id: str) -> Iterator[Finding]:
    ratios = []
    for name, later in _last_state(review, test_id).items():
        new = review.one(test_id, name, "new")
        ratio = change(new.mib_per_s, later.mib_per_s) if new is not None else None
        if new is not None and ratio is not None and later.state != "new":
            ratios.append((ratio, new, later))
    if not ratios:
        return
    ratio, new, later = min(ratios, key=lambda item: item[0])
    yield Finding(
        q.percent(ratio, signed=True),
        f"Nothing loses more with use than {review.title_of(later.model)}: {work(later)} "
        f"become {q.percent(abs(ratio))} slower.",
        f"{q.throughput(new.mib_per_s)} new, {q.throughput(later.mib_per_s)} {later.state}; "
        f"the median of {len(ratios)} drives: {q.percent(_median(ratios), signed=True)}",
    )


def _median(ratios: list[tuple[float, Measurement, Measurement]]) -> float:
    ordered = sorted(ratio for ratio, *_ in ratios)
    return ordered[len(ordered) // 2]


def _beside_disks(review: Review, test_id: str) -> Iterator[Finding]:
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


def _thirst(review: Review) -> Iterator[Finding]:
    tests = [t for t in _last_state(review, "power-idle").values() if t.mean_power_w is not None]
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


def _model(review: Review, name: str) -> Model:
    return next(model for model in review.models if model.name == name)
