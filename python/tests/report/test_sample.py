from __future__ import annotations

from report.sample import results

from drivelab.procedures import PROCEDURES
from drivelab.procedures.stream import Stream


def test_the_sample_that_pages_are_tested_on_is_of_tests_that_exist() -> None:
    data = results(2)
    assert {figure["test_id"] for figure in data["figures"]} <= set(PROCEDURES)
    for record in data["tests"]:
        test = PROCEDURES[record["id"]]
        assert isinstance(test, Stream)
        for key in ("title", "direction", "block_bytes", "queue_depth", "align_bytes"):
            assert record[key] == getattr(test, key), (record["id"], key)
