"""Runs and replays are recorded, and what happens to a file meanwhile costs no results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from database.sample import rows
from small import MODEL_NAME, SETS

from drivelab import cli, database, rounds
from drivelab.database import Recorded
from drivelab.errors import RequestError
from drivelab.fio import measuring
from drivelab.progress import run_alone


def run_and_replayed(folder: Path, *words: str) -> Path:
    """A database with a run of a job and a replay of a trace; `words` are of the replay."""
    path = folder / "lab.duckdb"
    (folder / "j.fio").write_text("[j]\nrw=randwrite\nbs=4k\nsize=1m\n", encoding="utf-8")
    (folder / "t.trace").write_text("0 0 0 8 0\n1000000 0 64 8 1\n", encoding="utf-8")
    common = ["--drive", MODEL_NAME, *SETS, "--database", str(path)]
    assert cli.run(["run", str(folder / "j.fio"), *common]) == 0
    replay = ["replay", str(folder / "t.trace"), "--format", "mqsim"]
    assert cli.run([*replay, *words, *common]) == 0
    return path


def test_run_and_replay_are_recorded_with_all_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_and_replayed(tmp_path)
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


def test_run_and_replay_are_recorded_with_their_power_and_with_what_a_replay_wrote(
    tmp_path: Path,
) -> None:
    path = run_and_replayed(tmp_path, "--data", "compressible:46,duplicate:30")
    found = rows(
        path,
        "SELECT kind, data, abs(mean_power_w - energy_j / duration_s) < 1e-9 * mean_power_w"
        " FROM tests ORDER BY run_id",
    )
    assert found == [("run", None, True), ("replay", "compressible:46,duplicate:30", True)]


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
