"""Tests and states that fail in a review: what was measured beside them is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import documents
import duckdb
import own
import pytest
from small import MODEL_NAME, OVERRIDES, SETS

import drivelab as dl
from drivelab import cli, plugins, procedures, report
from drivelab.errors import RequestError, WorkError
from drivelab.quantities import repeat_seeds
from drivelab.results import without_wall_clock
from drivelab.states import STATES

FINE, BROKEN = "half", "broken"
TEXT = """
import drivelab as dl

@dl.state(after="new", order=50)
def half(bench):
    "Half of its bytes, written once."
    bench.run(dl.Job(rw="write", bs="128k", size="50%"))

@dl.state(after="new", order=51)
def broken(bench):
    "A part of its bytes."
    {}["part"]

@dl.state(after=broken, order=52)
def after_broken(bench):
    "Nothing more."

def reads(bench):
    done = bench.run(dl.Job(rw="randread", bs="4k", io_size="1m"))
    return dl.Value("iops", "Reads", done.summary["iops"].item(), "IOPS", "higher")

@dl.test(group="mine", states=[half, broken, after_broken])
def fine(bench):
    "Random reads."
    return reads(bench)

@dl.test(group="mine", states=["new", half])
def wrong(bench):
    "Reads, and what can't be."
    return [reads(bench), str(1 / WRONG)]
"""
WRONG = 'test "wrong" (own.py): line 30: ZeroDivisionError: division by zero'
LOST = "state \"broken\" (own.py): line 12: KeyError: 'part'"


def put(folder: Path, wrong: str = "0") -> Path:
    return own.put(folder, TEXT.replace("WRONG", wrong))


def reviewed(out: Path, plugin: Path, *words: str, status: int = 1) -> dict[str, Any]:
    arguments = ["review", MODEL_NAME, *SETS, "--plugin", str(plugin), "--out", str(out)]
    assert cli.run([*arguments, "--tests", "mine", *words]) == status
    found: dict[str, Any] = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return found


def test_a_review_keeps_what_is_measured_beside_a_test_and_a_state_that_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "lab.duckdb"
    found = reviewed(tmp_path / "out", put(tmp_path), "--database", str(whole))
    assert [(test["id"], test["state"]) for test in found["tests"]] == [("fine", FINE)]
    assert [state["state"] for state in found["states"]] == ["new", FINE]
    failed = [(f["id"], f["state"], f["cause"], f["reason"]) for f in found["failed"]]
    assert failed == [
        ("wrong", "new", "test", WRONG),
        ("wrong", FINE, "test", WRONG),
        ("fine", BROKEN, "state", LOST),
        ("fine", "after-broken", "state", LOST),
    ]
    said = capsys.readouterr().err
    assert f"{MODEL_NAME}: failed in new, half: {WRONG}\n" in said
    assert f"{MODEL_NAME}: left out in broken, after-broken: fine: {LOST}\n" in said
    assert said.endswith(
        "drivelab: 4 of 5 tests have no result, as told above; the others are kept\n"
    )
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Without a result" in page
    assert "line 30: ZeroDivisionError" in page
    for base in (whole, tmp_path / "out" / "results.duckdb"):
        with duckdb.connect(str(base), read_only=True) as tables:
            kept = tables.execute("SELECT test, state FROM tests").fetchall()
        assert kept == [("fine", FINE)]
    # What is kept is what it is without the others.
    alone = reviewed(tmp_path / "alone", put(tmp_path, "1"), "--states", FINE, status=0)
    assert alone["tests"][0]["values"] == found["tests"][0]["values"]


def test_any_number_of_workers_fails_alike(tmp_path: Path) -> None:
    one, two = (reviewed(tmp_path / n, put(tmp_path), "--workers", n) for n in ("1", "2"))
    assert without_wall_clock(one) == without_wall_clock(two)


def test_a_review_without_any_result_leaves_what_was_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    before = reviewed(out, put(tmp_path, "1"), "--states", FINE, status=0)
    assert "failed" not in before
    assert "Without a result" not in (out / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert reviewed(out, put(tmp_path), "--states", BROKEN) == before
    said = capsys.readouterr().err
    assert said.splitlines()[-1] == (
        f"drivelab: {MODEL_NAME}: left out in broken: fine, wrong: {LOST}"
    )


def test_what_fails_with_one_seed_has_no_mean(tmp_path: Path) -> None:
    text = TEXT.replace("str(1 / WRONG)", "kept(bench)") + (
        "\nSEEN = []\n"
        "def kept(bench):\n"
        "    SEEN.append(bench.seed)\n"
        "    return 'x' if len(SEEN) != 2 else 1 / 0\n"
    )
    words = ("--states", FINE, "--repeat", "3")
    found = reviewed(tmp_path / "out", own.put(tmp_path, text), *words)
    [test] = found["tests"]
    assert test["id"] == "fine"
    assert len(test["repeats"]["value:iops"]["values"]) == 3
    [failed] = found["failed"]
    seeds = found["drivelab"]["repeats"]["seeds"]
    assert failed["reason"].endswith(f"ZeroDivisionError: division by zero (seed {seeds[1]})")


@pytest.mark.parametrize(
    ("second", "status"),
    [("RequestError('no such part')", 2), ("WorkError('a defect of the disk')", 1)],
)
def test_what_no_seed_has_left_is_told_of_all_seeds(
    second: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each test failed with another seed: what the first one ended with is half of the reason."""
    text = """
import drivelab as dl
from drivelab.errors import RequestError, WorkError

SEEDS = []

@dl.test(group="mine", states=["new"])
def first(bench):
    "Fails with the second seed only."
    SEEDS.append(bench.seed)
    if len(SEEDS) > 1:
        raise RequestError("too late")
    return dl.Value("one", "One", 1.0, "", "higher")

@dl.test(group="mine", states=["new"])
def second(bench):
    "Fails with the first seed."
    raise SECOND
"""
    plugin = own.put(tmp_path, text.replace("SECOND", second))
    words = ["review", MODEL_NAME, *SETS, "--plugin", str(plugin), "--tests", "mine"]
    out = tmp_path / "out"
    assert cli.run([*words, "--repeat", "2", "--out", str(out)]) == status
    said = capsys.readouterr().err.splitlines()[-2:]
    assert 'second"' in said[0]
    assert said[0].endswith("(seed 1)")
    assert 'first"' in said[1]
    assert said[1].endswith(f"too late (seed {repeat_seeds(1, 2)[1]})")
    assert not (out / "results.json").exists()


