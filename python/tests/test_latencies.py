from __future__ import annotations

import pytest
from small import small_model

from drivelab import latencies
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job


@pytest.mark.parametrize("nanoseconds", [0, 1, 15, 16, 17, 31, 32, 99_999, 100_000, 2**40 - 1])
def test_a_bin_of_the_histogram_is_narrow_and_holds_its_times(nanoseconds: int) -> None:
    found = latencies.histogram_us([[nanoseconds, 3]])
    assert found is not None
    assert found["requests"] == [3]
    [edge_us] = found["latency_below_us"]
    assert nanoseconds < edge_us * 1000 <= max(nanoseconds + 1, nanoseconds * 17 / 16)


def test_bins_of_the_engine_lie_within_bins_of_the_histogram() -> None:
    """An edge of the histogram is an edge of finer bins, too: nothing is counted on its wrong side.

    The engine tells of a bin the highest time in it.
    """
    model = small_model()
    job = Job(name="j", rw="randwrite", block_sizes=(BlockSize(bytes=4096),), io_bytes=2**24)
    report = EngineTarget(model, 1).run([job], TaskProgress("j"))
    bins = report["jobs"][0]["write"]["latency_ns"]["bins"]
    found = latencies.histogram_us(bins)
    assert found is not None
    for edge_us, count in zip(found["latency_below_us"], found["requests"], strict=True):
        edge_ns = round(edge_us * 1000)
        below_ns = edge_ns * 16 // 17
        assert 0 < count <= sum(n for ns, n in bins if below_ns <= ns < edge_ns)
    assert sum(found["requests"]) == report["jobs"][0]["write"]["ios"]
