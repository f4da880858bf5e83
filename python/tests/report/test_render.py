from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from typing import Any

import documents
import drawn
import pytest
from report.sample import MODEL, results

from drivelab.charts import page as drawing
from drivelab.errors import RequestError
from drivelab.records.faults import fault
from drivelab.records.review import Review
from drivelab.report import render, tables
from drivelab.report.reading import read

VOID = {"meta", "link", "br", "img", "hr", "input", "col", "wbr"}
LOADS = {"src", "srcset", "data", "poster", "action", "formaction", "background", "xlink:href"}
NUMBER = r"[+−<>≤≥≈ ]*\d[\d,]*(\.\d+)?"
UNITS = r"(MiB/s|MB/s|IOPS|ns|µs|ms|s|min|B|KiB|MiB|GiB|GB|%|×|erases?|W|mW|J|kJ|J/GiB)"


class Page(HTMLParser):
    """The page as text per element, checking that elements nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str, str]] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop()[0] == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open:
            tag, attrs = self.open[-1]
            self.texts.append((tag, attrs.get("class") or "", data.strip()))

    def text(self) -> str:
        return " ".join(t for tag, _, t in self.texts if tag not in ("script", "style"))


@pytest.fixture(scope="module")
def html() -> str:
    return render(results())


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_every_part_is_there(page: Page) -> None:
    sections = [attrs.get("id") for tag, attrs in page.tags if tag == "section"]
    assert sections == [
        "findings", "index", "tested", "bars", "contrast", "time", "latency", "where", "wear",
        "power", "published", "parameters", "reproduce",
    ]  # fmt: skip
    places = {attrs.get("id") for _, attrs in page.tags}
    targets = {(attrs.get("href") or "")[1:] for tag, attrs in page.tags if tag == "a"}
    assert set(sections) <= targets <= places
    text = page.text()
    assert "drivelab review intel-x25-m-g1-80gb --seed 1" in text
    assert results()["models"][0]["hash"] in text
    assert "fitted to AN-091" in text


def test_nothing_is_loaded_from_elsewhere(html: str, page: Page) -> None:
    assert len(html.encode()) < 800_000
    for tag, attrs in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not LOADS & attrs.keys(), tag
        assert (attrs.get("href") or "#").startswith("#")
    assert ("meta", "default-src 'none'") in [
        (tag, (attrs.get("content") or "").split(";")[0]) for tag, attrs in page.tags
    ]
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert len(re.findall(r"</script", html)) == html.count("<script") == 5


def test_every_number_has_its_unit(page: Page) -> None:
    cells = [t for tag, kind, t in page.texts if kind == "value" or kind.split(" ")[0] == "n"]
    values = [t.replace("\u00a0", " ") for t in cells if re.search(r"\d", t)]
    assert len(values) > 300
    heads = {"50 % under", "90 % under", "99 % under", "99.9 % under", "99.99 % under"}
    counts = {"1", "3", "32"}  # queue depths, named in the head of their column
    named = re.compile(r"[\d,.]+ [a-z]+")  # parameters that count something
    pattern = re.compile(rf"{NUMBER} {UNITS}( \({NUMBER} {UNITS}\))?(, {NUMBER} {UNITS})*")
    bare = [v for v in values if not (pattern.fullmatch(v) or named.fullmatch(v))]
    assert set(bare) - heads - counts == set()


def test_plots_are_valid_json_with_a_place_each(html: str, page: Page) -> None:
    ids = {attrs.get("id") for tag, attrs in page.tags if attrs.get("class") == "canvas"}
    assert ids == set(drawn.on_page(html))
    assert len(ids) == 18


def test_same_results_same_text(html: str) -> None:
    assert render(results()) == html


def test_two_models_stand_side_by_side() -> None:
    text = Page(render(results(2))).text()
    assert "Intel X25-M G1 80 GB and X25-M with 28 % spare area, new and used" in text
    assert "other models, used" in text


def test_the_table_of_tests_has_the_span_of_each_drive() -> None:
    """A pass over 160 GB isn't one over 80 GB."""
    data = results(2)
    large = data["models"][1]
    large["user_capacity_bytes"] = 160_000_000_000
    small_bytes = data["models"][0]["user_capacity_bytes"]
    for test in data["tests"]:
        if test["id"] == "sequential-read-2m":
            # Whole blocks only: a drive's end may be left over.
            whole_bytes = 160 * 10**9 if test["model"] == large["name"] else small_bytes
            test["span_bytes"] = whole_bytes // 2**21 * 2**21
    whole = next(row for row in tables.settings(read(data)) if row.id == "sequential-read-2m")
    assert whole.settings[4].replace("\N{NO-BREAK SPACE}", " ") == (
        "80.0 GB (74.5 GiB) / 160 GB (149 GiB)"
    )
    text = Page(render(data)).text()
    assert "their values stand in the order of the drives" in text
    assert "their values stand in the order of the drives" not in Page(render(results())).text()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    for key, item in items:
        if isinstance(item, dict) or (isinstance(item, list) and len(item) < 30):
            found += leaves(item, (*path, key))
        else:
            found.append((*path, key))
    return found


