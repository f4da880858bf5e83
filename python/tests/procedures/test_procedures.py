from __future__ import annotations

from typing import Any

import pytest
from small import small_model

from drivelab import model, procedures, results
from drivelab.errors import RequestError
from drivelab.procedures import PROCEDURES, Procedure, group_name, small_version
from drivelab.procedures.fill import Fill
from drivelab.procedures.hdtach import Pass
from drivelab.procedures.stream import Stream
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.targets.account import Account, AccountedTarget

CAPACITY = 80_026_361_856


def test_the_tests_of_the_reviews_are_there() -> None:
    job = stream("sequential-read-2m").job(CAPACITY, 1)
    assert (job.rw, job.block_sizes[0].bytes, job.queue_depth) == ("read", 2 * MIB, 1)
    assert job.runtime_ns == 180 * NS_PER_S
    assert job.span_bytes == CAPACITY // (2 * MIB) * 2 * MIB

    job = stream("random-write-4k-qd3-sector").job(CAPACITY, 1)
    assert (job.rw, job.block_sizes[0].bytes, job.queue_depth) == ("randwrite", 4 * KIB, 3)
    assert (job.align_bytes, job.span_bytes) == (512, 8 * GIB)

    job = stream("access-time").job(CAPACITY, 1)
    assert (job.rw, job.block_sizes[0].bytes, job.span_bytes) == ("randread", 512, CAPACITY)


def test_a_small_version_goes_by_one_name() -> None:
    """A report's title has 1/64, and nobody is to look for a second drive of 1/63."""
    small = EngineTarget(model.load("samsung-980-pro-1tb", [("scale_divisor", "64")]), 1)
    whole = model.load("samsung-980-pro-1tb")
    assert round(whole.user_capacity_bytes / small.capacity_bytes) == 63
    assert small_version.notes(small, "x") == ("a small version, 1/64 of the drive: x",)
    # Nor is a drive one of which the first bytes are used.
    drive = EngineTarget(model.load("intel-x25-v-40gb"), 1)
    assert small_version.notes(AccountedTarget(drive, Account(), 2**30), "x") == ()


def stream(test_id: str) -> Stream:
    test = PROCEDURES[test_id]
    assert isinstance(test, Stream)
    return test


def streams() -> list[Stream]:
    """Tests that are one stream of requests."""
    return [test for test in PROCEDURES.values() if type(test) is Stream]


def test_random_tests_may_hit_a_block_twice() -> None:
    assert not any(test.job(CAPACITY, 1).random_map for test in streams())


def test_quick_tests_are_short() -> None:
    assert {test.job(CAPACITY, 1, quick=True).runtime_ns for test in streams()} == {10 * NS_PER_S}


@pytest.mark.parametrize("capacity_bytes", [16 * MIB, GIB, 3 * 10**9])
def test_smaller_drives_are_used_whole(capacity_bytes: int) -> None:
    for test in streams():
        offset, size = test.region_on(capacity_bytes)
        assert 0 < offset + size <= capacity_bytes
        if test.end_share is not None:
            assert offset + size > capacity_bytes - test.block_bytes
            assert size <= max(test.block_bytes, test.end_share * capacity_bytes)
        else:
            assert size > min(capacity_bytes, test.span_bytes or capacity_bytes) - test.block_bytes


def test_selection_keeps_the_order_of_reports() -> None:
    chosen: list[Procedure] = procedures.select(["access-time", "sequential-read-2m"])
    assert [test.id for test in chosen] == ["sequential-read-2m", "access-time"]
    assert procedures.select(["all"]) == list(PROCEDURES.values())


def test_a_group_selects_its_tests() -> None:
    chosen = procedures.select(["pass"])
    assert chosen
    assert {test.group for test in chosen} == {"pass"}
    assert all(isinstance(test, Pass | Fill) for test in chosen)


def test_every_group_can_be_typed() -> None:
    assert {test.group for test in PROCEDURES.values()} <= set(procedures.GROUPS)
    names = {group_name(group) for group in procedures.GROUPS}
    assert "storage-bench" in names
    assert not names & set(PROCEDURES)


