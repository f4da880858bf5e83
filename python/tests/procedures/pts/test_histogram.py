from __future__ import annotations

import pytest

from drivelab.procedures.measured import Measured
from drivelab.procedures.pts import histogram


def test_nines_count_the_requests_that_took_longer() -> None:
    # 90 at 1 ms, 9 at 2 ms, 1 at 50 ms.
    bins = {1_000_000: 90, 2_000_000: 9, 50_000_000: 1}
    found = Measured(tables=histogram.tables({"a": bins}, "test"), charts=histogram.charts("test"))
    tables = {table["name"]: table["rows"] for table in found.found()["tables"]}
    rows = tables["histogram"]
    assert [row["requests"] for row in rows] == [90, 9, 1]
    assert [row["share_percent"] for row in rows] == [90, 99, 100]
    assert [row["nines"] for row in rows] == [pytest.approx(1), pytest.approx(2), None]
    assert {row["share"]: row["latency_ms"] for row in tables["percentiles"]} == {
        "50 %": 1,
        "90 %": 1,
        "99 %": 2,
        "99.9 %": None,
        "99.99 %": None,
        "99.999 %": None,
    }


def test_bins_are_merged_without_losing_requests() -> None:
    bins = {1_000_000 + 1000 * index: index for index in range(1, 1000)}
    (table, _) = histogram.tables({"a": bins}, "test")
    assert len(table.rows) < 10
    assert sum(int(row["requests"] or 0) for row in table.rows) == sum(bins.values())
    assert table.rows[-1]["latency_ms"] == pytest.approx(1.999)


def test_a_test_without_requests_has_no_histogram() -> None:
    (table, percentiles) = histogram.tables({"a": {}}, "test")
    assert table.rows == ()
    assert all(row["latency_ms"] is None for row in percentiles.rows)
