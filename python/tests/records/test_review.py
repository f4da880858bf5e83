"""The definition of results.json against what is written, what was written, and what is damaged."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import documents
import pytest
from small import MODEL_NAME, SETS

from drivelab import cli, stored
from drivelab.records import SCHEMA
from drivelab.records.faults import fault
from drivelab.records.review import Review
from drivelab.records.upgrade import upgraded

OLD = sorted((Path(__file__).parent / "old").glob("*.json"))
"""Files that older versions wrote, with fewer published figures."""

Record = dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A review with a test of each kind, repeated."""
    out = tmp_path_factory.mktemp("review")
    tests = "random-write-4k-qd3-sector,hdtach-write,pts-latency,power-idle,resiliency-table"
    words = [MODEL_NAME, *SETS, "--quick", "--tests", tests, "--states", "new", "--repeat", "2"]
    assert cli.run(["review", *words, "--out", str(out)]) == 0
    found: Record = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return found


def test_what_is_written_is_what_is_defined_and_nothing_else(written: Record) -> None:
    assert {test["kind"] for test in written["tests"]} == {"stream", "compound"}
    Review.model_validate(written)
    read = Review.model_validate(written).model_dump(by_alias=True, exclude_unset=True)
    assert json.loads(json.dumps(read)) == written


def test_a_histogram_holds_every_request(written: Record) -> None:
    power, whole, stream = (
        next(test for test in written["tests"] if test["id"] == name)
        for name in ("power-idle", "hdtach-write", "random-write-4k-qd3-sector")
    )
    assert power["latency_us"]["histogram"] is None
    for test in (whole, stream):
        assert sum(test["latency_us"]["histogram"]["requests"]) == test["ios"] > 0
    histogram = stream["latency_us"]["histogram"]
    [p99_us] = [us for percent, us in stream["latency_us"]["percentiles"] if percent == 99.0]
    within_p99 = sum(
        count
        for edge, count in zip(histogram["latency_below_us"], histogram["requests"], strict=True)
        if edge <= p99_us * 1.07
    )
    assert within_p99 >= 0.99 * stream["ios"]


def test_a_latency_field_holds_every_request_between_its_edges(written: Record) -> None:
    stream = next(t for t in written["tests"] if t["id"] == "random-write-4k-qd3-sector")
    field, latency_us = stream["latency_field"], stream["latency_us"]
    assert sum(map(sum, field["requests"])) == stream["ios"]
    assert field["edges_us"][0] <= latency_us["min"] < field["edges_us"][1]
    assert field["edges_us"][-2] <= latency_us["max"] < field["edges_us"][-1]
    assert field["edges_us"] == sorted(set(field["edges_us"]))
    stretches = len(field["requests"])
    assert (stretches - 1) * field["interval_s"] <= stream["duration_s"]
    assert stream["duration_s"] <= stretches * field["interval_s"]


def same(new: Any, old: Any, place: str = "") -> list[str]:
    """Where a newer form says something else than what the old one knew."""
    if isinstance(old, dict):
        return [
            found
            for key in old
            if key not in ("schema",)
            for found in (
                same(new[key], old[key], f"{place}.{key}") if key in new else [f"{place}.{key}"]
            )
        ]
    if isinstance(old, list):
        pairs = enumerate(zip(new, old, strict=True))
        return [found for at, pair in pairs for found in same(*pair, f"{place}[{at}]")]
    return [] if (new, type(new)) == (old, type(old)) else [place]


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_what_older_versions_wrote_is_read_and_says_the_same(path: Path) -> None:
    before = json.loads(path.read_text(encoding="utf-8"))
    found = stored.read(path, None, "RESULTS").document
    assert found["drivelab"]["schema"] == SCHEMA
    assert json.loads(path.read_text(encoding="utf-8")) == before
    changed = {place.rpartition(".")[2] for place in same(found, before)}
    if before["drivelab"]["schema"] == 3:
        assert not changed
    # What schema 2 said of drives that it didn't look at.
    assert changed <= {"duration_s", "host_write_bytes", "flash_program_bytes", "erases"} | {
        *("energy_j", "mean_power_w", "program_bytes", "counters"),
        *before["tests"][-1]["counters"],
    }


