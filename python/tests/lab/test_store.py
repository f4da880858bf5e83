"""A store says in SQL what its points measured, and how that went over time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import drivelab as dl
from drivelab.lab import store_tables
from drivelab.lab.store import merge

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
GRID: dict[str, list[Any]] = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 32]}
MIXED = dl.Job(rw="randrw", bs="4k", io_size="8m", log_avg_msec=100)


def swept(place: Path, grid: dict[str, list[Any]] = GRID, **options: Any) -> dl.Study:
    return dl.sweep(
        DRIVE, grid, job=MIXED, store=place, state="filled", workers=1, progress=False, **options
    )


def asked(place: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(place / "study.duckdb"), read_only=True) as file:
        return file.execute(query).fetchall()


def held(place: Path, study: dl.Study) -> None:
    """What SQL says of every point is what its result says, to the bit."""
    for result in study:
        model = result.before.model.hash
        depth = result.jobs[0].record()["options"]["iodepth"]
        found = (
            f"FROM points JOIN # USING (key) WHERE model_hash = '{model}' "
            f"AND (job->>'$.options.iodepth') = '{depth}' ORDER BY #.rowid"
        )
        for table, frame in (("metrics", result.summary), ("series", result.series)):
            columns = [name for name in frame.columns if name != "job"]
            rows = asked(place, f"SELECT {', '.join(columns)} {found.replace('#', table)}")
            assert rows == frame.select(columns).rows()
        (whole, *others) = asked(
            place, f"SELECT duration_s, energy_j {found.replace('#', 'metrics')}"
        )
        assert whole == (result.totals["duration_s"], result.totals["energy_j"])
        assert others == [whole], "reads and writes: the drive is one"


def test_metrics_and_series_are_those_of_the_results(tmp_path: Path) -> None:
    study = swept(tmp_path)
    held(tmp_path, study)
    (rows,) = asked(tmp_path, "SELECT count(*) FROM series")
    assert rows[0] == sum(result.series.height for result in study) > 2 * len(study)


def test_points_that_come_later_are_told_too(tmp_path: Path) -> None:
    swept(tmp_path, {"spare_ratio": [0.07], "job.iodepth": [1, 32]})
    held(tmp_path, swept(tmp_path))


def test_what_was_interrupted_is_told_by_who_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("drivelab.lab.store.Store.tell", lambda _: None)
        patched.setattr("drivelab.lab.store._tell_rest", lambda _: None)
        swept(tmp_path)
    with pytest.raises(duckdb.CatalogException):
        asked(tmp_path, "SELECT * FROM metrics")
    held(tmp_path, swept(tmp_path))


def test_tables_of_another_version_are_filled_anew(tmp_path: Path) -> None:
    swept(tmp_path, {"spare_ratio": [0.07], "job.iodepth": [1, 32]})
    with duckdb.connect(str(tmp_path / "study.duckdb")) as file:
        file.execute("ALTER TABLE metrics DROP COLUMN erases")
        file.execute("ALTER TABLE series ADD COLUMN later DOUBLE")
    held(tmp_path, swept(tmp_path))
    (columns,) = asked(
        tmp_path,
        "SELECT count(*) FROM information_schema.columns WHERE column_name = 'later'",
    )
    assert columns == (0,)


def test_merged_stores_tell_of_all_their_points(tmp_path: Path) -> None:
    stores = [tmp_path / "1", tmp_path / "2"]
    for index, store in enumerate(stores):
        swept(store, shard=f"{index + 1}/2")
    merge(stores, tmp_path / "all")
    held(tmp_path / "all", swept(tmp_path / "all"))


def test_unfinished_batches_leave_no_row_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drivelab.lab.store_tables.BATCH", 3)
    monkeypatch.setattr("drivelab.lab.store.UNTOLD_MAX", 4)
    study = swept(tmp_path)
    held(tmp_path, study)
    keys = asked(tmp_path, "SELECT key, direction FROM metrics")
    assert len(set(keys)) == len(keys) == 2 * len(study)


def test_points_are_said_in_sql_while_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drivelab.lab.store.UNTOLD_MAX", 2)
    told: list[int] = []
    add = store_tables.add

    def counted(connection: duckdb.DuckDBPyConnection, reports: dict[str, Any]) -> None:
        add(connection, reports)
        told.append(len(reports))

    monkeypatch.setattr(store_tables, "add", counted)
    # What is kept is not read and parsed again.
    monkeypatch.setattr(store_tables, "from_json", None)
    points = len(swept(tmp_path))
    assert told[:-1] == [2] * (points // 2)


def test_points_stay_where_saying_them_in_sql_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("drivelab.lab.store.UNTOLD_MAX", 2)

        def failing(*_: object) -> None:
            raise duckdb.ConversionException("no")

        patched.setattr("drivelab.database.insert", failing)
        with pytest.raises(duckdb.ConversionException):
            swept(tmp_path)
    (kept,) = asked(tmp_path, "SELECT count(*) FROM points")
    assert kept[0] >= 2
    held(tmp_path, swept(tmp_path))


def test_the_queries_of_the_docs_answer(tmp_path: Path) -> None:
    study = swept(tmp_path)
    page = Path(__file__).parents[3] / "docs" / "study.md"
    queries = re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    best, over_time = (asked(tmp_path, query) for query in queries)
    writes = study.frame().filter(pl.col("direction") == "write").sort("iops", descending=True)
    told = ("spare_ratio", "job.iodepth", "iops", "latency_p99_us", "write_amplification")
    assert [(spare, int(depth), *row) for spare, depth, *row in best] == (
        writes.select(told).rows()
    )
    columns = ("time_s", "write_amplification", "free_blocks", "cleaning_share")
    assert over_time == [
        (spare, *row)
        for spare in GRID["spare_ratio"]
        for result in study.where({"spare_ratio": spare, "job.iodepth": 32})
        for row in result.series.filter(pl.col("direction") == "write").select(columns).rows()
    ]
