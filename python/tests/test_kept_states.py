"""Prepared drives on disk: nobody can tell one that was read from one that was prepared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import drivelab as dl
from drivelab import cli, kept_states, states
from drivelab import model as models
from drivelab.lab.snapshot import digest
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.states import State
from drivelab.targets import EngineTarget
from drivelab.traits import Origin

X25_M = "intel-x25-m-g1-80gb"
# One for each way to keep a map, an SLC cache, superblocks, a disk, an array.
MODELS = {
    X25_M: 128,
    "ocz-agility-2-100gb": 128,
    "ocz-vertex-120gb": 64,
    "samsung-slc-64gb": 16,
    "patriot-warp-64gb": 16,
    "samsung-970-evo-plus-1tb": 100,
    "samsung-pm9a3-960gb": 64,
    "wd-velociraptor-300gb": 1,
    "intel-x25-v-40gb-raid0-x2": 64,
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for prepared drives, however fast they are prepared."""
    folder = tmp_path / "states"
    monkeypatch.setenv(kept_states.VARIABLE, str(folder))
    monkeypatch.setattr(kept_states, "WORTH_S", 0.0)
    return folder


def small(name: str = X25_M, *more: tuple[str, str]) -> models.Model:
    scale = [("scale_divisor", str(MODELS[name]))] if MODELS[name] > 1 else []
    return models.load(name, [*scale, *more])


def prepared(
    model: models.Model, state: str | State = "filled", seed: int = 1, *, keeping: bool = True
) -> EngineTarget:
    seeds = partial(derive_seed, seed, model.name)
    target = EngineTarget(model, seeds("drive"))
    progress = TaskProgress("test")
    found = states.find(state) if isinstance(state, str) else state
    kept_states.prepare(found, target, seeds, progress, keeping=keeping)
    assert progress.fraction == pytest.approx(1.0)
    return target


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of states that drives are brought into from here on, and not read in."""
    names: list[str] = []
    advance = State.advance

    def noted(self: State, *others: object) -> None:
        names.append(self.name)
        advance(self, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(State, "advance", noted)
    return names


@pytest.mark.parametrize("name", MODELS)
def test_a_drive_that_was_read_is_the_one_that_was_prepared(
    name: str, place: Path, done: list[str]
) -> None:
    model = small(name)
    state = "new" if model.is_disk else "used"
    first = prepared(model, state)
    assert kept_states.kept(place).states == 1
    done.clear()
    again = prepared(model, state)
    assert done == []
    assert digest(again) == digest(first)
    job = dl.Job(rw="randrw", bs="4k", iodepth=8, io_size="4m")
    own = [job.on_drive(model.user_capacity_bytes, 5, 0).job]
    reports = [target.run(own, TaskProgress("run")) for target in (first, again)]
    assert reports[0] == reports[1]
    assert digest(again) == digest(first), "after the same work, too"


def test_another_seed_model_or_state_is_another_drive(place: Path, done: list[str]) -> None:
    prepared(small())
    for model, state, seed in (
        (small(), "filled", 2),
        (small(X25_M, ("spare_ratio", "0.2")), "filled", 1),
        (small(), "used", 1),
    ):
        done.clear()
        prepared(model, state, seed)
        assert done
    assert kept_states.kept(place).states == 4


def test_another_installation_reads_nothing(
    place: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(small())
    done.clear()
    monkeypatch.setattr(kept_states, "_installation", lambda: "another")
    prepared(small())
    assert done


PREPARING = """
import pathlib, sys
import drivelab as dl
from drivelab import kept_states

kept_states.WORTH_S = 0.0
steps = pathlib.Path(kept_states.__file__).parent / "states" / "steps.py"
if sys.argv[1] == "changing":
    steps.write_text(steps.read_text() + "# changed")
dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled", progress=False)
print(kept_states.kept(kept_states.folder()).states)
"""


def test_a_changed_line_of_the_package_makes_all_drives_others(tmp_path: Path) -> None:
    package = Path(kept_states.__file__).parent
    copy = tmp_path / "copy" / "drivelab"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__", "static"))
    variables = {"PYTHONPATH": str(copy.parent), kept_states.VARIABLE: str(tmp_path / "states")}

    def kept_after(what: str) -> int:
        words = [sys.executable, "-c", PREPARING, what]
        done = subprocess.run(
            words, env=os.environ | variables, capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    assert kept_after("as it is") == 1
    assert kept_after("as it is") == 1
    assert kept_after("changing") == 1, "what was loaded is no more what is there"
    assert kept_after("as it is") == 2, "of the changed package there was none"
    steps = copy / "states" / "steps.py"
    known = steps.stat()
    steps.write_text(steps.read_text().replace("# changed", "# CHANGED"))
    os.utime(steps, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert kept_after("as it is") == 3, "of the same size and time"


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "of another"])
def test_a_file_that_is_damaged_is_made_anew(damage: str, place: Path, done: list[str]) -> None:
    first = prepared(small())
    (path,) = place.iterdir()
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "changed":
        path.write_bytes(whole[:999] + bytes([whole[999] ^ 1]) + whole[1000:])
    else:
        prepared(small(), seed=2)
        (other,) = set(place.iterdir()) - {path}
        path.write_bytes(other.read_bytes())
    done.clear()
    assert digest(prepared(small())) == digest(first)
    assert done
    assert path.read_bytes() == whole


def test_what_was_used_longest_ago_goes_first(
    place: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    for index, seed in enumerate((1, 2, 3)):
        before = set(place.iterdir()) if place.is_dir() else set()
        prepared(small(), seed=seed)
        (path,) = set(place.iterdir()) - before
        os.utime(path, (1000 + index, 1000 + index))
        sizes.append(path.stat().st_size)
    room = 2 * max(sizes) + small().memory_bytes
    monkeypatch.setenv("DRIVELAB_CACHE_SIZE", str(room + 100))
    prepared(small(), seed=1)  # used now
    prepared(small(), seed=4)
    assert kept_states.kept(place).states == 3
    done.clear()
    for seed in (1, 3, 4):
        prepared(small(), seed=seed)
    assert done == [], "these were used later than the second"
    monkeypatch.setenv("DRIVELAB_CACHE_SIZE", "1k")
    prepared(small(), seed=5)
    assert kept_states.kept(place).states == 3, "too large for half of the room"


def test_little_work_sweeps_and_off_leave_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(small(), keeping=False)
    monkeypatch.setattr(kept_states, "WORTH_S", 1e6)
    prepared(small())
    monkeypatch.setattr(kept_states, "WORTH_S", 0.0)
    monkeypatch.setenv(kept_states.VARIABLE, kept_states.OFF)
    prepared(small())
    assert not place.exists()


def test_a_state_of_one_s_own_is_prepared_from_what_was_read(place: Path, done: list[str]) -> None:
    origin = Origin("own.py", "0" * 64, __file__)
    used = states.find("used")
    own = replace(used, name="mine", parent=used, origin=origin)
    prepared(small(), "used")
    done.clear()
    prepared(small(), own)
    prepared(small(), own)
    assert done == ["mine", "mine"]


def test_a_folder_that_cannot_be_written_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_states, "WORTH_S", 0.0)
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv(kept_states.VARIABLE, str(file / "states"))
    plain = prepared(small())
    monkeypatch.setenv(kept_states.VARIABLE, kept_states.OFF)
    assert digest(plain) == digest(prepared(small()))


def test_a_file_that_cannot_be_read_costs_nothing_and_stays(
    place: Path, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prepared(small())
    (path,) = place.iterdir()
    done.clear()

    def refused(self: EngineTarget, *_: object) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(EngineTarget, "read_state", refused)
        assert digest(prepared(small(), keeping=False)) == digest(first)
    assert done
    assert path.exists()
    monkeypatch.setenv(kept_states.VARIABLE, str(place / ("x" * 300)))
    assert digest(prepared(small())) == digest(first), "a name that no folder can have"


def test_a_half_written_file_of_long_ago_is_removed(place: Path) -> None:
    prepared(small())
    old, new, own = (
        place / name for name in ("old.drivelab-part", "new.drivelab-part", "own.part")
    )
    for path in (old, new, own):
        path.write_bytes(b"half")
    for path in (old, own):
        os.utime(path, (1000, 1000))
    assert kept_states.kept(place).states == 1
    assert not old.exists()
    assert new.exists(), "somebody is writing it"
    kept_states.clear(place)
    assert own.exists(), "it is none of ours"


def test_a_folder_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(kept_states.VARIABLE, str(tmp_path))

    def refused(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    for words in (["cache"], ["cache", "--clear"]):
        assert cli.run(words) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert f'DRIVELAB_CACHE "{tmp_path}"' in told


def test_a_size_that_is_none_is_refused_before_anything_is_prepared(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRIVELAB_CACHE_SIZE", "much")
    job = tmp_path / "job.fio"
    job.write_text("[randwrite]\nrw=randwrite\nio_size=16m\n")
    for words in (["cache"], ["run", str(job), "--drive", X25_M, "--scale", "1/128"]):
        assert cli.run(words) == 2
        assert 'DRIVELAB_CACHE_SIZE "much": expected' in capsys.readouterr().err
    assert not place.exists()


def test_run_says_the_same_of_a_drive_that_was_read(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], done: list[str]
) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[randwrite]\nrw=randwrite\nbs=4k\niodepth=8\nio_size=16m\n")
    words = ["run", str(job), "--drive", X25_M, "--scale", "1/128", "--state", "used", "--json"]
    told = []
    for _ in range(2):
        assert cli.run(words) == 0
        found = json.loads(capsys.readouterr().out)
        found["drivelab"].pop("wall_s", None)
        found.pop("wall_s", None)
        told.append(found)
    assert told[0] == told[1]
    drive = dl.Drive(X25_M, scale="1/128")
    done.clear()
    drive.prepare("used", progress=False)
    assert done == [], "scripts and commands prepare the same drive"


def test_commands_say_of_a_drive_why_it_is_not_kept(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[randread]\nrw=randread\nbs=4k\nio_size=1m\n")
    words = ["run", str(job), "--drive", X25_M, "--scale", "1/128", "--state", "filled"]

    def said() -> str:
        assert cli.run(words) == 0
        lines = capsys.readouterr().err.splitlines()
        return "\n".join(line for line in lines if "isn't kept" in line)

    with monkeypatch.context() as patched:
        patched.setenv("DRIVELAB_CACHE_SIZE", "1m")
        told = said()
        assert told.startswith("the prepared drive isn't kept for the next time: it takes ")
        assert told.endswith("more than half of 1.0 MB; DRIVELAB_CACHE_SIZE gives it room")
        patched.setattr(kept_states, "WORTH_S", 1e6)
        assert said() == "", "nobody waits for it"
    (tmp_path / "file").write_text("no folder")
    with monkeypatch.context() as patched:
        where = tmp_path / "file" / "states"
        patched.setenv(kept_states.VARIABLE, str(where))
        assert f'DRIVELAB_CACHE "{where}": can\'t write it (Not a directory)' in said()
        dl.Drive(X25_M, scale="1/128").prepare("filled", progress=False)
        assert capsys.readouterr().err == "", "scripts say nothing"
    assert said() == ""
    assert kept_states.kept(place).states == 1


def test_cache_says_when_room_is_made_for_what_is_too_much(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(small())
    monkeypatch.setenv("DRIVELAB_CACHE_SIZE", "1m")
    later = "; room is made when the next one is kept, by --clear now\n"
    assert cli.run(["cache"]) == 0
    assert capsys.readouterr().out.endswith(f"of 1.0 MB at most{later}")
    assert cli.run(["cache", "--clear"]) == 0
    assert capsys.readouterr().out.endswith(" removed\n")


def test_cache_says_what_there_is_and_removes_it(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(small())
    size = kept_states.kept(place).bytes
    assert cli.run(["cache"]) == 0
    assert f"{place}: 1 prepared drive," in capsys.readouterr().out
    assert cli.run(["cache", "--clear", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(place),
        "states": 1,
        "bytes": size,
        "most_bytes": 4 * 2**30,
        "removed": True,
    }
    assert kept_states.kept(place) == kept_states.Kept(0, 0)
    monkeypatch.setenv("DRIVELAB_CACHE_SIZE", "20g")
    assert cli.run(["cache"]) == 0
    assert capsys.readouterr().out.endswith("of 21.5 GB at most\n")
    monkeypatch.setenv(kept_states.VARIABLE, kept_states.OFF)
    assert cli.run(["cache"]) == 0
    assert "DRIVELAB_CACHE is off" in capsys.readouterr().out
