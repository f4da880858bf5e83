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


def test_json_is_strict() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        results.to_json({"iops": float("nan")})
    assert json.loads(results.to_json({"µ": None})) == {"µ": None}


def test_wall_clock_fields_go_at_every_depth() -> None:
    document = {"wall_s": 1, "tests": [{"id": "a", "wall_s": 2, "wall": 3}]}
    assert results.without_wall_clock(document) == {"tests": [{"id": "a", "wall": 3}]}
