"""Copies of a drive that there is once, rehearsed: who pays for which preparation."""

from __future__ import annotations

from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, MIB, NS_PER_S
from drivelab.targets.fio.lineage import Lineage
from drivelab.targets.fio.rehearsal import Rehearsal
from drivelab.workload import BlockSize, Job

PROGRESS = TaskProgress("test")


def write(name: str, size: int) -> Job:
    return Job(name=name, rw="write", block_sizes=(BlockSize(bytes=MIB),), io_bytes=size)


def prepared() -> tuple[Rehearsal, Lineage]:
    drive = Rehearsal(GIB, 32, False, lambda jobs: None, lambda job, requests: None)
    target = Lineage(drive, "fio:here")
    target.run([write("before", 512 * MIB)], PROGRESS)
    target.secure_erase()
    target.run([write("fill", GIB)], PROGRESS)
    target.idle(60 * NS_PER_S)
    return drive, target


def test_a_copy_is_prepared_again_once_another_has_written() -> None:
    drive, target = prepared()
    first, second = target.clone(), target.clone()
    start = drive.written_bytes
    first.run([write("a", MIB)], PROGRESS)
    assert drive.written_bytes - start == MIB
    time_ns = drive.now_ns
    second.run([write("b", MIB)], PROGRESS)
    # What was before the erase is nobody's condition.
    assert drive.written_bytes - start == GIB + 2 * MIB
    assert drive.now_ns - time_ns > 60 * NS_PER_S
    target.run([Job(name="read", rw="read")], PROGRESS)
    assert drive.written_bytes - start == 2 * GIB + 2 * MIB


def test_copies_that_only_read_share_a_preparation() -> None:
    drive, target = prepared()
    start = drive.written_bytes
    for _ in range(3):
        target.clone().run([Job(name="read", rw="randread", io_bytes=MIB)], PROGRESS)
    assert drive.written_bytes == start


def test_a_copys_counters_and_clock_are_its_own() -> None:
    _, target = prepared()
    other = target.clone()
    other.run([write("a", MIB)], PROGRESS)
    before, time_ns = target.counters(), target.now_ns
    target.run([write("b", 2 * MIB)], PROGRESS)
    assert target.counters()["host_write_bytes"] - before["host_write_bytes"] == 2 * MIB
    assert target.now_ns - time_ns < NS_PER_S
    assert other.counters()["host_write_bytes"] == before["host_write_bytes"] + MIB
