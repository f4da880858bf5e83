"""What Compare draws of flash drives and a hard disk at full size, with repeats and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from web import laboratory, wire
from web.conftest import FRAMES, Server, serving
from web.test_compare import address, opened

NAMES = (*laboratory.DRIVES[:2], laboratory.DISK)
RANDOM, PASS = "random-write-4k-qd3-sector", "hdtach-write"
LEFT_PX, RIGHT_PX = 52, 10
"""Beside the plane of a plot."""
Record = dict[str, Any]


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A new drive of each, two seeds: some seconds. Small versions have no published figures, and
    a hard disk has none."""
    folder = tmp_path_factory.mktemp("repeated")
    file = folder / "measured.duckdb"
    laboratory.record(file, NAMES, [RANDOM, PASS], states=["new"], scale=1, repeat=2)
    with serving(folder, file) as found:
        yield found


@pytest.fixture
def drawn(repeated: Server, page: Page) -> Page:
    opened(page, repeated, address(*NAMES))
    expect(page.locator("#time .plot").first).to_be_visible()
    return page


def told(server: Server, what: str, test: str) -> Record:
    """What the server says of a test."""
    found = wire.ask(server, f"/api/compare{what}?" + address(*NAMES).partition("?")[2]).json
    tests = found["tests"] if what else found["comparison"]["tests"]
    return next(item for item in tests if item["id"] == test)


def headline(server: Server, test: str) -> Record:
    found = told(server, "", test)
    return dict(found["metrics"][found["headline"]])


def card(page: Page, title: str) -> Locator:
    return page.locator("article.test").filter(
        has=page.get_by_role("heading", name=title, exact=True)
    )


def extent(place: Locator) -> tuple[float, float]:
    """From where to where it reaches, in pixels."""
    box = place.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


def pointed(plot: Locator, share: float) -> list[str]:
    """What is read at a place of the axis, 0 to 1: the place, then every drive's value."""
    plot.scroll_into_view_if_needed()
    box = plot.locator("canvas").bounding_box()
    assert box is not None
    wide = box["width"] - LEFT_PX - RIGHT_PX
    plot.page.mouse.move(box["x"] + LEFT_PX + share * wide, box["y"] + 60)
    # Another place was pointed at before: that what is read is of this one shows with its frame.
    plot.page.evaluate(FRAMES)
    expect(plot.locator(".readout span")).to_have_count(1 + len(NAMES))
    return [text.replace("\u00a0", " ") for text in plot.locator(".readout span").all_inner_texts()]


def plot_of(page: Page, heading: str) -> Locator:
    """The first plot below a heading."""
    found = page.locator("#time h3", has_text=heading).locator("+ .plots .plot").first
    expect(found).to_be_visible()
    return found


def test_latencies_stand_on_an_axis_of_nines(repeated: Server, drawn: Page) -> None:
    plot = plot_of(drawn, "Latencies: each step is one more nine")
    lines = told(repeated, "/plots", RANDOM)["lines"]
    # From 1 %, hardly a nine, to the longest, which stands where 99.999 % would.
    assert {line["percentiles"][0][0] for line in lines} == {1.0}
    assert max(line["percentiles"][-1][0] for line in lines) < 99.999
    for level, nines in ((90.0, 1), (99.0, 2), (99.9, 3)):
        place, *values = pointed(plot, nines / 5)
        assert place == f"{level:g} %"
        expected = [dict(map(tuple, line["percentiles"]))[level] for line in lines]
        assert [microseconds(text) for text in values] == pytest.approx(expected, rel=0.01)
    place, *values = pointed(plot, 1)
    assert place == "longest"
    longest = [line["max_us"] for line in lines]
    assert [microseconds(text) for text in values] == pytest.approx(longest, rel=0.01)


def microseconds(text: str) -> float:
    """Of "A 1.5 ms"."""
    _, value, unit = text.split()
    return float(value.replace(",", "")) * {"µs": 1, "ms": 1e3, "s": 1e6}[unit]


def test_passes_of_drives_of_different_size_are_drawn_over_their_shares(
    repeated: Server, drawn: Page
) -> None:
    plot = plot_of(drawn, "By position on the drive")
    lines = told(repeated, "/plots", PASS)["lines"]
    for share in (0.1, 0.5, 0.9):
        place, *values = pointed(plot, share)
        assert float(place.removesuffix("% of the drive")) == pytest.approx(100 * share, abs=1)
        zones = [line["zones_mb_per_s"] for line in lines]
        near = [of[round(share * len(of)) - 8 : round(share * len(of)) + 8] for of in zones]
        for text, of in zip(values, near, strict=True):
            assert text.endswith("MB/s")
            assert 0.99 * min(of) <= float(text.split()[1]) <= 1.01 * max(of)
    # The disk, the last, is slower at its end.
    begin, end = (float(pointed(plot, share)[-1].split()[1]) for share in (0.01, 0.99))
    assert end < 0.8 * begin


def test_disks_are_judged_apart_with_intervals_and_figures(repeated: Server, drawn: Page) -> None:
    metric = headline(repeated, RANDOM)
    figures = metric["published"]
    ours = card(drawn, told(repeated, "", RANDOM)["title"])
    expect(ours.locator(".kind")).to_have_text(["Flash drives", "Hard disks"])
    expect(ours.locator("ul.bars")).to_have_count(2)
    bars = ours.locator("ul.bars li")
    expect(bars.locator(".letter")).to_have_text(["A", "B", "C"])
    ends = [
        max(
            metric["values"][side] + metric["plus_minus"][side],
            *(item["value"] for item in figures if item["side"] == side),
        )
        for side in range(3)
    ]
    assert {item["side"] for item in figures} == {0, 1, 2}
    # The longest of the flash drives is full, and so is that of the disks, however slow.
    assert ends[2] < 0.2 * max(ends[:2])
    for side, longest in enumerate((max(ends[:2]), max(ends[:2]), ends[2])):
        begin, end = extent(bars.nth(side).locator(".track"))

        def at(value: float, begin: float = begin, end: float = end, of: float = longest) -> float:
            return begin + (end - begin) * value / of

        value, spread = metric["values"][side], metric["plus_minus"][side]
        assert extent(bars.nth(side).locator(".fill"))[1] == pytest.approx(at(value), abs=1)
        whisker = extent(bars.nth(side).locator(".interval"))
        assert whisker[0] == pytest.approx(at(value - spread), abs=1)
        # Two strokes of 1.5 pixels are the least that it is.
        assert whisker[1] == pytest.approx(max(at(value + spread), whisker[0] + 3), abs=1)
        own = [item for item in figures if item["side"] == side]
        marks = bars.nth(side).locator(".mark")
        expect(marks).to_have_text([f"published {item['text']}" for item in own])
        for item, mark in zip(own, marks.all(), strict=True):
            assert sum(extent(mark)) / 2 == pytest.approx(at(item["value"]), abs=1)
        expect(bars.nth(side).locator("small.published")).to_contain_text(f"[{own[-1]['id']}]")


def test_a_saved_page_has_the_same_marks_and_intervals(drawn: Page) -> None:
    with drawn.expect_download() as download:
        drawn.get_by_role("button", name="Save as HTML").click()
    saved = Path(download.value.path()).read_text(encoding="utf-8")
    marks = drawn.locator(".bars .mark")
    expect(marks).to_have_count(4)
    assert saved.count('class="mark"') == 4
    for text in drawn.locator("small.published").all_inner_texts():
        assert f'<small class="marked">{text}</small>' in saved
