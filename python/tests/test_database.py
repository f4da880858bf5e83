from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import documents
import duckdb
import polars as pl
import pytest
from small import MODEL_NAME, SETS
from small_disk import small_disk

from drivelab import cli, database, rounds
from drivelab.database import Recorded, opening
from drivelab.database.tables import VERSION
from drivelab.errors import RequestError, WorkError
from drivelab.fio import measuring
from drivelab.progress import run_alone


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def recorded(**changed: Any) -> Recorded:
    return Recorded.review(documents.review(**changed))


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
    assert rows(path, parts) == [(1.0, 50.0, 1000, None), (0.001, 9000.0, 1, 9000.0)]
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


@pytest.mark.parametrize("version", [3, 4, 5])
def test_runs_of_an_older_layout_are_read_and_taken_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], version: int
) -> None:
    """Of older files only what is read of them matters: these four tables, without keys."""
    old, new = tmp_path / "old.duckdb", tmp_path / "new.duckdb"
    document = documents.review(schema=version - 1)
    own = document["drivelab"]
    with duckdb.connect(str(old)) as connection:
        connection.execute(f"CREATE TABLE layout AS SELECT {version}::INTEGER AS version")
        connection.execute(
            "CREATE TABLE runs AS SELECT 7 AS run_id, 'review' AS kind, $1 AS schema, '0.1.0' AS"
            " engine_version, $2 AS command_line, 1 AS seed, false AS quick, 1.0 AS wall_s",
            [own["schema"], own["command_line"]],
        )
        connection.execute("CREATE TABLE models AS SELECT 7 AS run_id, 'a' AS model")
        connection.execute("CREATE TABLE tests AS SELECT 7 AS run_id, 'sweep' AS test")
        connection.execute(
            "CREATE TABLE documents AS SELECT 7 AS run_id, $1 AS document, $2 AS models",
            [json.dumps(document), json.dumps(document["models"])],
        )
    assert cli.run(["export", str(old), "--database", str(old)]) == 2
    assert f"read only; allowed: {VERSION}" in capsys.readouterr().err
    assert cli.run(["export", str(old), "--run", "7", "--database", str(new)]) == 0
    assert "run 1 of" in capsys.readouterr().err
    assert database.read(new, None, "FILE").document == documents.review()
    assert rows(new, "SELECT count(*) FROM measurements") == [(1,)]


