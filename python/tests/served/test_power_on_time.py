"""The time that a drive is under power counts while nobody asks it for anything, too."""

from __future__ import annotations

import time

import pytest
from served.conftest import Serve

from drivelab.served import image


@pytest.mark.parametrize(("clock", "scale"), [("real", 1), ("1000", 1000)])
def test_time_served_idle_is_told_and_kept(serve: Serve, clock: str, scale: int) -> None:
    drive = serve(clock=clock)
    begun_s, begun_ns = time.monotonic(), drive.smart()["power_on_ns"]
    time.sleep(0.5)
    told_ns = drive.smart()["power_on_ns"]
    asked_s = time.monotonic()
    assert told_ns - begun_ns >= 0.5e9 * scale
    # The clock on the wall is read before and after, so it has seen at least as much.
    assert told_ns - begun_ns <= (asked_s - begun_s) * 1e9 * scale
    time.sleep(0.5)
    drive.stop()
    assert image.smart(drive.image)["power_on_ns"] - told_ns >= 0.5e9 * scale


def test_without_pauses_time_is_what_requests_take(serve: Serve) -> None:
    drive = serve(clock="instant")
    begun_ns = drive.smart()["power_on_ns"]
    time.sleep(0.2)
    assert drive.smart()["power_on_ns"] == begun_ns
