"""Files beside the results: traces that may be replayed, and studies that were measured.

Pages name files of two folders and nothing else: a name is letters, digits, dots and dashes, and
what it names is a file of the folder itself, no link to elsewhere.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drivelab.errors import RequestError

TRACES, STUDIES = "traces", "studies"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
TRACES_BYTES_MAX = 1024 * 1024 * 1024
"""Of all traces, when one is sent."""
TRACES_MAX = 200
"""That are listed."""
STUDIES_MAX = 100
"""That are kept; the oldest goes."""
PART = ".part"
"""How the name of a file ends that isn't whole yet."""


class Folder:
    """The folder of the results."""

    def __init__(self, results: Path) -> None:
        self._folder = results.parent

    @property
    def traces_place(self) -> Path:
        """Where traces lie, for people to put some there."""
        return self._folder / TRACES

    def traces(self) -> list[dict[str, Any]]:
        """Names and sizes of traces, by name."""
        found = [
            {"name": entry.name, "bytes": entry.stat().st_size}
            for entry in _entries(self.traces_place)
            if NAME.fullmatch(entry.name) and not entry.name.endswith(PART)
        ]
        return sorted(found, key=lambda item: str(item["name"]))[:TRACES_MAX]

    def trace(self, name: str) -> Path:
        """The file of a trace; raises RequestError for a name that is none of the folder's."""
        _check_name(name)
        if name.endswith(PART) or not any(
            entry.name == name for entry in _entries(self.traces_place)
        ):
            raise RequestError(f'trace "{name}": there is none of this name in {TRACES}/')
        return self.traces_place / name

    def new_trace(self, name: str) -> Path:
        """Where a trace of this name will lie; raises RequestError if there is one, or no room."""
        _check_name(name)
        if name.endswith(PART):
            raise RequestError(f'trace "{name}": its name ends in {PART}')
        held = self.traces()
        # Links and folders of this name aren't listed, but aren't replaced either.
        if os.path.lexists(self.traces_place / name):
            raise there_is_one(name)
        if len(held) >= TRACES_MAX or sum(item["bytes"] for item in held) > TRACES_BYTES_MAX:
            raise RequestError(f"{TRACES}/ is full: take some out of {self.traces_place}")
        self.traces_place.mkdir(parents=True, exist_ok=True)
        return self.traces_place / name

    def keep_trace(self, part: Path, name: str) -> None:
        """A file that came whole gets its name; raises RequestError if that is taken meanwhile."""
        place = self.traces_place / name
        try:
            # Fails for anything of this name, links among them: so nothing is replaced but this.
            place.open("xb").close()
        except FileExistsError:
            raise there_is_one(name) from None
        part.replace(place)

    def study(self, study_id: str) -> dict[str, Any] | None:
        """A study that was measured; None if there is none."""
        try:
            text = (self._folder / STUDIES / f"{study_id}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        found: dict[str, Any] = json.loads(text)
        return found

    def keep_study(self, study_id: str, study: dict[str, Any]) -> None:
        """Keeps a study, whole or not at all."""
        place = self._folder / STUDIES
        place.mkdir(parents=True, exist_ok=True)
        part = place / f"{study_id}{PART}"
        part.write_text(json.dumps(study), encoding="utf-8")
        part.replace(place / f"{study_id}.json")
        kept = sorted(place.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        for old in kept[: max(0, len(kept) - STUDIES_MAX)]:
            old.unlink(missing_ok=True)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Files of a folder itself: no folders, no links."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.is_file(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return


def there_is_one(name: str) -> RequestError:
    """Why a trace of a name isn't taken in."""
    return RequestError(f'trace "{name}": there is one of this name already')


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise RequestError(
            f'trace "{name[:80]}": a name is 1 to 80 letters, digits, dots, dashes and "_", '
            "and begins with a letter or a digit"
        )
