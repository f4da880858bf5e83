"""A file of many GB where a few lines are expected, as an image of a drive: none of it is kept."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from drivelab import cli

SIZE_BYTES = 64 * 2**30
"""Sparse: more than there is memory for."""


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    with Path("y.drive").open("wb") as file:
        file.truncate(SIZE_BYTES)
    for name in ("y.toml", "y.json", "y.fio"):
        Path(name).hardlink_to("y.drive")
    Path("j.fio").write_text("[a]\nrw=read\n", encoding="ascii")
    return "y.drive"


@pytest.mark.parametrize(
    "words",
    [
        "show ./y.drive",
        "show ./y.toml",
        "review ./y.drive",
        "create x.drive --model ./y.drive",
        "run j.fio --drive ./y.drive",
        "run y.fio --drive intel-x25-m-g1-80gb",
        "sweep y.toml --store s",
        "compare y.json intel-x25-m-g1-80gb",
        "compare ./y.drive ./y.drive",
        "figures --results y.json",
    ],
)
def test_it_is_refused_by_name_before_it_is_read(
    words: str, image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert cli.run(words.split()) == 2
    said = capsys.readouterr().err
    assert "y." in said
    assert "memory" not in said
    # KiB: modules that are loaded meanwhile, not the file.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20
