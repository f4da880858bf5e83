from __future__ import annotations

import json
import re

import documents
import drawn
import pytest

from drivelab.charts import page as drawing
from drivelab.comparison import Comparison, Source, compare, page
from drivelab.comparison.document import document
from drivelab.report.quantities import NBSP
from drivelab.results import to_json


def found(factor: float = 2.3, count: int = 2) -> Comparison:
    names = "abcdef"[:count]
    tests = []
    for index, name in enumerate(names):
        rate = 10 * factor**index
        tests += [
            documents.stream(name, "used", rate=rate),
            documents.stream(name, "used", "sequential-read", rate=100, direction="read"),
            documents.stream(
                name,
                "used",
                "hdtach-write",
                **{"pass": documents.whole_pass(rate, rate / 2)},
            ),
            documents.compound(name, rate=rate),
            documents.compound(name, test_id="field", rate=rate, charts=[FIELD]),
        ]
    return compare([Source("review", documents.review(*tests))], "drivelab compare review")


FIELD = {
    "table": "sizes",
    "title": "Field",
    "kind": "heat",
    "x": "block_bytes",
    "y": "mb_per_s",
    "by": "direction",
    "log_x": False,
    "log_y": False,
}


@pytest.fixture
def html(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(drawing, "library", str)
    return page.render(found())


def test_findings_are_words_about_the_largest_difference() -> None:
    sentences = [finding.sentence.replace(NBSP, " ") for finding in found().findings]
    assert sentences[0] == "Drive B leads in 4 of 5 tests."
    assert "Drive B writes random 4 KiB blocks 2.3 times as fast as Drive A (used)." in sentences
    slow = [finding.sentence.replace(NBSP, " ") for finding in found(1.27).findings]
    assert "Drive B writes random 4 KiB blocks 27 % faster than Drive A (used)." in slow
    assert any("takes 2.3 times longer on Drive A" in sentence for sentence in sentences)
    assert len(sentences) <= 12


def rated(*rates: tuple[float, ...]) -> Comparison:
    """Drives of these throughputs, each in a write and as many reads as there are rates."""
    tests = [
        documents.stream(name, "used", f"read-{number}", rate=rate, direction="read")
        for name, of in zip("abc", rates, strict=False)
        for number, rate in enumerate(of)
    ]
    return compare([Source("review", documents.review(*tests))], "")


def test_a_tie_is_no_lead() -> None:
    """Each leads in one test: a reader told that A leads would buy A."""
    tie = rated((10.0, 20.0, 30.0), (20.0, 10.0, 30.1)).findings[0]
    assert tie.sentence == "Drive A and Drive B lead in 1 of 3 tests each."
    assert tie.detail.replace(NBSP, " ") == "within 2 % of each other in 1"
    lead = rated((10.0, 20.0, 30.0), (20.0, 10.0, 31.0)).findings[0]
    assert lead.sentence == "Drive B leads in 2 of 3 tests."


def test_who_shares_the_first_place_of_a_test_does_not_lead_in_it() -> None:
    shared = rated((30.0, 20.0), (30.1, 10.0), (5.0, 5.0)).findings[0]
    assert shared.sentence == "Drive A leads in 1 of 2 tests."
    assert shared.detail.startswith("Drive B in 0, Drive C in 0; two or more share the lead in 1")
    nobody = rated((30.0,), (30.1,), (5.0,)).findings[0]
    assert nobody.sentence == "None of them leads in a test."


def test_marks_of_latency_axes_have_units(html: str) -> None:
    axes = [
        drawn.axis(chart["spec"], "y")["axis"]
        for name, chart in drawn.on_page(html).items()
        if name.startswith(("latency", "time-latency"))
    ]
    assert axes
    for axis in axes:
        assert all(f"' {unit}'" in axis["labelExpr"] for unit in ("ns", "µs", "ms", "s"))


def test_drives_that_do_not_differ_are_said_not_to() -> None:
    [finding] = found(1.0).findings
    assert "No test tells them apart" in finding.sentence


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
        "Test random-write-4k": "25 % better",
        # As the table has it, -20 %: the bar is as long, being of the same factor.
        "Test access-time": "20 % better",
        "Test sequential-write": "20 % worse",
    }


