"""Commands that are started with standard streams which lack something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import documents
import pytest
from small import MODEL_NAME, SETS

from drivelab.results import to_json

PROGRAM = [sys.executable, "-c", "from drivelab.cli import main; main()"]


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_a_closed_stream_is_nobody_s(closed: tuple[int, ...], tmp_path: Path) -> None:
    image = tmp_path / "a.drive"
    for words in (["list"], ["--version"], ["create", str(image), "--model", MODEL_NAME, *SETS]):
        closing = " ".join(f"{number}>&-" for number in closed)
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closing}', "sh", *PROGRAM, *words], capture_output=True, text=True
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        assert (done.stdout == "") == (1 in closed)
    assert subprocess.run([*PROGRAM, "check", str(image)], capture_output=True).returncode == 0


def test_an_encoding_that_lacks_letters_gets_others(tmp_path: Path) -> None:
    sides = []
    for name in "ab":
        (tmp_path / name).mkdir()
        model = documents.model(name, title=f"Drivé {name.upper()}")
        test = documents.compound(name, notes=["Schöner.", "5\xa0µs"])
        document = documents.review(test, models=[model])
        sides.append(str(tmp_path / name))
        (tmp_path / name / "results.json").write_text(to_json(document), encoding="utf-8")

    def compared(*more: str) -> str:
        words = ["compare", *sides, "--out", str(tmp_path / "out"), *more]
        environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
        done = subprocess.run([*PROGRAM, *words], capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("ascii")

    printed = compared()
    assert "A, B: Sch?ner." in printed
    assert "A, B: 5 us" in printed
    # JSON has a form of its own for letters, and loses none.
    told = json.loads(compared("--json"))["sides"][0]["label"]
    assert told == "Drivé A"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", MODEL_NAME, "--set", "flash.read_ns=\udcff"], r'--set "flash.read_ns=\xff"'),
        (["run", "\udcff.fio", "--drive", MODEL_NAME], r'argument "\xff.fio"'),
        (["review", MODEL_NAME, "--out", "out\udcff"], r'--out "out\xff"'),
    ],
)
def test_an_argument_that_is_no_text_is_refused(
    words: list[str], told: str, tmp_path: Path
) -> None:
    done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"drivelab: {told}: allowed: text in UTF-8\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_is_no_text_has_no_database(tmp_path: Path) -> None:
    folder = tmp_path / "\udcff"
    folder.mkdir()
    (folder / "j.fio").write_text("[j]\nrw=write\nsize=4k\n", encoding="utf-8")
    words = ["run", "j.fio", "--drive", MODEL_NAME, *SETS, "--database", "lab.duckdb"]
    done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f'drivelab: --database "{tmp_path}/\\xff/lab.duckdb": allowed: names of text in UTF-8\n'
    )
    assert [file.name for file in folder.iterdir()] == ["j.fio"]
