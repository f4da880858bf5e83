"""What the review found, in sentences computed from the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from drivelab import verdicts
from drivelab.records.figure import Figure
from drivelab.records.model import Model
from drivelab.records.test import Stream
from drivelab.report import compound_findings, streams, studies
from drivelab.report import quantities as q
from drivelab.report.agreement import error_ratio, is_judged, met
from drivelab.report.reading import Reviewed
from drivelab.report.sentences import (
    Finding,
    change,
    circumstances,
    compared,
    comparison,
    does,
    rates,
    work,
)
from drivelab.sources import role_rank

NOTABLE_SHARE = 0.02
"""A part of the time that is smaller than this isn't what a test spends it on."""


def _pairs(review: Reviewed, model: str) -> Iterator[tuple[Stream, Stream]]:
    """Every test as (new, later), or (filled, later) where reads of the new one touch no flash."""
    for test_id in review.test_ids(model):
        told = [test for test in review.of(test_id, model) if not review.is_from_map(test)]
        roles = [review.role(test) for test in told]
        base = next((at for at, role in enumerate(roles) if role in ("new", "filled")), len(told))
        yield from ((told[base], t) for t in told[base + 1 :] if review.role(t) != "filled")


REVIEWS_QUEUE_DEPTH = 3
"""Queue depth of the reviews' random tests."""


def key_write(review: Reviewed, model: str) -> Stream | None:
    """The random write that says most: latest state, not aligned, queue depth as in the reviews."""
    found = review.work(model, "write", "random")
    states = review.states_of(model)
    found = [t for t in found if not review.state(t.state).restores] or found
    return min(
        found,
        key=lambda t: (
            -states.index(t.state),
            t.align_bytes or 0,
            abs((t.queue_depth or 0) - REVIEWS_QUEUE_DEPTH),
        ),
        default=None,
    )


Kind = tuple[str, str]
"""Pattern and direction of a test."""


def _slowing(review: Reviewed, model: Model, subject: str) -> Iterator[tuple[Kind, Finding]]:
    """Of each kind of work (random write, sequential read, ...) the largest change with use."""
    largest: dict[tuple[str, str], tuple[float, Stream, Stream]] = {}
    for new, later in _pairs(review, model.name):
        ratio = change(new.mib_per_s, later.mib_per_s)
        kind = (streams.pattern(new), new.direction or "")
        if ratio is None or streams.pattern(new) in ("access", "power"):
            continue
        if kind not in largest or abs(ratio) > abs(largest[kind][0]):
            largest[kind] = (ratio, new, later)
    # Reads first: they are most of what a drive does.
    for ratio, new, later in sorted(largest.values(), key=lambda item: (item[1].writes, item[0])):
        figure, words = compared(new, later) or comparison(ratio)
        sentence = f"{later.state.capitalize()}, {subject} {does(new)} {words} {new.state}."
        where = circumstances(new)
        detail = f"{rates(new)} {new.state}, {rates(later)} {later.state}"
        finding = Finding(figure, sentence, f"{detail}; {where}" if where else detail)
        yield (streams.pattern(new), new.direction or ""), finding


def _reading(
    review: Reviewed, model: str, subject: str, told: Collection[Kind]
) -> Iterator[Finding]:
    """Reads of written data where those of the new drive touched no flash: nothing to compare."""
    states = review.states_of(model)
    for pattern in ("random", "sequential"):
        if (pattern, "read") in told:
            continue
        reads = review.work(model, "read", pattern)
        empty = {
            t.id: t for t in reversed(reads) if review.is_from_map(t) and review.role(t) == "new"
        }
        written = [test for test in reads if test.id in empty and not review.is_from_map(test)]
        if not written:
            continue
        last = max(
            written,
            key=lambda test: (
                not review.state(test.state).restores,
                states.index(test.state),
                -abs((test.queue_depth or 0) - REVIEWS_QUEUE_DEPTH),
            ),
        )
        new = empty[last.id]
        where = circumstances(last)
        yield Finding(
            q.throughput(last.mib_per_s),
            f"{last.state.capitalize()}, {subject} {does(last)} at {rates(last)}.",
            f"{where + '; ' if where else ''}{rates(new)} new say nothing: nothing was written, "
            "and reads of it touch no flash",
        )


def _differ(one: Stream, other: Stream) -> bool:
    """Whether the throughputs of two tests differ."""
    ones, others = (streams.repeated(test, "mib_per_s") for test in (one, other))
    return verdicts.differ(one.mib_per_s or 0.0, other.mib_per_s or 0.0, ones, others)