def raising(error: Exception) -> Callable[..., Any]:
    def measure(*_: object) -> Any:
        raise error

    return measure


def test_tests_and_states_that_come_along_fail_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A real drive may fail at any of them: fio says so in an error of the laboratory's."""
    broken = procedures.PROCEDURES["access-time"]
    monkeypatch.setattr(type(broken), "measure", raising(WorkError("fio failed (status 1)")))
    step = raising(RequestError("fio:x: can't be had"))
    monkeypatch.setitem(STATES["filled"].__dict__, "step", step)
    words = ["review", MODEL_NAME, *SETS, "--quick", "--out", str(tmp_path), "--states"]
    assert cli.run([*words, "new,filled", "--tests", "access-time,power-idle"]) == 1
    said = capsys.readouterr().err
    assert f'{MODEL_NAME}: failed in new: test "access-time": fio failed (status 1)\n' in said
    assert 'left out in filled: access-time, power-idle: state "filled": fio:x: can\'t be' in said
    [test] = json.loads((tmp_path / "results.json").read_text("utf-8"))["tests"]
    assert (test["id"], test["state"]) == ("power-idle", "new")


@pytest.mark.programs("fio")
def test_a_state_that_fails_on_a_real_drive_is_not_tried_for_every_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drive, tried = tmp_path / "drive", tmp_path / "tried"
    drive.touch()
    # It is rehearsed for both tests before the drive is touched.
    body = (
        "    from pathlib import Path\n"
        f"    tried = Path({str(tried)!r})\n"
        "    tried.write_text((tried.read_text() if tried.exists() else '') + 'x')\n"
        "    1 / (len(tried.read_text()) < 3)"
    )
    text = TEXT.replace('    {}["part"]', body).replace("WRONG", "1")
    words = ["review", f"fio:{drive}", "--size", "64m", "--buffered", "--quick", "--tests", "mine"]
    words += ["--plugin", str(own.put(tmp_path, text)), "--states", "new,broken"]
    assert cli.run([*words, "--out", str(tmp_path / "out")]) == 1
    assert tried.read_text() == "xxx"
    said = capsys.readouterr().err
    assert 'left out in broken: fine, wrong: state "broken"' in said
    tests = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["tests"]
    assert [(test["id"], test["state"]) for test in tests] == [("fine", "new"), ("wrong", "new")]


WORN = {
    "flash.bit_errors": "true",
    "flash.erase_failure_rate": "1",
    "flash.initial_cycles": "20000",
}
UNREACHED = (
    'state "tortured" isn\'t reached: the drive refused or failed commands of its preparation'
)


