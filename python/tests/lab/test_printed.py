"""What `print` shows of the library's objects: the tables that commands print."""

from __future__ import annotations

import json
from pathlib import Path

import documents
import pytest
from small import MODEL_NAME, SETS

import drivelab as dl
from drivelab import cli
from drivelab.documents import to_json
from drivelab.procedures.measured import Measured
from drivelab.text import comparison, replay, review, terminal

SMALL = ["--drive", MODEL_NAME, *SETS]
TRACE = "".join(
    f"{128166372003061629 + index * 100_000},hm,0,Write,{index % 7 * 4096},4096,1000\n"
    for index in range(50)
)


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints, empty lines at both ends left out, as `str` does."""
    assert cli.run(words) == 0
    return capsys.readouterr().out.strip("\n")


def written(folder: Path, *tests: dict[str, object]) -> Path:
    folder.mkdir()
    (folder / "results.json").write_text(to_json(documents.review(*tests)), encoding="utf-8")
    return folder


def test_a_review_is_printed_as_its_tables(tmp_path: Path) -> None:
    found = dl.read(written(tmp_path / "r", documents.stream("b"), documents.compound("a")))
    shown = str(found)
    assert shown == terminal.as_text(review.parts(found.run.document))
    heads = [line for line in shown.splitlines() if line.startswith("test ")]
    assert [line.split()[-1] for line in heads] == ["W", "unit"]
    # What tables it has is told by a cell of a notebook that ends with it.
    assert shown != repr(found)
    assert "percentiles" in repr(found)


def test_why_a_test_has_no_values_is_printed_below_them(tmp_path: Path) -> None:
    empty = documents.compound("a", test_id="endurance", notes=["not measured: no drive for it"])
    empty["values"] = [value | {"value": None} for value in empty["values"]]
    told = documents.compound("b", notes=["a remark of a test that has values"])
    shown = str(dl.read(written(tmp_path / "r", empty, told)))
    assert "Test endurance, new: not measured: no drive for it" in shown
    assert "a remark" not in shown


def test_what_a_test_found_is_printed_as_its_values_tables_and_notes() -> None:
    found = Measured(
        values=(dl.Value("p99_us", "99 % of reads at most", 212.0, "us"),),
        tables=(
            dl.Table(
                "rates",
                "Reads by rate of writing",
                [dl.Column("what", "Beside"), dl.Column("p99_us", "99 % at most", "us")],
                [{"what": "nothing", "p99_us": 91.5}, {"what": "writes", "p99_us": None}],
            ),
        ),
        deviations=("of ours",),
        notes=("two rates",),
    )
    lines = [line.split() for line in str(found).splitlines()]
    assert lines == [
        ["value", "unit"],
        ["99", "%", "of", "reads", "at", "most", "212", "us"],
        [],
        ["Reads", "by", "rate", "of", "writing"],
        ["Beside", "99", "%", "at", "most,", "us"],
        ["nothing", "91.5"],
        ["writes", "-"],
        ["deviation:", "of", "ours"],
        ["note:", "two", "rates"],
    ]
    assert "<pre>" in found._repr_html_()


def test_a_test_that_found_nothing_is_printed_as_nothing() -> None:
    assert str(Measured()) == ""


@pytest.mark.parametrize("rounds", [[], ["--repeat", "2"]])
def test_a_replay_that_is_read_is_printed_as_its_command_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rounds: list[str]
) -> None:
    (tmp_path / "t.csv").write_text(TRACE, encoding="utf-8")
    small = ["--drive", MODEL_NAME, "--scale", "1/128"]
    words = ["replay", str(tmp_path / "t.csv"), *small, *rounds]
    shown = printed([*words, "--database", str(tmp_path / "l.duckdb")], capsys)
    assert str(dl.read(tmp_path / "l.duckdb")) == shown
    assert ("this small version, 1/128" in shown) == bool(rounds)


def test_a_replay_of_before_is_printed_without_what_was_not_told_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(TRACE, encoding="utf-8")
    assert cli.run(["replay", str(tmp_path / "t.csv"), *SMALL, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    whole = terminal.as_text(replay.parts(document))
    del document["gaps_cut"], document["replay"]["unmapped_read_share"]
    assert terminal.as_text(replay.parts(document)) == whole != ""


def test_a_run_that_is_read_is_printed_as_its_command_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "j.fio").write_text("[a]\nrw=randwrite\nsize=1m\nfsync=8\n", encoding="utf-8")
    words = ["run", str(tmp_path / "j.fio"), *SMALL, "--database", str(tmp_path / "l.duckdb")]
    shown = printed(words, capsys)
    assert str(dl.read(tmp_path / "l.duckdb")) == shown
    assert [line.split()[1] for line in shown.splitlines()[1:3]] == ["write", "flush"]


def test_repeats_say_what_their_numbers_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "j.fio").write_text("[a]\nrw=randwrite\nsize=1m\n", encoding="utf-8")
    words = ["run", str(tmp_path / "j.fio"), *SMALL, "--repeat", "2"]
    shown = printed([*words, "--database", str(tmp_path / "l.duckdb")], capsys)
    table, last = shown.rsplit("\n", 1)
    # The command tells it on standard error.
    found, note, end = str(dl.read(tmp_path / "l.duckdb")).rsplit("\n", 2)
    assert (found, end) == (table, last)
    assert note.startswith("Means of 2 repeats")


def test_a_study_is_printed_by_what_is_varied(tmp_path: Path) -> None:
    drive, grid = dl.Drive(MODEL_NAME, scale="1/128"), {"job.iodepth": [1, 4]}
    job = dl.Job(rw="randwrite", bs="4k", io_size="1m")
    dl.sweep(drive, grid, job=job, workers=1, store=tmp_path / "s", progress=False)
    head, *rows = str(dl.read(tmp_path / "s")).splitlines()
    assert head.split()[:3] == ["job.iodepth", "direction", "iops"]
    assert [row.split()[0] for row in rows] == ["1", "4"]


def test_models_and_repeats_of_a_study_are_told_apart(tmp_path: Path) -> None:
    drive, grid = dl.Drive(MODEL_NAME, scale="1/128"), {"spare_ratio": [0.1, 0.2]}
    job = dl.Job(rw="randwrite", bs="4k", io_size="1m")
    study = dl.sweep(
        drive, grid, job=job, repeats=2, workers=1, store=tmp_path / "s", progress=False
    )
    head, *rows = str(dl.read(tmp_path / "s")).splitlines()
    assert head.split()[:4] == ["spare_ratio", "seed", "direction", "iops"]
    told = [tuple(row.split()[:2]) for row in rows]
    points = study.frame().select("spare_ratio", "seed").rows()
    assert sorted(told) == sorted((str(ratio), str(seed)) for ratio, seed in points)


def test_a_comparison_is_printed_as_by_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = [documents.stream(rate=10.0), documents.stream(test_id="random-read-4k-qd1-aligned")]
    one, other = tests, [documents.stream(rate=20.0)]
    sides = [
        str(written(tmp_path / name, *found)) for name, found in (("one", one), ("other", other))
    ]
    shown = printed(["compare", *sides, "--out", str(tmp_path / "c")], capsys)
    found = dl.compare(*sides)
    notes = "\n".join(f"note: {note}" for note in found.notes)
    assert notes
    assert str(found) == f"{shown}\n{notes}"
    assert "B to A" in shown
    assert "+100 %" in shown


def test_the_rest_of_a_long_comparison_is_where_it_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "SHOWN_MAX", 1)
    names = ("random-write-4k", "random-write-4k-qd1-drive", "random-write-4k-qd3-sector")
    tests = [documents.stream(test_id=name) for name in names]
    found = dl.compare(written(tmp_path / "x", *tests), written(tmp_path / "y", *tests))
    assert "and 2 more in frame()" in str(found).splitlines()


@pytest.mark.parametrize("name", [MODEL_NAME, "wd-velociraptor-300gb"])
def test_a_data_sheet_is_printed_as_by_show(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = dl.Drive(name).datasheet()
    assert str(sheet) == printed(["show", name], capsys)
    assert repr(sheet) == str(sheet)
    assert sheet.limits.is_empty() == (name != MODEL_NAME)
    keys = [parameter["key"] for parameter in dl.Drive(name).model.parameters]
    assert sheet.parameters["key"].to_list() == keys
    assert sheet._repr_html_().startswith("<pre>")


def test_text_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = dl.Drive(MODEL_NAME).datasheet()
    monkeypatch.setattr(terminal, "width", lambda: 80)
    assert max(map(len, str(sheet).splitlines())) <= 80
    # What is allowed has no room there.
    assert "allowed" not in str(sheet).split("\n\n")[2]
