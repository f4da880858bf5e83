from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from served.stand_in import FACTS, Engine
from small import MODEL_NAME, SETS

from drivelab import cli

Answers = Callable[[Path, Callable[[dict[str, Any]], bytes]], None]


def refused(words: list[object], capsys: pytest.CaptureFixture[str], status: int = 2) -> str:
    assert cli.run([str(word) for word in words]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    return printed.err


def test_create_says_what_was_made(
    engine: Engine, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "a.drive"
    assert cli.run(["create", str(path), "--model", MODEL_NAME, *SETS, "--seed", "7"]) == 0
    told = capsys.readouterr().out
    assert "1000.0 MB, new; takes" in told
    assert f"drivelab serve {path}" in told
    assert engine.done == [("create", 7)]
    assert cli.run(["create", str(folder / "b"), "--model", MODEL_NAME, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["user_capacity_bytes"] == 80026361856
    assert found["image_format"] == 1


@pytest.mark.usefixtures("engine")
def test_create_replaces_nothing_and_makes_only_new_drives(
    drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--model", MODEL_NAME]
    assert "is there already" in refused(["create", drive, *model], capsys)
    assert drive.read_text(encoding="utf-8") == "{}"
    other = drive.with_name("other")
    for words, message in (
        ([other, *model, "--state", "used"], "allowed: new"),
        ([other, "--model", "intel"], "is unknown"),
        ([other, *model, "--set", "spare_ratio=x"], "spare_ratio"),
        ([drive.parent / "no" / "x", *model], "can't write there"),
        ([drive.parent, *model], "is a folder"),
    ):
        assert message in refused(["create", *words], capsys)
    assert not other.exists()


def test_smart_reads_the_image_unless_it_is_served(
    engine: Engine, drive: Path, answering: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["smart", str(drive), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["power_cycle_count"] == 3
    asked = []

    def answer(request: dict[str, Any]) -> bytes:
        asked.append(request)
        return json.dumps({"ok": True, **FACTS, "power_cycles": 4}).encode() + b"\n"

    answering(drive.with_name("my.drive.control"), answer)
    for target in (drive, drive.with_name("my.drive.control")):
        assert cli.run(["smart", str(target), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["power_cycle_count"] == 4
        assert found["drivelab"]["served"] is True
    assert asked == [{"command": "smart"}] * 2
    assert cli.run(["smart", str(drive)]) == 0
    assert "being served" in capsys.readouterr().out


@pytest.mark.usefixtures("engine")
def test_sockets_that_no_drive_answers_at_are_told_apart(
    drive: Path, answering: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = drive.with_name("stale.control")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(stale))
    assert "nobody serves there" in refused(["smart", stale], capsys)
    for name, answer, words, status in (
        ("a", b"NBDMAGICIHAVEOPT", "NBD clients are served there", 2),
        ("b", b"hello\n", "not the answer of a served drive", 1),
        ("c", b"", "went away without an answer", 1),
        ("d", b'{"ok": false, "error": "not now"}\n', "not now", 2),
        ("e", b"[1]\n", "not the answer", 1),
    ):
        answering(drive.with_name(name), lambda _, answer=answer: answer)
        assert words in refused(["smart", drive.with_name(name)], capsys, status)
    assert "no such file" in refused(["smart", drive.with_name("none")], capsys)


def test_check_ends_with_status_1_if_anything_is_wrong(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", str(drive)]) == 0
    assert capsys.readouterr().out == f"{drive}: no damage found (40 blocks)\n"
    engine.problems = ["block 3: its write pointer is past its end"]
    assert "block 3: its write pointer" in refused(["check", drive], capsys, 1)
    assert cli.run(["check", str(drive), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["problems"]) == (False, engine.problems)


def test_the_engines_errors_keep_their_meaning(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.failure = engine.ImageWorkError("my.drive: it is in use")
    assert refused(["check", drive], capsys, 1) == "drivelab: my.drive: it is in use\n"
    assert "in use" in refused(["serve", drive], capsys, 1)
    engine.failure = engine.ImageRequestError("my.drive: it is no image")
    assert "no image" in refused(["check", drive], capsys, 2)


def test_erase_and_trim(engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["erase", str(drive)]) == 0
    assert "erased" in capsys.readouterr().out
    assert capsys.readouterr().err == ""
    engine.facts["trim_supported"] = False
    assert "Test drive ignores TRIM: nothing has changed" in refused(
        ["trim", drive, "--all"], capsys, 1
    )
    assert engine.done[-1][0] == "erase"
    engine.facts["trim_supported"] = True
    for words, done in (
        (["--all"], (0, 1_000_000_512)),
        (["--offset", "4k", "--length", "64m"], (4096, 2**26)),
        (["--length", "512"], (0, 512)),
    ):
        assert cli.run(["trim", str(drive), *words]) == 0
        assert engine.done[-1] == ("trim", done)
    capsys.readouterr()
    for words, message in (
        ([], "say what"),
        (["--offset", "0"], "say what"),
        (["--all", "--length", "512"], "say what"),
        (["--length", "0"], "multiples of 512 bytes from 512 on"),
        (["--length", "x"], "allowed: a number of bytes"),
        (["--offset", "100", "--length", "512"], "multiples of 512"),
        (["--length", "2g"], "the drive has 1000000512"),
        (["--offset", "1g", "--length", "8e"], "allowed"),
    ):
        assert message in refused(["trim", drive, *words], capsys)


@pytest.mark.usefixtures("engine")
def test_faults_reach_the_drive_in_the_words_of_plans(
    drive: Path, answering: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> bytes:
        asked.append(request)
        if request["command"] == "power-cut":
            return b""
        waiting = [{"kind": "read-only"}] if request["command"] == "faults" else []
        return json.dumps({"ok": True, "faults": waiting}).encode() + b"\n"

    answering(drive.with_name("my.drive.control"), answer)
    plan = drive.with_name("plan.toml")
    plan.write_text('[[fault]]\nkind = "read-only"\n', encoding="utf-8")
    spike = {"kind": "latency-spike", "duration_ns": 5_000_000, "offset_bytes": 1 << 20}
    for words, request in (
        ([], {"command": "faults"}),
        (["clear"], {"command": "clear-faults"}),
        (["power-cut"], {"command": "power-cut"}),
        (
            ["power-cut", "at_operation=5"],
            {"command": "fault", "fault": {"kind": "power-cut", "at_operation": 5}},
        ),
        (
            ["latency-spike", "duration_ns=5ms", "offset_bytes=1m"],
            {"command": "fault", "fault": spike},
        ),
        (
            ["misdirected-write", "distance_bytes=-16k"],
            {
                "command": "fault",
                "fault": {"kind": "misdirected-write", "distance_bytes": -16384},
            },
        ),
        (
            ["--plan", str(plan)],
            {"command": "fault-plan", "plan": {"seed": 1, "faults": [{"kind": "read-only"}]}},
        ),
    ):
        assert cli.run(["fault", str(drive), *words]) == 0
        assert asked[-1] == request
    assert cli.run(["fault", str(drive), "--json"]) == 0
    printed = capsys.readouterr().out
    assert f"{drive}: read-only\n" in printed
    assert "latency-spike duration_ns=5000000" in printed
    assert '"faults"' in printed


@pytest.mark.usefixtures("engine")
def test_wrong_faults_are_refused_before_the_drive_hears_of_them(
    drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, message in (
        (["power-cut"], "is not being served"),
        (["powercut"], 'did you mean "power-cut"'),
        (["torn-write", "at_comand=3"], 'did you mean "at_command"'),
        (["torn-write", "at_command=x"], 'at_command = "x"; allowed: whole numbers'),
        (["torn-write", "at_command"], "expected KEY=VALUE"),
        (["latency-spike", "duration_ns=5y"], "allowed: a number with d, h"),
        (["list", "now"], "takes no more words"),
        (["clear", "--plan", "x.toml"], "give one of them"),
        (["--plan", "none.toml"], "can't read it"),
    ):
        assert message in refused(["fault", drive, *words], capsys)


@pytest.fixture
def mark(engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """What the drive said before it wrote 4 MB, of which cleaning made 10 MB."""
    assert cli.run(["smart", str(drive), "--json"]) == 0
    path = drive.with_name("mark.json")
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    grown = {"host_write_bytes": 4, "program_bytes_host": 4, "program_bytes_cleaning": 6}
    for key, megabytes in grown.items():
        engine.facts[key] += megabytes * 10**6
    engine.facts["erases_cleaning"] += 12
    engine.facts["power_on_ns"] += 3 * 10**9
    return path


def test_smart_since_a_mark_says_what_came_since(
    mark: Path, drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["smart", str(drive), "--since", str(mark), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["drivelab"]
    assert found["since"]["host_write_bytes"] == 4 * 10**6
    assert found["since"]["write_amplification"] == 2.5
    assert found["since"]["erases"] == 12
    assert found["since"]["power_on_s"] == 3
    assert found["write_amplification"] < 1.3
    assert cli.run(["smart", str(drive), "--since", str(mark)]) == 0
    said = capsys.readouterr().out
    assert "flash programmed     10.0 MB (host 4.0 MB, cleaning 6.0 MB)" in said
    assert "write amplification  2.5\n" in said


def test_marks_that_are_none_are_refused(
    mark: Path, drive: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = drive.with_name("absent.json")
    assert "can't be read (No such file" in refused(["smart", drive, "--since", absent], capsys)
    for text, reason in (
        ("x", "not JSON"),
        ("{}", "expected what `drivelab smart"),
        ("[1]", "exp"),
    ):
        absent.write_text(text, encoding="utf-8")
        assert reason in refused(["smart", drive, "--since", absent], capsys)
    engine.facts["host_write_bytes"] = 5
    assert "is of a later moment" in refused(["smart", drive, "--since", mark], capsys)
    engine.facts["model"] = "other"
    assert "is of another drive: model" in refused(["smart", drive, "--since", mark], capsys)
