"""What the Storage Bench's rates depend on: the table of docs/tests/storage-bench.md.

The light trace of 2010 on new drives, with one assumption changed at a time; `make assumptions`
writes the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from marked import END, renewed

from drivelab import model
from drivelab.procedures import storage_bench
from drivelab.procedures.storage_bench import IDLE_CAP_NS, StorageBench
from drivelab.progress import TaskProgress
from drivelab.states.steps import settle
from drivelab.storage_bench.specification import REVIEW_SEED, Specification, find
from drivelab.storage_bench.synthesis import synthesise
from drivelab.targets import EngineTarget
from drivelab.workload import Requests

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "tests" / "storage-bench.md"
MARK = "<!-- assumptions: written by `make assumptions` -->\n"
TRACE = "2010-light"
SEED = 1
DRIVES = {
    "X25-M G1": "intel-x25-m-g1-80gb",
    "2 × X25-V": "intel-x25-v-40gb-raid0-x2",
    "C300": "crucial-c300-256gb",
    "Vertex": "ocz-vertex-120gb",
    "VelociRaptor": "wd-velociraptor-300gb",
}
"""Heads of the table's columns, and models."""
DAY_NS = 24 * 3600 * 10**9
"""No pause of the trace is as long."""


@dataclass(frozen=True)
class Assumption:
    """One value of an assumption: the trace as it makes it, and the longest pause."""

    trace: Specification
    longest_pause_ns: int = IDLE_CAP_NS


@dataclass(frozen=True, kw_only=True)
class Assumed(StorageBench):
    """The test with a trace of its own."""

    assumed: Specification

    @property
    def trace(self) -> Specification:
        return self.assumed


def _habits(**values: float) -> Assumption:
    trace = find(TRACE)
    return Assumption(replace(trace, habits=replace(trace.habits, **values)))


def _depth_1(percent: float) -> Assumption:
    trace = find(TRACE)
    aim = replace(trace.aims["pct_at_depth_1"], value=percent)
    return Assumption(replace(trace, aims={**trace.aims, "pct_at_depth_1": aim}))


AS_IT_IS = "as it is"
ROWS: Mapping[str, Sequence[Assumption]] = {
    AS_IT_IS: (Assumption(find(TRACE)),),
    "phases of one place, of 64": (_habits(direction_runs=1), _habits(direction_runs=64)),
    "sequential regardless of size; by size": (
        _habits(sequential_power=0),
        _habits(sequential_power=1),
    ),
    "places all over the image alike": (
        _habits(hot_access_share=find(TRACE).habits.hot_size_share),
    ),
    "35 % at depth 1 instead of 50 %": (_depth_1(35),),
    "no idle time at all; all of it": (
        Assumption(find(TRACE), 0),
        Assumption(find(TRACE), DAY_NS),
    ),
}
"""By the table's words, the values that an assumption is given."""


@cache
def _with_image(name: str) -> EngineTarget:
    """A new drive that holds the image of the trace."""
    target = EngineTarget(model.load(name), SEED)
    progress = TaskProgress(name)
    target.run([_test(find(TRACE))._image(SEED)], progress)
    settle(target, progress)
    return target


def _test(trace: Specification) -> Assumed:
    [plain] = (p for p in storage_bench.PROCEDURES if p.trace_name == TRACE)
    return Assumed(
        id=plain.id,
        title=plain.title,
        group=plain.group,
        states=plain.states,
        trace_name=TRACE,
        assumed=trace,
    )


def iops(name: str, assumption: Assumption) -> float:
    """Requests per busy second of a new drive."""
    return _iops(name, assumption, _recorded(assumption))


def _recorded(assumption: Assumption) -> Requests:
    before = storage_bench.IDLE_CAP_NS
    storage_bench.IDLE_CAP_NS = max(assumption.longest_pause_ns, storage_bench.BURST_NS)
    try:
        return storage_bench.recorded(synthesise(assumption.trace, REVIEW_SEED))
    finally:
        storage_bench.IDLE_CAP_NS = before


def _iops(name: str, assumption: Assumption, requests: Requests) -> float:
    target = _with_image(name).clone()
    job = _test(assumption.trace)._replay(SEED)
    report = target.run_requests(job, requests, TaskProgress(name), 1.0)
    [both] = (
        row for row in storage_bench._found(report).tables[0].rows if row["direction"] == "all"
    )
    return float(both["iops"])


def table() -> str:
    """The table, measured anew."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield f"| | {' | '.join(DRIVES)} |\n"
    yield f"| --- |{' ---: |' * len(DRIVES)}\n"
    for words, assumptions in ROWS.items():
        traces = [(assumption, _recorded(assumption)) for assumption in assumptions]
        cells = [
            ", ".join(f"{_iops(name, *trace):.0f}" for trace in traces) for name in DRIVES.values()
        ]
        yield f"| {words} | {' | '.join(cells)} |\n"


def main() -> None:
    """Writes the table into its page."""
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(renewed(text, MARK, END, table()), "utf-8")
    print(f"Written: {DOCUMENT.name}")


if __name__ == "__main__":
    main()
