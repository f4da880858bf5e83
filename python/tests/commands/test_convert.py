from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_disk import small_disk

from drivelab import cli, traces
from drivelab.progress import TaskProgress

EXCERPT = Path(__file__).parents[1] / "traces" / "wsrch-excerpt.trace"
MIXED = "0 0 80 8 1\n1500 0 8 16 0\n2500 0 8 16 0\n9000000 0 80 8 1\n"


def convert(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.run(["convert", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_converted_trace_is_the_same_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "trace.iolog"
    document = convert(capsys, str(EXCERPT), "--out", str(out))
    before, after = (
        traces.read_trace(traces.TraceFile(path), TaskProgress("reading"))
        for path in (EXCERPT, out)
    )
    for column in ("op", "lba", "sector_count"):
        assert (getattr(before.requests, column) == getattr(after.requests, column)).all()
    recorded, written = before.requests.arrival_ns, after.requests.arrival_ns
    assert recorded is not None
    assert written is not None
    assert (recorded // 1000 * 1000 == written).all()
    assert document["trace"]["requests"] == 300
    assert document["iolog"]["end_bytes"] == max(
        (int(words[2]) + int(words[3])) * 512
        for words in (line.split() for line in EXCERPT.read_text(encoding="ascii").splitlines())
    )
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.programs("fio")
def test_fio_does_every_request_of_a_converted_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, target = tmp_path / "trace.iolog", tmp_path / "target"
    words = [str(EXCERPT), "--out", str(out), "--out-of-range", "compact", "--size", "64m"]
    document = convert(capsys, *words)
    with target.open("wb") as file:
        file.truncate(64 << 20)
    command = ["fio", "--name=replay", f"--read_iolog={out}", f"--replay_redirect={target}"]
    command += ["--ioengine=psync", "--replay_no_stall=1", "--output-format=json"]
    printed = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=300)
    [job] = json.loads(printed.stdout)["jobs"]
    assert job["error"] == 0
    for direction in ("read", "write"):
        wanted = document["trace"][direction]
        found = (job[direction]["total_ios"], job[direction]["io_bytes"])
        assert found == (wanted["ios"], wanted["bytes"])


def test_offsets_wrap_or_are_renumbered_for_a_size(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recorded, out = tmp_path / "recorded", str(tmp_path / "trace.iolog")
    recorded.write_text("0 0 1000003 16 0\n1 0 5 8 1\n", encoding="ascii")
    words = [str(recorded), "--out", out, "--size", "1m"]
    assert cli.run(["convert", *words]) == 2
    assert "--out-of-range" in capsys.readouterr().err
    for beyond in ("modulo", "compact"):
        document = convert(capsys, *words, "--out-of-range", beyond)
        assert document["iolog"]["end_bytes"] <= 1 << 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out-of-range", "modulo"], "needs --size"),
        (["--size", "lots"], '--size "lots"'),
        (["--size", "100"], "at least 512"),
        (["--format", "mqsin"], 'did you mean "mqsim"'),
        (["--time-unit", "min"], "Allowed: ps, ns, us, ms, s"),
        (["--arrival-event", "C"], "Allowed: Q, D"),
        (["--device", "7"], "--device 7"),
    ],
)
def test_wrong_requests_leave_nothing_behind(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], message: str
) -> None:
    recorded, folder = tmp_path / "recorded", tmp_path / "out"
    recorded.write_text(MIXED, encoding="ascii")
    command = ["convert", str(recorded), "--out", str(folder / "trace.iolog"), *words]
    assert cli.run(command) == 2
    assert message in capsys.readouterr().err
    assert not folder.exists() or list(folder.iterdir()) == []


OLD = "fio version 3 iolog\nold\n"


def test_an_older_file_stays_when_the_trace_is_broken(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recorded, out = tmp_path / "recorded", tmp_path / "trace.iolog"
    recorded.write_text(MIXED + "1 2 3\n", encoding="ascii")
    out.write_text(OLD, encoding="ascii")
    assert cli.run(["convert", str(recorded), "--out", str(out)]) == 2
    assert "recorded, line 5: 3 columns" in capsys.readouterr().err
    assert out.read_text(encoding="ascii") == OLD


def test_a_folder_that_cannot_be_written_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recorded = tmp_path / "recorded"
    recorded.write_text(MIXED, encoding="ascii")
    for out in (tmp_path, recorded / "trace.iolog", Path("/proc/trace.iolog")):
        assert cli.run(["convert", str(recorded), "--out", str(out)]) == 2
        assert f'--out "{out}": ' in capsys.readouterr().err


def test_a_full_disk_leaves_the_older_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with small_disk(tmp_path / "small", "64k") as folder:
        recorded, out = tmp_path / "recorded", folder / "trace.iolog"
        recorded.write_text("".join(f"{i}000 0 {i} 8 1\n" for i in range(9000)), encoding="ascii")
        out.write_text(OLD, encoding="ascii")
        assert cli.run(["convert", str(recorded), "--out", str(out)]) == 1
        assert "No space left" in capsys.readouterr().err
        assert out.read_text(encoding="ascii") == OLD
        assert [path.name for path in folder.iterdir()] == [out.name]
