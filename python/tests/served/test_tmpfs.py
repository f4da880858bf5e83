"""Images on tmpfs, where even a load from a hole of a mapped file takes space, and a full one is a
signal: nothing dies of it, and whoever only looks takes none.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from served.drive import DRIVELAB
from served.programs import NBDSH, PATIENCE_S, ran, require
from small_disk import small_disk


@pytest.fixture(name="small_disk")
def forty_megabytes(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "40m") as folder:
        yield folder


def drivelab(*words: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which may die."""
    command = [*DRIVELAB, *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while filler.write(bytes(1 << 12)):
                pass
        except OSError:
            pass


def test_looking_at_an_image_takes_no_space_of_a_full_tmpfs(small_disk: Path) -> None:
    path = small_disk / "a.drive"
    assert drivelab("create", path, "--model", "intel-x25-m-g2-80gb").returncode == 0
    for is_full in (False, True):
        if is_full:
            fill(small_disk)
        new = path.stat()
        for command in ("check", "smart"):
            looked = drivelab(command, path)
            assert looked.returncode == 0, (looked.returncode, looked.stderr)
        assert (path.stat().st_size, path.stat().st_blocks) == (new.st_size, new.st_blocks)
        assert path.stat().st_mtime_ns == new.st_mtime_ns
    for command in (["serve", path], ["trim", path, "--all"], ["erase", path]):
        refused = drivelab(*command)
        assert (refused.returncode, refused.stdout) == (1, ""), (command, refused.stderr)
        [line] = refused.stderr.splitlines()
        assert f"{path}: no space left for what the drive stores (No space left on device" in line
    assert drivelab("check", path).returncode == 0


def test_a_flash_drive_is_served_from_a_tmpfs_that_is_smaller_than_its_map(
    small_disk: Path,
) -> None:
    require("nbdsh")
    path = small_disk / "a.drive"
    # Its medium has 333 MB that a mount looks at, 1.3 GB in all.
    assert drivelab("create", path, "--model", "intel-x25-m-g2-80gb").returncode == 0
    words = [*DRIVELAB, "serve", str(path), "--clock", "instant"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        uri = run.stdout.readline().strip()
        # Too small for the checkpoint that the drive writes when it goes to rest: so no writes.
        code = (
            "import errno, nbd\n"
            "assert h.pread(1 << 20, 1 << 30) == bytes(1 << 20)\n"
            "try:\n"
            "    h.pwrite(bytes(4096), 0)\n"
            "    assert False\n"
            "except nbd.Error as error:\n"
            "    assert error.errnum == errno.ENOSPC, error\n"
        )
        ran(*NBDSH, "-u", uri, "-c", code)
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=PATIENCE_S)
    # Going to rest is a checkpoint of 78 MB: that it has no room is said, and costs nothing.
    assert run.returncode == 1, said
    assert f"{path}: no space left for what the drive stores" in said
    checked = drivelab("check", path)
    assert checked.returncode == 0, checked.stderr


WHEN_FULL = """
import errno, os, subprocess

def failed(request, *arguments):
    try:
        request(*arguments)
    except nbd.Error as error:
        return error.errnum
    return None

page = lambda place: bytes([place % 250 + 1]) * 4096
for place in range(8):
    h.pwrite(page(place), place << 12)
h.flush()
assert subprocess.run(["sh", "-c", "cat /dev/zero >{folder}/filler"], stderr=-3).returncode != 0
found = None
for place in range(8, 200):
    found = failed(h.pwrite, page(place), place << 12)
    if found is not None:
        break
assert found == errno.ENOSPC, found
for _ in range(2):
    assert failed(h.pread, 4096, 0) == errno.EIO
    assert failed(h.pwrite, page(0), 0) == errno.EIO
    assert failed(h.flush) == errno.EIO
    if os.path.exists("{folder}/filler"):
        os.remove("{folder}/filler")
"""


@contextmanager
def served(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server and its URI; it ends with the block, however that ends."""
    words = [*DRIVELAB, "serve", str(path), "--clock", "instant"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout is not None
            yield run, run.stdout.readline().strip()
        finally:
            run.kill()


def test_a_disk_that_others_fill_ends_the_drive_and_what_was_flushed_is_there(
    tmp_path: Path,
) -> None:
    require("nbdsh")
    # So large that the drive doesn't ask before each write how much is left.
    with small_disk(tmp_path / "disk", "120m") as folder:
        path = folder / "a.drive"
        model = ["--model", "intel-x25-m-g2-80gb", "--scale", "1/64"]
        assert drivelab("create", path, *model).returncode == 0
        with served(path) as (run, uri):
            ran(*NBDSH, "-u", uri, "-c", WHEN_FULL.replace("{folder}", str(folder)))
            told = json.loads(drivelab("smart", path, "--json").stdout)
            assert told["smart_status"] == {"passed": False}
            assert told["drivelab"]["failure"].startswith(f"{path}: no space left for what the ")
            run.send_signal(signal.SIGTERM)
            _, said = run.communicate(timeout=PATIENCE_S)
            assert run.returncode == 1, said
        assert "since then every request has failed; what was flushed is there, unless" in said
        assert drivelab("check", path).returncode == 0
        at_rest = json.loads(drivelab("smart", path, "--json").stdout)
        assert at_rest["smart_status"] == {"passed": True}
        with served(path) as (_, uri):
            read = (
                "for place in range(8):\n"
                "    assert h.pread(4096, place << 12) == bytes([place % 250 + 1]) * 4096, place\n"
            )
            ran(*NBDSH, "-u", uri, "-c", read)


def test_a_disk_on_a_full_tmpfs_reads_what_it_never_wrote(small_disk: Path) -> None:
    require("nbdsh")
    path = small_disk / "a.drive"
    model = "wd-velociraptor-300gb"
    assert drivelab("create", path, "--model", model).returncode == 0
    words = [*DRIVELAB, "serve", str(path), "--clock", "instant"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        uri = run.stdout.readline().strip()
        write = "h.pwrite(b'x' * 4096, 1 << 30); h.flush()"
        ran(*NBDSH, "-u", uri, "-c", write)
        fill(small_disk)
        blocks = path.stat().st_blocks
        code = (
            "assert h.pread(4 << 20, 1 << 33) == bytes(4 << 20)\n"
            "around = h.pread(1 << 20, (1 << 30) - (1 << 19))\n"
            "assert around == bytes(1 << 19) + b'x' * 4096 + bytes((1 << 19) - 4096)\n"
        )
        ran(*NBDSH, "-u", uri, "-c", code)
        assert path.stat().st_blocks == blocks
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    checked = drivelab("check", path)
    assert checked.returncode == 0, checked.stderr
