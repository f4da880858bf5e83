"""Interleaved zones of docs/modern-drives.md: where writes go, before a drive is asked."""

from __future__ import annotations

import numpy as np
import pytest
from modern_open_zones import places, trimmed

from drivelab.procedures.zones import requests_at
from drivelab.workload import TRIM, WRITE

ZONES, LENGTH, WRITES = 40, 50, 20_000


@pytest.mark.parametrize("open_zones", [1, 2, 7, 32])
def test_a_zone_is_written_in_order_and_whole_before_another_takes_its_place(
    open_zones: int,
) -> None:
    found = places(ZONES, LENGTH, open_zones, WRITES, np.random.default_rng(5))
    written: dict[int, int] = {}
    for block in found:
        zone, at = divmod(int(block), LENGTH)
        assert written.get(zone, 0) == at
        if at == LENGTH - 1:
            del written[zone]
        else:
            written[zone] = at + 1
        assert len(written) <= open_zones
    assert set(found // LENGTH) == set(range(ZONES))


def test_open_zones_are_written_equally_often() -> None:
    first = places(ZONES, 10**6, 4, WRITES, np.random.default_rng(5)) // 10**6
    counts = np.bincount(first, minlength=ZONES)
    assert sorted(counts[counts > 0]) == pytest.approx([WRITES / 4] * 4, rel=0.05)


def test_a_trim_of_the_whole_zone_comes_before_its_first_write() -> None:
    block = 32 * 1024
    blocks = np.array([5, 50, 51, 6, 100])
    plain = requests_at(blocks * block, block)
    found = trimmed(plain, blocks, LENGTH * block, block)
    assert list(found.op) == [WRITE, TRIM, WRITE, WRITE, WRITE, TRIM, WRITE]
    sectors = block // 512
    assert list(found.lba) == [blk * sectors for blk in (5, 50, 50, 51, 6, 100, 100)]
    zone = LENGTH * sectors
    assert list(found.sector_count) == [sectors, zone, *[sectors] * 3, zone, sectors]
    kept = found.op == WRITE
    assert list(found.lba[kept]) == list(plain.lba)
