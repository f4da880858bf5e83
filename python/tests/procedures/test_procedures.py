from __future__ import annotations

import pytest

from drivelab import procedures
from drivelab.errors import RequestError
from drivelab.procedures import PROCEDURES
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S

CAPACITY = 80_026_361_856


def test_the_tests_of_the_reviews_are_there() -> None:
    job = PROCEDURES["sequential-read-2m"].job(CAPACITY, 1)
    assert (job.rw, job.block_sizes[0].bytes, job.queue_depth) == ("read", 2 * MIB, 1)
    assert job.runtime_ns == 180 * NS_PER_S
    assert job.span_bytes == CAPACITY // (2 * MIB) * 2 * MIB

    job = PROCEDURES["random-write-4k-qd3-sector"].job(CAPACITY, 1)
    assert (job.rw, job.block_sizes[0].bytes, job.queue_depth) == ("randwrite", 4 * KIB, 3)
    assert (job.align_bytes, job.span_bytes) == (512, 8 * GIB)

    job = PROCEDURES["access-time"].job(CAPACITY, 1)
    assert (job.rw, job.block_sizes[0].bytes, job.span_bytes) == ("randread", 512, CAPACITY)


def test_random_tests_may_hit_a_block_twice() -> None:
    assert not any(test.job(CAPACITY, 1).random_map for test in PROCEDURES.values())


def test_quick_tests_are_short() -> None:
    assert {test.job(CAPACITY, 1, quick=True).runtime_ns for test in PROCEDURES.values()} == {
        10 * NS_PER_S
    }


@pytest.mark.parametrize("capacity_bytes", [2 * MIB, GIB, 3 * 10**9])
def test_smaller_drives_are_used_whole(capacity_bytes: int) -> None:
    for test in PROCEDURES.values():
        assert test.span_bytes_on(capacity_bytes) <= capacity_bytes
        assert test.span_bytes_on(capacity_bytes) > capacity_bytes - 2 * MIB


def test_selection_keeps_the_order_of_reports() -> None:
    chosen = procedures.select(["access-time", "sequential-read-2m"])
    assert [test.id for test in chosen] == ["sequential-read-2m", "access-time"]
    assert procedures.select([]) == list(PROCEDURES.values())


def test_an_unknown_test_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match=r'"acces-time" is unknown; did you mean "access-time"'):
        procedures.select(["acces-time"])
