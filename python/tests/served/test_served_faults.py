"""Faults of drives at work: every kind by command and by plan, and the same plan twice."""

from __future__ import annotations

import errno
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from served.conftest import Serve
from served.drive import ServedDrive
from served.programs import NBDSH, output, ran, require

from drivelab import cli
from drivelab.served import faults, image

SESSION = Path(__file__).with_name("fault_session.py")
BLOCK = 16384
WRITES = 700
TINY = """
name = "tiny"
title = "Tiny drive"
user_capacity_bytes = 4194304
[flash]
channel_count = 2
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = 56
pages_per_block = 16
page_bytes = 4096
read_ns = 50000
program_ns = 250000
erase_ns = 1500000
bus_bytes_per_s = 40000000
[ftl]
map_unit_bytes = 4096
[link]
bytes_per_s = 250000000
[write_buffer]
size_bytes = 65536
"""
"""4 MiB in blocks of 64 KiB: a few seconds of writing wear it out."""


@dataclass(frozen=True)
class Case:
    """A fault, and what a session and the drive's counters say of it."""

    kind: str
    keys: dict[str, Any] = field(default_factory=dict)
    counter: str = ""
    error: int | None = None
    """What requests are answered, and no others than this."""
    wrong: bool = False
    """Whether something else than what was written is read."""


CASES = (
    # First, because commands are counted from power-on.
    Case("read-only", {"at_command": 600}, "refused_commands", errno.EPERM),
    Case("program-failure", {"probability": 0.01, "count": 5}, "program_failures"),
    Case("erase-failure", {"probability": 0.2, "count": 3}, "erase_failures"),
    Case("read-error", {"offset_bytes": 5 * BLOCK, "length_bytes": 512}, "read_errors", errno.EIO),
    Case("bit-errors", {"new_bit_error_rate": 2e-3, "read_retries": 1}, "read_errors", errno.EIO),
    Case("latency-spike", {"duration_ns": 10**9, "count": 3}, "latency_spikes"),
    Case("lying-flush", {"probability": 0.5}, "lying_flushes"),
    Case("ignored-fua", {}, "ignored_fuas"),
    Case("torn-write", {"count": 5}, "torn_writes"),
    Case("lost-write", {"probability": 0.02}, "lost_writes", wrong=True),
    Case(
        "misdirected-write",
        {"probability": 0.05, "distance_bytes": -BLOCK},
        "misdirected_writes",
        wrong=True,
    ),
)


@pytest.fixture
def tiny(serve: Serve, tmp_path: Path) -> ServedDrive:
    return new(serve, tmp_path)


def new(serve: Serve, folder: Path, *options: str) -> ServedDrive:
    """A tiny new drive, served."""
    require("nbdsh")
    model = folder / "tiny.toml"
    model.write_text(TINY)
    return serve(str(model), ("write_buffer.capacitor=false",), options=options)


def plan(folder: Path, *cases: tuple[str, dict[str, Any]], seed: int = 7) -> str:
    """A file with a plan; its path."""
    path = folder / "plan.toml"
    text = f"seed = {seed}\n"
    for kind, keys in cases:
        values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        text += f'[[fault]]\nkind = "{kind}"\n{values}'
    path.write_text(text)
    return str(path)


def give(drive: ServedDrive, kind: str, keys: dict[str, Any]) -> None:
    words = [f"{key}={value}" for key, value in keys.items()]
    assert cli.run(["fault", str(drive.image), kind, *words]) == 0


def session(drive: ServedDrive, writes: int = WRITES) -> dict[str, Any]:
    """What a fixed sequence of requests of a real client comes back with."""
    code = f"exec(open({str(SESSION)!r}).read()); run(h, {writes})"
    found: dict[str, Any] = json.loads(output(*NBDSH, "-u", drive.uri, "-c", code))
    return found


def shell(drive: ServedDrive, code: str) -> None:
    ran(*NBDSH, "-u", drive.uri, "-c", code)


