"""One figure, one verdict, wherever it is shown."""

from __future__ import annotations

from dataclasses import replace

import documents
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import verdicts
from drivelab.comparison.page import delta
from drivelab.comparison.pairing import Metric
from drivelab.figures.comparison import judge
from drivelab.figures.published import figures_by_id
from drivelab.records.figure import Figure
from drivelab.report import reading
from drivelab.report.agreement import holds
from drivelab.report.sentences import comparison
from drivelab.states import STATES

POSITIVE = st.floats(1e-6, 1e9)


@given(POSITIVE, st.floats(0.9, 1.1))
def test_a_change_is_a_change_in_every_place_and_both_ways(one: float, factor: float) -> None:
    other = one * factor
    differs = verdicts.differ(one, other)
    assert differs == verdicts.differ(other, one)
    metric = Metric("mib_per_s", "throughput", "MiB/s", "higher", (one, other))
    assert metric.differs == differs
    assert bool(delta(metric, 1).mood) == differs
    # What is exactly on the limit may fall on either side once it was made a ratio.
    if abs(abs(factor - 1) - 0.02) > 1e-3:
        assert (comparison(other / one - 1)[1] == "as fast as") != differs


def test_two_percent_are_the_same_and_more_is_not() -> None:
    assert not verdicts.differ(100.0, 102.0)
    assert verdicts.differ(100.0, 102.1)
    assert verdicts.differ(0.0, 1.0)
    assert not verdicts.differ(0.0, 0.0)


@pytest.mark.parametrize(
    ("relation", "below", "at", "above"),
    [
        ("lt", True, False, False),
        ("le", True, True, False),
        ("gt", False, False, True),
        ("ge", False, True, True),
    ],
)
@pytest.mark.parametrize("stored", [True, False])
def test_a_bound_is_kept_or_missed_alike_on_the_page_of_figures_and_in_a_report(
    relation: str, below: bool, at: bool, above: bool, stored: bool
) -> None:
    published = replace(figures_by_id()["AN-109"], relation=relation)
    for modelled, kept in (
        (published.value - 0.1, below),
        (published.value, at),
        (published.value + 0.1, above),
    ):
        error, satisfied = judge(published, modelled)
        assert satisfied is kept
        assert (error == 0.0) is (kept or modelled == published.value)
        figure = documents.figure(
            relation=relation,
            published=published.value,
            modelled=modelled,
            satisfied=satisfied if stored else None,
        )
        assert holds(Figure.read(figure)) is kept


def test_every_state_has_its_place_in_the_order_of_states() -> None:
    review = reading.read(documents.review())
    ranks = [review.rank(name) for name in STATES]
    assert ranks == sorted(ranks)
    assert review.rank("of another version") > max(ranks)
