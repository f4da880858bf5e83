"""A job file that a script runs: what `drivelab run` does, without the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small import MODEL_NAME, OVERRIDES, SETS

from drivelab import cli, states, subject
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError
from drivelab.fio import documents, jobs, measuring, run_files
from drivelab.fio.groups import Asked
from drivelab.lab.steady import Steady
from drivelab.text import run, terminal

JOB = "[a]\nrw=randrw\nbs=4k\nio_size=1m\nwrite_lat_log={}/lat\n"


def test_a_script_measures_what_the_command_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.fio"
    file.write_text(JOB.format(tmp_path), encoding="utf-8")
    found = subject.find(MODEL_NAME, list(OVERRIDES))
    data = parse_data_pattern("random")
    workload = jobs.read_workload(file, found.user_capacity_bytes, 1, data=data)
    asked, state, heard = Asked(), states.find("new"), list[str]()
    measuring.check(found, workload, asked, None)
    [runs] = measuring.measure(found, state, file.name, [workload], asked, [1], heard.append)
    own = documents.provenance(found, state, workload, 1) | {"span_bytes": None}
    document = documents.of_repeats([workload], [runs], own, [1])
    run_files.publish(workload, runs, None, None, None, heard.append)
    log = (tmp_path / "lat_lat.1.log").read_text(encoding="utf-8")
    assert heard == []
    words = ["run", str(file), "--drive", MODEL_NAME, *SETS]
    assert cli.run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["jobs"] == json.loads(json.dumps(document["jobs"]))
    assert (tmp_path / "lat_lat.1.log").read_text(encoding="utf-8") == log != ""
    assert cli.run(words) == 0
    assert terminal.as_text(run.parts(document)) == capsys.readouterr().out.strip("\n")


def test_what_a_drive_can_not_tell_is_refused_before_it_works(tmp_path: Path) -> None:
    file = tmp_path / "a.fio"
    file.write_text("[a]\nrw=randwrite\nio_size=1m\n", encoding="utf-8")
    disk = subject.find("wd-velociraptor-300gb")
    workload = jobs.read_workload(file, disk.user_capacity_bytes, 1)
    asked = Asked(until=Steady("write_amplification"))
    with pytest.raises(RequestError, match="a hard disk has none"):
        measuring.check(disk, workload, asked, None)
    with pytest.raises(RequestError, match=r"a name that ends in \.parquet"):
        measuring.check(disk, workload, Asked(), tmp_path / "log.csv")
