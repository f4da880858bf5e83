"""fio's steadystate: against numpy, against fio itself, and on a drive that gets steady."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import MODEL_NAME, SETS

from drivelab import cli
from drivelab.commands.until import METRICS
from drivelab.fio.steady import SteadyState
from drivelab.lab.steady import Metric
from drivelab.lab.steps import Step
from drivelab.quantities import MIB

JOB = """
[a]
rw={rw}
bs=4k
iodepth=8
norandommap
time_based
runtime=120
{more}
"""


def steps(values: list[int]) -> list[Step]:
    made = [
        SimpleNamespace(ios=value, duration_s=1.0, mib_per_s=4096 * value / MIB) for value in values
    ]
    return cast("list[Step]", made)


def run(
    capsys: pytest.CaptureFixture[str], folder: Path, more: str, *words: str, rw: str = "randread"
) -> dict[str, Any]:
    path = folder / "job.fio"
    path.write_text(JOB.format(rw=rw, more=more), encoding="utf-8")
    given = words or ("--drive", MODEL_NAME, *SETS)
    assert cli.run(["run", str(path), *given, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@given(
    st.lists(st.integers(1, 10**6), min_size=2, max_size=30),
    st.integers(2, 12),
    st.booleans(),
    st.booleans(),
    st.floats(0.001, 1000),
)
def test_a_window_is_judged_as_numpy_would(
    values: list[int], duration_s: int, percent: bool, slope: bool, limit: float
) -> None:
    name = "iops_slope" if slope else "iops"
    found = SteadyState(name, limit, percent, duration_s, 0).judge(steps(values))
    window = values[-duration_s:]
    assert found["data"]["iops"] == window
    if len(window) < duration_s:
        assert (found["reached"], found["criterion"]) == (False, None)
        return
    if slope:
        expected = float(np.polyfit(range(duration_s), window, 1)[0])
        assert found["slope"] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    else:
        expected = max(abs(np.array(window) - np.mean(window)))
        assert found["max_deviation"] == pytest.approx(expected, abs=1e-6)
    reckoned = 100 * expected / np.mean(window) if percent else expected
    if abs(abs(reckoned) - limit) > 1e-6:
        assert found["reached"] == (abs(reckoned) < limit) == bool(found["attained"])


def test_bandwidth_is_in_bytes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    judged = SteadyState("bw", 4096 * 3.0, False, 3, 0).judge(steps([10, 12, 14]))
    assert judged["max_deviation"] == 4096 * 2
    assert judged["reached"]
    assert judged["data"]["bw_mean"] == 4096 * 12
    # A limit in kilobytes, as a size.
    found = run(capsys, tmp_path, "steadystate=bw:100k\nss_dur=4")
    assert found["jobs"][0]["steadystate"]["ss"] == "bw:102400.000000"
    assert cli.run(["run", str(tmp_path / "job.fio"), "--drive", MODEL_NAME, *SETS]) == 0
    assert "a: steadystate bw:102400 over 4 s attained: " in capsys.readouterr().out


def test_a_job_ends_when_it_is_steady(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    more = "steadystate=iops:1%\nsteadystate_duration=5\nsteadystate_ramp_time=3"
    [job] = run(capsys, tmp_path, more)["jobs"]
    found = job["steadystate"]
    assert (found["attained"], found["duration"]) == (1, 5)
    assert float(found["criterion"].removesuffix("%")) < 1
    # Three seconds of ramp, five of the window.
    assert job["read"]["runtime"] == 8000
    mean = job["read"]["total_ios"] / 8
    assert found["data"]["iops_mean"] == pytest.approx(mean, rel=0.01)
    assert found["data"]["bw_mean"] == pytest.approx(4096 * mean, rel=0.01)


def test_a_job_that_ends_before_has_not_attained_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    [job] = run(capsys, tmp_path, "runtime=3\nss=iops:1%\nss_dur=60")["jobs"]
    found = job["steadystate"]
    assert (found["attained"], found["criterion"]) == (0, None)
    assert job["read"]["runtime"] == 3000
    assert cli.run(["run", str(tmp_path / "job.fio"), "--drive", MODEL_NAME, *SETS]) == 0
    assert "a: steadystate iops:1% over 60 s not attained\n" in capsys.readouterr().out


def test_jobs_that_are_reported_together_end_together(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    more = "numjobs=3\ngroup_reporting\nss=iops:1%\nss_dur=4"
    jobs = run(capsys, tmp_path, more)["jobs"]
    assert {job["read"]["runtime"] for job in jobs} == {4000}
    rate = sum(job["read"]["total_ios"] for job in jobs) / 4
    assert jobs[0]["steadystate"]["data"]["iops_mean"] == pytest.approx(rate, rel=0.01)


@pytest.mark.programs("fio")
def test_on_a_file_fio_judges_and_has_the_same_keys(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("--drive", f"fio:{tmp_path / 'drive'}", "--size", "16m", "--buffered")
    more = "runtime=12\nsteadystate=iops:95%\nss_dur=2"
    [real] = run(capsys, tmp_path, more, *words)["jobs"]
    assert real["steadystate"]["ss"] == "iops:95.000000%"
    assert real["steadystate"]["attained"] == 1
    assert real["read"]["runtime"] < 12000
    [model] = run(capsys, tmp_path, more)["jobs"]
    assert set(model["steadystate"]) == set(real["steadystate"])
    assert set(model["steadystate"]["data"]) == set(real["steadystate"]["data"])
    assert model["steadystate"]["ss"] == real["steadystate"]["ss"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("steadystate=iops:5%", "steadystate_duration"),
        ("ss_dur=10", "steadystate=iops:5%"),
        ("ss=iosp:5%\nss_dur=10", "iops"),
        ("ss=iops\nss_dur=10", ":LIMIT"),
        ("ss=iops:0\nss_dur=10", "above 0"),
        ("ss=iops:5%\nss_dur=1500ms", "whole seconds"),
        ("ss=iops:5%\nss_dur=5\nrw=randtrim", "read or write"),
        ("ss=iops:5%\nss_dur=5\nnumjobs=2", "group_reporting"),
    ],
)
def test_what_can_not_be_judged_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, more: str, told: str
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(JOB.format(rw="randread", more=more), encoding="utf-8")
    assert cli.run(["run", str(path), "--drive", MODEL_NAME, *SETS, "--json"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, len(printed.err.splitlines())) == ("", 1)
    assert told in printed.err


def test_the_last_group_runs_until_it_is_steady(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(
        "[global]\nbs=128k\nsize=64m\n[fill]\nrw=write\n[rest]\nstonewall\nrw=randread\n",
        encoding="utf-8",
    )
    words = ["run", str(path), "--drive", MODEL_NAME, *SETS, "--json"]
    assert cli.run([*words, "--until-steady", "iops", "--round", "2s", "--limit", "5m"]) == 0
    found = json.loads(capsys.readouterr().out)
    until = found["drivelab"]["until_steady"]
    assert (until["metric"], until["reached"], until["rounds"]) == ("iops", True, 5)
    fill, rest = found["jobs"]
    assert fill["write"]["io_bytes"] == 64 * MIB
    assert rest["read"]["runtime"] == 10_000
    assert "--until-steady iops --round 2s --limit 5m" in found["drivelab"]["command_line"]


def test_every_repeat_has_its_verdict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    # Sizes as different as these make rounds of 50 ms level by some seeds, and not by others.
    job = "[a]\nrw=randread\nbssplit=4k/80:256k/20\nnorandommap\n"
    path.write_text(job, encoding="utf-8")
    words = ["run", str(path), "--drive", MODEL_NAME, *SETS, "--repeat", "3"]
    words += ["--until-steady", "iops", "--round", "50ms", "--limit", "250ms"]
    assert cli.run([*words, "--json"]) == 0
    printed = capsys.readouterr()
    own = json.loads(printed.out)["drivelab"]
    verdicts = own["repeats"]["until_steady"]
    reached = [verdict["reached"] for verdict in verdicts]
    assert (len(reached), set(reached)) == (3, {True, False})
    assert own["until_steady"] == verdicts[0]
    for index, seed in enumerate(own["repeats"]["seeds"]):
        alone = [*words[: words.index("--repeat")], *words[words.index("--until-steady") :]]
        assert cli.run([*alone, "--seed", str(seed), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["drivelab"]["until_steady"] == verdicts[index]
    missed = ", ".join(str(place) for place, found in enumerate(reached, 1) if not found)
    assert f"--until-steady iops: not reached in repeat {missed} of 3" in printed.err
    assert cli.run(words) == 0
    shown = capsys.readouterr().out
    for number, found in enumerate(reached, start=1):
        assert f"repeat {number}: iops {'steady' if found else 'not steady'} after" in shown


def test_the_command_line_knows_every_metric() -> None:
    assert get_args(Metric) == METRICS


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--until-steady", "iosp"), "iops"),
        (("--round", "5s"), "--until-steady"),
        (("--until-steady", "iops", "--round", "5x"), '--round "5x"'),
        (("--until-steady", "iops", "--limit", "4s", "--round", "1s"), "at least 5 rounds"),
        (("--until-steady", "iops", "--round", "0"), '--round "0": allowed: 1 ns or more'),
        (("--until-steady", "iops", "--limit", "0"), '--limit "0": allowed: 1 ns or more'),
        (("--until-steady", "iops", "--round", "5h"), '--round "5h", --limit "24h"'),
        (("--until-steady", "write_amplification"), "no job of the last group writes"),
    ],
)
def test_wrong_criteria_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=read\n", encoding="utf-8")
    assert cli.run(["run", str(path), "--drive", MODEL_NAME, *SETS, *words]) == 2
    assert told in capsys.readouterr().err
