"""The server is killed at random moments; what it had promised is there when it is back.

A few rounds of each family in CI, 50 and more by `make torture` (`DRIVELAB_KILL_ROUNDS`).
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from served import wire
from served.conftest import MODEL, SMALL, Serve
from served.drive import ServedDrive
from served.hammer import Hammer
from served.programs import PATIENCE_S, ran, require, started
from served.stamps import Book

MIB = 1 << 20
ROUNDS = int(os.environ.get("DRIVELAB_KILL_ROUNDS", "3"))
SEED = int(os.environ.get("DRIVELAB_KILL_SEED", "1"))
VOLATILE = (*SMALL, "write_buffer.capacitor=false")
CAPACITOR = (*SMALL, "write_buffer.capacitor=true")
FAMILIES = {
    "page-map": (MODEL, VOLATILE),
    "page-map-capacitor": (MODEL, CAPACITOR),
    "slc-cache": (
        "crucial-t500-2tb",
        (
            "flash.channel_count=2",
            "flash.dies_per_channel=1",
            "flash.pages_per_block=24",
            "flash.blocks_per_plane=100",
            "user_capacity_bytes=199999488",
            "slc_cache.max_bytes=8000000",
            "slc_cache.static_bytes=2000000",
        ),
    ),
    "two-passes": (
        "intel-660p-1tb",
        (
            "flash.channel_count=2",
            "flash.dies_per_channel=1",
            "flash.pages_per_block=24",
            "flash.blocks_per_plane=100",
            "user_capacity_bytes=150000640",
            "slc_cache.max_bytes=8000000",
            "slc_cache.static_bytes=2000000",
            "flash.program_passes=2",
        ),
    ),
    "superblock-map": (
        "jmicron-jmf602b-64gb",
        (
            "flash.dies_per_channel=2",
            "flash.blocks_per_plane=64",
            "user_capacity_bytes=199999488",
            "ftl.trim_supported=true",
        ),
    ),
    "log-block-map": (
        "samsung-slc-64gb",
        (
            "flash.dies_per_channel=1",
            "flash.blocks_per_plane=128",
            "user_capacity_bytes=399998976",
            "ftl.trim_supported=true",
        ),
    ),
    "compressed-map": (
        "corsair-force-f100-100gb",
        (
            "flash.channel_count=4",
            "flash.dies_per_channel=1",
            "flash.blocks_per_plane=56",
            "user_capacity_bytes=299999232",
        ),
    ),
    "raid-0": (
        "intel-x25-v-40gb-raid0-x2",
        ("member.flash.blocks_per_plane=64", "member.user_capacity_bytes=999997440"),
    ),
    "hard-disk": ("wd-velociraptor-300gb", ()),
}
JOBS, SPAN_BYTES, STEADY_OFFSET = 4, 16 * MIB, 256 * MIB
BAD = re.compile(r"^(?:verify|crc32c): .* offset (\d+)", re.MULTILINE)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_promise_survives_kill_9(serve: Serve, family: str) -> None:
    """Stamped sectors on two connections; the book knows what may be there, sector by sector."""
    model, sets = FAMILIES[family]
    drive = serve(model, sets)
    book = Book(SEED, capacitor="write_buffer.capacitor=true" in sets)
    hammer = Hammer(drive, SEED, book, 16 * MIB)
    moments = np.random.default_rng(SEED)
    for number in range(ROUNDS):
        hammer.round(int(moments.integers(50, 3000)))
        drive.check()
        drive.restart()
        hammer.verify(f"{family}, seed {SEED}, round {number}")


@pytest.mark.parametrize("buffer", [VOLATILE, CAPACITOR], ids=["volatile", "capacitor"])
def test_fio_verifies_after_kill_9(serve: Serve, tmp_path: Path, buffer: tuple[str, ...]) -> None:
    """What fio's state says was acknowledged is there; see `mode` for what that proves.

    Data that was flushed before the first round is verified after each, too.
    """
    require("fio")
    drive = serve(sets=buffer)
    steady = ["--name=steady", f"--offset={STEADY_OFFSET}", "--size=32m", "--rw=randwrite"]
    steady += ["--bs=16k", "--verify=crc32c", *at(drive)]
    ran("fio", *steady, "--do_verify=0", "--end_fsync=1", cwd=tmp_path)
    moments = np.random.default_rng(SEED)
    for number in range(ROUNDS):
        trim(drive)  # what an earlier round wrote would pass for what this one lost
        seconds = float(moments.uniform(0.05, 1.0))
        options = mode(buffer, seed=SEED * 1000 + number)
        states = killed_under_fio(drive, options, seconds, tmp_path)
        drive.check()
        drive.restart()
        allowed = {last_write(state) for state in states} if buffer is VOLATILE else set()
        bad, said = verified(drive, options, tmp_path)
        assert bad <= allowed, f"seed {SEED}, round {number}, {seconds:.3f} s: {said}"
        ran("fio", *steady, "--verify_only=1", cwd=tmp_path)


def at(drive: ServedDrive) -> list[str]:
    return ["--ioengine=nbd", f"--uri={drive.uri}"]


def mode(buffer: tuple[str, ...], seed: int) -> list[str]:
    """How fio writes, such that its state says what must be there after a kill.

    The state has the number of writes that were handed over and the places of the last ones that
    were acknowledged, as many as may be under way. With more than one under way that isn't enough
    (an old one may still wait while many later ones are done), so every job has one, and there are
    several jobs. On a drive with a capacitor every acknowledged write must be there. A volatile
    buffer promises only what was flushed: with a flush after every write, all but a job's last one.
    """
    words = ["--name=job", "--rw=randwrite", "--bs=4k", f"--numjobs={JOBS}", "--iodepth=1"]
    words += [f"--size={SPAN_BYTES}", f"--offset_increment={SPAN_BYTES}", f"--randseed={seed}"]
    words += ["--verify=crc32c", "--verify_fatal=0"]
    return [*words, "--fsync=1"] if buffer is VOLATILE else words


def killed_under_fio(
    drive: ServedDrive, options: list[str], seconds: float, folder: Path
) -> list[Path]:
    """fio's states, one of each job, after its server was killed."""
    states = [folder / f"local-job-{job}-verify.state" for job in range(JOBS)]
    for state in states:
        state.unlink(missing_ok=True)
    words = ["fio", *at(drive), *options, "--do_verify=0", "--verify_state_save=1"]
    with started(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        connected = 0
        while connected < JOBS:
            line = process.stdout.readline()
            assert line, "fio has ended"
            connected += "connected to NBD server" in line
        time.sleep(seconds)
        drive.kill9()
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert all(state.exists() for state in states), said
    return states


def verified(drive: ServedDrive, options: list[str], folder: Path) -> tuple[set[int], str]:
    """Places where fio misses what its states say was written, and all that it said."""
    words = ["fio", *at(drive), *options, "--verify_only=1", "--verify_state_load=1"]
    words.append("--verify_state_save=0")  # or it would put its own in the place of the loaded one
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    bad = {int(offset) for offset in BAD.findall(said)}
    assert bad or done.returncode == 0, said
    return bad, said


def last_write(state: Path) -> int:
    """Where a job wrote last: a state ends with the places of its last acknowledged writes."""
    return int.from_bytes(state.read_bytes()[-8:], "little")


def trim(drive: ServedDrive) -> None:
    connection = wire.Connection(drive.socket)
    connection.done(wire.TRIM, 0, JOBS * SPAN_BYTES)
    connection.done(wire.FLUSH, 0, 0)
    connection.close()
