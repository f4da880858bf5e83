from __future__ import annotations

from dataclasses import replace

from report.sample import results

from drivelab.procedures import PROCEDURES
from drivelab.procedures.stream import Stream
from drivelab.report.measurements import Figure


def test_the_sample_that_pages_are_tested_on_is_of_tests_that_exist() -> None:
    data = results(2)
    assert {figure["test_id"] for figure in data["figures"]} <= set(PROCEDURES)
    for record in data["tests"]:
        test = PROCEDURES[record["id"]]
        assert isinstance(test, Stream)
        for key in ("title", "direction", "block_bytes", "queue_depth", "align_bytes"):
            assert record[key] == getattr(test, key), (record["id"], key)


def test_a_published_range_holds_or_fails_and_has_no_error() -> None:
    base = Figure(
        id="AN-187",
        drive="X",
        firmware="",
        state="used",
        metric="4k_random_write_latency_avg",
        unit="ms",
        published=1250.0,
        modelled=451.0,
        given_error=-0.097,
        given_satisfied=False,
        role="predicted",
        test_id="",
        relation="range",
        note="",
    )
    assert base.error_ratio is None
    assert base.holds is False
    assert replace(base, modelled=600.0, given_satisfied=True).holds is True
