"""Drives in files: the recipe of a drive, and what it looked like inside.

A file begins with a line `drivelab snapshot VERSION SHA-256`; what follows is JSON, compressed by
zlib, and the sum is that of the compressed bytes. It holds the texts of the model, so that the
model's file needn't be where it is loaded; states of one's own and traces that were replayed are in
files that must be there, unchanged, in the same place. Loading does to a new drive what was done to
the old one, and compares the two inside: so it takes as long as that took, and gives the same drive
or none.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from drivelab import _engine, output, paths, plugins, states
from drivelab import model as models
from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.lab.drive import Drive
from drivelab.model_texts import Texts
from drivelab.progress import run_alone
from drivelab.states import State
from drivelab.targets import EngineTarget
from drivelab.traits import Origin

MAGIC = b"drivelab snapshot"
VERSION = 1
_LINE_BYTES = 128
"""A first line is shorter."""


def save(drive: Drive, path: Path) -> None:
    """Writes a drive; see `Drive.save`."""
    output.writable_file(path, "save()", ".snapshot")
    model = drive.model
    known = {
        "engine_version": _engine.engine_version(),
        "model": {"request": model.request, "hash": model.hash, "texts": model.texts.record()},
        "seed": drive.seed,
        "history": drive.history,
        "begun": [_record(state) for state in drive.begun],
        "digest": digest(drive.make()),
    }
    packed = zlib.compress(json.dumps(known, sort_keys=True).encode(), 9)
    line = b"%s %d %s\n" % (MAGIC, VERSION, _sum(packed))
    output.publish_files({path: lambda scratch: _write(scratch, line + packed)})


@checks.keywords
def load(path: str | Path, *, progress: bool = True) -> Drive:
    """The drive that `Drive.save` wrote, made again from its recipe and compared with it.

    >>> load("used.snapshot").now_s                     # doctest: +SKIP
    1234.5

    `progress`: a bar on a terminal. Raises RequestError for a file that is none, was cut or
    changed, comes from another version, or whose model or states are made otherwise here.
    """
    path = paths.checked("snapshot", path)
    known = _read(path)
    with_file = f'snapshot "{path}"'
    if known["engine_version"] != _engine.engine_version():
        raise RequestError(
            f"{with_file}: written by engine {known['engine_version']}, and this is "
            f"{_engine.engine_version()}: another engine makes another drive"
        )
    stored = known["model"]
    model = models.stored(Texts.of_record(stored["texts"]), stored["request"])
    if model.hash != stored["hash"]:
        raise RequestError(f"{with_file}: this engine reads its model otherwise than it was meant")
    begun = tuple(_referred(record) for record in known["begun"])
    drive = Drive.of_history(model, known["seed"], tuple(known["history"]), begun)
    target = run_alone(f"{drive.name}: {path.name}", drive.make_with, shown=progress)
    if digest(target) != known["digest"]:
        raise RequestError(
            f"{with_file}: what was done to the drive gives another drive here; make it anew"
        )
    return drive


OF_ONE_SCHEME = (
    *("merges_full", "merges_partial", "merges_switch"),
    *("granules_padded", "units_duplicate"),
)
"""Counters that only drives of one mapping scheme have."""


def digest(target: EngineTarget) -> str:
    """64 hexadecimal digits over what a drive looks like: clock, counters, every block and die."""
    found = hashlib.sha256()
    counters = target.counters()
    if "units_written_host" in counters:
        # Drives of flash had these of every scheme once, and files of then are still read.
        counters = dict.fromkeys(OF_ONE_SCHEME, 0) | counters
    found.update(json.dumps([target.now_ns, counters], sort_keys=True).encode())
    for part in target.inside():
        for name in sorted(part):
            found.update(name.encode())
            found.update(part[name].tobytes())
    return found.hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """What a file holds, checked; raises RequestError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RequestError(f'snapshot "{path}": can\'t read it ({error.strerror})') from None
    line, _, packed = content.partition(b"\n")
    words = line.split(b" ")
    if not line.startswith(MAGIC + b" ") or len(line) > _LINE_BYTES or len(words) != 4:
        raise RequestError(f'snapshot "{path}": it is no file that `save` of a drive wrote')
    if words[2] != b"%d" % VERSION:
        raise RequestError(
            f'snapshot "{path}": version {words[2].decode("ascii", "replace")} is not readable; '
            f"allowed: {VERSION}"
        )
    if words[3] != _sum(packed):
        raise RequestError(f'snapshot "{path}": it was cut short or changed: its sum is wrong')
    found: dict[str, Any] = json.loads(zlib.decompress(packed))
    return found


def _sum(packed: bytes) -> bytes:
    return hashlib.sha256(packed).hexdigest().encode()


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _record(state: State) -> Any:
    """A state as JSON has it; of one's own where it is and what it was."""
    reference = plugins.reference(state)
    if isinstance(reference, str):
        return reference
    name, origin, module = reference
    return {"name": name, "origin": asdict(origin), "module": module}


def _referred(record: str | Mapping[str, Any]) -> State:
    """The state of a record; raises RequestError if it isn't here, or is another one now."""
    if isinstance(record, str):
        return states.find(record)
    origin = Origin(**record["origin"])
    if not Path(origin.file).is_file():
        raise RequestError(f'state "{record["name"]}": its file {origin.file} is not here')
    return plugins.referred((record["name"], origin, record["module"]))