def digest(drive: ServedDrive) -> str:
    return hashlib.sha256(drive.image.read_bytes()).hexdigest()


def ended(drive: ServedDrive) -> None:
    """The server has ended by itself, as after a power cut."""
    assert drive._ended() == 0
    assert "power cut: nothing more was written" in drive.log()


@pytest.mark.parametrize("how", ["command", "plan"])
def test_every_kind_does_what_it_says(tiny: ServedDrive, tmp_path: Path, how: str) -> None:
    for case in CASES:
        before = tiny.smart()[case.counter]
        if how == "command":
            give(tiny, case.kind, case.keys)
        else:
            path = plan(tmp_path, (case.kind, case.keys))
            assert cli.run(["fault", str(tiny.image), "--plan", path]) == 0
        found = session(tiny)
        errors = {number for _, _, number in found["errors"]}
        assert errors == ({case.error} if case.error else set()), case.kind
        assert bool(found["wrong"]) == case.wrong, case.kind
        happened = tiny.smart()[case.counter] - before
        assert happened > 0, case.kind
        [listed] = tiny.control("faults")["faults"]
        assert listed["kind"] == case.kind
        if case.kind != "read-only":
            assert listed["happened"] == happened
        assert cli.run(["fault", str(tiny.image), "clear"]) == 0
    last = {case.counter: tiny.smart()[case.counter] for case in CASES}
    retired = tiny.smart()["retired_blocks"]
    assert retired > 0
    assert session(tiny)["errors"] == [], "nothing happens any more"
    tiny.stop()
    tiny.check()
    tiny.restart()
    facts = tiny.smart()
    assert {key: facts[key] for key in last} == last, "counters outlive the server"
    assert facts["retired_blocks"] == retired
    assert facts["unsafe_shutdowns"] == 0


def test_every_kind_is_tried() -> None:
    assert {case.kind for case in CASES} | {"power-cut"} == set(faults.KINDS)


def test_the_same_plan_and_seed_give_the_same_drive(serve: Serve, tmp_path: Path) -> None:
    cases = (
        ("program-failure", {"probability": 0.01}),
        ("bit-errors", {"new_bit_error_rate": 2e-3, "read_retries": 1}),
        ("lost-write", {"probability": 0.02}),
    )
    found = []
    for seed in (7, 7, 8):
        drive = new(serve, tmp_path, "--faults", plan(tmp_path, *cases, seed=seed))
        answers = session(drive, 300)
        drive.stop()
        found.append((answers, digest(drive)))
    assert found[0] == found[1]
    assert found[0][0]["digest"] != found[2][0]["digest"]


@pytest.mark.parametrize(
    ("phase", "how"), [("before", "plan"), ("middle", "command"), ("after", "plan")]
)
def test_a_power_cut_at_an_operation_ends_the_server(
    serve: Serve, tmp_path: Path, phase: str, how: str
) -> None:
    keys = {"at_operation": 300, "phase": phase}
    planned = ("--faults", plan(tmp_path, ("power-cut", keys))) if how == "plan" else ()
    drive = new(serve, tmp_path, *planned)
    if how == "command":
        give(drive, "power-cut", keys)
    assert session(drive)["errors"], "the client loses its connection"
    ended(drive)
    assert image.smart(drive.image)["clean"] is False
    drive.check()
    drive.restart()
    assert drive.smart()["unsafe_shutdowns"] == 1
    assert session(drive, 20)["errors"] == []


def test_cuts_by_plan_leave_the_same_image_twice(serve: Serve, tmp_path: Path) -> None:
    images = []
    for _ in range(2):
        path = plan(tmp_path, ("power-cut", {"at_operation": 777}))
        drive = new(serve, tmp_path, "--faults", path)
        session(drive)
        ended(drive)
        images.append(digest(drive))
    assert images[0] == images[1]


