"""What was done to a drive in an image, in a line or two."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drivelab.quantities import bytes_text
from drivelab.served import image
from drivelab.served.upkeep import Trimmed

Record = Mapping[str, Any]

COUNTS = ("blocks", "cells_in_use", "log_records", "held_units")
"""What a check counts, as far as it is shown."""


def created(document: Record) -> str:
    """A new drive, and how it is served."""
    path = document["image"]
    return (
        f"{path}: {document['title']}, {bytes_text(document['user_capacity_bytes'])}, new; "
        f"takes {_space(path)}, and grows as it is written to\n"
        f"drivelab serve {shlex.quote(path)}\n"
    )


def sound(document: Record) -> str:
    """An image that was checked and has no problem."""
    counted = [(key, document[key]) for key in COUNTS if document.get(key)]
    facts = ", ".join(f"{value} {key.replace('_', ' ')}" for key, value in counted)
    return f"{document['image']}: no damage found" + (f" ({facts})" if facts else "") + "\n"


def erased(document: Record) -> str:
    """A drive after secure erase."""
    return f"{document['image']}: erased; takes {_space(document['image'])} on disk now\n"


def trimmed(found: Trimmed) -> str:
    """A drive that took a TRIM."""
    return (
        f"{found.image}: {bytes_text(found.length_bytes)} trimmed from byte {found.offset_bytes} "
        f"on; takes {bytes_text(found.space_bytes)} on disk, before "
        f"{bytes_text(found.space_bytes_before)}\n"
    )


def _space(path: str) -> str:
    return bytes_text(image.space_bytes(Path(path)))