def test_a_job_files_run_of_a_layout_that_knew_no_groups_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.duckdb"
    old = {"drivelab": {"model": "a", "state": "new", "seed": 1}, "jobs": []}
    database.write(recorded(), path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE layout SET version = 3")
        connection.execute(
            "INSERT INTO runs BY NAME SELECT 2 AS run_id, 'run' AS kind, '0.1.0' AS engine_version,"
            " 'drivelab run j.fio' AS command_line, 1 AS seed, false AS quick"
        )
        connection.execute("INSERT INTO documents VALUES (2, $1, '[]')", [json.dumps(old)])
    assert cli.run(["export", str(path), "--run", "1", "--csv", str(tmp_path / "csv")]) == 0
    for words in (
        ["export", f"{path}:2", "--csv", str(tmp_path / "none")],
        ["compare", f"{path}:2", f"{path}:2", "--out", str(tmp_path / "none")],
    ):
        capsys.readouterr()
        assert cli.run(words) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert "layout 3; allowed: from 4 on; repeat it: drivelab run j.fio" in line
    assert not (tmp_path / "none").exists()


def test_run_and_replay_are_recorded_with_all_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lab.duckdb"
    (tmp_path / "j.fio").write_text("[j]\nrw=randwrite\nbs=4k\nsize=1m\n", encoding="utf-8")
    (tmp_path / "t.trace").write_text("0 0 0 8 0\n1000000 0 64 8 1\n", encoding="utf-8")
    common = ["--drive", MODEL_NAME, *SETS, "--database", str(path)]
    assert cli.run(["run", str(tmp_path / "j.fio"), *common]) == 0
    assert cli.run(["replay", str(tmp_path / "t.trace"), "--format", "mqsim", *common]) == 0
    assert "run 2 of" in capsys.readouterr().err
    assert rows(path, "SELECT run_id, kind FROM runs") == [(1, "run"), (2, "replay")]
    jobs = (
        "SELECT run_id, job, direction, ios, bytes, iops > 0, latency_mean_us > 0 FROM measurements"
    )
    assert rows(path, jobs) == [
        (1, "j", "write", 256, 2**20, True, True),
        (2, "t.trace", "read", 1, 4096, True, True),
        (2, "t.trace", "write", 1, 4096, True, True),
    ]
    bins = "SELECT job, sum(requests) FROM histogram_bins GROUP BY run_id, job ORDER BY run_id"
    assert rows(path, bins) == [("j", 256), ("t.trace", 2)]
    whole = (
        "SELECT m.job, any_value(m.latency_mean_us) - sum(p.mean_us) FROM latency_parts p"
        " JOIN measurements m USING (run_id, model, state, test, job, direction)"
        " WHERE share_of_requests = 1 GROUP BY run_id, m.job, direction"
    )
    assert [abs(left) < 1e-6 for _, left in rows(path, whole)] == [True] * 3
    spare = "SELECT run_id, number FROM parameters WHERE key = 'flash.blocks_per_plane'"
    assert rows(path, spare) == [(1, 28.0), (2, 28.0)]
    assert cli.run(["runs", str(path), "--json"]) == 0
    assert [run["models"] for run in json.loads(capsys.readouterr().out)] == [[MODEL_NAME]] * 2


def test_run_and_replay_are_recorded_over_time_and_with_their_tails(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    job = "[j]\nrw=randrw\nbs=4k\niodepth=8\nio_size=16m\nnorandommap=1\nlog_avg_msec=10\n"
    (tmp_path / "j.fio").write_text(job, encoding="utf-8")
    requests = "".join(f"{4_000_000 * i} 0 {8 * (i * 37 % 512)} 8 0\n" for i in range(1000))
    (tmp_path / "t.trace").write_text(requests, encoding="utf-8")
    common = ["--drive", MODEL_NAME, *SETS, "--state", "filled", "--database", str(path)]
    assert cli.run(["run", str(tmp_path / "j.fio"), *common]) == 0
    assert cli.run(["replay", str(tmp_path / "t.trace"), "--format", "mqsim", *common]) == 0
    # What is told of every interval adds up to the whole, but for the last, cut short.
    told = rows(
        path,
        "SELECT job, direction, max(s.latency_max_us) <= max(m.latency_max_us), min(s.time_s),"
        " count(s.write_amplification) > 0, count(s.latency_p99_us) > 0,"
        " max(s.free_blocks) > 0, max(s.queue_depth_mean) > 0"
        " FROM series s JOIN measurements m USING (run_id, model, state, test, job, direction)"
        " GROUP BY run_id, job, direction ORDER BY run_id, direction",
    )
    assert told == [
        ("j", "read", True, 0.0, False, True, True, True),
        ("j", "write", True, 0.0, True, True, True, True),
        ("t.trace", "write", True, 0.0, True, True, True, True),
    ]
    done = "SELECT sum(iops) * 0.01 FROM series WHERE job = 'j'"
    [(ios,)] = rows(path, done)
    assert 0.9 * 4096 < ios <= 4096
    tails = (
        "SELECT job, share_of_requests, any_value(requests), sum(mean_us) >="
        " any_value(latency_min_us) FROM latency_parts WHERE share_of_requests < 1"
        " AND job IN ('j', 't.trace') GROUP BY run_id, job, 2 ORDER BY run_id, 2 DESC"
    )
    found = rows(path, tails)
    assert {(job, share) for job, share, *_ in found} >= {("j", 0.1), ("j", 0.01)}
    assert all(slow for *_, slow in found)


def test_a_database_that_is_opened_elsewhere_meanwhile_does_not_cost_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, run: Recorded) -> int:
        raise RequestError(f'--database "{path}": another program has it open')

    monkeypatch.setattr(database, "append", refuse)
    job, trace = tmp_path / "j.fio", tmp_path / "t.trace"
    job.write_text("[j]\nrw=randwrite\nbs=4k\nsize=1m\n", encoding="utf-8")
    trace.write_text("0 0 0 8 0\n", encoding="utf-8")
    common = ["--drive", MODEL_NAME, *SETS, "--database", str(tmp_path / "lab.duckdb"), "--json"]
    for words in (["run", str(job)], ["replay", str(trace), "--format", "mqsim"]):
        assert cli.run([*words, *common]) == 2
        printed = capsys.readouterr()
        assert "another program has it open" in printed.err
        assert json.loads(printed.out)["drivelab"]["seed"] == 1


def test_a_file_that_can_not_be_written_any_more_costs_neither_the_results_nor_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, logs = tmp_path / "lab.duckdb", tmp_path / "logs"

    def measured(*words: Any) -> Any:
        found = run_alone(*words)
        shutil.rmtree(logs, ignore_errors=True)
        return found

    for module in (measuring, rounds):
        monkeypatch.setattr(module, "run_alone", measured)
    job, trace = tmp_path / "j.fio", tmp_path / "t.trace"
    option = f"write_iops_log={logs}/i"
    job.write_text(f"[j]\nrw=randwrite\nbs=4k\nsize=1m\n{option}\n", encoding="utf-8")
    trace.write_text("0 0 0 8 0\n", encoding="utf-8")
    common = ["--drive", MODEL_NAME, *SETS, "--database", str(path), "--json"]
    logged = ["--format", "mqsim", "--request-log", str(logs / "r.parquet")]
    for words in (["run", str(job)], ["replay", str(trace), *logged]):
        logs.mkdir()
        assert cli.run([*words, *common]) == 1
        printed = capsys.readouterr()
        assert "No such file or directory" in printed.err
        assert json.loads(printed.out)["drivelab"]["seed"] == 1
        assert not logs.exists()
    assert rows(path, "SELECT kind FROM runs ORDER BY run_id") == [("run",), ("replay",)]


def test_what_is_no_database_of_this_layout_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, other, old = (tmp_path / f"{name}.duckdb" for name in ("text", "other", "old"))
    text.write_text("not a database", encoding="utf-8")
    for path, table in ((other, "birds"), (old, "runs")):
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE {table} (schema INTEGER)")
    for path, words in (
        (text, "not a DuckDB database"),
        (other, "none of drivelab"),
        (old, f"layout 1; allowed: {VERSION}"),
        (tmp_path / "missing" / "lab.duckdb", "can't write there"),
        (tmp_path, "is a folder"),
        (tmp_path / "lab.txt", "allowed: a name that ends in .duckdb"),
        (tmp_path / "lab.duckdb:2", f"give the file alone: {tmp_path / 'lab.duckdb'}"),
    ):
        before = path.read_bytes() if path.is_file() else None
        out = tmp_path / "out"
        assert cli.run(["review", MODEL_NAME, "--out", str(out), "--database", str(path)]) == 2
        message = capsys.readouterr().err
        assert words in message
        assert f'--database "{path}"' in message
        assert not out.exists()
        assert (path.read_bytes() if path.is_file() else None) == before


def test_a_run_that_fails_half_way_leaves_the_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded(seed=5))
    insert, tables = database._insert, []

    def interrupted(*arguments: Any) -> None:
        tables.append(arguments[1].name)
        if len(tables) == 5:
            raise KeyboardInterrupt
        insert(*arguments)

    monkeypatch.setattr(database, "_insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        database.append(path, recorded(seed=6))
    assert [run["seed"] for run in database.runs(path, "FILE")] == [5]
    assert rows(path, "SELECT DISTINCT run_id FROM models") == [(1,)]
    tables.clear()
    with pytest.raises(KeyboardInterrupt):
        database.append(tmp_path / "new.duckdb", recorded())
    assert [item.name for item in tmp_path.iterdir()] == ["lab.duckdb"]


def test_a_process_that_is_killed_while_it_records_leaves_the_earlier_runs(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded(seed=5))
    code = (
        "import os, sys, pathlib, documents\n"
        "from drivelab import database\n"
        "insert = database._insert\n"
        "def killed(connection, table, *more):\n"
        "    insert(connection, table, *more)\n"
        "    if table.name == 'tests': os.kill(os.getpid(), 9)\n"
        "database._insert = killed\n"
        "run = database.Recorded.review(documents.review(seed=6))\n"
        "database.append(pathlib.Path(sys.argv[1]), run)\n"
    )
    tests = str(Path(__file__).parent)
    search = os.pathsep.join([tests, *(item for item in sys.path if item)])
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], env={**os.environ, "PYTHONPATH": search}
    )
    assert done.returncode == -9
    assert [run["seed"] for run in database.runs(path, "FILE")] == [5]
    assert database.append(path, recorded(seed=7)) == 2


