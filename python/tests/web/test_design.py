"""Design, as its readers use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from web import wire
from web.conftest import Server, serious
from web.test_compare import opened

from drivelab import model

NAME = "intel-x25-v-40gb"


def test_a_variation_is_measured_beside_its_original(server: Server, page: Page) -> None:
    opened(page, server, f"/design?drive={NAME}")
    page.get_by_label(re.compile("^cleaning_stop_blocks")).fill("4")
    page.keyboard.press("Tab")
    expect(page.locator(".changes")).to_contain_text("3 → 4")
    expect(page).to_have_url(re.compile("set=ftl.cleaning_stop_blocks%3D4"))
    # Both are one order, which a page that is loaded anew in the same moment doesn't take back.
    with page.expect_request("**/api/jobs/together"):
        page.get_by_role("button", name="Measure beside the original").click()
    page.reload()
    page.get_by_role("link", name="Compare with the original").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.locator(".specifications")).to_contain_text("ftl.cleaning_stop_blocks")
    # What the name alone means is the original.
    held = wire.ask(server, f"/api/compare?drive={NAME}").json["held"]
    assert held[0]["runs"] == [1]


def test_the_variation_is_saved_as_a_model(server: Server, page: Page, tmp_path: Path) -> None:
    opened(page, server, f"/design?drive={NAME}&set=ftl.cleaning_stop_blocks%3D4")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as TOML").click()
    file = tmp_path / "mine.toml"
    download.value.save_as(file)
    saved = values(model.load(str(file)))
    wanted = values(model.load(NAME, [("ftl.cleaning_stop_blocks", "4")]))
    assert saved["ftl.cleaning_stop_blocks"] == 4
    # The file stands for itself: it names no part and no base.
    assert saved == {key: value for key, value in wanted.items() if key in saved}
    assert wanted.keys() - saved.keys() <= {"base", "flash.part"}


def values(found: model.Model) -> dict[str, object]:
    return {item["key"]: item["value"] for item in found.parameters}


def test_a_value_that_can_not_be_says_why(server: Server, page: Page, noted: object) -> None:
    opened(page, server, f"/design?drive={NAME}")
    field = page.get_by_label(re.compile("^channel_count"))
    field.fill("0")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert").filter(has_text="channel_count")).to_contain_text(
        "from 1 to 1024"
    )
    noted.errors.clear()  # type: ignore[attr-defined]


def test_parameters_are_found_by_their_meaning(server: Server, page: Page) -> None:
    opened(page, server, f"/design?drive={NAME}")
    rows = page.locator(".parameter")
    expect(rows.first).to_be_visible()
    page.get_by_role("searchbox").fill("victim")
    expect(page.get_by_label(re.compile("^channel_count"))).to_be_hidden()
    assert 0 < rows.locator("visible=true").count() < 6
    page.get_by_role("searchbox").fill("")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert serious(page) == []
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


HOSTILE = (
    "drive=",
    "drive=../../x",
    "drive=/etc/passwd",
    f"drive={NAME}&set=base=x.toml/y",
    f"drive={NAME}&set=flash.part=../x",
    f"drive={NAME}&set=members=/etc/passwd",
    f"drive={NAME}&set=title=%3Cscript%3E",
    f"drive={NAME}&set=spare_ratio",
    f"drive={NAME}" + "&set=spare_ratio=0.1" * 33,
    f"drive={NAME}&set=flash.channel_count=%00",
    f"drive={NAME}&set=flash.channel_count=nan",
)


@pytest.mark.parametrize("place", ["/api/design", "/api/design/model.toml"])
def test_addresses_of_design_are_checked(server: Server, place: str) -> None:
    answers = [wire.ask(server, f"{place}?{words}") for words in HOSTILE]
    assert {answer.status for answer in answers} == {400}
    assert wire.ask(server, f"{place}?drive={NAME}").status == 200
