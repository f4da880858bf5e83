"""Loads and copies: what is asked for is what was said."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.applications.copying import COPY_BYTES, SPAN_BYTES, copy_requests
from drivelab.applications.loading import LOADS, Load
from drivelab.applications.scenario import Place, phase_requests
from drivelab.quantities import GIB, MIB, NS_PER_S, SECTOR_BYTES
from drivelab.workload import FLUSH, READ, WRITE


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_a_load_has_its_bytes_and_its_processor_time(load: Load) -> None:
    requests = phase_requests(load.phase_of(), Place(0, 16 * GIB), 1)
    assert requests.byte_count == pytest.approx(load.phase.total_bytes, rel=0.03)
    assert requests.think_ns is not None
    thought_s = float(requests.think_ns.sum()) / NS_PER_S
    assert thought_s == pytest.approx(load.processor_s, rel=0.03)
    part = phase_requests(load.phase_of(8), Place(0, 16 * GIB), 1)
    assert part.byte_count == pytest.approx(load.phase.total_bytes / 8, rel=0.06)
    assert part.think_ns is not None
    assert float(part.think_ns.sum()) / NS_PER_S == pytest.approx(load.processor_s / 8, rel=0.06)


@pytest.mark.parametrize("size", [SPAN_BYTES, 512 * MIB])
def test_a_copy_writes_what_it_read_elsewhere_and_then_flushes(size: int) -> None:
    place = Place(5 * GIB, size)
    requests = copy_requests(place, 1)
    sectors, lba = requests.sector_count.astype(np.int64), requests.lba.astype(np.int64)
    reads = np.flatnonzero(requests.op == READ)
    assert np.all(requests.op[reads + 1] == WRITE)
    assert np.array_equal(sectors[reads], sectors[reads + 1])
    assert requests.think_ns is not None
    assert np.all(requests.think_ns[reads + 1] > 0)
    distance = np.unique(lba[reads + 1] - lba[reads])
    assert len(distance) == 1
    source_end = int((lba + sectors)[reads].max())
    assert int(lba[reads + 1].min()) >= source_end
    ends = (lba + sectors)[requests.op != FLUSH] * SECTOR_BYTES
    assert int(ends.max()) <= place.first_byte + size
    assert int(lba[requests.op != FLUSH].min()) * SECTOR_BYTES >= place.first_byte
    copied = int(sectors[reads].sum()) * SECTOR_BYTES
    assert 0.98 * min(COPY_BYTES, (size - 64 * MIB) // 3) < copied <= COPY_BYTES
    assert requests.op[-1] == FLUSH
    assert int((requests.op == FLUSH).sum()) == 1
