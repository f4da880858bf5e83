"""The page Design: values and addresses that can't be are told where they were given."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from web.conftest import Noted, Standing, serious
from web.test_compare import opened
from web.test_design import NAME


def test_a_value_that_can_not_be_says_why(standing: Standing, page: Page, noted: Noted) -> None:
    opened(page, standing.server, f"/design?drive={NAME}")
    field = page.get_by_label(re.compile("^channel_count"))
    field.fill("0")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert").filter(has_text="channel_count")).to_contain_text(
        "from 1 to 1024"
    )
    # Who hears the page or looks at the field is told there, too, and of no other field.
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile("from 1 to 1024"))
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    assert serious(page) == []
    # A page that is opened with such a value has its field to mend it.
    page.reload()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("0")
    field.fill("5")
    page.keyboard.press("Tab")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(field).not_to_have_accessible_description(re.compile("must be"))
    expect(page.get_by_role("alert").filter(has_text="channel_count")).to_have_count(0)
    noted.errors.clear()


def test_a_value_with_a_wrong_unit_is_told_what_is_allowed(
    standing: Standing, page: Page, noted: Noted
) -> None:
    opened(page, standing.server, f"/design?drive={NAME}")
    field = page.get_by_label(re.compile("^spare_ratio"))
    field.fill("28%")
    page.keyboard.press("Tab")
    expect(field).to_have_accessible_description(re.compile("must be a number from 0 to 3"))
    noted.errors.clear()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sett=flash.read_ns=3", '"sett" is unknown in the address'),
        ("scale=63", 'scale "63" of the address: not one of 1, 16, 64'),
    ],
)
def test_what_an_address_has_that_the_page_lacks_is_said(
    standing: Standing, page: Page, words: str, said: str
) -> None:
    opened(page, standing.server, f"/design?drive={NAME}&{words}")
    expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    expect(page.get_by_label("Size of the measured drives")).to_have_value("64")


def test_a_refusal_that_names_another_value_is_said_where_it_came_from(
    standing: Standing, page: Page, noted: Noted
) -> None:
    opened(page, standing.server, f"/design?drive={NAME}&set=ftl.cleaning_stop_blocks%3D4")
    field = page.get_by_label(re.compile("^blocks_per_plane"))
    field.fill("2")
    page.keyboard.press("Tab")
    expect(field).to_have_accessible_description(re.compile("at most the raw capacity"))
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    noted.errors.clear()


def test_a_change_without_a_value_is_said_and_left_out(standing: Standing, page: Page) -> None:
    opened(page, standing.server, f"/design?drive={NAME}&set=user_capacity_bytes")
    expect(page.get_by_role("alert").filter(has_text="KEY=VALUE")).to_be_visible()
    expect(page.locator(".summary")).to_contain_text("Nothing is changed yet.")


def test_a_value_in_other_words_is_no_change(standing: Standing, page: Page) -> None:
    opened(page, standing.server, "/design?drive=crucial-p1-1tb&set=flash.page_bytes%3D16k")
    expect(page.locator(".summary")).to_contain_text("Nothing is changed yet.")
    expect(page).not_to_have_url(re.compile("set="))
    # And what a small version says of itself stands beside what is measured on it.
    expect(page.locator(".summary")).to_contain_text("at this scale: ")
