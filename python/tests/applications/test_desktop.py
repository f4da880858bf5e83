"""Office work: its writes are like those of the published traces, its processor time its own."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.applications import desktop
from drivelab.applications.scenario import Place
from drivelab.quantities import GIB, KIB, SECTOR_BYTES
from drivelab.workload import WRITE

PLACE = Place(8 * GIB, 8 * GIB)
PUBLISHED_WRITES, PUBLISHED_RANDOM, PUBLISHED_MB = 953 + 206 + 254, 205 + 87 + 107, 95 + 15 + 21
"""Writes, random ones and MB of a word processor, a spreadsheet and a program for slides [T8]."""


def test_office_programs_write_as_those_of_the_published_traces() -> None:
    requests = desktop.rounds(desktop.ROUNDS, PLACE, 1)
    # Video writes 64 KiB; documents and what is scattered have other sizes.
    size = requests.sector_count.astype(np.int64) * SECTOR_BYTES
    office = (requests.op == WRITE) & (size != 64 * KIB)
    scattered = office & (size == 4 * KIB)
    assert scattered.sum() / office.sum() == pytest.approx(
        PUBLISHED_RANDOM / PUBLISHED_WRITES, rel=0.1
    )
    assert size[office].mean() == pytest.approx(PUBLISHED_MB * 1e6 / PUBLISHED_WRITES, rel=0.1)


def test_rounds_are_the_same_for_a_seed_and_nobody_waits_for_writes() -> None:
    first, again = (desktop.rounds(2, PLACE, 1) for _ in range(2))
    assert np.array_equal(first.lba, again.lba)
    assert first.think_ns is not None
    assert again.think_ns is not None
    assert np.array_equal(first.think_ns, again.think_ns)
    assert first.background is not None
    assert np.array_equal(first.background != 0, first.op == WRITE)


def test_a_round_computes_for_as_long_as_its_tasks_say() -> None:
    seconds = desktop.processor_s(desktop.rounds(desktop.ROUNDS, PLACE, 1)) / desktop.ROUNDS
    # Edit 25 s, video 10 s; starting and saving next to nothing.
    assert seconds == pytest.approx(35.5, rel=0.1)