def test_a_drive_whose_life_ends_on_the_way_to_a_state_is_in_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It had rates, in a state that it never came to, after hundreds of millions of refusals."""
    sets = [word for key, value in WORN.items() for word in ("--set", f"{key}={value}")]
    words = ["review", MODEL_NAME, *SETS, *sets, "--quick", "--tests", "access-time"]
    assert cli.run([*words, "--states", "new,tortured-pass", "--out", str(tmp_path)]) == 1
    told = f"left out in tortured-pass: access-time: {UNREACHED}"
    assert told in capsys.readouterr().err
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [state["state"] for state in found["states"]] == ["new"]
    (tmp_path / "r.fio").write_text("[r]\nrw=randread\nio_size=1m\n", encoding="utf-8")
    run = ["run", str(tmp_path / "r.fio"), "--drive", MODEL_NAME, *SETS, *sets]
    assert cli.run([*run, "--state", "tortured"]) == 1
    assert f"drivelab: {UNREACHED}" in capsys.readouterr().err
    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES) | WORN)
    with pytest.raises(WorkError, match="isn't reached"):
        drive.prepare("tortured")
    # Of a sweep it says which drive it was.
    job, rates = dl.Job(rw="randread", io_size="1m"), {"flash.erase_failure_rate": [1]}
    with pytest.raises(WorkError, match=r"erase_failure_rate': 1}: state \"tortured\" isn't"):
        dl.sweep(drive, rates, job=job, state="tortured", workers=1, progress=False)
    # What was there before its end is what was asked for.
    assert drive.prepare("filled").counters["refused_commands"] == 0


def test_a_state_of_ones_own_may_be_the_end_of_a_drive() -> None:
    @dl.state(after="filled")
    def dead(bench: dl.Bench) -> None:
        "Written until it only reads."
        bench.run(dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="2g", norandommap=True))

    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES) | WORN).prepare(dead)
    assert drive.counters["read_only"] == 1


def test_a_defect_of_the_laboratory_ends_a_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = procedures.PROCEDURES["access-time"]
    monkeypatch.setattr(type(broken), "measure", raising(AssertionError("a defect")))
    words = ["review", MODEL_NAME, *SETS, "--quick", "--out", str(tmp_path), "--states", "new"]
    with pytest.raises(AssertionError, match="a defect"):
        cli.run([*words, "--tests", "access-time,power-idle"])


ODD = """
import drivelab as dl
from drivelab.procedures.measured import Measured

@dl.test(group="mine", states=["new"])
def fine(bench):
    "The capacity."
    return dl.Value("bytes", "Bytes", bench.capacity_bytes, "B")

@dl.test(group="mine", states=["new"])
def wrong(bench):
    "A value that can't be."
    return dl.Value("gain", "Gain", 10**400, "", "higher")

class Other(type(fine)):
    def measure(self, target, seed, quick, progress):
        return Measured(more={"span_bytes": "all"})

odd = Other(id="odd", title="Odd", group="mine", states=("new",), default_for=(),
            function=fine.function)
"""


def test_what_a_test_found_and_results_cannot_hold_costs_that_test_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One wrong field ended the review of every drive, with nothing of it kept."""
    plugin = own.put(tmp_path, ODD)
    found = reviewed(tmp_path / "out", plugin)
    assert [test["id"] for test in found["tests"]] == ["fine"]
    told = {record["id"]: record["reason"] for record in found["failed"]}
    assert 'test "wrong" (own.py): line 13: Value "gain": value = 1000' in told["wrong"]
    odd = 'test "odd": what it found is no record of results.json: span_bytes is "all"; allowed: '
    assert odd in told["odd"]
    assert odd in capsys.readouterr().err
    # A script is told the same.
    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES)).prepare("new")
    for test in (test for test in plugins.known([plugin]).tests.values() if test.id in told):
        with pytest.raises(WorkError) as caught:
            drive.measure(test)
        assert str(caught.value) == told[test.id]


def test_a_comparison_says_why_a_side_lacks_a_test(tmp_path: Path) -> None:
    there = tmp_path / "there"
    text = f"from pathlib import Path\n{TEXT}".replace("WRONG", f"Path({str(there)!r}).exists()")
    plugin = own.put(tmp_path, text)
    reviewed(tmp_path / "b", plugin, "--states", FINE)
    there.touch()
    reviewed(tmp_path / "a", plugin, "--states", FINE, status=0)
    words = ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path)]
    assert cli.run(words) == 0
    [left_out] = json.loads((tmp_path / "compare.json").read_text("utf-8"))["left_out"]
    assert left_out["reason"] == f"only A has it; B: {WRONG}".replace("line 30", "line 31")


def test_models_that_are_compared_keep_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", MODEL_NAME, "intel-x25-e-32gb", "--scale", "1/64", "--tests", "mine"]
    words += ["--plugin", str(put(tmp_path)), "--states", FINE, "--out", str(tmp_path / "out")]
    assert cli.run(words) == 1
    said = capsys.readouterr().err
    for name in (MODEL_NAME, "intel-x25-e-32gb"):
        assert f"{name}: failed in half: {WRONG}\n" in said
    found = json.loads((tmp_path / "out" / "compare.json").read_text("utf-8"))
    assert [pair["id"] for pair in found["tests"]] == ["fine"]


def test_a_report_says_what_is_missing_as_it_was_said() -> None:
    found = documents.review(documents.stream("a", "new"))
    own_record = {"model": found["models"][0]["name"], "state": "new", "id": "x", "group": "mine"}
    own_record |= {"title": "Test X", "cause": "test", "reason": 'test "x": <too> much'}
    page = report.render(found | {"failed": [own_record]})
    assert "Test X" in page
    assert "&lt;too&gt; much" in page