def with_leaf(value: Any, path: tuple[Any, ...], leaf: Any) -> Any:
    changed = copy.deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = leaf
    return changed


def small() -> dict[str, Any]:
    data = results()
    data["tests"] = [t for t in data["tests"] if t["id"] == "random-write-4k-qd3-sector"]
    data["figures"] = data["figures"][3:7]
    for test in data["tests"]:
        test["latency_us"]["percentiles"] = test["latency_us"]["percentiles"][-3:]
        for key in ("mib_per_s", "latency_max_us"):
            test["series"][key] = test["series"][key][:3]
    data["models"][0]["parameters"] = data["models"][0]["parameters"][:2]
    return data


NULLABLE: set[tuple[Any, ...]] = {
    ("models", 0, "released"),
    ("models", 0, "raw_capacity_bytes"),
    ("models", 0, "parameters", 0, "value"),
    ("tests", 0, "direction"),
    ("tests", 0, "mib_per_s"),
    ("tests", 0, "latency_us", "mean"),
    ("tests", 0, "latency_us", "histogram"),
    ("tests", 0, "split_mean_us", "cleaning"),
    ("tests", 0, "series", "latency_max_us", 0),
    ("tests", 0, "write_amplification"),
    ("states", 0, "write_amplification"),
    ("figures", 0, "modelled"),
    ("figures", 0, "satisfied"),
}


