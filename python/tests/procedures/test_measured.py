"""What a test may say that it found; what can't be is refused where it is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import drivelab as dl
from drivelab.procedures.measured import Measured

DEPTH, IOPS = dl.Column("depth", "Queue depth"), dl.Column("iops", "Reads", "IOPS")
HALF = chr(0xD800)


def value(**fields: Any) -> dl.Value:
    known: dict[str, Any] = {"name": "p99", "title": "P", "value": 1.0, "unit": "us"}
    return dl.Value(**known | fields)


def column(**fields: Any) -> dl.Column:
    return dl.Column(**{"key": "iops", "title": "Reads"} | fields)


def table(**fields: Any) -> dl.Table:
    known = {"name": "depths", "title": "D", "columns": [DEPTH, IOPS], "rows": []}
    return dl.Table(**known | fields)


def chart(**fields: Any) -> dl.Chart:
    known = {"table": "depths", "title": "D", "kind": "lines", "x": "depth", "y": "iops"}
    return dl.Chart(**known | fields)


@pytest.mark.parametrize(
    ("make", "fields", "told"),
    [
        (value, {"name": 5}, "Value: name = 5: allowed: a text, and not an empty one"),
        (value, {"title": None}, 'Value "p99": title = None: allowed: a text'),
        (value, {"title": HALF}, "Value \"p99\": title = '\\ud800': allowed: a text"),
        (value, {"unit": 5}, 'Value "p99": unit = 5: allowed: a text'),
        (value, {"value": "5"}, "Value \"p99\": value = '5': allowed: finite numbers, None where"),
        (value, {"value": True}, 'Value "p99": value = True: allowed'),
        (value, {"value": 10**400}, 'Value "p99": value = 1000'),
        (value, {"value": 10**5000}, 'Value "p99": value = a int: allowed'),
        (value, {"value": float("inf")}, 'Value "p99": value = inf: allowed'),
        (
            value,
            {"better": "less"},
            "Value \"p99\": better = 'less': allowed: higher, lower",
        ),
        (value, {"better": "lowest"}, 'lower; did you mean "lower"?'),
        (column, {"key": 1}, "Column: key = 1: allowed: a text, and not an empty one"),
        (column, {"title": None}, 'Column "iops": title = None: allowed: a text'),
        (table, {"name": ""}, "Table: name = '': allowed: a text, and not an empty one"),
        (table, {"title": None}, 'Table "depths": title = None: allowed: a text'),
        (
            table,
            {"columns": ["iops"]},
            "Table \"depths\": columns: 'iops': allowed: columns, as dl.Column('iops', 'Title', ",
        ),
        (table, {"columns": [DEPTH, DEPTH]}, "columns: there are two of key 'depth'"),
        (table, {"rows": [(1, 2)]}, 'Table "depths": rows[0] = (1, 2): allowed: dicts of cells'),
        (table, {"rows": {"depth": 1}}, "rows = {'depth': 1}: allowed: a list of dicts, or a"),
        (table, {"rows": [{"depth": 1}]}, "Table \"depths\": rows[0] lacks 'iops'"),
        (
            table,
            {"rows": [{"depth": 1, "iops": 2, "a": 3}]},
            "rows[0] has 'a', which is no column",
        ),
        (
            table,
            {"rows": pl.DataFrame({"depth": [1], "ios": [2]})},
            "rows[0] lacks 'iops', and has 'ios', which is no column",
        ),
        (
            table,
            {"rows": [{"depth": 1, "iops": [2]}]},
            'Table "depths": rows[0], iops = [2]: allowed: finite numbers, texts, None',
        ),
        (table, {"rows": [{"depth": HALF, "iops": 2}]}, "rows[0], depth = '\\ud800': allowed"),
        (
            chart,
            {"kind": "line"},
            'Chart "D": kind = \'line\': allowed: lines, bars, heat; did you mean "lines"?',
        ),
        (chart, {"title": None}, "Chart: title = None: allowed: a text"),
        (chart, {"table": None}, 'Chart "D": table = None: allowed: a text'),
        (chart, {"by": 5}, 'Chart "D": by = 5: allowed: a text'),
        (chart, {"log_x": "yes"}, "Chart \"D\": log_x = 'yes': allowed: True, False"),
        (chart, {"kind": "heat"}, "Chart \"D\": kind = 'heat': needs by=..., its other axis"),
    ],
)
def test_a_field_that_cannot_be_is_refused_by_name(
    make: Callable[..., object], fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(dl.RequestError) as caught:
        make(**fields)
    said = str(caught.value)
    assert told in said
    assert "\n" not in said
    assert caught.value.key in (*fields, "by")


def test_what_is_meant_is_taken() -> None:
    assert (value(unit=None).unit, column(unit=None).unit) == ("", "")
    assert type(value(value=np.float64(2)).value) is float
    frame = pl.DataFrame({"depth": [1, 32], "iops": [9000.0, None]})
    rows = [{"depth": 1, "iops": 9000.0}, {"depth": 32, "iops": None}]
    assert table(rows=frame) == table(rows=rows) == table(rows=iter(rows))
    assert type(table(rows=[{"depth": np.int64(1), "iops": 2}]).rows[0]["depth"]) is int


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"by": "job"}, 'chart "D": table "depths" has no column \'job\'; there are: depth, iops'),
        ({"x": "iops", "y": "depth"}, "y = 'depth': allowed: a column of numbers; it holds 'one'"),
    ],
)
def test_a_chart_is_of_columns_that_can_be_drawn(fields: dict[str, Any], told: str) -> None:
    rows = [{"depth": "one", "iops": 2.0}]
    with pytest.raises(ValueError, match=re.escape(told)):
        Measured(tables=(table(rows=rows),), charts=(chart(**fields),)).found()
