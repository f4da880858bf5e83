"""Random requests of docs/consumer-drives.md: what takes one its time, and what binds many."""

from __future__ import annotations

from pathlib import Path

import pytest
from consumer_random import (
    BLOCK_BYTES,
    LONE_READ,
    LONE_WRITE,
    PUBLISHED,
    Load,
    iops,
)
from published_fills import EVO_PLUS, EVO_PLUS_250, EVO_PLUS_500, NM790, S980PRO, Version

from drivelab import model as models


def nanoseconds(version: Version, direction: str) -> float:
    """The arithmetic of the page: what one request takes, in the cache."""
    model = models.load(version.model, version.changes)

    def number(key: str) -> float:
        return float(model.value(key) or 0)

    link = number("link.command_overhead_ns") + BLOCK_BYTES / number("link.bytes_per_s") * 1e9
    way = number("controller.pipeline_ns") + number(f"controller.{direction}_firmware_ns") + link
    if direction == "write":
        return way
    oob = BLOCK_BYTES * number("flash.oob_bytes") / number("flash.page_bytes")
    bus = (BLOCK_BYTES + oob) / number("flash.bus_bytes_per_s") * 1e9
    return way + number("flash.slc_read_ns") + number("flash.command_ns") + bus


@pytest.mark.parametrize("version", [EVO_PLUS, S980PRO], ids=lambda version: version.model)
@pytest.mark.parametrize("load", [LONE_READ, LONE_WRITE], ids=lambda load: load.title)
def test_one_request_takes_what_the_page_says(version: Version, load: Load) -> None:
    expected = 1e9 / nanoseconds(version, load.direction)
    assert iops(version, load) == pytest.approx(expected, rel=0.02)


def test_client_drives_with_one_processor_share_the_way_beside_their_firmware() -> None:
    known = [models.load(name) for name in ("adata-atom-50-1tb", "crucial-p1-1tb", NM790.model)]
    assert {model.value("controller.pipeline_ns") for model in known} == {14_000}
    # As the page says: with the Atom 50's firmware as long as one of five processors takes.
    five = models.load(EVO_PLUS.model)
    ways = [
        model.value("controller.pipeline_ns") + model.value("controller.write_firmware_ns")
        for model in (known[0], five)
    ]
    assert ways[0] == pytest.approx(ways[1], rel=0.01)


def test_where_dies_bind_half_of_them_read_half_as_much() -> None:
    halves = [iops(size, Load("read", 32, 4)) for size in (EVO_PLUS_500, EVO_PLUS_250)]
    assert halves[0] / halves[1] == pytest.approx(2, rel=0.05)


def test_references_has_the_source_of_every_figure() -> None:
    known = (Path(__file__).resolve().parents[2] / "REFERENCES.md").read_text(encoding="utf-8")
    for figure in PUBLISHED:
        reference = figure.source.partition("]")[0] + "]"
        assert f"- {reference} " in known, figure
