from __future__ import annotations

import documents

from drivelab.records.figure import Figure
from drivelab.report.agreement import error_ratio, holds


def test_a_published_range_holds_or_fails_and_has_no_error() -> None:
    own = {"relation": "range", "published": 1250.0, "modelled": 451.0, "unit": "ms"}
    missed = documents.figure(**own, error_ratio=-0.097, satisfied=False)
    assert error_ratio(Figure.read(missed)) is None
    assert holds(Figure.read(missed)) is False
    assert holds(Figure.read(missed | {"modelled": 600.0, "satisfied": True})) is True
