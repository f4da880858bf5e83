"""The view Watch in a browser: a drive at full size, its controls, and who can't see or point."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from web.conftest import SETTLED, Server, Standing, serious

SMALL = "/watch?model=intel-x25-m-g2-80gb&divisor=64&state=filled"
FULL_BLOCKS = 163_840
"""Of the X25-M at full size."""

COLOURS = """() => {
  const map = document.querySelector("canvas.map");
  const copy = new OffscreenCanvas(map.width, map.height);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(map, 0, 0);
  const { data } = context.getImageData(0, 0, map.width, map.height);
  return new Set(new Uint32Array(data.buffer)).size;
}"""
CLOCK = """() => {
  const said = document.querySelector(".now b")?.textContent ?? "";
  const part = (unit) => Number(said.match(new RegExp("([0-9.]+) " + unit + "( |:|$)"))?.[1] ?? 0);
  const [h, min, s] = ["h", "min", "s"].map(part);
  return 3600 * h + 60 * min + s;
}"""


def opened(server: Server, page: Page, path: str = SMALL) -> Locator:
    """The picture, once it is there."""
    page.goto(server.at(path))
    expect(page.locator(".watch-head .about b")).to_be_visible()
    expect(page.locator(".now b")).to_have_text(re.compile(r"\d"))
    return page.locator("canvas.map")


def goes_on(page: Page, seconds: float = 0) -> None:
    """The drive's clock moves by more than this."""
    now = page.evaluate(CLOCK)
    page.wait_for_function(f"() => ({CLOCK})() > {now + seconds}")


def button(page: Page, name: str) -> Locator:
    return page.locator(".watch-controls").get_by_role("button", name=name, exact=True)


@pytest.mark.slow
def test_a_drive_at_full_size_is_drawn_as_it_works(server: Server, page: Page) -> None:
    opened(server, page, "/watch")
    expect(page.locator(".about")).to_contain_text(
        f"{FULL_BLOCKS:,} blocks on 40 dies, 10 channels"
    )
    page.wait_for_function(f"() => ({COLOURS})() > 3")
    goes_on(page, 20)
    expect(page.locator(".dial").first).to_contain_text(re.compile(r"host\s*\d"))


def test_every_control_does_what_it_says(server: Server, page: Page) -> None:
    opened(server, page)
    goes_on(page)
    button(page, "Pause").click()
    expect(page.locator(".now")).to_contain_text("stands still")
    before = page.evaluate(CLOCK)
    page.get_by_label("Length of a step").select_option("1")
    button(page, "Step").click()
    page.wait_for_function(f"() => Math.abs(({CLOCK})() - {before} - 1) < 0.2")
    button(page, "Play").click()
    goes_on(page, 1)

    page.get_by_label("Workload").select_option("random-reads")
    expect(page.locator(".now")).to_contain_text("only read:")
    page.get_by_label("Workload").select_option("idle")
    expect(page.locator(".now")).to_contain_text("nobody asked")

    free = page.locator(".dial", has_text="Free blocks").locator("b")
    button(page, "Secure erase").click()
    expect(free).to_have_text(re.compile(r"\d,\d{3}"))
    button(page, "Power cut").click(force=True)
    expect(page.locator(".watch-why")).to_contain_text("keeps nothing that a recovery could read")


def test_trim_is_seen_where_the_drive_takes_it(server: Server, page: Page) -> None:
    # Left alone from its first moment: else it writes for as long as the page takes to say so.
    picture = opened(server, page, f"{SMALL}&workload=idle")
    picture.focus()
    for key in ("Home", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator(".told")).to_contain_text(re.compile(r"\b(9\d|100) % valid"))
    button(page, "TRIM").click()
    expect(page.locator(".told")).to_contain_text(re.compile(r"\b0 % valid"))


def test_a_drive_without_trim_says_why(server: Server, page: Page) -> None:
    opened(server, page, "/watch?model=intel-x25-m-g1-80gb&divisor=64")
    button(page, "TRIM").click(force=True)
    expect(page.locator(".watch-why")).to_contain_text("takes no TRIM")


