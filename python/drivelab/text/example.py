"""The worked example, step by step: every page of its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.example import Outcome
from drivelab.quantities import number
from drivelab.text.layout import Line, Part, Span

STYLES = {"valid": "black on green", "invalid": "white on red", "erased": "black on white"}


def parts(outcome: Outcome) -> Iterator[Part]:
    """A scenario that was played."""
    yield Line(f"\n{outcome.scenario.name}: {outcome.title}", style="bold")
    for step in outcome.steps:
        yield Line(f"  {step.title}: {step.seconds:g} s; the drive is {step.full_percent:g} % full")
        yield from map(_block, step.blocks)
    record = outcome.record()
    yield Line(
        f"  The last file took {record['seconds']:g} s: "
        f"{number(record['kb_per_s'])} KB/s (KB = 1024 bytes)"
    )


def _block(block: Mapping[str, Any]) -> Line:
    """Its pages side by side: what each is, and of which logical page."""
    spans: list[Span] = [("    ", "")]
    for page in block["pages"]:
        logical = "" if page["lpn"] is None else f" {page['lpn']}"
        spans += [(f" {page['state'] + logical:^9} ", STYLES.get(page["state"], "")), (" ", "")]
    return Line(spans)
