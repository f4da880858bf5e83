"""What tests on served drives share."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from served.drive import ServedDrive, StandIn
from served.programs import require
from small import MODEL_NAME

SMALL = (
    "flash.channel_count=4",
    "flash.blocks_per_plane=28",
    "user_capacity_bytes=399998976",  # whole map units, and neither whole MiB nor a power of two
)

Serve = Callable[..., ServedDrive]


@pytest.fixture
def serve(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Serve]:
    """Creates and serves drives; small ones of the X25-M unless told otherwise."""
    drives: list[ServedDrive] = []
    real = importlib.util.find_spec("drivelab.commands.served") is not None
    stand_in = os.environ.get("DRIVELAB_TEST_SERVER") == "nbdkit" or not real
    if stand_in and "flash" in request.keywords:
        pytest.skip("nbdkit stands in for the drive, and has no flash")
    kind = StandIn if stand_in else ServedDrive
    require("nbdinfo")

    def made(
        model: str = MODEL_NAME, sets: tuple[str, ...] = SMALL, clock: str = "instant"
    ) -> ServedDrive:
        folder = tmp_path / str(len(drives))
        folder.mkdir()
        drives.append(kind(folder, model, sets, clock))
        return drives[-1]

    yield made
    for drive in drives:
        drive.discard()


@pytest.fixture
def drive(serve: Serve) -> ServedDrive:
    """A small drive, new, served as fast as the machine can."""
    return serve()
