from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import documents
import pytest
from figures.sample import TESTS, X25_M

from drivelab import cli, database, figures
from drivelab.database import Recorded
from drivelab.documents import to_json
from drivelab.figures.selection import UNCOMPARED

X25_M_NAME = "intel-x25-m-g1-80gb"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """results.json of a review."""
    path = tmp_path / "results.json"
    path.write_text(to_json(review()), encoding="utf-8")
    return path


def review() -> dict[str, Any]:
    """A review of one model."""
    [usual, _] = documents.model()["parameters"]
    parameters = {"parameters": [usual | item for item in X25_M["parameters"]]}
    return documents.review(
        *(whole(test) for test in TESTS),
        models=[documents.model() | X25_M | {"hash": "0" * 64} | parameters],
    )


def whole(test: dict[str, Any]) -> dict[str, Any]:
    """A test's record with all that one has."""
    usual = documents.stream()
    latency = {"latency_us": usual["latency_us"] | test.get("latency_us", {})}
    return usual | test | {"pass": None} | latency


def test_all_figures_and_orderings_as_one_document(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["figures", "--results", str(results), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    parts = {"figures", "orderings", "statements", "traces", "parameters"}
    assert set(found) == {"drivelab", "models", "summary", "on_other_pages"} | parts | {
        "specification_sheet_only"
    }
    assert len(found["statements"]) == found["summary"]["statements"]["count"] == 76
    assert len(found["figures"]) == found["summary"]["figures"] == 171
    assert len(found["orderings"]) == 26
    needed = {"id", "drive", "firmware", "state", "metric", "unit", "published", "modelled"}
    assert all(
        needed | {"error_ratio", "role", "bound_by", "blind"} <= set(record)
        for record in found["figures"]
    )


def test_only_some_by_identity_or_by_kind(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["figures", "--results", str(results), "--json", "--only"]
    assert cli.run([*words, "AN-095,ORD-004,ST-047"]) == 0
    found = json.loads(capsys.readouterr().out)
    kinds = ("figures", "orderings", "statements")
    assert [[item["id"] for item in found[kind]] for kind in kinds] == [
        *(["AN-095"], ["ORD-004"]),
        ["ST-047"],
    ]
    assert cli.run([*words, "statements"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(found[kind]) for kind in kinds] == [0, 0, 76]
    assert cli.run([*words, "ST-999"]) == 2
    assert "no such figure, ordering or statement" in capsys.readouterr().err
    assert cli.run([*words, ""]) == 2
    assert '--only "": give names' in capsys.readouterr().err


def test_a_figure_that_is_never_compared_is_refused_with_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["figures", "--only", "AN-051"]) == 2
    assert "specifications are what models are made of" in capsys.readouterr().err
    compared = set(figures.compared_ids())
    kinds = {figure.kind for figure in figures.published() if figure.id not in compared}
    assert kinds == set(UNCOMPARED), "each kind has its reason"


def test_figures_of_one_drive(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figures", "--results", str(results), "--drive", X25_M_NAME, "--json"]
    assert cli.run(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert {record["drive"] for record in found["figures"]} == {"Intel X25-M G1 80GB"}
    assert found["orderings"] == []


def test_a_table_for_people_ends_with_the_summary(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["figures", "--results", str(results)]) == 0
    printed = capsys.readouterr().out
    assert "AN-200" in printed
    assert "171 figures, " in printed


def test_a_table_for_documents(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figures", "--results", str(results), "--drive", X25_M_NAME, "--markdown"]
    assert cli.run(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| figure |")
    assert {line[0] for line in lines} == {"|"}


def test_a_page_with_its_plot(results: Path, tmp_path: Path) -> None:
    page = tmp_path / "page" / "figures.md"
    assert cli.run(["figures", "--results", str(results), "--write", str(page)]) == 0
    assert {path.name for path in page.parent.iterdir()} == {"figures.md", "figures.svg"}
    assert "![" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--write", "figures.txt"], '--write "figures.txt"'),
        (["--write", "figures.md", "--only", "AN-149"], "about all drives; leave --only out"),
        (["--write", "/proc/nowhere/figures.md"], '--write "/proc/nowhere/figures.md"'),
        (["--write", "figures.md", "--drive", X25_M_NAME], "leave --drive out"),
        (["--drive", "intel-x25-m-g1-80gb@9999"], "no firmware variants"),
        (["--set", "spare"], "expected KEY=VALUE"),
    ],
)
def test_wrong_requests_are_refused_before_any_work(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["figures", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_settings_and_results_exclude_each_other(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["figures", "--results", str(results), "--set", "ftl.victim_selection=fifo"]
    assert cli.run(words) == 2
    assert "can't be combined" in capsys.readouterr().err


def test_nothing_was_published_of_parts_of_drives_and_small_versions(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = review()
    part["drivelab"]["span_bytes"] = 2**30
    small = review()
    [usual, *_] = small["models"][0]["parameters"]
    small["models"][0]["parameters"].append(usual | {"key": "scale_divisor", "value": 64})
    for document, told in ((part, "a run with --span"), (small, "a small version of")):
        results.write_text(to_json(document), encoding="utf-8")
        assert cli.run(["figures", "--results", str(results)]) == 2
        printed = capsys.readouterr()
        assert told in printed.err
        assert not printed.out


@pytest.mark.parametrize("memory", ["0", "4q", "-1"])
def test_room_for_drives_is_a_size(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["figures", "--memory", memory]) == 2
    assert f'--memory "{memory}": allowed: ' in capsys.readouterr().err


def test_a_folder_and_a_run_of_a_database_give_the_same_figures(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = results.parent / "lab.duckdb"
    database.append(path, Recorded.review(review()))
    printed = []
    for place in (results, results.parent, f"{path}:1"):
        assert cli.run(["figures", "--results", str(place), "--only", "AN-095", "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"models": [{}]}, "models[0] lacks name, title, hash"),
        ({"drivelab": []}, "schema None is not readable"),
        ({"tests": [{"kind": "stream"}]}, "tests[0] lacks id, title, group, model, state"),
        ({"tests": {}}, "tests is {}; allowed: a list"),
    ],
)
def test_damaged_results_are_refused_in_one_line(
    changed: dict[str, Any], words: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results.write_text(json.dumps(review() | changed), encoding="utf-8")
    assert cli.run(["figures", "--results", str(results)]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out
