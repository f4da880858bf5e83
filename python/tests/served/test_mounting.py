"""The measurement of mounts still runs: the same code on a small drive."""

from __future__ import annotations

from pathlib import Path

from served import mounting
from served.conftest import SMALL
from served.programs import require


def test_a_full_drive_is_ready_again_within_seconds(tmp_path: Path) -> None:
    require("fio", "nbdinfo")
    found = mounting.measured(tmp_path, SMALL, writes=20_000)
    print(found.line())
    assert found.size_bytes == 399998976
    assert 0 < found.mount_s < 5
