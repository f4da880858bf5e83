"""docs/results.md and the JSON schema against the definition of results.json."""

from __future__ import annotations

import json

import pytest
import tables

from drivelab import cli
from drivelab.records import description


def test_the_page_has_the_tables_of_the_definitions() -> None:
    text = tables.DOCUMENT.read_text(encoding="utf-8")
    assert tables.renewed(text) == text, "`make tables` renews docs/results.md"


def test_a_list_that_may_be_null_is_told_from_one_whose_items_may() -> None:
    text = description.markdown()
    assert "| `iops` | list of numbers or null |" in text
    assert "| `latency_max_us` | list of numbers (any may be null) |" in text
    assert "| `latency_mean_us` | list of numbers (any may be null) or null |" in text
    assert "or null or null" not in text


def test_every_field_of_every_record_is_explained() -> None:
    kinds = [kind for _, kind in description.SECTIONS]
    assert len(kinds) == len(set(kinds))
    silent = [
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name in kind.model_fields
        if not description.descriptions(kind).get(name)
    ]
    assert silent == []


def test_the_schema_names_every_record_and_what_its_fields_mean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    told = {kind.__name__ for _, kind in description.SECTIONS} | {"JsonValue"}
    assert schema["$defs"].keys() <= told
    seed = schema["$defs"]["Run"]["properties"]["seed"]
    assert seed == {
        "description": "Same seed, same results",
        "maximum": 2**64 - 1,
        "minimum": 0,
        "title": "Seed",
        "type": "integer",
    }
    assert schema["$defs"]["Stream"]["properties"]["pass"]["description"]
    assert schema["required"] == ["drivelab", "models", "tests", "states", "figures", "wall_s"]