def test_a_reload_comes_back_to_the_same_drive(server: Server, page: Page) -> None:
    opened(server, page)
    goes_on(page, 60)
    before = page.evaluate(CLOCK)
    page.reload()
    expect(page.locator(".now b")).to_have_text(re.compile(r"\d"))
    assert page.evaluate(CLOCK) >= before, "the clock went on: no drive was made anew"
    page.wait_for_function(f"() => ({COLOURS})() > 2")


def test_an_address_of_another_drive_is_obeyed_in_a_tab_that_has_one(
    server: Server, page: Page
) -> None:
    opened(server, page)
    about = page.locator(".about")
    page.goto(server.at("/watch?model=ocz-vertex-120gb&divisor=64"))
    expect(about).to_contain_text("OCZ Vertex 120 GB (1/64)")
    page.goto(server.at("/watch?model=nonsense"))
    expect(page.locator(".watch-news")).to_contain_text("nonsense")
    page.reload()
    expect(page.locator(".watch-news")).to_contain_text("nonsense")
    # Without a wish the tab has the drive of before.
    page.goto(server.at("/watch"))
    expect(about).to_contain_text("OCZ Vertex 120 GB (1/64)")


def test_another_drive_is_chosen_in_the_form_and_kept_in_the_address(
    server: Server, page: Page
) -> None:
    opened(server, page)
    page.get_by_role("button", name="Another drive").click()
    page.locator("select[name=model]").select_option("jmicron-jmf602b-64gb")
    expect(page.get_by_label("Blocks to clean")).to_be_disabled()
    page.locator("select[name=model]").select_option("ocz-vertex-120gb")
    page.get_by_label("Spare area").fill("30")
    page.get_by_label("Blocks to clean").select_option("fifo")
    page.get_by_label("How full").fill("60")
    page.get_by_label("Size").select_option("64")
    page.get_by_role("button", name="Watch this drive").click()
    expect(page.locator(".about")).to_contain_text("OCZ Vertex 120 GB (1/64)")
    expect(page.locator(".about")).to_contain_text("filled to 60 %")
    expect(page).to_have_url(re.compile("victims=fifo"))
    expect(page).to_have_url(re.compile("spare_percent=30"))


def test_blocks_are_told_to_the_keyboard_and_opened(server: Server, page: Page) -> None:
    picture = opened(server, page)
    button(page, "Pause").click()
    picture.focus()
    told = page.locator(".told")
    page.keyboard.press("Home")
    expect(told).to_contain_text("channel 0, die 0, block 0")
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("block 1")
    page.keyboard.press("PageDown")
    expect(told).to_contain_text(re.compile(r"die 1, block 1\b"))
    expect(told).to_contain_text(re.compile(r"\d+ % valid, \d+ % invalid, \d+ % free"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Block 1 of die 1")).to_be_visible()
    expect(page.locator(".pages i").nth(63)).to_be_attached()
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".pages")).to_be_hidden()


def test_pointing_tells_a_block_and_a_click_opens_it(server: Server, page: Page) -> None:
    picture = opened(server, page)
    # Said once blocks are drawn: before that there is none to point at.
    expect(page.locator(".told")).to_contain_text("Point at a block")
    # Lines that come to stand above it move the picture away under a pointer that rests.
    for _ in range(100):
        picture.hover(position={"x": 8, "y": 30})
        page.wait_for_timeout(200)
        if page.locator(".told b").is_visible():
            break
    expect(page.locator(".told b")).to_contain_text("channel 0, die 0")
    picture.click(position={"x": 8, "y": 30})
    expect(page.get_by_role("heading", name=re.compile("Block .* of die 0"))).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_of_dies_have_the_colours_of_the_page(server: Server, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(server, page)
    # As the view makes it: before its canvases are part of the page.
    found = page.evaluate(
        """async () => {
          const { BlockMap } = await import("/static/views/watch-map.js");
          const { ink, rule } = new BlockMap(() => {}).picture;
          const of = getComputedStyle(document.documentElement);
          return [ink, rule, of.getPropertyValue("--accent"), of.getPropertyValue("--grid")];
        }"""
    )
    assert found[:2] == found[2:]
    assert all(found)


def test_four_ways_to_look_have_legends_with_units(server: Server, page: Page) -> None:
    opened(server, page)
    for name, told in [
        ("Erases", "times"),
        ("Age", "programs of the drive ago"),
        ("Roles", "closed"),
        ("Pages", "invalid: 0 %"),
    ]:
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".legend")).to_contain_text(told)
        page.wait_for_function(f"() => ({COLOURS})() > 1")


