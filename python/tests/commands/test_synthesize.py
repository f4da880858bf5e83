from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab import cli
from drivelab.progress import TaskProgress
from drivelab.storage_bench import find, statistics
from drivelab.traces import TraceFile, read_trace


def test_a_trace_survives_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "light.iolog"
    words = ["synthesize", "2010-light", "--seed", "5", "--out", str(path), "--json"]
    assert cli.run(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == str(path)
    read = read_trace(
        TraceFile(path), TaskProgress("reading"), find("2010-light").image_bytes
    ).requests
    found = statistics(read).as_dict()
    assert found == {item["name"]: item["value"] for item in document["statistics"]}


def test_it_prints_what_is_published_beside_what_was_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["synthesize", "storage-bench-2010-gaming"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["reads", "75206", "75206", "A2-064"] in lines
    [large] = [line for line in lines if line[0] == "pct_64kb"]
    assert large[1] == "%"
    assert float(large[2]) == pytest.approx(40, rel=1e-3)
    assert large[3:6] == ["about", "40", "A2-067"]


def test_nothing_is_left_of_a_trace_that_can_not_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["synthesize", "2012", "--out", str(tmp_path / "x")]) == 2
    assert 'NAME "2012" is unknown' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
