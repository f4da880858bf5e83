"""Drives in files: the same drive comes back, or one line says why not."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import own
import pytest
from small import MODEL_NAME, OVERRIDES

import drivelab as dl
from drivelab import model, plugins
from drivelab.lab import snapshot

WRITES = dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="16m", name="w")


@pytest.fixture(scope="module")
def worn() -> dl.Drive:
    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES), seed=3).prepare("filled", progress=False)
    kept = drive.run(WRITES, keep=True, progress=False).drive
    until = dl.Steady("iops", every="100ms", limit="2s")
    return kept.idle("5s").run(WRITES, keep=True, until=until, progress=False).drive


@pytest.fixture
def file(worn: dl.Drive, tmp_path: Path) -> Path:
    path = tmp_path / "worn.snapshot"
    worn.save(path)
    return path


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Another recipe, with the right sum."""
    line, _, packed = path.read_bytes().partition(b"\n")
    known = json.loads(zlib.decompress(packed))
    change(known)
    packed = zlib.compress(json.dumps(known).encode())
    words = [*line.split(b" ")[:3], sha256(packed).hexdigest().encode()]
    path.write_bytes(b" ".join(words) + b"\n" + packed)


def test_what_comes_back_is_the_same_drive(worn: dl.Drive, file: Path) -> None:
    found = dl.load(file, progress=False)
    assert found.key == worn.key
    assert (found.now_s, found.counters, found.history) == (worn.now_s, worn.counters, worn.history)
    for ours, theirs in zip(
        (found.inside().blocks, found.inside().dies),
        (worn.inside().blocks, worn.inside().dies),
        strict=True,
    ):
        assert ours.equals(theirs)
    assert found.run(WRITES, progress=False).report == worn.run(WRITES, progress=False).report
    # Saved again it is the same file, to the byte.
    found.save(file.with_name("again.snapshot"))
    assert file.with_name("again.snapshot").read_bytes() == file.read_bytes()
    assert file.stat().st_size < 64_000


def test_another_process_loads_it_without_the_file_of_the_model(tmp_path: Path) -> None:
    text = model.load(MODEL_NAME, OVERRIDES)
    own_model = tmp_path / "mine.toml"
    base = f'base = "{MODEL_NAME}"\nname = {{ value = "mine", source = "assumed: test" }}\n'
    own_model.write_text(base, encoding="utf-8")
    drive = dl.Drive(own_model, dict(OVERRIDES)).prepare("filled", progress=False)
    assert drive.capacity_bytes == text.user_capacity_bytes
    drive.save(tmp_path / "mine.snapshot")
    key, counters = drive.key, drive.counters
    own_model.unlink()
    script = (
        "import drivelab as dl, json\n"
        "drive = dl.load('mine.snapshot')\n"
        "more = drive.with_parameters({'spare_ratio': 0.28})\n"
        "print(json.dumps([drive.key, drive.counters, more.model.value('spare_ratio')]))\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == [key, counters, 0.28]


def test_a_loaded_drive_travels_without_the_file_of_the_model(tmp_path: Path) -> None:
    own_model = tmp_path / "mine.toml"
    base = f'base = "{MODEL_NAME}"\nname = {{ value = "mine", source = "assumed: test" }}\n'
    own_model.write_text(base, encoding="utf-8")
    dl.Drive(own_model, dict(OVERRIDES)).save(tmp_path / "mine.snapshot")
    own_model.unlink()
    drive = dl.load(tmp_path / "mine.snapshot", progress=False)
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(drive))))
    assert copy.key == drive.key
    assert copy.run(WRITES, progress=False).report == drive.run(WRITES, progress=False).report
    # Workers get pickles: a sweep on the drive, and on one with another parameter.
    grid = {"spare_ratio": [0.1, 0.28]}
    study = dl.sweep(drive, grid, job=WRITES, state="new", workers=1, progress=False)
    alone = drive.with_parameters({"spare_ratio": 0.28}).prepare("new", progress=False)
    assert study[1].report == alone.run(WRITES, progress=False).report


def test_a_state_of_ones_own_must_be_there_unchanged(tmp_path: Path) -> None:
    place = own.put(tmp_path)
    state = plugins.known([place]).states["half-full"]
    drive = dl.Drive(MODEL_NAME, dict(OVERRIDES)).prepare(state, progress=False)
    path = tmp_path / "half.snapshot"
    drive.save(path)
    assert dl.load(path, progress=False).key == drive.key
    place.write_text(place.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    script = "import drivelab as dl, sys; dl.load(sys.argv[1])"
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "has changed" in done.stderr.splitlines()[-1]
    place.unlink()
    with pytest.raises(dl.RequestError, match="is not here"):
        dl.load(path, progress=False)


def test_every_cut_and_every_changed_byte_is_noticed(file: Path) -> None:
    whole = file.read_bytes()
    cuts = [0, 1, 20, 40, 90, 91, 92, len(whole) // 2, len(whole) - 1]
    flips = [0, 5, 18, 19, 30, 90, 95, len(whole) // 2, len(whole) - 1]
    broken = [whole[:cut] for cut in cuts]
    broken += [whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in flips]
    for content in [*broken, whole + b"x", b"\n" * 300, bytes(range(256))]:
        file.write_bytes(content)
        with pytest.raises(dl.RequestError) as told:
            dl.load(file, progress=False)
        assert re.match(rf'snapshot "{re.escape(str(file))}": ', str(told.value))
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda known: known.update(engine_version="0.0.1"), "written by engine 0.0.1"),
        (lambda known: known["model"].update(hash="0" * 64), "reads its model otherwise"),
        (lambda known: known.update(seed=4), "another drive"),
        (lambda known: known["history"].pop(), "another drive"),
        (lambda known: known.update(digest="0" * 64), "another drive"),
    ],
)
def test_what_gives_another_drive_is_refused(
    file: Path, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    changed(file, change)
    with pytest.raises(dl.RequestError, match=told):
        dl.load(file, progress=False)


def test_another_version_is_refused_by_its_number(file: Path) -> None:
    content = file.read_bytes().replace(b"snapshot 1 ", b"snapshot 2 ", 1)
    file.write_bytes(content)
    with pytest.raises(dl.RequestError, match="version 2 is not readable; allowed: 1"):
        dl.load(file, progress=False)
    assert snapshot.VERSION == 1


def test_a_failed_save_leaves_what_was_there(worn: dl.Drive, file: Path) -> None:
    with pytest.raises(dl.RequestError, match="nowhere"):
        worn.save(file.parent / "nowhere" / "x.snapshot")
    with pytest.raises(dl.RequestError, match=r'"x\.txt": allowed: a name that ends in \.snapshot'):
        worn.save("x.txt")
    with pytest.raises(dl.RequestError, match="is a folder"):
        worn.save(file.parent)
    before = file.read_bytes()
    shutil.copy(file, file.with_name("copy"))
    worn.save(file)
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["copy", "worn.snapshot"]