def test_what_schema_2_did_not_know_is_null() -> None:
    flash, disk = (
        stored.read(Path(__file__).parent / "old" / f"{name}.json", None, "RESULTS").document
        for name in ("schema-2", "schema-2-hard-disk")
    )
    stream, on_copies = flash["tests"]
    assert (stream["host_write_bytes"], stream["erases"]) == (403566592, 0)
    assert stream["host_read_bytes"] is stream["drive_count"] is None
    assert stream["tails"] is stream["latency_us"]["histogram"] is stream["series"]["iops"] is None
    assert on_copies["host_write_bytes"] is on_copies["energy_j"] is on_copies["duration_s"] is None
    assert on_copies["counters"] == {}
    assert on_copies["values"] == json.loads(OLD[1].read_text())["tests"][1]["values"]
    [test] = disk["tests"]
    assert test["flash_program_bytes"] is test["erases"] is None
    assert test["host_write_bytes"] == 369098752


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_page_of_an_older_file_is_drawn(path: Path, tmp_path: Path) -> None:
    words = [str(path), str(path), "--out", str(tmp_path / "compared"), "--force"]
    assert cli.run(["compare", *words]) == 0


def put(document: Record, path: str, value: Any) -> Record:
    changed = copy.deepcopy(document)
    place: Any = changed
    *way, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    for key in way:
        place = place[key]
    place[last] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("drivelab/seed", -1, "drivelab.seed is -1; allowed: from 0 on"),
        ("drivelab/quick", 1, "drivelab.quick is 1; allowed: true or false"),
        ("models/0", [], "models[0] is []; allowed: an object"),
        ("models/0/parameters/1/key", None, "models[0].parameters[1].key is null; allowed: a text"),
        ("tests/0/kind", "strom", 'tests[0].kind is "strom"; allowed: "stream", "compound"'),
        ("tests/0", {}, "tests[0] lacks kind"),
        ("tests/0/ios", 1.5, "tests[0].ios is 1.5; allowed: a whole number"),
        ("tests/0/latency_us/percentiles/1", [5], "percentiles[1] is [5]; allowed: a pair"),
        ("tests/0/latency_us/percentiles/1", [5, 6, 7], "is [5, 6, 7]; allowed: a pair"),
        (
            "tests/0/latency_us/percentiles/1/0",
            101,
            "tests[0].latency_us.percentiles[1][0] is 101; allowed: up to 100",
        ),
        (
            "tests/1/tables/0/rows/0/mb_per_s",
            [1],
            "rows[0].mb_per_s is [1]; allowed: a number or a text",
        ),
        (
            "tests/1/tables/0/rows/0/mb_per_s",
            True,
            "rows[0].mb_per_s is true; allowed: a number or a text",
        ),
        ("drivelab/seed", 2**70, "drivelab.seed is 1180591620717411303424; allowed: up to "),
        ("tests/0/ios", 10**30, "allowed: up to 18446744073709551615"),
        ("tests/0/direction", "sideways", 'is "sideways"; allowed: "read" or "write"'),
        ("tests/0/latency_us/histogram/requests/1", 0, "requests[1] is 0; allowed: from 1 on"),
        ("tests/0/model", "b", 'tests[0].model is "b"; allowed: "a"'),
        ("states/0/model", "b", 'states[0].model is "b"; allowed: "a"'),
        (
            "tests/1",
            documents.stream(),
            'tests[1] is "a new random-write-4k", as is tests[0]; allowed: once',
        ),
        (
            "tests/1/tables/0/rows/2",
            {"block_bytes": 4096},
            "tests[1].tables[0].rows[2] lacks direction, mb_per_s",
        ),
        (
            "tests/0/series/iops",
            [1.0],
            "tests[0].series.iops has 1 values; allowed: 2, as mib_per_s",
        ),
        (
            "tests/0/latency_us/histogram/requests",
            [1],
            "tests[0].latency_us.histogram.requests has 1 values; allowed: 2, as latency_below_us",
        ),
        (
            "tests/0/repeats",
            {"iops": {"values": [1.0], "mean": 1.0, "low": 1.0, "high": 1.0, "method": "t"}},
            "tests[0].repeats.iops.values has 1 values; allowed: 0, as drivelab.repeats.seeds",
        ),
        (
            "drivelab/repeats",
            {"count": 3, "seeds": [1, 2]},
            "drivelab.repeats.count is 3; allowed: 2, as many as seeds",
        ),
        ("tests/1/counters/host_write_bytes", "x", 'host_write_bytes is "x"; allowed: a number'),
        ("tests/1/charts/0/kind", "pie", 'allowed: "lines", "bars" or "heat"'),
        ("tests/1/steady_state/variables", 3, "steady_state.variables is 3; allowed: a list"),
    ],
)
def test_what_is_wrong_is_said_with_key_value_and_what_is_allowed(
    path: str, value: Any, words: str
) -> None:
    said = fault(put(documents.review(), path, value), Review)
    assert said is not None
    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize(("key", "words"), [("variable", "no text"), ("round", "no number")])
