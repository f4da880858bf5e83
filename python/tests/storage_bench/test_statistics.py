from __future__ import annotations

import numpy as np
import pytest

from drivelab.errors import RequestError
from drivelab.storage_bench import find, statistics
from drivelab.storage_bench.statistics import queue_depths
from drivelab.workload import FLUSH, READ, WRITE, Requests


def trace(rows: list[tuple[int, int, int, int]]) -> Requests:
    columns = np.array(rows, dtype=np.uint64).reshape(-1, 4)
    return Requests(
        columns[:, 0].astype(np.uint8),
        columns[:, 1].copy(),
        columns[:, 2].astype(np.uint32),
        columns[:, 3] * np.uint64(10**9),
    )


def test_statistics_of_a_trace_counted_by_hand() -> None:
    found = statistics(
        trace(
            [
                (READ, 0, 8, 0),
                (READ, 8, 8, 0),  # carries on
                (WRITE, 16, 32, 0),  # the other direction: doesn't
                (FLUSH, 0, 0, 1),  # counts for nothing
                (WRITE, 48, 64, 30),  # carries on, across the flush
                (READ, 1000, 128, 60),
            ]
        )
    )
    assert (found.reads, found.writes) == (3, 2)
    assert found.gb_read == pytest.approx(144 * 512 / 1e9)
    assert found.gb_written == pytest.approx(96 * 512 / 1e9)
    assert (found.pct_4kb, found.pct_16kb, found.pct_32kb, found.pct_64kb) == (40, 20, 20, 20)
    assert found.pct_sequential == 40
    assert found.mean_queue_depth == pytest.approx((1 + 2 + 3 + 1 + 1) / 5)
    assert (found.pct_at_depth_1, found.max_queue_depth) == (60, 3)
    assert found.duration_min == 1.0
    assert found.span_gb == pytest.approx(1128 * 512 / 1e9)


def test_depth_is_the_place_within_a_burst() -> None:
    times = np.array([5, 5, 5, 6, 7, 7], dtype=np.uint64)
    assert queue_depths(times).tolist() == [1, 2, 3, 1, 1, 2]


def test_what_has_no_statistics_is_refused() -> None:
    with pytest.raises(RequestError, match="no reads and no writes"):
        statistics(trace([(FLUSH, 0, 0, 1)]))
    timed = trace([(READ, 0, 8, 0)])
    with pytest.raises(RequestError, match="no arrival times"):
        statistics(Requests(timed.op, timed.lba, timed.sector_count))


def test_an_unknown_trace_is_named_with_those_that_exist() -> None:
    with pytest.raises(RequestError, match=r'NAME "2010-lihgt" is unknown.*2010-light.*2011-heavy'):
        find("2010-lihgt")
