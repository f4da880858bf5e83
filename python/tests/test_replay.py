from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small import MODEL_NAME, SETS

from drivelab import cli
from drivelab.errors import WorkError
from drivelab.replay import check_conservation
from drivelab.workload import Requests

EXCERPTS = Path(__file__).parent / "traces"

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


@pytest.mark.parametrize("name", ["tpcc-excerpt.trace", "wsrch-excerpt.trace"])
@pytest.mark.parametrize("pacing", ["arrival", "closed", "capped"])
def test_requests_and_bytes_of_real_traces_are_conserved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, pacing: str
) -> None:
    text = (EXCERPTS / name).read_text(encoding="ascii")
    words = ["--pacing", pacing, "--out-of-range", "compact"]
    document = replay(capsys, tmp_path, text, *words)
    trace, found = document["trace"], document["replay"]
    assert found["requests"] == trace["requests"] == len(text.splitlines())
    for direction in ("read", "write"):
        assert found[direction]["ios"] == trace[direction]["ios"]
        assert found[direction]["bytes"] == trace[direction]["bytes"]
    assert found["host_read_bytes"] == trace["read"]["bytes"]
    assert found["host_write_bytes"] == trace["write"]["bytes"]


def test_a_replay_that_loses_requests_is_not_reported() -> None:
    part = {"ios": 1, "bytes": 4096}
    none = {"ios": 0, "bytes": 0}
    job = {"read": part, "write": none, "trim": none, "flush": {"count": 0}}
    requests = Requests.of([(0, 0, 8), (0, 8, 8)])
    with pytest.raises(WorkError, match=r"did 1 requests of 4096 bytes; the trace has 2 of 8192"):
        check_conservation(requests, {"jobs": [job]})


def test_rates_count_the_whole_time_or_the_busy_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = replay(capsys, tmp_path, MQSIM)["replay"]
    read, write = found["read"], found["write"]
    assert 0 < found["busy_s"] < 0.01 < found["duration_s"]
    assert max(read["busy_s"], write["busy_s"]) <= found["busy_s"]
    assert found["busy_s"] <= read["busy_s"] + write["busy_s"]
    assert read["mb_per_s"] == pytest.approx(read["bytes"] / 1e6 / found["duration_s"])
    assert read["mib_per_s"] == pytest.approx(read["mb_per_s"] * 1e6 / 2**20)
    assert read["mb_per_busy_s"] == pytest.approx(read["bytes"] / 1e6 / read["busy_s"])
    assert found["mb_per_s"] == pytest.approx(read["mb_per_s"] + write["mb_per_s"])
    assert found["trim"]["mb_per_s"] is None
    assert found["trim"]["busy_s"] == 0


def test_what_was_recorded_stands_beside_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recorded = replay(capsys, tmp_path, MSR)["trace"]["write"]["recorded_latency_us"]
    assert recorded == {"count": 2, "mean": 0.1, "p50": 0.1, "p99": 0.1, "max": 0.1}
    path = tmp_path / "recorded"
    assert cli.run(["replay", str(path), "--drive", MODEL_NAME, *SETS]) == 0
    printed = capsys.readouterr().out
    assert "as recorded" in printed
    assert "disk busy" in printed


def test_pacing_says_how_long_it_takes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arrival = replay(capsys, tmp_path, MQSIM)["replay"]["duration_s"]
    capped = replay(capsys, tmp_path, MQSIM, "--pacing", "capped", "--idle-cap", "10ms")
    assert capped["gaps_cut"] == {"count": 1, "left_out_s": pytest.approx(0.89)}
    closed = replay(capsys, tmp_path, MQSIM, "--pacing", "closed")["replay"]["duration_s"]
    assert arrival == pytest.approx(0.9025, abs=0.001)
    assert capped["replay"]["duration_s"] == pytest.approx(0.0125, abs=0.001)
    assert closed < 0.001
    path = tmp_path / "recorded"
    words = ["replay", str(path), "--drive", MODEL_NAME, *SETS]
    assert cli.run([*words, "--pacing", "capped"]) == 0
    said = (
        "gaps between arrivals longer than 25 ms were cut to that (--idle-cap): 1 of them, 0.875 s"
    )
    assert said in " ".join(capsys.readouterr().out.split())
    assert cli.run(words) == 0
    assert "were cut" not in capsys.readouterr().out


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
        (MQSIM, ["--pacing", "capped", "--idle-cap", ""], '--idle-cap ""'),
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


def test_a_state_after_trim_is_remarked_on_a_drive_that_ignores_trim(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "recorded"
    path.write_text(MQSIM, encoding="utf-8")
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=read\nio_size=1m\n", encoding="utf-8")
    remark = f"{MODEL_NAME} ignores TRIM: state tortured-trimmed is the same as tortured there"
    for command in ("replay", path), ("run", job):
        words = [*map(str, command), "--drive", MODEL_NAME, *SETS]
        assert cli.run([*words, "--state", "tortured-trimmed"]) == 0
        assert remark in capsys.readouterr().err
        assert cli.run(words) == 0
        assert "ignores TRIM" not in capsys.readouterr().err


def test_a_request_log_has_every_request_of_the_last_round(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "log.parquet"
    words = ("--request-log", str(log), "--repeat", "3")
    found = replay(capsys, tmp_path, MQSIM, *words)["replay"]
    requests = pl.read_parquet(log)
    assert requests["op"].cast(pl.String).to_list() == ["read", "write", "write", "read"]
    assert requests["offset_bytes"].to_list() == [4096, 32768, 32768, 4096]
    mean_us = requests.filter(pl.col("op").cast(pl.String) == "read")["latency_ns"].mean()
    assert mean_us == pytest.approx(found["read"]["latency_us"]["mean"] * 1000)
    # It changes nothing of what is measured.
    assert replay(capsys, tmp_path, MQSIM, "--repeat", "3")["replay"] == found
    told = refused(capsys, tmp_path, MQSIM, "--request-log", str(tmp_path / "log.txt"))
    assert 'log.txt": allowed: a name that ends in .parquet' in told
