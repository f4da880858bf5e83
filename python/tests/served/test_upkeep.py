"""A drive in an image is looked after by scripts as by commands: the same documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab import cli, model
from drivelab.errors import RequestError
from drivelab.served import upkeep

NAME, SCALE = "intel-x25-v-40gb", [("scale_divisor", "128")]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "a.drive"
    made = upkeep.create(path, model.load(NAME, SCALE), seed=3)
    assert (made["seed"], made["state"], made["image"]) == (3, "new", str(path))
    return path


def test_a_new_drive_is_sound_and_can_be_trimmed_and_erased(
    image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert upkeep.check(image)["ok"] is True
    found = upkeep.trim(image, "1m", "64k")
    assert (found.offset_bytes, found.length_bytes, found.taken) == (2**20, 2**16, True)
    whole = upkeep.trim(image, None, None)
    assert whole.length_bytes == model.load(NAME, SCALE).user_capacity_bytes
    assert upkeep.erase(image)["image"] == str(image)
    assert cli.run(["trim", str(image), "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == whole.record().keys()


def test_a_drive_that_ignores_trim_says_so(tmp_path: Path) -> None:
    path = tmp_path / "b.drive"
    loaded = model.load("intel-x25-m-g1-80gb", [("scale_divisor", "128")])
    upkeep.create(path, loaded, seed=1)
    found = upkeep.trim(path, None, None)
    assert not found.taken
    assert found.record()["trim_supported"] is False
    assert found.title == loaded.title


@pytest.mark.parametrize(
    ("offset", "length", "told"),
    [
        ("3", "4k", '--offset "3": allowed: multiples of 512 bytes from 0 on'),
        (None, "0", '--length "0": allowed: multiples of 512 bytes from 512 on'),
        (None, "900g", '--length "900g": ends at byte'),
        ("900g", "4k", '--offset "900g": ends at byte'),
    ],
)
def test_what_leaves_the_drive_is_refused(
    image: Path, offset: str | None, length: str | None, told: str
) -> None:
    with pytest.raises(RequestError) as no:
        upkeep.trim(image, offset, length)
    assert str(no.value).startswith(told)
