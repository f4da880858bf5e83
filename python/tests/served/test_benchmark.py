"""The benchmark still runs: the same code for a moment."""

from __future__ import annotations

from pathlib import Path

from served import benchmark
from served.conftest import Serve
from served.programs import require


def test_the_benchmark_runs_and_prints_ratios(serve: Serve, tmp_path: Path) -> None:
    require("fio", "nbdkit", "nbdinfo")
    ours, theirs = benchmark.measured(tmp_path, rounds=1, seconds=0.3)
    assert all(rate > 100 for rates in (ours, theirs) for [rate] in rates.values())
    assert benchmark.table(ours, theirs).count("\n") == 2
