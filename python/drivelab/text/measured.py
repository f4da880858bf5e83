"""What was measured, in the words that several documents share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.quantities import counted, number


def trace_notes(trace: Mapping[str, Any]) -> Iterator[str]:
    """What of a trace isn't as its file has it: nothing of most."""
    if len(trace["devices"]) > 1:
        yield f"requests of {len(trace['devices'])} devices stand as if they were one drive's"
    if dropped := trace["dropped"]:
        were = "was" if dropped == 1 else "were"
        yield f"{counted(dropped, 'request')} without a response or data {were} left out"
    if moved := trace["reordered"]:
        stood = "stood behind a later one in the file and was"
        several = "stood behind later ones in the file and were"
        yield f"{counted(moved, 'request')} {stood if moved == 1 else several} put in order of time"


def inside(result: Mapping[str, Any]) -> str:
    """What a run did inside the drive, nothing for a drive that doesn't say."""
    parts = []
    if result["erases"] is not None:
        parts = [
            f"write amplification {number(result['write_amplification'], 3)}",
            f"{result['erases']} erases",
        ]
    if result["energy_j"] is not None:
        parts.append(f"{number(result['energy_j'], 3)} J")
    return ", ".join(parts)


def spread(value: float | None, record: Mapping[str, Any], name: str) -> str:
    """A number, with half the width of its 95 % interval if it is a mean of repeats.

    >>> spread(10.0, {"repeats": {"iops": {"low": 9.5, "high": 10.5}}}, "iops")
    '10 ± 0.5'
    """
    found = (record.get("repeats") or {}).get(name)
    half = (found["high"] - found["low"]) / 2 if found is not None else 0.0
    return f"{number(value)} ± {number(half, 2)}" if half else number(value)
