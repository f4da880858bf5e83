"""What goes wrong around images and servers: one line that says what, and nothing is destroyed."""

from __future__ import annotations

import hashlib
import resource
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from served.conftest import Serve
from served.drive import DRIVELAB
from served.programs import NBDSH, PATIENCE_S, ran, require
from served.test_served_faults import TINY
from small_disk import small_disk

from drivelab import cli
from drivelab.served import image as engine_images


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return str(path)


@pytest.fixture
def image(model: str, tmp_path: Path) -> Path:
    path = tmp_path / "a.drive"
    assert cli.run(["create", str(path), "--model", model]) == 0
    return path


def refused(words: list[object], capsys: pytest.CaptureFixture[str], status: int) -> str:
    """The one line that a command says instead of doing its work."""
    capsys.readouterr()
    assert cli.run([str(word) for word in words]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1, printed.err
    return printed.err


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def commands(path: Path) -> list[list[object]]:
    """Every command that opens an image."""
    own: list[list[object]] = [["smart"], ["check"], ["erase"], ["trim", "--all"], ["serve"]]
    return [[words[0], path, *words[1:]] for words in own]


def newer(content: bytes) -> bytes:
    """The image in a format that nobody knows yet; the header's checksum is the engine's to see."""
    return content[:16] + struct.pack("<I", 9) + content[20:]


@pytest.mark.parametrize(
    ("damage", "status", "words"),
    [
        (lambda _: b"", 2, "an empty file, not a drive image"),
        (lambda _: b"7" * 10_000, 2, "some other file, not a drive image"),
        (lambda content: content[:5000], 1, "5000 bytes long, but its header says"),
        (lambda content: content[:-1], 1, "truncated"),
        (lambda content: content + b"x", 1, "bytes long, but its header says"),
        (newer, 1, "damaged: the checksum of its header doesn't fit"),
        (lambda content: content[:4100] + b"#" + content[4101:], 1, "checksum of its manifest"),
    ],
    ids=["empty", "other", "short", "a-byte-short", "a-byte-long", "header", "manifest"],
)
def test_a_file_that_is_no_whole_image_is_refused_by_every_command(
    image: Path, damage: object, status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(damage)
    image.write_bytes(damage(image.read_bytes()))
    before = digest(image)
    for command in commands(image):
        said = refused(command, capsys, status)
        assert words in said, command
        assert str(image) in said
    assert digest(image) == before
    assert sorted(path.name for path in image.parent.iterdir()) == ["a.drive", "tiny.toml"]


def test_a_missing_image_and_a_folder_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in commands(tmp_path / "none"):
        assert "there is no such file; `drivelab create" in refused(command, capsys, 2)
    for command in commands(tmp_path):
        assert "is not a file" in refused(command, capsys, 2)


def test_create_leaves_nothing_behind_when_it_fails(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.drive"
    for words, status, message in (
        ([path, "--model", model, "--set", "flash.page_bytes=1000"], 2, "flash.page_bytes = 1000"),
        ([path, "--model", model, "--set", "flash.pgae_bytes=4096"], 2, "flash.page_bytes"),
        ([path, "--model", model, "--seed", "-1"], 2, "--seed"),
        ([tmp_path / "no" / "b.drive", "--model", model], 2, "can't write there"),
        (["/proc/b.drive", "--model", model], 2, "can't write there"),
        ([tmp_path, "--model", model], 2, "is a folder"),
    ):
        capsys.readouterr()
        assert cli.run(["create", *(str(word) for word in words)]) == status
        assert message in capsys.readouterr().err
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        said = refused(["create", path, "--model", model], capsys, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert f"{path}: can't be written: File too large" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.toml"]


def test_an_image_has_one_user_at_a_time(
    serve: Serve, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = serve(model, ())
    for words in (["check"], ["erase"], ["trim", "--all"], ["serve", "--listen", "0"]):
        said = refused([words[0], drive.image, *words[1:]], capsys, 1)
        assert f"in use by process {drive.pid}" in said
    assert cli.run(["smart", str(drive.image)]) == 0, "a served drive is asked, not opened"
    assert drive.smart()["power_cycles"] == 1
    # Others are refused their sockets, and their images stay as they are.
    other = drive.folder / "other.drive"
    assert cli.run(["create", str(other), "--model", model]) == 0
    before = digest(other)
    for words, message in (
        (["--listen", f"unix:{drive.socket}"], "a server is running here"),
        (["--control", f"{drive.image}.control"], "a server is running here"),
        (["--listen", f"unix:{other}"], "is there already, and is no socket"),
        (["--listen", f"unix:{drive.folder}/{'x' * 120}"], "a Unix socket's path has at most"),
    ):
        status = 1 if "running" in message else 2
        said = refused(["serve", other, *words], capsys, status)
        assert message in said
        assert words[0] in said
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(["serve", other, "--listen", port], capsys, 1)
        assert f"--listen: tcp:127.0.0.1:{port}: is in use by another program" in said
    assert digest(other) == before
    drive.stop()


def test_two_sockets_in_one_place_are_refused_before_the_drive_has_power(
    image: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(image.parent)
    (image.parent / "link").symlink_to(image.parent)
    before = digest(image)
    own = f"{image}.control"
    for words, options in (
        (["--listen", "unix:k.sock", "--control", "k.sock"], ("--listen", "--control")),
        (["--listen", "unix:link/k", "--control", image.parent / "k"], ("--listen", "--control")),
        (["--listen", f"unix:{own}"], ("--listen", "--control")),
        (["--control", f"{image}.sock"], ("--listen", "--control")),
        (["--listen", "unix:k.sock", "--record", "k.sock"], ("--listen", "--record")),
        (["--record", own], ("--control", "--record")),
    ):
        said = refused(["serve", image, *words], capsys, 2)
        assert "are the same path; give each its own" in said
        assert all(f'{option} "' in said for option in options), said
    assert digest(image) == before, "its power was never on, so never cut"
    assert sorted(path.name for path in image.parent.iterdir()) == ["a.drive", "link", "tiny.toml"]


def _printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert cli.run(words) == 0
    return capsys.readouterr().out


def test_a_killed_server_leaves_sockets_that_the_next_one_replaces(
    serve: Serve, model: str
) -> None:
    drive = serve(model, ())
    drive.kill9()
    assert drive.socket.is_socket()
    drive.restart()
    assert drive.smart()["unsafe_shutdowns"] == 1


def test_the_last_words_are_those_of_the_drive_that_was_served(serve: Serve, model: str) -> None:
    require("nbdsh")
    drive = serve(model, ())
    ran(*NBDSH, "-u", drive.uri, "-c", "h.pwrite(bytes(65536), 0); h.flush()")
    moved = drive.image.rename(drive.folder / "moved.drive")
    assert cli.run(["create", str(drive.image), "--model", model]) == 0
    before = digest(drive.image)
    drive.stop()
    assert "stopped: everything is in flash" in drive.log()
    assert "host wrote 65.5 kB, read 0 B;" in drive.log()
    assert digest(drive.image) == before
    assert engine_images.smart(moved)["clean"] is True


SECRET = b"a secret of 32 bytes, all of it!"


def test_an_erased_drive_has_lost_its_bytes_and_a_trimmed_one_their_space(
    serve: Serve, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    require("nbdsh")
    drive = serve(model, ())
    fill = f"h.pwrite({SECRET!r} * 65536, 0); h.pwrite({SECRET!r} * 65536, 1 << 21); h.flush()"
    ran(*NBDSH, "-u", drive.uri, "-c", fill)
    full = drive.image.stat().st_blocks * 512
    ran(*NBDSH, "-u", drive.uri, "-c", "h.trim(1 << 21, 0); h.flush()")
    trimmed = drive.image.stat().st_blocks * 512
    assert trimmed < full - (3 << 19), "space of most of the 2 MiB comes back at once"
    drive.stop()
    assert SECRET in drive.image.read_bytes()
    told = _printed(["erase", str(drive.image)], capsys)
    assert "erased; takes" in told
    content = drive.image.read_bytes()
    assert all(SECRET[begin : begin + 12] not in content for begin in range(0, 20, 4))
    drive.check()
    drive.restart()
    ran(*NBDSH, "-u", drive.uri, "-c", "assert h.pread(1 << 22, 0) == bytes(1 << 22)")
    assert drive.smart()["erases_secure"] > 0


@pytest.fixture(name="small_disk")
def few_megabytes(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "24m") as folder:
        yield folder


def test_a_full_disk_fails_writes_and_loses_nothing(
    small_disk: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    require("nbdsh")
    path = small_disk / "a.drive"
    large = ["--set", "user_capacity_bytes=67108864", "--set", "flash.blocks_per_plane=700"]
    assert cli.run(["create", str(path), "--model", model, *large]) == 0
    words = [*DRIVELAB, "serve", str(path), "--clock", "instant"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        uri = run.stdout.readline().strip()
        code = (
            "import errno, nbd\nnumber = 0\n"
            "try:\n"
            "    while number < 64:\n"
            "        h.pwrite(bytes([number + 1]) * (1 << 20), number << 20)\n"
            "        h.flush()\n"
            "        number += 1\n"
            "except nbd.Error as error:\n"
            "    assert error.errnum == errno.ENOSPC, error\n"
            "assert 0 < number < 20, number\n"
            "for place in range(number):\n"
            "    assert h.pread(1 << 20, place << 20) == bytes([place + 1]) * (1 << 20), place\n"
            "h.trim(4 << 20, 0); h.flush()\n"
            "assert h.pread(4 << 20, 0) == bytes(4 << 20)\n"
        )
        ran(*NBDSH, "-u", uri, "-c", code)
        run.terminate()
        _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    capsys.readouterr()
    assert cli.run(["check", str(path)]) == 0
    other = small_disk / "other.drive"
    with (small_disk / "filler").open("wb") as filler:
        try:
            while True:
                filler.write(bytes(1 << 16))
                filler.flush()
        except OSError:
            pass
    said = refused(["create", other, "--model", model], capsys, 1)
    assert "No space left on device" in said
    assert not other.exists()
    assert not list(small_disk.glob("*.partial"))
