"""Parameters that can't matter on a drive: which are told, and that shipped models have none."""

from __future__ import annotations

import pytest

from drivelab import model, model_layers, without_effect


@pytest.mark.parametrize(
    ("name", "key", "value", "words"),
    [
        ("intel-x25-m-g1-80gb", "flash.planes_per_read", "1", "flash.one_shot = true"),
        ("intel-x25-m-g1-80gb", "flash.resume_ns", "5", "flash.erase_suspend_ns"),
        ("intel-x25-m-g1-80gb", "ftl.choices", "4", "ftl.victim_selection = d-choices"),
        ("intel-x25-m-g1-80gb", "ftl.hot_writes", "3", "ftl.placement = hot-cold"),
        ("intel-x25-m-g1-80gb", "ftl.map_fetch_bytes", "512", "ftl.map_cache_bytes"),
        ("intel-x25-m-g1-80gb", "slc_cache.fold_dies", "3", "slc_cache.max_bytes"),
        ("intel-x25-m-g1-80gb", "nvme.arbitration_burst", "3", "nvme.queue_count of 2 or more"),
        ("intel-x25-m-g1-80gb", "controller.write_governor_burst", "5", "write_governor_iops"),
        ("intel-x25-m-g1-80gb", "flash.wear_exponent", "1", "flash.bit_errors = true"),
        (
            "samsung-pm9a3-960gb",
            "write_buffer.write_back",
            "false",
            "write_buffer.capacitor = false",
        ),
        ("intel-x25-v-40gb-raid0-x2", "link.frame_overhead_ns", "9", "link.bytes_per_s"),
        ("intel-x25-v-40gb-raid0-x2", "member.ftl.choices", "3", "member.ftl.victim_selection"),
        ("intel-x25-v-40gb-raid0-x2", "member.nvme.queue_count", "3", "end at the array"),
        ("intel-x25-v-40gb-raid0-x2", "member.nvme.arbitration_burst", "3", "end at the array"),
    ],
)
def test_what_cannot_matter_is_told(name: str, key: str, value: str, words: str) -> None:
    [remark] = without_effect.remarks(model.load(name, [(key, value)]).parameters)
    assert remark.startswith((f"{key}: without effect; ", f"{key}: without effect but "))
    assert words in remark


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("intel-x25-m-g1-80gb", {"ftl.victim_selection": "d-choices", "ftl.choices": "4"}),
        ("intel-x25-m-g1-80gb", {"ftl.placement": "hint", "ftl.hint_streams": "2"}),
        ("intel-x25-m-g1-80gb", {"flash.bit_errors": "false", "flash.retention_hours": "5"}),
        ("samsung-980-pro-1tb", {"slc_cache.max_bytes": "0"}),
        ("samsung-980-pro-1tb", {"write_buffer.write_back": "false"}),
        ("samsung-980-pro-1tb", {"nvme.queue_count": "4", "nvme.arbitration_burst": "2"}),
        ("wd-black-sn770-1tb", {"ftl.map_fetch_bytes": "4096", "ftl.host_memory_ns": "900"}),
    ],
)
def test_what_can_matter_is_not(name: str, overrides: dict[str, str]) -> None:
    found = model.load(name, list(overrides.items()))
    assert without_effect.remarks(found.parameters) == []


def test_every_rule_names_parameters_that_there_are() -> None:
    known = {
        item["key"]
        for name in (
            "samsung-980-pro-1tb",
            "wd-black-sn770-1tb",
            "intel-x25-m-g1-80gb",
            "intel-660p-1tb",
        )
        for item in model.load(name, [("flash.bit_errors", "true")]).parameters
    } | {item["key"] for item in model.load("intel-x25-v-40gb-raid0-x2").parameters}
    assert {key for rule in without_effect.RULES for key in rule.keys} <= known


@pytest.mark.parametrize("name", model_layers.known_names())
def test_models_that_come_along_say_nothing_without_effect(name: str) -> None:
    assert without_effect.remarks(model.load(name).parameters) == []