def test_the_table_says_what_the_picture_shows(server: Server, page: Page) -> None:
    opened(server, page)
    page.get_by_text("The same as a table").click()
    rows = page.locator("table tbody tr")
    expect(rows).to_have_count(20)
    shares = [float(text) for text in rows.first.locator("td").all_inner_texts()[2:5]]
    assert sum(shares) == pytest.approx(100, abs=0.3)


CLIPPED = """() => {
  const found = [];
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  const all = (selector) => [...document.querySelectorAll(`main ${selector}`)]
    .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 0);
  const name = (e) => e.className || e.textContent;
  for (const choice of all("select")) {
    const style = getComputedStyle(choice);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const arrow = 14, beside = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const room = choice.clientWidth - beside - arrow;
    for (const { textContent } of choice.options)
      if (pen.measureText(textContent).width > room) found.push(`${textContent} in ${room} px`);
  }
  for (const one of all(":is(button, output, h1, h2, .tabs, .reading, .legend span, .about, .now)"))
    if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
      found.push(`${one.textContent} is ${one.scrollWidth} wide in ${one.clientWidth}`);
  const parts = all(
    ":is(.watch-head > *, .watch-controls :is(button, select, input, output), .dial, .queue," +
    " .tabs, .legend, .now, .stage, .told)"
  );
  const boxes = parts.map((e) => e.getBoundingClientRect());
  boxes.forEach((a, i) => {
    if (a.left < 0 || a.right > innerWidth) found.push(`${name(parts[i])} sticks out`);
    boxes.slice(i + 1).forEach((b, j) => {
      const over = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const under = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (over > 1 && under > 1) found.push(`${name(parts[i])} over ${name(parts[i + 1 + j])}`);
    });
  });
  return found;
}"""
"""What of the view is cut off, sticks out, or lies over something else."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("model", ["crucial-t500-2tb", "samsung-pm9a3-960gb"])
def test_it_fits_windows_of_every_width(
    standing: Standing, page: Page, model: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    opened(standing.server, page, f"/watch?model={model}&divisor=64&workload=hot-and-cold")
    page.get_by_label("Speed").fill("61")
    for width in (360, 768, 1024, 1280, 1400, 1920, 2560):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(
            "() => { const [map, stage] = ['canvas.map', '.stage'].map("
            "place => document.querySelector(place).clientWidth);"
            " return 0.8 * stage < map && map <= stage; }"
        )
        page.evaluate(SETTLED)
        assert page.evaluate(CLIPPED) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("canvas.map").bounding_box()
        assert box is not None
        assert box["height"] > 150


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(server: Server, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    picture = opened(server, page)
    button(page, "Pause").click()
    picture.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".pages")).to_be_visible()
    page.get_by_text("The same as a table").click()
    page.get_by_role("button", name="Another drive").click()
    expect(page.locator(".watch-form select").first).to_be_visible()
    assert serious(page) == []


def test_what_a_small_version_has_otherwise_is_said(server: Server, page: Page) -> None:
    opened(server, page, "/watch?model=samsung-980-1tb&divisor=64&state=new")
    notes = page.get_by_role("group", name="Notes")
    expect(notes).to_contain_text("Note: at this scale: ")
    opened(server, page, "/watch?model=intel-x25-v-40gb&state=new")
    expect(notes).to_have_text("")


def test_queues_are_shown_of_a_drive_that_has_some(server: Server, page: Page) -> None:
    page.goto(server.at("/watch?model=samsung-pm9a3-960gb&divisor=64&state=new&workload=queues"))
    queues = page.get_by_role("region", name="Queues")
    expect(queues).to_contain_text(re.compile(r"In the controller\s*208 of 208"))
    expect(queues.locator("li")).to_have_count(4)
    page.goto(server.at("/watch?model=intel-x25-v-40gb&divisor=64&state=new"))
    expect(page.locator(".now b")).to_be_visible()
    expect(queues).to_be_hidden()
