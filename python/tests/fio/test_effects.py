"""What a job asks for in vain is told: by the drive that it runs on."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

import drivelab as dl
from drivelab import cli

JOB = "[t]\nrw=randtrim\nbs=4k\nio_size=64k\nnvme_queue_class=high\nwrite_hint=short\n"


def words_of(job_file: Path, text: str, model: str, *settings: str) -> list[str]:
    """A command that runs a job on a small version of a drive."""
    job_file.write_text(text, encoding="utf-8")
    sets = [word for setting in settings for word in ("--set", setting)]
    return ["run", str(job_file), "--drive", model, "--scale", "1/64", *sets]


def own_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What its document says beyond fio's."""
    assert cli.run([*words, "--json"]) == 0
    own: dict[str, Any] = json.loads(capsys.readouterr().out)["drivelab"]
    return own


@pytest.mark.parametrize(
    ("model", "settings", "vain"),
    [
        ("intel-x25-m-g1-80gb", [], {"rw", "nvme_queue_class", "write_hint"}),
        ("samsung-pm9a3-960gb", [], {"nvme_queue_class", "write_hint"}),
        (
            "samsung-pm9a3-960gb",
            ["nvme.arbitration=weighted-round-robin", "ftl.placement=hint"],
            set(),
        ),
        (
            "samsung-pm9a3-960gb",
            ["ftl.placement=hint", "ftl.hint_streams=2"],
            {"nvme_queue_class", "write_hint"},
        ),
        ("intel-x25-v-40gb-raid0-x2", ["member.ftl.placement=hint"], {"rw", "nvme_queue_class"}),
    ],
)
def test_options_that_this_drive_does_nothing_with_are_listed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    model: str,
    settings: list[str],
    vain: set[str],
) -> None:
    words = words_of(tmp_path / "job.fio", JOB, model, *settings)
    assert set(own_of(words, capsys)["ignored_options"]) == vain


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ("fdp=1\nfdp_pli=7\n", "fdp_pli"),
        ("dataplacement=fdp\nplids=7\n", "plids"),
        ("write_hint=extreme\n", "write_hint"),
    ],
)
def test_a_hint_that_counts_as_none_is_told_by_the_option_that_gave_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, option: str
) -> None:
    text = f"[global]\n{options}[w]\nrw=randwrite\nbs=4k\nio_size=64k\n"
    settings = ("ftl.placement=hint", "ftl.hint_streams=2")
    words = words_of(tmp_path / "job.fio", text, "samsung-pm9a3-960gb", *settings)
    [(name, reason)] = own_of(words, capsys)["ignored_options"].items()
    assert name == option
    assert "counts as none: samsung-pm9a3-960gb has streams for hints below 2" in reason


def test_a_placement_identifier_without_its_switch_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "[w]\nrw=randwrite\nbs=4k\nio_size=64k\nfdp_pli=3\n"
    words = words_of(tmp_path / "job.fio", text, "samsung-pm9a3-960gb", "ftl.placement=hint")
    reason = "writes have a placement identifier with fdp=1 only"
    assert own_of(words, capsys)["ignored_options"] == {"fdp_pli": reason}
    job = dl.Job(rw="randwrite", io_size="64k", fdp_pli=3, gtod_reduce=1)
    notes = dl.Drive("samsung-pm9a3-960gb", scale="1/64").run(job).notes
    assert f"option fdp_pli has no effect: {reason}" in notes
    assert "option gtod_reduce has no effect: measuring costs no time in a model" in notes


def test_a_script_is_told_too() -> None:
    drive = dl.Drive("ocz-vertex-120gb", scale="1/64")
    [note] = [note for note in drive.run(dl.Job(rw="trim", io_size="1m")).notes if "rw" in note]
    assert note == "option rw has no effect: ocz-vertex-120gb ignores TRIM: trim frees nothing"


def test_writes_that_a_drive_refuses_are_in_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worn = ("flash.bit_errors=true", "flash.erase_failure_rate=1.0", "flash.initial_cycles=5000")
    # Its life ends in the first job, so the second has no write.
    text = "[w]\nrw=randwrite\nbs=4k\niodepth=32\nio_size=400m\nnorandommap\n"
    text += "[v]\nstonewall\nrw=randwrite\nbs=4k\nio_size=40m\n"
    words = words_of(tmp_path / "job.fio", text, "intel-x25-m-g2-80gb", *worn)
    words += ["--state", "filled"]
    first, second = own_of(words, capsys)["groups"]
    assert 0 < first["refused_commands"] < 400 << 20 >> 12
    assert second["refused_commands"] == 10_240
    assert cli.run(words) == 0
    shown = capsys.readouterr().out
    assert "10240 commands were refused or failed: the drive only reads" in shown
    assert [line[:2] for line in shown.splitlines() if line[:2] in ("w ", "v ")] == ["w "]


def test_a_job_whose_commands_failed_has_their_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that looks at fio's `error` took a dead drive for a fine one."""
    worn = ("flash.bit_errors=true", "flash.erase_failure_rate=1.0", "flash.initial_cycles=100000")
    text = "[w]\nrw=randwrite\nbs=4k\niodepth=32\nio_size=400m\nnorandommap\n"
    text += "[v]\nstonewall\nrw=randwrite\nbs=4k\nio_size=4m\n"
    text += "[r]\nrw=randread\nbs=4k\nio_size=4m\n[s]\nstonewall\nrw=randread\nio_size=16m\n"

    def errors_of(*settings: str) -> tuple[dict[str, Any], dict[str, Any]]:
        words = words_of(tmp_path / "job.fio", text, "intel-x25-m-g2-80gb", *settings)
        assert cli.run([*words, "--state", "filled", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        keys = ("error", "total_err", "first_error")
        jobs = {
            job["jobname"]: tuple(job[key] for key in keys if key in job) for job in found["jobs"]
        }
        return jobs, found["drivelab"]

    jobs, own = errors_of(*worn)
    first, second, last = own["groups"]
    assert jobs["w"] == (errno.EPERM, first["refused_commands"], errno.EPERM)
    # Two at a time: which of them had how many, nobody can tell.
    assert jobs["v"] == (errno.EPERM, None, errno.EPERM)
    assert second["read_errors"] > 0
    assert jobs["r"] == (errno.EIO, None, errno.EIO)
    assert jobs["s"] == (errno.EIO, last["read_errors"], errno.EIO)
    assert set(errors_of()[0].values()) == {(0,)}
