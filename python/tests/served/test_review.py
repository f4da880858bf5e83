"""The laboratory's own tests on a served drive, by command."""

from __future__ import annotations

import json
from pathlib import Path

from served.drive import DRIVELAB, ServedDrive
from served.programs import ran, require

SIZE = "64m"
TESTS = "hdtach-write,hdtach-read"


def test_a_served_drive_is_reviewed(drive: ServedDrive, tmp_path: Path) -> None:
    require("fio")
    place, out = f"fio:{drive.uri}", tmp_path / "out"
    words = [*DRIVELAB, "review", place, "--destroy", drive.uri, "--size", SIZE, "--quick"]
    ran(*words, "--tests", TESTS, "--states", "new", "--out", out)
    results = json.loads((out / "results.json").read_text())
    [subject] = results["models"]
    assert subject["real"]["kind"] == "NBD export"
    assert (out / "report.html").exists()
    smart = drive.smart()
    assert smart["host_trim_bytes"] >= 64 << 20, "the new state is a trim of everything"
    assert smart["host_write_bytes"] > 1 << 20
