"""What `make bench` measures of watched drives, on a small one."""

from __future__ import annotations

import re
from pathlib import Path

from web import benchmark

ROOT = Path(__file__).parents[3]


def test_a_watched_drive_is_measured_without_a_browser() -> None:
    [found] = benchmark.measured(["intel-x25-m-g1-80gb"], 64, rounds=1, seconds=0.5, frames=3)
    assert found.block_count > 1000
    assert found.frame_ms > 0
    assert 0 < found.watched_ratio < 10
    assert not found.frames_per_s
    assert "no browser" in found.line()
    assert len(found.line()) == len(benchmark.HEADING)


def test_documents_agree_on_what_a_frame_costs_at_full_size() -> None:
    found = [
        re.findall(r"frame (?:costs|takes) ([\d.]+ ms)", (ROOT / name).read_text(encoding="utf-8"))
        for name in ("ARCHITECTURE.md", "docs/web.md")
    ]
    assert found[0] == found[1][:1]
    assert found[0]
