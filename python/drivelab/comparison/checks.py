"""Whether results may be compared: what differs beside the drives, and how bad that is.

SNIA's PTS keeps four classes of results apart: fresh out of the box, preconditioned, steady state,
exploratory. Here a test on a new drive is of the first class, in any other state of the
second, one that reached its steady state of the third, and everything quick of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType

from drivelab.comparison.compared import Work
from drivelab.comparison.pairing import Pair, Single
from drivelab.comparison.sides import Side
from drivelab.records.record import Origin
from drivelab.records.test import AnyTest, Stream, Test
from drivelab.report import quantities as q
from drivelab.report import streams

SHARE_RATIO = 0.01
"""Spans whose shares of their drives are this close are the same part of each drive."""
DURATION_RATIO = 0.02
"""Durations closer than this are the same: a test ends with its last request."""
REAL = "real"
"""The family of drives that were measured through fio."""
SHOWN_MAX = 3
"""Tests that a message names."""


@dataclass(frozen=True)
class Affected:
    """A test in a state that a problem is about."""

    id: str
    state: str
    reason: str
    """What is wrong with it: "data patterns differ: A random, B repeating"."""


@dataclass(frozen=True)
class Problem:
    """Something that differs and should not."""

    refused: bool
    """Whether what it is about needs --force to be compared; otherwise it is a warning."""
    kind: str
    """One word: states, data, spans, quick, seeds, durations, engines, classes, ..."""
    sentence: str
    tests: tuple[Affected, ...] = ()
    """What it is about; () for all."""


def result_class(test: AnyTest, side: Side) -> str:
    """The class of a result in PTS's words."""
    if side.run.quick:
        return "exploratory"
    if test.steady_state is not None:
        return "steady state" if test.steady_state.reached else "exploratory"
    is_new = side.review.role(test) == "new"
    return "fresh out of the box" if is_new else "preconditioned"


def refusals(
    sides: Sequence[Side], pairs: Sequence[Pair], singles: Sequence[Single]
) -> list[Problem]:
    """What may not be compared: the tests that a problem names, or nothing at all."""
    found = [*_scales(sides), *_quick_and_whole(sides), *_nothing_common(pairs, singles)]
    return [*found, *_tests(True, REFUSED, sides, pairs)]


def reasons(problems: Sequence[Problem], pair: Pair) -> list[str]:
    """Why a pair may not be compared; nothing if it may."""
    return [
        test.reason
        for problem in problems
        for test in problem.tests
        if (test.id, test.state) == (pair.id, pair.state)
    ]


def warnings(
    sides: Sequence[Side], pairs: Sequence[Pair], singles: Sequence[Single]
) -> list[Problem]:
    """What a reader must know of what is compared."""
    return [*_runs(sides), *_tests(False, WARNED, sides, pairs), *_left_over(singles)]


def _each(sides: Sequence[Side], key: str) -> dict[str, list[str]]:
    """Letters of the sides by what their run says of a key."""
    found: dict[str, list[str]] = {}
    for side in sides:
        found.setdefault(str(getattr(side.run, key)), []).append(side.letter)
    return found


def _told(values: dict[str, list[str]]) -> str:
    return "; ".join(f"{_and(letters)}: {value}" for value, letters in values.items())


def _were(letters: Sequence[str], one: str, several: str) -> str:
    return f"{letters[0]} was {one}" if len(letters) == 1 else f"{_and(letters)} were {several}"


def _and(letters: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(letters[:-1]), letters[-1])))


def _quick_and_whole(sides: Sequence[Side]) -> Iterator[Problem]:
    quick = [side.letter for side in sides if side.run.quick]
    if 0 < len(quick) < len(sides):
        yield Problem(
            True,
            "quick",
            f"{_were(quick, 'a quick run', 'quick runs')}, and the others weren't: quick tests are "
            "cut short, streams to 10 s, before a drive slows down.",
        )


def _nothing_common(pairs: Sequence[Pair], singles: Sequence[Single]) -> Iterator[Problem]:
    if not pairs:
        states = dict.fromkeys(f"{s.side.letter} {s.title}, {s.state}" for s in singles)
        shown = "; ".join(list(states)[: 2 * SHOWN_MAX])
        sentence = f"No test was made in the same state on two sides ({shown})."
        yield Problem(True, "states", sentence if states else "No side has a test to compare.")


