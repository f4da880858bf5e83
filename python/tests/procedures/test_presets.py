"""Presets: the programs' own names, sizes and depths, and what they amount to."""

from __future__ import annotations

import pytest
from small import small_model

from drivelab.procedures import PROCEDURES
from drivelab.procedures.disk_mark import DEFAULT, NVME
from drivelab.procedures.iometer import FILE_SIZES, Profile
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget


def test_the_lines_have_the_programs_names() -> None:
    assert [line.name for line in DEFAULT] == [
        "SEQ1M Q8T1",
        "SEQ1M Q1T1",
        "RND4K Q32T1",
        "RND4K Q1T1",
    ]
    assert [line.name for line in NVME] == [
        "SEQ1M Q8T1",
        "SEQ128K Q32T1",
        "RND4K Q32T16",
        "RND4K Q1T1",
    ]


@pytest.mark.parametrize("test_id", ["kdiskmark", "kdiskmark-nvme"])
def test_more_outstanding_requests_read_faster(test_id: str) -> None:
    target = EngineTarget(small_model(), 1)
    found = PROCEDURES[test_id].measure(target, 1, True, TaskProgress(test_id)).found()
    value = {item["name"]: item["value"] for item in found["values"]}
    deep = next(name for name in value if name.startswith("rnd4k_q32") and "read" in name)
    assert value[deep] > 3 * value["rnd4k_q1t1_read_mb_per_s"]
    outstanding = {line.name: line.queue_depth * line.thread_count for line in (*DEFAULT, *NVME)}
    for row in found["tables"][0]["rows"]:
        held = row["iops"] * row["mean_ms"] / 1000
        # Little's law; in a run of 1 s the time until the queue is full counts a little.
        assert held == pytest.approx(outstanding[row["test"]], rel=0.1)
    assert bool(found["notes"]) == (test_id == "kdiskmark-nvme")


def test_profiles_have_their_mixes() -> None:
    assert sum(FILE_SIZES.values()) == 100
    shares = {
        test.id: (test.read_percent, test.random_percent)
        for test in PROCEDURES.values()
        if isinstance(test, Profile)
    }
    assert shares == {
        "iometer-database": (67, 100),
        "iometer-file-server": (80, 100),
        "iometer-web-server": (100, 100),
        "iometer-workstation": (80, 80),
    }


def test_a_profile_goes_through_all_depths_and_gains_by_them() -> None:
    target = EngineTarget(small_model(), 1)
    test = PROCEDURES["iometer-database"]
    rows = test.measure(target, 1, True, TaskProgress(test.id)).found()["tables"][0]["rows"]
    assert [row["queue_depth"] for row in rows] == [1, 2, 4, 8, 16, 32]
    assert rows[-1]["iops"] > rows[0]["iops"]
    for row in rows:
        held = row["iops"] * row["mean_ms"] / 1000
        assert held == pytest.approx(row["queue_depth"], rel=0.01)
