"""Commands that take files with tests and states of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import own
import pytest
from small import MODEL_NAME

from drivelab import cli


def test_list_shows_what_a_file_brings_and_where_it_is_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = str(own.put(tmp_path))
    assert cli.run(["list", "--tests", "--plugin", plugin]) == 0
    assert "Mine (--tests mine)" in capsys.readouterr().out
    assert cli.run(["list", "--states", "--plugin", plugin, "--json"]) == 0
    by_name = {item["name"]: item for item in json.loads(capsys.readouterr().out)}
    assert by_name["half-full"]["from"].startswith("own.py, sha256 ")
    assert (by_name["half-full"]["order"], by_name["new"]["from"]) == (50, None)


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--tests", "--markdown"],
    ],
)
def test_list_refuses_a_file_that_would_not_count(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*words, "--plugin", str(own.put(tmp_path))]) == 2
    assert "--plugin: goes with --tests or --states" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["review", MODEL_NAME],
        ["run", "job.fio", "--drive", MODEL_NAME],
        ["replay", __file__, "--drive", MODEL_NAME, "--format", "blkparse"],
        ["compare", MODEL_NAME, "ocz-vertex-120gb"],
        ["list", "--tests"],
    ],
)
def test_a_file_that_cannot_be_imported_ends_every_command_before_it_works(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = own.put(tmp_path, "import nowhere_at_all\n")
    assert cli.run([*words, "--plugin", str(plugin)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith('drivelab: --plugin "own.py": can\'t be imported: line 1: Module')
