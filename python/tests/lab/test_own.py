"""Tests and states of one's own: in reviews, comparisons, databases and scripts."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import duckdb
import own
import pytest
from small import MODEL_NAME, OVERRIDES, SETS

import drivelab as dl
from drivelab import cli, plugins
from drivelab.procedures.procedure import Procedure
from drivelab.results import without_wall_clock
from drivelab.states import State


def review(out: Path, plugin: Path, *words: str) -> dict[str, Any]:
    arguments = ["review", MODEL_NAME, *SETS, "--plugin", str(plugin), "--out", str(out)]
    assert cli.run([*arguments, "--tests", "mine", *words]) == 0
    found: dict[str, Any] = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return found


def loaded(folder: Path, text: str = own.OWN) -> tuple[Procedure, State]:
    known = plugins.known([own.put(folder, text)])
    return known.tests["small-writes"], known.states["half-full"]


def small() -> dl.Drive:
    return dl.Drive(MODEL_NAME, dict(OVERRIDES))


def test_a_review_shows_them_as_any_others(tmp_path: Path) -> None:
    document = review(tmp_path / "one", own.put(tmp_path))
    assert [(test["id"], test["state"]) for test in document["tests"]] == [
        ("small-writes", "new"), ("small-writes", "half-full"),
    ]  # fmt: skip
    page = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    for words in (
        "Writes of 4 KiB, some at a time",
        "Gain by depth",
        "new, then half of its bytes",
    ):
        assert words in page
    with duckdb.connect(str(tmp_path / "one" / "results.duckdb"), read_only=True) as tables:
        [(count,)] = tables.execute(
            "SELECT count(*) FROM test_values WHERE name = 'gain'"
        ).fetchall()
    assert count == 2
    # What somebody needs who hasn't got the file, and what tells it from another one.
    [test, _] = document["tests"]
    assert test["origin"]["place"] == "own.py"
    assert test["declared"]["open"] is True
    state = document["states"][1]
    assert (state["origin"], state["declared"]["order"]) == (test["origin"], 50)


def test_any_number_of_workers_gives_the_same(tmp_path: Path) -> None:
    one, two = (
        review(tmp_path / count, own.put(tmp_path), "--workers", count) for count in ("1", "2")
    )
    assert without_wall_clock(one) == without_wall_clock(two)


def test_a_script_gets_what_a_review_finds(tmp_path: Path) -> None:
    document = review(tmp_path / "out", own.put(tmp_path))
    test, state = loaded(tmp_path)
    found = small().prepare(state).measure(test)
    assert [value.value for value in found.values] == [
        value["value"] for value in document["tests"][1]["values"]
    ]


def test_tests_of_reviews_are_measured_by_name() -> None:
    drive = small().prepare("new")
    assert drive.measure("atto", quick=True).values[0].name == "write_mib_per_s"
    with pytest.raises(dl.RequestError, match='test "ato" is unknown; did you mean "atto"'):
        drive.measure("ato")
    with pytest.raises(dl.RequestError, match='test "four-corners" is unknown'):
        drive.measure("four-corners")


def test_a_test_of_one_stream_has_its_numbers_as_values_too(tmp_path: Path) -> None:
    """A script that asks any test for its values got none of a third of the tests."""
    name = "random-read-4k-qd3-aligned"
    words = ["review", MODEL_NAME, *SETS, "--tests", name, "--states", "filled", "--quick"]
    assert cli.run([*words, "--out", str(tmp_path)]) == 0
    [record] = json.loads((tmp_path / "results.json").read_text("utf-8"))["tests"]
    drive = small().prepare("filled")
    found = {value.name: value for value in drive.measure(name, quick=True).values}
    assert found["iops"].value == record["iops"]
    assert found["latency_p99_us"].value == record["latency_us"]["p99"]
    assert (found["latency_p99_us"].unit, found["latency_p99_us"].better) == ("us", "lower")
    # What a read hasn't got is no value; and the record is what it was.
    assert "write_amplification" not in found
    assert record["values"] == []


def test_quick_reviews_end_jobs_after_ten_seconds(tmp_path: Path) -> None:
    text = own.OWN.replace("runtime=1,", "runtime=60,")
    test, _ = loaded(tmp_path, text)
    target = small()
    slow, quick = (target.measure(test, quick=quick).values[0].value for quick in (False, True))
    assert slow != quick
    [record, _] = review(tmp_path / "out", own.put(tmp_path, text), "--quick")["tests"]
    assert record["duration_s"] == pytest.approx(20, rel=0.01)
    assert record["values"][0]["value"] == quick


def test_a_run_takes_a_state_and_says_where_it_is_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[job]\nrw=randread\nbs=4k\nio_size=1m\n")
    words = ["run", str(job), "--drive", MODEL_NAME, *SETS, "--state", "half-full"]
    assert cli.run(words) == 2
    assert '--state "half-full" is unknown' in capsys.readouterr().err
    assert cli.run([*words, "--plugin", str(own.put(tmp_path)), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["drivelab"]
    assert document["state_from"]["origin"]["place"] == "own.py"
    assert "--plugin" in document["command_line"]


@pytest.mark.parametrize("command", ["review", "run", "replay", "list"])
def test_what_functions_print_is_no_part_of_a_document(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It stood before the document, which nobody could read then."""
    text = own.OWN.replace("    bench.run(", "    print('in the state')\n    bench.run(")
    text = text.replace("    rows = [", "    print('in the test')\n    rows = [")
    plugin = own.put(tmp_path, f"print('in the file')\n{text}")
    job = tmp_path / "job.fio"
    job.write_text("[job]\nrw=randread\nbs=4k\nio_size=1m\n")
    trace = tmp_path / "trace"
    trace.write_text("0 0 0 8 0\n1000000 0 8 8 1\n")
    drive = ["--drive", MODEL_NAME, *SETS, "--state", "half-full"]
    words = {
        "review": [MODEL_NAME, *SETS, "--tests", "mine", "--out", str(tmp_path), "--workers", "2"],
        "run": [str(job), *drive],
        "replay": [str(trace), *drive],
        "list": ["--tests"],
    }[command]
    assert cli.run([command, *words, "--plugin", str(plugin), "--json"]) == 0
    printed = capfd.readouterr()
    json.loads(printed.out)
    said = ["in the file", *(["in the state"] if command != "list" else [])]
    for line in [*said, *(["in the test"] if command == "review" else [])]:
        assert line in printed.err.splitlines()


