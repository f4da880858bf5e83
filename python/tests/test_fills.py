"""docs/consumer-drives.md: phases of fills are found where they are, every figure has its row."""

from __future__ import annotations

import re

import fills
import pytest
from published_fills import OTHERS, PUBLISHED, ROLES, Published

from drivelab import model, sources

REFERENCES = fills.DOCUMENT.parents[1] / "REFERENCES.md"
EVERY = (*PUBLISHED, *OTHERS)


def filled(*stretches: tuple[int, float]) -> fills.Fill:
    """So many pieces of 1 GB at each rate."""
    rates = tuple(rate for pieces, rate in stretches for _ in range(pieces))
    return fills.Fill(tuple(float(gb + 1) for gb in range(len(rates))), rates)


def test_phases_end_where_the_rate_changes() -> None:
    found = filled((42, 3000.0), (450, 1500.0), (40, 3000.0), (468, 1500.0))
    measured = {what: measure(found) for what, measure in fills.MEASURES.items()}
    assert measured["SLC phase, MB/s"] == 3000
    assert measured["SLC phase ends, GB"] == 42
    assert measured["second phase, MB/s"] == 1500
    assert measured["second phase ends, GB"] == 492
    assert measured["third phase, MB/s"] == 3000
    assert measured["in the cache again, GB"] == 40
    seconds = 82 / 3000 + 918 / 1500
    assert measured["mean, MB/s"] == pytest.approx(1000 / seconds)
    assert measured["behind the cache, MB/s"] == pytest.approx(958 / (seconds - 42 / 3000))


def test_what_goes_up_and_down_from_piece_to_piece_is_one_phase() -> None:
    # Two dies that fold at a time, each a block in one go.
    rates = [(3, 4000.0), (97, 4000.0), *[(1, 300.0), (1, 700.0)] * 450]
    found = filled(*rates)
    assert found.cached == 100
    assert len(found.phases()) == 1


def test_a_drive_without_a_cache_has_no_second_phase() -> None:
    found = filled((1000, 2300.0))
    assert found.cached == 1000
    assert found.mean() == pytest.approx(2300)


@pytest.mark.parametrize("figure", EVERY, ids=str)
def test_every_figure_has_a_row_with_its_model(figure: Published) -> None:
    name = figure.version.what or f"`{figure.version.model}`"
    value = "" if figure.value is None else f"{figure.value:.0f}"
    begins = f"| {name} | {figure.what} | {value} |"
    ends = f"| {figure.role} | {fills.references(figure)} |"
    rows = fills.DOCUMENT.read_text(encoding="utf-8").splitlines()
    found = [row for row in rows if row.startswith(begins) and row.endswith(ends)]
    assert len(found) == 1, "out of date: make fills"
    model.load(figure.version.model, figure.version.changes)


@pytest.mark.parametrize("figure", EVERY, ids=str)
def test_every_figure_and_every_cache_of_another_size_has_a_source(figure: Published) -> None:
    explained = REFERENCES.read_text(encoding="utf-8")
    assert figure.role.startswith(tuple(ROLES))
    assert bool(figure.reference) is (figure.value is not None)
    assert not figure.reference or f"\n- {figure.reference} " in explained
    version = figure.version
    resized = "slc_cache.max_bytes" in dict(version.changes)
    assert (sources.role_of(version.source) is not None) is resized, version.source
    for key in re.findall(sources.KEY, version.source):
        assert f"\n- {key} " in explained


def test_no_mean_is_predicted_where_a_rate_of_the_fill_was_chosen_for_it() -> None:
    chosen = {
        figure.version.filled
        for figure in EVERY
        if figure.what.endswith("MB/s") and figure.role.startswith(("fitted", "informed"))
    }
    assert chosen
    means = [figure for figure in EVERY if figure.what.startswith("mean")]
    assert not [
        figure
        for figure in means
        if figure.version.filled in chosen and figure.role.startswith("predicted")
    ]
