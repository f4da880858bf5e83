from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small import MODEL_NAME, SETS

from drivelab import cli

MQSIM = "1000000 0 8 8 1\n3000000 0 64 16 0\n3500000 1 64 16 0\n903500000 0 8 8 1\n"
MSR = (
    "128166372003061629,hm,0,Read,4096,4096,1\n"
    "128166372003161629,hm,0,Write,8192,8192,1\n"
    "128166372003261629,hm,1,Write,0,512,1\n"
)
IOLOG = "fio version 3 iolog\n0 sda add\n0 sda open\n0 sda write 0 4096\n50 sda read 0 4096\n"


def replay(
    capsys: pytest.CaptureFixture[str], folder: Path, text: str, *words: str
) -> dict[str, Any]:
    path = folder / "recorded"
    path.write_text(text, encoding="utf-8")
    assert cli.run(["replay", str(path), "--drive", MODEL_NAME, *SETS, "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], folder: Path, text: str, *words: str) -> str:
    path = folder / "recorded"
    path.write_text(text, encoding="utf-8")
    assert cli.run(["replay", str(path), "--drive", MODEL_NAME, *SETS, "--json", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


@pytest.mark.parametrize(
    ("text", "name", "reads", "writes"),
    [(MQSIM, "mqsim", 2, 2), (MSR, "msr", 1, 2), (IOLOG, "iolog", 1, 1)],
)
def test_formats_are_recognised_and_nothing_is_lost(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    text: str,
    name: str,
    reads: int,
    writes: int,
) -> None:
    found = replay(capsys, tmp_path, text)
    assert found["trace"]["format"] == name
    assert (found["replay"]["read"]["ios"], found["replay"]["write"]["ios"]) == (reads, writes)
    assert found["replay"]["host_write_bytes"] == found["replay"]["write"]["bytes"]


def test_pacing_says_how_long_it_takes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arrival = replay(capsys, tmp_path, MQSIM)["replay"]["duration_s"]
    capped = replay(capsys, tmp_path, MQSIM, "--pacing", "capped", "--idle-cap", "10ms")
    closed = replay(capsys, tmp_path, MQSIM, "--pacing", "closed")["replay"]["duration_s"]
    assert arrival == pytest.approx(0.9025, abs=0.001)
    assert capped["replay"]["duration_s"] == pytest.approx(0.0125, abs=0.001)
    assert closed < 0.001


def test_one_device_of_several(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = replay(capsys, tmp_path, MQSIM, "--device", "1")
    assert found["trace"]["requests"] == 1
    assert found["replay"]["write"]["bytes"] == 8192


def test_requests_beyond_the_drive_are_refused_wrapped_or_renumbered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "0 0 900000000 8 0\n1000 0 900000008 8 0\n"
    message = refused(capsys, tmp_path, text)
    assert "900000000" in message
    assert "--out-of-range" in message
    for beyond in ("modulo", "compact"):
        found = replay(capsys, tmp_path, text, "--out-of-range", beyond)
        assert found["replay"]["write"]["bytes"] == 8192


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("1 0 8 8 1\n2 0 x 8 1\n", ["--format", "mqsim"], "line 2"),
        ("1 0 8 8 1\n2 0 8 8 7\n", [], "line 2"),
        ("what is this\n", [], "mqsim"),
        ("", [], "recorded"),
        (MQSIM, ["--format", "mqsin"], 'did you mean "mqsim"'),
        (MQSIM, ["--pacing", "asap"], "Allowed: arrival, closed, capped"),
        (MQSIM, ["--pacing", "capped", "--idle-cap", "soon"], '--idle-cap "soon"'),
        (MQSIM, ["--queue-depth", "4"], "--pacing closed"),
        (MQSIM, ["--device", "7"], "device"),
        (MQSIM, ["--state", "broken"], "Allowed: new, filled, filled-random, used"),
    ],
)
def test_wrong_requests_say_what_is_allowed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: list[str], message: str
) -> None:
    assert message in refused(capsys, tmp_path, text, *words)


def test_the_data_of_a_replay_can_be_chosen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    random = replay(capsys, tmp_path, MQSIM)
    half = replay(capsys, tmp_path, MQSIM, "--data", "compressible:50")
    assert random["drivelab"]["data"] == {"kind": "random"}
    assert half["drivelab"]["data"]["compressed_percent"] == 50
    assert " --data compressible:50 " in half["drivelab"]["command_line"]
    assert half["replay"] == random["replay"]