def _scale(side: Side) -> str:
    found = (item.value for item in side.model.parameters if item.key == "scale_divisor")
    return f"1/{next(found, None) or 1}"


def _scales(sides: Sequence[Side]) -> Iterator[Problem]:
    scales = dict.fromkeys(_scale(side) for side in sides)
    if len(scales) > 1:
        told = ", ".join(f"{side.letter} {_scale(side)}" for side in sides)
        yield Problem(
            True,
            "scales",
            f"Small versions are of different scales ({told}): a time wears them differently.",
        )


def _runs(sides: Sequence[Side]) -> Iterator[Problem]:
    versions, seeds = _each(sides, "engine_version"), _each(sides, "seed")
    if len(versions) > 1:
        yield Problem(
            False,
            "engines",
            f"Engine versions differ ({_told(versions)}): what changed between them counts as a "
            "difference of the drives.",
        )
    if all(side.run.quick for side in sides):
        yield Problem(
            False,
            "quick",
            "Quick runs: tests are cut short, and results are exploratory; published figures are "
            "of whole tests, in which a drive may slow down later.",
        )
    if len(seeds) > 1:
        yield Problem(
            False,
            "seeds",
            f"Seeds differ ({_told(seeds)}): small differences may be those of the random "
            "requests.",
        )
    real = [side.letter for side in sides if side.model.family == REAL]
    if 0 < len(real) < len(sides):
        yield Problem(
            False,
            "targets",
            f"{_were(real, 'measured', 'measured')} on a real machine, whose own time counts; the "
            "others are simulated.",
        )


def _tests(
    refused: bool, checks: Sequence[Check], sides: Sequence[Side], pairs: Sequence[Pair]
) -> Iterator[Problem]:
    """Of all tests together: one message for each kind of difference."""
    for kind, title, of in checks:
        said = [(pair, words) for pair in pairs for words in [of(sides, pair)] if words]
        if said:
            shown = [f"{pair.title}, {pair.state} ({words})" for pair, words in said[:SHOWN_MAX]]
            reason = f"{title[:1].lower()}{title[1:]}"
            yield Problem(
                refused,
                kind,
                f"{title}: {'; '.join(shown)}{_more(len(said))}.",
                tuple(Affected(pair.id, pair.state, f"{reason}: {words}") for pair, words in said),
            )


def _more(count: int) -> str:
    """What follows the tests that a message names."""
    return f"; and {count - SHOWN_MAX} more" if count > SHOWN_MAX else ""


def _lettered(values: Mapping[str, str | None]) -> str:
    """ "A random, B repeating" if the values differ, else nothing; None is no value."""
    known = {letter: value for letter, value in values.items() if value is not None}
    if len(set(known.values())) < 2:
        return ""
    return ", ".join(f"{letter} {value}" for letter, value in known.items())


def _by_side(sides: Sequence[Side], pair: Pair) -> Iterator[tuple[Side, str, Test]]:
    """Sides that have a test, with the state and the record of it."""
    for side, state, test in zip(sides, pair.states, pair.records, strict=True):
        if test is not None:
            yield side, state, test


def _states(sides: Sequence[Side], pair: Pair) -> str:
    return _lettered({side.letter: state for side, state, _ in _by_side(sides, pair)})


def _classes(sides: Sequence[Side], pair: Pair) -> str:
    tests = _by_side(sides, pair)
    return _lettered({side.letter: result_class(test, side) for side, _, test in tests})


def _origins(sides: Sequence[Side], pair: Pair) -> str:
    """Where a test, or a state, comes from that goes by one name and is another on each side."""
    owners = list(_by_side(sides, pair))
    tests = {side.letter: test.origin for side, _, test in owners}
    states = {side.letter: side.state_origin(test.state) for side, _, test in owners}
    said = (("the test", _places(tests)), ("the state", _places(states)))
    return "; ".join(f"{word}: {values}" for word, values in said if values)


