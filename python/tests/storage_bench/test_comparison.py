from __future__ import annotations

import pytest

from drivelab.figures.published import published
from drivelab.storage_bench.comparison import compare_traces, together

TOLERANCE = 0.01


def test_every_published_statistic_is_kept_to_1_percent() -> None:
    records = {record["id"]: record for record in compare_traces()}
    assert list(records) == [figure.id for figure in published() if figure.kind == "trace"]
    for record in records.values():
        if record["synthesised"] is None:
            assert record["reason"], record["id"]
        else:
            assert record["satisfied"] is not False, record
            assert abs(record["error_ratio"]) <= TOLERANCE, record
    assert [record["id"] for record in records.values() if record["reason"]] == ["GS-122"]


def test_the_traces_of_2010_together_are_those_of_the_review_for_any_seed() -> None:
    found = together(seed=9)
    assert found["gb_moved"] < 10
    assert found["gb_written"] == pytest.approx(4, rel=TOLERANCE)
    assert found["duration_min"] == pytest.approx(30, rel=TOLERANCE)
    assert found["image_gb"] == 34
