"""What docs/tests/applications.md says of small writes, which PCMark's traces leave out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drivelab import cli
from drivelab.applications import pcmark
from drivelab.applications.scenario import CLUSTER_BYTES, phase_requests, place_on
from drivelab.quantities import GB, SECTOR_BYTES
from drivelab.workload import WRITE

PAGE = Path(__file__).parents[3] / "docs" / "tests" / "applications.md"
ROW = re.compile(r"^ *\| (\d+) \([^|]*\) " + r"\| *(\d*) *" * 3 + r"\|$", re.MULTILINE)
ROWS = {int(count): cells for count, *cells in ROW.findall(PAGE.read_text("utf-8"))}
"""Scores by how many of the suite's writes are small ones."""
SHARES = {18: 0.01, 87: 0.05, 611: 0.28}


def with_small_writes(share: float) -> tuple[pcmark.Phase, ...]:
    return tuple(replace(trace, scattered_writes=share) for trace in pcmark.TRACES)


def test_the_page_counts_the_small_writes_as_they_are() -> None:
    assert ROWS.keys() == SHARES.keys()
    for count, share in SHARES.items():
        small = 0
        for phase in with_small_writes(share):
            requests = phase_requests(phase, place_on(60 * GB), 1)
            clusters = requests.sector_count == CLUSTER_BYTES // SECTOR_BYTES
            small += int(np.count_nonzero(clusters & (requests.op == WRITE)))
        assert small == count


@pytest.mark.slow
def test_a_pair_that_merges_leaves_no_room_for_small_writes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pcmark, "TRACES", with_small_writes(SHARES[18]))
    assert cli.run(["figures", "--only", "AN-133", "--json"]) == 0
    [record] = json.loads(capsys.readouterr().out)["figures"]
    assert f"{record['modelled']:.0f}" == ROWS[18][0]
