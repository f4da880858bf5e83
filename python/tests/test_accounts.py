"""What records say of the drives that a test used, held against what those drives were asked."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small import MODEL_NAME, SETS, small_model

from drivelab import cli, model, procedures, review
from drivelab.procedures import PROCEDURES
from drivelab.progress import TaskProgress
from drivelab.results import SCHEMA
from drivelab.targets import EngineTarget
from drivelab.targets.account import Account, AccountedTarget

COPYING = (
    *("alignment", "spare-area", "fill-level", "partition", "compressibility"),
    *("resiliency-table", "iometer-database", "paced-writes", "zone-size"),
    *("cache-by-fill", "cache-after-pause", "burst-endurance", "power-states"),
    *("skew", "interleaved-zones", "saturation"),
)
IN_PLACE = ("atto", "kdiskmark", "desktop-use", "pts-write-saturation")


class Asked:
    """Every drive of the engine, and what was asked of it: told by the drives themselves."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.now_ns = 0
        self.drives: list[EngineTarget] = []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Adds up reports and erases at the engine's own door, below whatever keeps accounts."""
    found = Asked()

    def watched(name: str) -> None:
        work = getattr(EngineTarget, name)

        def both(self: EngineTarget, *arguments: Any) -> Any:
            before, now_ns = self.counters(), self.now_ns
            result = work(self, *arguments)
            after = self.counters()
            found.totals.update({key: after[key] - before[key] for key in KEYS})
            found.now_ns += self.now_ns - now_ns
            if not any(self is drive for drive in found.drives):
                found.drives.append(self)
            return result

        monkeypatch.setattr(EngineTarget, name, both)

    for name in ("run", "run_requests", "idle", "secure_erase"):
        watched(name)
    return found


KEYS = ("host_read_bytes", "host_write_bytes", "program_bytes_host", "erases_cleaning", "energy_nj")


@pytest.mark.parametrize("test_id", [*COPYING, *IN_PLACE])
def test_whatever_drives_a_test_uses_are_in_its_account(asked: Asked, test_id: str) -> None:
    test = PROCEDURES[test_id]
    account = Account()
    target = AccountedTarget(EngineTarget(small_model(), 1), account)
    test.measure(target, 1, True, TaskProgress(test_id))
    assert {key: account.used[key] for key in KEYS} == dict(asked.totals)
    assert account.used["host_write_bytes"] > 0
    assert account.used["energy_nj"] > 0
    assert account.duration_ns == asked.now_ns > 0
    assert account.drive_count == len(asked.drives)
    assert (account.drive_count > 1) == (test_id in COPYING)


def measured(out: Path, name: str, *words: str) -> list[dict[str, Any]]:
    assert cli.run(["review", name, *words, "--quick", "--out", str(out)]) == 0
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert document["drivelab"]["schema"] == SCHEMA
    tests: list[dict[str, Any]] = document["tests"]
    return tests


FLASH = ("write_amplification", "flash_program_bytes", "erases", "unmapped_read_share")


def test_a_hard_disk_has_no_flash_anywhere(tmp_path: Path) -> None:
    tests = "sequential-write-2m,sequential-read-2m,atto,iometer-database"
    name = "wd-velociraptor-300gb"
    for record in measured(tmp_path, name, "--tests", tests):
        assert {key: record[key] for key in FLASH} == dict.fromkeys(FLASH), record["id"]
        assert not [key for key in record["counters"] if "program" in key or "erase" in key]
        assert record["host_read_bytes"] + record["host_write_bytes"] > 0
        assert record["energy_j"] > 0
        assert record["duration_s"] > 0
    with duckdb.connect(str(tmp_path / "results.duckdb"), read_only=True) as connection:
        [found] = connection.execute(
            "SELECT count(*), count(write_amplification), count(flash_program_bytes),"
            " count(erases), count(host_write_bytes) FROM tests"
        ).fetchall()
        assert found == (4, 0, 0, 0, 4)
        [states] = connection.execute(
            "SELECT program_bytes, write_amplification, erases FROM states"
        ).fetchall()
        assert states == (None, None, None)
    folder = tmp_path / "csv"
    assert cli.run(["export", str(tmp_path), "--csv", str(folder)]) == 0
    head, *rows = (folder / "tests.csv").read_text(encoding="utf-8").splitlines()
    column = head.split(",").index("flash_program_bytes")
    assert {row.split(",")[column] for row in rows if '"' not in row} <= {""}


def test_a_test_that_begins_with_a_new_drive_is_recorded_as_new() -> None:
    said: list[str] = []
    drive = model.load("intel-x25-m-g1-80gb")
    names = ["partition", "pts-iops", "atto"]
    found = review.plan_measurements(drive, names, ["used", "filled"], said.append)
    pairs = [(item.procedure.id, item.state.name) for item in found]
    assert pairs == [
        ("partition", "new"),
        ("pts-iops", "new"),
        ("atto", "filled"),
        ("atto", "used"),
    ]
    assert said == [
        "intel-x25-m-g1-80gb: partition, pts-iops: begins with a new drive by itself, and is "
        "measured as new"
    ]
    # Whoever purges its drive, or makes variants of it, is among them.
    purging = {test.id for test in procedures.select(["snia-pts"])}
    own = {"partition", "spare-area", "fill-level", "zone-size", "skew", "interleaved-zones"}
    assert purging | own | {"endurance", "retention", "cache-by-fill", "cache-after-pause"} == {
        test.id for test in PROCEDURES.values() if test.begins_new
    }


def test_reads_of_a_new_drive_say_that_they_touched_no_flash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--tests", "random-read-4k-qd3-aligned", "--states", "new,filled"]
    new, filled = measured(tmp_path, MODEL_NAME, *SETS, *words)
    note = (
        "100 % of the bytes read were not mapped (never written, or trimmed): they came from the "
        "map alone, without a touch of flash"
    )
    assert (new["unmapped_read_share"], new["notes"]) == (1.0, [note])
    assert (filled["unmapped_read_share"], filled["notes"]) == (0.0, [])
    assert new["counters"]["read_bytes_host"] == 0
    assert f"{new['title']}, new: {note}" in " ".join(capsys.readouterr().out.split())
    assert note in (tmp_path / "report.html").read_text(encoding="utf-8")
    with duckdb.connect(str(tmp_path / "results.duckdb"), read_only=True) as connection:
        remarks = connection.execute("SELECT state, remark FROM test_remarks").fetchall()
    assert remarks == [("new", note)]


def test_no_stream_reads_an_unwritten_drive_unless_it_is_asked_to() -> None:
    for test in PROCEDURES.values():
        reads = getattr(test, "direction", "") == "read" and not getattr(test, "written_first", 0)
        if reads and test.id != "power-idle":
            assert "new" not in test.states, test.id


def test_a_time_without_commands_has_no_workload(tmp_path: Path) -> None:
    [idle] = measured(tmp_path, MODEL_NAME, *SETS, "--tests", "power-idle", "--states", "new")
    keys = ("direction", "block_bytes", "queue_depth", "align_bytes", "span_bytes", "data")
    assert {key: idle[key] for key in keys} == dict.fromkeys(keys)
    assert idle["mean_power_w"] > 0
    assert idle["duration_s"] == 10
