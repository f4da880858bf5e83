"""Sweeps: a row for every combination, which is the run of its drive."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab.sample import DRIVE, GRID, JOB, half_written, swept

import drivelab as dl
from drivelab import cli
from drivelab.lab import workers as processes
from drivelab.states import STATES


@pytest.fixture(scope="module")
def alone() -> dl.Study:
    return swept(workers=1)


def test_a_row_for_every_combination(alone: dl.Study) -> None:
    frame = alone.frame()
    assert frame.select(pl.col("spare_ratio"), pl.col("job.iodepth")).rows() == [
        (0.07, 1),
        (0.07, 32),
        (0.28, 1),
        (0.28, 32),
    ]
    assert frame["write_amplification"][0] > frame["write_amplification"][2]
    assert frame["iops"][1] > frame["iops"][0]


def test_a_point_is_the_run_of_its_drive(alone: dl.Study) -> None:
    drive = dl.Drive("intel-x25-m-g1-80gb", {"spare_ratio": 0.28}, scale="1/64")
    found = drive.prepare("filled", progress=False).run(
        JOB.with_options(iodepth=32), progress=False
    )
    assert found.report == alone[3].report


def test_any_number_of_workers_gives_the_same(alone: dl.Study) -> None:
    assert swept(workers=2).frame().equals(alone.frame())


def test_as_many_processes_as_drives_fit_into_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measure(_team: Any, _missing: Any, _take: Any, workers: int, *_: Any) -> None:
        asked.append(workers)
        raise dl.WorkError("enough")

    monkeypatch.setattr(processes.Team, "measure", measure)
    monkeypatch.setattr(processes.Team, "start", lambda *_: None)
    monkeypatch.setattr("drivelab.lab.sweep._processors", lambda: 4)
    one = 2 * DRIVE.model.memory_bytes
    rooms: list[dict[str, Any]] = [{}, {"memory": 3 * one}, {"memory": "1k"}, {"workers": 8}]
    for options in [*rooms, {"workers": 8, "memory": 5 * one}]:
        with pytest.raises(dl.WorkError):
            swept(grid={"job.iodepth": [1, 2, 3, 4]}, **options)
    assert asked == [4, 3, 1, 8, 5]


@pytest.mark.parametrize("memory", ["0", "4q", "-1"])
def test_room_for_drives_is_a_size(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["sweep", str(tmp_path / "none.toml"), "--memory", memory]) == 2
    assert f'--memory "{memory}": allowed: ' in capsys.readouterr().err


def test_values_that_go_together_and_points_one_by_one() -> None:
    study = dl.sweep(
        DRIVE,
        {"job.bs, job.iodepth": [("4k", 32), ("64k", 1)]},
        points=[{"spare_ratio": 0.07}, {"spare_ratio": 0.28}],
        job=JOB.with_options(io_size="1m"),
        progress=False,
        workers=1,
    )
    assert study.keys == ("spare_ratio", "job.bs", "job.iodepth")
    assert study.frame().select(study.keys).rows() == [
        (0.07, "4k", 32),
        (0.07, "64k", 1),
        (0.28, "4k", 32),
        (0.28, "64k", 1),
    ]
    assert len(study.where({"job.bs": 65536})) == 2


def test_a_value_is_found_in_any_notation_of_its_own_kind() -> None:
    """Of a size "1m" is a mebibyte, of a time a minute."""
    job = dl.Job(rw="randwrite", bs="4k")
    grid = {"job.io_size": ["1m", "2m"], "job.thinktime": ["1m", "0"]}
    study = dl.sweep(DRIVE, grid, job=job, progress=False, workers=1)
    for said in ("1m", "1024k", 1048576):
        assert len(study.where({"job.io_size": said})) == 2
    for said in ("1m", "60s", "0:01:00"):
        assert len(study.where({"job.thinktime": said})) == 2
    for key, said in (("job.io_size", "60s"), ("job.thinktime", "1024k")):
        with pytest.raises(dl.RequestError, match=f"{key} = '{said}' was not measured"):
            study.where({key: said})


def test_seeds_are_repeats_that_somebody_chose() -> None:
    job = JOB.with_options(io_size="8m")
    chosen = dl.sweep(DRIVE, {"seed": [1, 7]}, job=job, progress=False, workers=1)
    alone = dl.sweep(DRIVE.with_seed(7), {"seed": [7]}, job=job, progress=False, workers=1)
    assert chosen.keys == ()
    assert chosen.frame()["seed"].to_list() == [1, 7]
    assert chosen[1].report == alone[0].report
    assert chosen.means("iops")["repeats"].to_list() == [2]


def test_repeats_have_their_own_seeds_and_an_interval() -> None:
    study = dl.sweep(
        DRIVE, {"job.iodepth": [1, 8]}, job=JOB, state="filled", repeats=3, progress=False
    )
    assert study.frame()["seed"].n_unique() == 3
    means = study.means("iops")
    assert means["repeats"].to_list() == [3, 3]
    assert (means["low"] < means["iops"]).all()
    assert (means["iops"] < means["high"]).all()
    assert study.means("erases").height == 2


def test_a_worker_that_dies_costs_its_point_only(
    alone: dl.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drivelab.lab import workers

    killed: list[int] = []
    send = workers.Worker._send

    def once(self: workers.Worker, point: Any, is_alone: bool) -> None:
        send(self, point, is_alone)
        if not killed:
            assert self._process is not None
            killed.append(self._process.pid)
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()

    monkeypatch.setattr(workers.Worker, "_send", once)
    assert swept(workers=2).frame().equals(alone.frame())
    assert killed


def test_a_point_that_ends_every_worker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from drivelab.lab import workers

    monkeypatch.setattr(workers.Worker, "_heard", lambda *_: None)
    with pytest.raises(dl.WorkError, match=r"3 workers died of this point.*workers=1"):
        swept(workers=1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"grid": {"spare_ratoi": [1]}}, "did you mean spare_ratio"),
        ({"grid": {"spare_ratio": []}}, "spare_ratio: the list of values is empty"),
        ({"grid": {"spare_ratio": 0.1}}, "give a list of values"),
        ({"grid": {"job.deth": [1]}}, 'job option "deth" is not supported'),
        ({"grid": {"job.bs": ["4k", "5q"]}}, "bs=5q is not possible"),
        ({"grid": {"job.size": ["1%", "9t"]}}, "leave the drive"),
        ({"grid": {"state": ["new", "usd"]}, "state": None}, 'did you mean "used"'),
        ({"grid": {"state": ["new"]}}, "once is allowed"),
        ({"grid": {"spare_ratio": [0.1, 0.1]}}, "0.1 is there twice"),
        ({"grid": {"iodepth": [1]}}, 'its key is "job.iodepth"'),
        (
            {"grid": {"seed": [1, 2]}, "repeats": 2},
            "seed: it is in the grid",
        ),
        ({"grid": {"seed": [-1]}}, "seed = -1: allowed: whole numbers from 0"),
        ({"grid": {"job.bs, seed": [("4k", 1)]}}, 'give "seed" a list of its own'),
        ({"grid": {"job.bs": [4096, "4k"]}}, "job.bs: 4096 and '4k' are one value"),
        ({"grid": {"spare_ratio": [0.1, "0.10"]}}, "0.1 and '0.10' are one value"),
        ({"grid": {"job.bs, job.iodepth": [("4k",)]}}, "allowed: 2 values, one of each key"),
        ({"grid": None}, "give a grid"),
        ({"grid": {}}, "give a grid"),
        ({"state": ""}, "state = '': allowed: a text, and not an empty one"),
        (
            {"grid": {"state": ["used", replace(STATES["new"], name="used")]}, "state": None},
            'state: two of them are named "used"',
        ),
        ({"points": [{"spare_ratio": 0.1}]}, '"spare_ratio" is varied in two places'),
        (
            {"grid": {"spare_ratio": [0.1], "user_capacity_bytes": [60 * 10**9]}},
            '"spare_ratio" and "user_capacity_bytes" say the same thing',
        ),
        ({"points": [{"user_capacity_bytes": 60 * 10**9}]}, '"spare_ratio" say the same thing'),
        ({"grid": {"job.bs": ["4k", "64k"], "job.blocksize": ["8k"]}}, "say the same thing"),
        ({"grid": {"job.rwmixread": [20], "job.rwmixwrite": [50]}}, "say the same thing"),
        ({"grid": {"job.bs, job.bs": [("4k", "8k")]}}, '"job.bs" is varied in two places'),
        ({"points": [{"job.bs": "4k"}, {"bs": 1}]}, "point 2: bs, job.bs: every point needs"),
        ({"points": [{"job.bs": "4k"}, {"job.bs": "4k"}]}, "point 2: it is there twice"),
        ({"points": []}, "points: the list is empty"),
        ({"repeats": 0}, "repeats = 0: allowed: whole numbers from 1 to 1000"),
        ({"workers": 0}, "workers = 0: allowed: whole numbers from 1 to 64"),
        ({"memory": "0"}, 'memory "0": allowed: from 1 byte on'),
        ({"memory": 0}, 'memory "0": allowed: from 1 byte on'),
        ({"memory": "4q"}, 'memory "4q": allowed: a number of bytes'),
        ({"memory": 1.5}, "memory = 1.5: allowed: a number of bytes"),
        ({"memory": "1g", "scheduler": "tcp://a:1"}, 'memory "1g": a cluster counts its own'),
        ({"store": "/proc/none/study"}, "can't be opened"),
        ({"job": "w"}, "job = 'w': allowed: a drivelab.Job"),
        ({"drive": DRIVE.in_state("filled")}, "has a past already"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    options: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drivelab.lab import workers

    monkeypatch.setattr(workers.Worker, "_send", lambda *_: pytest.fail("something ran"))
    given: dict[str, Any]
    given = {"drive": DRIVE, "grid": GRID, "job": JOB, "state": "filled", "progress": False}
    with pytest.raises(dl.RequestError) as caught:
        dl.sweep(**(given | options))
    assert told in str(caught.value)


def test_states_of_ones_own_are_told_apart_by_name() -> None:
    job = JOB.with_options(io_size="64k")
    states = {"state": ["new", half_written]}
    for varied in ({"grid": states}, {"points": [{"state": state} for state in states["state"]]}):
        study = dl.sweep(DRIVE, **varied, job=job, workers=1, progress=False)
        frame = study.frame()
        assert frame["state"].to_list() == ["new", "half-written"]
        assert study.means("iops")["state"].to_list() == ["new", "half-written"]
        assert len(study.where({"state": half_written})) == 1
        [found] = study.where({"state": "half-written"})
        alone = DRIVE.prepare(half_written, progress=False).run(job, progress=False)
        assert found.report == alone.report


def test_plots_show_what_was_varied(alone: dl.Study, tmp_path: Path) -> None:
    chart = alone.plot("spare_ratio", "write_amplification", hue="job.iodepth")
    assert chart.spec["encoding"]["x"]["axis"]["title"] == "spare_ratio"
    assert [name for name, _ in chart.series] == ["1", "32"]
    # Marks of times are written with their unit, in ms here: a title in us would contradict them.
    upright = alone.plot("spare_ratio", "latency_mean_us", hue="job.iodepth").spec["encoding"]["y"]
    assert upright["axis"]["title"] == "latency_mean"
    assert "' ms'" in upright["axis"]["labelExpr"]
    assert chart.save(tmp_path / "plot.png").stat().st_size > 10_000
    panels = alone.plot("spare_ratio", "iops")
    assert panels.spec["facet"]["sort"] == ["job.iodepth 1", "job.iodepth 32"]
    for depth in (1, 32):
        shown = [row["y"] for row in panels.rows() if row["panel"] == f"job.iodepth {depth}"]
        whole = alone.where({"job.iodepth": depth}).frame()["iops"].to_list()
        assert shown == pytest.approx(whole, rel=1e-4)
    assert ">job.iodepth 32<" in panels.save(tmp_path / "panels.svg").read_text("utf-8")
    assert "facet" not in alone.where({"job.iodepth": 32}).plot("spare_ratio", "iops").spec
    with pytest.raises(dl.RequestError, match=r"job\.iodepth = 3 was not measured.*1, 32"):
        alone.where({"job.iodepth": 3})
    with pytest.raises(dl.RequestError, match='"spare" was not varied; did you mean "spare_ratio"'):
        alone.plot("spare", "iops")
    with pytest.raises(dl.RequestError, match='"iop" is not measured; did you mean "iops"'):
        alone.means("iop")
    with pytest.raises(dl.RequestError, match="nothing tells the unmapped_read_share"):
        alone.plot("spare_ratio", "unmapped_read_share")
    with pytest.raises(IndexError, match=r"study\[99\]: there are \d+ points"):
        alone[99]


def test_reads_and_writes_are_two_lines() -> None:
    study = dl.sweep(
        DRIVE,
        {"spare_ratio": [0.07, 0.28]},
        job=dl.Job(rw="randrw", bs="4k", io_size="8m"),
        progress=False,
    )
    frame = study.frame()
    assert frame["model"].unique().to_list() == ["intel-x25-m-g1-80gb"]
    assert frame["state"].unique().to_list() == ["new"]
    chart = study.plot("spare_ratio", "iops", hue="direction")
    assert [name for name, _ in chart.series] == ["read", "write"]
    assert chart.title == "Intel X25-M G1 80 GB (1/64), new"
    # Only writes have one.
    assert len(study.plot("spare_ratio", "write_amplification").rows()) == 2


def test_models_are_an_axis_and_keep_what_was_changed() -> None:
    grid = {"model": ["intel-x25-m-g2-80gb", "ocz-vertex-120gb"], "spare_ratio": [0.1, 0.2]}
    job = JOB.with_options(io_size="1m")
    study = dl.sweep(DRIVE, grid, job=job, state="filled", workers=1, progress=False)
    other = dl.Drive("ocz-vertex-120gb", {"spare_ratio": 0.2}, scale="1/64")
    found = other.prepare("filled", progress=False).run(job, progress=False)
    assert study[3].report == found.report
    assert study.frame()["model"].unique(maintain_order=True).to_list() == grid["model"]
    with pytest.raises(dl.RequestError, match='model "ocz-vertx-120gb" is unknown'):
        dl.sweep(DRIVE, {"model": ["ocz-vertx-120gb"]}, job=job, progress=False)
