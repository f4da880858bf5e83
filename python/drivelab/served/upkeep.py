"""What is done to a drive in an image while nobody serves it, and the documents of that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import output, progress
from drivelab.errors import RequestError
from drivelab.fio.units import size_bytes
from drivelab.model import Model
from drivelab.quantities import SECTOR_BYTES
from drivelab.served import image

Record = dict[str, Any]

NEW = "new"
"""The state of a drive that was just created."""


def create(path: Path, model: Model, seed: int) -> Record:
    """Makes a new drive in a new file; raises RequestError for a place where none can be."""
    output.writable_file(path, "IMAGE")
    with progress.patience("creating"):
        made = image.create(path, model, seed)
    return {
        "image": str(path),
        "model": model.name,
        "title": model.title,
        "model_hash": model.hash,
        "seed": seed,
        "state": NEW,
        "user_capacity_bytes": model.user_capacity_bytes,
        **made,
    }


def check(path: Path) -> Record:
    """Whether an image is `ok`, and its `problems`; nothing is changed."""
    with progress.patience("checking"):
        found = image.check(path)
    problems = list(found.get("problems", ()))
    return {"image": str(path), "ok": not problems, **found, "problems": problems}


def erase(path: Path) -> Record:
    """Secure erase: every byte is gone from the image, too; wear and counters stay."""
    with progress.patience("erasing"):
        found = image.erase(path)
    return {"image": str(path), **found}


@dataclass(frozen=True)
class Trimmed:
    """A range of bytes that a drive was told to be free."""

    image: Path
    title: str
    """Of the drive."""
    offset_bytes: int
    length_bytes: int
    taken: bool
    """False: it ignores TRIM, and nothing has changed."""
    space_bytes_before: int
    space_bytes: int
    """What the image takes on its disk."""

    def record(self) -> Record:
        """As in JSON."""
        return {
            "image": str(self.image),
            "offset_bytes": self.offset_bytes,
            "length_bytes": self.length_bytes,
            "trim_supported": self.taken,
            "image_space_bytes_before": self.space_bytes_before,
            "image_space_bytes": self.space_bytes,
        }


def trim(path: Path, offset: str | None, length: str | None) -> Trimmed:
    """Tells a drive that bytes are free, and flushes: from `offset` on (None: from the first), so
    many as `length` says (None: to the end), with units as in "64m".

    Raises RequestError for what isn't made of whole sectors, or leaves the drive.
    """
    first = 0 if offset is None else _bytes("--offset", offset)
    facts = image.smart(path)
    capacity = int(facts["user_capacity_bytes"])
    count = capacity - first if length is None else _bytes("--length", length)
    if first + count > capacity:
        option, text = ("--offset", offset) if first > capacity else ("--length", length)
        raise RequestError(
            f'{option} "{text}": ends at byte {first + count}; the drive has {capacity}'
        )
    taken = facts.get("trim_supported") is not False
    before = image.space_bytes(path)
    if taken:
        with progress.patience("trimming"):
            image.trim(path, first, count)
    title = str(facts.get("title") or facts.get("model"))
    return Trimmed(path, title, first, count, taken, before, image.space_bytes(path))


def _bytes(option: str, text: str) -> int:
    """Whole sectors; raises RequestError."""
    try:
        found = size_bytes(text)
    except ValueError as error:
        raise RequestError(f'{option} "{text}": allowed: {error}') from None
    if found % SECTOR_BYTES or (option == "--length" and found == 0):
        least = SECTOR_BYTES if option == "--length" else 0
        raise RequestError(
            f'{option} "{text}": allowed: multiples of {SECTOR_BYTES} bytes from {least} on'
        )
    return found