def test_only_hard_disks_are_measured_at_their_end_by_default() -> None:
    flash, disk = ({test.id for test in procedures.select([], disk=d)} for d in (False, True))
    assert disk - flash == {"sequential-read-2m-end", "sequential-write-2m-end"}
    assert "hdtach-read" not in flash | disk


def test_an_unknown_test_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match=r'"acces-time" is unknown; did you mean "access-time"'):
        procedures.select(["acces-time"])


def test_random_data_differ_in_nothing_but_the_data() -> None:
    found = [test for test in streams() if test.id.endswith("-random-data")]
    assert len(found) == 6
    for test in found:
        plain = stream(test.id.removesuffix("-random-data"))
        jobs = [item.job(CAPACITY, 1).model_dump() for item in (plain, test)]
        different = {key for key in jobs[0] if jobs[0][key] != jobs[1][key]}
        assert different == {"name", "data"}
        assert test.written_first == (test.direction == "read")


def test_titles_and_ids_are_unique() -> None:
    titles = [test.title for test in PROCEDURES.values()]
    assert len(set(titles)) == len(titles)


def test_a_read_of_random_data_reads_flash_even_on_a_new_drive() -> None:
    target = EngineTarget(small_model(), 1)
    test = stream("random-read-4k-qd3-aligned-random-data")
    measured = test.measure(target, 1, True, TaskProgress(test.id))
    before, after = (measured.report[f"counters_{when}"] for when in ("before", "after"))
    span_bytes = test.span_bytes_on(target.capacity_bytes)
    assert after["host_write_bytes"] == before["host_write_bytes"] == span_bytes
    record = results.measured_record("m", "new", test, measured)
    assert record["counters"]["zero_read_bytes"] < 0.01 * record["bytes"]
    assert record["data"] == "random"


@pytest.mark.parametrize(
    ("name", "divisor"), [("samsung-pm9a3-960gb", "64"), ("intel-x25-m-g1-80gb", "16")]
)
def test_a_timed_read_of_random_data_never_comes_to_what_was_not_written(
    name: str, divisor: str
) -> None:
    """However fast the link is; and no more is written than it carries in that time."""
    target = EngineTarget(model.load(name, [("scale_divisor", divisor)]), 1)
    test = stream("sequential-read-2m-random-data")
    measured = test.measure(target, 1, True, TaskProgress(test.id))
    record = results.measured_record(name, "new", test, measured)
    assert record["counters"]["zero_read_bytes"] == 0
    rate, block_bytes = target.parameter("link.bytes_per_s"), 2 * MIB
    assert rate is not None
    carried = test.duration_on(True) * rate
    written = measured.report["counters_before"]["host_write_bytes"]
    region = test.span_bytes_on(target.capacity_bytes)
    assert written == min(region, -(-carried // block_bytes) * block_bytes)
    assert (written < region) == name.startswith("intel")


def power_of(test_id: str) -> dict[str, Any]:
    """The record of a power test on a small new drive."""
    test = stream(test_id)
    measured = test.measure(EngineTarget(small_model(), 1), 1, False, TaskProgress(test.id))
    return results.measured_record("m", "new", test, measured)


def test_energy_of_a_write_is_that_of_what_its_flash_and_its_link_did() -> None:
    resting, writing = power_of("power-idle"), power_of("power-sequential-write")
    assert (resting["ios"], resting["mib_per_s"], resting["latency_us"]["mean"]) == (0, None, None)
    # From the datasheet's times and currents, not from the engine's busy times: 900 us a page and
    # 2 ms a block at 25 mA and 3.3 V, 200 mW for a link of 300 MB/s, 20 mW for buses of 40 MB/s.
    pages, byte_count = writing["flash_program_bytes"] / 4096, writing["bytes"]
    flash_j = (pages * 900e-6 + writing["erases"] * 2e-3) * 0.083
    moving_j = byte_count / 300e6 * 0.2 + writing["flash_program_bytes"] / 40e6 * 0.02
    rest_j = writing["duration_s"] * resting["mean_power_w"]
    assert writing["energy_j"] == pytest.approx(flash_j + moving_j + rest_j, rel=0.01)
    assert rest_j > 0.03 * writing["energy_j"]
