"""A sweep written down: the TOML file that `drivelab sweep` takes.

drive = "intel-x25-m-g1-80gb"
scale = "1/128"                # optional, as --scale
state = "filled"               # optional; or in the grid
seed = 1                       # optional; or in the grid
repeats = 3                    # optional

[set]                          # optional: parameters that all points share
"ftl.victim_selection" = "fifo"

[job]                          # fio's options, and `data`; those that aren't varied
rw = "randwrite"
io_size = "64m"

[trace]                        # instead of [job]: what is replayed, with `drivelab.Trace`'s options
path = "disk.blkparse"         # or `trace` in the grid
pacing = "capped"

[grid]                         # what is varied: every combination of these values
spare_ratio = [0.07, 0.28]
"job.bs, job.iodepth" = [["4k", 32], ["64k", 1]]   # these two together
seed = [1, 2, 3]               # instead of `seed` and `repeats`

[[points]]                     # with or instead of [grid]: one by one, all with the same keys
"write_buffer.size_bytes" = 1048576

[samples]                      # instead of [[points]]: drawn from ranges (`drivelab.samples`)
count = 64
method = "sobol"               # or "latin-hypercube", "random"
seed = 1
[samples.ranges]
spare_ratio = [0.07, 0.5]
"job.iodepth" = [1, 32, "log"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import text_files
from drivelab.errors import RequestError, nearest, toml_reason
from drivelab.lab import checks
from drivelab.lab.axes import APART, JOB, SEED, STATE, meaning_of
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.samples import samples
from drivelab.lab.trace import OPTIONS, Trace
from drivelab.model import SCALE
from drivelab.states import STATES, State, find

KEYS = (
    *("drive", "scale", "state", "seed", "repeats", "set"),
    *("job", "trace", "grid", "points", "samples"),
)
NEEDED = ("drive",)
VARIED = ("grid", "points", "samples")
TABLES = ("set", "job", "trace", "grid", "samples")
SAMPLES = ("count", "method", "seed", "ranges")


@dataclass(frozen=True)
class Sweep:
    """What `sweep` is given."""

    drive: Drive
    grid: dict[str, list[Any]] | None
    points: list[dict[str, Any]] | None
    job: Job | Trace | None
    state: str | State | None
    repeats: int


def read(path: Path, known: Mapping[str, State] = STATES) -> Sweep:
    """The sweep of a file, whose states are those `known`; raises RequestError naming the file, the
    key and what is allowed."""
    try:
        text = text_files.read(path)
        said = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RequestError(f"{path}: can't be read: {reason}") from None
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path}: no TOML: {toml_reason(error, text)}") from None
    try:
        return _sweep(said, known)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from None


def _sweep(said: Mapping[str, Any], known: Mapping[str, State]) -> Sweep:
    _known("key", said, KEYS)
    for key in NEEDED:
        if key not in said:
            raise RequestError(f'key "{key}" is missing; needed: {", ".join(NEEDED)}')
    if not any(said.get(key) for key in VARIED):
        raise RequestError(
            f"nothing is varied; needed is one of {', '.join(VARIED)}, with something in it"
        )
    for key in TABLES:
        if not isinstance(said.get(key, {}), dict):
            raise RequestError(f'key "{key}": allowed: a table, [{key}]')
    grid = _flat(said["grid"]) if "grid" in said else None
    for key, values in (grid or {}).items():
        if not isinstance(values, list):
            raise RequestError(f"grid: {key} = {values!r}: allowed: a list of values")
    points = _points(said)
    _check_once(said, grid or {}, points or ())
    if grid is not None and STATE in grid:
        grid[STATE] = [_state(name, known) for name in grid[STATE]]
    for point in points or ():
        if STATE in point:
            point[STATE] = _state(point[STATE], known)
    drive = Drive(
        checks.text("drive", said["drive"]),
        _flat(said.get("set", {})),
        seed=said.get("seed", 1),
        scale=said.get("scale"),
    )
    repeats = said.get("repeats", 1)
    return Sweep(drive, grid, points, _job(said), _state(said.get(STATE), known), repeats)


def _check_once(
    said: Mapping[str, Any], grid: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> None:
    """Raises RequestError for what is said for all points and varied, too: one of them would count
    without a word."""
    stated = [(key, key, said[key]) for key in (SEED, STATE) if key in said]
    stated += [(SCALE, "scale", said["scale"])] if "scale" in said else []
    stated += [(key, f"[set] {key}", value) for key, value in _flat(said.get("set", {})).items()]
    for table in ("job", "trace"):
        own = said.get(table, {}).items()
        stated += [(JOB + key, f"[{table}] {key}", value) for key, value in own]
    shared = {meaning_of(key): f"{place} = {value!r}" for key, place, value in stated}
    varied = [("[grid]", name.strip()) for key in grid for name in key.split(APART)]
    listed = "[[points]]" if "points" in said else "[samples.ranges]"
    varied += [(listed, key) for point in points for key in point]
    for place, key in varied:
        if meaning_of(key) in shared:
            raise RequestError(f"{shared[meaning_of(key)]} and {place} {key}: give one of them")


def _state(name: Any, known: Mapping[str, State]) -> Any:
    """A state from elsewhere, or the name of another; what is no text is looked at where it is
    used. Raises RequestError for a name that is not among those known."""
    if not isinstance(name, str):
        return name
    found = find(name, STATE, known)
    return name if found.origin is None else found


def _job(said: Mapping[str, Any]) -> Job | Trace | None:
    """What is run; None where the grid has it all."""
    if "trace" not in said:
        return Job(**said["job"]) if "job" in said else None
    if "job" in said:
        raise RequestError('"job" and "trace": one of them is allowed')
    options = dict(said["trace"])
    varied = _flat(said.get("grid", {})).get("trace")
    if varied and "path" in options:
        raise RequestError("trace: path: it is in the grid, too; once is allowed")
    if not varied and "path" not in options:
        raise RequestError('trace: key "path" is missing')
    path = varied[0] if varied else options.pop("path")
    _known("trace: key", options, OPTIONS)
    return Trace(checks.text("trace: path", path), **options)


def _points(said: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The points that are listed, or drawn."""
    if "points" in said and "samples" in said:
        raise RequestError('"points" and "samples": one of them is allowed')
    if "points" in said:
        points = said["points"]
        if not isinstance(points, list) or not all(isinstance(each, dict) for each in points):
            raise RequestError('key "points": allowed: tables, [[points]]')
        return [_flat(point) for point in points]
    if "samples" not in said:
        return None
    wanted = dict(said["samples"])
    _known("samples: key", wanted, SAMPLES)
    for key in ("count", "ranges"):
        if key not in wanted:
            raise RequestError(f'samples: key "{key}" is missing')
    if not isinstance(wanted["ranges"], dict):
        raise RequestError('samples: key "ranges": allowed: a table, [samples.ranges]')
    return samples(_flat(wanted.pop("ranges")), **wanted)


def _known(what: str, said: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in said:
        if key not in keys:
            raise RequestError(
                f'{what} "{key}" is unknown{nearest(key, keys)} Known: {", ".join(keys)}'
            )


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Keys with their dots, whether they were quoted or tables of tables."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = value
    return found
