"""The benchmark still runs: the same code for a moment."""

from __future__ import annotations

from pathlib import Path

from served import benchmark
from served.conftest import SMALL, Serve
from served.programs import require


def test_the_benchmark_runs_and_prints_ratios(serve: Serve, tmp_path: Path) -> None:
    require("fio", "nbdkit", "nbdinfo")
    size_bytes = 399_998_976
    assert f"user_capacity_bytes={size_bytes}" in SMALL
    result = benchmark.measured(tmp_path, 1, 1.0, 0.01, size_bytes, SMALL)
    states = {("new", "randwrite"), ("filled", "randread"), ("steady", "randread")}
    assert set(result.ours) == set(result.theirs) == states | {("steady", "randwrite")}
    for rates in (result.ours, result.theirs):
        assert all(rate > 100 for [rate] in rates.values())
    assert result.write_amplification >= 1.0
    assert benchmark.table(result).count("\n") == 5
