"""Whatever drives, tests, tables, tags and files are called, it is text on every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import documents
import pytest
from playwright.sync_api import Page, expect
from web import wire
from web.conftest import Noted, Server, serving

from drivelab import database

NAMES = (
    "<img src=x onerror=document.title='owned'>",
    "</script><script>document.title='owned'</script>",
    "<svg/onload=document.title='owned'>",
    "\"><b class='owned'>bold</b>",
    "' onmouseover='document.title=`owned`' class='owned",
    "</title></style></textarea><iframe srcdoc='<b>x</b>'></iframe>",
    "&lt;b class=owned&gt;&#60;b&#62;&amp;",
    "<a href=javascript:document.title='owned'>link</a>",
    "{{ 7 * 7 }}${7*7}<!--%><template><b class=owned></template>",
    "]]><b class=owned xmlns='http://www.w3.org/1999/xhtml'>\u202etxt.exe\\u003cb\\u003e",
)
FEW = NAMES[::4]
"""For views that take no names from results, only from what somebody does there."""
OTHER = "plain"
OWNED = "[onerror], [onload], [onmouseover], .owned, iframe, base, template, [href^='javascript']"
"""What names would make, were they markup."""


def measured(name: str, seed: int) -> dict[str, Any]:
    """A review of two drives, in which everything that has a name has this one."""
    column = {"unit": name}
    table = {
        "name": name,
        "title": name,
        "columns": [
            {"key": "x", "title": name, "unit": ""},
            {"key": "word", "title": name} | column,
            {"key": "y", "title": name, "unit": "MB/s"},
        ],
        "rows": [{"x": x, "word": name, "y": 2.0 * x} for x in (1, 2)],
    }
    chart = {"table": name, "title": name, "kind": "lines", "x": "x", "y": "y", "by": "word"}
    value = {"name": name, "title": name, "value": 2.0, "unit": name, "better": "higher"}
    tests = [
        record
        for place, drive in enumerate((name, OTHER))
        for record in (
            documents.stream(drive, rate=20.0 * (1 + place), title=name, group=name),
            documents.compound(
                drive,
                test_id=name,
                title=name,
                group=name,
                values=[value | {"value": 2.0 + place}],
                tables=[table],
                charts=[chart | {"log_x": False, "log_y": False}],
                deviations=[name],
                notes=[name],
            ),
        )
    ]
    models = [
        documents.model(drive, title=name, family=name, controller_name=name, hash=letter * 64)
        for drive, letter in ((name, "a"), (OTHER, "b"))
    ]
    models[0]["parameters"] = [models[0]["parameters"][1] | {"value": name, "source": name}]
    return documents.review(*tests, models=models, seed=seed, command_line=f"drivelab {name}")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a database that is called so, too; the folder that it copies it to isn't."""
    folder = tmp_path_factory.mktemp("hostile-names")
    file = folder / f"{NAMES[0]}.duckdb"
    for seed, name in enumerate(NAMES, 1):
        database.append(file, database.Recorded.review(measured(name, seed)))
    with serving(folder, file) as found:
        for run, name in enumerate(NAMES, 1):
            tags = json.dumps([name[:40].strip()]) if name.isprintable() else "[]"
            answer = wire.ask(found, f"/api/history/{run}/tags", "POST", tags.encode())
            assert answer.status == 200, answer.body
        yield found


def check(page: Page) -> None:
    """No name became an element or an attribute, nor did one run."""
    expect(page.locator(OWNED)).to_have_count(0)
    assert page.title() != "owned"
    expect(page.locator("main script")).to_have_count(0)


@pytest.mark.parametrize("run", range(1, len(NAMES) + 1))
def test_a_comparison_and_a_report_show_names_as_text(
    hostile: Server, page: Page, run: int
) -> None:
    name = NAMES[run - 1]
    page.goto(hostile.at(f"/compare?drive={quote(name, safe='')}&drive={OTHER}~{run}"))
    expect(page.locator(".chip").first).to_contain_text(name)
    headings = page.locator("article.test h4")
    expect(headings.first).to_be_visible()
    assert headings.all_text_contents() == [name, name]
    assert page.locator("#many h3").first.text_content() == f"{name} new"
    picture = page.locator("#many img").first
    picture.scroll_into_view_if_needed()
    # A picture that a name had broken would have no size.
    page.wait_for_function("() => document.querySelector('#many img')?.naturalWidth > 0")
    check(page)
    opened = wire.ask(hostile, f"/api/history/{run}/report", "POST")
    page.goto(hostile.origin + opened.json["address"])
    expect(page.locator("body")).to_contain_text(name)
    check(page)


def test_lists_of_drives_and_of_runs_show_names_as_text(hostile: Server, page: Page) -> None:
    page.goto(hostile.at("/compare"))
    expect(page.locator("table.drives")).to_contain_text(NAMES[-1])
    check(page)
    page.goto(hostile.at("/history"))
    expect(page.locator("tr[data-run]")).to_have_count(len(NAMES))
    for name in NAMES:
        expect(page.locator("main")).to_contain_text(name)
    check(page)


@pytest.mark.parametrize("address", ["/traces?trace=", "/design?drive=", "/watch?model="])
def test_what_an_address_names_is_text(
    hostile: Server, page: Page, noted: Noted, address: str
) -> None:
    """Views of which none has anything of this name."""
    for name in FEW:
        page.goto(hostile.at(address + quote(name, safe="")))
        expect(page.locator("main h1, main [role=alert]").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        check(page)
    # That it was refused is told there, too; a page's own errors stay.
    noted.errors[:] = [text for text in noted.errors if "the server responded with" not in text]


def test_what_is_said_of_a_file_that_is_sent_is_text(
    hostile: Server, page: Page, noted: Noted, tmp_path: Path
) -> None:
    page.goto(hostile.at("/traces"))
    for name in FEW:
        file = tmp_path / f"{name.replace('/', '')}.csv"
        file.write_text(f"{name}\n")
        # What was said of the file before is gone once this one was answered.
        with page.expect_response(lambda found: found.request.method == "POST"):
            page.get_by_label("A trace of your own").set_input_files(file)
        # The page sends it by a name of plain letters, and tells what is wrong with its first line.
        expect(page.get_by_role("alert")).to_contain_text(".csv")
        check(page)
    noted.errors[:] = [text for text in noted.errors if "the server responded with" not in text]
