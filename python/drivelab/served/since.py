"""What a served drive did since a mark: an earlier answer of `smart --json`, kept in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from drivelab import text_files
from drivelab.errors import RequestError
from drivelab.quantities import bytes_text, number
from drivelab.served.smart import FAULTS

SAME = ("model", "model_hash", "seed")
"""What two answers of one drive agree on."""
SIZES = ("host_write_bytes", "host_read_bytes", "host_trim_bytes", "flash_program_bytes")
FAILURES = ("retired_blocks", "program_failures", "erase_failures", "read_errors", *FAULTS)
COUNTS = ("power_on_s", *SIZES, "erases", "unsafe_shutdowns", *FAILURES)
"""What only grows in a drive's life."""
PURPOSES = "flash_program_bytes_for"

Told = Mapping[str, Any]


def read_mark(path: Path) -> dict[str, Any]:
    """The drive's own part of an answer of `smart --json`; raises RequestError."""
    expected = "expected what `drivelab smart IMAGE --json` printed before"
    try:
        found = json.loads(text_files.read(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not JSON"
        raise RequestError(f'--since "{path}": can\'t be read ({reason}); {expected}') from None
    told = found.get("drivelab") if isinstance(found, dict) else None
    if not isinstance(told, dict) or not {*SAME, *SIZES} <= told.keys():
        raise RequestError(f'--since "{path}": {expected}')
    return told


def spent(mark: Told, now: Told, path: Path) -> dict[str, Any]:
    """What the drive did between two of its answers: bytes, times in s, counts; null: unknown.

    Raises RequestError for a mark of another drive, or of a later moment.
    """
    for key in SAME:
        if mark[key] != now[key]:
            raise RequestError(
                f'--since "{path}": is of another drive: {key} {mark[key]}, here {now[key]}'
            )
    found = {key: _less(now.get(key), mark.get(key)) for key in COUNTS}
    for key, value in found.items():
        if value is not None and value < 0:
            raise RequestError(
                f'--since "{path}": is of a later moment, or of another drive of this model: '
                f"{key} {mark[key]}, here {now[key]}"
            )
    before, after = mark.get(PURPOSES) or {}, now.get(PURPOSES) or {}
    found[PURPOSES] = {name: _less(value, before.get(name)) for name, value in after.items()}
    written, programmed = found["host_write_bytes"], found["flash_program_bytes"]
    known = written and programmed is not None
    found["write_amplification"] = programmed / written if known else None
    return found


def lines(found: Told) -> Iterator[tuple[str, str]]:
    """What people are shown: what it is, and its value with its unit."""
    yield "power-on time", f"{number(found['power_on_s'])} s (the drive's own)"
    yield "host wrote", _bytes(found["host_write_bytes"])
    yield "host read", _bytes(found["host_read_bytes"])
    yield "host trimmed", _bytes(found["host_trim_bytes"])
    purposes = ", ".join(
        f"{purpose} {bytes_text(value)}" for purpose, value in found[PURPOSES].items() if value
    )
    programmed = _bytes(found["flash_program_bytes"])
    yield "flash programmed", f"{programmed} ({purposes})" if purposes else programmed
    yield "write amplification", number(found["write_amplification"], 3)
    yield "erases", number(found["erases"], 20)
    for key in ("unsafe_shutdowns", *FAILURES):
        if found[key]:
            yield key.replace("_", " "), number(found[key], 20)


def _less(now: float | None, before: float | None) -> Any:
    return None if now is None or before is None else now - before


def _bytes(count: int | None) -> str:
    return "-" if count is None else bytes_text(count)
