from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from served.stand_in import FACTS

from drivelab import cli
from drivelab.results import to_json
from drivelab.served import smart


def table(facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    document = smart.document(facts, "my.drive", ["drivelab", "smart", "my.drive"])
    found = document["ata_smart_attributes"]["table"]
    return {item["name"]: item for item in found}


def test_the_document_has_the_shape_of_smartctl() -> None:
    found = json.loads(to_json(smart.document(FACTS, "my.drive", ["drivelab"])))
    assert found["json_format_version"] == [1, 0]
    assert found["model_name"] == "Test drive"
    assert found["firmware_version"] == "1.0"
    assert found["user_capacity"] == {"blocks": 1953126, "bytes": 1_000_000_512}
    assert found["smart_status"] == {"passed": True}
    assert found["power_on_time"] == {"hours": 2, "minutes": 5}
    assert found["power_cycle_count"] == 3
    for item in found["ata_smart_attributes"]["table"]:
        assert set(item) == {
            *("id", "name", "value", "worst", "thresh", "when_failed", "flags", "raw")
        }
        assert isinstance(item["raw"]["value"], int)


def test_attributes_have_smartctls_numbers_and_the_drives_values() -> None:
    found = table(FACTS)
    assert found["Reallocated_Sector_Ct"]["raw"] == {"value": 2, "string": "2"}
    assert found["Total_LBAs_Written"]["raw"]["value"] == 10**9 // 512
    assert found["NAND_Writes_1GiB"]["raw"]["value"] == 1
    assert found["Unexpect_Power_Loss_Ct"]["id"] == 174
    assert found["Wear_Leveling_Count"]["value"] == 98
    assert found["Available_Reservd_Space"]["value"] == 95
    assert found["Available_Reservd_Space"]["when_failed"] == ""


def test_used_flash_has_less_left_than_the_drive_itself_has_erased() -> None:
    used = FACTS | {"erases_before": 60}
    item = table(used)["Wear_Leveling_Count"]
    assert (item["value"], item["raw"]["value"]) == (38, 2)
    assert table(FACTS | {"erases_before": 1500})["Wear_Leveling_Count"]["value"] == 0
    assert smart.document(used, "my.drive", [])["drivelab"]["erases_before"] == 60
    told = dict(smart.lines(used))["erases of a block"]
    assert told.endswith("; rated for 100; 60 before it was new")


@pytest.mark.parametrize(
    ("model", "sets", "value"),
    [
        ("intel-x25-v-40gb", ("flash.bit_errors=true", "flash.initial_cycles=1250"), 75),
        # Where no bits go wrong, erases of the past have no effect.
        ("intel-x25-v-40gb", ("flash.initial_cycles=1250",), 100),
        (
            "intel-x25-v-40gb-raid0-x2",
            ("member.flash.bit_errors=true", "member.flash.initial_cycles=1250"),
            75,
        ),
    ],
)
def test_an_image_of_used_flash_says_so(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    model: str,
    sets: tuple[str, ...],
    value: int,
) -> None:
    path = str(tmp_path / "used.drive")
    words = [word for change in sets for word in ("--set", change)]
    assert cli.run(["create", path, "--model", model, "--scale", "1/64", *words]) == 0
    capsys.readouterr()
    assert cli.run(["smart", path, "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["ata_smart_attributes"]["table"]
    [wear] = [item for item in items if item["id"] == 177]
    assert (wear["value"], wear["raw"]["value"]) == (value, 0)


def test_what_is_not_known_is_null_or_left_out() -> None:
    document = smart.document({}, "my.drive", [])
    assert json.loads(to_json(document))["drivelab"]["host_write_bytes"] is None
    assert [item["name"] for item in document["ata_smart_attributes"]["table"]] == [
        "Power_On_Hours"
    ]
    assert dict(smart.lines({}))["host wrote"] == "-"


def test_a_drive_without_spare_blocks_or_writes_has_failed() -> None:
    assert smart.passed(FACTS)
    assert not smart.passed(FACTS | {"read_only": True})
    worn = FACTS | {"spare_blocks": 3}
    assert not smart.passed(worn)
    assert table(worn)["Available_Reservd_Space"]["when_failed"] == "now"
    assert dict(smart.lines(worn))["health"] == "FAILED"


def test_health_and_the_table_agree_on_the_least_share_of_spare_blocks() -> None:
    for left in range(201):
        facts = FACTS | {"spare_blocks": left, "spare_blocks_new": 200}
        item = table(facts)["Available_Reservd_Space"]
        assert smart.passed(facts) == (left > 20), left
        assert (item["when_failed"] == "now") == (left <= 20), left
        assert (item["value"] <= item["thresh"]) == (left <= 20), left


def test_people_read_amounts_with_units() -> None:
    told = dict(smart.lines(FACTS))
    assert told["flash programmed"] == "1.2 GB (host 1.0 GB, cleaning 200.0 MB, map 10.0 MB)"
    assert told["write amplification"] == "1.21"
    assert told["erases of a block"] == "0 least, 2.5 mean, 7 most; rated for 100"
    assert told["spare blocks"] == "38 of 40 (95 %)"
    assert told["condition"] == "at rest"
    assert dict(smart.lines(FACTS | {"clean": False}))["condition"].startswith("power was cut")


def test_why_a_drive_takes_nothing_new_is_said() -> None:
    for reason, words in smart.READ_ONLY.items():
        told = dict(smart.lines(FACTS | {"read_only": True, "read_only_reason": reason}))
        assert told[""] == f"read-only: {words}"
    assert dict(smart.lines(FACTS | {"read_only": True}))[""] == "read-only: it takes nothing new"


def test_a_drive_that_has_lost_its_store_is_not_passed() -> None:
    lost = FACTS | {"served": True, "failure": "my.drive: no space left"}
    assert not smart.passed(lost)
    assert smart.document(lost, "my.drive", [])["drivelab"]["failure"] == "my.drive: no space left"
    told = dict(smart.lines(lost))
    assert told["health"] == "FAILED"
    assert told[""].startswith("my.drive: no space left: every request fails until the drive is ")
    assert smart.document(FACTS, "my.drive", [])["drivelab"]["failure"] is None


def test_little_time_is_not_none() -> None:
    assert "0.00028 s" in dict(smart.lines(FACTS | {"power_on_ns": 280_000}))["power-on time"]
