from __future__ import annotations

from pathlib import Path

import pytest

from drivelab import cli, model
from drivelab.errors import RequestError
from drivelab.lab import reading
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job

PAIR = "intel-x25-v-40gb-raid0-x2"
SINGLE = "intel-x25-v-40gb"
DISK = "wd-velociraptor-300gb"
TEST = "sequential-read-2m"


def parameters(drive: model.Model) -> dict[str, object]:
    return {entry["key"]: entry["value"] for entry in drive.parameters}


def array(folder: Path, *members: str, more: str = "") -> str:
    path = folder / "array.toml"
    path.write_text(
        f'name = "array"\ntitle = "Array"\nfamily = "raid-0"\nmembers = {list(members)}\n'
        f"[array]\nstrip_bytes = 65536\n{more}"
    )
    return str(path)


def test_an_array_is_as_large_as_its_members_whole_strips() -> None:
    pair, single = model.load(PAIR), model.load(SINGLE)
    strips = single.user_capacity_bytes // (128 << 10)
    assert pair.user_capacity_bytes == 2 * strips * (128 << 10)
    assert pair.raw_capacity_bytes == 2 * single.raw_capacity_bytes


def test_overrides_reach_every_member() -> None:
    values = parameters(model.load(PAIR, [("member.flash.channel_count", "10")]))
    assert values["member.flash.channel_count"] == 10
    four = model.load(PAIR, [("members", f'["{SINGLE}", "{SINGLE}", "{SINGLE}", "{SINGLE}"]')])
    assert four.raw_capacity_bytes == 2 * model.load(PAIR).raw_capacity_bytes
    assert four.hash != model.load(PAIR).hash


def test_a_file_may_say_what_differs_in_its_members(tmp_path: Path) -> None:
    path = array(tmp_path, SINGLE, PAIR, more="[member]\npartition_bytes = 1048576\n")
    assert model.load(path).user_capacity_bytes == 2 << 20


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ('["no-such-drive"]', r'model "no-such-drive" is unknown'),
        ("[]", r"members = \[\]: must be a list of names, at least one"),
        ("5", r"members = 5: must be a list of names"),
        (f'["{PAIR}"]', rf"{PAIR}.toml is a member of itself"),
    ],
)
def test_impossible_members_are_refused(members: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        model.load(PAIR, [("members", members)])


def test_a_member_s_key_is_checked_like_any_other() -> None:
    with pytest.raises(RequestError, match=r"flash.read_n \(did you mean flash.read_ns\?\)"):
        model.load(PAIR, [("member.flash.read_n", "1")])
    with pytest.raises(RequestError, match="does not apply to family raid-0"):
        model.load(PAIR, [("flash.read_ns", "1")])


def test_a_partition_makes_spare_area() -> None:
    drive = model.load(PAIR, [("partition_bytes", str(60 << 30))])
    assert drive.user_capacity_bytes == 60 << 30
    assert drive.description["derived"]["spare_ratio"] == pytest.approx(80 / 60 - 1)
    with pytest.raises(RequestError, match="partition_bytes = 100000000000: must be"):
        model.load(PAIR, [("partition_bytes", "100000000000")])


def test_an_array_of_hard_disks_is_measured_as_a_hard_disk_is(tmp_path: Path) -> None:
    file = array(tmp_path, DISK, DISK)
    assert model.load(file).is_disk
    out = tmp_path / "review"
    assert cli.run(["review", file, "--quick", "--tests", TEST, "--out", str(out)]) == 0
    assert list(reading.read(out).measurements["state"]) == ["new"]


def test_a_disk_beside_a_drive_is_an_array_with_flash(tmp_path: Path) -> None:
    mixed = model.load(array(tmp_path, DISK, SINGLE))
    assert not mixed.is_disk
    original = EngineTarget(mixed, 1).original
    assert original is not None
    assert original.user_bytes == mixed.user_capacity_bytes


@pytest.mark.parametrize(
    ("members", "passes", "takes"),
    [
        (("intel-x25-m-g1-80gb", "intel-x25-m-g2-80gb"), "true", True),
        (("intel-x25-m-g1-80gb", "intel-x25-m-g2-80gb"), "false", False),
        (("intel-x25-m-g1-80gb", "intel-x25-m-g1-80gb"), "true", False),
        ((DISK, "intel-x25-m-g2-80gb"), "true", True),
        ((DISK, DISK), "true", False),
    ],
)
def test_an_array_takes_trims_that_reach_a_member_that_does(
    tmp_path: Path, members: tuple[str, ...], passes: str, takes: bool
) -> None:
    file = array(tmp_path, *members, more=f"pass_trim = {passes}\n")
    small = [] if DISK in members else [("scale_divisor", "64")]
    drive = model.load(file, small)
    assert drive.takes_trim is takes
    # As it does.
    target = EngineTarget(drive, 1)
    job = Job(
        name="w", rw="write", block_sizes=(BlockSize(bytes=65536),), io_bytes=8 << 20, queue_depth=8
    )
    target.run([job], TaskProgress("w"), 1.0)
    before = target.counters().get("valid_units", 0)
    target.run([job.model_copy(update={"rw": "trim"})], TaskProgress("t"), 1.0)
    freed = target.counters().get("valid_units", 0) < before
    assert freed is takes


def test_members_that_are_alike_say_once_what_their_small_versions_are(tmp_path: Path) -> None:
    name = "samsung-980-1tb"
    pair = model.load(array(tmp_path, name, name), [("scale_divisor", "128")])
    alone = model.load(name, [("scale_divisor", "128")])
    assert alone.scale_remarks
    assert pair.scale_remarks == [f"{name}: {remark}" for remark in alone.scale_remarks]


def test_what_is_said_of_flash_is_of_the_members_that_have_some(tmp_path: Path) -> None:
    single = model.load(SINGLE)
    mixed = model.load(array(tmp_path, DISK, SINGLE))
    assert mixed.raw_capacity_bytes == single.raw_capacity_bytes
    derived = mixed.description["derived"]
    assert derived["flash_user_bytes"] == mixed.user_capacity_bytes // 2
    spare_bytes = single.raw_capacity_bytes - derived["flash_user_bytes"]
    assert derived["spare_ratio"] == pytest.approx(spare_bytes / derived["flash_user_bytes"])
    assert mixed.effective_spare_ratio == pytest.approx(single.effective_spare_ratio, rel=1e-3)
    assert mixed.endurance_cycles == single.endurance_cycles
    disks = model.load(array(tmp_path, DISK, DISK))
    assert disks.is_disk
    assert disks.effective_spare_ratio is None


def test_an_array_of_arrays_of_flash_drives_has_flash(tmp_path: Path) -> None:
    nested = model.load(array(tmp_path, PAIR, PAIR))
    assert not nested.is_disk
    assert nested.takes_trim == model.load(PAIR).takes_trim
    values = parameters(nested)
    single = parameters(model.load(SINGLE))
    assert values["member.member.flash.program_ns"] == single["flash.program_ns"]
    assert nested.raw_capacity_bytes == 4 * model.load(SINGLE).raw_capacity_bytes
    buffer_bytes = nested.description["derived"]["write_buffer_bytes"]
    assert buffer_bytes == 4 * int(str(single["write_buffer.size_bytes"]))
    inner = tmp_path / "inner"
    inner.mkdir()
    assert model.load(array(tmp_path, array(inner, DISK), DISK)).is_disk


def test_an_array_of_whole_drives_was_not_cut_down(tmp_path: Path) -> None:
    assert not model.load(array(tmp_path, "samsung-980-pro-1tb", "samsung-980-pro-1tb")).notes
