"""A trace that became an iolog of fio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.quantities import bytes_text, counted, number
from drivelab.text.layout import Line, Part
from drivelab.text.measured import trace_notes


def parts(document: Mapping[str, Any]) -> Iterator[Part]:
    """What it holds, and how large a drive it needs."""
    trace, iolog = document["trace"], document["iolog"]
    yield Line(
        f"{iolog['file']}: {counted(trace['requests'], 'request')}, {bytes_text(trace['bytes'])}, "
        f"{number(trace['duration_s'])} s; needs a drive of {iolog['end_bytes']} bytes",
        wrapped=False,
    )
    yield from (Line(note, wrapped=False) for note in trace_notes(trace))
