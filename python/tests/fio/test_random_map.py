"""Which blocks random jobs hit, and how often, beside fio: the same job file in both."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from served.programs import require

from drivelab import cli

MODEL = "intel-x25-v-40gb"
BLOCK_BYTES = 4096


def requests(folder: Path) -> list[tuple[int, int]]:
    """First byte and bytes of every request, from the log of one job."""
    lines = (folder / "x_clat.1.log").read_text(encoding="ascii").splitlines()
    rows = [[int(field, 0) for field in line.split(", ")] for line in lines]
    return [(row[4], row[3]) for row in rows]


def hits(found: list[tuple[int, int]]) -> Counter[int]:
    """How often each block was hit."""
    return Counter(
        block
        for first, size in found
        for block in range(first // BLOCK_BYTES, (first + size) // BLOCK_BYTES)
    )


@pytest.mark.parametrize(
    "options",
    [
        "rw=randwrite\nbs=4k",
        "rw=randwrite\nbssplit=4k/60:16k/40",
        "rw=randread\nbssplit=4k/10:8k/10:64k/80",
        "rw=randwrite\nbsrange=4k-16k",
        "rw=randrw\nbssplit=4k/60:16k/40",
        "rw=randwrite\nbssplit=4k/60:16k/40\nio_size=32m",
        "rw=randwrite\nbssplit=4k/50:6k/50",
        "rw=randwrite\nbssplit=4k/30:8k/30:1m/40\nsize=256m",
        "rw=randwrite\nbs=48k",
        "rw=write\nbs=48k",
        "rw=read\nbs=1m\nsize=10000k",
        "rw=randwrite\nbssplit=4k/60:16k/40\nnorandommap",
        "rw=randwrite\nbs=16k\nblockalign=4k",
        "rw=randwrite\nbs=16k\nblockalign=16k",
    ],
)
def test_blocks_are_hit_as_often_and_by_as_long_requests_as_fio_s(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("fio")
    text = f"[x]\nioengine=null\nsize=16m\n{options}\nwrite_lat_log=x\nlog_offset=1\n"
    found = {}
    for program in ("fio", "drivelab"):
        folder = tmp_path / program
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("x.fio").write_text(text, encoding="utf-8")
        if program == "fio":
            command = ["fio", "x.fio", "--filename=x", "--output=out.txt"]
            subprocess.run(command, check=True, env=os.environ | {"LC_ALL": "C"})
        else:
            assert cli.run(["run", "x.fio", "--drive", MODEL, "--scale", "1/64"]) == 0
        found[program] = requests(folder)
    theirs, ours = found["fio"], found["drivelab"]
    times = {program: hits(rows) for program, rows in found.items()}
    if len(set(times["fio"].values())) == 1:
        # Every block once, or twice in two passes.
        assert times["drivelab"] == times["fio"]
    else:
        assert len(times["drivelab"]) == pytest.approx(len(times["fio"]), rel=0.05)
    # Of long requests, and of pieces of them, there are few: how many is more of a chance.
    assert len(ours) == pytest.approx(len(theirs), rel=0.3 if "1m" in options else 0.1)
    lengths = [Counter(size for _, size in rows) for rows in (theirs, ours)]
    for size in lengths[0] | lengths[1]:
        # Six standard deviations of the difference of two counts.
        counts = [found[size] for found in lengths]
        assert abs(counts[0] - counts[1]) <= 6 * (sum(counts) + 1) ** 0.5, (size, counts)
