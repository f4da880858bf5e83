"""Charts as data, as pictures and on pages."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace
from pathlib import Path

import drawn
import pytest
from markupsafe import Markup

import drivelab as dl
from drivelab.charts import (
    Cells,
    Chart,
    Line,
    Scale,
    Text,
    bars,
    diagonal,
    heat,
    lines,
    nines,
    page,
    palette,
    stacks,
)

ONE = Line("used", "$used", [1.0, 2.0, 3.0], [5.0, None, 123.456789])
TWO = Line("new", "$new", [1.0, 2.0, 3.0], [7.0, 8.0, 9.0], low=[6, 7, 8], high=[8, 9, 10])
TIME, RATE = Scale("Time", "s"), Scale("Throughput", "MiB/s")
LATENCY = Scale("Latency", "µs", "log")


def every() -> list[Chart]:
    """A chart of each kind."""
    both = [ONE, TWO]
    named = [Line("new", "$new", ["4 KiB", "8 KiB"], [3.0, 4.0])]
    parts = [Line("flash", "$flash", ["a", "b"], [1.0, 2.0]), Line("link", "$link", ["a"], [3.0])]
    cells = Cells(["1", "2"], ["x", "x"], [1.0, 0.0], ["1 s", "0 s"])
    return [
        lines(Text("lines", id="a"), both, TIME, RATE, link="time"),
        lines(Text("log", id="b"), both, Scale("Size", "B", "log"), LATENCY),
        lines(Text("names", id="c"), named, Scale("Size", kind="names"), RATE),
        bars(Text("bars", id="d"), named, Scale("Size", kind="names"), RATE),
        diagonal(Text("diagonal", id="e"), both, RATE, RATE, (1, 200), tolerance_ratio=0.1),
        stacks(Text("stacks", id="f"), parts, Scale("Mean latency", "µs")),
        heat(Text("heat", id="g"), cells, "across", "down"),
        heat(Text("ratios", id="h"), cells, "across", "down", ends=("$new", "$used")),
    ]


@pytest.mark.parametrize("chart", every(), ids=lambda chart: chart.title)
def test_every_kind_is_drawn_without_a_browser(chart: Chart, tmp_path: Path) -> None:
    picture = chart.save(tmp_path / "a.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = chart.save(tmp_path / "a.svg", theme="dark").read_text("utf-8")
    assert chart.title in text
    assert palette.DARK["paper"] in text
    # A name that is no colour would be drawn black.
    assert "$" not in text


def test_pictures_are_saved_whole_or_refused(tmp_path: Path) -> None:
    chart = every()[0]
    for name in ("a.pgn", "a"):
        with pytest.raises(dl.RequestError, match=r"ends in \.png, \.svg or \.json"):
            chart.save(tmp_path / name)
    with pytest.raises(dl.RequestError, match='theme = "darkk": allowed: light, dark'):
        chart.save(tmp_path / "a.png", theme="darkk")
    with pytest.raises(dl.RequestError, match="none"):
        chart.save(tmp_path / "none" / "a.png")
    assert not list(tmp_path.iterdir())


def test_axes_have_units_and_colours_stay_with_their_names() -> None:
    spec = every()[0].to_dict()
    assert drawn.axis(spec, "x")["axis"]["title"] == "Time, s"
    assert drawn.axis(spec, "y")["axis"]["title"] == "Throughput, MiB/s"
    scale = spec["encoding"]["color"]["scale"]
    assert scale == {"domain": ["used", "new"], "range": [palette.LIGHT["used"], "#0072b2"]}


def test_numbers_keep_the_digits_that_can_be_seen() -> None:
    assert drawn.line(every()[0], "used") == [(1, 5), (2, None), (3, 123.46)]


def test_marks_of_an_axis_keep_their_digits() -> None:
    """A label that is rounded as even steps would be is that of another value."""
    line = Line("used", "$used", [0.07, 0.14, 0.28, 1500.0], [1.0, 2.0, 3.0, 4.0])
    scale = Scale("Spare area", marks=(0.07, 0.14, 0.28, 1500.0))
    for kind in (scale, replace(scale, kind="log")):
        picture = lines(Text("t"), [line], kind, RATE).svg()
        assert all(f">{label}<" in picture for label in ("0.07", "0.14", "0.28", "1,500")), kind


def test_a_log_axis_of_few_values_is_marked_where_it_was_measured() -> None:
    """1, 2, 5 under points at 1, 2, 4 has readers take the last for 5."""

    def marks(*values: float) -> list[float]:
        found = Scale("Queue depth", kind="log").across(values)["axis"]["values"]
        return list(found)

    assert marks(4, 1, 2, 2) == [1, 2, 4]
    assert marks(1, 2, 4, 8, 16, 32, 64, 128) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert marks(256, 1024, 4096) == [256, 1024, 4096]
    # Many values, and those that nobody chose, have the marks of any log axis.
    assert marks(*range(1, 10)) == [1, 2, 5]
    assert marks(1.2345, 2.3456) == [1, 2, 5]
    rate = replace(RATE, kind="log")
    ends = diagonal(Text("d"), [ONE], rate, rate, (1, 200), tolerance_ratio=0.1)
    assert len(ends.spec["layer"][-1]["encoding"]["x"]["axis"]["values"]) > 2


def test_bars_over_numbers_say_their_unit() -> None:
    def title(scale: Scale) -> str:
        part = Line("new", "$new", ["1", "2"], [3.0, 4.0])
        return str(bars(Text("b"), [part], scale, RATE).spec["encoding"]["x"]["axis"]["title"])

    assert title(Scale("Pause", "s", "names")) == "Pause, s"
    assert title(Scale("Wait", "µs", "names")) == "Wait, µs"
    # Sizes are written with theirs: 4 KiB.
    assert title(Scale("Block size", "B", "names")) == "Block size"
    assert title(Scale("Drive", "", "names")) == "Drive"


def test_what_a_log_axis_cannot_show_is_a_gap() -> None:
    line = Line("x", "$new", [0.0, 1.0, 2.0], [1.0, 0.0, 3.0])
    chart = lines(Text("t"), [line], Scale("Size", "B", "log"), LATENCY)
    assert drawn.line(chart, "x") == [(1, None), (2, 3)]


def test_sizes_that_double_are_marked_and_not_a_capacity_among_them() -> None:
    sizes = [float(512 << doubling) for doubling in range(18)]
    axis = Scale("Size", "B", "log")
    assert axis.across(sizes)["axis"]["values"] == sizes[::3]
    spans = [16.0 * 2**20, 64.0 * 2**20, 80e9]
    assert axis.across(spans)["axis"]["values"] == spans[:2]
    assert axis.across([512.0, 80e9])["axis"]["values"] == [512.0, 80e9]


def test_each_nine_is_one_step() -> None:
    for longest, first in ((4.9, [0.0, nines(50)]), (5.5, [nines(50), 1.0])):
        axis = Scale("", kind="nines", longest=longest).across([0.0])["axis"]
        assert axis["values"][:2] == pytest.approx(first)
    assert [nines(at) for at in (0.0, 90.0, 99.0, 99.9, 99.99)] == pytest.approx([0, 1, 2, 3, 4])


def test_a_page_reads_back_every_row() -> None:
    data = drawn.unpacked(page.data(every()))
    for chart in every():
        found = data[chart.id]
        rows = zip(*(drawn.column(found, name) for name in chart.columns), strict=True)
        assert [dict(zip(chart.columns, row, strict=True)) for row in rows] == chart.rows()


def test_the_library_is_small_and_cannot_end_its_script() -> None:
    text = page.library()
    assert len(text) < 450_000
    assert Markup.escape(text) == text
    assert "window.drawing=" in zlib.decompress(base64.b64decode(text)).decode()


def test_a_notebook_shows_the_chart_or_its_picture() -> None:
    bundle = every()[0]._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["application/vnd.vegalite.v6+json"]["data"]["values"]
    assert bundle["text/plain"].startswith("lines: ")


def test_both_schemes_have_every_colour() -> None:
    assert palette.DARK.keys() == palette.LIGHT.keys()
    assert set(palette.SERIES) <= {f"${name}" for name in palette.LIGHT}
    assert set(palette.PARTS) <= palette.LIGHT.keys()
    assert f"--used: {palette.LIGHT['used']};" in palette.css()
