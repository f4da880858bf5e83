"""A hard disk has one state, new: so it is told, and so its results are labelled, everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import drivelab as dl
from drivelab import cli, database
from drivelab.web.replay_order import ReplayOrder

SMALLEST = "intel-x25-e-32gb"
DISK = "wd-velociraptor-300gb"
ONE_STATE = "a hard disk has one state, measured as new"


@pytest.mark.parametrize("command", ["run", "replay"])
def test_run_and_replay_label_results_of_a_disk_as_new_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    job, trace = tmp_path / "x.fio", tmp_path / "x.trace"
    job.write_text("[j]\nrw=randread\nbs=4k\nnumber_ios=20\n", encoding="utf-8")
    trace.write_text("0 0 0 8 0\n1000000 0 64 8 1\n", encoding="utf-8")
    file = job if command == "run" else trace
    more = [] if command == "run" else ["--format", "mqsim"]
    path = tmp_path / "lab.duckdb"

    def found(state: str) -> tuple[dict[str, Any], str]:
        words = [command, str(file), *more, "--drive", DISK, "--state", state, "--json"]
        assert cli.run([*words, "--database", str(path)]) == 0
        printed = capsys.readouterr()
        return json.loads(printed.out), printed.err

    tortured, said = found("tortured")
    new, silent = found("new")
    assert f"{DISK}: --state tortured: {ONE_STATE}" in said
    assert ONE_STATE not in silent
    assert tortured["drivelab"]["state"] == new["drivelab"]["state"] == "new"
    measured = "jobs" if command == "run" else "replay"
    assert tortured[measured] == new[measured]
    assert {row["state"] for row in database.read(path, 1, "FILE").rows()["tests"]} == {"new"}


def test_a_script_finds_a_disk_new_whatever_it_prepares() -> None:
    disk = dl.Drive(DISK)
    job = dl.Job(rw="randread", bs="4k", number_ios=20)
    used, new = (disk.prepare(state, progress=False) for state in ("used", "new"))
    assert used is new
    assert used.history == new.history == ({"state": "new"},)
    assert used.run(job, progress=False).summary.equals(new.run(job, progress=False).summary)


def test_a_replay_of_a_page_labels_a_disk_as_new_beside_used_drives(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "x.trace").write_text("0 0 0 8 0\n1000000000 0 64 8 1\n", encoding="utf-8")
    order = ReplayOrder(kind="replay", trace="x.trace", models=[DISK, SMALLEST], state="filled")
    path = tmp_path / "lab.duckdb"
    runs = order.measure(path, lambda *_: None)
    found = [database.read(path, run, "FILE").document["drivelab"]["state"] for run in runs]
    assert found == ["new", "filled"]


def test_a_sweep_does_not_vary_the_state_of_a_disk() -> None:
    with pytest.raises(dl.RequestError, match='a hard disk has one, "new"'):
        dl.sweep(
            dl.Drive(DISK),
            {"state": ["new", "used"]},
            job=dl.Job(rw="randread", bs="4k", number_ios=20),
            progress=False,
        )
