"""Prepared drives that stay on disk: who needs the same one again reads it instead of preparing it.

A file is of one drive, state and seed, and of this installation: a change of the engine or of the
package makes all of them others. It is written whole or not at all, has a sum, and one that can't
be read counts as none. `DRIVELAB_CACHE` names another folder for them, or is `off`;
`DRIVELAB_CACHE_SIZE` is how large they may be together.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import platformdirs

from drivelab.errors import RequestError
from drivelab.fio.units import size_bytes
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, NS_PER_S, bytes_text
from drivelab.states import Seeds, State
from drivelab.targets import EngineTarget, Target

VARIABLE = "DRIVELAB_CACHE"
OFF = "off"
SIZE_VARIABLE = "DRIVELAB_CACHE_SIZE"
USUAL_BYTES = 4 * GIB
"""Of all files together, unless the variable says otherwise."""
WORTH_S = 1.0
"""What took less to prepare is prepared again."""
_SUFFIX = ".drivelab-state"
_PART = ".drivelab-part"
"""Of a file that is being written. What else lies in the folder is somebody's own."""
_FORGOTTEN_NS = 3600 * NS_PER_S
"""A part that is so much older than this program is nobody's."""
_ROOT = Path(__file__).parent
_LOADED_NS = time.time_ns()
"""When the package was loaded: this module comes after what states go by."""
_STEP_NS = NS_PER_S // 100
"""Files' times go in steps of the system's clock: one may look as much older than it is."""


class Kept(NamedTuple):
    """What a folder holds."""

    states: int
    bytes: int


def folder() -> Path | None:
    """Where prepared drives are kept, which may not be there yet; None if none are."""
    given = os.environ.get(VARIABLE, "")
    if given == OFF:
        return None
    return Path(given) if given else platformdirs.user_cache_path("drivelab") / "states"


def most_bytes() -> int:
    """What all files may be together: beyond it those go that weren't used for the longest time.

    Raises RequestError for a variable that is no size.
    """
    given = os.environ.get(SIZE_VARIABLE, "")
    try:
        return size_bytes(given) if given else USUAL_BYTES
    except ValueError as error:
        raise RequestError(f'{SIZE_VARIABLE} "{given}": expected {error}') from None


def prepare(
    state: State,
    target: Target,
    seeds: Seeds,
    progress: TaskProgress,
    *,
    keeping: bool,
    remark: Callable[[str], None] | None = None,
) -> None:
    """Brings a drive to which nothing was done into a state, as `State.prepare` does.

    What is read of the way there needn't be done. With `keeping`, what took a while stays for the
    next one: a sweep over a thousand drives would only fill the disk. Why that can't be a `remark`
    is told, and nothing else depends on it.
    """
    place = folder()
    if place is None or type(target) is not EngineTarget:
        state.prepare(target, seeds, progress)
        return
    room = most_bytes()
    steps = _known(state)
    done = _read_farthest(target, place, steps, seeds)
    begun = time.perf_counter()
    for index, (one, part) in enumerate(state.walk(progress)):
        if index >= done:
            one.advance(target, seeds, part)
        is_last = index + 1 == len(steps)
        if is_last and done < len(steps) and keeping and time.perf_counter() - begun >= WORTH_S:
            reason = _write(target, place, _key(target, steps, seeds), room)
            if reason is not None and remark is not None:
                remark(f"the prepared drive isn't kept for the next time: {reason}")


def kept(place: Path) -> Kept:
    """How many prepared drives a folder holds, and their bytes; raises RequestError for one that
    can't be read."""
    try:
        sizes = [size for _, size, _ in _files(place)]
    except OSError as error:
        raise RequestError(f'{VARIABLE} "{place}": can\'t read it ({error.strerror})') from None
    return Kept(len(sizes), sum(sizes))


def clear(place: Path) -> Kept:
    """Removes all prepared drives of a folder; returns what there was. Raises RequestError where
    that can't be."""
    found = kept(place)
    try:
        for _, _, path in _files(place):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise RequestError(f'{VARIABLE} "{place}": can\'t clear it ({error.strerror})') from None
    return found


