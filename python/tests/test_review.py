from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small import MODEL_NAME, SETS

from drivelab import cli, output
from drivelab.results import SCHEMA, without_wall_clock

TESTS = "sequential-write-2m,random-write-4k-qd3-sector,random-read-4k-qd3-aligned"


def review(out: Path, *words: str) -> dict[str, Any]:
    arguments = ["review", MODEL_NAME, *SETS, "--tests", TESTS, "--quick", "--out", str(out)]
    assert cli.run([*arguments, *words]) == 0
    document: dict[str, Any] = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("review")
    review(out)
    return out


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return found


def test_each_test_ran_in_each_state(document: dict[str, Any]) -> None:
    ran = [(test["state"], test["id"]) for test in document["tests"]]
    read, *writes = (
        "random-read-4k-qd3-aligned",
        "sequential-write-2m",
        "random-write-4k-qd3-sector",
    )
    # A read of a new drive would read its map.
    assert sorted(ran) == sorted(
        [(state, name) for state in ("new", "used") for name in writes]
        + [(state, read) for state in ("filled", "used")]
    )
    assert [state["state"] for state in document["states"]] == ["new", "filled", "used"]


def test_the_number_of_workers_changes_nothing(tmp_path: Path, document: dict[str, Any]) -> None:
    alone = without_wall_clock(review(tmp_path, "--workers", "1"))
    assert json.dumps(alone) == json.dumps(without_wall_clock(document))


def test_a_test_gives_the_same_result_whatever_runs_beside_it(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    single = review(tmp_path, "--tests", "access-time")["tests"]
    assert len(single) == len(document["tests"]) + 2
    wanted = {(t["id"], t["state"]): without_wall_clock(t) for t in document["tests"]}
    found = {(t["id"], t["state"]): without_wall_clock(t) for t in single}
    assert wanted.items() <= found.items()


def test_another_seed_gives_another_result(tmp_path: Path, document: dict[str, Any]) -> None:
    other = review(tmp_path, "--seed", "2")
    assert other["drivelab"]["seed"] == 2
    pairs = zip(document["tests"], other["tests"], strict=True)
    assert any(one["ios"] != two["ios"] for one, two in pairs)


def test_used_is_slower_than_new_and_says_why(document: dict[str, Any]) -> None:
    tests = {(t["id"], t["state"]): t for t in document["tests"]}
    new = tests["random-write-4k-qd3-sector", "new"]
    used = tests["random-write-4k-qd3-sector", "used"]
    assert used["mib_per_s"] < new["mib_per_s"]
    assert used["write_amplification"] > new["write_amplification"] >= 1
    assert used["split_mean_us"]["cleaning"] > new["split_mean_us"]["cleaning"]


def test_parts_of_the_latency_add_up_and_littles_law_holds(document: dict[str, Any]) -> None:
    for test in document["tests"]:
        latency = test["latency_us"]
        assert sum(test["split_mean_us"].values()) == pytest.approx(latency["mean"])
        outstanding = latency["mean"] * test["iops"] / 1e6
        assert outstanding == pytest.approx(test["queue_depth"], rel=0.01)
        quoted = [latency[key] for key in ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")]
        assert quoted == sorted(quoted)


def test_a_used_drive_was_filled_and_got_its_image(document: dict[str, Any]) -> None:
    new, _, used = document["states"]
    capacity = document["models"][0]["user_capacity_bytes"]
    assert new["host_write_bytes"] == 0
    assert new["write_amplification"] is None
    assert used["host_write_bytes"] == pytest.approx(1.625 * capacity, rel=0.001)
    assert used["program_bytes"] >= used["host_write_bytes"]


def test_tests_run_in_the_states_that_are_asked_for(tmp_path: Path) -> None:
    found = review(tmp_path, "--states", "tortured,filled-random")
    assert [state["state"] for state in found["states"]] == ["filled-random", "tortured"]
    assert len(found["tests"]) == 6
    assert "--states tortured,filled-random" in found["drivelab"]["command_line"]


def test_models_or_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["review"], ["review", MODEL_NAME, "--all"]):
        assert cli.run(words) == 2
        assert "--all" in capsys.readouterr().err


def test_the_command_line_repeats_the_results(document: dict[str, Any]) -> None:
    line = document["drivelab"]["command_line"]
    assert line.startswith(f"drivelab review {MODEL_NAME} --set flash.blocks_per_plane=28")
    assert line.endswith("--quick --seed 1")
    assert "--out" not in line


def test_the_database_holds_the_same_numbers(folder: Path, document: dict[str, Any]) -> None:
    with duckdb.connect(str(folder / "results.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT state, test, iops FROM measurements").fetchall()
        seconds = connection.execute("SELECT count(*) FROM series").fetchall()[0][0]
        parameters = connection.execute("SELECT count(*) FROM parameters").fetchall()[0][0]
        schema = connection.execute("SELECT schema, quick FROM runs").fetchall()
    assert rows == [(t["state"], t["id"], t["iops"]) for t in document["tests"]]
    assert seconds == sum(len(t["series"]["mib_per_s"]) for t in document["tests"])
    assert parameters == len(document["models"][0]["parameters"])
    assert schema == [(SCHEMA, True)]


def test_the_report_is_there(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Intel X25-M G1 80 GB" in page
    assert sorted(path.name for path in folder.iterdir()) == [
        "report.html",
        "results.duckdb",
        "results.json",
    ]


def test_figures_reads_a_review(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    status = cli.run(["figures", "--results", str(folder / "results.json"), "--json"])
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert status == 0
    assert "a quick run; figures are of whole tests" in printed.err
    modelled = {item["id"]: item["modelled"] for item in found["figures"]}
    assert modelled["AN-091"] is not None
    assert modelled["AN-149"] is None


SLOW = """
import sys
from drivelab import cli, review

run = review.run
def slowly(*arguments):
    print("at work", flush=True)
    sys.stdin.readline()
    return run(*arguments)
review.run = slowly
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["review", "compare"])
def test_a_second_review_into_one_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    out = tmp_path / "a" / "out"
    words = [*SETS, "--quick", "--tests", "access-time", "--states", "new", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "review", MODEL_NAME, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"at work\n"
        names = [MODEL_NAME, "ocz-vertex-120gb"][: 1 if command == "review" else 2]
        assert cli.run([command, *names, *words, "--seed", "2"]) == 2
        message = capsys.readouterr().err
        assert f'--out "{out}": another drivelab is at work on results for this folder' in message
        first.communicate(b"\n")
    assert first.returncode == 0
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert document["drivelab"]["seed"] == 1
    assert {path.name for path in out.iterdir()} == {
        "report.html",
        "results.duckdb",
        "results.json",
    }


def test_a_folder_is_free_again_after_a_review_that_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "review", MODEL_NAME, *SETS, "--out", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as killed:
        assert killed.stdout is not None
        killed.stdout.readline()
        killed.kill()
    with output.claimed(tmp_path):
        pass
    assert not list(tmp_path.iterdir())
