"""Earlier runs stay, whatever becomes of one that is being recorded: it fails, is killed, comes
at the same time as others, or finds no room."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import documents
import pytest
from database.sample import recorded, rows
from small import MODEL_NAME, SETS
from small_disk import small_disk

from drivelab import cli, database
from drivelab.database import Recorded, opening
from drivelab.errors import RequestError, WorkError


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
    tests = str(Path(__file__).parents[1])
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
