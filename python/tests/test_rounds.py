from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import MODEL_NAME, SETS, small_model

from drivelab import cli, counters, rounds
from drivelab.progress import TaskProgress
from drivelab.quantities import number
from drivelab.replay import replay_job
from drivelab.targets import EngineTarget, Report
from drivelab.workload import WRITE, Requests

JOB = replay_job("trace", "closed", 8, None, seed=1)


def overwrites(count: int) -> Requests:
    """Random writes of 4 KiB over all of the small drive."""
    pages = np.random.default_rng(7).integers(0, 999997440 // 4096, count)
    return Requests.of([(WRITE, int(page) * 8, 8) for page in pages])


def fill(target: EngineTarget) -> None:
    rows = [(WRITE, first, 256) for first in range(0, 999997440 // 512 - 256, 256)]
    target.run_requests(JOB, Requests.of(rows), TaskProgress("fill"))


def measured(count: int, until_steady: bool) -> tuple[EngineTarget, list[Report]]:
    target = EngineTarget(small_model(), 1)
    fill(target)
    trace = overwrites(20_000)
    goal = rounds.Goal(count, until_steady)
    return target, rounds.run(target, JOB, trace, TaskProgress("x"), 1.0, goal).reports


def test_rounds_are_the_trace_again_and_again() -> None:
    target, reports = measured(3, until_steady=False)
    other = EngineTarget(small_model(), 1)
    fill(other)
    again = [other.run_requests(JOB, overwrites(20_000), TaskProgress("x")) for _ in range(3)]
    assert reports == again
    assert target.counters() == other.counters()
    found = rounds.record(reports)
    assert found["count"] == 3
    for item in found["each"]:
        assert item["host_write_bytes"] == 20_000 * 4096
        assert item["write_amplification"] == item["flash_write_bytes"] / item["host_write_bytes"]


def test_rounds_end_when_amplification_stands_still() -> None:
    _, reports = measured(60, until_steady=True)
    found = rounds.record(reports)
    assert found["steady"]
    assert 4 < found["count"] < 60
    each = [item["write_amplification"] for item in found["each"]]
    window = each[-4:]
    # Far more than on a new drive, where it would be 1, and within 2 % of each other.
    assert min(window) > 2
    assert max(window) - min(window) <= 0.02 * sum(window) / 4
    earlier = each[-5:-1]
    assert max(earlier) - min(earlier) > 0.02 * sum(earlier) / 4


def test_a_drive_that_still_has_room_is_not_steady() -> None:
    """Its amplification stands still at 1, and would not for long."""
    target = EngineTarget(small_model(), 1)
    goal = rounds.Goal(6, until_steady=True)
    reports = rounds.run(target, JOB, overwrites(500), TaskProgress("x"), 1.0, goal).reports
    assert len(reports) == 6
    assert not rounds.record(reports)["steady"]


def test_a_year_is_the_last_rounds_as_often_as_they_were_recorded() -> None:
    model = small_model()
    _, reports = measured(5, until_steady=False)
    found = rounds.year(reports, 3600.0, model)
    assert found is not None
    assert found["host_write_bytes"] == 20_000 * 4096 * 24 * 365
    used = [counters.spent_in(report) for report in reports[1:]]
    flash = sum(counters.program_bytes(part) or 0 for part in used) / 4 * 24 * 365
    assert found["flash_write_bytes"] == pytest.approx(flash, abs=1)
    assert found["cycles"] == pytest.approx(flash / model.raw_capacity_bytes)
    assert found["worn_out_after_years"] == pytest.approx(10_000 / found["cycles"])
    assert rounds.year(reports, 0.0, model) is None


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    lines = [f"{10_000 * i},h,0,Write,{4096 * (i * 37 % 1000)},4096,0" for i in range(300)]
    path.write_text("\n".join(lines) + "\n")
    return path


def replayed(trace: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.run(["replay", str(trace), "--drive", MODEL_NAME, *SETS, "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    del found["wall_s"], found["drivelab"]["command_line"]
    return found


def test_one_round_is_a_replay_as_ever(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = replayed(trace, capsys)
    assert "rounds" not in once
    assert replayed(trace, capsys, "--repeat", "1") == once


def test_the_command_says_what_rounds_came_to(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--repeat", "12", "--database", str(tmp_path / "lab.duckdb")]
    found = replayed(trace, capsys, *words)
    assert found["rounds"]["count"] == 12
    assert found["replay"]["duration_s"] == found["rounds"]["each"][-1]["duration_s"]
    words = ["replay", str(trace), "--drive", MODEL_NAME, *SETS, "--repeat", "12"]
    assert cli.run(words) == 0
    said = capsys.readouterr().out
    assert "12 rounds, not steady" in said
    assert "a year of it" in said


def test_a_drive_that_falls_behind_its_trace_is_said_to(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A year of the trace is by its own time, which such a drive can't keep."""
    recorded = trace.read_text()

    def write(every: int) -> None:
        """The same writes, one every so many times 0.1 us."""
        rows = (line.partition(",")[2] for line in recorded.splitlines())
        trace.write_text("".join(f"{every * i},{row}\n" for i, row in enumerate(rows)))

    words = ["replay", str(trace), "--drive", MODEL_NAME, *SETS, "--repeat", "4"]
    write(200)
    assert cli.run([*words, "--state", "filled", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    recorded_s = document["trace"]["duration_s"]
    taken_s = sum(item["duration_s"] for item in document["rounds"]["each"]) / 4
    assert cli.run([*words, "--state", "filled"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert taken_s > 1.1 * recorded_s
    behind = f"the drive takes {number(taken_s)} s for the {number(recorded_s)} s of a round"
    assert f"{behind}: it falls behind" in said
    write(20_000)
    assert cli.run([*words, "--state", "filled"]) == 0
    said = capsys.readouterr().out
    assert "a year of it" in said
    assert "falls behind" not in said


def test_a_small_version_is_said_to_wear_out_sooner(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["replay", str(trace), "--drive", MODEL_NAME, "--repeat", "2", "--state", "filled"]
    assert cli.run([*words, "--scale", "1/64"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "this small version, 1/64, wears out 64 times as fast as its drive" in said
    # Its parameters make this one a drive of its own.
    assert cli.run(["replay", str(trace), "--drive", MODEL_NAME, *SETS, "--repeat", "2"]) == 0
    assert "this small version" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("drive", "writes", "reason"),
    [("wd-velociraptor-300gb", True, "a hard disk has none"), (MODEL_NAME, False, "has no writes")],
)
def test_what_never_gets_steady_is_refused(
    drive: str, writes: bool, reason: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not writes:
        trace.write_text(trace.read_text().replace("Write", "Read"))
    assert cli.run(["replay", str(trace), "--drive", drive, "--until-steady"]) == 2
    assert reason in capsys.readouterr().err


def test_rounds_that_stay_in_the_write_buffer_wear_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.iolog"
    lines = ["fio version 3 iolog", "0 x add", "0 x open", "5 x write 0 4096"]
    path.write_text("\n".join([*lines, "9 x write 4096 4096", "12 x close"]) + "\n")
    words = ["replay", str(path), "--drive", "samsung-slc-64gb", "--repeat", "2"]
    assert cli.run([*words, "--json"]) == 0
    worn = json.loads(capsys.readouterr().out)["rounds"]["year"]
    assert worn["host_write_bytes"] > 0 == worn["flash_write_bytes"] == worn["cycles"]
    assert worn["worn_out_after_years"] is None
    assert cli.run(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not worn, as these rounds wrote nothing to flash" in said


def test_fewer_rounds_than_can_be_steady_are_refused(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["replay", str(trace), "--drive", MODEL_NAME, *SETS, "--until-steady", "--repeat"]
    for count in ("1", "2", "3"):
        assert cli.run([*words, count]) == 2
        assert f"--repeat {count}: with --until-steady at least 4" in capsys.readouterr().err
    found = replayed(trace, capsys, "--until-steady", "--repeat", "4")
    assert found["rounds"]["count"] == 4
