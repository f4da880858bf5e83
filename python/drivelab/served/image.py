"""Images of drives: what the engine does with them, its errors in the laboratory's words."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

from drivelab import _engine, paths
from drivelab.errors import RequestError, WorkError
from drivelab.model import Model

Record = dict[str, Any]


class Stop(Protocol):
    """Ends a server from another thread."""

    def stop(self) -> None:
        """Asks for a clean end: commands finished, buffer flushed, checkpoint written."""


class ImageEngine(Protocol):
    """The engine's functions for images; results and options are JSON. They release the GIL."""

    ImageRequestError: type[Exception]
    ImageWorkError: type[Exception]

    def ServerStop(self) -> Stop:  # noqa: N802 (a class of the engine)
        """A new handle."""

    def create_image(self, path: str, texts_json: str, seed: int) -> str:
        """A new drive in a new file."""

    def check_image(self, path: str) -> str:
        """Every invariant of an image; changes nothing."""

    def erase_image(self, path: str) -> str:
        """Secure erase: no byte of before stays in the file."""

    def trim_image(self, path: str, offset: int, length: int) -> str:
        """TRIM of a range, and a flush."""

    def smart_image(self, path: str) -> str:
        """What the drive says about itself; changes nothing."""

    def check_fault_plan(self, plan_json: str) -> None:
        """Refuses a plan that no drive could have."""

    def serve_image(
        self,
        path: str,
        listen: str,
        clock: str,
        options_json: str,
        ready: Callable[[str], None],
        stop: Stop,
    ) -> str:
        """Serves until it is stopped; `ready` hears when clients can come."""


engine = cast(ImageEngine, _engine)
"""The compiled engine; tests put another in its place."""


@contextmanager
def engine_errors() -> Iterator[None]:
    """The only mapping from the engine's errors about images to the laboratory's."""
    try:
        yield
    except engine.ImageRequestError as error:
        raise RequestError(str(error)) from None
    except engine.ImageWorkError as error:
        raise WorkError(str(error)) from None


def create(path: Path, model: Model, seed: int) -> Record:
    """Makes a new drive in a new file; raises RequestError if the file is there already."""
    paths.checked("IMAGE", path)
    if path.exists() or path.is_symlink():
        raise RequestError(f'IMAGE "{path}": is there already; remove it, or give another name')
    if not path.parent.is_dir():
        raise RequestError(f'IMAGE "{path}": there is no folder {path.parent}')
    with engine_errors():
        return _read(engine.create_image(str(path), json.dumps(model.texts.record()), seed))


def check(path: Path) -> Record:
    """What is wrong with an image, in `problems`; nothing is changed."""
    with engine_errors():
        return _read(engine.check_image(str(existing(path))))


def erase(path: Path) -> Record:
    """Secure erase of a drive that isn't being served."""
    with engine_errors():
        return _read(engine.erase_image(str(changeable(path))))


def trim(path: Path, offset_bytes: int, length_bytes: int) -> Record:
    """TRIM of a range of a drive that isn't being served."""
    with engine_errors():
        return _read(engine.trim_image(str(changeable(path)), offset_bytes, length_bytes))


def smart(path: Path) -> Record:
    """What a drive that isn't being served says about itself."""
    with engine_errors():
        return _read(engine.smart_image(str(existing(path))))


def check_faults(plan: Record, origin: str) -> None:
    """Refuses a plan of faults that no drive could have; raises RequestError."""
    try:
        engine.check_fault_plan(json.dumps(plan))
    except engine.ImageRequestError as error:
        raise RequestError(f"{origin}: {error}") from None


def space_bytes(path: Path) -> int:
    """What a file takes on its disk: holes take nothing."""
    return path.stat().st_blocks * 512


def existing(path: Path) -> Path:
    """The path; raises RequestError if no image can be there."""
    paths.checked("IMAGE", path)
    if not path.exists():
        raise RequestError(
            f'IMAGE "{path}": there is no such file; '
            f"`drivelab create {path} --model MODEL` makes one"
        )
    if not path.is_file():
        raise RequestError(f'IMAGE "{path}": is not a file')
    return path


def changeable(path: Path) -> Path:
    """The same of an image that is going to change: it also does while clients only read."""
    if not os.access(existing(path), os.R_OK | os.W_OK):
        raise RequestError(
            f'IMAGE "{path}": can\'t be written; allowed: files that you may read and write, as '
            "every drive under power changes what it keeps (`smart` and `check` only look)"
        )
    return path


def _read(text: str) -> Record:
    document: Record = json.loads(text)
    return document
