"""What tests on served drives share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from served.drive import ServedDrive
from served.programs import require

MODEL = "intel-x25-m-g2-80gb"  # its first drive that takes TRIM
SMALL = (
    "flash.channel_count=4",
    "flash.blocks_per_plane=28",
    "user_capacity_bytes=399998976",  # whole map units, and neither whole MiB nor a power of two
)

Serve = Callable[..., ServedDrive]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Creates and serves drives; small ones of the X25-M G2 unless told otherwise."""
    drives: list[ServedDrive] = []
    require("nbdinfo")

    def made(
        model: str = MODEL,
        sets: tuple[str, ...] = SMALL,
        clock: str = "instant",
        options: tuple[str, ...] = (),
    ) -> ServedDrive:
        folder = tmp_path / str(len(drives))
        folder.mkdir()
        drives.append(ServedDrive(folder, model, sets, clock, options))
        return drives[-1]

    yield made
    for drive in drives:
        drive.discard()


@pytest.fixture
def drive(serve: Serve) -> ServedDrive:
    """A small drive, new, served as fast as the machine can."""
    return serve()