def test_rounds_of_a_steady_state_are_told_apart(key: str, words: str) -> None:
    columns = [{"key": "value", "title": "Value", "unit": ""}]
    row = {"variable": "throughput", "round": 1, "value": 2.5}
    table = {"name": "convergence", "title": "Rounds", "columns": columns, "rows": [row]}
    whole = documents.review(documents.compound(tables=[table]))
    assert fault(whole, Review) is None
    said = fault(put(whole, f"tests/0/tables/0/rows/0/{key}", None), Review)
    assert said is not None
    assert f"tests[0].tables[0].rows[0].{key} is {words}" in said


def test_what_is_said_of_a_key_of_several_lines_is_one_line() -> None:
    columns = [{"key": "a\nb", "title": "A", "unit": ""}]
    table = {"name": "t", "title": "T", "columns": columns, "rows": [{}]}
    said = fault(documents.review(documents.compound(tables=[table])), Review)
    assert said == "tests[0].tables[0].rows[0] lacks a b"


def test_what_a_newer_version_may_add_is_passed_over() -> None:
    assert fault(documents.review() | {"more": 1}, Review) is None


@pytest.mark.parametrize(
    "path",
    ["more", "models/0/more", "tests/0/more", "tests/0/latency_us/more", "tests/1/tables/0/more"]
    + [f"tests/1/steady_state/variables/0/{key}" for key in ("more", "options")]
    + ["tests/0/repeats/iops/more"],
)
def test_what_no_record_declares_is_not_kept(path: str) -> None:
    whole = documents.review(repeats={"count": 2, "seeds": [1, 2]})
    whole["tests"][0]["repeats"] = {"iops": documents.estimate(1.0, 2.0)}
    found = Review.read(put(whole, path, {"a": 1}))
    assert found == Review.read(whole)
    assert found.model_dump(by_alias=True, exclude_unset=True) == Review.model_validate(
        whole
    ).model_dump(by_alias=True, exclude_unset=True)


def test_whole_numbers_of_tables_stay_whole() -> None:
    rows = Review.read(documents.review()).tests[1].tables[0].rows
    assert rows[0] == {"block_bytes": 4096, "direction": "read", "mb_per_s": 1.25}
    assert [type(cell) for cell in rows[0].values()] == [int, str, float]


def test_sentences_of_a_steady_state_are_kept_and_are_texts() -> None:
    said = documents.steady_state(1.0) | {"Throughput": "steady at 1 MB/s"}
    whole = documents.review(documents.compound(steady_state=said))
    found = Review.read(whole).tests[0].steady_state
    assert dict(found or ())["Throughput"] == said["Throughput"]
    wrong = put(whole, "tests/0/steady_state/Throughput", 1)
    assert fault(wrong, Review) == "tests[0].steady_state.Throughput is 1; allowed: a text"


@pytest.mark.parametrize("schema", [2, 3])
@pytest.mark.parametrize("key", ["models", "tests", "states"])
@pytest.mark.parametrize("value", [None, {}, [1], [None], "x"])
def test_a_damaged_old_file_is_refused_not_stumbled_over(schema: int, key: str, value: Any) -> None:
    document = documents.review(schema=schema) | {key: value}
    assert f"{key}" in (fault(upgraded(document), Review) or "")