def _places(origins: Mapping[str, Origin | None]) -> str:
    """The places, if the files there differ; a file may lie in a package, too."""
    if len({origin and origin.sha256 for origin in origins.values()}) < 2:
        return ""
    return _lettered({
        letter: f"{origin.place} {origin.sha256[:12]}" if origin else "drivelab"
        for letter, origin in origins.items()
    })  # fmt: skip


def _data(sides: Sequence[Side], pair: Pair) -> str:
    return _values(sides, pair, "data", Stream | Work)


def _values(sides: Sequence[Side], pair: Pair, key: str, kind: type[Test] | UnionType) -> str:
    """What each side's test says of a key, as far as it is of the kind that has it."""
    tests = _by_side(sides, pair)
    found = {side.letter: getattr(test, key) for side, _, test in tests if isinstance(test, kind)}
    return _lettered({side: None if value is None else str(value) for side, value in found.items()})


def _requests(sides: Sequence[Side], pair: Pair) -> str:
    words = (
        ("direction", "direction", Stream),
        ("block_bytes", "block bytes", Stream),
        ("queue_depth", "queue depth", Stream),
        ("align_bytes", "alignment in bytes", Stream),
        ("options", "options", Work),
    )
    said = ((title, _values(sides, pair, key, kind)) for key, title, kind in words)
    return "; ".join(f"{title}: {values}" for title, values in said if values)


def _spans(sides: Sequence[Side], pair: Pair) -> str:
    """Spans that differ both in bytes and as shares of their drives."""
    found = [(side, test.span_bytes) for side, _, test in _by_side(sides, pair)]
    spans = [(side, span) for side, span in found if span is not None]
    sizes = [(side.model.user_capacity_bytes, span) for side, span in spans]
    shares = [span / size for size, span in sizes if size]
    if not shares or max(shares) <= min(shares) * (1 + SHARE_RATIO):
        return ""
    return _lettered({side.letter: q.size(span) for side, span in spans})


def _durations(sides: Sequence[Side], pair: Pair) -> str:
    """Streams of different lengths; a pass takes as long as its drive needs."""
    tests = {s.letter: t for s, _, t in _by_side(sides, pair) if isinstance(t, Stream)}
    known = [test for test in tests.values() if streams.pattern(test) != "pass"]
    lengths = [test.duration_s for test in known if test.duration_s]
    if len(lengths) < 2 or max(lengths) <= min(lengths) * (1 + DURATION_RATIO):
        return ""
    return _lettered({letter: q.duration(test.duration_s) for letter, test in tests.items()})


def _deviations(sides: Sequence[Side], pair: Pair) -> str:
    said = {side.letter: "; ".join(t.deviations) for side, _, t in _by_side(sides, pair)}
    if len(set(said.values())) < 2:
        return ""
    return ", ".join(f"{letter}: {lines or 'none'}" for letter, lines in said.items())


def _unwritten(sides: Sequence[Side], pair: Pair) -> str:
    read_map = zip(sides, pair.read_map, strict=True)
    return ", ".join(side.letter for side, of_map in read_map if of_map)


def _left_over(singles: Sequence[Single]) -> Iterator[Problem]:
    if singles:
        shown = "; ".join(f"{s.side.letter} {s.title}, {s.state}" for s in singles[:SHOWN_MAX])
        yield Problem(
            False,
            "left over",
            f"Left out, because only one side has them: {shown}{_more(len(singles))}.",
        )


Check = tuple[str, str, Callable[[Sequence[Side], Pair], str]]
"""Kind of problem, what it is called, and what differs in a pair; "" if nothing does."""

REFUSED: tuple[Check, ...] = (
    ("states", "States differ", _states),
    ("origins", "Tests or states of one name come from different files", _origins),
    ("classes", "Classes of results differ, which are never compared", _classes),
    ("requests", "Tests of one name send different requests", _requests),
    ("data", "Data patterns differ", _data),
    ("spans", "Spans differ", _spans),
)
WARNED: tuple[Check, ...] = (
    ("durations", "Tests ran for different times", _durations),
    ("deviations", "Deviations from the standard differ", _deviations),
    ("unwritten", "Reads of what was never written touch no flash and are no finding", _unwritten),
)
