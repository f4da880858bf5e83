"""Everything that a page draws, scripts can draw; and what is drawn where it was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import documents
import drawn
import pytest
from report.sample import results

from drivelab.charts import page as drawing
from drivelab.report import bars, every_plot, render
from drivelab.report.reading import read


def measured_more() -> dict[str, Any]:
    """Results with what newer engines measure: tails, and more in every interval."""
    data = results()
    for test in data["tests"]:
        series = test["series"]
        count = len(series["mib_per_s"])
        writes = test["direction"] == "write"
        series["write_amplification"] = [1.5] * (count - 1) + [None] if writes else None
        series["latency_p99_us"] = [200.0 + index for index in range(count)]
        split = {"queueing": 1.0, "link": 0.0, "firmware": 0.0, "flash": 2.0, "cleaning": 1.0}
        slowest = round(0.002 * test["ios"])
        tail = {"share_of_requests": 0.001, "count": slowest, "latency_min_us": 900.0}
        test["tails"] = [tail | {"split_mean_us": split}]
        columns = [[0, 2, 0, index % 2] for index in range(12)]
        edges_us = [50.0, 100.0, 200.0, 400.0, 800.0]
        test["latency_field"] = {"interval_s": 0.5, "edges_us": edges_us, "requests": columns}
    return data


def test_every_plot_of_the_page_can_be_had_alone(tmp_path: Path) -> None:
    data = measured_more()
    plots = every_plot(data)
    page = drawn.on_page(render(data))
    assert page
    for name, chart in page.items():
        assert drawn.unpacked(drawing.data([plots[name]]))[name] == chart
    # Bars are a page's own, and charts for scripts.
    shown = bars.comparisons(read(data))
    for index, chart in enumerate(shown):
        drawn_bars = plots[f"bars-{index}"]
        assert sorted(row["y"] for row in drawn_bars.rows()) == pytest.approx(
            sorted(bar.value for bar in chart.bars), rel=1e-4
        )
    assert plots["write-parts-0"].save(tmp_path / "parts.svg").stat().st_size > 1000


def test_what_was_measured_in_every_interval_is_drawn_over_time() -> None:
    data = measured_more()
    plots = every_plot(data)
    writing = {test["title"] for test in data["tests"] if test["direction"] == "write"}
    amplified = [chart for name, chart in plots.items() if name.startswith("amplified-")]
    assert {chart.title for chart in amplified} == writing
    points = drawn.line(amplified[0], "used")
    assert points[0] == (0.5, 1.5)
    assert points[-1][1] is None
    slow = [chart for name, chart in plots.items() if name.startswith("slow-")]
    assert drawn.line(slow[0], "new")[2] == (2.5, 202.0)
    assert not [name for name in every_plot(results()) if name.startswith(("amplified", "slow"))]


def test_latencies_over_time_are_drawn_of_the_state_where_they_spread_most() -> None:
    data = measured_more()
    fields = {name: chart for name, chart in every_plot(data).items() if name.startswith("field-")}
    tests = [test for test in data["tests"] if test["id"] == "random-write-4k-qd3-aligned"]
    [chart] = [c for c in fields.values() if c.title.startswith(f"{tests[0]['title']}, ")]
    spread = {t["state"]: t["latency_us"]["max"] / t["latency_us"]["p50"] for t in tests}
    assert chart.title.endswith(max(spread, key=lambda state: spread[state]))
    cells = {(row["x"], row["y"]): row["v"] for row in chart.rows()}
    assert cells == {
        **{(index / 2, 100.0): 2 for index in range(12)},
        **{(index / 2, 400.0): 1 for index in range(1, 12, 2)},
    }
    assert not any("sequential" in chart.title for chart in fields.values())
    assert not [name for name in every_plot(results()) if name.startswith("field")]


def test_tails_say_what_the_slowest_waited_for() -> None:
    plots = every_plot(measured_more())
    chart = plots["tails-0-0"]
    shares = {row["s"]: row["y"] for row in chart.rows() if row["x"] == "used, slowest 0.2 %"}
    assert shares == {"queueing": 25, "link": 0, "firmware": 0, "flash": 50, "cleaning": 25}
    assert "tails-0-0" not in every_plot(results())


def test_repeats_have_their_interval_at_the_bar() -> None:
    data = results()
    data["drivelab"]["repeats"] = {"count": 2, "seeds": [1, 2]}
    for test in data["tests"]:
        rate = test["mib_per_s"]
        test["repeats"] = {"mib_per_s": documents.estimate(rate - 2.0, rate + 2.0)}
    chart = bars.comparisons(read(data))[0]
    longest = max(bar.value for bar in chart.bars)
    own = [bar for bar in chart.bars if "mine" in bar.kind]
    assert [bar.spread for bar in own] == pytest.approx([2.0 / longest] * len(own))
    assert render(data).count('class="interval"') >= len(own)
    assert 'class="interval"' not in render(results())
