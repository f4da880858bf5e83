"""What clients asked for, as a trace that can be replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from served.conftest import MODEL, SMALL, Serve
from served.programs import NBDSH, ran, require
from served.test_fio import fio

from drivelab import cli

MIB = 1 << 20
SETS = [word for setting in SMALL for word in ("--set", setting)]


def test_a_recorded_trace_is_what_clients_did(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require("fio")
    trace = tmp_path / "day.iolog"
    drive = serve(options=("--record", str(trace)))
    job = fio(drive, tmp_path, ["--rw=randrw", "--bs=8k", "--size=16m", "--iodepth=8"])
    fio(drive, tmp_path, ["--rw=trim", "--bs=1m", "--size=8m"])
    drive.stop()
    done = {name: job[name]["total_ios"] for name in ("read", "write")}
    lines = trace.read_text().splitlines()
    assert lines[0] == "fio version 3 iolog"
    assert lines[-1].split()[1:] == ["drive", "close"]
    asked = [line.split() for line in lines[3:-1]]
    for name, count in done.items():
        chosen = [line for line in asked if line[2] == name and line[4] == "8192"]
        assert len(chosen) == count
    trims = [int(line[3]) for line in asked if line[2] == "trim"]
    assert sorted(trims) == [MIB * index for index in range(8)]
    times = [int(line[0]) for line in asked]
    assert times == sorted(times)
    assert f"{trace}: {len(asked)} requests" in drive.log()
    capsys.readouterr()
    assert cli.run(["replay", str(trace), "--drive", MODEL, *SETS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["trace"]
    assert found["requests"] == len(asked)
    assert found["write"]["ios"] == done["write"]


def test_the_trace_says_what_a_trace_can_of_zeroes_and_flushes(
    serve: Serve, tmp_path: Path
) -> None:
    trace = tmp_path / "zeroes.iolog"
    drive = serve(options=("--record", str(trace)))
    code = "h.zero(8192, 4096); h.zero(4096, 65536, nbd.CMD_FLAG_NO_HOLE); h.flush()"
    ran(*NBDSH, "-u", drive.uri, "-c", code)
    drive.stop()
    asked = [line.split()[2:] for line in trace.read_text().splitlines()[3:-1]]
    assert asked == [["trim", "4096", "8192"], ["write", "65536", "4096"], ["sync", "0", "0"]]


def test_what_is_there_is_not_replaced(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = serve()
    drive.stop()
    trace = tmp_path / "precious"
    trace.write_text("x")
    assert cli.run(["serve", str(drive.image), "--record", str(trace)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert cli.run(["serve", str(drive.image), "--record", str(tmp_path / "no" / "x")]) == 2
    assert "can't write there" in capsys.readouterr().err
    assert trace.read_text() == "x"