@pytest.mark.parametrize(
    ("leaf", "least"), [(None, 160), ("?", 90), ([], 30), ({}, 6), (-1, 30), (0, 140)]
)
def test_any_value_that_the_records_allow_is_borne(
    leaf: Any, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`least`: in so many places of the document the records allow it, if not in more."""
    monkeypatch.setattr(drawing, "library", str)
    data = small()
    changed = ((path, with_leaf(data, path, leaf)) for path in leaves(data))
    allowed = [(path, document) for path, document in changed if fault(document, Review) is None]
    assert len(allowed) >= least
    if leaf is None:
        assert {path for path, _ in allowed} >= NULLABLE
    for path, document in allowed:
        html = render(document)
        shown = html[: html.index("<script")] if "<script" in html else html
        shown = shown[shown.index("</style>") :]
        assert not re.search(r"\b(nan|inf|None|undefined)\b", shown, re.IGNORECASE), path


@pytest.mark.parametrize("models", [[], [documents.model()]])
def test_empty_results_give_a_page(models: list[Any]) -> None:
    page = Page(render(documents.review(models=models) | {"tests": [], "states": []}))
    assert "Findings" in page.text()


def test_what_is_no_review_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(RequestError, match=r"tests\[0\].latency_us is null; allowed: an object"):
        render(with_leaf(small(), ("tests", 0, "latency_us"), None))


def test_hostile_names_are_only_text() -> None:
    evil = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    data = results(2)
    for model in data["models"]:
        model["title"] = evil
        model["parameters"][0].update(key=evil, value=evil, unit=evil, source=evil)
    for test in data["tests"]:
        test["title"] = evil
    for figure in data["figures"]:
        figure.update(drive=evil, note=evil, metric=evil)
    data["drivelab"]["command_line"] = evil
    html = render(data)
    page = Page(html)
    assert html.count("<script") == 5
    assert all(tag != "img" for tag, _ in page.tags)
    assert "alert(1)" in page.text()


def test_reads_of_an_unwritten_drive_have_no_change_with_use() -> None:
    data = results()
    for test in data["tests"]:
        if test["direction"] == "read" and test["state"] == "new":
            test |= {"bytes": 10**9, "counters": {"zero_read_bytes": 10**9}}
    shown = tables.contrasts(read(data), MODEL)
    changes = {row.title: [change.text for *_, change in row.cells] for row in shown}
    assert set(changes["2 MB sequential read"]) == {"—"}
    # Of 99.99 % it has too few requests.
    assert "—" not in changes["2 MB sequential write"][:3]
    assert "2 MB sequential read" in render(data)


def test_large_changes_in_the_table_are_told_as_times() -> None:
    grown = tables.delta(218.0, 39_400.0, more_is_better=False)
    assert (grown.text.replace("\u00a0", " "), grown.mood) == ("181 ×", "worse")
    assert tables.delta(100.0, 101.0, more_is_better=True).mood == ""


def test_how_a_small_version_differs_is_on_its_page() -> None:
    """Who is sent the page doesn't see what the command said."""
    data = results()
    data["models"][0]["scale_remarks"] = ["spare area of a die: varies by 8 %"]
    assert "At this scale: spare area of a die: varies by 8 %." in render(data)


def test_a_state_says_how_often_its_making_wrote_the_drive_over() -> None:
    document = results()
    run = next(one for one in document["states"] if one["state"] == "used")
    [model] = [one for one in document["models"] if one["name"] == run["model"]]
    run["host_write_bytes"] = round(1.5 * model["user_capacity_bytes"])
    rows = tables.seasoning(read(document))
    assert next(row.cells[1] for row in rows if row.state == "used") == "1.50\N{NO-BREAK SPACE}×"
    assert {row.cells[1] for row in rows if row.state == "new"} == {"0.00\N{NO-BREAK SPACE}×"}


def test_a_percentile_of_too_few_requests_is_not_told() -> None:
    """Ten must lie beyond it; of fewer it would be the longest latency under another name."""
    data = results()
    for test in data["tests"]:
        test |= {"iops": 50.0, "duration_s": 20.0, "ios": 1000}
    columns = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "max")
    for row in tables.latencies(read(data), MODEL):
        told = {key for key, cell in zip(columns, row.cells, strict=True) if cell != "—"}
        assert told == {"mean", "p50", "p90", "p99", "max"}


def test_remarks_and_states_name_the_drives_that_they_are_of() -> None:
    data = results(2)
    one, other = (model["name"] for model in data["models"])
    title = {model["name"]: model["title"] for model in data["models"]}
    for test in data["tests"]:
        test["notes"] = ["about both"] + ["about one"] * (test["model"] == one)
    for state in data["states"]:
        if state["state"] == "used":
            state["description"] = f"made for {state['model']}"
    found = read(data)
    both, alone = (
        next(note for note in tables.notes(found) if words in note)
        for words in ("about both", "about one")
    )
    assert title[one] not in both
    assert f"new ({title[one]})" in alone
    assert title[other] not in alone
    states = dict(tables.descriptions(found))
    assert states[f"used: {title[other]}"] == f"made for {other}"
    assert "new" in states
