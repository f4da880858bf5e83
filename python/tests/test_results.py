from __future__ import annotations

import json
from pathlib import Path

import documents
import duckdb
import pytest
from small import small_model

from drivelab import database, results
from drivelab.database import Recorded
from drivelab.procedures import PROCEDURES
from drivelab.procedures.measured import Measured
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job

BEFORE = {
    "host_write_bytes": 1000,
    "program_bytes_host": 1000,
    "program_bytes_cleaning": 500,
    "program_bytes_wear": 0,
    "program_bytes_map": 0,
    "erases_cleaning": 1,
    "erases_wear": 0,
    "erases_map": 0,
    "erases_secure": 9,
    "free_blocks": 70,
}
AFTER = BEFORE | {
    "host_write_bytes": 3000,
    "program_bytes_host": 3100,
    "program_bytes_cleaning": 1500,
    "program_bytes_wear": 200,
    "program_bytes_map": 100,
    "erases_cleaning": 4,
    "erases_wear": 2,
    "erases_secure": 19,
    "free_blocks": 60,
}


def test_write_amplification_counts_every_program_of_the_measured_part() -> None:
    used = results.spent(BEFORE, AFTER)
    assert results.program_bytes(used) == 3400
    assert results.write_amplification(used) == pytest.approx(1.7)


def test_the_hosts_own_erase_is_not_the_drives() -> None:
    assert results.erase_count(results.spent(BEFORE, AFTER)) == 5


def test_without_writes_there_is_no_amplification() -> None:
    assert results.write_amplification(results.spent(BEFORE, BEFORE)) is None


def test_levels_are_not_differences() -> None:
    assert "free_blocks" not in results.spent(BEFORE, AFTER)


def test_a_second_without_requests_has_no_longest_latency(tmp_path: Path) -> None:
    """Not 0, which would be the best latency there is; neither in the database."""
    target = EngineTarget(small_model(), 1)
    job = Job(
        name="paced",
        rw="write",
        block_sizes=(BlockSize(bytes=4096),),
        io_bytes=4096 * 6,
        thinktime_ns=2 * NS_PER_S,
        series_interval_ns=NS_PER_S,
    )
    report = target.run([job], TaskProgress("paced"))
    stream = PROCEDURES["sequential-write-2m"]
    record = results.measured_record("m", "new", stream, Measured(0, report))
    longest = record["series"]["latency_max_us"]
    rates = record["series"]["mib_per_s"]
    assert 0 < sum(rate > 0 for rate in rates) < len(rates)
    assert [rate > 0 for rate in rates] == [us is not None for us in longest]
    assert 0 not in longest

    path = tmp_path / "lab.duckdb"
    database.append(path, Recorded.review(documents.review(record | {"wall_s": 0.0})))
    with duckdb.connect(str(path)) as opened:
        asked = "SELECT latency_max_us FROM series ORDER BY time_s"
        assert [us for (us,) in opened.execute(asked).fetchall()] == longest


REPORT = {
    "ios": 30,
    "bytes": 30 * 4096,
    "runtime_ns": 3 * NS_PER_S + 5,
    "series": {
        "interval_ns": NS_PER_S,
        "bytes": [4096 * 10, 0, 4096 * 20, 0],
        "ios": [10, 0, 20, 0],
        "latency_mean_ns": [1500.0, None, 3000.0, None],
        "latency_max_ns": [2000, 0, 4000, 0],
        "latency_p99_ns": [1999, None, 3999, None],
    },
}
DRIVE = {
    "interval_ns": NS_PER_S,
    "die_count": 4,
    "host_write_bytes": [40960, 0, 81920, 0],
    "flash_program_bytes": [40960, 8192, 163840, 0],
    "free_blocks": [70, 69, 60, 60],
    "cleaning_ns": [0, NS_PER_S // 2, 3 * NS_PER_S, 0],
    "outstanding_mean": [3.0, 0.0, 2.5, 0.0],
}


def test_a_series_says_what_the_drive_did_in_each_whole_interval() -> None:
    assert results.series_record(REPORT, DRIVE) == {
        "interval_s": 1.0,
        "mib_per_s": [0.0390625, 0.0, 0.078125],
        "latency_max_us": [2.0, None, 4.0],
        "iops": [10.0, 0.0, 20.0],
        "latency_mean_us": [1.5, None, 3.0],
        "latency_p99_us": [1.999, None, 3.999],
        # What is programmed while nothing comes belongs to what comes next.
        "write_amplification": [1.0, None, 2.1],
        "queue_depth_mean": [3.0, 0.0, 2.5],
        "free_blocks": [70, 69, 60],
        "cleaning_share": [0.0, 0.125, 0.75],
    }


def test_what_nobody_measured_over_time_is_null() -> None:
    bare = dict(REPORT["series"])
    del bare["latency_p99_ns"]
    disk = DRIVE | {"free_blocks": None, "flash_program_bytes": None, "cleaning_ns": None}
    for drive in (None, DRIVE | {"interval_ns": 5}):
        found = results.series_record(REPORT | {"series": bare}, drive)
        assert [key for key, column in found.items() if column is None] == [
            "latency_p99_us",
            "write_amplification",
            "queue_depth_mean",
            "free_blocks",
            "cleaning_share",
        ]
    assert results.series_record(REPORT, DRIVE | {"outstanding_mean": [1.0]})[
        "queue_depth_mean"
    ] == [*(1.0, None, None)]
    found = results.series_record(REPORT, disk)
    assert found["queue_depth_mean"] == [3.0, 0.0, 2.5]
    assert found["free_blocks"] is found["write_amplification"] is None


def test_tails_are_in_the_units_of_results() -> None:
    parts = dict.fromkeys(("queueing", "link", "firmware", "flash"), 1000.0)
    split = {f"{part}_ns": ns for part, ns in parts.items()} | {"cleaning_ns": 5e6}
    tail = {"share_of_requests": 0.001, "count": 7, "latency_ns_min": 4_000_000}
    assert results.tails_record([tail | {"split_mean_ns": split}]) == [
        {
            "share_of_requests": 0.001,
            "count": 7,
            "latency_min_us": 4000.0,
            "split_mean_us": dict.fromkeys(parts, 1.0) | {"cleaning": 5000.0},
        }
    ]
    assert results.tails_record(None) is None


def test_json_is_strict() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        results.to_json({"iops": float("nan")})
    assert json.loads(results.to_json({"µ": None})) == {"µ": None}


def test_wall_clock_fields_go_at_every_depth() -> None:
    document = {"wall_s": 1, "tests": [{"id": "a", "wall_s": 2, "wall": 3}]}
    assert results.without_wall_clock(document) == {"tests": [{"id": "a", "wall": 3}]}
