"""The rows of the report's tables, every cell already written as text with its unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from drivelab import verdicts
from drivelab.latencies import QUOTED_PERCENTILES
from drivelab.records.figure import Figure
from drivelab.records.model import Model
from drivelab.records.test import Stream
from drivelab.report import quantities as q
from drivelab.report import smart, streams
from drivelab.report.agreement import error_ratio, holds, is_judged, met
from drivelab.report.bars import as_published, state_class
from drivelab.report.rankings import MANY
from drivelab.report.reading import Reviewed, remarks
from drivelab.report.sentences import change
from drivelab.sources import role_rank
from drivelab.verdicts import TOLERANCE_RATIO

# Parameters worth a line in the summary of a model: label and what the key looks like.
KEY_PARAMETERS = (
    ("channels", r"channel(s|_count)$"),
    ("dies per channel", r"dies_per_channel|ways"),
    ("planes per die", r"planes_per_die"),
    ("page", r"page(_size)?_bytes|page_size"),
    ("pages per block", r"pages_per_block"),
    ("reading a page (tR)", r"(^|[._])(t_?r|read)_ns"),
    ("programming a page (tPROG)", r"(^|[._])(t_?prog|program)\w*_ns"),
    ("erasing a block (tBERS)", r"(^|[._])(t_?bers|erase)_ns"),
    ("map unit", r"map_unit"),
    ("write buffer", r"buffer.*bytes"),
    ("victim selection", r"victim_selection"),
    ("queue depth", r"queue_depth"),
    ("link", r"link.*(rate|bytes_per_s|bits_per_s|mb_per_s)"),
)


TIMES_MIN = 10
"""From this factor on a change is told as times."""


@dataclass(frozen=True)
class Delta:
    """A change from new: its text and whether it is worse, better or neither."""

    text: str
    mood: str


def delta(
    before: float | None,
    after: float | None,
    *,
    more_is_better: bool | None,
    repeats: tuple[Sequence[float], Sequence[float]] = ((), ()),
) -> Delta:
    """The percent difference; what is no difference is neither better nor worse."""
    ratio = change(before, after)
    if ratio is None or before is None or after is None:
        return Delta(q.DASH, "")
    # Beyond ten times as much percentages say nothing.
    words = q.percent(ratio, signed=True) if ratio < TIMES_MIN - 1 else q.times(1 + ratio)
    if more_is_better is None or not verdicts.differ(before, after, *repeats):
        return Delta(words, "")
    return Delta(words, "better" if (ratio > 0) == more_is_better else "worse")


@dataclass(frozen=True)
class Contrast:
    """A test new against later: throughput, mean latency, 99.99th percentile."""

    title: str
    later: str
    cells: tuple[tuple[str, str, Delta], ...]


def contrasts(review: Reviewed, model: str) -> list[Contrast]:
    """New against every later state, test by test."""
    rows = []
    for test_id in review.test_ids(model):
        new = review.new(test_id, model)
        for later in review.of(test_id, model):
            if new is None or review.role(later) == "new" or streams.pattern(new) == "power":
                continue
            rows.append(Contrast(new.title, later.state, _contrast(review, new, later)))
    return rows


def _contrast(review: Reviewed, new: Stream, later: Stream) -> tuple[tuple[str, str, Delta], ...]:
    def cells(
        name: str, of: Callable[[Stream], float | None], text: Callable[..., str], more: bool
    ) -> tuple[str, str, Delta]:
        repeats = (streams.repeated(new, name), streams.repeated(later, name))
        if review.is_from_map(new) or review.is_from_map(later):
            # Nothing was written: that is no speed of the drive.
            return text(of(new)), text(of(later)), Delta(q.DASH, "")
        one, other = (text(of(test), streams.plus_minus(test, name)) for test in (new, later))
        return one, other, delta(of(new), of(later), more_is_better=more, repeats=repeats)

    return (
        cells("mib_per_s", lambda test: test.mib_per_s, q.throughput, True),
        cells("iops", lambda test: test.iops, q.iops, True),
        cells("latency_us.mean", lambda test: test.latency_us.mean, q.latency_of, False),
        cells("latency_us.p99_99", lambda t: streams.told(t, "p99_99"), q.latency_of, False),
    )


@dataclass(frozen=True)
class Row:
    """A row of cells under a label and a state."""

    label: str
    state: str
    state_class: str
    cells: tuple[str, ...]


def _row(review: Reviewed, test: Stream, cells: tuple[str, ...]) -> Row:
    label = (
        test.title if len(review.models) == 1 else f"{test.title}, {review.title_of(test.model)}"
    )
    return Row(label, test.state, state_class(review, test.state), cells)


def latencies(review: Reviewed, model: str) -> list[Row]:
    """Mean, percentiles and maximum of every test."""
    keys = ("mean", *QUOTED_PERCENTILES, "max")
    return [
        Row(
            test.title, test.state, state_class(review, test.state),
            tuple(
                q.latency_of(
                    streams.told(test, key),
                    streams.plus_minus(test, f"latency_us.{key}"),
                )
                for key in keys
            ),
        )
        for test_id in review.test_ids(model)
        for test in review.of(test_id, model)
    ]  # fmt: skip


def wear(review: Reviewed) -> list[Row]:
    """Bytes written and programmed, write amplification and erases of every writing test."""
    return [
        _row(
            review,
            test,
            (
                q.data(test.host_write_bytes),
                q.data(test.flash_program_bytes),
                q.times(test.write_amplification),
                q.count(test.erases, "erases"),
            ),
        )
        for test_id in review.test_ids()
        for test in review.of(test_id)
        if test.writes
    ]


def seasoning(review: Reviewed) -> list[Row]:
    """The same for the making of the states, and how often it wrote the drive over."""
    sizes = {model.name: model.user_capacity_bytes for model in review.models}
    return [
        Row(
            review.title_of(run.model), run.state, state_class(review, run.state),
            (
                q.data(run.host_write_bytes),
                q.times(_ratio(run.host_write_bytes, sizes[run.model])),
                q.data(run.program_bytes),
                q.times(run.write_amplification), q.count(run.erases, "erases"),
            ),
        )
        for run in review.states
    ]  # fmt: skip


def _ratio(value: float, of: float | None) -> float | None:
    """None: of nothing."""
    return value / of if of else None


def power(review: Reviewed) -> list[Row]:
    """Mean power, energy and energy per data moved of every test."""
    rows = []
    for test_id in review.test_ids():
        for test in review.of(test_id):
            if test.mean_power_w is None and test.energy_j is None:
                continue
            cells = (
                q.power(test.mean_power_w),
                q.energy(test.energy_j),
                q.with_unit(streams.joules_per_gib(test), "J/GiB"),
            )
            rows.append(_row(review, test, cells))
    return rows


@dataclass(frozen=True)
class PublishedRow:
    """A published figure beside the modelled value; `offset` is the error on a scale of +-20 %."""

    figure: Figure
    metric: str
    published: str
    modelled: str
    error: str
    offset: float | None
    met: bool | None


_WORDS = {
    "seq": "sequential", "avg": "average", "max": "longest", "4k": "4 KB", "2mb": "2 MB",
    "128kb": "128 KB", "iops": "IOPS",
}  # fmt: skip


def metric_words(metric: str) -> str:
    """The key of a metric as words: seq_read_2mb is "2 MB sequential read"."""
    words = [_WORDS.get(word, word) for word in metric.split("_") if word]
    sizes = [word for word in words if word[0].isdigit()]
    return " ".join(sizes + [word for word in words if word not in sizes]) or q.DASH


def published(review: Reviewed) -> list[PublishedRow]:
    """Figures that the review modelled, predicted ones first, in order of their ids within."""
    rows = []
    for figure in review.figures:
        if figure.modelled is None:
            continue
        ratio, kept = error_ratio(figure), holds(figure)
        error, offset, good = q.DASH, None, kept
        if not is_judged(figure):
            error, good = "not compared", None
        elif ratio is not None:
            error = q.percent(ratio, signed=True)
            offset = max(-1.0, min(1.0, ratio / (2 * TOLERANCE_RATIO)))
            good = met(figure)
        elif kept is not None:
            error = "holds" if kept else "does not hold"
        modelled = q.with_unit(figure.modelled, figure.unit, _digits(figure))
        words = metric_words(figure.metric)
        rows.append(
            PublishedRow(figure, words, as_published(figure), modelled, error, offset, good)
        )
    return sorted(rows, key=lambda row: role_rank(row.figure.role))


def _digits(figure: Figure) -> int:
    """Digits of the modelled value: as many as were published, at least three."""
    return max(3, len(f"{figure.published:.12g}".replace(".", "").replace("-", "").lstrip("0")))


def unmodelled(review: Reviewed) -> int:
    """How many published figures are of other drives or could not be modelled."""
    return sum(figure.modelled is None for figure in review.figures)


def key_parameters(model: Model) -> list[tuple[str, str]]:
    """The parameters that characterise a model; of a real drive, how it was measured."""
    shown = []
    for label, pattern in KEY_PARAMETERS:
        found = next((p for p in model.parameters if re.search(pattern, p.key)), None)
        if found is not None:
            unit = "" if found.unit in label else found.unit
            shown.append((label, q.parameter(found.value, unit)))
    return [*shown, *smart.facts(model)]


@dataclass(frozen=True)
class TestRow:
    """A test and its settings."""

    title: str
    id: str
    settings: tuple[str, ...]


def settings(review: Reviewed) -> list[TestRow]:
    """What every test does."""
    rows = []
    for test_id in review.test_ids():
        found = review.of(test_id)
        each = [next(test for test in found if test.model == name) for name in _models(found)]
        columns = zip(*(_setting_texts(review, test) for test in each), strict=True)
        rows.append(TestRow(found[0].title, test_id, tuple(map(_of_drives, columns))))
    return rows


def _models(found: Sequence[Stream]) -> list[str]:
    return list(dict.fromkeys(test.model for test in found))


def _setting_texts(review: Reviewed, test: Stream) -> tuple[str, ...]:
    return (
        (test.direction or "") if test.block_bytes != 0 else q.DASH,
        q.size(test.block_bytes or None),
        q.exact(test.queue_depth or None),
        q.size(test.align_bytes if test.block_bytes else None),
        q.capacity(test.span_bytes) if _whole(review, test) else q.size(test.span_bytes or None),
        q.duration(test.duration_s),
    )


def _of_drives(texts: Sequence[str]) -> str:
    """A setting of all drives; where they differ, each in the order of the drives."""
    kinds = list(dict.fromkeys(texts))
    if len(kinds) == 1:
        return kinds[0]
    return " / ".join(texts) if len(texts) < MANY else "differs by drive"


def _whole(review: Reviewed, test: Stream) -> bool:
    """Whether a test spans its whole drive, but for what is less than one of its blocks."""
    if test.span_bytes is None:
        return False
    capacity = next(m.user_capacity_bytes for m in review.models if m.name == test.model)
    return 0 <= capacity - test.span_bytes < max(1, test.block_bytes or 1)


def notes(review: Reviewed) -> list[str]:
    """What must be known of tests beside their bars, each remark once with all that it is about."""
    return [
        f"{'; '.join(_about(review, tests))}: {note}."
        for note, tests in remarks(review.streams).items()
    ]


def _about(review: Reviewed, tests: Sequence[Stream]) -> Iterator[str]:
    """Tests and their states, each with the drives that it is about where others had it, too."""
    for test_id, state in dict.fromkeys((test.id, test.state) for test in tests):
        own = [test for test in tests if (test.id, test.state) == (test_id, state)]
        all_of_it = [test for test in review.of(test_id) if test.state == state]
        drives = [review.title_of(test.model) for test in own]
        named = "" if len(own) == len(all_of_it) else f" ({', '.join(drives)})"
        yield f"{own[0].title}, {state}{named}"


def descriptions(review: Reviewed) -> list[tuple[str, str]]:
    """States and how they are made, each different description once; with the drives where they are
    of several."""
    drives: dict[tuple[str, str], list[str]] = {}
    for run in review.states:
        if run.description:
            title = review.title_of(run.model)
            drives.setdefault((run.state, run.description), []).append(title)
    of_state = Counter(state for state, _ in drives)
    return [
        (state if of_state[state] == 1 else f"{state}: {', '.join(titles)}", description)
        for (state, description), titles in drives.items()
    ]