OPEN = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
LOCK = """
import pathlib, sys
from drivelab import locks
with locks.held(pathlib.Path(sys.argv[1]), 0):
    print("held", flush=True)
    input()
"""


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        (OPEN, "lab.duckdb", "another program has it open"),
        (LOCK, ".lab.duckdb.lock", "another drivelab writes to it"),
    ],
)
def test_who_has_a_database_is_waited_for_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str, words: str
) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded())
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / name)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with monkeypatch.context() as impatient:
            impatient.setattr(opening, "WAIT_S", 0.1)
            with pytest.raises(RequestError, match=f"{words}, after 0.1 s still"):
                database.check(path)
            with pytest.raises(WorkError, match=f"{words}.*; this run is not recorded"):
                database.append(path, recorded())
        Timer(0.5, other.communicate, [b"\n"]).start()
        assert database.append(path, recorded()) == 2
    assert [item.name for item in tmp_path.iterdir()] == ["lab.duckdb"]


TOGETHER = """
import sys
from drivelab import cli, database

append = database.append
def when_all_are_here(*arguments):
    print("here", flush=True)
    sys.stdin.readline()
    return append(*arguments)
database.append = when_all_are_here
sys.exit(cli.run(sys.argv[1:]))
"""


def together(*commands: list[str]) -> list[tuple[int, str]]:
    """Status and messages of commands that come to record their runs at the same moment."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    started = [
        subprocess.Popen([sys.executable, "-c", TOGETHER, *words], text=True, **pipes)
        for words in commands
    ]
    for process in started:
        assert process.stdout is not None
        assert any(line == "here\n" for line in process.stdout)
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    messages = [process.communicate()[1] for process in started]
    return [(process.returncode, text) for process, text in zip(started, messages, strict=True)]


def test_runs_that_are_recorded_at_once_are_all_there(tmp_path: Path) -> None:
    path, other_name = tmp_path / "new.duckdb", tmp_path / "link.duckdb"
    other_name.symlink_to(path)
    (tmp_path / "j.fio").write_text("[j]\nrw=randwrite\nbs=4k\nsize=1m\n", encoding="utf-8")
    (tmp_path / "t.trace").write_text("0 0 0 8 0\n", encoding="utf-8")
    out = str(tmp_path / "out")
    run = ["run", str(tmp_path / "j.fio"), "--drive", MODEL_NAME, *SETS]
    replay = ["replay", str(tmp_path / "t.trace"), "--drive", MODEL_NAME, *SETS]
    review = ["review", MODEL_NAME, *SETS, "--quick", "--tests", "access-time", "--out", out]
    for done in range(0, 8, 4):  # into a new file, then into one that is there
        ended = together(
            [*run, "--seed", "1", "--database", str(path)],
            [*run, "--seed", "2", "--database", str(path if done else other_name)],
            [*replay, "--seed", "3", "--format", "mqsim", "--database", str(path)],
            [*review, "--seed", "4", "--states", "new", "--database", str(path)],
        )
        assert [status for status, _ in ended] == [0] * 4, ended
        told = {
            int(found[1]): seed
            for seed, (_, text) in enumerate(ended, start=1)
            if (found := re.search(r"Recorded: run (\d+) of", text))
        }
        known = {run["run_id"]: run["seed"] for run in database.runs(path, "FILE")}
        assert sorted(known) == list(range(1, done + 5))
        assert told == {run_id: seed for run_id, seed in known.items() if run_id > done}
    assert not list(tmp_path.glob(".*"))


@pytest.fixture(name="small_disk")
def four_megabytes(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "4m") as folder:
        yield folder


def test_a_full_disk_leaves_the_runs_that_are_there(small_disk: Path) -> None:
    path = small_disk / "lab.duckdb"
    large = documents.stream(series={"interval_s": 1.0, "mib_per_s": [], "latency_max_us": []})
    rates = [float((at * 7919) % 1000003) for at in range(40000)]
    large["series"] |= {"mib_per_s": rates, "latency_max_us": rates[::-1]}
    database.append(path, recorded())

    def fill() -> None:
        for _ in range(20):
            database.append(path, Recorded.review(documents.review(large)))

    with pytest.raises(WorkError, match=r"can't write to .*lab\.duckdb"):
        fill()
    known = database.runs(path, "FILE")
    assert [run["run_id"] for run in known] == list(range(1, len(known) + 1))
    counts = rows(path, "SELECT count(*) FROM series GROUP BY run_id ORDER BY run_id")
    assert counts == [(2,), *[(40000,)] * (len(known) - 1)]


def test_a_full_disk_takes_no_part_of_a_review(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The database alone is larger than what is left.
    (small_disk / "ballast").write_bytes(bytes(3_500_000))
    out = small_disk / "out"
    words = ["review", MODEL_NAME, *SETS, "--quick", "--tests", "access-time", "--out", str(out)]
    assert cli.run(words) == 1
    assert "No space left" in capsys.readouterr().err
    assert not out.exists()


def test_a_damaged_database_is_named_not_read_half(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded())
    whole = bytearray(path.read_bytes())
    for start in range(12288, len(whole), 4096):
        whole[start : start + 64] = bytes(64)
    path.write_bytes(whole)
    with pytest.raises(RequestError, match=r"lab\.duckdb"):
        database.read(path, None, "FILE")


@pytest.mark.parametrize("name", ["table.parquet", "table.csv", "table.json"])
def test_a_table_of_another_format_is_no_database(tmp_path: Path, name: str) -> None:
    """DuckDB opens these as views of a database in memory, where a run would be lost."""
    path = tmp_path / name
    write = {"parquet": pl.DataFrame.write_parquet, "csv": pl.DataFrame.write_csv}
    write.get(path.suffix[1:], pl.DataFrame.write_json)(pl.DataFrame({"run": [1]}), path)
    before = path.read_bytes()
    for use in (database.check, lambda place: database.runs(place, "FILE")):
        with pytest.raises(RequestError, match="it is not a DuckDB database"):
            use(path)
    assert path.read_bytes() == before