def _restored(review: Reviewed, model: str, noun: str) -> Iterator[Finding]:
    """What TRIM or a pass gives back, in the write that the state before had slowed most."""
    ordered = sorted(review.known_states.values(), key=lambda state: state.order)
    for cause in dict.fromkeys(state.by for state in ordered if state.restores):
        losses: list[tuple[float, Stream, Stream, Stream]] = []
        for later in review.streams:
            standing = review.state(later.state)
            other = later.model != model or not standing.restores or standing.by != cause
            if other or not later.writes or later.mib_per_s is None:
                continue
            new = review.new(later.id, model)
            worn = review.one(later.id, model, standing.restores)
            ratio = change(new.mib_per_s, worn.mib_per_s) if new and worn else None
            if new and worn and ratio is not None and ratio < 0 and _differ(new, worn):
                losses.append((ratio, new, worn, later))
        if not losses:
            continue
        loss, new, worn, later = min(losses, key=lambda item: item[0])
        share = 1 + (change(new.mib_per_s, later.mib_per_s) or 0.0)
        sentence = (
            f"{cause} brings a {worn.state} {noun} back to {q.percent(share)} of new in "
            f"{work(later)}; before, it was at {q.percent(1 + loss)}."
        )
        each = ", ".join(f"{rates(t)} {t.state}" for t in (new, worn, later))
        yield Finding(q.percent(share), sentence, f"{each}; {circumstances(new)}")


def _tail(test: Stream, whose: str) -> Iterator[Finding]:
    shares = {"p99_99": 10_000, "p99_9": 1_000, "p99": 100}
    told = {key: streams.told(test, key) for key in shares}
    top = next((key for key, at in told.items() if at is not None), None)
    if top is None:
        return
    share, below = f"{shares[top]:,}", q.latency(told[top])
    level = {"p99_99": "99.99", "p99_9": "99.9", "p99": "99"}[top]
    sentence = (
        f"{test.state.capitalize()}, one in {share} {work(test)}{whose} takes longer than {below}."
    )
    detail = f"mean {q.latency(test.latency_us.mean)}, {level}{q.NBSP}% under {below}"
    if test.latency_us.max is not None:
        detail += f", longest {q.latency(test.latency_us.max)}"
    yield Finding(below, sentence, f"{detail}; {circumstances(test)}")


def _amplification(review: Reviewed, test: Stream, whose: str) -> Iterator[Finding]:
    ratio = test.write_amplification
    if ratio is None:
        return
    new = review.new(test.id, test.model)
    sentence = (
        f"{test.state.capitalize()}, the flash{whose} programs {q.times(ratio)[:-2]} times the "
        f"bytes that the host writes in {work(test)}."
    )
    detail = (
        f"{q.data(test.host_write_bytes)} written, {q.data(test.flash_program_bytes)} programmed"
    )
    if new is not None and new is not test and new.write_amplification is not None:
        detail += f"; new: {q.times(new.write_amplification)}"
    yield Finding(q.times(ratio), sentence, detail)


def _share(test: Stream, part: str) -> float | None:
    total = streams.total(test.split_mean_us)
    return streams.parts(test.split_mean_us).get(part, 0.0) / total if total else None


def _where(review: Reviewed, test: Stream, noun: str) -> Iterator[Finding]:
    share = _share(test, "cleaning")
    if share is None:
        return
    part, split = "cleaning", streams.parts(test.split_mean_us)
    if share < NOTABLE_SHARE:
        part = max(split, key=lambda key: split[key])
        share = _share(test, part)
    words = {
        "queueing": "Waiting in the queue", "link": "The link", "firmware": "Firmware",
        "flash": "Flash", "cleaning": "Waiting for cleaning",
    }  # fmt: skip
    sentence = (
        f"{words[part]} takes {q.percent(share)} of the time of {work(test)} on the "
        f"{test.state} {noun}."
    )
    spent, mean = split.get(part), test.latency_us.mean
    detail = f"{q.latency(spent)} of {q.latency(mean)} on average; {circumstances(test)}"
    new = review.new(test.id, test.model)
    if new is not None and new is not test:
        before = _share(new, part)
        detail += "" if before is None else f"; new: {q.percent(before)}"
    yield Finding(q.percent(share), sentence, detail)


def _alignment(review: Reviewed, model: str, noun: str) -> Iterator[Finding]:
    for state in reversed(review.states_of(model)):
        tests = [test for test in review.work(model, "write", "random") if test.state == state]
        for loose in tests:
            for tight in tests:
                same = (loose.block_bytes, loose.queue_depth) == (
                    tight.block_bytes,
                    tight.queue_depth,
                )
                if not same or (loose.align_bytes or 0) >= (tight.align_bytes or 0):
                    continue
                ratio = change(loose.mib_per_s, tight.mib_per_s)
                if ratio is None:
                    continue
                word = "faster" if ratio >= 0 else "slower"
                yield Finding(
                    q.percent(ratio, signed=True),
                    f"Aligned to {q.size(tight.align_bytes)}, {work(tight)} are "
                    f"{q.percent(abs(ratio))} {word} than at any sector ({state} {noun}).",
                    f"{rates(loose)} at any sector, {rates(tight)} aligned; "
                    f"queue depth {q.exact(tight.queue_depth)}",
                )
                return


