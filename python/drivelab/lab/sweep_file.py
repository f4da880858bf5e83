"""A sweep written down: the TOML file that `drivelab sweep` takes.

drive = "intel-x25-m-g1-80gb"
scale = "1/128"                # optional, as --scale
state = "filled"               # optional; or in the grid
seed = 1                       # optional
repeats = 3                    # optional

[set]                          # optional: parameters that all points share
"write_buffer.bytes" = 1048576

[job]                          # fio's options, and `data`
rw = "randwrite"
bs = "4k"

[grid]                         # what is varied, each with its values
spare_ratio = [0.07, 0.28]
"job.iodepth" = [1, 32]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import RequestError, nearest
from drivelab.lab import checks
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job

KEYS = ("drive", "scale", "state", "seed", "repeats", "set", "job", "grid")
NEEDED = ("drive", "job", "grid")
TABLES = ("set", "job", "grid")


@dataclass(frozen=True)
class Sweep:
    """What `sweep` is given."""

    drive: Drive
    grid: dict[str, list[Any]]
    job: Job
    state: str | None
    repeats: int


def read(path: Path) -> Sweep:
    """The sweep of a file; raises RequestError naming the file, the key and what is allowed."""
    try:
        text = path.read_text(encoding="utf-8")
        said = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RequestError(f"{path}: can't be read: {reason}") from None
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path}: no TOML: {error}") from None
    try:
        return _sweep(said)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from None


def _sweep(said: Mapping[str, Any]) -> Sweep:
    for key in said:
        if key not in KEYS:
            raise RequestError(
                f'key "{key}" is unknown{nearest(key, KEYS)} Known: {", ".join(KEYS)}'
            )
    for key in NEEDED:
        if key not in said:
            raise RequestError(f'key "{key}" is missing; needed: {", ".join(NEEDED)}')
    for key in TABLES:
        if not isinstance(said.get(key, {}), dict):
            raise RequestError(f'key "{key}": allowed: a table, [{key}]')
    grid = _flat(said["grid"])
    for key, values in grid.items():
        if not isinstance(values, list):
            raise RequestError(f"grid: {key} = {values!r}: allowed: a list of values")
    scale = said.get("scale")
    drive = Drive(
        checks.text("drive", said["drive"]),
        _flat(said.get("set", {})),
        seed=said.get("seed", 1),
        scale=None if scale is None else checks.text("scale", scale),
    )
    return Sweep(drive, grid, Job(**said["job"]), said.get("state"), said.get("repeats", 1))


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Keys with their dots, whether they were quoted or tables of tables."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = value
    return found
