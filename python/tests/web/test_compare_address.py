"""What an address of Compare names: drives, kinds, tests and states, and what it does of others."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from web import wire
from web.conftest import Noted, Server
from web.test_compare import A, B, address, opened

from drivelab import procedures
from drivelab.comparison.selection import Selection
from drivelab.errors import RequestError
from drivelab.web.choice import Choice


def test_states_and_groups_of_tests_are_left_out_by_the_address(
    standing_lab: Server, page: Page
) -> None:
    opened(page, standing_lab, address(A, B))
    cards, tests = page.locator("article.test"), page.get_by_label("Tests")
    expect(cards.filter(has_text="used").first).to_be_visible()
    both = cards.count()
    page.get_by_role("button", name="used", exact=True).click()
    expect(page).to_have_url(re.compile("state=new"))
    # There are as many of each state.
    expect(cards).to_have_count(both // 2)
    expect(page.locator(".state", has_text="used")).to_have_count(0)
    tests.select_option("power")
    expect(page).to_have_url(re.compile("test=power"))
    refused = (
        "no results of test power in state new; there are some of group four-corners in states"
    )
    expect(page.get_by_role("alert")).to_contain_text(refused)
    # Nothing that force could compare.
    expect(page.get_by_role("button", name="Compare all the same")).to_have_count(0)


def test_an_address_names_a_group_as_the_command_line_does_or_in_words(
    standing_lab: Server, page: Page
) -> None:
    for text in ("four-corners", "four+corners"):
        opened(page, standing_lab, address(A, B, more=f"&test={text}"))
        expect(page.locator("article.test").first).to_be_visible()
        expect(page.get_by_label("Tests")).to_have_value("four-corners")


@pytest.mark.parametrize("group", procedures.GROUPS)
def test_every_group_is_known(standing_lab: Server, group: str) -> None:
    query = f"/api{address(A, B)}&test={procedures.group_name(group)}"
    found = wire.ask(standing_lab, query).json
    held = group == "four corners"
    assert (found["comparison"] is not None, found["refusal"] is None) == (held, held)


UNKNOWN = {
    "test=four-corner": ('test "four-corner"', '"four-corners"', "resiliency"),
    "test=random-write-4k-qd32-alinged": ("test ", '"random-write-4k-qd32-aligned"'),
    "test=": ('test ""', "snia-pts"),
    "test=four-corners&test=x": ('test "x"', "Allowed"),
    "state=usde": ('state "usde"', '"used"', "tortured-trimmed-twice"),
    "state=": ('state ""', "new"),
    "drive=intel-x25-m-g1-80bg": ('drive "intel-x25-m-g1-80bg"', f'"{A}"'),
    f"drive={A}~7": (f'drive "{A}~7"', f"{A}~RUN", ": 1."),
    f"drive={A}~": (f'drive "{A}~"', ": 1."),
    f"drive={A}~{'1' * 60}": ("drive", ": 1."),
    "kind=quick": ('kind "quick"', '"quick-64"', "drives of 1/64"),
    "kind=": ('kind ""', "unabridged"),
    "kind=quik": ('kind "quik" is unknown', '"quick-64"', "unabridged"),
    f"drive={A}": (f'drive "{A}": is there twice', "each drive once"),
    "states=used": ('part of the address "states"', '"state"', "drive, kind, test, state, force"),
    "force=yes": ('force "yes"', "Allowed: 1"),
}


@pytest.mark.parametrize("more", UNKNOWN, ids=range(len(UNKNOWN)))
def test_what_nobody_knows_is_refused_by_key_value_and_nearest_names(
    standing_lab: Server, more: str
) -> None:
    for path in ("", "/plots", "/export.csv"):
        found = wire.ask(standing_lab, f"/api/compare{path}?drive={A}&drive={B}&{more}")
        assert found.status == 400
        assert [words for words in UNKNOWN[more] if words not in found.json["error"]] == []


def test_a_chart_is_named_beside_the_comparison(standing_lab: Server) -> None:
    query = f"/api/compare/chart.svg?drive={A}&drive={B}&id=0-0&theme=dark"
    assert "there is none of this number" in wire.ask(standing_lab, query).json["error"]


@pytest.mark.parametrize(
    ("key", "value", "near"),
    [
        ("test", "four-cornesr", "four-corners"),
        ("state", "usde", "used"),
        ("kind", "quik-64", "quick-64"),
    ],
    ids=["test", "state", "kind"],
)
def test_a_page_of_an_unknown_name_says_it_and_leads_back(
    standing_lab: Server, page: Page, noted: Noted, key: str, value: str, near: str
) -> None:
    opened(page, standing_lab, address(A, B, more=f"&{key}={quote(value)}"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(f'{key} "{value}" is unknown; did you mean "{near}"?')
    if key == "test":
        expect(page.get_by_label("Tests").locator("option:checked")).to_have_text(value)
    page.get_by_role("button", name=f"Leave out {key}={value}").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page).to_have_url(standing_lab.origin + address(A, B))
    noted.errors.clear()


def test_a_drive_that_nobody_knows_is_taken_away(
    standing_lab: Server, page: Page, noted: Noted
) -> None:
    opened(page, standing_lab, address(A, B, "ocz-vertx-120gb"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text('drive "ocz-vertx-120gb" is unknown; did you mean')
    page.get_by_role("button", name="Remove ocz-vertx-120gb").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    noted.errors.clear()


def test_the_address_is_copied_and_that_is_seen(standing_lab: Server, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, standing_lab, address(A, B))
    button = page.get_by_role("button", name="Copy address")
    button.click()
    expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    expect(button).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_jobs_and_tests_of_ones_own_are_known_where_there_are_results() -> None:
    records = [
        {"id": "run randwrite write", "group": "run", "state": "used"},
        {"id": "mine", "group": "of my own", "state": "thawed"},
    ]

    def check(test: str, state: str) -> Selection:
        selection = Selection((procedures.group_name(test),), (state,))
        choice = Choice((), None, selection, forced=False)
        choice.check_tests(lambda: records)
        choice.check_states(str(record["state"]) for record in records)
        return selection

    for name in ("run", "run randwrite write", "run-randwrite-write"):
        found = check(name, "used")
        assert found.takes("run randwrite write", "run", "used")
        assert not found.takes("run randread read", "other", "used")
        assert not found.takes("run randwrite write", "run", "new")
    for name in ("mine", "of my own", "of-my-own", "all"):
        assert check(name, "thawed").takes("mine", "of my own", "thawed")
    with pytest.raises(RequestError, match='test "run-randread-read" is unknown'):
        check("run randread read", "used")
    with pytest.raises(RequestError, match='state "froze" is unknown'):
        check("mine", "froze")
