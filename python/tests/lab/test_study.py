"""What a study says of itself: shares, a page, files, arrays."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import drawn
import numpy as np
import polars as pl
import pytest

import drivelab as dl
from drivelab import cli
from drivelab.lab.sensitivity import levels, sensitivity, share
from drivelab.lab.study_plots import PANELS_MAX

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
JOB = dl.Job(rw="randrw", bs="4k", io_size="4m")


@pytest.fixture(scope="module")
def study() -> dl.Study:
    grid = {"spare_ratio": [0.07, 0.28], "ftl.victim_selection": ["greedy", "fifo"], "seed": [1, 2]}
    return dl.sweep(DRIVE, grid, job=JOB, state="filled", workers=1, progress=False)


def table(metric: list[float], **keys: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"direction": "write", **keys, "y": metric}, strict=False)


def test_shares_of_a_sum_are_those_of_its_terms() -> None:
    # y = a + 3b with a, b in {0, 1}: variances 1/4 and 9/4.
    both = list(itertools.product([0, 1], [0, 1]))
    frame = table([a + 3 * b for a, b in both], a=[a for a, _ in both], b=[b for _, b in both])
    found = sensitivity(frame, ["a", "b"], ["y"])
    assert found["share"].to_list() == pytest.approx([0.1, 0.9])
    assert found["mean_min"].to_list() == [1.5, 0.5]
    assert found["mean_max"].to_list() == [2.5, 3.5]


def test_interplay_is_nobody_s_share() -> None:
    both = list(itertools.product([0, 1], [0, 1]))
    frame = table([float(a ^ b) for a, b in both], a=[a for a, _ in both], b=[b for _, b in both])
    assert sensitivity(frame, ["a", "b"], ["y"])["share"].to_list() == [0.0, 0.0]
    assert share([2.0, 2.0], [0, 1]) is None


def test_many_numbers_are_cut_into_bins_in_their_order() -> None:
    values = np.random.default_rng(1).permutation(128).tolist()
    found = levels(values)
    assert sorted(zip(values, found, strict=True)) == [(v, v * 8 // 128) for v in range(128)]
    assert levels(["b", "a", "b"]) == [0, 1, 0]
    assert levels([3, 1, 2]) == [2, 0, 1]


def test_the_page_shows_every_share_and_every_point(study: dl.Study, tmp_path: Path) -> None:
    text = study.report(tmp_path / "study.html").read_text(encoding="utf-8")
    found = study.sensitivity()
    for row in found.filter(pl.col("share").is_not_null()).rows(named=True):
        assert f">{100 * row['share']:.0f} %<" in text
    plots = drawn.on_page(text)
    # Of reads and of writes all points across all axes, and each metric over each parameter.
    assert len(plots) == 2 + found.height
    assert all(f'id="{name}"' in text for name in plots)
    first = plots["write-0-0"]
    assert drawn.column(first, "s").count("points") == study.frame().height // 2
    points = text.rpartition("<h2>Points</h2>")[2]
    assert points.count("<tr>") == 1 + study.frame().height
    # It needs nothing beside it, and is the same every time.
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*', text) == []
    assert study.report(tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "s.toml", tmp_path / "s.html"
    file.write_text(
        'drive = "intel-x25-m-g1-80gb"\nscale = "1/128"\n[job]\nrw = "randwrite"\nbs = "4k"\n'
        'io_size = "1m"\n[grid]\njob.iodepth = [1, 32]\n',
        encoding="utf-8",
    )
    assert cli.run(["sweep", str(file), "--html", str(page)]) == 0
    assert f"Written: {page}" in capsys.readouterr().err
    assert "job.iodepth (2 values)" in page.read_text(encoding="utf-8")
    assert cli.run(["sweep", str(file), "--html", str(tmp_path / "no" / "s.html")]) == 2
    for option, name, ending in (("--csv", "x.parquet", ".csv"), ("--html", "x.txt", ".html")):
        capsys.readouterr()
        assert cli.run(["sweep", str(file), option, str(tmp_path / name)]) == 2
        assert f'{name}": allowed: a name that ends in {ending}' in capsys.readouterr().err
        assert not (tmp_path / name).exists()
    only = file.read_text(encoding="utf-8").replace("job.iodepth", "seed")
    file.write_text(only, encoding="utf-8")
    assert cli.run(["sweep", str(file), "--html", str(page)]) == 2
    assert "nothing is varied but seeds" in capsys.readouterr().err


def test_a_file_of_parquet_is_the_frame(study: dl.Study, tmp_path: Path) -> None:
    assert pl.read_parquet(study.to_parquet(tmp_path / "s.parquet")).equals(study.frame())
    with pytest.raises(dl.RequestError, match="can't write there"):
        study.to_parquet(tmp_path / "no" / "s.parquet")
    with pytest.raises(dl.RequestError, match=r'to_parquet\(\) ".*s\.csv": .* ends in \.parquet'):
        study.to_parquet(tmp_path / "s.csv")
    with pytest.raises(dl.RequestError, match=r"ends in \.html or \.htm"):
        study.report(tmp_path / "s.parquet")
    assert list(tmp_path.glob("s.*")) == [tmp_path / "s.parquet"]


def test_arrays_hold_every_number_at_its_place(study: dl.Study) -> None:
    found = study.to_xarray()
    assert dict(found.sizes) == {
        "spare_ratio": 2,
        "ftl.victim_selection": 2,
        "direction": 2,
        "repeat": 2,
    }
    for row in study.frame().rows(named=True):
        place = {name: row[name] for name in found.sizes}
        assert found["iops"].sel(place).item() == row["iops"]


def test_samples_are_a_list_of_points() -> None:
    points = dl.samples({"spare_ratio": (0.07, 0.5), "job.iodepth": (1, 32)}, 8)
    job = JOB.with_options(rw="randwrite", io_size="256k")
    found = dl.sweep(DRIVE, points=points, job=job, workers=1, progress=False)
    arrays = found.to_xarray()
    assert dict(arrays.sizes) == {"point": 8}
    assert arrays["iops"].to_numpy().tolist() == found.frame()["iops"].to_list()


def test_more_panels_than_one_can_look_at_are_refused() -> None:
    grid = {"job.iodepth": list(range(1, PANELS_MAX + 2)), "spare_ratio": [0.1]}
    job = dl.Job(rw="read", bs="4k", io_size="64k")
    found = dl.sweep(DRIVE, grid, job=job, workers=1, progress=False)
    with pytest.raises(dl.RequestError, match=f"job.iodepth has more than {PANELS_MAX} values"):
        found.plot("spare_ratio", "iops")


def test_without_xarray_it_says_what_to_install(
    study: dl.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(dl.RequestError, match=r"drivelab\[xarray\]"):
        study.to_xarray()


def test_a_study_shows_what_was_varied_and_measured(study: dl.Study) -> None:
    shown = repr(study)
    assert shown.startswith("<Study of 8 points: Intel X25-M G1 80 GB (1/128), filled, 2 repeats")
    for name in ("spare_ratio", "ftl.victim_selection", "repeat", "direction", "iops"):
        assert name in shown
    assert [note for note in study.notes if "such notes" in note]


def test_both_ends_of_the_frame_are_what_was_varied_and_what_came_of_it(study: dl.Study) -> None:
    """polars prints four columns of either end, and a reader prints the frame first."""
    columns = study.frame().columns
    assert columns[:4] == ["spare_ratio", "ftl.victim_selection", "direction", "repeat"]
    assert columns[-4:] == ["iops", "latency_mean_us", "latency_p99_us", "write_amplification"]
    # What is varied is there once, be it the model or the state.
    grid = {"model": ["intel-x25-e-32gb"], "state": ["new"], "job.iodepth": [1]}
    job = dl.Job(rw="randread", bs="4k", io_size="64k")
    found = dl.sweep(DRIVE, grid, job=job, workers=1, progress=False).frame()
    assert found.columns[:4] == ["model", "state", "job.iodepth", "direction"]
    assert sorted(found.columns) == sorted({*columns, *grid} - {*columns[:2]})
