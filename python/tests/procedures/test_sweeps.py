"""Alignment and compressibility: what they find follows from what the drive is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from small import MODEL_NAME, OVERRIDES, small_model

from drivelab import model, states
from drivelab.procedures import PROCEDURES
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget, Report
from drivelab.workload import Job

SMALL_COMPRESSING = (("flash.blocks_per_plane", "32"), ("user_capacity_bytes", "700002304"))


def rows_of(test_id: str, target: EngineTarget) -> tuple[list[dict[str, Any]], dict[str, float]]:
    found = PROCEDURES[test_id].measure(target, 1, True, TaskProgress(test_id)).found()
    return found["tables"][0]["rows"], {v["name"]: v["value"] for v in found["values"]}


def test_a_shifted_block_costs_two_units_and_a_shift_by_whole_units_nothing() -> None:
    target = EngineTarget(small_model(), 1)
    states.find("filled").prepare(target, lambda _: 1, TaskProgress("filled"))
    rows, values = rows_of("alignment", target)
    random = {row["offset_kib"]: row for row in rows if row["workload"].startswith("4 KB")}
    slow = random[0.5]["mib_per_s"]
    assert random[0]["mib_per_s"] > 1.5 * slow
    assert slow == pytest.approx(random[2]["mib_per_s"], rel=0.02)
    assert random[4]["mib_per_s"] == pytest.approx(random[0]["mib_per_s"], rel=0.02)
    assert random[0.5]["write_amplification"] > 1.8 * random[0]["write_amplification"]
    assert values["random_4k_mib_per_s"] == random[0]["mib_per_s"]
    slowest = min(row["mib_per_s"] for row in random.values())
    assert values["random_4k_shifted_percent"] == pytest.approx(
        100 * slowest / random[0]["mib_per_s"]
    )


IN_FLASH = (
    ("ftl.journal_updates_per_page", "0"),
    ("ftl.checkpoint_updates", "0"),
    ("ftl.checkpoint_bytes", "0"),
    ("ftl.map_cache_bytes", "8192"),
)


def means_by_span(*changes: tuple[str, str]) -> tuple[list[float], dict[str, float]]:
    target = EngineTarget(model.load(MODEL_NAME, (*OVERRIDES, *changes)), 1)
    states.find("filled").prepare(target, lambda _: 1, TaskProgress("filled"))
    rows, values = rows_of("read-span", target)
    assert [row["span_gib"] for row in rows] == sorted(row["span_gib"] for row in rows)
    return [row["mean_ms"] for row in rows], values


def test_reads_over_a_growing_span_are_slower_where_the_map_is_not_in_memory() -> None:
    whole, _ = means_by_span()
    assert max(whole) == pytest.approx(min(whole), rel=0.05)
    # The host's memory maps the first span, of 16 MiB, and not all of the drive.
    behind, values = means_by_span(*IN_FLASH, ("ftl.host_memory_bytes", "20480"))
    assert behind[0] == pytest.approx(whole[0] + 0.0004, abs=0.003)
    assert behind[-1] > 1.2 * behind[0]
    assert values["more_percent"] == pytest.approx(100 * (behind[-1] / behind[0] - 1))
    without, _ = means_by_span(*IN_FLASH)
    assert without[0] > 1.2 * behind[0]


def test_what_memory_maps_is_there_before_a_quick_review_measures() -> None:
    """The map of 512 MiB, in 8192 lines; after a fill it is that of the drive's end."""
    lines = (("ftl.host_memory_bytes", "524288"), ("ftl.map_fetch_bytes", "64"))
    means, _ = means_by_span(*IN_FLASH, *lines)
    quarter, whole = means[2:]
    assert quarter == pytest.approx(means[0], rel=0.03)
    assert whole > 1.1 * quarter


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("test_id", ["atto", "alignment", "compressibility"])
def test_the_recorded_span_is_the_one_that_was_used(
    test_id: str, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick sweep uses a smaller file, and a small drive leaves room for the offsets."""
    asked: list[int] = []
    progress = TaskProgress("one")
    numbers = EngineTarget(small_model(), 1).run(
        [Job(name="one", rw="write", io_bytes=4096)], progress
    )

    def run(self: EngineTarget, jobs: Sequence[Job], *_: Any) -> Report:
        asked.extend(job.span_bytes or self.capacity_bytes for job in jobs)
        [job] = numbers["jobs"]
        return {**numbers, "jobs": [job | {"read": job["write"]}]}

    monkeypatch.setattr(EngineTarget, "run", run)
    target = EngineTarget(small_model(), 1)
    found = PROCEDURES[test_id].measure(target, 1, quick, TaskProgress(test_id))
    assert found.span_bytes == max(asked)


def test_a_drive_that_does_not_compress_draws_level_lines() -> None:
    rows, values = rows_of("compressibility", EngineTarget(small_model(), 1))
    for workload in {row["workload"] for row in rows}:
        assert len({row["mib_per_s"] for row in rows if row["workload"] == workload}) == 1
    assert list(values.values()) == pytest.approx([100.0] * len(values))


def test_a_drive_that_compresses_writes_less_the_more_it_can() -> None:
    small = model.load("ocz-agility-2-50gb", SMALL_COMPRESSING)
    rows, values = rows_of("compressibility", EngineTarget(small, 1))
    written = [
        row["write_amplification"] for row in rows if row["workload"] == "128 KB sequential write"
    ]
    assert written == sorted(written)
    assert written[-1] > 4 * written[0]
    assert values["sequential_write_kept_percent"] < 90
