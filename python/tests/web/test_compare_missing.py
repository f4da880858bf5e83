"""What compared drives lack, and how it is measured from the view Compare."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from web import laboratory, wire
from web.conftest import Noted, Server
from web.test_compare import FRESH, A, B, address, opened

from drivelab import _engine, model
from drivelab.web import lacking
from drivelab.web.library import Holding, Kind, Library
from drivelab.web.work import SEVERAL_MAX

BAR_SEEN = """() => new MutationObserver(() => {
  const bar = document.querySelector(".jobs li progress");
  document.barSeen ||= Boolean(bar?.checkVisibility() && !bar.closest("[hidden]"));
}).observe(document, { subtree: true, childList: true, attributes: true })"""


def test_what_is_missing_is_measured_from_here(lab: Server, page: Page) -> None:
    opened(page, lab, address(A, FRESH))
    expect(page.get_by_role("heading", name="Some results are missing")).to_be_visible()
    # The bar is there for a moment; who looks now and then may miss it.
    page.evaluate(BAR_SEEN)
    page.get_by_role("button", name="Measure in the same way").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    assert page.evaluate("document.barSeen"), "nothing told how far it was"
    expect(page.locator(".jobs li")).to_have_count(0)
    expect(page.locator(".chip").nth(1)).to_contain_text("Intel X25-V 40 GB")


def test_of_new_drives_is_measured_what_the_address_asks_for(lab: Server, page: Page) -> None:
    """Another choice of tests, or drives of another size, would show nothing of it."""
    other = "ocz-agility-120gb"
    more = "&test=power-idle&state=new&kind=quick-64"
    opened(page, lab, address(FRESH, other, more=more))
    expect(page.get_by_role("heading", name="No results yet")).to_be_visible()
    expect(page.locator(".missing")).to_contain_text("What is measured: what is chosen above.")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    found = wire.ask(lab, f"/api{address(FRESH, other, more=more)}").json
    assert found["kind"] == "quick-64"
    assert {(test["id"], test["state"]) for test in found["comparison"]["tests"]} == {
        ("power-idle", "new")
    }


@pytest.mark.parametrize(
    ("kind", "words"), [("", ["Measure quickly", "Measure in full"]), ("&kind=unabridged", [])]
)
def test_of_new_drives_a_kind_that_no_page_starts_has_its_command(
    lab: Server, kind: str, words: list[str]
) -> None:
    path = f"/api{address(FRESH, 'ocz-agility-120gb', more=kind)}"
    found = wire.ask(lab, path).json
    assert [item["words"] for item in found["first"]] == words
    assert found["option"] == ("--unabridged" if kind else "")


def test_what_only_another_drive_has_is_measured_from_here(
    lab: Server, page: Page, tmp_path: Path
) -> None:
    """A drive with results of its own lacks two tests, each in a state of its own."""
    file = tmp_path / "lab.duckdb"
    laboratory.record(file, [A], ["power-idle"], states=["new"])
    laboratory.record(file, [A], ["access-time"], states=["used"])
    missing = page.locator(".missing")
    opened(page, lab, address(A, B, more="&test=power"))
    expect(missing).to_contain_text("OCZ Vertex 120 GB lacks Power, idle (new). ")
    opened(page, lab, address(A, B))
    expect(missing).to_contain_text("OCZ Vertex 120 GB lacks Power, idle (new); Access time")
    with page.expect_response("**/api/jobs/together") as queued:
        missing.get_by_role("button", name="Measure in the same way").click()
    orders = [job["order"] for job in queued.value.json()]
    assert [(order["models"], order["tests"], order["states"]) for order in orders] == [
        ([B], ["power-idle"], ["new"]),
        ([B], ["access-time"], ["used"]),
    ]
    expect(missing).to_have_count(0)
    expect(page.get_by_role("heading", name="Power, idle", exact=True)).to_be_visible()
    found = {item.model: item.runs for item in Library(file).holdings()}
    assert found[B] == (1, 4, 5), "they don't go together with what was there"


def test_what_waits_already_is_not_ordered_again(lab: Server, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "lab.duckdb"
    laboratory.record(file, [A], ["power-idle"], states=["new"])
    found = wire.ask(lab, "/api/compare?" + address(A, B).partition("?")[2]).json
    [order] = found["lacking"][0]["orders"]
    # As if it were at work when the page opens.
    job = {"id": 5, "title": B, "command_line": "", "share": 0.5, "doing": [], "left_s": None}
    job |= {"run": None, "runs": [], "error": "", "state": "running", "order": order}
    page.route_web_socket("**/socket/jobs", lambda line: line.send(json.dumps([job])))
    opened(page, lab, address(A, B))
    expect(page.locator(".jobs li")).to_have_count(1)
    page.get_by_role("button", name="Measure in the same way").click()
    expect(page.get_by_role("status")).to_have_text("All of it is waiting to be measured")
    assert wire.ask(lab, "/api/jobs").json == []


def test_more_than_are_queued_together_are_left_to_another_click(
    lab: Server, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "lab.duckdb"
    laboratory.record(file, [A], ["power-idle"], states=["new"])
    laboratory.record(file, [A], ["access-time"], states=["used"])
    asked: list[str] = []

    def fewer(route: Route) -> None:
        found = route.fetch()
        assert found.json()["together"] == SEVERAL_MAX
        route.fulfill(response=found, json=found.json() | {"together": 1})

    def queued(route: Route) -> None:
        order = route.request.post_data_json
        asked.extend(order["tests"])
        route.fulfill(json={"id": len(asked), "title": order["tests"][0], "order": order})

    page.route("**/api/compare?*", fewer)
    page.route("**/api/jobs", queued)
    opened(page, lab, address(A, B))
    button = page.get_by_role("button", name="Measure in the same way")
    status = page.get_by_role("status")
    button.click()
    expect(status).to_have_text("Queued: 1 of 2 measurements; the same button queues more")
    expect(button).to_be_enabled()
    button.click()
    expect(status).to_have_text("Queued: access-time")
    expect(button).to_be_disabled()
    assert asked == ["power-idle", "access-time"]


def held(name: str, *tests: tuple[str, str], **changed: object) -> Holding:
    """Quick results of a drive at full size."""
    known = model.load(name)
    found = Holding(
        model=name,
        title=known.title,
        hash=known.hash,
        kind=Kind("quick", 1, None),
        seed=7,
        engine=_engine.engine_version(),
        runs=(1,),
        changed=False,
        tests=tests,
    )
    return replace(found, **changed)  # type: ignore[arg-type]


def lacked(*items: Holding) -> list[list[tuple[list[str], list[str]]]]:
    """By drive, tests and states of its orders."""
    found = lacking.of(items, lambda test, state: True)
    return [[(order["tests"], order["states"]) for order in orders] for orders in found]


def test_a_drive_lacks_what_it_can_have_and_no_more() -> None:
    both = [(test, state) for test in ("access-time", "alignment") for state in ("new", "used")]
    more = [*both, ("power-idle", "used-trimmed"), ("job", "used"), ("pts-iops", "new")]
    everything, whole = held("crucial-m4-256gb", *more), (["access-time", "alignment"],)
    flash, disk = held(A, ("pts-iops", "new")), held(laboratory.DISK)
    assert lacked(everything, flash, disk) == [
        [],
        [(*whole, ["new", "used"])],  # It ignores TRIM, and a job is no test.
        [(["access-time", "pts-iops"], ["new"])],  # No test of flash, no state but new.
    ]
    assert model.load(A).takes_trim is False
    trimmed = held("crucial-m4-256gb", *both, ("pts-iops", "new"))
    [_, [order]] = lacking.of([everything, trimmed], lambda test, state: True)
    assert order == {
        "models": ["crucial-m4-256gb"],
        "tests": ["power-idle"],
        "states": ["used-trimmed"],
        "settings": [],
        "quick": True,
        "seed": 7,
        "scale": 1,
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"hash": "of other parameters"},
        {"engine": "0.0.1"},
        {"alone": True},
        {"kind": Kind("unabridged", 1, None)},
        {"kind": Kind("quick", 1, 2**30)},
        {"kind": Kind("quick", 10**6, None)},
        {"model": "mine"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_would_not_join_a_drives_results_is_not_offered(changed: dict[str, object]) -> None:
    one, other = held(A, ("power-idle", "new")), held(B)
    assert lacked(one, other)[1] == [(["power-idle"], ["new"])]
    assert lacked(one, replace(other, **changed)) == [[], []]  # type: ignore[arg-type]


def test_tests_that_failed_in_a_review_that_is_done_are_told_until_somebody_has_read_it(
    standing_lab: Server, page: Page
) -> None:
    job = {"id": 5, "title": FRESH, "command_line": "drivelab review", "share": 0.5, "doing": []}
    job |= {"left_s": None, "run": None, "runs": [], "error": "", "state": "running"}
    done = job | {"state": "done", "error": f"{FRESH}: failed in new: no meter"}
    # Both in one breath: the page has seen it at work, and then that it is done.
    page.route_web_socket(
        "**/socket/jobs",
        lambda line: [line.send(json.dumps(jobs)) for jobs in ([], [job], [done])],
    )
    opened(page, standing_lab, address(A, B))
    row = page.locator(".jobs li")
    expect(row).to_contain_text("done; without a result: " + done["error"])
    row.get_by_role("button", name="Dismiss").click()
    expect(row).to_have_count(0)


def test_measurements_wait_for_each_other_and_are_cancelled(lab: Server, page: Page) -> None:
    opened(page, lab, address(A, FRESH))
    for name in (FRESH, "ocz-agility-120gb", "ocz-core-v2-64gb"):
        order = {"models": [name], "quick": False, "scale": 1}
        page.evaluate("order => import('/static/jobs.js').then(jobs => jobs.measure(order))", order)
    rows = page.locator(".jobs li")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_have_attribute("data-state", "running")
    expect(rows.nth(1)).to_have_attribute("data-state", "waiting")
    rows.nth(1).get_by_role("button").click()
    expect(rows).to_have_count(2)
    # Reloaded in the middle, the page finds them again.
    page.reload()
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_have_attribute("data-state", "running")
    rows.nth(0).get_by_role("button").click()
    expect(rows).to_have_count(1)
    expect(rows.nth(0)).to_have_attribute("data-state", "running")
    expect(rows.nth(0).locator(".how")).to_have_text(re.compile(r"\d+ %"))
    rows.nth(0).get_by_role("button").click()
    expect(rows).to_have_count(0)


def test_runs_with_a_span_are_of_a_kind_of_their_own(measured: Path, tmp_path: Path) -> None:
    """A test that was missing joins others of the drive, but not with the first bytes alone."""
    file = tmp_path / "lab.duckdb"
    file.write_bytes(measured.read_bytes())
    for span_bytes in (2**28, 2**29):
        laboratory.record(file, [A], ["power-idle"], states=["new"], span_bytes=span_bytes)
    found = {item.kind.id: item.runs for item in Library(file).holdings() if item.model == A}
    assert found == {
        "quick-64": (1,),
        f"quick-64-first-{2**28}": (2,),
        f"quick-64-first-{2**29}": (3,),
    }
    [kind] = {item.kind for item in Library(file).holdings() if item.runs == (2,)}
    assert kind.title.endswith("on the first 256\u00a0MiB")
    assert kind.option == f"--span {2**28}"


def test_what_was_measured_before_is_no_news(lab: Server, page: Page) -> None:
    """The list of jobs is told at once to a view that opens; later jobs change what there is."""
    opened(page, lab, address(A, FRESH))
    page.get_by_role("button", name="Measure in the same way").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Compare")
    other = "ocz-agility-120gb"
    page.evaluate("address => { history.pushState(null, '', address) }", address(A, other))
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    page.get_by_role("button", name="Measure in the same way").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()


def test_a_refused_order_is_told_and_may_be_repeated(lab: Server, page: Page, noted: Noted) -> None:
    opened(page, lab, address(A, FRESH))
    page.route("**/api/jobs", lambda route: route.fulfill(status=429, json={"error": "full"}))
    button = page.get_by_role("button", name="Measure in the same way")
    button.click()
    expect(page.locator("#notice")).to_have_text("full")
    expect(button).to_be_enabled()
    noted.errors.clear()
