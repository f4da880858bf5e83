from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import drivelab as dl
from drivelab import cli
from drivelab.lab.axes import varied
from drivelab.lab.points import Point, points
from drivelab.lab.shards import part
from drivelab.lab.store import merge

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
JOB = dl.Job(rw="randwrite", bs="4k", io_size="2m")
GRID = {"spare_ratio": [0.07, 0.14, 0.28], "job.iodepth": [1, 2, 4, 8]}


def found() -> list[Point]:
    return points(DRIVE, varied(GRID, None), JOB, "new", 1)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_shards_are_disjoint_complete_and_balanced(count: int) -> None:
    parts = [[p.key for p in part(found(), f"{k + 1}/{count}")] for k in range(count)]
    assert sorted(key for own in parts for key in own) == sorted(p.key for p in found())
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_points_of_one_drive_stay_together() -> None:
    for k in range(3):
        assert len({point.drive.key for point in part(found(), f"{k + 1}/3")}) == 1


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "", "1/13"])
def test_what_is_no_shard_is_refused(shard: str) -> None:
    with pytest.raises(dl.RequestError, match="shard"):
        part(found(), shard)


def swept(store: Path, shard: str | None = None) -> dl.Study:
    grid = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 32]}
    return dl.sweep(DRIVE, grid, job=JOB, shard=shard, store=store, workers=1, progress=False)


def rows(place: Path) -> list[tuple[str, str]]:
    with duckdb.connect(str(place / "study.duckdb")) as file:
        return file.execute("SELECT key, report FROM points ORDER BY key").fetchall()


def test_merged_shards_are_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stores = [tmp_path / "1", tmp_path / "2", tmp_path / "3"]
    sizes = [len(swept(store, f"{k + 1}/3")) for k, store in enumerate(stores)]
    assert sizes == [1, 1, 2]
    words = ["merge", *map(str, stores), "--into", str(tmp_path / "all")]
    assert cli.run(words) == 0
    assert "4 points added, 0 were there" in capsys.readouterr().err
    whole = rows(tmp_path / "all")
    assert cli.run(words) == 0
    assert "0 points added, 4 were there" in capsys.readouterr().err
    assert rows(tmp_path / "all") == whole
    from drivelab.lab import workers

    direct = swept(tmp_path / "direct")
    assert rows(tmp_path / "direct") == whole
    monkeypatch.setattr(workers.Worker, "start", lambda *_: pytest.fail("something ran"))
    assert swept(tmp_path / "all").frame().equals(direct.frame())


def changed(place: Path, statement: str) -> None:
    with duckdb.connect(str(place / "study.duckdb")) as file:
        file.execute(statement)


def test_results_that_disagree_are_refused_and_nothing_is_merged(tmp_path: Path) -> None:
    one, two, into = tmp_path / "1", tmp_path / "2", tmp_path / "all"
    swept(one, "1/2")
    swept(two)
    changed(two, "UPDATE points SET report = '{\"jobs\": []}'")
    merge([one], into)
    before = rows(into)
    with pytest.raises(dl.RequestError, match="has another result than the one that is there"):
        merge([two], into)
    assert rows(into) == before
    changed(one, "UPDATE points SET seed = seed + 1")
    with pytest.raises(dl.RequestError, match="is not what its key says"):
        merge([one], into)
    assert rows(into) == before


def test_what_is_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["merge", str(tmp_path / "none"), "--into", str(tmp_path / "all")]) == 2
    assert "there is no" in capsys.readouterr().err
    assert not (tmp_path / "all").exists()
    (tmp_path / "text.duckdb").write_text("text", encoding="utf-8")
    with pytest.raises(dl.RequestError, match="it is not a DuckDB database"):
        merge([tmp_path / "text.duckdb"], tmp_path / "all" / "of" / "them")
    assert not (tmp_path / "all").exists()
