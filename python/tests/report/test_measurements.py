from __future__ import annotations

from dataclasses import replace

from drivelab.report.measurements import Figure


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