def test_a_power_cut_now(
    tiny: ServedDrive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell(tiny, "h.pwrite(b'x' * 4096, 0); h.flush(); h.pwrite(b'y' * 4096, 0)")
    give(tiny, "power-cut", {})
    ended(tiny)
    capsys.readouterr()
    # A plan can say the same of the very start: nobody can connect then.
    path = plan(tmp_path, ("power-cut", {}))
    assert cli.run(["serve", str(tiny.image), "--faults", path]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "power cut: nothing more was written" in printed.err
    tiny.restart()
    assert tiny.smart()["unsafe_shutdowns"] == 2
    shell(tiny, "assert h.pread(4096, 0) in (b'x' * 4096, b'y' * 4096)")


def test_a_drive_that_lies_loses_in_a_power_cut_what_it_promised(tiny: ServedDrive) -> None:
    for place, (kind, write, expected) in enumerate(
        (
            ("", "0); h.flush()", "b'x' * 4096"),
            ("lying-flush", "0); h.flush()", "bytes(4096)"),
            ("ignored-fua", "nbd.CMD_FLAG_FUA)", "bytes(4096)"),
            ("torn-write", "0); h.flush()", "b'x' * 2048 + bytes(2048)"),
        )
    ):
        if kind:
            give(tiny, kind, {})
        shell(tiny, f"h.pwrite(b'x' * 4096, {place} * 8192, {write}")
        tiny.kill9()
        tiny.check()
        tiny.restart()
        shell(tiny, f"found = h.pread(4096, {place} * 8192); assert found == {expected}, {kind!r}")


def test_a_worn_out_drive_only_reads_and_says_so(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plan(tmp_path, ("erase-failure", {"probability": 0.5}))
    drive = new(serve, tmp_path, "--faults", path)
    found = session(drive, 3 * WRITES)
    assert {number for _, _, number in found["errors"]} == {errno.EPERM}
    assert found["wrong"] == [], "everything on it can be read"
    capsys.readouterr()
    assert cli.run(["smart", str(drive.image), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["smart_status"] == {"passed": False}
    assert document["drivelab"]["spare_blocks"] == 0
    drive.stop()
    drive.check()
    assert cli.run(["smart", str(drive.image)]) == 0
    assert "read-only: its spare blocks are used up, the end of its life" in capsys.readouterr().out
    assert cli.run(["trim", str(drive.image), "--all"]) == 1
    assert "the drive is read-only" in capsys.readouterr().err


def test_what_a_drive_can_not_have_is_refused_in_a_line(
    tiny: ServedDrive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    far = plan(tmp_path, ("lost-write", {"length_bytes": 8 << 20}))
    for words, message in (
        (["read-error", "offset_bytes=4m"], "drivelab: offset_bytes = 4194304: must be less than"),
        (["program-failure", "probability=0.1", "block=99999"], "block = 99999: must be one of"),
        (["bit-errors", "refresh_bits=9"], "refresh_bits = 9: must be 0 to 8 bits"),
        (["--plan", far], f"drivelab: {far}: fault 1 (lost-write): length_bytes = 8388608: must"),
    ):
        assert cli.run(["fault", str(tiny.image), *words]) == 2
        said = capsys.readouterr().err
        assert message in said
        assert len(said.splitlines()) == 1
    assert tiny.control("faults")["faults"] == []
    tiny.stop()
    before = digest(tiny)
    path = plan(tmp_path, ("read-error", {"offset_bytes": 1 << 30}))
    assert cli.run(["serve", str(tiny.image), "--faults", path]) == 2
    said = capsys.readouterr().err
    refused = f"{path}: fault 1 (read-error): offset_bytes = 1073741824: must be less than"
    assert said.startswith(f"drivelab: {refused}")
    assert len(said.splitlines()) == 1
    assert digest(tiny) == before


def test_a_fault_is_no_end_of_life(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plan(tmp_path, ("read-only", {"at_command": 5}))
    drive = new(serve, tmp_path, "--faults", path)
    session(drive, 30)
    capsys.readouterr()
    assert cli.run(["smart", str(drive.image)]) == 0
    assert "read-only: the fault read-only is in effect" in capsys.readouterr().out
