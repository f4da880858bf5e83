from __future__ import annotations

import copy
from typing import Any

import pytest
from report.sample import results
from report.test_render import Page

from drivelab.report import rankings, render
from drivelab.report.quantities import NBSP
from drivelab.report.reading import read

NAMES = ("one", "two", "three", "four", "five")


def many() -> dict[str, Any]:
    """Five drives: each twice as fast as the one before it, the last one a hard disk."""
    document = results()
    model, tests = document["models"][0], document["tests"]
    document["models"], document["tests"], document["states"] = [], [], []
    for index, name in enumerate(NAMES):
        family = "hard-disk" if name == "five" else "page-map" if index % 2 else "compressed-map"
        document["models"].append(
            model | {"name": name, "title": f"Drive {name}", "family": family, "price_usd": 100.0}
        )
        for test in copy.deepcopy(tests):
            if family == "hard-disk" and test["state"] != "new":
                continue
            for key in ("mib_per_s", "iops"):
                test[key] = test[key] and test[key] * 2**index
            document["tests"].append(test | {"model": name})
    for figure in document["figures"]:
        figure["model"] = "two" if figure.get("modelled") is not None else None
    return document


def test_rows_are_sorted_by_the_used_state() -> None:
    review = read(many())
    chart = next(c for c in rankings.rankings(review) if c.id == "random-write-4k-qd3-sector")
    labels = [row.label for row in chart.rows if row.family != "published"]
    assert labels == [f"Drive {name}" for name in reversed(NAMES)]
    assert [lane.state for lane in chart.rows[0].lanes] == [""]
    assert {lane.state for row in chart.rows for lane in row.lanes} >= {"new", "used"}
    shares = [lane.share for row in chart.rows for lane in row.lanes]
    assert max(shares) == 1
    assert min(shares) > 0


def test_published_figures_stand_in_the_row_of_their_drive() -> None:
    review = read(many())
    lanes = [
        lane
        for chart in rankings.rankings(review)
        for row in chart.rows
        if row.label == "Drive two"
        for lane in row.lanes
        if lane.kind == "published"
    ]
    assert lanes
    assert all(lane.state.startswith("published") for lane in lanes)


def test_families_come_in_their_usual_order() -> None:
    found = [(f.word, len(f.models)) for f in rankings.families(read(many()))]
    assert found == [("page-map", 2), ("compressed-map", 2), ("hard-disk", 1)]


def test_findings_name_the_extremes() -> None:
    text = " ".join(f.sentence for f in rankings.findings(read(many())))
    text = text.replace(NBSP, " ")
    # Drive five is a hard disk, twice as fast as the fastest flash drive, and no measure of them.
    assert (
        "Of the flash drives, Drive four is the fastest in random 4 KiB writes, 8.0 times" in text
    )
    assert "Drive five is the fastest" not in text
    assert text.index("random 4 KiB reads") < text.index("random 4 KiB writes")
    assert "4 of 4 flash drives are slower than a hard disk" in text


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render(many()))


def test_the_report_of_many_drives_is_whole(page: Page) -> None:
    sections = [attrs.get("id") for tag, attrs in page.tags if tag == "section"]
    assert sections == [
        "findings", "drives", "bars", "wear", "details", "published", "tested", "reproduce",
    ]  # fmt: skip
    ids = [attrs["id"] for _, attrs in page.tags if attrs.get("id")]
    assert len(ids) == len(set(ids))
    targets = {(attrs.get("href") or "")[1:] for tag, attrs in page.tags if tag == "a"}
    assert targets <= set(ids)
    assert {f"drive-{name}" for name in NAMES} <= targets
    assert "None" not in page.text()


def test_missing_values_of_many_drives_are_dashes() -> None:
    document = many()
    for model in document["models"]:
        model |= {"price_usd": None, "family": None, "raw_capacity_bytes": None}
    for test in document["tests"]:
        test |= {"mib_per_s": None, "write_amplification": None}
        test["latency_us"] |= dict.fromkeys(("mean", "p50", "max"))
    assert "—" in Page(render(document)).text()


def test_the_median_of_four_drives_lies_between_the_two_in_the_middle() -> None:
    data = many()
    left = dict(zip(NAMES, (0.9, 0.8, 0.5, 0.4), strict=False))
    for test in data["tests"]:
        if test["id"] == "random-write-4k-qd3-sector" and test["state"] == "used":
            test["mib_per_s"] = left[test["model"]] * 39.1 * 2 ** NAMES.index(test["model"])
    details = [finding.detail.replace(NBSP, " ") for finding in rankings.findings(read(data))]
    [loss] = [detail for detail in details if "the median of" in detail]
    assert loss.endswith("the median of 4 drives: −35 %")
