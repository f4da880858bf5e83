"""Two drives or more, side by side: what differs, by how much, and whether it may be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drivelab.comparison import checks, findings, pairing, specifications
from drivelab.comparison.checks import Problem
from drivelab.comparison.pairing import Pair, Single
from drivelab.comparison.sides import Side, Source, sides_of
from drivelab.comparison.specifications import Difference
from drivelab.errors import RequestError
from drivelab.records.failed import Failed
from drivelab.report.sentences import Finding

__all__ = ["Comparison", "Source", "compare"]


@dataclass(frozen=True)
class LeftOut:
    """A test in a state that isn't compared."""

    id: str
    title: str
    state: str
    letters: tuple[str, ...]
    """The sides that have it; none of a test that failed wherever it was tried."""
    reason: str


@dataclass(frozen=True)
class Comparison:
    """Everything that a comparison found, before it is written or drawn."""

    sides: tuple[Side, ...]
    pairs: tuple[Pair, ...]
    """By size of the difference."""
    left_out: tuple[LeftOut, ...]
    problems: tuple[Problem, ...]
    forced: bool
    """Whether what is refused was compared all the same; otherwise it was left out."""
    differences: tuple[Difference, ...]
    shared: tuple[Difference, ...]
    """Parameters that are the same on all sides."""
    findings: tuple[Finding, ...]
    command_line: str | None
    """None where no command gives it."""

    @property
    def shared_parameters(self) -> int:
        """How many they are."""
        return len(self.shared)


def compare(
    sources: Sequence[Source],
    command_line: str | None,
    *,
    force: bool = False,
    forcing: str = "--force",
) -> Comparison:
    """Compares all drives of the sources; the first is what others are measured by.

    Tests that may not be compared are left out, unless `force` is set; `forcing` is what the caller
    writes to set it, for messages. Raises RequestError for
    fewer than two drives, and if the runs or none of their tests may be compared.
    """
    sides = sides_of(sources)
    pairs, singles = pairing.pair(sides, across_states=force)
    refusals = checks.refusals(sides, pairs, singles)
    compared = [pair for pair in pairs if force or not checks.reasons(refusals, pair)]
    whole = any(not problem.tests for problem in refusals)
    if not compared or (whole and not force):
        lines = "".join(f"\n  - {problem.sentence}" for problem in refusals)
        hint = f"\n{forcing} compares them all the same." if pairs else ""
        raise RequestError(f"these results can't be compared:{lines}{hint}")
    differences = specifications.differences(sides)
    return Comparison(
        sides=tuple(sides),
        pairs=tuple(compared),
        left_out=(
            *_refused(sides, pairs, refusals, force),
            *(_alone(single, sides) for single in singles),
            *_nowhere(sides, pairs, singles),
        ),
        problems=(*refusals, *checks.warnings(sides, compared, singles)),
        forced=force,
        differences=tuple(differences),
        shared=tuple(specifications.shared(sides)),
        findings=tuple(findings.findings(sides, compared, differences)),
        command_line=command_line,
    )


def _refused(
    sides: Sequence[Side], pairs: Sequence[Pair], refusals: Sequence[Problem], force: bool
) -> Iterator[LeftOut]:
    for pair in pairs:
        reasons = checks.reasons(refusals, pair)
        if reasons and not force:
            owners = zip(sides, pair.records, strict=True)
            letters = tuple(side.letter for side, record in owners if record is not None)
            yield LeftOut(pair.id, pair.title, pair.state, letters, "; ".join(reasons))


def _alone(single: Single, sides: Sequence[Side]) -> LeftOut:
    letter = single.side.letter
    failed = [
        f"{side.letter}: {item.reason}"
        for side, item in _failed(sides)
        if (item.id, item.state) == (single.id, single.state)
    ]
    reason = "; ".join([f"only {letter} has it", *failed])
    return LeftOut(single.id, single.title, single.state, (letter,), reason)


def _nowhere(
    sides: Sequence[Side], pairs: Sequence[Pair], singles: Sequence[Single]
) -> Iterator[LeftOut]:
    """Tests in states that failed on every side that tried: no side has a record of them."""
    known = {(pair.id, state) for pair in pairs for state in pair.states}
    known |= {(single.id, single.state) for single in singles}
    failed: dict[tuple[str, str], list[tuple[Side, Failed]]] = {}
    for side, item in _failed(sides):
        if (item.id, item.state) not in known:
            failed.setdefault((item.id, item.state), []).append((side, item))
    for (test_id, state), found in failed.items():
        reasons = [f"{side.letter}: {item.reason}" for side, item in found]
        reason = "; ".join(["no side has it", *reasons])
        yield LeftOut(test_id, found[0][1].title, state, (), reason)


def _failed(sides: Sequence[Side]) -> Iterator[tuple[Side, Failed]]:
    """What failed on each side."""
    for side in sides:
        yield from (
            (side, item) for item in side.review.failed or () if item.model == side.model.name
        )
