"""Two drives or more, side by side: what differs, by how much, and whether it may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.compare import checks, findings, pairing, specifications
from drivelab.compare.checks import Problem
from drivelab.compare.pairing import Pair, Single
from drivelab.compare.sides import Side, Source, sides_of
from drivelab.compare.specifications import Difference
from drivelab.errors import RequestError
from drivelab.report.findings import Finding

__all__ = ["Comparison", "Source", "compare"]


@dataclass(frozen=True)
class Comparison:
    """Everything that a comparison found, before it is written or drawn."""

    sides: tuple[Side, ...]
    pairs: tuple[Pair, ...]
    """By size of the difference."""
    singles: tuple[Single, ...]
    problems: tuple[Problem, ...]
    differences: tuple[Difference, ...]
    shared_parameters: int
    findings: tuple[Finding, ...]
    command_line: str


def compare(sources: Sequence[Source], command_line: str, *, force: bool = False) -> Comparison:
    """Compares all drives of the sources; the first is what others are measured by.

    Raises RequestError for fewer than two drives, or for results that may not be compared, unless
    `force` is set.
    """
    sides = sides_of(sources)
    pairs, singles = pairing.pair(sides, across_states=force)
    problems = checks.problems(sides, pairs, singles)
    refused = [problem.sentence for problem in problems if problem.refused]
    if refused and (not force or not pairs):
        lines = "".join(f"\n  - {sentence}" for sentence in refused)
        hint = "\nLeave tests out with --tests or --states, or go on with --force." if pairs else ""
        raise RequestError(f"these results can't be compared:{lines}{hint}")
    differences = specifications.differences(sides)
    return Comparison(
        sides=tuple(sides),
        pairs=tuple(pairs),
        singles=tuple(singles),
        problems=tuple(problems),
        differences=tuple(differences),
        shared_parameters=specifications.shared_count(sides),
        findings=tuple(findings.findings(sides, pairs, differences)),
        command_line=command_line,
    )
