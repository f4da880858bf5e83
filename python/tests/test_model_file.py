from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab import cli, model, model_file, model_layers
from drivelab.model import Model

SCALED = {"page-map": "intel-x25-m-g1-80gb", "raid-0": "gskill-titan-128gb"}


def values(found: Model) -> dict[str, Any]:
    """Every value but where it was written: a file written out has no layers."""
    kept = {item["key"]: item["value"] for item in found.parameters}
    return {key: value for key, value in kept.items() if key not in ("base", "flash.part")}


def run(drive: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What a mixed job measures on a drive, without what it was called by."""
    job = folder / "mixed.fio"
    # Random writes of a part of a page, and reads between them: buffer, map, link, dies.
    job.write_text("[mixed]\nrw=randrw\nbs=6k\niodepth=4\nsize=12k\nio_size=240k\n")
    assert cli.run(["run", str(job), "--drive", drive, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    for key in ("command_line", "model_hash", "wall_s"):
        del found["drivelab"][key]
    return found


@pytest.mark.parametrize("name", model_layers.known_names())
def test_a_model_written_out_gives_the_same_to_the_bit(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["show", name, "--toml"]) == 0
    written = tmp_path / "own.toml"
    written.write_text(capsys.readouterr().out, encoding="utf-8")
    assert values(model.load(str(written))) == values(model.load(name))
    assert run(str(written), tmp_path, capsys) == run(name, tmp_path, capsys)


@pytest.mark.parametrize("name", SCALED.values(), ids=SCALED)
def test_what_was_set_is_written_too_and_once_more_the_same(name: str, tmp_path: Path) -> None:
    settings = [("scale_divisor", "64"), ("power.idle_mw", "61")]
    written = tmp_path / "own.toml"
    written.write_text(model_file.text(name, settings), encoding="utf-8")
    assert values(model.load(str(written))) == values(model.load(name, settings))
    again = tmp_path / "again.toml"
    again.write_text(model_file.text(str(written), ()), encoding="utf-8")
    assert values(model.load(str(again))) == values(model.load(name, settings))


@pytest.mark.parametrize(
    "name", ["intel-x25-m-g1-80gb", "wd-velociraptor-300gb", "gskill-titan-128gb"]
)
def test_what_a_model_leaves_out_is_named_in_the_file(name: str) -> None:
    text = model_file.text(name, ())
    left_out = [item["key"] for item in model.load(name).left_out]
    assert "partition_bytes" in left_out
    named = [key.rpartition(".")[2] for key in left_out]
    assert [key for key in named if f"# {key} is left out: " not in text] == []


def test_what_a_flash_part_says_can_be_changed_in_the_file(tmp_path: Path) -> None:
    text = model_file.text("intel-x25-m-g1-80gb", ())
    assert text.count("program_ns = { value = 900000,") == 1
    written = tmp_path / "own.toml"
    written.write_text(text.replace("program_ns = { value = 900000,", "program_ns = { value = 1,"))
    assert model.load(str(written)).value("flash.program_ns") == 1


def test_settings_of_members_are_left_to_a_file_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["show", "gskill-titan-128gb", "--toml", "--set", "member.flash.read_ns=1"]
    assert cli.run(words) == 2
    assert "--toml writes the array alone" in capsys.readouterr().err
