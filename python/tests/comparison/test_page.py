"""The page and the document of a comparison."""

from __future__ import annotations

import json
import re

import documents
import drawn
import pytest
from comparison.sample import found

from drivelab.charts import page as drawing
from drivelab.comparison import Comparison, Source, compare, page
from drivelab.comparison.document import document
from drivelab.report.quantities import NBSP
from drivelab.results import to_json


@pytest.fixture
def html(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(drawing, "library", str)
    return page.render(found())


def test_marks_of_latency_axes_have_units(html: str) -> None:
    axes = [
        drawn.axis(chart["spec"], "y")["axis"]
        for name, chart in drawn.on_page(html).items()
        if name.startswith(("latency", "time-latency"))
    ]
    assert axes
    for axis in axes:
        assert all(f"' {unit}'" in axis["labelExpr"] for unit in ("ns", "µs", "ms", "s"))


def test_every_plot_has_its_place_and_every_drive_its_line(html: str) -> None:
    plots = drawn.on_page(html)
    for name, chart in plots.items():
        assert f'id="{name}"' in html
        if "s" in chart["columns"]:
            assert set(drawn.column(chart, "s")) == {"A", "B"}
    kinds = {name.rpartition("-")[0] for name in plots}
    assert {"time-mib-per-s", "time-latency-max-us", "position", "latency"} <= kinds


def test_plots_over_time_are_linked_and_can_be_zoomed(html: str) -> None:
    over_time = [c["meta"] for name, c in drawn.on_page(html).items() if name.startswith("time-")]
    assert over_time
    for meta in over_time:
        assert (meta["link"], meta["along"]) == ("time", True)


def test_what_the_drives_did_over_time_is_laid_over_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawing, "library", str)
    tests = []
    for place, name in enumerate("ab"):
        for direction in ("write", "read"):
            whole = documents.stream(name, "used", f"random-{direction}-4k", direction=direction)
            more = {"write_amplification": [2.0 + place, None], "latency_p99_us": [70.0, 80.0]}
            whole["series"] = whole["series"] | more
            tests.append(whole)
    # A real drive tells neither.
    tests.append(documents.stream("a", "new"))
    tests.append(documents.stream("b", "new"))
    review = documents.review(*tests)
    html = page.render(compare([Source("review", review)], "drivelab compare review"))
    plots = drawn.on_page(html)
    told = [name for name in plots if name.startswith("time-write-amplification")]
    assert len(told) == 1, "of writes, and where a drive tells it"
    assert drawn.column(plots[told[0]], "y") == [2.0, 3.0]
    assert "Write amplification over time" in html
    assert sum(name.startswith("time-latency-p99") for name in plots) == 2


def test_latencies_stand_on_an_axis_of_nines(html: str) -> None:
    [chart] = [c for name, c in drawn.on_page(html).items() if name == "latency-0"]
    marks = drawn.axis(chart["spec"], "x")["axis"]
    assert marks["values"] == pytest.approx([0, 0.30103, 1, 2, 3, 4, 4.9])
    assert "'99.9%'" in marks["labelExpr"]
    assert chart["meta"]["x"]["longest"] == drawn.column(chart, "x")[-1] == 4.9
    assert drawn.column(chart, "s")[0] == "A"


def test_fields_are_also_shown_as_ratios(html: str) -> None:
    ratios = [chart for name, chart in drawn.on_page(html).items() if "-ratio-" in name]
    assert ratios
    assert set(drawn.column(ratios[0], "t")) == {"2.300"}


def test_a_table_of_a_compound_test_has_every_drives_values_side_by_side(html: str) -> None:
    text = re.sub(r"<[^>]+>", " ", html)
    assert re.search(r"4 KiB\s+read\s+0\.6250\s+1\.438", text)


def test_what_is_left_out_is_on_the_page_and_in_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawing, "library", str)
    tests = [
        documents.stream("a"),
        documents.stream("b", data="random"),
        documents.compound("a"),
        documents.compound("b"),
    ]
    comparison = compare([Source("review", documents.review(*tests))], "")
    html = page.render(comparison)
    assert "<b>Left out.</b> Data patterns differ" in html
    assert "1 left out, with the reasons" in html
    whole = json.loads(to_json(document(comparison)))
    assert whole["drivelab"]["forced"] is False
    assert whole["left_out"] == [
        {
            "id": "random-write-4k",
            "title": "Test random-write-4k",
            "state": "new",
            "letters": ["A", "B"],
            "reason": "data patterns differ: A repeating, B random",
        }
    ]
    [problem] = whole["problems"]
    assert problem["tests"][0]["reason"] == whole["left_out"][0]["reason"]


def test_what_failed_on_all_sides_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that failed on one side is told as the others'; one that nobody has was told nowhere."""
    monkeypatch.setattr(drawing, "library", str)

    def failed(model: str, state: str, reason: str) -> documents.Record:
        words = {"title": "Mine", "group": "mine", "cause": "test", "reason": reason}
        return {"model": model, "state": state, "id": "mine", **words}

    mine = documents.stream("b", "used", "mine")
    tests = [documents.stream("a"), documents.stream("b"), mine]
    whole = documents.review(*tests) | {
        "failed": [
            failed("a", "new", "too small"),
            failed("a", "used", "too slow"),
            failed("b", "new", "too large"),
        ]
    }
    comparison = compare([Source("review", whole)], "")
    told = [(item.id, item.state, item.letters, item.reason) for item in comparison.left_out]
    assert told == [
        ("mine", "used", ("B",), "only B has it; A: too slow"),
        ("mine", "new", (), "no side has it; A: too small; B: too large"),
    ]
    assert "no side has it; A: too small; B: too large" in page.render(comparison)
    assert json.loads(to_json(document(comparison)))["left_out"][1]["letters"] == []


