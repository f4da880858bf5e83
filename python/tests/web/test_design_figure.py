"""A published figure in the view Design, and what becomes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Page, expect
from web import wire
from web.conftest import Server, Standing, fits, serious
from web.test_compare import opened

NAME, FIGURE = "intel-x25-m-g1-80gb", "AN-149"
ORDER = {"kind": "figure", "model": NAME, "figure": FIGURE, "scale": 64, "quick": True}


def test_a_published_figure_is_chosen_varied_and_saved(
    server: Server, page: Page, tmp_path: Path
) -> None:
    opened(page, server, f"/design?drive={NAME}&part=figure&scale=64")
    page.get_by_label("Published figure", exact=True).select_option(FIGURE)
    # What was published, in which unit, and what a model's value of it says.
    told = page.locator(".published")
    expect(told).to_contain_text("264.1 MiB/s")
    expect(told.locator(".role")).to_have_text("fitted")
    page.get_by_label("Length of the tests").select_option("quick")
    page.get_by_label("specified", exact=True).focus()
    page.keyboard.press("Space")
    start = page.get_by_role("button", name="Vary each parameter by 10 %")
    start.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("study=[0-9a-f]{16}"))
    page.reload()
    first = page.locator(".effects li").first
    expect(first).to_contain_text("link.frame_overhead_ns")
    expect(first).to_contain_text("fitted")
    expect(first.locator(".less")).to_contain_text(re.compile(r"26\d\sMiB/s, \+"))
    expect(first.locator(".more")).to_contain_text(re.compile(r"26\d\sMiB/s, −"))
    expect(page.locator(".found")).to_contain_text(f'"{FIGURE}"')
    note = page.locator(".found .note").first
    expect(note).to_contain_text("1/64 of the size, of which nothing was published")
    expect(page.get_by_label("specified", exact=True)).not_to_be_checked()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == f"{NAME}-{FIGURE}.csv"
    download.value.save_as(tmp_path / "rows.csv")
    rows = pl.read_csv(tmp_path / "rows.csv")
    assert rows["key"][0] == "link.frame_overhead_ns"
    assert "specified" not in rows["role"].to_list()
    assert rows["less_modelled"][0] > rows["modelled"][0] > rows["more_modelled"][0]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert serious(page) == []
    page.set_viewport_size({"width": 360, "height": 900})
    fits(page, 360)


def test_looking_at_figures_leaves_the_size_of_other_measurements(
    standing: Standing, page: Page
) -> None:
    opened(page, standing.server, "/design?drive=intel-x25-m-g1-80gb&scale=16")
    size = page.get_by_label("Size of the measured drives")
    page.get_by_role("button", name="A published figure").click()
    expect(size).to_have_value("1")
    page.get_by_role("button", name="Parameters").click()
    expect(size).to_have_value("16")


def test_a_figure_that_is_measured_can_be_cancelled(server: Server, page: Page) -> None:
    opened(page, server, f"/design?drive={NAME}&part=figure")
    # At full size and full length unless something else is asked for.
    expect(page.get_by_label("Size of the measured drives")).to_have_value("1")
    page.get_by_label("Published figure", exact=True).select_option("AN-033")
    page.get_by_role("button", name="Vary each parameter by 10 %").click()
    page.get_by_role("button", name=re.compile("Cancel: .*AN-033")).click()
    expect(page.locator(".study [role=status]").filter(visible=True)).to_have_text("Cancelled.")
    expect(page.locator(".effects")).to_have_count(0)


def test_a_drive_that_nothing_was_published_of_says_so(standing: Standing, page: Page) -> None:
    opened(page, standing.server, "/design?drive=samsung-pm9a3-960gb&part=figure")
    expect(page.get_by_text("No published figure follows from this model.")).to_be_visible()


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"model": "../../x"}, "model"),
    ({"figure": "AN-999"}, "is unknown"),
    ({"figure": "../AN-149"}, "figure"),
    ({"model": "samsung-pm9a3-960gb"}, "no published figure follows"),
    ({"figure": "AN-001", "model": NAME}, "figure"),
    ({"roles": []}, "roles"),
    ({"roles": ["default"]}, "roles"),
    ({"by_percent": 0}, "by_percent"),
    ({"by_percent": 51}, "by_percent"),
    ({"settings": ["base=/etc/passwd"]}, "settings"),
    ({"scale": 0}, "scale"),
)


@pytest.mark.parametrize(("wrong", "reason"), WRONG, ids=range(len(WRONG)))
def test_an_order_names_a_figure_that_follows_from_its_model(
    standing: Standing, wrong: dict[str, Any], reason: str
) -> None:
    answer = wire.ask(standing.server, "/api/jobs", "POST", json.dumps(ORDER | wrong).encode())
    assert answer.status == 400, answer.json
    assert reason in answer.json["error"]


@pytest.mark.parametrize("name", ["", "..", "/etc/passwd", "../../x", "%3Cscript%3E"])
def test_figures_are_those_of_a_model_that_comes_along(standing: Standing, name: str) -> None:
    assert wire.ask(standing.server, f"/api/design/figures?drive={name}").status == 400


@pytest.mark.parametrize("name", ["x", "..", "%2e%2e%2fresults", "0" * 16, "..%2f..%2fx"])
def test_rows_are_those_of_a_study(standing: Standing, name: str) -> None:
    assert wire.ask(standing.server, f"/api/design/studies/{name}/rows.csv").status == 404