def test_what_functions_print_in_a_script_is_the_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, state = loaded(
        tmp_path, own.OWN.replace("    bench.run(", "    print('here')\n    bench.run(")
    )
    small().prepare(state)
    assert capsys.readouterr().out == "here\n"


def test_results_are_compared_without_the_file_but_not_those_of_different_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = own.put(tmp_path)
    for out, words in (("a", ()), ("b", ("--seed", "2"))):
        review(tmp_path / out, path, *words)
    sides = [str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "c")]
    assert cli.run(["compare", *sides]) == 0
    assert "half-full" in (tmp_path / "c" / "compare.html").read_text(encoding="utf-8")
    # The same file by another name is the same test.
    review(tmp_path / "b", own.put(tmp_path, own.OWN, "named.py"))
    assert cli.run(["compare", *sides]) == 0
    own.put(tmp_path, own.OWN + "# another version\n")
    review(tmp_path / "b", path)
    capsys.readouterr()
    assert cli.run(["compare", *sides]) == 2
    assert "Tests or states of one name come from different files" in capsys.readouterr().err
    assert cli.run(["compare", *sides, "--force"]) == 0


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("1 / 0", 1, 'test "wrong" (own.py): line 6: ZeroDivisionError: division by zero'),
        ("return 3", 1, 'test "wrong" (own.py): it returned 3; allowed: values, tables'),
        ("return {'a': 1}", 1, "it returned {'a': 1}; allowed"),
        (
            "return dl.Value('a', 'A', float('nan'), '')",
            1,
            'line 6: Value "a": value = nan: allowed: finite numbers, None where',
        ),
        ("return [dl.Value('a', 'A', 1, '')] * 2", 1, "there are two of this name"),
        ("return [dl.Table('t', 'T', [], [])] * 2", 1, 'table "t": there are two of this name'),
        ("return '\\ud800'", 1, "it returned '\\ud800', which is no text"),
        ("yield str(1 / 0)", 1, 'test "wrong" (own.py): line 6: ZeroDivisionError: division'),
        ("return dl.Chart('no', 'No', 'lines', 'x', 'y')", 1, "no table of this name: no"),
        # The command was right: the file isn't, and whoever mends it needs the line.
        (
            "dl.Job(rw='randwrit')",
            1,
            'test "wrong" (own.py): line 6: Job: job "job": rw=randwrit is not',
        ),
        ("bench.run(dl.Job(rw='read', offset='900g'))", 1, 'test "wrong" (own.py): line 6: '),
        ("bench.idle('soon')", 1, "(own.py): line 6: time = 'soon': allowed"),
        # What the function refuses itself is the request's.
        ("raise dl.RequestError('too small')", 2, 'test "wrong" (own.py): line 6: too small'),
    ],
)
def test_what_goes_wrong_in_a_function_is_one_line_and_leaves_nothing(
    body: str, status: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = 'import drivelab as dl\n@dl.test(group="mine")\ndef wrong(bench):\n    "M."\n\n'
    text = f"{head}    {body}\n"
    out = tmp_path / "out"
    words = ["review", MODEL_NAME, *SETS, "--plugin", str(own.put(tmp_path, text))]
    assert cli.run([*words, "--tests", "mine", "--states", "new", "--out", str(out)]) == status
    said = capsys.readouterr().err
    assert message in said
    # Before it comes that a drive of 1 GB holds back as much as one of 80.
    assert [line for line in said.splitlines() if "at this scale" not in line] == [
        said.splitlines()[-1]
    ]
    assert not (out / "results.json").exists()


def test_a_drive_in_a_state_of_ones_own_can_be_pickled_and_swept(tmp_path: Path) -> None:
    _, state = loaded(tmp_path)
    drive = small().prepare(state)
    job = dl.Job(rw="randread", bs="4k", io_size="1m")
    here = drive.run(job).summary
    again = pickle.loads(pickle.dumps(drive))
    assert again.key == drive.key != small().prepare("new").key
    assert again.run(job).summary.equals(here)
    # A worker is another process, which finds the state by its file.
    study = dl.sweep(drive, {"job.iodepth": [1]}, job=job, workers=1, progress=False)
    assert study.frame()["iops"].item() == here["iops"].item()
    grid = {"spare_ratio": [0.1]}
    swept = dl.sweep(small(), grid, job=job, state=state, workers=1, progress=False)
    assert swept[0].before.history[0]["state"]["place"] == "own.py"
    own.put(tmp_path, own.OWN.replace("50%", "60%"))
    with pytest.raises(dl.RequestError, match="has changed since this drive was stored"):
        dl.sweep(drive, {"job.iodepth": [2]}, job=job, workers=1, progress=False)


def test_a_state_that_only_the_program_has_is_refused_for_other_processes() -> None:
    space: dict[str, Any] = {"__name__": "__main__", "dl": dl}
    exec(compile('@dl.state()\ndef odd(bench):\n    "Odd."\n', "<notebook>", "exec"), space)
    with pytest.raises(dl.RequestError, match="put it in a file of its own"):
        pickle.dumps(small().in_state(space["odd"]))
    assert small().prepare(space["odd"]).measure("power-idle", quick=True).values


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: dl.state(order="5"), "order = '5': allowed: finite numbers"),
        (lambda: dl.state(order=True), "order = True: allowed: finite numbers"),
        (lambda: dl.state(order=float("nan")), "order = nan: allowed: finite numbers"),
        (lambda: dl.state(after=["used"]), "after = ['used']: allowed: a text"),
        (lambda: dl.test(group="mine", states=5)(documented), "states = 5: allowed: names"),
        (lambda: dl.test(group="mine", title=5), "title = 5: allowed: a text"),
        (lambda: dl.test(group="mine", shown="yes"), "shown = 'yes': allowed: True, False"),
        (lambda: dl.test(group="mine", name=5)(documented), "name = 5: allowed: a text"),
    ],
)
def test_what_a_decorator_can_not_take_is_refused_by_name(wrong: Any, told: str) -> None:
    with pytest.raises(dl.RequestError) as caught:
        wrong()
    assert told in str(caught.value)


def test_a_test_a_state_and_a_function_are_told_apart(tmp_path: Path) -> None:
    test, state = loaded(tmp_path)
    wrong: list[tuple[Any, str]] = [
        (lambda: small().measure(state), 'test = "half-full": that is a state; use prepare()'),
        (lambda: small().prepare(test), 'state = "small-writes": that is a test; use measure()'),
        (
            lambda: small().measure(documented),
            "test = documented: a function alone; it lacks @dl.t",
        ),
        (
            lambda: small().prepare(documented),
            "state = documented: a function alone; it lacks @dl.s",
        ),
    ]
    for call, told in wrong:
        with pytest.raises(dl.RequestError) as caught:
            call()
        assert str(caught.value).startswith(told)


def documented(bench: dl.Bench) -> None:
    """Does nothing."""
