from __future__ import annotations

import json

import pytest

from drivelab import results

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


def test_json_is_strict() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        results.to_json({"iops": float("nan")})
    assert json.loads(results.to_json({"µ": None})) == {"µ": None}


def test_wall_clock_fields_go_at_every_depth() -> None:
    document = {"wall_s": 1, "tests": [{"id": "a", "wall_s": 2, "wall": 3}]}
    assert results.without_wall_clock(document) == {"tests": [{"id": "a", "wall": 3}]}
