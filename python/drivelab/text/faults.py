"""Faults of a served drive, as they were asked for, and those that wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from drivelab.served.fault_request import POWER_CUT

Record = Mapping[str, Any]


def lines(target: Path, request: Record, answer: Record) -> Iterator[str]:
    """What became of a request of `served.fault_request` to a drive."""
    command = request["command"]
    if command == POWER_CUT:
        yield f"{target}: power cut"
    elif command == "clear-faults":
        yield f"{target}: no fault waits"
    elif command == "fault":
        yield f"{target}: {_words(request['fault'])}"
    elif command == "fault-plan":
        yield from (f"{target}: {_words(item)}" for item in request["plan"]["faults"])
    else:
        waiting = answer.get("faults") or []
        yield from map(_words, waiting)
        if not waiting:
            yield f"{target}: no fault waits"
        if answer.get("flash_operations") is not None:
            yield f"flash operations since power-on: {answer['flash_operations']}"


def _words(table: Record) -> str:
    pairs = (f"{key}={value}" for key, value in table.items() if key != "kind")
    return " ".join([str(table["kind"]), *pairs])