def _known(state: State) -> Sequence[State]:
    """The steps to a state up to the first that comes from elsewhere: what else that goes by,
    nobody knows."""
    steps = state.lineage
    own = next((index for index, step in enumerate(steps) if step.origin is not None), len(steps))
    return steps[:own]


def _key(target: EngineTarget, steps: Sequence[State], seeds: Seeds) -> str:
    """Everything that a prepared drive follows from, as 64 hexadecimal digits."""
    known = [
        _installation(),
        target.model.hash,
        target.seed,
        [[step.name, seeds(step.name)] for step in steps],
    ]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


@cache
def _installation() -> str:
    """What tells this installation from others: every file of the package, what the image of the
    used state is computed with, and the machine, whose processor may round otherwise."""
    # Asked for by name: to load it takes longer than all else here.
    found = hashlib.sha256(f"{version('numpy')} {platform.node()}\n".encode())
    for path in _sources():
        content = path.read_bytes()
        found.update(f"{path.relative_to(_ROOT)} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _sources() -> list[Path]:
    return sorted(path for kind in ("*.py", "_engine*") for path in _ROOT.rglob(kind))


def _is_as_loaded() -> bool:
    """Whether no file of the package was changed or replaced since this program read it: a server
    that goes on over an update would keep drives under the name of what came after it."""
    try:
        return all(path.stat().st_ctime_ns < _LOADED_NS - _STEP_NS for path in _sources())
    except OSError:
        return False


def _read_farthest(target: EngineTarget, place: Path, steps: Sequence[State], seeds: Seeds) -> int:
    """How many of the steps the drive that was read has behind it; 0 if there was none to read."""
    try:
        # Where nothing is kept no key is needed, which is of all that is installed.
        ways = range(len(steps), 0, -1) if place.is_dir() else ()
    except OSError:
        return 0
    return next((n for n in ways if _read(target, place, _key(target, steps[:n], seeds))), 0)


def _read(target: EngineTarget, place: Path, key: str) -> bool:
    """Whether the drive became the one that is kept. Nothing depends on it: what can't be read is
    prepared."""
    path = place / f"{key}{_SUFFIX}"
    try:
        if not path.is_file() or not _is_as_loaded():
            return False
        if not target.read_state(path, key):
            # Cut short by a full disk, or changed: it is made again.
            path.unlink(missing_ok=True)
            return False
    except OSError:
        return False
    with contextlib.suppress(OSError):
        os.utime(path)
    return True


def _write(target: EngineTarget, place: Path, key: str, room_bytes: int) -> str | None:
    """Keeps a drive; where that can't be, returns why: nothing depends on it."""
    # A file is about as large as the drive is in memory; one takes half of the room at most.
    size = target.model.memory_bytes
    if size > room_bytes // 2:
        return (
            f"it takes {bytes_text(size)}, more than half of {bytes_text(room_bytes)}; "
            f"{SIZE_VARIABLE} gives it room"
        )
    if not _is_as_loaded():
        return "drivelab was changed since this program began"
    try:
        place.mkdir(parents=True, exist_ok=True)
        _make_room(place, size, room_bytes)
        handle, name = tempfile.mkstemp(suffix=_PART, dir=place)
        os.close(handle)
        part = Path(name)
        try:
            target.write_state(part, key)
            part.replace(place / f"{key}{_SUFFIX}")
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        return f'{VARIABLE} "{place}": can\'t write it ({error.strerror or error})'
    return None


def _make_room(place: Path, size: int, room_bytes: int) -> None:
    """Removes what was used longest ago, until so many bytes more are not too many."""
    files = sorted(_files(place))
    held = sum(size for _, size, _ in files)
    for _, own, path in files:
        if held + size <= room_bytes:
            return
        path.unlink(missing_ok=True)
        held -= own


def _files(place: Path) -> list[tuple[float, int, Path]]:
    """Time of the last use, bytes and path of every prepared drive. What a program that has ended
    left half written is removed."""
    found = []
    for path in place.iterdir() if place.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            known = path.stat()
            if path.suffix == _SUFFIX:
                found.append((known.st_mtime, known.st_size, path))
            elif path.suffix == _PART and known.st_mtime_ns < _LOADED_NS - _FORGOTTEN_NS:
                path.unlink(missing_ok=True)
    return found
