"""Design, as its readers use it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from web import wire
from web.conftest import Noted, Server, Standing, fits, serious, start
from web.test_compare import opened

from drivelab import model

NAME = "intel-x25-v-40gb"


def test_a_value_that_is_refused_can_neither_be_measured_nor_saved(
    standing: Standing, page: Page, noted: Noted
) -> None:
    page.goto(standing.server.at("/design?drive=intel-x25-m-g1-80gb&set=spare_ratio%3D0.28"))
    acting = [
        page.get_by_role("button", name=name)
        for name in ("Save as TOML", "Measure beside the original")
    ]
    for button in acting:
        expect(button).to_be_enabled()
    field = page.get_by_label(re.compile("^channel_count"))
    field.fill("3000000")
    field.press("Tab")
    for button in acting:
        expect(button).to_be_disabled()
    # The server's answer to the value, which the browser notes.
    noted.errors.clear()
    field.fill("10")
    field.press("Tab")
    for button in acting:
        expect(button).to_be_enabled()


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
    expect(page.locator(".specifications").first).to_contain_text("ftl.cleaning_stop_blocks")
    # What the name alone means is the original.
    held = wire.ask(server, f"/api/compare?drive={NAME}").json["held"]
    assert held[0]["runs"] == [1]


def test_the_variation_is_saved_as_a_model(standing: Standing, page: Page, tmp_path: Path) -> None:
    opened(page, standing.server, f"/design?drive={NAME}&set=ftl.cleaning_stop_blocks%3D4")
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


def test_what_a_model_leaves_out_has_a_field_too(standing: Standing, page: Page) -> None:
    """Who wants more spare area looks for spare_ratio, where the model states a capacity."""
    known = model.load(NAME)
    form = wire.ask(standing.server, f"/api/design?drive={NAME}").json["parameters"]
    shown = [item["key"] for item in form]
    absent = {item["key"] for item in known.left_out}
    assert {item["key"] for item in form if item["value"] is None} == absent - {"firmware"}
    assert shown.index("spare_ratio") == shown.index("user_capacity_bytes") + 1
    opened(page, standing.server, f"/design?drive={NAME}")
    capacity = page.get_by_label(re.compile("^user_capacity_bytes"))
    spare = page.get_by_label(re.compile("^spare_ratio"))
    expect(spare).to_have_value("")
    expect(spare).to_have_attribute("placeholder", re.compile(r"^0\.07"))
    expect(capacity).to_have_value(str(known.user_capacity_bytes))
    spare.fill("0.28")
    page.keyboard.press("Tab")
    expect(page.locator(".changes")).to_contain_text("left out → 0.28")
    expect(capacity).to_have_value("")
    expect(capacity).to_have_attribute("placeholder", str(int(known.raw_capacity_bytes / 1.28)))
    expect(page.locator(".refused:visible, [aria-invalid]")).to_have_count(0)
    page.get_by_role("button", name="Back to the original: spare_ratio").click()
    expect(spare).to_have_value("")
    expect(capacity).to_have_value(str(known.user_capacity_bytes))


def test_a_range_and_a_source_are_told_once(standing: Standing, page: Page) -> None:
    opened(page, standing.server, f"/design?drive={NAME}&set=spare_ratio%3D0.28")
    for key, told in (
        ("spare_ratio", "from 0 to 3; set here"),
        ("dies_per_channel", "from 1 to 1024; cited [S13]"),
        ("command_ns", "from 0 to 1000000000; assumed: "),
        ("frame_overhead_ns", "; fitted to AN-149: "),
        ("lockstep_channels", "; default"),
    ):
        small = page.locator(".parameter").filter(has=page.get_by_label(re.compile(f"^{key}")))
        expect(small.locator("small")).to_contain_text(told)


def test_a_disk_has_no_spare_area_to_set(standing: Standing) -> None:
    found = wire.ask(standing.server, "/api/design?drive=wd-velociraptor-300gb").json
    keys = [item["key"] for item in found["parameters"]]
    assert "user_capacity_bytes" in keys
    assert "spare_ratio" not in keys
    assert len(set(keys)) == len(keys)


def values(found: model.Model) -> dict[str, object]:
    return {item["key"]: item["value"] for item in found.parameters}


def test_parameters_are_found_by_their_meaning(standing: Standing, page: Page) -> None:
    opened(page, standing.server, f"/design?drive={NAME}")
    rows = page.locator(".parameter")
    expect(rows.first).to_be_visible()
    page.get_by_role("searchbox").fill("victim")
    expect(page.get_by_label(re.compile("^channel_count"))).to_be_hidden()
    expect(page.get_by_label(re.compile("^victim_selection"))).to_be_visible()
    assert rows.locator("visible=true").count() < 6
    # By the word of their role, too, that stands beside them.
    page.get_by_role("searchbox").fill("default")
    expect(rows.locator("visible=true").first.locator(".role")).to_have_text("default")
    page.get_by_role("searchbox").fill("zzzz")
    expect(page.get_by_text("No parameter has these words.")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(page.get_by_text("No parameter has these words.")).to_be_hidden()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert serious(page) == []
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        fits(page, width)


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
def test_addresses_of_design_are_checked(standing: Standing, place: str) -> None:
    answers = [wire.ask(standing.server, f"{place}?{words}") for words in HOSTILE]
    assert {answer.status for answer in answers} == {400}
    assert wire.ask(standing.server, f"{place}?drive={NAME}").status == 200


def test_what_follows_from_what_is_measured_and_drawn(server: Server, page: Page) -> None:
    opened(page, server, f"/design?drive={NAME}&part=sensitivity")
    page.get_by_label("What is measured").select_option("random-reads")
    page.get_by_label("State of the drive").select_option("filled")
    with page.expect_request("**/api/jobs"):
        page.get_by_role("button", name="Vary each parameter by 10 %").click()
    # The address names the study: a page that is loaded anew comes back to it.
    expect(page).to_have_url(re.compile("study=[0-9a-f]{16}"))
    page.reload()
    page.get_by_label("Number that is drawn").select_option("latency_mean_us")
    effect = page.locator(".effects li").filter(has_text="flash.read_ns")
    expect(effect.locator(".less")).to_contain_text("−")
    expect(effect.locator(".more")).to_contain_text("+")
    expect(page.locator(".found")).to_contain_text("dl.vary(")
    expect(page.locator(".found")).to_contain_text("variations are left out")
    page.get_by_label("Number that is drawn").select_option("write_amplification")
    expect(page.locator(".found")).to_contain_text("not measured by this job")


def test_a_sweep_is_started_watched_and_drawn(server: Server, page: Page) -> None:
    opened(page, server, f"/design?drive={NAME}&part=sweep")
    page.get_by_label("State of the drive").select_option("new")
    page.get_by_label("Parameter 1", exact=True).select_option("ftl.cleaning_stop_blocks")
    page.get_by_label("Values of parameter 1").fill("3, 5, 9")
    page.get_by_label("Parameter 2", exact=True).select_option("job.iodepth")
    page.get_by_label("Values of parameter 2").fill("1 32")
    page.get_by_role("button", name="Measure the sweep").click()
    expect(page.locator(".study .drawn")).to_be_visible()
    expect(page.locator(".found tbody tr")).to_have_count(6)
    assert serious(page) == []
    page.set_viewport_size({"width": 360, "height": 900})
    fits(page, 360)
    # It stays when the server was started again: studies are files.
    study = page.url.rpartition("study=")[2]
    assert len(wire.ask(server, f"/api/design/studies/{study}").json["rows"]) == 6
    # And the form says what it is of.
    page.reload()
    expect(page.get_by_label("Values of parameter 1")).to_have_value("3, 5, 9")
    expect(page.get_by_label("Parameter 2", exact=True)).to_have_value("job.iodepth")
    expect(page.get_by_label("Values of parameter 2")).to_have_value("1, 32")


def test_a_study_that_can_not_be_says_why(standing: Standing, page: Page, noted: Noted) -> None:
    opened(page, standing.server, f"/design?drive={NAME}&part=sweep")
    page.get_by_label("Parameter 1", exact=True).select_option("flash.channel_count")
    page.get_by_label("Values of parameter 1").fill("0")
    page.get_by_role("button", name="Measure the sweep").click()
    expect(page.get_by_role("alert").filter(has_text="channel_count")).to_be_visible()
    values = page.get_by_label("Values of parameter 1")
    expect(values).to_have_attribute("aria-invalid", "true")
    expect(values).to_have_accessible_description(re.compile("from 1 to 1024"))
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    noted.errors.clear()


def test_the_server_may_be_started_again_under_the_form(
    server: Server, page: Page, noted: Noted, tmp_path: Path
) -> None:
    opened(page, server, f"/design?drive={NAME}&part=sweep&set=flash.read_ns%3D60000")
    page.get_by_label("State of the drive").select_option("new")
    page.get_by_label("Parameter 1", exact=True).select_option("job.iodepth")
    page.get_by_label("Values of parameter 1").fill("1 8")
    page.get_by_role("button", name="Measure the sweep").click()
    expect(page.locator(".found tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Parameters").click()
    study = wire.ask(server, "/api/jobs").json[-1]["study"]
    server.stop()
    expect(page.locator("#notice")).to_contain_text("doesn't answer")
    field = page.get_by_label(re.compile("^channel_count"))
    field.fill("4")
    page.keyboard.press("Tab")
    # Nothing is wrong with the value.
    expect(page.get_by_role("alert").filter(has_text="doesn't answer").last).to_be_visible()
    expect(page.locator("[aria-invalid]")).to_have_count(0)
    expect(field).to_have_value("4")
    expect(page).to_have_url(re.compile("channel_count"))
    changed = page.url.removeprefix(server.origin)
    again = start(tmp_path, port=server.port)
    try:
        expect(page.locator("#notice")).to_contain_text("open the address")
        page.evaluate("document.isOld = true")
        page.goto(again.at(changed))
        page.wait_for_function("!document.isOld")
        # What was typed while nobody answered is in the address, with what was changed before.
        expect(page.locator(".changes li")).to_have_count(2)
        expect(field).to_have_value("4")
        expect(page.locator("#notice")).to_be_hidden()
        # What was measured is there as well.
        page.goto("about:blank")
        page.goto(again.at(f"/design?drive={NAME}&part=sweep&study={study}"))
        expect(page.locator(".found tbody tr")).to_have_count(2)
        expect(page.get_by_text("Not here")).to_have_count(0)
        # What was not done when the server ended is said, and not waited for.
        page.goto("about:blank")
        page.goto(again.at(f"/design?drive={NAME}&part=sweep&study={study[::-1]}"))
        expect(page.get_by_text("Not here: the server ended")).to_be_visible()
    finally:
        noted.errors.clear()
        page.goto("about:blank")
        again.stop()


STUDY = {"kind": "sensitivity", "model": NAME}


def swept(*words: Any) -> dict[str, Any]:
    """An order to sweep keys, each with the values behind it."""
    pairs = zip(words[::2], words[1::2], strict=True)
    return {"kind": "sweep", "axes": [{"key": key, "values": values} for key, values in pairs]}


KEY = "ftl.cleaning_stop_blocks"
WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"model": "../../x"}, "model"),
    ({"model": "/etc/passwd"}, "model"),
    ({"job": "rm"}, "job"),
    ({"state": "no-such-state"}, "state"),
    ({"scale": 0}, "scale"),
    ({"scale": 10**9}, "scale"),
    ({"settings": ["base=/etc/passwd"]}, "settings"),
    ({"axes": [{"key": KEY, "values": ["4"]}]}, "a sensitivity varies every number"),
    ({"kind": "sweep"}, "one parameter or two"),
    (swept(KEY, []), "values"),
    (swept("trace", ["x.csv"]), "parameters of the model"),
    (swept("model", ["../x.toml"]), "values"),
    (swept("model", ["x"]), "parameters of the model"),
    (swept("base", ["x"]), "parameters of the model"),
    (swept("job.filename", ["x"]), "parameters of the model"),
    (swept(KEY, list(map(str, range(3, 20)))), "values"),
    (swept(KEY, ["4/../x"]), "values"),
    (swept("seed", ["1"]), "parameters of the model"),
    (swept(KEY, ["4"], "job.iodepth", ["1"], "job.bs", ["4k"]), "axes"),
    (swept(KEY, ["3", "4"], KEY, ["5"]), "is there twice"),
    (swept("spare_ratio", ["7"]), "spare_ratio"),
    (swept("scale_divisor", ["1"]), "parameters of the model"),
)


@pytest.mark.parametrize(("wrong", "reason"), WRONG, ids=range(len(WRONG)))
def test_a_study_names_a_model_its_parameters_and_plain_values(
    standing: Standing, wrong: dict[str, Any], reason: str
) -> None:
    answer = wire.ask(standing.server, "/api/jobs", "POST", json.dumps(STUDY | wrong).encode())
    assert answer.status == 400, answer.json
    assert reason in answer.json["error"]
    assert wire.ask(standing.server, "/api/jobs").json == []


def test_spare_area_is_swept_though_no_model_names_it(server: Server, page: Page) -> None:
    opened(page, server, f"/design?drive={NAME}&part=sweep")
    expect(page.get_by_label("Parameter 1", exact=True)).to_have_value("spare_ratio")
    page.get_by_label("State of the drive").select_option("new")
    page.get_by_label("Values of parameter 1").fill("0.07 0.15")
    page.get_by_role("button", name="Measure the sweep").click()
    expect(page.locator(".study .drawn")).to_be_visible()
    expect(page.locator(".found tbody tr")).to_have_count(2)


def test_a_study_has_so_many_points_and_no_more(standing: Standing) -> None:
    axes = [
        {"key": "ftl.cleaning_stop_blocks", "values": list(map(str, range(3, 13)))},
        {"key": "job.iodepth", "values": list(map(str, range(1, 9)))},
    ]
    order = STUDY | {"kind": "sweep", "axes": axes}
    answer = wire.ask(standing.server, "/api/jobs", "POST", json.dumps(order).encode())
    assert "80 points; allowed: 64" in answer.json["error"]


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "..",
        "%2e%2e%2fresults",
        "0" * 15,
        "0" * 17,
        "G" * 16,
        "A" * 16,
        "%00",
        "0" * 16,
        "..%2f..%2fx",
    ],
)
def test_a_study_is_a_name_and_no_path(standing: Standing, name: str) -> None:
    answer = wire.ask(standing.server, f"/api/design/studies/{name}")
    assert (answer.status, answer.body) in ((200, b"null"), (404, answer.body))
    assert (
        wire.ask(standing.server, f"/api/design/studies/{name}/chart.svg?metric=iops").status == 404
    )
