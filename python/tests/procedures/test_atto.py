from __future__ import annotations

import pytest
from small import small_model

from drivelab import model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.atto import TRANSFER_BYTES, write_anomaly
from drivelab.procedures.measured import Measured
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

SIZES = (512, 1024, 2048, 4096, 8192)


@pytest.mark.parametrize(
    ("rates", "wanted"),
    [
        ([1, 2, 4, 8, 8], None),
        ([1, 2, 1.5, 8, 8], 2048),
        # The deepest fall counts, and a fall within a tenth is none.
        ([1, 4, 3, 8, 2], 2048),
        ([10, 10, 9.5, 10, 10], None),
        # The ends have one neighbour each.
        ([0.1, 10, 10, 10, 0.1], None),
    ],
)
def test_an_anomaly_is_a_size_below_both_of_its_neighbours(
    rates: list[float], wanted: int | None
) -> None:
    assert write_anomaly(SIZES, rates) == wanted


def test_the_sweep_writes_and_reads_every_size_and_finds_nothing_odd_on_a_new_drive() -> None:
    target = EngineTarget(small_model(), 1)
    test = PROCEDURES["atto"]
    measured = test.measure(target, 1, True, TaskProgress(test.id))
    found = measured.found()
    rows = found["tables"][0]["rows"]
    assert [row["transfer_kib"] * 1024 for row in rows[::2]] == list(TRANSFER_BYTES)
    assert [row["direction"] for row in rows[:2]] == ["write", "read"]
    rate = {(row["transfer_kib"], row["direction"]): row["mib_per_s"] for row in rows}
    # A transfer below the map unit costs reading and writing back the rest of it.
    assert rate[0.5, "write"] < rate[4, "write"] / 4
    assert rate[1024, "read"] > rate[1024, "write"]
    values = {value["name"]: value["value"] for value in found["values"]}
    assert values["write_anomaly_bytes"] is None
    assert values["write_mib_per_s"] == max(row["mib_per_s"] for row in rows[::2])


def quick(name: str, divisor: int) -> tuple[Measured, dict[str, float]]:
    """What a quick sweep found on a small new drive, and what the drive counted."""
    target = EngineTarget(model.load(name, [("scale_divisor", str(divisor))]), 1)
    test = PROCEDURES["atto"]
    return test.measure(target, 1, True, TaskProgress(test.id)), target.counters()


@pytest.mark.parametrize(
    ("name", "divisor"), [("samsung-pm9a3-960gb", 64), ("intel-x25-v-40gb-raid0-x2", 16)]
)
def test_a_quick_sweep_is_not_one_of_the_write_buffer(name: str, divisor: int) -> None:
    """Its fastest write is about as fast as what lasts, and what it reads comes from flash."""
    found, counters = quick(name, divisor)
    assert counters["read_bytes_host"] > 0.95 * counters["host_read_bytes"]
    rows = [row for row in found.tables[0].rows if row["direction"] == "write"]
    fastest, last = (float(value or 0) for value in (found.values[0].value, rows[-1]["mib_per_s"]))
    assert fastest < 1.25 * last