def amplified(name: str, factor: float) -> documents.Record:
    """A replay as a test: its throughput differs little, its write amplification much."""
    value = {"name": "write_amplification", "title": "write amplification", "unit": ""}
    rate = {"name": "mib_per_s", "title": "throughput", "unit": "MiB/s", "better": "higher"}
    values = [rate | {"value": 20.0}, value | {"better": "lower", "value": factor}]
    return documents.review(
        documents.compound(name, test_id="replay t write", values=values, tables=[], charts=[])
    )


def said(*documents_: documents.Record) -> list[str]:
    sources = [Source(str(i), item) for i, item in enumerate(documents_)]
    found = compare(sources, "drivelab compare").findings
    return [f"{item.figure}: {item.sentence}".replace(NBSP, " ") for item in found]


@pytest.mark.parametrize(
    ("slower", "told"),
    [
        (8.0, "−20 %: Drive A finds any place in 20 % less time than Drive B (used)."),
        (2.0, "5.0 ×: Drive A finds any place 5.0 times as fast as Drive B (used)."),
    ],
)
def test_an_access_time_is_told_as_the_change_of_the_time(slower: float, told: str) -> None:
    a, b = (
        documents.review(documents.stream(name, "used", "access-time", rate=rate, direction="read"))
        for name, rate in (("a", 10.0), ("b", slower))
    )
    assert told in said(a, b)


def test_write_amplification_of_replays_is_a_finding() -> None:
    found = said(amplified("a", 1.2), amplified("b", 3.6))
    assert "3.0 ×: Drive B programs 3.0 times the bytes that Drive A does for “Test replay t " in (
        " ".join(found)
    )
    # What is a sixth less isn't a fifth less.
    found = said(amplified("a", 1.0), amplified("b", 1.2))
    assert any(line.startswith("−17 %: ") and "17 % less than" in line for line in found)


def test_flash_drives_are_compared_with_each_other_before_a_hard_disk() -> None:
    rates = {"a": 20.0, "b": 40.0, "c": 0.1}
    models = [
        documents.model(name, family="hard-disk" if name == "c" else "page-map") for name in rates
    ]
    tests = [documents.stream(name, "used", rate=rate) for name, rate in rates.items()]
    found = said(documents.review(*tests) | {"models": models})
    text = " ".join(found)
    assert "Drive B writes random 4 KiB blocks 2.0 times as fast as Drive A" in text
    assert "400 times" not in text
    assert "0 of 2: 0 of 2 flash drives are slower than the hard disk Drive C" in text


def test_reads_that_touched_no_flash_are_no_finding_but_said() -> None:
    zeros = {"direction": "read", "counters": {"zero_read_bytes": 4096000}}
    sides_ = [
        documents.review(
            documents.stream(name, "new", "random-read", rate=rate, **zeros),
            documents.stream(name, "new", rate=10 * rate),
        )
        for name, rate in (("a", 1.0), ("b", 50.0))
    ]
    sources = [Source(str(i), item) for i, item in enumerate(sides_)]
    found = compare(sources, "drivelab compare")
    assert not any(" reads " in finding.sentence for finding in found.findings)
    [problem] = [problem for problem in found.problems if problem.kind == "unwritten"]
    assert "Test random-read, new (A, B)" in problem.sentence


def test_reads_come_before_larger_differences_of_writes_unless_they_are_trifles() -> None:
    def order(read_factor: float) -> list[str]:
        a, b = (
            documents.review(
                documents.stream(name, "used", "random-read", rate=rate, direction="read"),
                documents.stream(name, "used", rate=5 * rate if name == "b" else 10.0),
            )
            for name, rate in (("a", 20.0), ("b", 20.0 * read_factor))
        )
        return [line for line in said(a, b) if " reads " in line or " writes " in line]

    assert " reads " in order(1.3)[0]
    assert " writes " in order(1.04)[0]


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