def judged(review: Reviewed) -> list[Figure]:
    """Published figures that the model can be held against."""
    return [figure for figure in review.figures if is_judged(figure)]


def agreement(review: Reviewed) -> Iterator[Finding]:
    """How many published figures are met."""
    figures = judged(review)
    if not figures:
        return
    roles = Counter(figure.role for figure in figures)
    good = sum(met(figure) for figure in figures)
    subject = "The model meets" if len(review.models) == 1 else "The models meet"
    limit = q.percent(verdicts.TOLERANCE_RATIO)
    sentence = f"{subject} {good} of {len(figures)} published figures within {limit}."
    detail = ", ".join(
        f"{sum(met(figure) for figure in figures if figure.role == role)} of {count} {role}"
        for role, count in sorted(roles.items(), key=lambda item: role_rank(item[0]))
    )
    errors = [f for f in figures if error_ratio(f) is not None]
    if errors:
        worst = max(errors, key=lambda f: abs(error_ratio(f) or 0))
        detail += f"; largest difference {q.percent(error_ratio(worst), signed=True)} ({worst.id})"
    yield Finding(f"{good} of {len(figures)}", sentence, detail)


def _access(review: Reviewed, model: str, subject: str) -> Iterator[Finding]:
    found = [t for t in review.streams if t.model == model and streams.pattern(t) == "access"]
    if not found:
        return
    found.sort(key=lambda t: review.states_of(model).index(t.state))
    last = found[-1]
    if last.latency_us.mean is None or review.is_from_map(last):
        return
    detail = (
        f"{q.size(last.block_bytes)} {'writes' if last.writes else 'reads'}, {circumstances(last)}"
    )
    is_told = found[0].latency_us.mean is not None and not review.is_from_map(found[0])
    first = review.role(found[0])
    if first == "new" and review.role(last) != "new" and is_told:
        detail += f"; new: {q.latency(found[0].latency_us.mean)}"
    yield Finding(
        q.latency(last.latency_us.mean),
        f"{last.state.capitalize()}, an access anywhere on {subject} takes "
        f"{q.latency(last.latency_us.mean)} on average.",
        detail,
    )


def key_read(review: Reviewed, model: str) -> Stream | None:
    """The random read of written data that says most: latest state, queue depth of the reviews."""
    states = review.states_of(model)
    found = [t for t in review.work(model, "read", "random") if not review.is_from_map(t)]
    found = [test for test in found if not review.state(test.state).restores] or found
    return min(
        found,
        key=lambda t: (
            -states.index(t.state),
            abs((t.queue_depth or 0) - REVIEWS_QUEUE_DEPTH),
        ),
        default=None,
    )


def _rivals(review: Reviewed) -> Iterator[Finding]:
    """This drive against each other reviewed model, in the key read and the key write."""
    name = review.models[0].name
    for mine in (key_read(review, name), key_write(review, name)):
        if mine is not None:
            yield from _beside(review, mine)


def _beside(review: Reviewed, mine: Stream) -> Iterator[Finding]:
    """The other models in one test."""
    for other in review.models[1:]:
        theirs = review.one(mine.id, other.name, mine.state)
        ratio = change(mine.mib_per_s, None if theirs is None else theirs.mib_per_s)
        if theirs is None or ratio is None or review.is_from_map(theirs):
            continue
        figure, words = compared(mine, theirs) or comparison(ratio)
        yield Finding(
            figure,
            f"{other.title} {does(mine)} {words} {review.models[0].title}, both {mine.state}.",
            f"{rates(theirs)} against {rates(mine)}; {circumstances(mine)}",
        )


def findings(review: Reviewed) -> list[Finding]:
    """The findings on the first model, the strongest loss first, then on the others beside it."""
    if not review.models:
        return []
    model = review.models[0]
    told = [
        finding
        for record in review.compounds
        if record.model == model.name
        for finding in studies.findings(record)
    ]
    told += compound_findings.of_model(review, model.name)
    # Beside others a drive goes by its name.
    alone = len(review.models) == 1
    noun, subject = ("drive", "the drive") if alone else (model.title, model.title)
    if not alone:
        told = [replace(item, sentence=f"{model.title}: {item.sentence}") for item in told]
    if not review.streams:
        return [*told, *agreement(review)]
    slowing = list(_slowing(review, model, subject))
    found = list(_reading(review, model.name, subject, [kind for kind, _ in slowing]))
    found += (finding for _, finding in slowing)
    found += _restored(review, model.name, noun)
    found += _alignment(review, model.name, noun)
    key = key_write(review, model.name)
    if key is not None:
        whose = "" if alone else f" of {model.title}"
        found += [*_tail(key, whose), *_where(review, key, noun)]
        found += _amplification(review, key, whose)
    found += _access(review, model.name, subject)
    found += told
    found += _rivals(review)
    found += agreement(review)
    return found
