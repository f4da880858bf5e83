from __future__ import annotations

import json
from pathlib import Path

import documents
import pytest
from small import MODEL_NAME, SETS

from drivelab import cli, database, repeats, review
from drivelab.database import Recorded
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.results import to_json

TEST = "random-write-4k-qd3-sector"
OTHER = "intel-x25-m-g2-80gb"


def stored(path: Path, document: documents.Record) -> str:
    path.mkdir()
    (path / "results.json").write_text(to_json(document), encoding="utf-8")
    return str(path)


def test_models_are_reviewed_in_one_run_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, lab = tmp_path / "out", tmp_path / "lab.duckdb"
    words = ["compare", MODEL_NAME, OTHER, *SETS, "--quick", "--tests", TEST, "--states", "new"]
    assert cli.run([*words, "--out", str(out), "--database", str(lab), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [side["model"] for side in printed["sides"]] == [MODEL_NAME, OTHER]
    assert [test["id"] for test in printed["tests"]] == [TEST]
    assert printed == json.loads((out / "compare.json").read_text(encoding="utf-8"))
    assert {path.name for path in out.iterdir()} == {
        *("compare.html", "compare.json", "results.json", "results.duckdb")
    }
    assert [run["kind"] for run in database.runs(lab, "FILE")] == ["review"]

    # Stored, with a third model measured as they were: same tests, states, quick.
    again = ["compare", str(out), "intel-x25-m-g1-80gb", *SETS, "--out", str(tmp_path / "again")]
    assert cli.run([*again, "--json"]) == 0
    three = json.loads(capsys.readouterr().out)
    [test] = three["tests"]
    assert test["metrics"][0]["values"][0] == test["metrics"][0]["values"][2]

    # With another seed stored, the model's own, and the command that repeats both, has it too.
    seeded = str(tmp_path / "seeded")
    assert cli.run(["review", OTHER, *words[3:], "--seed", "7", "--out", seeded]) == 0
    again = ["compare", seeded, MODEL_NAME, *SETS, "--out", str(tmp_path / "both")]
    assert cli.run([*again, "--json"]) == 0
    capsys.readouterr()
    reviewed = json.loads((tmp_path / "both" / "results.json").read_text(encoding="utf-8"))
    assert reviewed["drivelab"]["seed"] == 7
    assert reviewed["drivelab"]["command_line"] == (
        f"drivelab compare {seeded} {MODEL_NAME} {' '.join(SETS)} --seed 7"
    )


def test_notes_are_told_with_their_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both, one = "Not steady after 4 rounds.", "Only the second says so."
    tests = [documents.compound("a", notes=[both]), documents.compound("b", notes=[both, one])]
    sides = [stored(tmp_path / test["model"], documents.review(test)) for test in tests]
    assert cli.run(["compare", *sides, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    for note in (f"A, B: {both}", f"B: {one}"):
        assert f"note: Test sweep, new: {note}" in printed
        assert f'<p class="note">{note}</p>' in page


def test_a_note_of_all_tests_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common, own = "A small version.", "Not steady after 4 rounds."
    sides = []
    for name in "ab":
        tests = [documents.compound(name, test_id=f"t{n}", notes=[common]) for n in range(5)]
        tests[0]["notes"] = [common, own]
        tests[4]["notes"] = [] if name == "b" else [common]
        sides.append(stored(tmp_path / name, documents.review(*tests)))
    assert cli.run(["compare", *sides, "--out", str(tmp_path / "out")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert lines == [
        f"note: 4 of 5 tests: A, B: {common}",
        f"note: Test t0, new: A, B: {own}",
        f"note: Test t4, new: A: {common}",
    ]
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    for note in (f"4 of 5 tests: A, B: {common}", f"A, B: {own}", f"A: {common}"):
        assert page.count(f'<p class="note">{note}</p>') == 1
    assert page.count(common) == 2


def test_stored_results_of_every_kind_can_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = stored(tmp_path / "one", documents.review(documents.stream("a", rate=10)))
    lab = tmp_path / "lab.duckdb"
    for rate in (20, 30):
        tests = [documents.stream("b", rate=rate), documents.compound("b")]
        database.append(lab, Recorded.review(documents.review(*tests)))
    sides = [one, f"{one}/results.json", f"{lab}:2"]
    assert cli.run(["compare", *sides, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    assert "Drive B" in printed.out
    assert "3.0 times as fast" in printed.out
    assert "only one side has them: C Test sweep, new" in printed.err
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"compare.html", "compare.json"}


def test_what_can_not_be_compared_is_refused_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    one = stored(tmp_path / "one", documents.review(documents.stream("a")))
    other = stored(tmp_path / "other", documents.review(documents.stream("b", data="random")))
    for words, message in (
        ([one], "two drives at least"),
        ([OTHER], f"there is 1: {OTHER}"),
        ([one] * 6 + [OTHER], "there are 7: "),
        ([one, str(tmp_path / "lab.duckdb:x")], '"x" is no run; allowed: numbers'),
        ([one, other, "--states", "used"], "no results of state used; there are some of"),
        ([one, other], "Data patterns differ"),
        ([one, "no-such-model"], "no-such-model"),
        ([one, str(tmp_path / "lab.duckdb:1")], "no such file"),
        ([one, other, "--tests", "no-such-test"], "no-such-test"),
        ([one, other, "--set", "spare_ratio=1"], "--set: counts for models, and all sides are st"),
        (
            [one, OTHER, *SETS, "--quick"],
            "a whole run, and models would be reviewed in a quick one",
        ),
        ([one, other, "--seed", "2"], "--seed: counts for models"),
        ([one, other, "--scale", "1/8"], "--scale: counts for models"),
        ([one, other, "--quick"], "--quick: counts for models"),
    ):
        assert cli.run(["compare", *words, "--out", str(out)]) == 2
        assert message in capsys.readouterr().err
        assert not out.exists()
    assert cli.run(["compare", one, other, "--force", "--out", str(out)]) == 0
    said = capsys.readouterr().err
    assert "forced: Data patterns differ" in said
    assert "replaced" not in said
    assert cli.run(["compare", one, other, "--force", "--out", str(out)]) == 0
    assert f"{out}: the results there will be replaced" in capsys.readouterr().err
    assert "Compared by force" in (out / "compare.html").read_text(encoding="utf-8")


def test_a_test_that_can_not_be_compared_is_left_out_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (
        stored(
            tmp_path / name,
            documents.review(documents.stream(name, data=data), documents.compound(name)),
        )
        for name, data in (("a", "repeating"), ("b", "random"))
    )
    assert cli.run(["compare", one, other, "--out", str(tmp_path / "out"), "--json"]) == 0
    printed = capsys.readouterr()
    assert "left out: Data patterns differ" in printed.err
    assert [test["id"] for test in json.loads(printed.out)["tests"]] == ["sweep"]


def test_a_review_is_kept_if_its_comparison_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A drive of 1 GB is smaller than the span of the test.
    large, out = str(tmp_path / "large"), str(tmp_path / "out")
    words = ["--set", "partition_bytes=20000000000", "--tests", TEST, "--states", "new", "--quick"]
    assert cli.run(["review", OTHER, *words, "--out", large]) == 0
    capsys.readouterr()
    assert cli.run(["compare", large, MODEL_NAME, *SETS, "--out", out]) == 2
    message = capsys.readouterr().err
    assert "Spans differ" in message
    assert "The review is kept" in message
    assert cli.run(["compare", large, out, "--force", "--out", str(tmp_path / "forced")]) == 0


DISK = "wd-velociraptor-300gb"


def plan_beside(
    stored_review: str, model: str, monkeypatch: pytest.MonkeyPatch, *more: str
) -> review.Plan | None:
    """What would be reviewed of a model beside stored results; None if it is refused before."""
    plans: list[review.Plan] = []

    def stop(plan: review.Plan, _: int) -> None:
        plans.append(plan)
        raise RequestError("enough")

    monkeypatch.setattr(repeats, "review", stop)
    assert cli.run(["compare", stored_review, model, *more, "--out", f"{stored_review}-out"]) == 2
    return plans[0] if plans else None


def test_models_are_measured_as_stored_drives_were_as_far_as_they_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = [
        documents.stream(test_id=TEST, state="used"),
        documents.stream(test_id=TEST, state="used-trimmed"),
        documents.compound(test_id="spare-area"),
        documents.compound(test_id="alignment"),
        documents.compound(test_id="pts-iops", state="used"),
    ]
    whole = stored(tmp_path / "whole", documents.review(*tests, unabridged=True))

    def found(model: str) -> dict[str, set[str]]:
        plan = plan_beside(whole, model, monkeypatch)
        assert plan is not None
        assert plan.unabridged
        states: dict[str, set[str]] = {}
        for item in plan.measurements[model]:
            states.setdefault(item.procedure.id, set()).add(item.state.name)
        return states

    assert found(DISK) == {TEST: {"new"}, "pts-iops": {"new"}}
    assert "mean nothing on hard disks: spare-area, alignment" in capsys.readouterr().err
    assert found(OTHER) == {
        TEST: {"used", "used-trimmed"},
        "spare-area": {"new"},
        "alignment": {"new"},
        "pts-iops": {"new"},
    }
    # The first X25-M has no TRIM.
    assert found(MODEL_NAME)[TEST] == {"used"}
    assert "ignores TRIM: used-trimmed" in capsys.readouterr().err


def test_models_without_anything_to_be_compared_are_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = stored(tmp_path / "one", documents.review(documents.compound(test_id="spare-area")))
    assert plan_beside(one, DISK, monkeypatch) is None
    assert f'MODEL "{DISK}": nothing that was measured' in capsys.readouterr().err


def test_a_model_is_reviewed_at_the_scale_of_stored_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = documents.model("a")
    small["parameters"] = [small["parameters"][0] | {"key": "scale_divisor", "value": 64}]
    tests = [documents.stream("a", test_id=TEST)]
    one = stored(tmp_path / "one", documents.review(*tests, models=[small]))
    plan = plan_beside(one, MODEL_NAME, monkeypatch)
    assert plan is not None
    assert [model.scale for model in plan.models if isinstance(model, Model)] == [64]
    assert f'SIDE "{one}": a small version, 1/64; models are' in capsys.readouterr().err
    assert plan_beside(one, DISK, monkeypatch) is None
    assert f'MODEL "{DISK}" would be reviewed at 1/1, which can\'t' in capsys.readouterr().err
    whole = stored(tmp_path / "whole", documents.review(*tests))
    for sides, other in (([one], "1/32"), ([whole], "1/64"), ([one, whole], "1/64")):
        more = [*sides[:-1], "--scale", other]
        assert plan_beside(sides[-1], MODEL_NAME, monkeypatch, *more) is None
        said = capsys.readouterr().err
        assert f"would be reviewed at {other}, which can't be compared; --force does it" in said


def test_recorded_runs_and_replays_are_compared_by_job_and_direction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab, job, trace = (tmp_path / name for name in ("lab.duckdb", "j.fio", "t.trace"))
    job.write_text("[j]\nrw=randrw\nbs=4k\nsize=4m\n", encoding="utf-8")
    trace.write_text("0 0 0 8 0\n1000000 0 64 8 1\n", encoding="utf-8")
    for extra in ([], ["--set", "flash.program_ns=1800000"]):
        common = [*SETS, *extra, "--drive", MODEL_NAME, "--database", str(lab)]
        assert cli.run(["run", str(job), *common]) == 0
        assert cli.run(["replay", str(trace), "--format", "mqsim", *common]) == 0
    capsys.readouterr()
    for runs, ids in ((("1", "3"), "run j"), (("2", "4"), "replay t.trace")):
        sides = [f"{lab}:{run}" for run in runs]
        assert cli.run(["compare", *sides, "--out", str(tmp_path / "out"), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert sorted(test["id"] for test in found["tests"]) == [f"{ids} read", f"{ids} write"]
        keys = [item["key"] for item in found["specifications"]["different"]]
        assert keys == ["flash.program_ns"]
    # The same trace in another pacing is another test.
    closed = ["--pacing", "closed", "--queue-depth", "2", "--database", str(lab)]
    words = ["replay", str(trace), "--format", "mqsim", *SETS, "--drive", MODEL_NAME, *closed]
    assert cli.run(words) == 0
    assert cli.run(["compare", f"{lab}:2", f"{lab}:5", "--out", str(tmp_path / "none")]) == 2
    assert "B pacing=closed queue_depth=2 requests=2 bytes=8192" in capsys.readouterr().err
    assert cli.run(["compare", f"{lab}:1", f"{lab}:2", "--out", str(tmp_path / "none")]) == 2
    assert "No test was made in the same state" in capsys.readouterr().err
