from __future__ import annotations

import math
from typing import Any

import documents
import drawn
import pytest
from report.sample import MODEL, results

from drivelab.report import bars, charts, render, tables
from drivelab.report.quantities import NBSP
from drivelab.report.reading import read


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in numbers(item)]
    return [value] if isinstance(value, float) else []


def test_plots_hold_both_states_and_only_finite_numbers() -> None:
    review = read(results())
    found = charts.courses(review, MODEL, charts.OVER_TIME, "time")
    assert len(found) == 8
    assert found[0].series == (("new", "$new"), ("used", "$used"))
    found += charts.latency_percentiles(review, MODEL, "latency") + charts.agreement(review)
    assert len(found) == 18
    assert len({chart.id for chart in found}) == 18
    assert all(math.isfinite(n) for chart in found for n in numbers(chart.to_dict()))
    assert all(chart.description for chart in found)


def test_gaps_in_a_series_stay_gaps() -> None:
    data = results()
    data["tests"][0]["series"]["latency_p99_us"] = [100.0, 110.0, 105.0, None, None, *[100.0] * 175]
    chart = charts.courses(read(data), MODEL, charts.SLOW, "slow")[0]
    assert [y for _, y in drawn.line(chart, "new")][3:5] == [None, None]


def test_bars_are_sorted_best_first_with_the_published_beside() -> None:
    by_title = {chart.title: chart for chart in bars.comparisons(read(results()))}
    writes = by_title["4 KB random write, queue depth 3, sector-aligned"]
    assert writes.direction == "more is better"
    values = [bar.value for bar in writes.bars]
    assert values == sorted(values, reverse=True)
    assert writes.bars[0].share == 1
    assert [bar.kind for bar in writes.bars[:3]] == ["published", "mine s-new", "published"]
    assert sum("X25-M G1 80GB" in bar.label for bar in writes.bars) == 2  # AN-033 repeats AN-092
    assert all(f"{NBSP}MiB/s" in bar.text for bar in writes.bars)
    access = next(chart for title, chart in by_title.items() if title.startswith("Access"))
    assert access.direction == "less is better"
    assert [bar.value for bar in access.bars] == sorted(bar.value for bar in access.bars)


def test_published_units_are_converted_and_shown() -> None:
    data = results()
    figure = documents.figure(drive="X", state="new", relation="approx")
    test_id = "random-write-4k-qd3-sector"
    data["figures"] = [
        {**figure, "unit": "IOPS", "published": 2560, "test_id": test_id, "id": "A"},
        {
            **figure,
            "unit": "MB/s",
            "published": 1048.576,
            "test_id": test_id,
            "id": "B",
            "drive": "Y",
        },
    ]
    shown = {bar.source: bar for c in bars.comparisons(read(data)) for bar in c.bars if bar.source}
    assert shown["[A]"].value == pytest.approx(10)
    assert shown["[A]"].text.replace(NBSP, " ") == "≈ 10.0 MiB/s (2,560 IOPS)"
    assert shown["[B]"].value == pytest.approx(1000)


def test_the_diagonal_has_values_that_are_judged_and_no_bounds() -> None:
    data = results()
    figure = next(item for item in data["figures"] if item["id"] == "AN-150")
    data["figures"] = [
        figure,
        figure | {"id": "AN-113", "role": "none"},
        figure | {"id": "AN-109", "relation": "lt"},
        figure | {"id": "A2-103", "relation": "range"},
    ]
    points = [row["t"] for chart in charts.agreement(read(data)) for row in chart.rows()]
    assert [text.split()[0] for text in points] == ["AN-150"]


def test_what_is_not_compared_is_not_called_wrong_and_a_range_has_two_ends() -> None:
    data = results()
    figure = next(item for item in data["figures"] if item["id"] == "AN-150")
    data["figures"] = [
        figure | {"id": "AN-113", "role": "none", "modelled": 10.0, "reason": "contradicts itself"},
        figure
        | {"id": "A2-103", "unit": "%", "relation": "range", "satisfied": False}
        | {"published": 7.5, "published_min": 5, "published_max": 10, "modelled": 4.142},
    ]
    review = read(data)
    ranged, contradicted = tables.published(review)
    assert (ranged.figure.id, ranged.published, ranged.met) == ("A2-103", f"5 .. 10{NBSP}%", False)
    assert (contradicted.error, contradicted.met, contradicted.offset) == (
        "not compared",
        None,
        None,
    )
    assert "contradicts itself" in render(data)


def test_split_parts_fill_the_bar() -> None:
    stacks = [stack for c in bars.splits(read(results()), writes=True) for stack in c.stacks]
    assert len(stacks) == 8
    for stack in stacks:
        assert sum(segment.share for segment in stack.segments) == pytest.approx(1)
        assert 0 < stack.share <= 1
