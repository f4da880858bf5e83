"""What is written to, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab import cli
from drivelab.errors import RequestError
from drivelab.quantities import MIB
from drivelab.targets.fio import mounts
from drivelab.targets.fio.drive import find_place
from drivelab.targets.fio.place import Wish, whole_sectors
from drivelab.targets.fio.regular_file import RegularFile

BUFFERED = Wish(size="1m", buffered=True)


def never() -> bool:
    return False


def test_a_file_that_holds_data_needs_its_name_once_more(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"precious" * 1024)
    for destroy in ((), (str(tmp_path),), (f"{path}/",), (f"fio:{path}",)):
        with pytest.raises(RequestError, match=f"repeat its name: --destroy {path}"):
            find_place(f"fio:{path}", Wish(destroy=destroy, buffered=True))
    assert path.read_bytes() == b"precious" * 1024
    assert find_place(f"fio:{path}", Wish(destroy=(str(path),), buffered=True)).capacity_bytes == (
        8192
    )


def test_a_file_of_ours_has_its_size_and_is_removed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "ours"
    place = RegularFile(str(path), BUFFERED)
    assert not path.exists()
    place.claim()
    assert path.stat().st_size == MIB
    path.write_bytes(b"x" * MIB)
    place.erase(never)
    assert (path.stat().st_size, path.stat().st_blocks) == (MIB, 0)
    place.release()
    assert not path.exists()


def test_an_empty_file_is_used_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    place = RegularFile(str(path), BUFFERED)
    place.claim()
    place.release()
    assert path.stat().st_size == MIB


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.touch()
    first = RegularFile(str(path), BUFFERED)
    first.claim()
    other = RegularFile(str(path), Wish(buffered=True, destroy=(str(path),)))
    with pytest.raises(RequestError, match="another drivelab is using"):
        other.claim()
    first.release()


@pytest.mark.parametrize(
    ("name", "wish", "words"),
    [
        ("{folder}/none/file", BUFFERED, "there is no folder"),
        ("{folder}", BUFFERED, "neither a file nor a block device"),
        ("/dev/null", BUFFERED, "neither a file nor a block device"),
        ("{folder}/file", Wish(), "how large shall the file be"),
        ("{folder}/file", Wish(size="many"), '--size "many": expected a number'),
        ("{folder}/file", Wish(size="1000"), "allowed: multiples of 512"),
        ("{folder}/file", Wish(size="1000t"), "don't fit"),
        ("http://here", Wish(), "allowed: a path, nbd://"),
        ("", Wish(), "which file, device"),
    ],
)
def test_names_that_mean_nothing_are_refused(
    tmp_path: Path, name: str, wish: Wish, words: str
) -> None:
    with pytest.raises(RequestError, match=words):
        find_place("fio:" + name.format(folder=tmp_path), wish)
    assert list(tmp_path.iterdir()) == []


def test_a_mounted_device_is_never_written_to_whatever_is_permitted() -> None:
    found = [mount for mount in mounts.mounts() if mount.source.startswith("/dev/")]
    devices = [item.source for item in found if mounts.number_of(item.source) == item.device]
    if not devices:
        pytest.skip("nothing is mounted from a device that can be seen here")
    with pytest.raises(RequestError, match=r"is mounted at .*; it is never written to"):
        find_place(f"fio:{devices[0]}", Wish(destroy=(devices[0],)))


def test_mounts_and_swaps_are_read_with_their_escapes() -> None:
    [mount] = mounts.mounts("36 35 98:0 /mnt1 /mnt\\0402 rw shared:1 - ext3 /dev/root rw\n")
    assert mount == mounts.Mount("98:0", "/mnt 2", "ext3", "/dev/root")
    assert mounts.swaps("Filename Type\n/swap\\040file file 1 0 -2\n") == {"/swap file"}


def test_a_plan_needs_no_consent_and_says_what_would_be_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "precious"
    path.write_bytes(b"x" * 2**25)
    words = ["review", f"fio:{path}", "--buffered", "--tests", "as-ssd-write", "--states", "new"]
    assert cli.run([*words, "--plan"]) == 0
    said = capsys.readouterr().out
    assert "as-ssd-write, new: 33.6 MB written" in said
    assert f"the file holds 33.6 MB, which would be lost: it takes --destroy {path}" in said
    assert path.read_bytes() == b"x" * 2**25
    assert cli.run([*words, "--plan", "--destroy", str(path)]) == 0
    assert "which would be lost: --destroy permits it" in capsys.readouterr().out
    assert cli.run(words) == 2
    assert path.read_bytes() == b"x" * 2**25


def test_a_consent_to_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where no consent is needed: whoever wrote it meant another drive."""
    new = tmp_path / "new"
    words = ["review", f"fio:{new}", "--size", "1m", "--buffered", "--destroy", f"{new}2"]
    assert cli.run([*words, "--tests", "as-ssd-write", "--states", "new"]) == 2
    said = capsys.readouterr().err
    assert f'--destroy "{new}2": none of the drives has that name; allowed: {new}' in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "is_on_ata"),
    [
        ("pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda/sda1", True),
        ("pci0000:00/0000:00:1d.0/0000:3d:00.0/nvme/nvme0/nvme0n1", False),
        ("virtual/block/data0", False),
    ],
)
def test_a_drive_on_a_port_of_ata_is_known(tmp_path: Path, folder: str, is_on_ata: bool) -> None:
    (tmp_path / "devices" / folder).mkdir(parents=True)
    system = tmp_path / "block"
    system.mkdir()
    (system / "8:1").symlink_to(tmp_path / "devices" / folder)
    assert mounts.is_on_ata("8:1", system) is is_on_ata
    assert not mounts.is_on_ata("8:2", system)


def test_a_file_without_a_sector_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"hi")
    wish = Wish(destroy=(str(path),), buffered=True)
    with pytest.raises(RequestError, match="multiples of its sectors of 512 bytes; it has 2 bytes"):
        find_place(f"fio:{path}", wish)


def test_a_place_has_whole_sectors() -> None:
    assert whole_sectors("drive", Wish(), 10_000, 4096) == 8192
    assert whole_sectors("drive", Wish(size="4k"), 10_000, 4096) == 4096
    with pytest.raises(
        RequestError, match="--size 1536: allowed: multiples of its sectors of 4096"
    ):
        whole_sectors("drive", Wish(size="1536"), 10_000, 4096)


@pytest.mark.parametrize("test", ["endurance", "retention"])
def test_what_needs_a_model_is_refused_of_a_real_drive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], test: str
) -> None:
    words = ["review", f"fio:{tmp_path}/new", "--size", "64m", "--buffered", "--tests", test]
    assert cli.run(words) == 2
    assert "a real drive has none" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_scale_is_refused_in_its_own_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "job.fio"
    file.write_text("[r]\nrw=read\n")
    words = ["run", str(file), "--drive", f"fio:{tmp_path}/new", "--size", "64m"]
    assert cli.run([*words, "--scale", "1/2"]) == 2
    assert "--scale 1/2: fio:" in capsys.readouterr().err
