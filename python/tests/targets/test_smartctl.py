"""SMART of real drives through a smartctl that these tests write, in smartmontools' format."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from drivelab import cli
from drivelab.records.smart import Reading
from drivelab.report.quantities import NBSP
from drivelab.targets.fio import smartctl
from drivelab.targets.fio.regular_file import RegularFile
from drivelab.targets.fio.smartctl import SmartLog, reading

ABOUT = {"version": [7, 4], "exit_status": 0}
NVME: dict[str, Any] = {
    "json_format_version": [1, 0],
    "smartctl": ABOUT,
    "device": {"name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"},
    "smart_status": {"passed": True, "nvme": {"value": 0}},
    "nvme_smart_health_information_log": {
        "critical_warning": 0,
        "temperature": 44,
        "available_spare": 100,
        "available_spare_threshold": 50,
        "percentage_used": 2,
        "data_units_read": 46988993,
        "data_units_written": 1000,
        "power_on_hours": 9944,
        "media_errors": 0,
        "warning_temp_time": 3,
        "critical_comp_time": 1,
    },
    "temperature": {"current": 44, "op_limit_max": 83},
    "power_on_time": {"hours": 9944},
}
ATA: dict[str, Any] = {
    "smartctl": {"version": [7, 3], "exit_status": 64},
    "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
    "in_smartctl_database": True,
    "logical_block_size": 512,
    "smart_status": {"passed": True},
    "ata_smart_attributes": {
        "revision": 10,
        "table": [
            {"id": 9, "name": "Power_On_Hours", "value": 100, "raw": {"value": 812}},
            {"id": 233, "name": "Media_Wearout_Indicator", "value": 97, "raw": {"value": 0}},
            {"id": 241, "name": "Host_Writes_32MiB", "value": 100, "raw": {"value": 200}},
            {"id": 249, "name": "NAND_Writes_1GiB", "value": 100, "raw": {"value": 9}},
        ],
    },
    "power_on_time": {"hours": 812},
    "temperature": {"current": 31},
}
STATISTICS = {
    "pages": [
        {"number": 1, "table": [
            {"name": "Logical Sectors Written", "value": 4096, "flags": {"valid": True}},
        ]},
        {"number": 7, "table": [
            {"name": "Percentage Used Endurance Indicator", "value": 12, "flags": {"valid": True}},
            {"name": "Current Temperature", "value": 99, "flags": {"valid": False}},
        ]},
    ]
}  # fmt: skip
NOTHING: dict[str, Any] = dict.fromkeys(Reading.model_fields)


def test_an_nvme_drive_says_what_its_health_log_says() -> None:
    assert reading(NVME) == {
        "passed": True,
        "temperature_c": 44.0,
        "temperature_limit_c": 83.0,
        "too_hot": False,
        "hot_minutes": 4,
        "percentage_used": 2.0,
        "available_spare_percent": 100.0,
        "power_on_hours": 9944,
        "host_write_bytes": 1000 * 512_000,
        "media_write_bytes": None,
    }


def test_an_ata_drive_says_what_its_attributes_and_statistics_say() -> None:
    found = reading(ATA)
    assert found == NOTHING | {
        "passed": True,
        "temperature_c": 31.0,
        "percentage_used": 3.0,
        "power_on_hours": 812,
        "host_write_bytes": 200 * 32 * 2**20,
        "media_write_bytes": 9 * 2**30,
    }
    better = reading(ATA | {"ata_device_statistics": STATISTICS})
    assert better["host_write_bytes"] == 4096 * 512
    assert better["percentage_used"] == 12.0
    assert better["temperature_c"] == 31.0, "a statistic that isn't valid is none"


@pytest.mark.parametrize("known", [{"in_smartctl_database": False}, {}], ids=["not in it", "old"])
def test_units_that_smartctl_guesses_are_not_believed(known: dict[str, bool]) -> None:
    table = [{"id": 241, "name": "Total_LBAs_Written", "value": 100, "raw": {"value": 5120}}]
    drive = {"ata_smart_attributes": {"table": table}, "power_on_time": {"hours": 7}}
    assert reading(drive | {"in_smartctl_database": True})["host_write_bytes"] == 5120 * 512
    guessed = reading(drive | known)
    assert guessed == NOTHING | {"power_on_hours": 7}
    counted = reading(drive | known | {"ata_device_statistics": STATISTICS})
    assert counted["host_write_bytes"] == 4096 * 512


HOSTILE: list[Any] = [None, -1, 2**70, True, "hot", [], {}, 1.5, float("nan"), float("inf")]


@pytest.mark.parametrize("odd", HOSTILE, ids=str)
def test_odd_values_are_none_never_0(odd: Any) -> None:
    def spoilt(value: Any) -> Any:
        """The same document with every number and truth value replaced."""
        if isinstance(value, dict):
            return {key: spoilt(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spoilt(item) for item in value]
        return value if isinstance(value, str) else odd

    for document in (NVME, ATA | {"ata_device_statistics": STATISTICS}):
        found = reading(spoilt(document))
        # 1.5 is a share, True a verdict, -1 a temperature; none of them is a count.
        allowed = {1.5, 98.5, True} if isinstance(odd, bool | float) else {-1.0}
        assert {value for value in found.values() if value is not None} <= allowed
        for key in document:
            # A whole part that is something else, or missing.
            reading({**document, key: odd})
            reading({other: document[other] for other in document if other != key})
    assert reading({"temperature": {"current": 0}})["temperature_c"] is None


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "smartctl"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def answering(folder: Path, monkeypatch: pytest.MonkeyPatch, document: Any, status: int) -> None:
    (folder / "answer").write_text(json.dumps(document), encoding="utf-8")
    install(folder, monkeypatch, f"cat '{folder / 'answer'}'; exit {status}")


@pytest.mark.parametrize("status", [0, 4, 8, 16, 32, 64, 128, 252])
def test_what_the_drive_thinks_of_itself_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    answering(tmp_path, monkeypatch, NVME, status)
    log = SmartLog("/dev/nvme0")
    log.begin()
    log.end()
    found = log.record()
    assert (found["program"], found["remark"]) == ("smartctl 7.4", None)
    assert found["before"] == found["after"] == reading(NVME)


REFUSED = {"smartctl": ABOUT | {"messages": [{"string": "Open failed:\n Permission denied"}]}}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (f"printf %s '{json.dumps(REFUSED)}'; exit 2", "Open failed: Permission denied (status 2)"),
        ("echo '{}'; exit 1", "no reason given (status 1)"),
        ("echo '{}'; exit 255", "no reason given (status 255)"),
        ("echo '{}'", "reports nothing that is known"),
        ("echo '[1]'", "gives no JSON (status 0)"),
        ("echo; exit 3", "gives no JSON (status 3)"),
        ("head -c 100000 /dev/zero", "gives no JSON"),
        ("printf '\\377\\376{'", "gives no JSON"),
        ("kill -9 $$", "gives no JSON (status -9)"),
        ("exec sleep 600", "doesn't end within 2 s"),
    ],
)
def test_what_cannot_be_read_is_one_remark_and_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    monkeypatch.setattr(smartctl, "ASKING_S", 2.0 if "sleep" in script else 120.0)
    asked = tmp_path / "asked"
    install(tmp_path, monkeypatch, f"echo x >>'{asked}'\n{script}")
    log = SmartLog("/dev/sda")
    log.begin()
    assert log.read() is None
    log.end()
    found = log.record()
    assert "SMART is not read: smartctl /dev/sda" in found["remark"]
    assert words in found["remark"]
    assert "\n" not in found["remark"]
    assert found["before"] is found["after"] is None
    assert asked.read_text() == "x\n", "who doesn't answer is asked once"


def test_a_reading_that_fails_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(tmp_path, monkeypatch, NVME, 0)
    log = SmartLog("/dev/nvme0")
    log.begin()
    install(tmp_path, monkeypatch, "exit 2")
    log.end()
    found = log.record()
    assert (found["before"], found["after"]) == (reading(NVME), None)
    assert "gives no JSON (status 2)" in found["remark"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_smartctl_that_cannot_be_killed_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As one in an uninterruptible wait of the kernel: no signal ends it.
    monkeypatch.setattr(smartctl.subprocess.Popen, "kill", lambda _: None)
    monkeypatch.setattr(smartctl, "ASKING_S", 0.1)
    monkeypatch.setattr(smartctl, "DYING_S", 0.1)
    install(tmp_path, monkeypatch, "exec sleep 60")
    log = SmartLog("/dev/sda")
    begun_s = time.perf_counter()
    log.begin()
    assert time.perf_counter() - begun_s < 30
    assert "doesn't end within 0.1 s" in str(log.remark)


def test_a_missing_smartctl_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    log = SmartLog("/dev/sda")
    log.begin()
    assert log.remark == ("SMART is not read: smartctl is not installed (package smartmontools)")


needs_fio = pytest.mark.programs("fio")


@pytest.fixture
def heating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A drive under every file that gets 10 degrees hotter, and older, each time it is asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    text = json.dumps(NVME).replace(": 44", ": $((44 + 10 * n))")
    text = text.replace(": 1000,", ": $((1000 + 500 * n)),")
    script = (
        f"n=$(cat '{folder}/n' 2>/dev/null || echo 0)\necho $((n + 1)) >'{folder}/n'\n"
        f"cat <<END\n{text}\nEND"
    )
    install(folder, monkeypatch, script)
    monkeypatch.setattr(RegularFile, "smart_device", "/dev/nvme0")
    return tmp_path


@needs_fio
def test_a_review_has_readings_of_the_drive_and_around_each_test(
    heating: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = heating / "out"
    words = ["review", f"fio:{heating / 'drive'}", "--size", "32m", "--buffered", "--quick"]
    words += ["--tests", "as-ssd-write,hdtach-write", "--states", "new", "--json"]
    assert cli.run([*words, "--out", str(out)]) == 0
    document = json.loads(capsys.readouterr().out)
    [model] = document["models"]
    said = [model["smart"]["before"], *(t["smart"][m] for t in document["tests"] for m in ORDER)]
    said.append(model["smart"]["after"])
    # Asked in this order: before all, around each test, after all.
    assert [item["temperature_c"] for item in said] == [44.0, 54.0, 64.0, 74.0, 84.0, 94.0]
    assert [item["host_write_bytes"] for item in said] == [
        512_000 * (1000 + 500 * n) for n in range(6)
    ]
    assert {item["media_write_bytes"] for item in said} == {None}
    with duckdb.connect(str(out / "results.duckdb"), read_only=True) as found:
        rows = found.execute(
            "SELECT test, moment, temperature_c FROM smart ORDER BY temperature_c"
        ).fetchall()
    assert rows[0] == (None, "before", 44.0)
    assert rows[1:3] == [(document["tests"][0]["id"], moment, t) for moment, t in
                         (("before", 54.0), ("after", 64.0))]  # fmt: skip
    assert rows[-1] == (None, "after", 94.0)
    html = (out / "report.html").read_text(encoding="utf-8").replace(NBSP, " ")
    assert "44 → 94 °C" in html
    assert "It had 94 °C, and its maker allows 83 °C: it may have slowed down to cool." in html
    assert "What it said of itself, by SMART" in html


ORDER = ("before", "after")


@needs_fio
def test_a_run_has_them_too_and_a_cool_drive_no_warning(
    heating: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (heating / "j.fio").write_text("[j]\nrw=write\nbs=1m\nsize=8m\n", encoding="utf-8")
    words = ["run", str(heating / "j.fio"), "--drive", f"fio:{heating / 'drive'}", "--size", "32m"]
    base = heating / "lab.duckdb"
    assert cli.run([*words, "--buffered", "--json", "--database", str(base)]) == 0
    printed = capsys.readouterr()
    smart = json.loads(printed.out)["drivelab"]["smart"]
    assert [smart[moment]["temperature_c"] for moment in ORDER] == [44.0, 54.0]
    assert "SMART" not in printed.err
    with duckdb.connect(str(base), read_only=True) as found:
        rows = found.execute("SELECT moment, temperature_c, test FROM smart").fetchall()
    assert sorted(rows) == [("after", 54.0, None), ("before", 44.0, None)]


@needs_fio
def test_without_smartctl_a_review_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, monkeypatch, "exit 1")
    monkeypatch.setattr(RegularFile, "smart_device", "/dev/sda")
    words = ["review", f"fio:{tmp_path / 'drive'}", "--size", "32m", "--buffered", "--quick"]
    words += ["--tests", "as-ssd-write", "--states", "new", "--out", str(tmp_path / "out")]
    assert cli.run([*words, "--repeat", "2", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("SMART is not read") == 1
    document = json.loads(printed.out)
    assert document["models"][0]["smart"]["before"] is None
    assert "smart" not in document["tests"][0]
