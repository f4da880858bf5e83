"""Results read back as tables, and side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import documents
import drawn
import polars as pl
import pytest
from small import MODEL_NAME, OVERRIDES, SETS

import drivelab as dl
from drivelab import cli, database, report
from drivelab.database import Recorded
from drivelab.estimates import estimate

JOB = dl.Job(rw="randwrite", bs="4k", iodepth=8, io_size="16m", norandommap=True, name="w")


def written(folder: Path, document: documents.Record) -> Path:
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    document = documents.review(
        documents.stream("a", rate=10.0), documents.stream("a", "used", rate=5.0)
    )
    return written(tmp_path / "slow", document)


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    document = documents.review(
        documents.stream("b", rate=20.0), documents.stream("b", "used", rate=5.05)
    )
    return written(tmp_path / "fast", document)


def test_a_folder_a_file_and_a_database_hold_the_same(slow: Path) -> None:
    found = dl.read(slow)
    assert found.kind == "review"
    assert found.measurements["mib_per_s"].to_list() == [10.0, 5.0]
    assert found.tests["state"].to_list() == ["new", "used"]
    document = json.loads((slow / "results.json").read_text(encoding="utf-8"))
    database.append(slow / "all.duckdb", Recorded.review(document))
    for other in (slow / "results.json", f"{slow}/all.duckdb", f"{slow}/all.duckdb:1"):
        again = dl.read(other)
        assert again.tables.keys() == found.tables.keys()
        assert again.tests.equals(found.tests)
        assert again.measurements.equals(found.measurements)
        assert again.percentiles.equals(found.percentiles)
    assert found.points.is_empty()
    assert "tests" in repr(found)
    with pytest.raises(dl.RequestError, match=r'table "test" isn\'t there; did you mean "tests"'):
        _ = found.tables["test"]
    assert "<table" in found._repr_html_()


def test_a_table_without_rows_has_its_columns(slow: Path, tmp_path: Path) -> None:
    compound = dl.read(written(tmp_path / "c", documents.review(documents.compound("a"))))
    assert compound.values.height > 0
    assert (compound.measurements.height, dl.read(slow).values.height) == (0, 0)
    assert compound.measurements.schema == dl.read(slow).measurements.schema
    assert dl.read(slow).values.schema == compound.values.schema
    assert compound.measurements.filter(pl.col("mib_per_s") > 1).is_empty()


def test_a_review_that_is_read_draws_what_its_page_draws(slow: Path, tmp_path: Path) -> None:
    found = dl.read(slow)
    document = json.loads((slow / "results.json").read_text(encoding="utf-8"))
    assert found.plots.keys() >= drawn.on_page(report.render(document)).keys() > set()
    with pytest.raises(dl.RequestError, match=r'plot "latency-9" isn.* There are: .*latency-0-0'):
        _ = found.plots["latency-9"]
    assert found.plots["latency-0-0"].save(tmp_path / "a.svg").stat().st_size > 1000


def test_a_run_is_read_from_the_database_that_it_was_recorded_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=randread\nsize=1m\n", encoding="utf-8")
    words = ["run", str(tmp_path / "job.fio"), "--drive", MODEL_NAME, *SETS]
    assert cli.run([*words, "--database", str(tmp_path / "runs.duckdb"), "--json"]) == 0
    [job] = json.loads(capsys.readouterr().out)["jobs"]
    found = dl.read(tmp_path / "runs.duckdb")
    assert found.kind == "run"
    assert found.measurements["iops"].to_list() == [job["read"]["iops"]]
    with pytest.raises(dl.RequestError, match="a run has no page"):
        _ = found.plots


def test_a_study_is_read_from_its_store(tmp_path: Path) -> None:
    grid = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 4]}
    drive = dl.Drive(MODEL_NAME, scale="1/128")
    study = dl.sweep(drive, grid, job=JOB, workers=1, store=tmp_path / "s", progress=False)
    found = dl.read(tmp_path / "s")
    assert found.kind == "study"
    keys = ["spare_ratio", "job.iodepth"]
    ours = found.points.select(*keys, "seed", "iops", "latency_p99_us").sort(keys)
    theirs = study.frame().select(*keys, "seed", "iops", "latency_p99_us").sort(keys)
    assert ours.rows() == theirs.rows()
    assert dl.read(tmp_path / "s" / "study.duckdb").points.equals(found.points)
    with pytest.raises(dl.RequestError, match="a study is points"):
        dl.compare(found, found)


def test_who_hands_a_studys_store_to_another_command_is_told_what_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drive, folder = dl.Drive(MODEL_NAME, scale="1/128"), tmp_path / "s"
    dl.sweep(drive, {"job.iodepth": [1]}, job=JOB, workers=1, store=folder, progress=False)
    for words in (["compare", folder, folder], ["export", folder, "--json", "-"], ["runs", folder]):
        assert cli.run([str(word) for word in words]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert f"`drivelab sweep SWEEP.toml --store {folder / 'study.duckdb'}" in line
        assert "drivelab.read()" in line


@pytest.mark.parametrize("made", [True, False])
def test_a_table_is_no_store(tmp_path: Path, made: bool) -> None:
    place = tmp_path / "study.csv"
    if made:
        place.touch()
    drive = dl.Drive(MODEL_NAME, scale="1/128")
    with pytest.raises(dl.RequestError, match=r'study\.csv": it keeps the results of a sweep'):
        dl.sweep(drive, {"job.iodepth": [1]}, job=JOB, workers=1, store=place, progress=False)
    assert place.is_file() == made


@pytest.mark.parametrize("name", ["nothing", "text.txt", "empty", "other.duckdb", "broken.json"])
def test_what_holds_no_results_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.txt").write_text("text", encoding="utf-8")
    (tmp_path / "other.duckdb").write_bytes(b"no database")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(dl.RequestError, match=name):
        dl.read(tmp_path / name)


def test_differences_are_in_percent_of_the_first(slow: Path, fast: Path) -> None:
    found = dl.compare(slow, fast)
    frame = found.frame()
    rate = frame.filter(pl.col("metric") == "mib_per_s").sort("state")
    assert rate["percent"].to_list() == pytest.approx([100.0, 1.0])
    assert rate["first"].to_list() == [10.0, 5.0]
    assert rate["better"].to_list() == ["higher", "higher"]
    # One percent is none.
    assert rate["differs"].to_list() == [True, False]
    assert rate["is_better"].to_list() == [True, None]
    mean = frame.filter(metric="mean_us", state="new")
    assert mean["percent"].item() == pytest.approx(-50.0)
    assert (mean["better"].item(), mean["is_better"].item()) == ("lower", True)
    back = dl.compare(fast, slow).frame().filter(metric="mib_per_s", state="new")
    assert (back["percent"].item(), back["is_better"].item()) == (pytest.approx(-50.0), False)
    assert found.drives["drive"].to_list() == ["A", "B"]
    assert dl.compare(dl.read(slow), str(fast)).frame().equals(frame)
    assert "B: " in repr(found)
    assert found.findings


def test_intervals_of_repeats_bound_the_difference(tmp_path: Path) -> None:
    folders, estimates = [], []
    for name, values in (("one", [9.5, 10.0, 10.5]), ("other", [19.0, 20.0, 21.0])):
        found = estimate(values)
        repeats = {"mib_per_s": found.record()}
        document = documents.review(documents.stream("a", rate=values[1], repeats=repeats))
        document["drivelab"]["repeats"] = {"count": 3, "seeds": [1, 2, 3]}
        folders.append(written(tmp_path / name, document))
        estimates.append(found)
    row = dl.compare(*folders).frame().filter(metric="mib_per_s").row(0, named=True)
    first, second = estimates
    assert row["first_plus_minus"] == pytest.approx(first.high - 10)
    assert row["plus_minus"] == pytest.approx(second.high - 20)
    assert row["percent_low"] == pytest.approx(100 * (second.low / first.high - 1))
    assert row["percent_high"] == pytest.approx(100 * (second.high / first.low - 1))


def test_runs_of_scripts_are_compared_as_they_are() -> None:
    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES)).prepare("filled", progress=False)
    faster = dl.Drive(MODEL_NAME, dict(OVERRIDES) | {"flash.program_fast_ns": 400_000})
    results = [
        one.run(JOB, progress=False) for one in (drive, faster.prepare("filled", progress=False))
    ]
    frame = dl.compare(*results).frame()
    row = frame.filter(metric="iops").row(0, named=True)
    assert row["first"] == results[0].summary["iops"].item()
    assert row["value"] == results[1].summary["iops"].item()
    assert row["percent"] == pytest.approx(100 * (row["value"] / row["first"] - 1))
    assert (row["test"], row["state"]) == ("run w write", "filled")


def test_of_jobs_without_names_each_is_compared_with_its_own_kind() -> None:
    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES)).prepare("filled", progress=False)
    writes = dl.Job(rw="randwrite", bs="4k", io_size="1m")
    results = [
        drive.run(writes, dl.Job(rw="randread", bs=bs, io_size="1m"), progress=False)
        for bs in ("4k", "64k")
    ]
    found = dl.compare(*results)
    # The reads aren't the same requests, the writes are.
    assert set(found.frame()["test"]) == {"run job write"}
    assert any(note.startswith("job #2, read") and "options" in note for note in found.notes)


def test_what_can_not_be_compared_is_refused(slow: Path) -> None:
    with pytest.raises(dl.RequestError, match="two drives at least"):
        dl.compare(slow)
    with pytest.raises(dl.RequestError, match="what read\\(\\) gives"):
        dl.compare(slow, 3)  # type: ignore[arg-type]


def test_a_refusal_says_how_a_script_compares_all_the_same(tmp_path: Path) -> None:
    """--force is the command line's word: a script that follows it fails again."""
    folders = [
        written(tmp_path / name, documents.review(documents.stream(name, data=data)))
        for name, data in (("a", "random"), ("b", "repeating"))
    ]
    with pytest.raises(dl.RequestError, match="\nforce=True compares them all the same") as no:
        dl.compare(*folders)
    assert "--force" not in str(no.value)
    assert dl.compare(*folders, force=True).frame().height


def test_compare_is_a_function_whatever_was_imported_before(slow: Path, fast: Path) -> None:
    """A package of the name would take its place as soon as something loads it."""
    for first in (
        "",
        "import drivelab.comparison.page\n",
        "from drivelab.commands import compare\n",
    ):
        script = (
            f"{first}import drivelab as dl\n"
            "found = [dl.compare(*files).frame() for _ in range(2) for files in [FILES]]\n"
            "assert type(dl.compare).__name__ == 'function'\n"
            "print(found[0].equals(dl.compare(*FILES).frame()))\n"
        ).replace("FILES", repr([str(slow), str(fast)]))
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == ("True\n", "")
