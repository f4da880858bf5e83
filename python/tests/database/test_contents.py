"""Everything that was measured has its row, and the file refuses what can't be."""

from __future__ import annotations

from pathlib import Path

import documents
import duckdb
import pytest
from database.sample import recorded, rows

from drivelab import database
from drivelab.database import Recorded, history


def test_runs_are_numbered_and_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    assert [database.append(path, recorded(seed=seed)) for seed in (5, 6)] == [1, 2]
    assert [run["seed"] for run in database.runs(path, "FILE")] == [5, 6]
    assert database.read(path, 2, "FILE").document == documents.review(seed=6)
    assert rows(path, "SELECT run_id, count(*) FROM tests GROUP BY 1 ORDER BY 1") == [
        (1, 2),
        (2, 2),
    ]


def test_a_link_to_a_file_that_is_to_be_made_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "runs.duckdb", tmp_path / "link.duckdb"
    link.symlink_to(path)
    assert [database.append(name, recorded()) for name in (link, path, link)] == [1, 2, 3]
    assert link.is_symlink()
    assert rows(path, "SELECT count(*) FROM runs") == [(3,)]


def test_every_part_of_a_compound_test_can_be_queried(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.write(recorded(), path)
    keys = "run_id, model, state, test"
    assert rows(path, f"SELECT {keys}, name, value, unit, better FROM test_values") == [
        (1, "a", "new", "sweep", "write", 20.0, "MB/s", "higher"),
        (1, "a", "new", "sweep", "dips", None, "", None),
    ]
    wide = (
        "PIVOT (SELECT row_index, column_key, coalesce(text, number::VARCHAR) AS cell FROM"
        " test_cells) ON column_key USING first(cell) ORDER BY row_index"
    )
    assert rows(path, wide)[0] == (0, "4096.0", "read", "1.25")
    assert rows(path, "SELECT kind, remark FROM test_remarks") == [
        ("deviation", "one round instead of five"),
        ("note", "a note"),
    ]
    assert rows(path, "SELECT reached, round_text, rounds FROM steady_states") == [
        (True, "a minute", 5)
    ]
    assert rows(path, "SELECT variable, first_round, average, steady FROM steady_windows") == [
        ("throughput", 1, 20.0, True)
    ]
    assert rows(path, "SELECT x, y, series FROM test_charts") == [
        ("block_bytes", "mb_per_s", "direction")
    ]
    assert rows(path, "SELECT value FROM counters WHERE test <> 'sweep' ORDER BY 1") == [
        (4096000.0,),
        (3000000000.0,),
    ]


def detailed() -> Recorded:
    """A review of which everything is known that is measured over time and of the slowest."""
    split = dict.fromkeys(("queueing", "link", "firmware", "flash"), 1000.0) | {"cleaning": 5000.0}
    tail = {"share_of_requests": 0.001, "count": 1, "latency_min_us": 9000.0}
    stream = documents.stream(tails=[tail | {"split_mean_us": split}])
    stream["series"] |= {"write_amplification": [1.0, None], "cleaning_share": [0.0, 0.25]}
    model = documents.model()
    usual = model["parameters"][0]
    for key, value in (
        ("flash.channel_count", 10),
        ("ftl.trim_supported", False),
        ("members", ["b", "c"]),
    ):
        model["parameters"].append(usual | {"key": key, "value": value})
    return Recorded.review(documents.review(stream, documents.compound(), models=[model]))


def test_everything_that_was_measured_has_a_row_and_a_unit(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, detailed())
    assert rows(path, "SELECT latency_below_us, requests FROM histogram_bins ORDER BY 1") == [
        (135.168, 900),
        (270.336, 100),
    ]
    parts = (
        "SELECT share_of_requests, sum(mean_us), any_value(requests), any_value(latency_min_us)"
        " FROM latency_parts GROUP BY 1 ORDER BY 1 DESC"
    )
    ios = documents.stream()["ios"]
    assert rows(path, parts) == [(1.0, 50.0, ios, None), (0.001, 9000.0, 1, 9000.0)]
    series = "SELECT time_s, iops, write_amplification, cleaning_share, free_blocks FROM series"
    assert rows(path, f"{series} ORDER BY interval_index") == [
        (0.0, 5120.0, 1.0, 0.0, None),
        (1.0, 2560.0, None, 0.25, None),
    ]
    typed = "SELECT key, number, text, boolean FROM parameters ORDER BY key"
    assert rows(path, typed) == [
        ("flash.channel_count", 10.0, None, None),
        ("flash.program_ns", 900000.0, None, None),
        ("ftl.trim_supported", None, None, False),
        ("ftl.victim_selection", None, "greedy", None),
        ("members", None, "b, c", None),
    ]


def test_parameters_are_wide_whatever_runs_have(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded())
    database.append(path, detailed())
    wide = 'SELECT run_id, "ftl.victim_selection", "flash.channel_count", members'
    assert rows(path, f"{wide} FROM parameters_wide ORDER BY run_id") == [
        (1, "greedy", None, None),
        (2, "greedy", 10.0, "b, c"),
    ]


def test_rounds_of_a_steady_state_are_told_apart_by_their_window(tmp_path: Path) -> None:
    test = documents.compound()
    columns = [{"key": key, "title": key, "unit": ""} for key in ("round", "variable", "value")]
    rounds = [
        {"round": index, "variable": "throughput", "value": 10.0 * index} for index in range(1, 8)
    ]
    test["tables"] = [{"name": "convergence", "title": "", "columns": columns, "rows": rounds}]
    test["steady_state"]["variables"][0] |= {"first_round": 3, "last_round": 7}
    path = tmp_path / "lab.duckdb"
    database.append(path, Recorded.review(documents.review(test)))
    asked = "SELECT round, value FROM steady_rounds WHERE in_window ORDER BY round"
    assert rows(path, asked) == [(index, 10.0 * index) for index in range(3, 8)]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("INSERT INTO models SELECT * FROM models", "Duplicate key"),
        ("INSERT INTO series SELECT * FROM series", "Duplicate key"),
        ("UPDATE tests SET kind = 'other' WHERE test = 'sweep'", "CHECK constraint"),
        ("UPDATE percentiles SET percentile = 101", "CHECK constraint"),
        ("UPDATE runs SET engine_version = NULL", "NOT NULL constraint"),
        ("INSERT INTO counters VALUES (1, 'a', 'new', 'no such test', 'x', 1)", "foreign key"),
        ("INSERT INTO zones VALUES (2, 'a', 'new', 'sweep', 0, 1)", "foreign key"),
        ("DELETE FROM runs", "foreign key"),
    ],
)
def test_the_file_itself_refuses_what_cannot_be(tmp_path: Path, sql: str, words: str) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, detailed())
    with duckdb.connect(str(path)) as connection, pytest.raises(duckdb.Error, match=words):
        connection.execute(sql)


def test_every_column_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded())
    silent = "SELECT table_name, column_name FROM duckdb_columns() WHERE comment IS NULL"
    left = rows(path, f"{silent} AND column_name <> 'run_id' AND NOT internal")
    assert {table for table, _ in left} <= {"layout", "parameters_wide"}


def test_values_are_offered_as_the_newest_run_has_them(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    for title, unit in (("Largest write", "MB/s"), ("Largest write of all", "MiB/s")):
        test = documents.compound()
        test["values"][0] |= {"title": title, "unit": unit}
        database.append(path, Recorded.review(documents.review(test)))
    assert history.values(path, "FILE") == {
        "sweep": [
            {"name": "write", "title": "Largest write of all", "unit": "MiB/s"},
            {"name": "dips", "title": "Dips", "unit": ""},
        ]
    }
