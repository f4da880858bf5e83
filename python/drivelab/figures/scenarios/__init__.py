"""Tests that statements need and the laboratory hasn't: small, and run by `figures` only.

Each is a function of a `Bench` that returns what it found by name; a statement reads it as
`SCENARIO / STATE / value:NAME`. What is long is cut: where the claim is a ratio of two runs of the
same drive, both are made on a drive with a part of the flash (`Bench.small`), which keeps the share
of spare area, queue, dies and times. The rows of the statements say so.
"""

from __future__ import annotations

from drivelab.figures.scenarios import (
    aging,
    arrays,
    contents,
    desks,
    mapping,
    reclaiming,
    spare,
)
from drivelab.procedures import PROCEDURES
from drivelab.procedures.procedure import Procedure

SCENARIOS: dict[str, Procedure] = {
    scenario.id: scenario
    for module in (aging, arrays, contents, desks, mapping, reclaiming, spare)
    for scenario in module.SCENARIOS
}
"""All scenarios by their identities; none has that of a test of the laboratory."""

ALL: dict[str, Procedure] = {**PROCEDURES, **SCENARIOS}
"""Whatever a reading may name: the laboratory's tests, and scenarios."""
