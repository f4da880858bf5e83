"""Runs and replays over time and by latency, on the page of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small import MODEL_NAME, SETS

from drivelab import cli
from drivelab.comparison import Comparison, compare, courses, page, planning
from drivelab.web import shown

JOB = "[j]\nrw=randrw\nbs=4k\niodepth=8\nio_size=32m\nnorandommap=1\nlog_avg_msec=10\n"
TRACE = "".join(f"{4_000_000 * i} 0 {8 * (i * 37 % 512)} 8 0\n" for i in range(1000))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs 1 and 2 are of a job, 3 and 4 of a replay, each with two seeds."""
    folder = tmp_path_factory.mktemp("courses")
    (folder / "j.fio").write_text(JOB, encoding="utf-8")
    (folder / "t.trace").write_text(TRACE, encoding="utf-8")
    path = folder / "lab.duckdb"
    for words in (["run", f"{folder}/j.fio"], ["replay", f"{folder}/t.trace", "--format=mqsim"]):
        for seed in ("1", "2"):
            more = ["--state", "filled", "--seed", seed, "--database", str(path)]
            assert cli.run([*words, "--drive", MODEL_NAME, *SETS, *more]) == 0
    return path


def compared(lab: Path, *runs: int) -> Comparison:
    return compare([planning.stored_side(f"{lab}:{run}") for run in runs], None)


@pytest.mark.parametrize(
    ("runs", "names"), [((1, 2), ["j, read", "j, write"]), ((3, 4), ["t.trace, write"])]
)
def test_runs_and_replays_are_drawn_over_time_and_by_latency(
    lab: Path, runs: tuple[int, int], names: list[str]
) -> None:
    found = compared(lab, *runs)
    plots: list[dict[str, Any]] = shown.plots(found)["tests"]
    assert sorted(plot["title"] for plot in plots) == names
    for plot in plots:
        for line in plot["lines"]:
            assert len(line["mib_per_s"]) == len(line["latency_max_us"]) > 1
            assert line["percentiles"] == sorted(line["percentiles"])
            assert max(filter(None, line["latency_max_us"])) <= line["max_us"]
            assert line["percentiles"][-1][1] <= 1.04 * line["max_us"]
    html = page.render(found)
    for heading in ("Over time", "Latency percentiles"):
        assert heading in html


def test_a_percentile_of_too_few_requests_is_known_and_not_told(lab: Path) -> None:
    [pair] = compared(lab, 3, 4).pairs
    course = courses.of_pair(pair)[0]
    assert course is not None
    assert course.writes
    assert max(at for at, _ in course.every) == 99.99
    # Of 1000 requests ten lie beyond 99 %.
    assert max(at for at, _ in course.told) == 99.0
