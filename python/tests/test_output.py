from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from drivelab import output
from drivelab.errors import RequestError, WorkError


def test_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old", encoding="utf-8")

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(WorkError, match="No space left"):
        output.publish(tmp_path, {"one": lambda path: _write(path, "new"), "two": full})
    assert _contents(tmp_path) == {"one": "old"}

    written = {"one": lambda path: _write(path, "new"), "two": lambda path: _write(path, "2")}
    output.publish(tmp_path, written)
    assert _contents(tmp_path) == {"one": "new", "two": "2"}


def test_files_of_several_folders_too(tmp_path: Path) -> None:
    places = [tmp_path / "a" / "x.log", tmp_path / "b" / "y.json"]
    for place in places:
        place.parent.mkdir()
    places[0].write_text("old", encoding="utf-8")

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(WorkError, match="No space left"):
        output.publish_files({places[0]: lambda path: _write(path, "new"), places[1]: full})
    assert [_contents(place.parent) for place in places] == [{"x.log": "old"}, {}]
    output.publish_files({place: lambda path: _write(path, "new") for place in places})
    assert [_contents(place.parent) for place in places] == [{"x.log": "new"}, {"y.json": "new"}]


def _contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("", encoding="utf-8")
    with pytest.raises(RequestError, match="--out"):
        output.writable_folder(path)


def test_a_folder_that_was_not_there_is_not_left_behind_by_a_failure(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"

    def interrupted(path: Path) -> None:
        _write(path, "half")
        raise KeyboardInterrupt

    assert output.writable_folder(folder) == folder
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt):
        output.publish(folder, {"one": interrupted})
    assert list(tmp_path.iterdir()) == []
    output.publish(folder, {"one": lambda path: _write(path, "1")})
    assert _contents(folder) == {"one": "1"}


def test_the_log_of_an_older_database_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "one.wal").write_text("old", encoding="utf-8")
    output.publish(tmp_path, {"one": lambda path: _write(path, "1")})
    assert _contents(tmp_path) == {"one": "1"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [["schema"], ["list"], ["list", "--json"], ["cache"]])
def test_a_full_standard_output_is_said_to_be_that(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "drivelab", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = "drivelab: can't write to standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)