def test_any_number_of_drives_up_to_six_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "library", str)
    html = page.render(found(1.5, 6))
    assert all(f"<b>{letter}</b> Drive {letter}" in html for letter in "ABCDEF")


def test_the_document_is_strict_json_with_ratios_to_the_first() -> None:
    whole = json.loads(to_json(document(found())))
    assert [side["letter"] for side in whole["sides"]] == ["A", "B"]
    [test] = [test for test in whole["tests"] if test["id"] == "random-write-4k"]
    assert test["headline"] == "mib_per_s"
    assert test["metrics"][0]["ratios"] == [1.0, pytest.approx(2.3)]
    assert test["classes"] == ["preconditioned"] * 2
    assert whole["specifications"]["same"] == 2


def test_the_document_says_what_the_page_says_of_measurements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drawing, "library", str)
    tests = [documents.stream("a", notes=["short"]), documents.stream("b", notes=["short"])]
    tests[1]["notes"].append("slow")
    comparison = compare([Source("review", documents.review(*tests))], "")
    [test] = json.loads(to_json(document(comparison)))["tests"]
    assert test["notes"] == ["A, B: short", "B: slow"]
    drawn_page = page.render(comparison)
    assert all(note in drawn_page for note in test["notes"])


def overview(*documents_: documents.Record) -> dict[str, str]:
    """What stands at the bars of the overview, by title of the test."""
    sources = [Source(str(i), item) for i, item in enumerate(documents_)]
    comparison = compare(sources, "drivelab compare")
    rows = page.overview(comparison.sides, comparison.pairs)
    shown = {}
    for row in rows:
        [mark] = row.marks
        assert (mark.at > 0) == ("better" in mark.text)
        assert (mark.at < 0) == ("worse" in mark.text)
        shown[row.title] = mark.text.replace(NBSP, " ")
    return shown


def test_a_bar_to_the_right_is_better_and_says_so_whatever_the_sign_of_its_change() -> None:
    a, b = (
        documents.review(
            documents.stream(name, "used", rate=rate),
            documents.stream(name, "used", "access-time", rate=rate, direction="read"),
            documents.stream(name, "used", "sequential-write", rate=1000 / rate),
        )
        for name, rate in (("a", 10.0), ("b", 12.5))
    )
    assert overview(a, b) == {
        "Test random-write-4k": "1.25 × better",
        # -20 % in the table: the bar is as long, being of the same factor.
        "Test access-time": "1.25 × better",
        "Test sequential-write": "1.25 × worse",
    }


def against_a_disk(rates: tuple[float, ...]) -> Comparison:
    """Two flash drives, and as many disks as there are rates left."""
    tests = [documents.stream(name, rate=rate) for name, rate in zip("abcd", rates, strict=False)]
    review = documents.review(*tests)
    for model in review["models"][2:]:
        model["family"] = "hard-disk"
    return compare([Source("review", review)], "drivelab compare review")


def bars_of(found: Comparison) -> list[tuple[str, str, float]]:
    """Heading, letter and share of every bar of the first test."""
    chart = page._bars(found.sides, found.pairs[0])
    assert chart is not None
    return [(bar.heading, bar.label, round(bar.share, 2)) for bar in chart.bars]


def test_bars_of_disks_have_a_scale_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    both = against_a_disk((100, 50, 1, 0.5))
    assert bars_of(both) == [
        ("Flash drives", "A", 1.0),
        ("", "B", 0.5),
        ("Hard disks", "C", 1.0),
        ("", "D", 0.5),
    ]
    assert bars_of(against_a_disk((100, 50))) == [("", "A", 1.0), ("", "B", 0.5)]
    monkeypatch.setattr(drawing, "library", str)
    html = page.render(both)
    assert '<li class="heading">Hard disks</li>' in html
    assert "Hard disks have a scale of their own." in html
    assert "Hard disks" not in page.render(against_a_disk((100, 50)))


def test_what_is_next_to_nothing_is_not_told_as_less_by_all_of_it() -> None:
    texts = [page.change_text(ratio) for ratio in (0.0005, 0.005, 0.0051, 0.5, 9.99, 10)]
    assert [text.replace(NBSP, " ") for text in texts] == [
        *("1/2,000", "1/200", "\u221299 %", "\u221250 %", "+899 %", "10.0 ×"),
    ]


def test_the_page_that_is_saved_has_what_is_the_same_on_all_sides(html: str) -> None:
    compared = found()
    assert compared.shared
    _, _, part = html.partition('id="specifications"')
    part = part.partition("</section>")[0]
    assert f"{len(compared.shared)} parameter" in part
    rows = re.findall(
        r"<td>(?:<code>)?([\w.]+)(?:</code>)?</td><td class=\"n\">([^<]*)</td></tr>", part
    )
    assert rows[-len(compared.shared) :] == [(i.key, i.texts[0]) for i in compared.shared]
