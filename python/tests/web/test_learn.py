"""The view Learn in a browser: every lesson to its end, by mouse and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from web.conftest import Noted, Server, Standing, fits, serious

from drivelab import lessons


@pytest.mark.parametrize("name", lessons.NAMES)
def test_every_lesson_is_stepped_to_its_end(standing: Standing, page: Page, name: str) -> None:
    page.goto(standing.server.at("/learn"))
    record = lessons.record(name)
    page.get_by_role("link", name=record["title"]).click()
    expect(page.get_by_role("heading", name=record["title"])).to_be_visible()
    first = record["variants"][",".join(knob["choices"][0][0] for knob in record["knobs"])]
    following = page.get_by_role("button", name="Next")
    for step in first[1:]:
        following.click()
        expect(page.locator(".say")).to_contain_text(step["say"])
    expect(following).to_be_disabled()
    expect(page.locator(".ending")).to_contain_text(record["closing"])
    for number, prediction in enumerate(record["predictions"]):
        box = page.locator(".prediction").nth(number)
        wrong = (prediction["answer"] + 1) % len(prediction["choices"])
        box.get_by_role("radio").nth(wrong).check()
        expect(box.locator(".verdict")).to_contain_text("Not so.")
        box.get_by_role("radio").nth(prediction["answer"]).check()
        expect(box.locator(".verdict")).to_contain_text("Right.")
    page.get_by_role("button", name="See it happen").first.click()
    expect(page.locator(".steps .soft")).to_contain_text("step 1 of")


def test_the_worked_example_reaches_26_s_by_keyboard_alone(standing: Standing, page: Page) -> None:
    page.goto(standing.server.at("/learn/five-pages"))
    stage = page.get_by_role("group", name="The drive.")
    stage.focus()
    expect(stage).to_be_focused()
    clock = page.locator(".clock")
    told = {10 + at: f"{seconds} s" for at, seconds in enumerate((4, 6, 6, 10, 14, 18, 22, 26))}
    for step in range(2, 18):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".steps .soft")).to_contain_text(f"step {step} of")
        if step in told:
            expect(clock).to_have_text(told[step])
    page.keyboard.press("Home")
    expect(page.locator(".say")).to_contain_text("A drive of one block")


def test_the_newest_address_counts_of_those_before_a_lesson_is_there(
    standing: Standing, page: Page
) -> None:
    held: list[Route] = []
    page.route("**/api/lessons/five-pages", lambda route: held.append(route))
    with page.expect_request("**/api/lessons/five-pages"):
        page.goto(standing.server.at("/learn/five-pages?step=5"))
    page.evaluate(
        "history.pushState(null, '', '/learn/five-pages?step=3');"
        "dispatchEvent(new PopStateEvent('popstate'))"
    )
    for route in held:
        route.continue_()
    expect(page.locator(".steps .soft")).to_contain_text("step 4 of")
    expect(page).to_have_url(re.compile(r"step=3$"))


def test_a_reload_comes_back_to_the_step_and_the_choice(standing: Standing, page: Page) -> None:
    page.goto(standing.server.at("/learn/five-pages"))
    page.get_by_label("The drive", exact=True).select_option("trim")
    for step in range(2, 8):
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".steps .soft")).to_contain_text(f"step {step} of")
    expect(page).to_have_url(re.compile("step=6"))
    said = page.locator(".say")
    expect(said).to_contain_text("TRIM")
    told = said.inner_text()
    page.reload()
    expect(page.locator(".steps .soft")).to_contain_text("step 7 of")
    expect(page.locator(".say")).to_have_text(told)
    expect(page.get_by_label("The drive", exact=True)).to_have_value("trim")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 2560])
def test_lessons_fit_windows_of_every_width(
    standing: Standing, page: Page, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for name in ("five-pages", "superblock-merge"):
        page.goto(standing.server.at(f"/learn/{name}?step=9"))
        expect(page.locator(".steps .soft")).to_contain_text("step 10 of")
        fits(page, width)


def test_a_lesson_that_is_not_there_is_named(standing: Standing, page: Page, noted: Noted) -> None:
    page.goto(standing.server.at("/learn/nothing"))
    expect(page.locator("main")).to_contain_text('lesson "nothing" is unknown')
    noted.errors.clear()  # the browser notes the status 400


def test_a_lesson_is_saved_as_a_file_that_works_alone(
    server: Server, page: Page, tmp_path: Path, noted: Noted
) -> None:
    page.goto(server.at("/learn/five-pages"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    file = tmp_path / "lesson.html"
    download.value.save_as(file)
    server.stop()
    page.goto("about:blank")
    page.goto(file.as_uri())
    page.get_by_role("group", name="The drive.").press("End")
    expect(page.locator(".clock")).to_have_text("26 s")
    expect(page.locator(".ending")).to_contain_text("To take home")
    assert noted.away == [file.as_uri()], "it asks for nothing but itself"
    noted.away.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(standing: Standing, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for path in ("/learn", "/learn/five-pages?step=99", "/learn/trim?step=14"):
        page.goto(standing.server.at(path))
        expect(page.locator(".say, .lessons").first).to_be_visible()
        assert serious(page) == []
