"""What `make bench` measures of watched drives, on a small one."""

from __future__ import annotations

from web import benchmark


def test_a_watched_drive_is_measured_without_a_browser() -> None:
    [found] = benchmark.measured(["intel-x25-m-g1-80gb"], 64, rounds=1, seconds=0.5, frames=3)
    assert found.block_count > 1000
    assert found.frame_ms > 0
    assert 0 < found.watched_ratio < 10
    assert not found.frames_per_s
    assert "no browser" in found.line()
    assert len(found.line()) == len(benchmark.HEADING)
