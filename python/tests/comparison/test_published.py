"""Published figures stand beside what was measured of the same drive, test and state."""

from __future__ import annotations

from typing import Any

import documents
import pytest

from drivelab.charts import page as drawing
from drivelab.comparison import Comparison, Source, compare, page, published
from drivelab.report.quantities import NBSP


def figure(**changed: Any) -> dict[str, Any]:
    """What was published of drive a: its throughput, in the test that documents.py makes."""
    own = {"id": "X-1", "model": "a", "model_state": "used", "published": 30.0}
    return documents.figure(**own | changed)


def compared(*figures: dict[str, Any], tests: list[Any] | None = None, **own: Any) -> Comparison:
    """Drives a and b, of the first of which there are figures."""
    if tests is None:
        tests = [documents.stream(name, "used") for name in "ab"]
    document = documents.review(*tests, **own) | {"figures": list(figures)}
    return compare([Source("review", document)], "drivelab compare review")


def marks(found: Comparison, name: str = "mib_per_s") -> list[tuple[int, str, float, str]]:
    """Side, id, value and text of the marks at a metric of the only test."""
    [pair] = found.pairs
    metric = next(item for item in pair.metrics if item.name == name)
    return [
        (item.index, item.id, item.value, item.text.replace(NBSP, " "))
        for item in published.of_metric(found.sides, pair, metric)
    ]


def test_a_figure_is_of_one_side() -> None:
    assert marks(compared(figure())) == [(0, "X-1", 30.0, "30 MiB/s")]
    assert marks(compared(figure(model="b"))) == [(1, "X-1", 30.0, "30 MiB/s")]
    both = compared(figure(), figure(id="X-2", published=31.0, relation="approx"))
    assert marks(both) == [(0, "X-1", 30.0, "30 MiB/s"), (0, "X-2", 31.0, "≈ 31 MiB/s")]


@pytest.mark.parametrize(
    "other",
    [
        {"model": "c"},
        {"model_state": "new"},
        {"test_id": "sequential-read"},
        *({"relation": relation} for relation in ("lt", "gt", "le", "ge", "range")),
        {"unit": "W"},
        {"unit": "us"},
        {"metric": "hdtach_write"},
    ],
    ids=str,
)
def test_what_is_of_something_else_or_a_bound_is_no_mark(other: dict[str, Any]) -> None:
    assert marks(compared(figure(**other))) == []


@pytest.mark.parametrize(
    ("unit", "value", "mib_per_s"),
    [("MiB/s", 30.0, 30.0), ("MB/s", 104.8576, 100.0), ("IOPS", 2560.0, 10.0)],
)
def test_rates_are_in_the_unit_of_the_bar(unit: str, value: float, mib_per_s: float) -> None:
    [(_, _, found, text)] = marks(compared(figure(unit=unit, published=value)))
    assert found == pytest.approx(mib_per_s)
    assert text.endswith(unit), "a reader looks for the number that was published"


def test_mean_and_longest_latency_are_told_apart() -> None:
    found = compared(
        figure(unit="ms", published=2.5, metric="random_write_4k_mean_latency"),
        figure(id="X-2", unit="s", published=1.5, metric="random_write_4k_max_latency"),
    )
    assert marks(found, "mean_us") == [(0, "X-1", 2500.0, "2.5 ms")]
    assert marks(found, "max_us") == [(0, "X-2", 1.5e6, "1.5 s")]
    assert marks(found) == []
    assert marks(found, "p99_us") == []


def test_passes_and_power_have_figures_of_their_own() -> None:
    passed = {"pass": documents.whole_pass(9.0, 7.0)}
    tests = [documents.stream(name, "used", "hdtach-write", **passed) for name in "ab"]
    own = figure(test_id="hdtach-write", unit="MB/s", metric="hdtach_write_mean")
    assert marks(compared(own, tests=tests), "mean_mb_per_s") == [(0, "X-1", 30.0, "30 MB/s")]
    assert marks(compared(own, tests=tests)) == []
    watts = figure(unit="W", published=0.6, metric="random_write_power")
    assert marks(compared(watts), "mean_power_w") == [(0, "X-1", 0.6, "0.6 W")]


@pytest.mark.parametrize(
    ("changed", "values"),
    [
        ({}, [30.0]),
        ({"inputs": [documents.input_of("value:dips")]}, []),
        ({"inputs": []}, []),
        ({"unit": "MiB/s"}, []),
    ],
)
def test_a_value_of_a_compound_test_is_meant_by_its_name(
    changed: dict[str, Any], values: list[float]
) -> None:
    tests = [documents.compound(name, "used") for name in "ab"]
    own = {"test_id": "sweep", "unit": "MB/s", "inputs": [documents.input_of("value:write")]}
    found = marks(compared(figure(**own | changed), tests=tests), "write")
    assert [value for _, _, value, _ in found] == values


def test_a_time_of_a_compound_test_is_in_microseconds() -> None:
    values = [documents.value("slowest", 9.0, "us", "lower")]
    tests = [documents.compound(name, "used", values=values) for name in "ab"]
    inputs = [documents.input_of("value:slowest")]
    own = figure(test_id="sweep", unit="ms", published=0.5, inputs=inputs)
    assert marks(compared(own, tests=tests), "slowest") == [(0, "X-1", 500.0, "0.5 ms")]


def test_the_page_that_is_saved_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "library", str)
    html = page.render(compared(figure(id="X-<1>", published=40.0)))
    # Of 20 MiB/s on both sides: the figure is the longest, and what is measured half of it.
    assert 'style="--beyond:0.5000">20' in html
    assert '<i class="mark" style="--share:1.0000"></i>' in html
    assert f'<small class="marked">published 40{NBSP}MiB/s [X-&lt;1&gt;]</small>' in html
    assert html.count('class="mark"') == html.count('class="marked"') == 1
    assert 'class="mark"' not in page.render(compared())


def test_a_bar_of_repeats_has_its_interval_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "library", str)
    kept = {"mib_per_s": documents.estimate(16.0, 24.0)}
    tests = [documents.stream("a", "used", repeats=kept), documents.stream("b", "used")]
    html = page.render(compared(tests=tests, repeats={"count": 2, "seeds": [1, 2]}))
    assert html.count('<i class="interval"') == 1
    assert '--share:0.8333"><i class="interval" style="--spread:0.2000"></i>' in html
