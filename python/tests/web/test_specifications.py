"""Specifications of compared drives: what differs, and what doesn't when it is asked for."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect
from web import laboratory
from web.conftest import Server, serious
from web.test_compare import address, opened

import drivelab as dl

A, B, _ = laboratory.DRIVES


def test_what_is_the_same_opens_with_its_values(
    standing_lab: Server, measured: Path, page: Page
) -> None:
    models = {item["name"]: item for item in dl.read(f"{measured}:1").run.document["models"]}
    one, other = ({p["key"]: p["value"] for p in models[name]["parameters"]} for name in (A, B))
    same = {key for key in one.keys() & other.keys() if one[key] == other[key]}
    opened(page, standing_lab, address(A, B))
    part = page.locator("#specifications")
    summary = part.locator("summary")
    expect(summary).to_have_text(f"{len(same)} parameters that are the same on all sides")
    shared = part.locator("details table")
    expect(shared).to_be_hidden()
    summary.focus()
    page.keyboard.press("Enter")
    expect(shared).to_be_visible()
    expect(shared.locator("tr:not(.group) th[scope=row]")).to_have_count(len(same))
    keys = shared.locator("tr:not(.group) th[scope=row]").all_inner_texts()
    assert set(keys) == same
    assert len(keys) == len(same)
    assert "" not in shared.locator("td").all_inner_texts()
    differ = part.locator("table").first.locator("th[scope=row]").all_inner_texts()
    assert differ
    assert not same & set(differ)
    assert serious(page) == []
