"""Compound tests in a report: nothing about a test is known but its values, tables and charts."""

from __future__ import annotations

import copy
from typing import Any

import documents
import pytest
from report.sample import MODEL, results

from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.records.test import Compound
from drivelab.report import render
from drivelab.report.compound import drawing_of, groups, row_set
from drivelab.report.plots import RowSet, draw, size_text
from drivelab.report.rankings import value_rankings
from drivelab.report.reading import read

SIZES = (512, 4096, 2**20, 64 * 2**20)


def measured(factor: float) -> Measured:
    columns = (
        Column("block_bytes", "Transfer size", "B"),
        Column("direction", "Direction"),
        Column("mib_per_s", "Throughput", "MiB/s"),
    )
    rows = tuple(
        {"block_bytes": size, "direction": direction, "mib_per_s": factor * index}
        for direction in ("read", "write")
        for index, size in enumerate(SIZES, 1)
    )
    return Measured(
        values=(
            Value("largest", "Largest", 4 * factor, "MiB/s", "higher"),
            Value("dip", "Dip at", None, "B"),
        ),
        tables=(Table("sweep", "Sweep", columns, rows),),
        charts=(
            Chart("sweep", "By size", "lines", "block_bytes", "mib_per_s", "direction", log_x=True),
            Chart("sweep", "Field", "heat", "block_bytes", "mib_per_s", "direction"),
            Chart("sweep", "Bars", "bars", "direction", "mib_per_s"),
        ),
        deviations=("Shorter than the standard.",),
        notes=("Mind the gap.",),
        steady_state=documents.steady_state(238.2, reached=False),
    )


def record(state: str, factor: float) -> dict[str, Any]:
    found = measured(factor).found()
    return documents.compound(MODEL, state, "sweep-test", title="A sweep", **found)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found = results()
    found["tests"] += [record("used", 50.0), record("new", 100.0)]
    return found


def test_values_stand_side_by_side_new_first(document: dict[str, Any]) -> None:
    other = record("used", 1.0) | {"id": "another", "group": "studies"}
    mixed = document | {"tests": [*document["tests"][:-1], other, document["tests"][-1]]}
    [group, _] = groups(read(mixed), "intel-x25-m-g1-80gb", "t")
    [test] = group.tests
    assert [name for name, _ in test.states] == ["new", "used"]
    assert [row.cells for row in test.values] == [
        ("400.0\u00a0MiB/s", "200.0\u00a0MiB/s"),
        ("—", "—"),
    ]
    assert test.values[0].goal == "more is better"
    assert test.deviations == ("Shorter than the standard.",)
    assert [steady.reached for steady in test.steady_states] == [False, False]


def test_the_page_shows_everything_a_test_said(document: dict[str, Any]) -> None:
    html = render(document)
    for words in ("A sweep", "Shorter than the standard.", "Mind the gap.", "not steady", "64 MiB"):
        assert words in html
    assert '<a href="#group-sweeps">Sweeps</a>' in html


def test_remarks_say_which_states_they_are_about_and_what_is_typed(
    document: dict[str, Any],
) -> None:
    found = copy.deepcopy(document)
    new = next(test for test in found["tests"] if test["id"] == "sweep-test")
    new["notes"] = [*new["notes"], "`a` <b> and `c`"]
    html = render(found)
    assert f"{new['state']}: <code>a</code> &lt;b&gt; and <code>c</code>" in html
    assert '<p class="note">Mind the gap.</p>' in html, "of both states"


def test_a_review_of_compound_tests_alone_has_a_page(document: dict[str, Any]) -> None:
    alone = copy.deepcopy(document)
    alone["tests"] = [item for item in alone["tests"] if item.get("kind") == "compound"]
    html = render(alone)
    assert "A sweep" in html
    assert 'id="contrast"' not in html


def test_few_lines_share_a_plot_over_states_and_a_field_has_one_for_each() -> None:
    found = Compound.read(record("new", 100.0))
    lines, heat, bars = found.charts
    tried = (row_set(found, lines, state, "$new") for state in ("new", "used", "tortured"))
    sets = [item for item in tried if item is not None]
    assert [c.title for c in draw(drawing_of(found, lines), sets, "a")] == [
        "By size, read",
        "By size, write",
    ]
    assert len(draw(drawing_of(found, heat), sets, "b")) == 3
    assert len(draw(drawing_of(found, bars), sets, "c")) == 1
    ids = [chart.id for chart in draw(drawing_of(found, heat), sets, "b")]
    assert len(set(ids)) == 3


def test_sizes_on_a_log_axis_are_whole_bytes() -> None:
    columns = (Column("span_gib", "Span", "GiB"), Column("mean_ms", "Mean latency", "ms"))
    spans = [1 / 64, 1 / 16, 74.505859375]
    rows = tuple({"span_gib": span, "mean_ms": 0.2} for span in spans)
    by_span = Chart("spans", "By span", "lines", "span_gib", "mean_ms", log_x=True)
    found = Measured(tables=(Table("spans", "Spans", columns, rows),), charts=(by_span,)).found()
    test = Compound.read(documents.compound(MODEL, "new", "spans", title="Spans", **found))
    [chart] = draw(drawing_of(test, test.charts[0]), [RowSet("", "$new", tuple(rows))], "a")
    assert chart.columns["x"] == [16 * 2**20, 64 * 2**20, 74.505859375 * 2**30]
    assert chart.spec["encoding"]["x"]["axis"]["values"] == [16 * 2**20, 64 * 2**20]


def test_nothing_is_drawn_of_nothing() -> None:
    found = Compound.read(record("new", 100.0))
    assert draw(drawing_of(found, found.charts[0]), [RowSet("new", "$new", ())], "a") == []


def test_sizes_are_written_in_the_unit_they_are_multiples_of() -> None:
    assert [size_text(size) for size in (512, 1536, 65536, 3 * 2**20)] == [
        "512 B",
        "1536 B",
        "64 KiB",
        "3 MiB",
    ]


def test_published_values_stand_beside_those_of_the_model(document: dict[str, Any]) -> None:
    shown = copy.deepcopy(document)
    figure = documents.figure(id="AN-083", published=390.0, state="new (erased)")
    reading = [documents.input_of("value:largest")]
    figure |= {"model": MODEL, "test_id": "sweep-test", "inputs": reading}
    shown["figures"].append(figure)
    [group] = groups(read(shown), "intel-x25-m-g1-80gb", "t")
    assert group.tests[0].values[0].published == "390\u00a0MiB/s new [AN-083]"
    [ranking] = value_rankings(read(shown))
    assert [lane.state for lane in ranking.rows[0].lanes] == ["new", "used", "published, new"]
