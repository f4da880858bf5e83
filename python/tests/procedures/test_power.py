"""Power tests: a drive of whose power nothing is known has none to show, and no 0."""

from __future__ import annotations

import pytest

import drivelab as dl

NAME = "intel-x25-v-40gb"
UNKNOWN = {
    f"power.{part}_mw": 0
    for part in ("idle", "active", "firmware", "link", "bus", "read", "program", "erase")
}


@pytest.mark.parametrize("test", ["power-idle", "power-random-write-qd32"])
def test_power_that_is_not_known_is_not_zero(test: str) -> None:
    for parameters, known in (({}, True), (UNKNOWN, False)):
        drive = dl.Drive(NAME, parameters, scale="1/64")
        values = {item.name: item.value for item in drive.measure(test, quick=True).values}
        watts = [value for name, value in values.items() if "power" in name]
        assert bool(watts) == known, values
        assert all(value > 0 for value in watts if value is not None)
        assert ("energy_nj" in drive.open().counters) == known
