"""Power cuts of watched drives: what is lost is what was in memory only, and the page says so."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from web.conftest import Server, serious
from web.test_watch import button, goes_on, opened
from web.test_watch_session import Viewer

from drivelab import Job
from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.targets.going import EngineRun
from drivelab.targets.kept import KeptTarget
from drivelab.web import watch_power, watch_preparing
from drivelab.web.watch_choice import Choice
from drivelab.workload import FLUSH, Recorded, Requests
from drivelab.workload import Job as EngineJob

MODEL = {"model": "intel-x25-m-g2-80gb", "divisor": 64, "state": "new"}
CUTS = "/watch?model=intel-x25-m-g2-80gb&divisor=64&state=filled&power="


def kept(**asked: object) -> KeptTarget:
    choice = Choice.of({"power": "volatile"} | MODEL | asked)
    target = watch_preparing.prepared(choice, TaskProgress("test"))
    assert isinstance(target, KeptTarget)
    return target


def write(target: KeptTarget, until_s: float, **options: Any) -> None:
    """Writes at random, and is still at it then."""
    asked = {"rw": "randwrite", "bs": "4k", "iodepth": 32} | options
    job = Job(time_based=True, runtime="1000s", norandommap=True, **asked)
    part = job.on_drive(target.capacity_bytes, 1, 0).job
    run = EngineRun(target, [part], log=False, copy=False)
    assert not run.advance(target.now_ns + round(until_s * 1e9), TaskProgress("test"))


def test_a_volatile_buffer_loses_what_it_held_and_a_capacitor_keeps_it() -> None:
    found = {}
    for power in ("volatile", "capacitor"):
        target = kept(power=power)
        write(target, 0.2)
        cut = watch_power.cut(target)
        assert cut.answered_units > 5
        found[power] = watch_power.restored(target, cut)
    assert found["volatile"]["lost_units"] == cut.answered_units
    assert found["volatile"]["lost_bytes"] == cut.answered_units * cut.unit_bytes
    assert (found["capacitor"]["lost_units"], found["capacitor"]["held_units"]) == (
        0,
        cut.answered_units,
    )


def test_what_was_flushed_is_not_lost() -> None:
    target = kept()
    asked = Job(rw="randwrite", bs="4k", iodepth=32, size="4m")
    target.run([asked.on_drive(target.capacity_bytes, 1, 0).job], TaskProgress("test"))
    flush = EngineJob(name="flush", source=Recorded(pacing="closed"))
    target.run_requests(flush, Requests.of([(FLUSH, 0, 0)]), TaskProgress("test"))
    cut = watch_power.cut(target)
    assert cut.answered_units == 0
    assert watch_power.restored(target, cut)["lost_units"] == 0


def test_only_blocks_written_since_the_checkpoint_are_read_whole() -> None:
    target = kept(state="filled")
    count = len(target.inside()[0]["die"])
    cut = watch_power.cut(target)
    rested = watch_power.restored(target, cut)
    assert (rested["blocks_read"], rested["pages_read"]) == (0, 0)
    assert (rested["had_checkpoint"], rested["blocks_covered"]) == (True, count)
    # A recovery writes no checkpoint: what it has read is read again.
    write(target, 0.05)
    worked = watch_power.restored(target, watch_power.cut(target))
    assert 0 < worked["blocks_read"] < count
    assert worked["blocks_read"] + worked["blocks_covered"] == count
    assert worked["duration_s"] > rested["duration_s"] > 0
    inside = target.inside()[0]
    assert np.all(inside["written_pages"][worked["blocks"]] > 0)
    write(target, 1.0)
    more = watch_power.restored(target, watch_power.cut(target))
    assert more["pages_read"] > worked["pages_read"]


@pytest.mark.parametrize(
    "model",
    [
        "ocz-vertex-120gb",
        "jmicron-jmf602b-64gb",
        "samsung-slc-64gb",
        "ocz-vertex-3-240gb",
        "intel-x25-v-40gb-raid0-x2",
        "samsung-980-1tb",
    ],
)
def test_drives_of_every_family_come_back_and_go_on(model: str) -> None:
    target = kept(model=model, power="cuts")
    for _ in range(3):
        write(target, 0.5)
        cut = watch_power.cut(target)
        found = watch_power.restored(target, cut)
        assert 0 <= found["lost_units"] <= cut.answered_units
    write(target, 0.5)
    assert target.counters()["host_write_bytes"] > 0


def test_a_trim_of_everything_fills_the_log_and_a_checkpoint_follows() -> None:
    target = kept(state="filled")
    for _ in range(3):
        trim = Job(rw="randtrim", bs="4k", iodepth=32, size="100%")
        target.run([trim.on_drive(target.capacity_bytes, 1, 0).job], TaskProgress("test"))
        fill = Job(rw="write", bs="128k", size="100%")
        target.run([fill.on_drive(target.capacity_bytes, 1, 0).job], TaskProgress("test"))
    found = watch_power.restored(target, watch_power.cut(target))
    assert found["had_checkpoint"]


def test_a_drive_without_power_does_nothing_and_keeping_costs_what_is_said() -> None:
    target = kept()
    watch_power.cut(target)
    with pytest.raises(RequestError, match="the power is off"):
        write(target, 0.1)
    with pytest.raises(RequestError, match="the power is off"):
        target.cut_power()
    model = target.model
    needed = 2 * model.memory_bytes + target.kept_bytes
    KeptTarget(model, 1, needed)
    with pytest.raises(RequestError, match=r"with what a recovery reads it takes .* a divisor"):
        KeptTarget(model, 1, needed - 1)
    with pytest.raises(RequestError, match="rewrites its block in place"):
        kept(model="hypothetical", divisor=1, power="cuts")


def test_a_viewer_cuts_the_power_and_sees_the_drive_recover() -> None:
    viewer = Viewer(power="cuts")
    viewer.heard("watching")
    viewer.frame()
    viewer.do("cut")
    [said] = [said for said in viewer.said if "cut" in said]
    assert not said["is_on"]
    stands = viewer.frame()["now_s"]
    for kind in ("step", "trim", "erase", "cut"):
        asked = {"do": kind} | ({"seconds": 1} if kind == "step" else {})
        if kind == "trim":
            continue  # this drive takes none
        before = len(viewer.said)
        viewer.drive.obey(asked)
        viewer.until(lambda before=before: any("error" in one for one in viewer.said[before:]))
        assert viewer.said[-1]["error"] == f"{kind}: the power is off"
    assert viewer.frame()["now_s"] == stands
    viewer.do("on")
    [said] = [said for said in viewer.said if "recovery" in said]
    assert said["is_on"]
    first = viewer.frame()
    assert first["whole"]
    viewer.ask_until(lambda frame: frame["host_write_bytes"] > 0)
    viewer.drive.close()
    assert viewer.drive.join(60)


@pytest.mark.parametrize("power", ["volatile", "capacitor"])
def test_the_page_says_what_is_lost_and_what_was_read(
    server: Server, page: Page, power: str
) -> None:
    opened(server, page, CUTS + power)
    expect(page.locator(".about")).to_contain_text("power can be cut")
    goes_on(page, 1)
    button(page, "Power cut").click()
    told = page.locator(".power p")
    expect(told).to_contain_text("Power is off.")
    expect(page.locator(".now")).to_contain_text("the power is off")
    assert serious(page) == []
    button(page, "Power on").click()
    expect(told).to_contain_text(re.compile(r"Recovery took .* of the drive's time"))
    expect(told).to_contain_text("all pages were read")
    lost = "Lost are" if power == "volatile" else "the capacitor kept it"
    expect(told).to_contain_text(lost)
    expect(page.locator(".legend")).to_contain_text("read by the recovery")
    expect(page.locator(".power tbody tr")).to_have_count(1)
    expect(button(page, "Power cut")).to_be_visible()
    goes_on(page)


def test_cuts_of_two_drives_stand_beside_each_other(server: Server, page: Page) -> None:
    opened(server, page, f"{CUTS}volatile")
    for name in ("Power cut", "Power on"):
        button(page, name).click()
    expect(page.locator(".power tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Another drive").click()
    page.locator("select[name=power]").select_option("capacitor")
    page.get_by_role("button", name="Watch this drive").click()
    expect(page.locator(".about")).to_contain_text("capacitor")
    expect(page).to_have_url(re.compile("power=capacitor"))
    goes_on(page)
    for name in ("Power cut", "Power on"):
        button(page, name).click()
    expect(page.locator(".power tbody tr")).to_have_count(2)
    expect(page.locator(".power tbody")).to_contain_text(re.compile("capacitor.*forgets", re.S))
